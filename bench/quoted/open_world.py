"""What can be said of open-world quality without labels on six kinds of data and drawings, and what labels tell.

    python bench/quoted/open_world.py --out ROWS [--kinds texts tables ...] [--seeds 0,1,2] [--drawings FOLDER]

ROWS/<kind>.parquet has a row per stream of `new_classes` and kind of reference; it is not made again where it is there.
`drawings` are the streams of `bench/open_world_streams.py`. Printed are, by kind of data:

    estimates   how far OpenworldAUC is off by estimator; and what is told where `two_shares` has no sign
    rules       every rule that stands back by signs, chosen on three kinds and judged on the other three
    margins     the least margins that hold on the kinds that choose, `CHOOSING`
    bounds      how often `stream_bounds` holds at home, away, and where the stream is the easier one by make
    labels      half-widths of intervals of `LABELS` labels, in points

Fifteen minutes on one core.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

import new_classes
import numpy as np
import pandas as pd
from new_classes import KINDS, Drawn

from openworld.estimators.open_world import (
    OPEN_WORLD_ESTIMATORS,
    OpenWorldOutputs,
    ThirdModel,
    stream_bounds,
    true_numbers,
    two_shares,
)
from openworld.labels import PlanSettings, estimate, label_answers, plan, scored_stream

CHOOSING = ("digits", "sounds", "tables")
LABELS, LONG = 200, 10  # labels of a plan; how often each image of a stream comes in it, so that it is a long one
NEAR = 8  # points
SIDES = {"home": "at home", "away": "away", "easier": "easier"}
HELD = 0.95
LEAST_TOLD = 20
RULES = tuple(
    product((0.03, 0.05, 0.08, 0.1, 0.15, 0.25, 1), (0.01, 0.02, 0.03, 0.05, 1), (0.1, 0.2, 0.3, 0.5, 2), (0, 0.1, 0.2))
)
"""Largest gap of the shares, move of the confidence, spread of the estimators; least share of either side."""


def drawings(folder: Path, seed: int) -> Iterator[Drawn]:
    """Yield the streams of the embedded CLIP, at home in twemoji style, as `new_classes.streams` does others."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import open_world_streams
    import open_world_without_labels

    draws = np.random.default_rng(seed)
    for found in open_world_without_labels.learners(folder, open_world_streams.TASKS):
        for style, outputs in found.styles.items():
            for share in new_classes.BASE_SHARES if found.seed == seed + 1 else ():
                kept = new_classes.chosen_rows(outputs.labels, outputs.n_base, share, draws)
                shift = new_classes.HOME if style == open_world_streams.HOME else style
                about = f"{found.task} {found.name}", shift, share
                yield Drawn("drawings", seed, *about, found.validation, outputs.rows(kept), None)


def row_of(drawn: Drawn, kind: str, known: OpenWorldOutputs, stream: OpenWorldOutputs) -> dict:
    """Return what is true of a stream, what every estimator says, and the bounds."""
    truth = true_numbers(stream)
    side = "home" if drawn.shift == new_classes.HOME else "easier" if drawn.shift.startswith("easier") else "away"
    row = {"kind": drawn.kind, "seed": drawn.seed, "learner": drawn.learner, "shift": drawn.shift, "side": side}
    row |= {"base_share": drawn.base_share, "reference_kind": kind, "true": truth["openworld_auc"]}
    row |= {"true_share": truth["new_share"], "base_accuracy": float(known.base_right.mean())}
    for name, estimator in OPEN_WORLD_ESTIMATORS.items():
        if stream.reference is None and "reference" in estimator.needs:
            continue
        if "openworld_auc" in estimator.gives and not (estimator is ThirdModel and kind != "independent"):
            fitted = estimator().fit(known)
            row[name] = fitted.estimate(stream).openworld_auc
            if name == "positive-unlabelled":
                row["at the true share"] = fitted.estimate(stream, truth["new_share"]).openworld_auc
    if kind == "zero-shot":
        bounds, given = (stream_bounds(known, stream, share) for share in (None, truth["new_share"]))
        low, high = bounds.new_share
        row |= {"bound": bounds.openworld_auc, "given bound": given.openworld_auc, "low": low, "high": high}
    shares = two_shares(known, stream)
    row |= {"by_posterior": shares.by_posterior, "by_best_bin": shares.by_best_bin, "moved": shares.confidence_moved}
    return row | {"signs": ",".join(shares.signs)}


