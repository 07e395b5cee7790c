"""The images worth looking at: most confidently wrong, and the classes that go best and worst.

`choose` needs the per-image table alone, so that whoever writes records can keep the thumbnails of just these images;
of one drawing only the most telling image is taken.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

KINDS = {
    "wrong_base": "Base images most confidently misnamed",
    "wrong_new": "New images most confidently misnamed",
    "best_classes": "Classes that go best",
    "worst_classes": "Classes that go worst",
}


Chosen = tuple[int, float, int]
"""The row of an image, the accuracy of its class, and how many images that has."""


@dataclass(frozen=True)
class AlbumImage:
    address: str | None  # of its thumbnail; None where none was kept
    name: str
    caption: str
    tags: Mapping[str, str] = field(default_factory=dict)  # {"outcome": "wrong"}, by which readers pick images
    score: float | None = None  # likewise picked by; None where it has none


@dataclass(frozen=True)
class Album:
    """The images of one table: of its best learner, first seed."""

    title: str
    caption: str
    parts: tuple[tuple[str, tuple[AlbumImage, ...]], ...]  # headings, and what stands below them

    @property
    def choices(self) -> dict[str, list[str]]:
        """What readers can pick images by: every tag that has several values, with these in order."""
        found: dict[str, set[str]] = {}
        for image in self._images:
            for name, value in image.tags.items():
                found.setdefault(name, set()).add(value)
        return {name: sorted(values) for name, values in found.items() if len(values) > 1}

    @property
    def scores(self) -> tuple[float, float] | None:
        """The least and the largest score; None where they are not several."""
        known = {image.score for image in self._images if image.score is not None}
        return (min(known), max(known)) if len(known) > 1 else None

    @property
    def _images(self) -> Iterator[AlbumImage]:
        return (image for _, images in self.parts for image in images)


def choose(images: Mapping[str, np.ndarray], count: int = 8) -> dict[str, list[Chosen]]:
    """The rows of the per-image table to show, at most `count` of each kind."""
    correct, confidence = np.asarray(images["correct"], bool), np.asarray(images["confidence"], float)
    base = np.asarray(images["side"]) == "base"
    groups = np.asarray(images.get("group", images.get("id")))
    surest = np.argsort(-confidence, kind="stable")
    classes = _by_class(np.asarray(images["label"]), correct)
    sureness = _by_class(np.asarray(images["label"]), confidence)
    picked = {
        "wrong_base": _one_per_group(surest[(base & ~correct)[surest]], groups, count),
        "wrong_new": _one_per_group(surest[(~base & ~correct)[surest]], groups, count),
    }
    ranked = sorted(classes, key=lambda label: (-classes[label][0], -sureness[label][0], label))
    picked["best_classes"] = [_example(images, surest, label, right=True) for label in ranked[:count]]
    picked["worst_classes"] = [_example(images, surest, label, right=False) for label in ranked[::-1][:count]]
    labels = images["label"]
    return {kind: [(int(place), *classes[int(labels[place])]) for place in places] for kind, places in picked.items()}


def _by_class(labels: np.ndarray, values: np.ndarray) -> dict[int, tuple[float, int]]:
    """Mean and number of the values of each class."""
    present = np.unique(labels)
    return {int(label): (float(values[labels == label].mean()), int((labels == label).sum())) for label in present}


def _one_per_group(places: Sequence[int], groups: np.ndarray, count: int) -> list[int]:
    first: dict = {}
    for place in places:
        first.setdefault(groups[place], place)
    return list(first.values())[:count]


def _example(images: Mapping[str, np.ndarray], surest: np.ndarray, label: int, *, right: bool) -> int:
    """The surest image of a class that is right (or wrong); any of the class where there is none."""
    of_class = surest[np.asarray(images["label"])[surest] == label]
    wanted = of_class[np.asarray(images["correct"], bool)[of_class] == right]
    return int(wanted[0] if len(wanted) else of_class[0])
