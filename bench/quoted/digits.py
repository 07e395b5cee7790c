"""The world `digits` of the pool: scikit-learn's 1,797 handwritten digits and the ways in which such images go wrong.

Ten classes, images of 8 x 8 pixels (the test half of UCI's "Optical recognition of handwritten digits", which
scikit-learn carries). Every seed cuts the images anew, without overlap: 400 train the judged model, 250 the
references, 500 are the labelled source and the other 647 the unshifted target. The shifted sets are those 647 again,
changed in 30 ways of nine families.

    logreg-*, forest-*   judged: logistic regression, and 100 trees whose shares of votes, smoothed, are written as logs
    reference            15 nearest neighbours among the images of its own and their copies moved by a pixel
    reference_weak       logistic regression on two pixels
    reference_kin        the judged model's recipe, on a bootstrap of the judged model's own training images

    python bench/quoted/digits.py --out POOL [--seeds 0,1,2]        some ten seconds
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pool
from classifiers import smoothed_logs
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from spoiling import Images, blurred, flattened, inverted, moved, noisy, occluded, salt_and_pepper, scaled, turned

Shift = Callable[[Images, np.random.Generator], Images]

PARTS = {"train": 400, "reference": 250, "source": 500}
RECIPES = {
    "logreg": lambda seed: LogisticRegression(C=1.0, max_iter=2_000),
    "forest": lambda seed: RandomForestClassifier(100, random_state=seed),
}


SHIFTS: dict[str, Shift] = (
    {f"noise--gaussian-{d:g}": partial(noisy, deviation=d) for d in (0.1, 0.2, 0.3, 0.5)}
    | {f"impulse--salt-and-pepper-{s:g}": partial(salt_and_pepper, share=s) for s in (0.03, 0.1, 0.25)}
    | {f"blur--gaussian-{s:g}": partial(blurred, sigma=s) for s in (0.5, 0.8, 1.2)}
    | {f"contrast--times-{f:g}": partial(flattened, contrast=f) for f in (0.5, 0.25, 0.1)}
    | {
        "moved--left": partial(moved, right=-1),
        "moved--right": partial(moved, right=1),
        "moved--up": partial(moved, down=-1),
        "moved--down": partial(moved, down=1),
    }
    | {f"rotated--{d}-degrees": partial(turned, degrees=d) for d in (10, 20, 35, 90)}
    | {f"occluded--square-{s}": partial(occluded, side=s) for s in (2, 3, 4)}
    | {f"inverted--{s:g}": partial(inverted, share=s) for s in (0.25, 0.45, 1)}
    | {f"scaled--{f:g}": partial(scaled, factor=f) for f in (0.75, 1.2, 1.5)}
)


def neighbours(images: Images, labels: NDArray) -> Callable[[Images], NDArray]:
    """Return the good reference: smoothed logarithms of the shares among 15 neighbours."""
    steps = [{}, {"right": 1}, {"right": -1}, {"down": 1}, {"down": -1}]
    flat = np.concatenate([moved(images, None, **step) for step in steps]).reshape(-1, 64)
    model = KNeighborsClassifier(15, weights="distance").fit(flat, np.tile(labels, len(steps)))
    return lambda batch: smoothed_logs(model.predict_proba(batch.reshape(-1, 64)), 15)


def few_pixels(images: Images, labels: NDArray, seed: int) -> Callable[[Images], NDArray]:
    """Return the weak reference, which sees two pixels of the middle."""
    pixels = np.random.default_rng(seed).choice([18, 19, 20, 21, 26, 29, 34, 37, 42, 43, 44, 45], 2, replace=False)
    model = LogisticRegression(max_iter=2_000).fit(images.reshape(-1, 64)[:, pixels], labels)
    return lambda batch: model.predict_log_proba(batch.reshape(-1, 64)[:, pixels])


def judged(recipe: str, images: Images, labels: NDArray, seed: int) -> Callable[[Images], NDArray]:
    """Return a fitted model's logits; a forest's are the smoothed logarithms of its votes."""
    model = RECIPES[recipe](seed).fit(images.reshape(-1, 64), labels)
    if recipe == "logreg":
        return lambda batch: model.decision_function(batch.reshape(-1, 64))
    return lambda batch: smoothed_logs(model.predict_proba(batch.reshape(-1, 64)), 100)


def image_sets(seed: int) -> dict[str, tuple[Images, NDArray]]:
    """Return images and labels of both training sets, the source, the unshifted target and every shifted set."""
    digits, draws = load_digits(), np.random.default_rng(seed)
    rows = np.split(draws.permutation(len(digits.target)), np.cumsum(list(PARTS.values())))
    names = [*PARTS, "same--unseen"]
    sets = {name: (digits.images[row] / 16, digits.target[row]) for name, row in zip(names, rows, strict=True)}
    images, labels = sets["same--unseen"]
    for number, (name, shift) in enumerate(SHIFTS.items()):
        sets[name] = (np.clip(shift(images, np.random.default_rng([seed, 2, number])), 0, 1), labels)
    return sets


def make(folder: Path, recipe: str, seed: int) -> None:
    """Write every set of a judged model that is not there."""
    sets = image_sets(seed)
    train, known = sets.pop("train"), sets.pop("reference")
    again = np.random.default_rng([seed, 1]).choice(len(train[1]), len(train[1]))
    readers = {
        "logits": judged(recipe, *train, seed),
        "reference": neighbours(*known),
        "reference_weak": few_pixels(*known, seed),
        "reference_kin": judged(recipe, train[0][again], train[1][again], seed + 1_000),
    }
    for name, (images, labels) in sets.items():
        if not pool.is_kept(folder, name):
            columns = {column: reader(images) for column, reader in readers.items()}
            pool.keep(folder, name, labels=labels, classnames=np.arange(10).astype(str), **columns)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[0, 1, 2])
    options = parser.parse_args(arguments)
    for recipe in RECIPES:
        for seed in options.seeds:
            start = time.perf_counter()
            folder = options.out / "digits" / f"{recipe}-{seed}"
            make(folder, recipe, seed)
            print(f"{pool.summary(folder)}, {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