def half_width(stream: OpenWorldOutputs, seed: int) -> tuple[float | None, bool | None]:
    """Return the half-width in points of an interval from `LABELS` labels of a long stream, and whether it held."""
    from scipy.special import softmax

    mass = softmax(stream.logits, axis=1)[:, : stream.n_base].sum(axis=1)
    base = np.clip(mass, 1e-6, 1 - 1e-6)  # a stream that a learner holds to be new throughout cannot be planned
    named = [softmax(half, axis=1).max(axis=1) for half in (stream.base_logits, stream.new_logits)]
    of = [np.repeat(part, LONG) for part in (stream.scores, base * named[0], (1 - base) * named[1], base)]
    drawn = plan(scored_stream(*of), LABELS, settings=PlanSettings(seed=seed))
    truly = stream.labels < stream.n_base
    right = truly & (stream.base_prediction == stream.labels), ~truly & (stream.new_prediction == stream.labels)
    answers = label_answers(*(np.repeat(part, LONG)[drawn.chosen] for part in (truly, *right)))
    interval = estimate(drawn, answers).of("openworld_auc").interval()
    if interval is None:
        return None, None
    held = interval[0] <= true_numbers(stream)["openworld_auc"] <= interval[1]
    return 100 * (interval[1] - interval[0]) / 2, held


def rows(kind: str, seeds: list[int], folder: Path | None) -> Iterator[dict]:
    """Yield a row per stream and kind of reference; labels are drawn once per stream, with zero-shot's row."""
    for seed in seeds:
        of = drawings(folder, seed) if kind == "drawings" else new_classes.streams(kind, seed)
        for number, drawn in enumerate(of):
            for reference, known, stream in drawn.by_reference():
                found = row_of(drawn, reference, known, stream)
                if reference == "zero-shot" and found["side"] != "easier":
                    found["half_width"], found["interval_held"] = half_width(stream, number)
                yield found


def percent(values) -> str:
    return "–" if not len(values) else f"{100 * np.mean(values):.0f}"


def report_estimates(table: pd.DataFrame) -> None:
    """Print errors of the estimators, and of what a sign would let through."""
    names = [name for name in OPEN_WORLD_ESTIMATORS if name in table]
    print("\n# Estimates of OpenworldAUC: mean |error|, points; without a sign: told of streams, within 8 points, %")
    print("| reference | kind | streams | " + " | ".join(names) + " | told | off | within 8 |")
    for (reference, kind, side), part in table[table.side != "easier"].groupby(["reference_kind", "kind", "side"]):
        off = {name: 100 * (part[name] - part.true).abs() for name in names}
        first = "hybrid" if reference == "none" else "positive-unlabelled"
        told = off[first][(part.signs == "") & part[first].notna()]
        cells = [f"{off[name].mean():.1f}" if off[name].notna().any() else "–" for name in names]
        cells += [f"{len(told)} of {len(part)}", f"{told.mean():.1f}" if len(told) else "–", percent(told <= NEAR)]
        print(f"| {reference} | {kind}, {SIDES[side]} | {len(part)} | " + " | ".join(cells) + " |")


