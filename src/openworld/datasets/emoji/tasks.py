"""The embedded world as data sets: which drawings are classes, which are shots, and which are the test.

An image is a drawing (a concept in a style) in one of many variations. Where classes are concepts, a class in one style
is ONE drawing, so all its images share a group, and a test is as large as the number of its drawings. Parts have
variations of their own, and in "subgroups" and "groups" also concepts of their own. Test and validation images are
fixed; only the shots depend on the seed. For the redrawn split take "train" from one style and "test" from another.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.emoji import composite
from openworld.datasets.emoji.drawings import STYLES, Concept, concepts, content, drawing, numbers, styles_of
from openworld.datasets.image_set import ImageSet
from openworld.datasets.splits import draw_shots

PARTS = ("train", "validation", "test")
VARIATIONS = {"train": 64, "validation": 4, "test": 10}
"""Images per drawing; shots are drawn from the 64."""

_SHARES = ("train", "test", "validation", "train", "test")
_SMALLEST_SUBGROUP = 12
_CONCEPTS_PER_GROUP = 30


@dataclass(frozen=True)
class EmojiTask:
    summary: str  # one line for people
    classes: Callable[[], dict[str, tuple[Concept, ...]]]  # class name -> concepts
    disjoint: bool = False  # parts hold different concepts of a class, else variations of the same drawing


def load(
    task: str = "concepts",
    style: str = "twemoji",
    part: str = "test",
    *,
    shots: int | None = 16,
    seed: int = 0,
    clean: bool = False,
) -> ImageSet:
    """Return a part of a task in one style; groups are drawing numbers, shared by all parts.

    Part "train" has shots (1 to 64 times a class's drawings; None for all) of a draw by `seed`, "validation" 4 fixed
    variations per drawing and "test" 10. With `clean`, not for "train", every drawing is there once, as it is, on
    white. Raises OpenworldError for an unknown task, style or part.

    >>> shots = load("groups", "twemoji", "train", shots=2)
    >>> len(shots), shots.classnames[2]
    (16, 'animals nature')
    """
    for kind, name, known in (("emoji task", task, TASKS), ("style", style, STYLES), ("part", part, PARTS)):
        if name not in known:
            raise unknown_name(kind, name, known)
    if clean and part == "train":
        raise OpenworldError("clean images exist once per drawing, so there are no shots to draw; use part='test'.")
    classes = TASKS[task].classes()
    if TASKS[task].disjoint:
        classes = {
            name: tuple(concept for place, concept in enumerate(own) if _SHARES[place % len(_SHARES)] == part)
            for name, own in classes.items()
        }
    # A row is label, part number, drawing and variation, class by class.
    label_list = numbers()
    table = [
        (label, PARTS.index(part), label_list[style, concept.id], variation)
        for label, own in enumerate(classes.values())
        for concept in own
        if (style, concept.id) in label_list
        for variation in range(1 if clean else VARIATIONS[part])
    ]
    rows = np.array(table, dtype=np.int64).reshape(-1, 4)
    if part == "train":
        rows = rows[draw_shots(rows[:, 0], shots, seed)]
    names, images = tuple(classes), rows[:, 1:]
    recipe = f"{content()} {composite.VERSION} {clean} ".encode() + images.tobytes()
    return ImageSet(
        name=f"emoji-{task}",
        domain=style,
        classnames=names,
        labels=rows[:, 0],
        groups=images[:, 1],
        content=hashlib.sha256(recipe).hexdigest(),
        read=partial(read_variation, images, clean),
    )


def read_variation(images: np.ndarray, clean: bool, index: int) -> Image.Image:
    part, number, variation = images[index].tolist()
    original = drawing(number)
    return composite.on_white(original) if clean else composite.vary(original, f"{part} {number} {variation}")


# --- which concepts -----------------------------------------------------------------------------------------


def _block(first: int, last: int, withheld: bool = False) -> dict[str, tuple[Concept, ...]]:
    """Concepts `first` to `last` of the benchmark order, one class each: no twins, drawn in every style."""
    usable = [c for c in concepts() if _has_every_style(c) and not c.twin_of and c.withheld == withheld]
    # The groups take turns, so that any stretch is balanced.
    turns = zip_longest(*_by(usable, "group").values())
    ordered = [concept for turn in turns for concept in turn if concept is not None]
    return {_spoken(concept.name): (concept,) for concept in ordered[first:last]}


def _classes_of(level: str, smallest: int, largest: int) -> dict[str, tuple[Concept, ...]]:
    """Return groups or subgroups of at least `smallest` concepts, up to `largest` of each; no twins, none withheld."""
    # Concepts that every style has come first, so that the parts of each style get their fair share.
    sizes = {name: len(own) for name, own in _by(concepts(), level).items()}
    usable = _by([c for c in concepts() if not c.twin_of and not c.withheld], level)
    return {
        _spoken(name): tuple(sorted(own, key=lambda concept: not _has_every_style(concept))[:largest])
        for name, own in usable.items()
        if sizes[name] >= smallest
    }


def _by(chosen, level: str) -> dict[str, list[Concept]]:
    """Concepts by group or subgroup, each list shuffled once and for all by a hash of the code points."""
    members_of: dict[str, list[Concept]] = {}
    for concept in chosen:
        members_of.setdefault(getattr(concept, level), []).append(concept)
    return {name: sorted(own, key=lambda c: hashlib.sha256(c.id.encode()).digest()) for name, own in members_of.items()}


def _has_every_style(concept: Concept) -> bool:
    return len(styles_of()[concept.id]) == len(STYLES)


def _spoken(name: str) -> str:
    """'animal-mammal' -> 'animal mammal', 'person: beard' -> 'person beard': names as captions say them."""
    return " ".join(re.sub(r"[-:]", " ", name).split())


TASKS: dict[str, EmojiTask] = {
    "concepts": EmojiTask("100 concepts", lambda: _block(0, 100)),
    "concepts-b": EmojiTask("100 other concepts: another data set", lambda: _block(100, 200)),
    "concepts-200": EmojiTask("200 concepts, those of concepts and concepts-b", lambda: _block(0, 200)),
    "concepts-400": EmojiTask("400 concepts, for small effects", lambda: _block(0, 400)),
    "withheld": EmojiTask("concepts that the embedded CLIP never saw", lambda: _block(0, 999, withheld=True)),
    "subgroups": EmojiTask(
        "49 subgroups; shots and test show different concepts",
        lambda: _classes_of("subgroup", _SMALLEST_SUBGROUP, 999),
        disjoint=True,
    ),
    "groups": EmojiTask(
        "8 groups; small, for trying things out; shots and test show different concepts",
        lambda: _classes_of("group", _SMALLEST_SUBGROUP, _CONCEPTS_PER_GROUP),
        disjoint=True,
    ),
}
