"""What the rules of `openworld.estimators.quote` see on every (model, shift) pair of a pool, as rows of a table.

    python bench/quoted/cases.py --pool POOL --out CASES [--models GLOB] [--quick]

A case is a labelled source, cut anew from the pictures of `source` and `same--unseen`, and a target: others of
these, or a shifted set; its classes as they come or drawn anew in shares from Dirichlet(1/2), and a reference: none,
the good one of the pool, the same with noise, one that knows little, one of which three names in ten are wrong, or one
that is not independent. CASES/<world>--<model>.parquet has a row per case; it is not made again where it is there.
Some two minutes a model of 100 classes on one core, ten seconds for one of ten classes.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pool
import pyarrow as pa
import pyarrow.parquet

from openworld.estimators import ESTIMATORS, Outputs, measure_null
from openworld.estimators.quote import ALONE, Evidence, evidence
from openworld.estimators.quote.shift_signs import ShiftSigns

SIZES = ((1200, 500), (500, 250), (300, 100))  # images of source and target, as far as there are so many
SAME, OTHER_SHARES = 6, 3  # unshifted targets of each source; every so many-th shifted set comes in other shares, too
WRONG_NAMES, NOISE = 0.3, 1.0  # share of names that are wrong; noise in standard deviations of a row of similarities
FEW, HARDLY, A_CLASS = 20, 0.5, 5  # limits of the rule before
BEFORE = ("COTT", "COT", "ATC-MC", "AC")


@dataclass(frozen=True)
class Sets:
    """Arrays of a source and of targets by name."""

    source: dict[str, np.ndarray]
    targets: dict[str, dict[str, np.ndarray]]


def cut_anew(held: dict[str, dict[str, np.ndarray]], seed: int) -> Sets:
    """Another source out of the pictures of the source's law; the rest of them are an unshifted target."""
    first, second = held["source"], held["same--unseen"]
    arrays = {name: np.concatenate([first[name], second[name]]) for name in first if name != "classnames"}
    order = np.random.default_rng(seed).permutation(len(arrays["labels"]))
    parts = np.split(order, [len(first["labels"])])
    source, unseen = ({name: one[rows] for name, one in arrays.items()} for rows in parts)
    return Sets(
        source, {"same--unseen": unseen} | {name: held[name] for name in held if name not in ("source", "same--unseen")}
    )


