"""What splits features into meaning and appearance: a kept LAID, or one fitted to class names or to images."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import read_lines
from openworld.core.progress import Progress
from openworld.datasets.names.class_names import class_names, name_synsets
from openworld.datasets.names.forms import normalise_class_name
from openworld.datasets.templates import CLIP_80, EMOJI_LOOKS
from openworld.own_data.shift.images import ImageCollection
from openworld.shifts import LAID, LOOKS, AppearanceEncoder, Decomposition, image_grid, in_looks, load_decomposition
from openworld.shifts.triplets import text_grid

TEXTS, BY_IMAGES = TEACHERS = ("texts", "images")
EMBEDDED = "embedded"
MOST_NAMES, FEWEST = 200, 20  # names, or classes, that LAID learns from at most, and at least
STEPS, RATE = 2000, 3e-3
WHITENED, APPEARANCE = 192, 12  # numbers that features of images are whitened to, and how many tell of appearance
LEARNING = "learning what is meaning and what is appearance"


@dataclass(frozen=True)
class DecompositionSource:
    """What tells meaning from appearance: a kept decomposition, or what to learn one from."""

    laid: Path | None = None  # a kept decomposition
    classnames: Path | Sequence[str] | None = None  # a file of names, or names; None for those of the images
    templates: Path | None = None  # a file of sentences
    taught_by: str = TEXTS  # or BY_IMAGES of the reference, in the place of names and sentences
    most_names: int = MOST_NAMES  # names, or classes of images, drawn where there are more; 0 for all


def fit_or_read(
    source: DecompositionSource, clip, collections: Sequence[ImageCollection], seed: int, progress: Progress
) -> tuple[Any, Decomposition]:
    """Return what images are encoded with, and its decomposition; `collections` begin with the reference."""
    if source.taught_by not in TEACHERS:
        raise unknown_name("teacher of LAID", source.taught_by, TEACHERS)
    if source.laid is not None and source.templates is not None:
        raise OpenworldError("--templates came with --laid: a fitted decomposition takes no sentences; give one.")
    by_images = source.laid is None and source.taught_by == BY_IMAGES
    if by_images or (source.laid and load_decomposition(source.laid).about.get("taught_by") == BY_IMAGES):
        clip = AppearanceEncoder(clip)
    if by_images:
        return clip, _fit_by_images(clip, collections[0], source.most_names, seed, progress)
    if isinstance(source.classnames, str | Path):
        names = class_names(str(source.classnames)).names
    elif source.classnames is not None:
        names = source.classnames
    elif hasattr(clip, "class_sentences"):
        names = clip.classnames  # ty: ignore[missing-union-attribute]: all that it can embed
    else:
        names = [name for collection in collections for name in collection.classnames]
    return clip, decomposition_for(source, clip, distinct_names(name_synsets(names)), seed, progress)


def decomposition_for(
    source: DecompositionSource, clip, names: tuple[str, ...], seed: int, progress: Progress
) -> Decomposition:
    """Return the decomposition: read where one is kept, else fitted to the names."""
    if source.laid is not None:
        laid = load_decomposition(source.laid)
        width = clip.width if isinstance(clip, AppearanceEncoder) else clip.config.joint_dimension
        if laid.about.get("weights") in (None, clip.fingerprint) and laid.width == width:
            return laid
        raise OpenworldError(
            f"{source.laid} was fitted to features of {laid.about.get('backbone', 'another backbone')} ({laid.width} "
            f"numbers), not of {clip.name} ({width}); give that backbone with --backbone, or fit again without --laid."
        )
    if not names:
        raise OpenworldError(
            "no image lies in a class folder, so there are no class names for LAID to learn from: give a list with "
            "--classnames FILE, a name per line, or a fitted decomposition with --laid."
        )
    return _fit_by_texts(clip, names, source, seed, progress)


def lines_of(file: Path | None) -> tuple[str, ...]:
    return () if file is None else tuple(read_lines(file, "sentence"))


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that are read differently, each once."""
    return tuple({normalise_class_name(name): name for name in names}.values())


