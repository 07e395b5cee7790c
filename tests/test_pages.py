"""The pages under docs/: their Python examples run and print what the pages show, notebooks run, the site is built.

Blocks of `python` on a page share their names, in the order of the page; a block of `text` right behind one is what it
prints ("..." stands for anything). A block below `<!-- not run: WHY -->` is only read by the compiler.
"""

import contextlib
import io
import json
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from PIL import Image
from torch import nn

from openworld.backbones.published_files import EMBEDDED

DOCS = Path(__file__).resolve().parents[1] / "docs"
BLOCK = re.compile(r"(<!-- not run: [^\n]+ -->\n\n)?```python\n(.*?)```(?:\n\n```text\n(.+?)```)?", re.DOTALL)
TESTED_ELSEWHERE = {  # with stand-ins of their own, or as the files that they show
    "accuracy-without-labels.md",
    "classifiers.md",
    "plug-in-detector.md",
    "plug-in-estimator.md",
    "plug-in-evaluation.md",
    "plug-in-learner.md",
}


def same(expected: str, printed: str) -> bool:
    """Whether a text is as expected, with "..." for anything and any space for a space."""
    parts = (re.escape(" ".join(part.split())) for part in f" {expected} ".split("..."))
    return re.fullmatch(" ?" + " ?.* ?".join(parts) + " ?", " ".join(printed.split())) is not None


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """(why it is not run, code, what it prints) of every Python block of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


WITH_PYTHON = [path.name for path in sorted(DOCS.glob("*.md")) if blocks(path) and path.name not in TESTED_ELSEWHERE]


@pytest.fixture
def small_demo(monkeypatch):
    """A demo of seconds in the place of that of minutes."""
    from openworld.evaluations.recognition import spec

    whole = spec.preset("published")
    small = replace(whole, dataset="emoji-groups", learners=whole.learners[:1], seeds=(1,), shots=1, views=1)
    monkeypatch.setattr(spec, "preset", lambda _: small)


def scores(_: pytest.MonkeyPatch) -> dict[str, object]:
    """Names and files of scores that docs/estimate.md speaks of."""
    generator = np.random.default_rng(0)
    labels, hidden = generator.integers(0, 5, (2, 300))
    logits, live = (generator.normal(size=(300, 5)) + 2 * np.eye(5)[classes] for classes in (labels, hidden))
    np.savez("val.npz", logits=logits, labels=labels)
    pyarrow.parquet.write_table(pyarrow.table({"logits": list(live)}), "live.parquet")
    return {"logits": logits, "labels": labels, "classnames": [*"abcde"]}


def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Images, models and embeddings that docs/own-models.md and docs/own-embeddings.md speak of."""
    monkeypatch.setattr("openworld.own_data.shift.decomposition.STEPS", 20)
    generator, names = np.random.default_rng(0), ("red", "green", "blue")
    pixels = generator.integers(0, 120, (48, 40, 36, 3)).astype(np.uint8)
    for number, image in enumerate(pixels):
        image[..., number % 3] += 100
        Image.fromarray(image).save(f"{number}.png")
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)).eval()
    network.pretrained_cfg = {"input_size": (3, 32, 32), "mean": (0.5,) * 3, "std": (0.25,) * 3}
    shapes = ({0: torch.export.Dim("batch")},)
    torch.export.save(torch.export.export(network, (torch.zeros(2, 3, 32, 32),), dynamic_shapes=shapes), "mine.pt2")
    rows = generator.normal(size=(90, 6))
    labels = np.array(names)[rows[:, :3].argmax(1)]
    return {
        "val": {"path": [f"{number}.png" for number in range(24)], "label": [names[n % 3] for n in range(24)]},
        "live": {"path": [f"{number}.png" for number in range(24, 48)]},
        "module": network,
        "timm_model": network,
        "classnames": names,
        "folder": EMBEDDED,
        "image_embeddings": lambda images: np.array([np.asarray(image, float).mean((0, 1)) for image in images]),
        "text_embeddings": lambda texts: np.array([[name in text for name in names] for text in texts], float) + 0.1,
        **dict(zip(("train_rows", "val_rows", "live_rows"), np.split(rows, 3), strict=True)),
        **dict(zip(("train_labels", "val_labels"), np.split(labels, 3)[:2], strict=True)),
        "names": names,
        "name_embeddings": np.eye(3, 6) + 0.01,
        "many_names": [f"thing {number}" for number in range(20)],
        "many_sentences": generator.normal(size=(20, 8, 6)),
        "parts": np.array(["train"] * 15 + ["test"] * 15),
    }


