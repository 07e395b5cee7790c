"""What the rules of `openworld.estimators.quote` see on every (model, shift) pair of a pool, a line a case.

    python bench/quoted/cases.py --pool POOL --out CASES [--models GLOB]

A case is a labelled source, cut anew from the images of `source` and `same--unseen`, and a target: others of these, or
a shifted set; its classes as they come, or drawn anew in shares from Dirichlet(1/2); without a reference, and with the
largest sizes also with the good one of the pool and with one that is not independent. CASES/<world>--<model>.jsonl
holds the evidence of each case, which is not made again where it is there: `table.py` decides by it. Some two minutes a
model on one core.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pool

from openworld.estimators import ESTIMATORS, Outputs, measure_null
from openworld.estimators.engine.checks import ConfidenceCheck
from openworld.estimators.quote.class_shares import ShareExplanation
from openworld.estimators.quote.decision import ALONE, Evidence, evidence
from openworld.estimators.quote.shift_signs import ShiftSign, ShiftSigns

SIZES = ((1000, 500), (500, 250), (200, 200))  # images of source and target, as far as there are so many
SAME, OTHER_SHARES = 6, 3  # unshifted targets of each source; every so many-th shifted set comes in other shares, too
REFERENCES = ("none", "good", "kin")
DEALS = 199  # fewer than a user's, for time


def cut_anew(held: dict[str, dict[str, np.ndarray]], count: int, seed: int) -> dict[str, dict[str, np.ndarray]]:
    """Another source out of the images of the source's law; the rest of them are an unshifted target."""
    first, second = held["source"], held["same--unseen"]
    arrays = {name: np.concatenate([first[name], second[name]]) for name in first if name != "classnames"}
    order = np.random.default_rng(seed).permutation(len(arrays["labels"]))
    source, unseen = np.split(order, [min(count, len(order) // 2)])
    parts = ({name: array[rows] for name, array in arrays.items()} for rows in (source, unseen))
    return held | dict(zip(("source", "same--unseen"), parts, strict=True))


def outputs(arrays: dict[str, np.ndarray], rows: np.ndarray, reference: str) -> Outputs:
    """Some images of a set, as the judged model and perhaps a reference see them."""
    similar = None if reference == "none" else arrays["reference" + "_kin" * (reference == "kin")][rows]
    return Outputs(arrays["logits"][rows], arrays["labels"][rows], similar, features=_features(arrays, rows))


def _features(arrays: dict[str, np.ndarray], rows: np.ndarray) -> np.ndarray | None:
    features = arrays["embedding"][rows] if "embedding" in arrays else None
    return features if features is not None and features.any(axis=1).all() else None


def images_of(arrays: dict[str, np.ndarray], n: int, shares: str, generator: np.random.Generator) -> np.ndarray:
    """Which images of a set make the target."""
    labels = arrays["labels"]
    if shares == "as they come":
        return generator.permutation(len(labels))[:n]
    classes = arrays["logits"].shape[1]
    weights = generator.dirichlet(np.full(classes, 0.5))[labels] / np.bincount(labels, minlength=classes)[labels]
    return generator.choice(len(labels), min(n, len(labels)), p=weights / weights.sum())


def targets(sets: dict, n: int, generator: np.random.Generator) -> Iterator[tuple[str, str, np.ndarray]]:
    """Name, shares of classes, and images of every target."""
    for place, (name, arrays) in enumerate(sets.items()):
        if name == "source":
            continue
        same = pool.family(name) == "same"
        for shares, times in (
            ("as they come", SAME if same else 1),
            ("Dirichlet", SAME // 2 if same else place % OTHER_SHARES == 0),
        ):
            for _ in range(times):
                yield name, shares, images_of(arrays, n, shares, generator)


def rows(held: dict[str, dict[str, np.ndarray]], sizes: tuple[int, int], seed: int) -> Iterator[dict]:
    """All cases of a source."""
    generator = np.random.default_rng([seed, *sizes])
    sets = cut_anew(held, sizes[0], seed)
    inside = np.arange(len(sets["source"]["labels"]))
    kinds = [kind for kind in REFERENCES if kind == "none" or sizes == SIZES[0]]
    sources = {kind: outputs(sets["source"], inside, kind) for kind in kinds}
    if sources["none"].mistakes in (0, len(inside)):
        return
    estimators = {name: ESTIMATORS[name]() for name in ALONE}
    nulls = measure_null(estimators, sources["none"], sizes[1])
    fitted = {name: estimator.fit(sources["none"]) for name, estimator in estimators.items()}
    views = {kind: ESTIMATORS["two-views"]() for kind in kinds[1:]}
    nulls_of = {kind: measure_null({"two-views": one}, sources[kind], sizes[1]) for kind, one in views.items()}
    fitted_of = {kind: one.fit(sources[kind]) for kind, one in views.items()}
    for name, shares, images in targets(sets, sizes[1], generator):
        every = {kind: outputs(sets[name], images, kind) for kind in kinds}
        said = {one: found.estimate(every["none"], interval=False) for one, found in fitted.items()}
        facts = {
            "set": name, "family": pool.family(name), "shares": shares,
            "n_source": len(inside), "n_target": len(images),
            "classes": sources["none"].classes, "true": 1 - every["none"].mistakes / len(images),
        }  # fmt: skip
        for kind in kinds:
            here, null = said, nulls
            if kind != "none":
                here = said | {"two-views": fitted_of[kind].estimate(every[kind], interval=False)}
                null = nulls | nulls_of[kind]
            seen = evidence(sources[kind], every[kind], here, null, deals=DEALS)
            yield facts | {"reference": kind, "evidence": asdict(seen)}


def evidence_of(row: dict, vouched: str = "unknown") -> Evidence:
    """A row as evidence."""
    kept = row["evidence"]
    signs = ShiftSigns(tuple(ShiftSign(**sign) for sign in kept["signs"]["signs"]), kept["signs"]["unseen"])
    shares = kept["shares"] and ShareExplanation(**kept["shares"])
    parts = {"signs": signs, "shares": shares, "confidence": ConfidenceCheck(**kept["confidence"])}
    return replace(Evidence(**kept), **parts, distrust=tuple(kept["distrust"]), vouched=vouched)


def read(folder: Path) -> list[dict]:
    """All rows that were kept, with the names of world and model."""
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        world, model = path.stem.split("--")
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [json.loads(line) | {"world": world, "model": model} for line in lines]
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--pool", type=Path, required=True)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--models", default="*/*")
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for folder in sorted(given.pool.glob(given.models)):
        path = given.out / f"{folder.parent.name}--{folder.name}.jsonl"
        if path.exists() or not (folder / "same--unseen.npz").exists():
            continue
        held = pool.sets(folder)
        lines = [json.dumps(row) for seed, sizes in enumerate(SIZES) for row in rows(held, sizes, seed)]
        path.with_suffix(".unfinished").write_text("\n".join(lines) + "\n", encoding="utf-8")
        path.with_suffix(".unfinished").replace(path)
        print(f"{path.stem}: {len(lines):,} cases", flush=True)


if __name__ == "__main__":
    main()