def references(arrays: dict[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """Kind of reference -> similarities float[n, C]."""
    good = arrays["reference"].astype(np.float64)
    classes = good.shape[1]
    wrong = np.random.default_rng(5).choice(classes, max(2, round(WRONG_NAMES * classes)), replace=False)
    names = np.arange(classes)
    names[wrong] = np.roll(wrong, 1)
    noise = np.random.default_rng([seed, 11]).normal(size=good.shape) * NOISE * good.std(axis=1).mean()
    others = {kind.removeprefix("reference_"): arrays[kind] for kind in arrays if kind.startswith("reference_")}
    return {"good": good, "noisy": good + noise, "misnamed": good[:, names]} | others


def images_of(arrays: dict[str, np.ndarray], n: int, shares: str, generator: np.random.Generator) -> np.ndarray:
    """Which images of a set make the target."""
    labels = arrays["labels"]
    if shares == "as they come":
        return generator.permutation(len(labels))[:n]
    classes = arrays["logits"].shape[1]
    weights = generator.dirichlet(np.full(classes, 0.5))[labels] / np.bincount(labels, minlength=classes)[labels]
    return generator.choice(len(labels), min(n, len(labels)), p=weights / weights.sum())


def targets(sets: Sets, n: int, generator: np.random.Generator) -> Iterator[tuple[str, str, np.ndarray]]:
    """Name, shares of classes, and images of every target."""
    for place, (name, arrays) in enumerate(sets.targets.items()):
        again = SAME if pool.family(name) == "same" else 1
        for _ in range(again):
            yield name, "as they come", images_of(arrays, n, "as they come", generator)
        for _ in range(again // 2 if again > 1 else place % OTHER_SHARES == 0):
            yield name, "Dirichlet", images_of(arrays, n, "Dirichlet", generator)


def rows(held: dict[str, dict[str, np.ndarray]], sizes: tuple[int, int], seed: int) -> Iterator[dict]:
    """All cases of a source."""
    generator = np.random.default_rng([seed, *sizes])
    sets = cut_anew(held, seed)
    inside = generator.permutation(len(sets.source["labels"]))[: sizes[0]]
    source = Outputs(sets.source["logits"][inside], sets.source["labels"][inside])
    looked = {kind: replace(source, reference=one[inside]) for kind, one in references(sets.source, seed).items()}
    nulls = measure_null({name: ESTIMATORS[name]() for name in (*ALONE, "COTT")}, source, sizes[1])
    views = {
        kind: measure_null({"two-views": ESTIMATORS["two-views"]()}, one, sizes[1]) for kind, one in looked.items()
    }
    fitted = {name: ESTIMATORS[name]().fit(source) for name in {*ALONE, *BEFORE}}
    both = {kind: {name: ESTIMATORS[name]().fit(one) for name in ("two-views", "FRAP")} for kind, one in looked.items()}
    for place, (name, shares, images) in enumerate(targets(sets, sizes[1], generator)):
        arrays = sets.targets[name]
        target = Outputs(arrays["logits"][images], arrays["labels"][images])
        said = {one: found.estimate(target, interval=False) for one, found in fitted.items()}
        facts = {
            "set": name, "family": pool.family(name), "shares": shares, "n_source": source.n, "n_target": target.n,
            "classes": source.classes, "true": 1 - target.mistakes / target.n, "spread_COTT": nulls["COTT"].spread,
        }  # fmt: skip
        seen = evidence(source, target, said, nulls)
        yield facts | {"reference": "none", "before": before(said, None, source, target)} | facts_of(seen)
        for kind, similarities in references(arrays, 1 + place).items():
            if kind not in looked:
                continue
            other = replace(target, reference=similarities[images])
            here = said | {one: found.estimate(other, interval=False) for one, found in both[kind].items()}
            found = evidence(looked[kind], other, here, nulls | views[kind])
            yield facts | {"reference": kind, "before": before(here, looked[kind], source, other)} | facts_of(found)


def before(said: dict, looked: Outputs | None, source: Outputs, target: Outputs) -> float:
    """What was quoted before these rules: by the averages of published tables, FRAP, COTT, ATC-MC, COT, AC."""
    enough, many = source.mistakes >= FEW, target.n >= A_CLASS * source.classes
    if looked is not None and enough and said["FRAP"].details.get("informative", True):
        there, here = ((one.predictions == one.reference.argmax(axis=1)).mean() for one in (looked, target))
        if here >= HARDLY * there:
            return said["FRAP"].accuracy
    name = ("COTT" if many else "ATC-MC") if enough else ("COT" if many else "AC")
    return said[name].accuracy


def facts_of(seen: Evidence) -> dict:
    """Evidence as a row."""
    spreads = {f"spread_{name}": seen.spreads.get(name) for name in (*ALONE, "two-views")}
    signs = {name: getattr(seen.signs, name) for name in ShiftSigns.__dataclass_fields__}
    held = {"source": seen.source, "cot": seen.cot, "views": seen.views, "trusted": not seen.distrust}
    return held | {f"unbiased_{name}": one for name, one in seen.unbiased.items()} | spreads | signs


def evidence_of(row: dict) -> Evidence:
    """A row as evidence."""
    return Evidence(
        source=row["source"],
        unbiased={name: row[f"unbiased_{name}"] for name in ("DoC", "ATC-MC")},
        cot=row["cot"],
        views=row["views"],
        distrust=() if row["trusted"] else ("it failed its check",),
        spreads={name: row[f"spread_{name}"] for name in (*ALONE, "two-views") if row[f"spread_{name}"] is not None},
        signs=ShiftSigns(**{name: row[name] for name in ShiftSigns.__dataclass_fields__}),
    )


def read(folder: Path) -> list[dict]:
    """All rows that were kept, with the names of world and model."""
    found = []
    for path in sorted(folder.glob("*.parquet")):
        world, model = path.stem.split("--")
        found += [row | {"world": world, "model": model} for row in pyarrow.parquet.read_table(path).to_pylist()]
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--pool", type=Path, required=True)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--models", default="*/*")
    arguments.add_argument("--quick", action="store_true", help="one size of source and target instead of three")
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for folder in sorted(given.pool.glob(given.models)):
        path = given.out / f"{folder.parent.name}--{folder.name}.parquet"
        if path.exists() or not (folder / "same--unseen.npz").exists():
            continue
        held = pool.sets(folder)
        sizes = SIZES[:1] if given.quick else SIZES
        table = pa.Table.from_pylist([row for seed, each in enumerate(sizes) for row in rows(held, each, seed)])
        pyarrow.parquet.write_table(table, path.with_suffix(".unfinished"))
        path.with_suffix(".unfinished").replace(path)
        print(f"{path.stem}: {len(table):,} cases", flush=True)


if __name__ == "__main__":
    main()
