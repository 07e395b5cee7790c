"""The pictures worth looking at: most confidently wrong, and the classes that go best and worst.

`choose` needs the per-image table alone, so that whoever writes records can keep the thumbnails of just these
pictures; of one drawing only the most telling picture is taken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from openworld.report.data_files import data_address
from openworld.report.outcome import Outcome

KINDS = {
    "wrong_base": "Base images most confidently misnamed",
    "wrong_new": "New images most confidently misnamed",
    "best_classes": "Classes that go best",
    "worst_classes": "Classes that go worst",
}


@dataclass(frozen=True)
class Chosen:
    """One picture: its row in the per-image table, and the accuracy of its class and the images behind it."""

    place: int
    class_accuracy: float
    class_images: int


@dataclass(frozen=True)
class Shown:
    """One picture as the page shows it; `address` is None where no thumbnail was kept."""

    address: str | None
    name: str
    told: str


def choose(images: Mapping[str, np.ndarray], count: int = 8) -> dict[str, list[Chosen]]:
    """The rows of the per-image table to show, at most `count` of each kind.

    Args:
        images: columns id, side, label, correct, confidence and, where images are not independent, group.
        count: how many pictures of each kind.

    Returns:
        {"wrong_base", "wrong_new", "best_classes", "worst_classes": [Chosen, ...]}, the most telling first.
    """
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
    return {
        kind: [Chosen(int(place), *classes[int(labels[place])]) for place in places] for kind, places in picked.items()
    }


def show(outcome: Outcome, count: int = 8) -> dict[str, list[Shown]]:
    """The chosen pictures of one outcome with names and scores, by kind; {} where confidences were not recorded."""
    if "confidence" not in outcome.images:
        return {}
    chosen = choose(outcome.images, count)
    return {
        kind: [_shown(outcome, one, by_class=kind.endswith("classes")) for one in picked]
        for kind, picked in chosen.items()
    }


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
    """The surest picture of a class that is right (or wrong); any of the class where there is none."""
    of_class = surest[np.asarray(images["label"])[surest] == label]
    wanted = of_class[np.asarray(images["correct"], bool)[of_class] == right]
    return int(wanted[0] if len(wanted) else of_class[0])


def _shown(outcome: Outcome, chosen: Chosen, *, by_class: bool) -> Shown:
    images, names, place = outcome.images, outcome.classnames, chosen.place
    data = outcome.picture(int(images["id"][place]))
    address = None if data is None else data_address("image/png", data)
    name = names[int(images["label"][place])]
    if by_class:
        share = f"{100 * chosen.class_accuracy:.0f}\u00a0%"
        return Shown(address, name, f"{images['side'][place]} · {share} of {chosen.class_images} named right")
    prediction = int(images["prediction"][place]) if "prediction" in images else -1
    said = f"“{names[prediction]}”" if prediction >= 0 else "something else"
    sure = f"{100 * float(images['confidence'][place]):.0f}\u00a0%"
    score = f"{float(images['score'][place]):.2f}".replace("-", "−")
    return Shown(address, name, f"named {said} with {sure} · baseness\u00a0{score}")
