"""A decomposition taught by pictures: things of the reference in drawn-over looks, in features that see looks."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.shift.images import Gathered
from openworld.applications.shift.text_decomposition import FEWEST, NAMES, RATE, STEPS
from openworld.shift import LAID, LOOKS, AppearanceEncoder, Decomposition, in_looks, picture_grid

TEXTS, PICTURES = "texts", "pictures"
TEACHERS = (TEXTS, PICTURES)
WHITENED, LOOKING = 192, 12  # numbers that features are whitened to, and how many of these tell of looks


def fit_by_pictures(
    seeing: AppearanceEncoder, reference: Gathered, *, seed: int, progress: Callable[[str, int, int], None]
) -> Decomposition:
    """LAID on one picture of each class (of many a draw of `NAMES`), in every look of `LOOKS`.

    Raises:
        OpenworldError: a reference of fewer than `FEWEST` classes, a picture that cannot be read.
    """
    rows = _one_of_each(reference, seed)
    if len(rows) < FEWEST:
        raise OpenworldError(
            f"{reference.name} has {len(rows)} classes, and LAID learns what meaning is from pictures of {FEWEST} or "
            "more things: give a reference of more class folders, or leave out --taught-by pictures."
        )
    sets = in_looks(reference.images.subset(rows), LOOKS, seed=seed)
    progress("drawing things in other looks", 0, len(sets))
    grid = picture_grid(seeing, sets, told=lambda done, total: progress("drawing things in other looks", done, total))
    progress("learning what is meaning and what is looks", 0, 1)
    width = min(WHITENED, seeing.width)
    method = LAID(steps=STEPS, learning_rate=RATE, semantic_width=width - LOOKING, whitened=width)
    fitted = method.fit(grid, seed=seed)
    names = [reference.concept(row) for row in rows]
    about = {"backbone": seeing.name, "weights": seeing.fingerprint, "names": names, "looks": list(LOOKS)}
    return replace(fitted, about={**fitted.about, **about, "taught_by": PICTURES})


def _one_of_each(reference: Gathered, seed: int) -> list[int]:
    """One picture of each class, drawn; of many classes some."""
    if not reference.named:
        return []
    generator, labels = np.random.default_rng(seed), reference.images.labels
    rows = [int(generator.choice(np.flatnonzero(labels == label))) for label in np.unique(labels)]
    if len(rows) > NAMES:
        rows = [rows[place] for place in np.sort(generator.choice(len(rows), NAMES, replace=False))]
    return rows
