"""Scores of detectors on in-distribution images and on named sets of others, and the columns of tables that keep them.

Groups are those of OpenOOD v1.5. "near" and "far" sets show other classes. "covariate" sets show the same classes in
another appearance: the AUROC against the in-distribution test images tells how much of the shift a detector sees, and
there is no better or worse to it. "full-spectrum" sets are such sets too, and count as in-distribution in a second
round of near and far numbers, where a detector should let them pass.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld.tables.coded import Coded
from openworld.tables.entries import finite_numbers

OTHER_CLASSES = ("near", "far")
SAME_CLASSES = ("covariate", "full-spectrum")
GROUPS = (*OTHER_CLASSES, *SAME_CLASSES)
FULL = "full-spectrum"
WORST_IMAGES = 8
"""Images of every set that a detector is most wrong about: so many are kept and shown."""
SCORE_COLUMN, STREAM = "score ", "stream "
"""How columns begin that hold what a detector says of images, and of test images in the stream with a set."""


@dataclass(frozen=True, eq=False)
class SetScores:
    """One set of images: its scores, image ids and the groups that images were drawn in."""

    name: str
    group: str  # of `GROUPS`; "id" of in-distribution images
    scores: Mapping[str, np.ndarray]  # {detector: float64[n]}, larger = more in-distribution
    images: np.ndarray
    clusters: np.ndarray
    read: Callable[[int], Any] | None = None  # place -> PIL image; None where there are scores alone
    # Of detectors whose scores depend on the order of images: {detector: float64[n]} of the in-distribution test
    # images in the stream that they made with this set.
    inside: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.images)

    def worst(self, detector: str) -> np.ndarray:
        """Places of the images that a detector is most wrong about; of in-distribution ones those with least scores."""
        sign = 1 if self.group == "id" else -1
        return np.argsort(sign * self.scores[detector], kind="stable")[:WORST_IMAGES]


@dataclass(frozen=True, eq=False)
class ScoredSets:
    """In-distribution images and others."""

    test: SetScores
    others: tuple[SetScores, ...]
    validation: SetScores | None = None
    made: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [each.name for each in self.all]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise OpenworldError(f"two sets are called {twice!r}; give every set a name of its own.")
        for each in self.all:
            if each.group not in GROUPS and each.group != "id":
                raise unknown_name("group", each.group, ("id", *GROUPS))
            if list(each.scores) != list(self.detectors):
                raise OpenworldError(f"{each.name} has scores of other detectors than {self.test.name}.")
            if any(len(own) != len(self.test) for own in each.inside.values()):
                raise OpenworldError(f"{each.name} has a stream of another number of test images than there are.")
            if not len(each):
                raise OpenworldError(f"{each.name} has no image; leave it out, or give its images.")

    @property
    def detectors(self) -> tuple[str, ...]:
        return tuple(self.test.scores)

    @property
    def sequential(self) -> tuple[str, ...]:
        """Those whose scores depend on the order of the images and on which others there are."""
        return tuple(name for name in self.detectors if any(name in each.inside for each in self.others))

    @property
    def all(self) -> tuple[SetScores, ...]:
        """Every set, in-distribution ones first."""
        return (self.test, *((self.validation,) if self.validation else ()), *self.others)

    def of(self, *groups: str) -> tuple[SetScores, ...]:
        return tuple(each for each in self.others if each.group in groups)

    @cached_property
    def spectrum(self) -> SetScores | None:
        """The test images joined by those that count as in-distribution; None where there are none."""
        joined = (self.test, *self.of(FULL))
        if len(joined) == 1:
            return None
        scores = {name: np.concatenate([each.scores[name] for each in joined]) for name in self.detectors}
        images, clusters = (np.concatenate([getattr(each, of) for each in joined]) for of in ("images", "clusters"))
        return SetScores(FULL, "id", scores, images, clusters)


def score_columns(sets: ScoredSets) -> dict[str, np.ndarray]:
    """Return a table with a row per image: set, group, image, cluster, and "score DETECTOR"; see `stream_columns`."""
    table = {
        "set": np.concatenate([np.full(len(each), each.name, object) for each in sets.all]),
        "group": np.concatenate([np.full(len(each), each.group, object) for each in sets.all]),
        "image": np.concatenate([each.images for each in sets.all]),
        "cluster": np.concatenate([each.clusters.astype(object) for each in sets.all]),
    }
    scores = {
        SCORE_COLUMN + label: np.concatenate([each.scores[label] for each in sets.all]) for label in sets.detectors
    }
    return table | scores | stream_columns(sets)


def stream_columns(sets: ScoredSets) -> dict[str, np.ndarray]:
    """Return the columns "stream DETECTOR with SET": NaN but for test images, the first."""
    count = sum(map(len, sets.all))
    columns = {}
    for each in sets.others:
        for name, own in each.inside.items():
            columns[stream_column(name, each.name)] = np.append(own, np.full(count - len(own), np.nan))
    return columns


def stream_column(detector: str, name: str) -> str:
    """Return what a column is called that holds scores of the test images in the stream with a set."""
    return f"{STREAM}{detector} with {name}"


def sets_of_rows(
    keys: Iterable[tuple[str, str]],
    images: np.ndarray,
    clusters: np.ndarray,
    scores: Mapping[str, np.ndarray],
    streams: Mapping[str, np.ndarray],
    *,
    title: str = "the table",
    read: Callable[[int], Callable[[int], Any]] | None = None,
    warnings: tuple[str, ...] = (),
) -> ScoredSets:
    """Return the sets of a table, in order of appearance.

    Args:
        keys: group and name of every row; those of in-distribution images are called "test" and "validation".
        scores: float64[N] by detector. streams: by `stream_column`, finite in the rows of test images.
        read: the place of a set -> what reads its images.
    """
    keys = Coded.of(keys)
    rows = {key: np.flatnonzero(keys.codes == place) for place, key in enumerate(keys.names)}
    if ("id", "test") not in rows:
        raise OpenworldError(f"{title} has no in-distribution test image: no row whose group is id (and part test).")
    test = rows["id", "test"]
    beside = {column: finite_numbers(values[test], f"column {column} of {title}") for column, values in streams.items()}
    sets = {}
    for place, ((group, name), chosen) in enumerate(rows.items()):
        inside = {label: beside[stream_column(label, name)] for label in scores if stream_column(label, name) in beside}
        sets[group, name] = SetScores(
            name,
            group,
            {label: values[chosen] for label, values in scores.items()},
            images[chosen],
            clusters[chosen],
            None if read is None else read(place),
            {label: np.asarray(values, np.float64) for label, values in inside.items()},
        )
    others = tuple(each for (group, _), each in sets.items() if group != "id")
    return ScoredSets(sets["id", "test"], others, sets.get(("id", "validation")), warnings=warnings)
