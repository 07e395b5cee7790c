"""Periods in which one thing moved: features around class names, in a world where each cause is known."""

import numpy as np

from openworld.estimators import Outputs

CLASSES, WIDTH = 20, 64
TEXT = np.linalg.qr(np.random.default_rng(0).normal(size=(WIDTH, WIDTH)))[0]  # rows: class names, then other directions


def images(n, seed, names=range(CLASSES), push=None, noise=0.45):
    """Features of n images around class names, perhaps pushed elsewhere; logits are cosines times 20."""
    generator = np.random.default_rng(seed)
    labels = generator.choice(list(names), n)
    rows = TEXT[labels] + noise * generator.normal(size=(n, WIDTH)) / np.sqrt(WIDTH) * 2
    rows = rows if push is None else rows + push(labels)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    known = labels if max(names) < CLASSES else None
    return Outputs(20 * rows @ TEXT[:CLASSES].T, known, features=rows)


def joined(first, second):
    return Outputs(
        np.concatenate([first.logits, second.logits]), features=np.concatenate([first.features, second.features])
    )


SOURCE = images(600, 1)
LIKE = images(300, 2)
STYLE = images(300, 3, push=lambda labels: 0.8 * (TEXT[50] + TEXT[3]))
OTHER_THINGS = images(300, 4, push=lambda labels: 0.9 * TEXT[40 + labels])
FEWER = images(300, 5, names=range(6))
MIXED = joined(images(200, 12), images(100, 13, names=range(25, 55)))
