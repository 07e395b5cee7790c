"""How the rules of `openworld.estimators.quote` do on cases that chose nothing, beside what was quoted before.

    python bench/quoted/table.py --cases CASES [--seed 0] [--by world|reference|family|model] [--pairs FILE]

CASES is made by cases.py. Without --seed: all models but those of seed 0, on which the limits were chosen; --seed 0
shows these. Each line is a setting. Unshifted: mean absolute and signed error, share of intervals that hold the truth.
Mild (the accuracy fell by less than 10 points) and strong: share of cases that could not be told; mean absolute error
of those that were, and of the rule before on the very same cases and on all; the worst overestimate; for those that
could not be told, the share that lies within the bounds. Points. At the end: what misses the bars, cell by cell.
--pairs writes a CSV with a line for each model and image set: classes as they come, the largest size, with no and with
the good reference.
"""

import argparse
import csv
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from cases import evidence_of, read

from openworld.estimators.quote import Limits, Quote, decide

MILD = 0.1
BARS = {"bias": 2.0, "coverage": (0.9, 0.98), "worst": 25.0, "untold": 0.1}


def kind(row: dict) -> str:
    """Unshifted, mild or strong."""
    if row["family"] == "same":
        return "unshifted"
    return "mild" if row["source"] - row["true"] < MILD else "strong"


def line(rows: Sequence[dict], quotes: Sequence[Quote]) -> dict[str, float]:
    """The figures of a setting."""
    true, before = (np.array([row[name] for row in rows]) for name in ("true", "before"))
    told = np.array([one.accuracy is not None for one in quotes])
    off = 100 * (np.array([np.nan if one.accuracy is None else one.accuracy for one in quotes]) - true)
    held = np.array([one.low - 1e-9 <= truth <= one.high + 1e-9 for one, truth in zip(quotes, true, strict=True)])
    past = 100 * np.abs(before - true)
    return {
        "n": len(rows),
        "untold": 1 - told.mean(),
        "error": np.abs(off[told]).mean() if told.any() else np.nan,
        "bias": off[told].mean() if told.any() else np.nan,
        "worst": off[told].max() if told.any() else np.nan,
        "coverage": held[told].mean() if told.any() else np.nan,
        "bounds": held[~told].mean() if not told.all() else np.nan,
        "before": past.mean(),
        "before, same": past[told].mean() if told.any() else np.nan,
        "worst before": 100 * (before - true).max(),
    }


def setting(row: dict, by: str) -> str:
    """What a row is counted under."""
    return f"{row[by]}, {row['shares']}"


def table(rows: Sequence[dict], by: Callable[[dict], str]) -> dict[tuple[str, str], dict]:
    """(setting, kind) -> figures."""
    found = defaultdict(list)
    for row in rows:
        found[by(row), kind(row)].append((row, decide(evidence_of(row), Limits())))
    return {key: line(*zip(*pairs, strict=True)) for key, pairs in sorted(found.items())}


def missed(key: tuple[str, str], one: dict[str, float]) -> list[str]:
    """Bars that a line misses."""
    low, high = BARS["coverage"]
    found = []
    if key[1] == "unshifted" and abs(one["bias"]) > BARS["bias"]:
        found.append(f"bias {one['bias']:+.1f}")
    if key[1] == "unshifted" and not low <= one["coverage"] <= high:
        found.append(f"coverage {100 * one['coverage']:.0f} %")
    if key[1] != "strong" and one["untold"] > BARS["untold"]:
        found.append(f"untold {100 * one['untold']:.0f} %")
    if key[1] != "unshifted" and one["worst"] > BARS["worst"]:
        found.append(f"worst {one['worst']:+.0f}")
    if key[1] != "unshifted" and one["error"] > one["before, same"]:
        found.append(f"error {one['error']:.1f}, before {one['before, same']:.1f}")
    return found


def write_pairs(rows: Sequence[dict], file: Path) -> None:
    """A line for each model and image set; percent with one decimal."""
    heads = ("world", "model", "set", "n", "source", "true", "reference", "method", "quoted", "low", "high", "before")
    most = {(row["world"], row["model"]): 0 for row in rows}
    for row in rows:
        key = row["world"], row["model"]
        most[key] = max(most[key], row["n_source"])
    lines, done = [], set()
    for row in rows:
        pair = tuple(row[name] for name in ("world", "model", "set", "reference"))
        plain = row["shares"] != "Dirichlet" and row["reference"] in ("none", "good")
        if not plain or row["n_source"] < most[pair[:2]] or pair in done:
            continue
        done.add(pair)
        one = decide(evidence_of(row), Limits())
        numbers = (row["source"], row["true"], one.accuracy, one.low, one.high, row["before"])
        source, true, *rest = ("" if number is None else f"{100 * number:.1f}" for number in numbers)
        lines.append((*pair[:3], row["n_target"], source, true, pair[3], one.method or "", *rest))
    with file.open("w", newline="", encoding="utf-8") as text:
        csv.writer(text, lineterminator="\n").writerows([heads, *sorted(lines, key=lambda line: tuple(map(str, line)))])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cases", type=Path, required=True)
    arguments.add_argument("--seed", type=int)
    arguments.add_argument("--pairs", type=Path)
    arguments.add_argument("--by", default="world", choices=("world", "reference", "family", "model"))
    given = arguments.parse_args()
    rows = read(given.cases)
    if given.pairs:
        write_pairs(rows, given.pairs)
    chose = [row for row in rows if row["model"].endswith("-0") == (given.seed == 0)]
    found = table(chose, lambda row: setting(row, given.by)) | table(chose, lambda row: "all")
    heads = ("setting", "", "n", "untold", "error", "bias", "worst", "held", "bounds", "before", "same", "worst before")
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for key, one in found.items():
        shares = {name: f"{100 * one[name]:.0f} %" for name in ("untold", "coverage", "bounds")}
        cells = [
            *key,
            f"{one['n']:,}",
            shares["untold"],
            f"{one['error']:.1f}",
            f"{one['bias']:+.1f}",
            f"{one['worst']:+.0f}",
        ]
        cells += [shares["coverage"], shares["bounds"], f"{one['before']:.1f}", f"{one['before, same']:.1f}"]
        print(
            "| " + " | ".join((*cells, f"{one['worst before']:+.0f}")).replace("nan %", "–").replace("nan", "–") + " |"
        )
    print("\nMissed:")
    for key, one in found.items():
        for words in missed(key, one):
            print(f"- {', '.join(key)}: {words}")


if __name__ == "__main__":
    main()