def report_rules(table: pd.DataFrame) -> None:
    """Print what comes of each rule that stands back, on kinds that did not choose it."""
    part = table[(table.reference_kind == "zero-shot") & (table.side != "easier")]
    part = part[part["positive-unlabelled"].notna() & (part.kind != "drawings")]
    own = part[["positive-unlabelled", "hybrid", "own", "thresholded"]]
    near = (100 * (part["positive-unlabelled"] - part.true).abs() <= NEAR).to_numpy()
    signs = [(part.by_posterior - part.by_best_bin).abs(), part.moved.abs(), own.max(axis=1) - own.min(axis=1)]
    rare = np.minimum(part.by_posterior, 1 - part.by_posterior)
    told = [
        np.all([sign <= limit for sign, limit in zip(signs, rule[:3], strict=True)], axis=0) & (rare >= rule[3])
        for rule in RULES
    ]
    print("\n# Rules that stand back, chosen on three kinds: told most where 92 % were near; judged on the others")
    shares = []
    for chosen in combinations(sorted(set(part.kind)), 3):
        here = part.kind.isin(chosen).to_numpy()
        counts = [(rule & here).sum() for rule in told]
        good = [
            count >= LEAST_TOLD and near[rule & here].mean() >= 0.92 for rule, count in zip(told, counts, strict=True)
        ]
        if not any(good):
            print(f"{', '.join(chosen)}: no rule")
            continue
        best = int(np.argmax(np.where(good, counts, 0)))
        judged = told[best] & ~here
        text = f"{counts[best]} told, near {percent(near[told[best] & here])} %"
        print(f"{', '.join(chosen)}: {text}; others {judged.sum()} told, near {percent(near[judged])} %")
        if judged.sum() >= LEAST_TOLD:
            shares.append(100 * near[judged].mean())
    print(f"judged in {len(shares)} divisions, near %: {', '.join(f'{share:.0f}' for share in sorted(shares))}")


def report_margins(table: pd.DataFrame) -> None:
    """Print the least margins, in whole points, that hold where they are chosen."""
    part = table[(table.reference_kind == "zero-shot") & (table.side != "easier") & table.kind.isin(CHOOSING)]
    ends = part[["by_posterior", "by_best_bin"]]
    lacking = np.maximum(ends.min(axis=1) - part.true_share, part.true_share - ends.max(axis=1))
    share = next(m for m in range(100) if (lacking <= m / 100 + 1e-9).mean() >= 0.9)
    cells = [cell for _, cell in part[part.bound.notna()].groupby(["kind", "side"])]
    held = [
        [(cell.true <= cell["positive-unlabelled"].fillna(1) + m / 100).mean() for cell in cells] for m in range(100)
    ]
    bound = next(m for m, shares in enumerate(held) if min(shares) >= HELD)
    print(f"\n# Margins chosen on {', '.join(CHOOSING)}: share of new {share} points, upper bound {bound} points")


def report_bounds(table: pd.DataFrame) -> None:
    """Print how often the bounds hold, by kind; how wide they are; and what labels give."""
    print("\n# Bounds: held, %; mean width or distance to the truth, points; half-width of an interval by labels")
    print(f"| kind | streams | share held | width | bound told | held | above truth | share known | {LABELS} labels |")
    for (kind, side), part in table[table.reference_kind == "zero-shot"].groupby(["kind", "side"]):
        shares = (part.low - 1e-9 <= part.true_share) & (part.true_share <= part.high + 1e-9)
        told, given = (part[part[name].notna()] for name in ("bound", "given bound"))
        cells = [percent(shares), f"{100 * (part.high - part.low).mean():.0f}", percent(part.bound.notna())]
        cells += [percent(told.true <= told.bound), f"{100 * (told.bound - told.true).mean():.0f}"]
        cells += [percent(given.true <= given["given bound"])]
        half = part.half_width.dropna()
        cells += [f"{half.median():.1f}, 90 % below {half.quantile(0.9):.1f}" if len(half) else "–"]
        role = "chose" if kind in CHOOSING else "judged"
        print(f"| {kind} ({role}), {SIDES[side]} | {len(part)} | " + " | ".join(cells) + " |")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS, "drawings"], default=list(KINDS))
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[0, 1, 2])
    parser.add_argument("--drawings", type=Path, help="folder of bench/open_world_streams.py, for kind drawings")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    for kind in given.kinds:
        path = given.out / f"{kind}.parquet"
        if not path.exists():
            pd.DataFrame(rows(kind, given.seeds, given.drawings)).to_parquet(path)
    table = pd.concat([pd.read_parquet(path) for path in sorted(given.out.glob("*.parquet"))], ignore_index=True)
    for report in (report_estimates, report_rules, report_margins, report_bounds):
        report(table)


if __name__ == "__main__":
    main()
