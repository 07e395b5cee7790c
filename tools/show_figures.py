"""The gallery of the documentation: a figure of every kind, from finished runs, as a page and small drawings.

python tools/show_figures.py docs runs/demo runs/dynamic runs/accuracy-estimation ...

One figure of arrays that are made up joins them, the estimate of accuracy without labels. The runs are those of
`openworld demo` and of the specs under docs/gallery/.
"""

import argparse
from pathlib import Path

import numpy as np

import openworld as ow
from openworld.report.figure import standalone

# Like others, or large.
LEAVE_OUT = {"counts", "counts-otherwise", "cells-otherwise", "cells-of-rates", "levels-common", "levels-of-rates"}
LEAVE_OUT |= {"cell-images", "marginal-images", "marginal", "examples", "costs", "temperatures", "alignment-gap"}
LEAVE_OUT |= {"estimates-by-level", "open-world-by-level"}
PAGES = {"demo": "recognition", "accuracy-estimation": "accuracy-without-labels"}
HEAD = """# Gallery

Figures of reports, from small runs on [the embedded world](embedded-world.md), which are too small to rank methods. Of
several charts the first is shown. In Python it is `run.figures["NAME"]`: `.draw(axes)`, `.save("NAME.pdf")`, and `.csv`
with its numbers.
"""


def main() -> None:
    """Write gallery.md and its drawings."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("docs", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    given = parser.parse_args()
    for old in (given.docs / "gallery").glob("*.svg"):
        old.unlink()
    parts = [HEAD, *(part for folder in given.runs for part in of_run(folder, given.docs)), *of_estimate(given.docs)]
    (given.docs / "gallery.md").write_text("\n".join(parts), encoding="utf-8")


def of_run(folder: Path, docs: Path):
    """The parts of the page that show a finished run."""
    run = ow.open_run(folder)
    spec = docs / "gallery" / f"{folder.name}.toml"
    command = f"openworld run docs/gallery/{spec.name}" if spec.exists() else "openworld demo"
    page = docs / f"{PAGES.get(folder.name, folder.name)}.md"
    title, more = run.page.title, ""
    if page.exists():
        title = page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        more = f" [Explained]({page.name})."
    yield f"## {title}\n\nFrom `{command}`.{more}\n"
    for figure in run.figures.values():
        if figure.charts and figure.name not in LEAVE_OUT:
            yield from of_figure(figure, f"{folder.name}-{figure.name}", docs)


def of_estimate(docs: Path):
    """The parts that show what `openworld estimate` finds for two thousand made-up images without labels."""
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 10, 4000)
    logits = generator.normal(size=(4000, 10)) + 2.5 * np.eye(10)[labels]
    source = {"logits": logits[:2000], "labels": labels[:2000]}
    days = np.repeat(["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"], 500)
    target = {"logits": logits[2000:], "time": days}
    target["logits"][1000:] *= 0.6  # less sure from the third day on
    report = ow.estimate(source, target, timestamps="time", period="1d", quiet=True)
    made = "From `ow.estimate(source, target)` with two arrays of logits, and a column of days."
    yield f"## How accurate is the model here?\n\n{made}\n"
    for section in report.page.sections:
        for figure in section.figures:
            yield from of_figure(figure, f"estimate-{figure.name}", docs)


def of_figure(figure, name: str, docs: Path):
    """A heading and the first drawing."""
    (title, svg), kinds = figure.panels[0], ", ".join(dict.fromkeys(type(chart).__name__ for chart in figure.charts))
    path = docs / "gallery" / f"{name}-1.svg"
    path.write_text(standalone(svg, figure.styles), encoding="utf-8")
    shown = f"`{figure.name}` ({kinds}){': ' + title if title else ''}"
    yield f"### {figure.title}\n\n{shown}\n\n![{figure.name}](gallery/{path.name}){{ .chart }}\n"


if __name__ == "__main__":
    main()