GIVEN = {"estimate.md": scores, "own-models.md": models, "own-embeddings.md": models}
SLOW = {"own-models.md", "own-embeddings.md", "python.md", "records.md"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in WITH_PYTHON]
)
def test_the_examples_of_a_page_run_and_print_what_it_shows(name, small_demo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    warnings.simplefilter("ignore" if name == "own-models.md" else "error")  # of torch.export; pytest restores it
    names = {"__name__": "__main__"} | GIVEN.get(name, lambda _: {})(monkeypatch)
    for not_run, code, expected in blocks(DOCS / name):
        compiled = compile(code, name, "exec")
        if not not_run:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compiled, names)  # the page is ours
            assert not expected or same(expected, printed.getvalue()), f"{code}\nprinted\n{printed.getvalue()}"


PLUG_INS = {
    "learner": ("plug_in", "halfway.py", "pyproject.toml", "test_halfway.py"),
    "detector": ("plug_in_detector", "nearest_means.py", "pyproject.toml", "test_nearest_means.py"),
    "estimator": ("plug_in_estimator", "margin.py", "pyproject.toml", "test_margin.py"),
    "evaluation": ("plug_in_evaluation", "class_means.py", "class_means_report.py", "pyproject.toml", "means.toml"),
}


@pytest.mark.parametrize("kind", PLUG_INS)
def test_the_page_on_a_plug_in_shows_the_example_as_it_is(repository, kind):
    page = (DOCS / f"plug-in-{kind}.md").read_text(encoding="utf-8")
    shown = re.findall(r"```\w*\n(.*?)```", page, re.DOTALL)
    folder, *files = PLUG_INS[kind]
    for file in files:
        text = (repository / "examples" / folder / file).read_text(encoding="utf-8")
        assert text in shown, f"{file} is another one there"


def test_pages_on_plug_ins_name_every_need_statistic_and_part():
    from dataclasses import fields

    from openworld.detectors import NEEDS, plugin_api
    from openworld.evaluations.evaluation import Evaluation

    detector, evaluation = (
        (DOCS / f"plug-in-{kind}.md").read_text(encoding="utf-8") for kind in ("detector", "evaluation")
    )
    assert all(f'"{need}"' in detector for need in NEEDS)
    assert all(f"`{name}(" in detector for name, kind in vars(plugin_api).items() if hasattr(kind, "add"))
    assert all(f"`{field.name}`" in evaluation for field in fields(Evaluation))


