"""How the rules of `openworld.estimators.quote` do on cases: world by world, with limits chosen on the others.

    python bench/quoted/table.py --cases CASES [--chosen] [--by rule|world|model|reference|size]

CASES is made by cases.py. Unshifted: other images of the source's law. Mild: the accuracy fell by less than 10 points;
strong: by more. Of each: how many cases, share that is told, mean absolute error of what is told, largest overestimate,
share of intervals that hold the truth, their mean width, and the share of bounds that hold where nothing is told.
Points. With --chosen, the limits of every world are those that `choose.py` finds on all worlds but that one.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from cases import evidence_of, read
from choose import left_out

from openworld.estimators.quote.decision import Limits, Quote, decide

MILD = 0.1
KINDS = ("unshifted", "mild", "strong")
HEADS = ("setting", "shift", "cases", "told", "off", "bias", "worst", "held", "width", "bounds hold")


def kind(row: dict) -> str:
    """Unshifted, mild or strong."""
    if row["family"] == "same":
        return KINDS[0]
    return KINDS[1] if row["evidence"]["source"] - row["true"] < MILD else KINDS[2]


def line(true: np.ndarray, quotes: Sequence[Quote]) -> list[str]:
    """The cells of a setting."""
    told = np.array([one.accuracy is not None for one in quotes])
    off = 100 * np.array([(one.accuracy or 0.0) - truth for one, truth in zip(quotes, true, strict=True)])[told]
    ends = np.array([(one.low, one.high) for one in quotes])
    holds = (ends[:, 0] - 1e-9 <= true) & (true <= ends[:, 1] + 1e-9)
    width = 100 * (ends[:, 1] - ends[:, 0])

    def cell(values: np.ndarray, form: str, how: Callable = np.mean) -> str:
        return form.format(how(values)) if len(values) else "-"

    return [
        f"{len(true):,}",
        f"{100 * told.mean():.0f} %",
        cell(np.abs(off), "{:.1f}"),
        cell(off, "{:+.1f}"),
        cell(off, "{:+.0f}", np.max),
        cell(100 * holds[told], "{:.1f} %"),
        cell(width[told], "{:.0f}"),
        cell(100 * holds[~told], "{:.0f} %"),
    ]


def table(rows: Sequence[dict], by: Callable[[dict, Quote], str], limits: Mapping[str, Limits]) -> list[list[str]]:
    """A line for each setting and kind of shift."""
    found = defaultdict(list)
    for row in rows:
        one = decide(evidence_of(row), limits[row["world"]])
        for setting in ("all", by(row, one)):
            found[setting, KINDS.index(kind(row))].append((row["true"], one))
    lines = []
    for (setting, place), pairs in sorted(found.items()):
        true, quotes = zip(*pairs, strict=True)
        lines.append([setting, KINDS[place], *line(np.array(true), quotes)])
    return lines


BY = {
    "rule": lambda row, quote: quote.rule,
    "world": lambda row, quote: row["world"],
    "model": lambda row, quote: f"{row['world']} {row['model']}",
    "reference": lambda row, quote: row["reference"],
    "size": lambda row, quote: f"{row['n_source']} and {row['n_target']}",
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cases", type=Path, required=True)
    arguments.add_argument("--by", choices=BY, default="world")
    arguments.add_argument("--reference", default="", help="one of none, good, kin")
    arguments.add_argument("--shares", default="as they come", help="as they come, or Dirichlet")
    arguments.add_argument("--chosen", action="store_true", help="limits chosen on the other worlds")
    given = arguments.parse_args()
    every = read(given.cases)
    worlds = sorted({row["world"] for row in every})
    limits = left_out(every) if given.chosen else dict.fromkeys(worlds, Limits())
    rows = [row for row in every if row["reference"].startswith(given.reference) and row["shares"] == given.shares]
    lines = [list(HEADS), ["-"] * len(HEADS), *table(rows, BY[given.by], limits)]
    print("\n".join("| " + " | ".join(cells) + " |" for cells in lines))


if __name__ == "__main__":
    main()