def _fit_by_texts(
    clip, names: Sequence[str], source: DecompositionSource, seed: int, progress: Progress
) -> Decomposition:
    """Fit LAID to names in templates, or in those that suit the backbone; of many names to a draw."""
    if len(names) < FEWEST:
        raise OpenworldError(
            f"there are {len(names)} class names, and LAID learns what meaning is from {FEWEST} or more: give a list "
            "with --classnames FILE (any names of things of this kind will do), or a fitted decomposition with --laid."
        )
    every = len(names)
    if 0 < source.most_names < every:
        drawn = np.sort(np.random.default_rng(seed).choice(every, source.most_names, replace=False))
        names = [names[place] for place in drawn]
    sentences = lines_of(source.templates) or (EMOJI_LOOKS if clip.name == EMBEDDED else CLIP_80)
    features = text_grid(clip, names, sentences, lambda done, total: progress("reading class names", done, total))
    progress(LEARNING, 0, 1)
    # the embedded backbone has images of 64 pixels, and captions that say little of appearance: a narrow part for it
    width = features.shape[2] * 7 // 8 if clip.name == EMBEDDED else None
    method = LAID(steps=STEPS, learning_rate=RATE, semantic_width=width)
    return _described(method.fit(features, seed=seed), clip, names, every, sentences=list(sentences))


def _fit_by_images(
    encoder: AppearanceEncoder, reference: ImageCollection, most: int, seed: int, progress: Progress
) -> Decomposition:
    """Fit LAID to one image of each class, in every appearance of `LOOKS`."""
    rows, every = _one_of_each(reference, most, seed)
    if len(rows) < FEWEST:
        raise OpenworldError(
            f"{reference.name} has {len(rows)} classes, and LAID learns what meaning is from images of {FEWEST} or "
            "more things: give a reference of more class folders, or leave out --taught-by images."
        )
    require_others(reference, len(reference.images) - len(rows))
    sets, drawing = in_looks(reference.images.subset(rows), LOOKS, seed=seed), "drawing things in other appearances"
    progress(drawing, 0, len(sets))
    grid = image_grid(encoder, sets, progress=lambda done, total: progress(drawing, done, total))
    progress(LEARNING, 0, 1)
    width = min(WHITENED, encoder.width)
    method = LAID(steps=STEPS, learning_rate=RATE, semantic_width=width - APPEARANCE, whitened=width)
    names = [reference.concept(row) for row in rows]
    teachers = {"content": reference.images.content, "rows": rows}
    fitted = method.fit(grid, seed=seed)
    return _described(fitted, encoder, names, every, looks=list(LOOKS), taught_by=BY_IMAGES, teachers=teachers)


def teachers_of(decomposition: Decomposition, reference: ImageCollection) -> np.ndarray:
    """Return the rows int64[n] of a reference that taught a decomposition; none where others, or texts, did."""
    taught = decomposition.about.get("teachers") or {}
    same = bool(taught) and taught.get("content") == reference.images.content
    return np.array(taught["rows"] if same else (), np.int64)


def require_others(reference: ImageCollection, count: int) -> None:
    """Refuse a reference of too few images that taught nothing: only these say how far its own kind lies."""
    if count < FEWEST:
        raise OpenworldError(
            f"what is far cannot be measured: all but {count} images of {reference.name} teach LAID, which pulls them "
            f"apart, and {FEWEST} or more others must say how far images of its own kind lie. Give more images of each "
            "class, teach by fewer (--most-names 20), or leave out --taught-by images."
        )


def _one_of_each(reference: ImageCollection, most: int, seed: int) -> tuple[list[int], int]:
    """Return one image of each class, of many classes some; and how many classes there are."""
    if not reference.named:
        return [], 0
    generator, labels = np.random.default_rng(seed), reference.images.labels
    rows = [int(generator.choice(np.flatnonzero(labels == label))) for label in np.unique(labels)]
    every = len(rows)
    if 0 < most < every:
        rows = [rows[place] for place in np.sort(generator.choice(every, most, replace=False))]
    return rows, every


def _described(fitted: Decomposition, clip, names: Sequence[str], every: int, **further) -> Decomposition:
    """Add what it was taught by, of how many names, for those who read it again."""
    about = {"backbone": clip.name, "weights": clip.fingerprint, "names": list(names), "names_there": every}
    return replace(fitted, about={**fitted.about, **about, **further})