@pytest.mark.parametrize("name", [path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))])
def test_no_list_of_a_page_clings_to_a_paragraph(name):
    """GitHub shows it as a list all the same, the site does not."""
    prose = re.sub(r"```.*?```", "", (DOCS / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not re.findall(r"^(?![-*|] |\d+\. |#|\s).+\n(?:[-*] |1\. ).*", prose, re.MULTILINE)


def test_every_page_has_a_place_in_the_navigation(repository):
    listed = set(re.findall(r": ([\w/-]+\.md)$", (repository / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    pages |= {path.relative_to(DOCS).with_suffix(".md").as_posix() for path in DOCS.rglob("*.ipynb")}
    assert listed == pages, "a page needs its line under nav in mkdocs.yml, and a line its page"


def test_the_page_for_language_models_links_pages_and_names_every_command(repository):
    from openworld.cli.app import commands

    text = (DOCS / "llms.txt").read_text(encoding="utf-8")
    pages = re.findall(r"\]\(([\w/-]+)\.html\)", text)
    assert len(pages) > 20 and [page for page in pages if not (DOCS / f"{page}.md").exists()] == []
    named = set(re.findall(r"`openworld ([a-z]+)", text))
    assert {name for name in commands if not name.startswith("-")} <= named


MISTAKES = {  # a file of scores, and what of its refusal docs/troubleshooting.md explains
    "side;score;correct\nbase;2;1\nnew;1;1\n": "is separated by ';', expected commas",
    "kind,score,correct\nbase,2,1\nnew,0.5,1\n": "lacks side; it has score, correct, kind",
    "side,score,correct\nbase,2,1\nbase,,1\nnew,0.5,1\n": "holds NaN or infinite values, or nothing, in 1 row(s)",
}


@pytest.mark.parametrize("words", MISTAKES.values())
def test_the_page_on_troubleshooting_explains_what_is_said(words, tmp_path):
    import openworld as ow

    (text,) = (text for text, said in MISTAKES.items() if said == words)
    (tmp_path / "scores.csv").write_text(text)
    with pytest.raises(ow.OpenworldError, match=re.escape(words)):
        ow.score(tmp_path / "scores.csv")
    assert f"`{words}`" in (DOCS / "troubleshooting.md").read_text(encoding="utf-8")


REFUSALS = (  # parts of sentences that the code has word for word
    "has no labels; the source must say what its images are",
    "holds parts, not classes: ",
    "where the data sets lie was not said",
    "is not a weights-only PyTorch file",
    "kept no fitted learner",
    "holds no run: it has no run.json",
)


@pytest.mark.parametrize("words", REFUSALS)
def test_sentences_that_the_page_on_troubleshooting_explains_are_in_the_code(words, repository):
    assert f"`{words}" in (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
    found = (path.read_text(encoding="utf-8") for path in (repository / "src").rglob("*.py"))
    assert any(words in re.sub(r'"\s+f?"', "", text) for text in found)


def test_the_page_of_specs_has_that_of_every_evaluation():
    from openworld.evaluations import EVALUATIONS, find_evaluation

    page = (DOCS / "reference" / "specs.md").read_text(encoding="utf-8")
    kinds = {name: find_evaluation(name).spec for name in EVALUATIONS}
    assert set(re.findall(r"^\| `([\w-]+)` \| `(\w+)`", page, re.MULTILINE)) == {
        (name, kind.__name__) for name, kind in kinds.items()
    }
    assert {f"{kind.__module__}.{kind.__name__}" for kind in kinds.values()} <= set(
        re.findall(r"^::: (\S+)$", page, re.M)
    )


def test_the_gallery_shows_every_kind_of_chart():
    from openworld.report import charts

    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    kinds = {name for name in charts.__all__ if name.endswith("Chart")}
    assert kinds == set(re.findall(r"\b\w+Chart\b", page))
    assert {path.name for path in (DOCS / "gallery").glob("*.svg")} == set(re.findall(r"gallery/([\w.-]+\.svg)", page))


def test_the_page_on_pipelines_has_the_exit_codes_of_the_command():
    from openworld.report.finished_runs import EXIT_CODES

    lines = (DOCS / "pipelines.md").read_text(encoding="utf-8").splitlines()
    assert {f"| {code} |" for code in EXIT_CODES.values()} <= {line[:5] for line in lines}


def test_notebooks_are_small():
    for path in DOCS.rglob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        assert all(cell.get("execution_count") for cell in notebook["cells"] if cell["cell_type"] == "code"), path.name
        assert path.stat().st_size < 60_000, path.name


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path, tmp_path):
    pytest.importorskip("ipykernel")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    text = path.read_text(encoding="utf-8").replace('schedule.epochs\\": 10', 'schedule.epochs\\": 1')
    notebook = nbformat.reads(text, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()


@pytest.fixture(scope="module")
def site(repository, tmp_path_factory):
    """The site, built as strictly as it can be."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(folder)],
        cwd=repository,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site):
    loaded = r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//|@import|url\(\"?(?:https?:)?//"
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 40
    assert {path.name: re.findall(loaded, path.read_text(encoding="utf-8")) for path in pages} == {
        path.name: [] for path in pages
    }


@pytest.mark.slow
def test_other_sites_can_link_to_the_reference(site):
    assert (site / "objects.inv").stat().st_size and (site / "llms.txt").stat().st_size


@pytest.mark.slow
def test_the_site_is_searched_without_a_server(site):
    """Over file:// a browser starts no worker and reads no JSON: both come as scripts."""
    page = (site / "index.html").read_text(encoding="utf-8")
    assert 0 < page.find('src="javascripts/iframe-worker.js"') < page.find('src="assets/javascripts/bundle')
    assert (site / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index")


@pytest.mark.slow
def test_the_reference_has_every_public_function_and_class(site):
    from importlib import import_module
    from inspect import isclass, isfunction

    for page in (site / "reference").glob("*.html"):
        if page.stem in ("specs", "commands"):
            continue
        package = "openworld" if page.stem == "openworld" else f"openworld.{page.stem}"
        shown = set(re.findall(rf'id="{re.escape(package)}\.(\w+)"', page.read_text(encoding="utf-8")))
        module = import_module(package)
        public = {
            name for name in module.__all__ if isclass(getattr(module, name)) or isfunction(getattr(module, name))
        }
        assert not public - shown
