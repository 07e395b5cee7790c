"""Scores of detectors on in-distribution images and on named sets of others, and every number that comes of them.

Of each out-of-distribution set, and of the mean over the sets of a group (each counting the same, as OpenOOD v1.5
does): AUROC, FPR@95 and AUPR in both conventions, with 95 % intervals over images, and the detectors tested against the
best, paired, since all of them answer the same images.

Groups are those of OpenOOD v1.5. "near" and "far" sets show other classes. "covariate" sets show the same classes in
another appearance: the AUROC against the in-distribution test images tells how much of the shift a detector sees, and
there is no better or worse to it. "full-spectrum" sets are such sets too, and count as in-distribution in a second
round of near and far numbers, where a detector should let them pass.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld.metrics import MetricEstimate, auroc, detection_report, mean_over_sets, paired_test
from openworld.metrics.detection_intervals import METRICS as RESAMPLED
from openworld.metrics.detection_intervals import draw_counts, resampled
from openworld.results.comparison import Comparison, comparison_of, correct_for_many
from openworld.results.metrics import METRICS
from openworld.results.results import Result, Results
from openworld.results.value import Interval, Metric, Value, interval_of

OTHER_CLASSES = ("near", "far")
SAME_CLASSES = ("covariate", "full-spectrum")
GROUPS = (*OTHER_CLASSES, *SAME_CLASSES)
SHIFT_SEEN = Metric("shift_seen", "shift seen", better=0)
"""AUROC of in-distribution test images against images of the same classes in another appearance."""

NO_STREAM = "its scores depend on the order, and no stream held the full spectrum"

REPLICATES = 200
FULL = "full-spectrum"
STREAM = "stream "
"""How columns begin that hold what a detector says of test images in the stream with a set."""


@dataclass(frozen=True, eq=False)
class SetScores:
    """One set of images.

    Args:
        name: told apart from the other sets'.
        group: of `GROUPS`; "id" of in-distribution images.
        scores: {detector: float64[n]}, larger = more in-distribution.
        images: object[n], paths or ids.
        clusters: [n], labels of images that are not independent, from one name space over all sets.
        read: place -> PIL image; None where there are scores alone.
        inside: of detectors whose scores depend on the order of the images, {detector: float64[n]} of the
            in-distribution test images in the stream that they made with this set.
    """

    name: str
    group: str
    scores: Mapping[str, np.ndarray]
    images: np.ndarray
    clusters: np.ndarray
    read: Callable[[int], Any] | None = None
    inside: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.images)


@dataclass(frozen=True, eq=False)
class ScoredSets:
    """In-distribution images and others.

    Args:
        test: in-distribution images that nothing learned from.
        others: sets of the groups.
        validation: further in-distribution images, on which a threshold is chosen; None where there are none.

    Raises:
        OpenworldError: no image, an unknown group, two sets of one name, another detector in one of them.
    """

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
        """In order."""
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
        """The sets of some groups."""
        return tuple(each for each in self.others if each.group in groups)

    @property
    def groups(self) -> tuple[str, ...]:
        """Those that have a set, in the order of `GROUPS`."""
        return tuple(group for group in GROUPS if self.of(group))

    @cached_property
    def spectrum(self) -> SetScores | None:
        """The test images joined by those that count as in-distribution; None where there are none."""
        joined = (self.test, *self.of(FULL))
        if len(joined) == 1:
            return None
        scores = {name: np.concatenate([each.scores[name] for each in joined]) for name in self.detectors}
        images, clusters = (np.concatenate([getattr(each, of) for each in joined]) for of in ("images", "clusters"))
        return SetScores(FULL, "id", scores, images, clusters)


def stream_columns(sets: ScoredSets) -> dict[str, np.ndarray]:
    """Return, for tables with a row per image, what `with_streams` reads: NaN but for the test images, which are first.

    Names of columns are "stream DETECTOR with SET".
    """
    count = sum(map(len, sets.all))
    columns = {}
    for each in sets.others:
        for name, own in each.inside.items():
            columns[stream_column(name, each.name)] = np.append(own, np.full(count - len(own), np.nan))
    return columns


def with_streams(others: Sequence[SetScores], columns: Mapping[str, np.ndarray]) -> tuple[SetScores, ...]:
    """Return the sets with the streams that columns of a table, in the rows of the test images, hold."""
    return tuple(
        replace(
            each,
            inside={
                name: np.asarray(columns[stream_column(name, each.name)], np.float64)
                for name in each.scores
                if stream_column(name, each.name) in columns
            },
        )
        for each in others
    )


def stream_column(detector: str, name: str) -> str:
    """Return what a column is called that holds scores of the test images in the stream with a set."""
    return f"{STREAM}{detector} with {name}"


def detection_results(sets: ScoredSets, *, replicates: int = REPLICATES, seed: int = 0) -> Results:
    """Return every number with its interval, and the tests.

    Args:
        replicates: of the bootstrap that gives FPR and AUPR their intervals; 0 for none.

    >>> def scored(name, group, scores):
    ...     return SetScores(name, group, {"MSP": np.array(scores)}, np.arange(2), np.array([f"{name} 0", f"{name} 1"]))
    >>> results = detection_results(ScoredSets(scored("test", "id", [2.0, 1]), (scored("dtd", "far", [1.0, 0]),)))
    >>> results.value("MSP", "auroc", group="far", set="dtd").value
    0.875
    """
    groups = list(_groups(sets))
    rows = [row for group in groups for row in group.rows(replicates, seed)]
    return Results("ood-benchmark", tuple(rows), detection_tests(sets))


def detection_tests(sets: ScoredSets) -> tuple[Comparison, ...]:
    """Return the tests alone: at every place the best detector against every other."""
    return tuple(test for group in _groups(sets) if group.group in OTHER_CLASSES for test in group.tests())


def _groups(sets: ScoredSets) -> Iterator["_Group"]:
    """Yield the groups against the test images, then those of other classes against the full spectrum."""
    for inside in filter(None, (sets.test, sets.spectrum)):
        whole = inside is sets.spectrum
        where = {"in_distribution": FULL} if whole else {}
        for group in OTHER_CLASSES if whole else GROUPS:
            if sets.of(group):
                alone = sets.sequential if whole else ()
                yield _Group(inside, group, sets.of(group), {"group": group, **where}, alone)


@dataclass(frozen=True, eq=False)
class _Group:
    """The sets of a group against the in-distribution images; `left_out` detectors have no number there."""

    inside: SetScores
    group: str
    sets: tuple[SetScores, ...]
    where: Mapping[str, str]
    left_out: tuple[str, ...] = ()

    def pair(self, name: str, other: SetScores) -> tuple[np.ndarray, np.ndarray]:
        """A detector's scores of the in-distribution images, in the stream with a set where it has one, and of it."""
        return other.inside.get(name, self.inside.scores[name]), other.scores[name]

    @cached_property
    def areas(self) -> dict[str, list[MetricEstimate]]:
        """AUROC by detector, set by set, and last their mean."""
        found = {}
        for name in self.inside.scores:
            if name in self.left_out:
                continue
            each = [
                auroc(*self.pair(name, other), in_groups=self.inside.clusters, out_groups=other.clusters)
                for other in self.sets
            ]
            clusters = [(self.inside.clusters, other.clusters) for other in self.sets]
            found[name] = [*each, mean_over_sets(each, clusters)]
        return found

    @property
    def places(self) -> list[dict[str, str]]:
        """Where each of `areas` stands."""
        return [*({**self.where, "set": other.name} for other in self.sets), dict(self.where)]

    def rows(self, replicates: int, seed: int) -> Iterator[Result]:
        """Yield every number of every detector."""
        counts = draw_counts([self.inside.clusters, *(each.clusters for each in self.sets)], replicates, seed)
        metric = SHIFT_SEEN if self.group in SAME_CLASSES else METRICS["auroc"]
        for name, estimates in self.areas.items():
            for estimate, where in zip(estimates, self.places, strict=True):
                yield Result(name, metric, _value(estimate.value, estimate.interval()), where)
            if self.group in OTHER_CLASSES:
                yield from self._rates(name, counts)
        for name in self.left_out:
            for where in self.places:
                for card in (metric, *(METRICS[key] for key in RESAMPLED)):
                    yield Result(name, card, Value(None, reason=NO_STREAM), where)
        for other in self.sets:
            yield Result("", METRICS["images"], Value(len(other)), {**self.where, "set": other.name})

    def _rates(self, name: str, counts: Sequence[np.ndarray]) -> Iterator[Result]:
        reports = [detection_report(*self.pair(name, other)) for other in self.sets]
        drawn = [
            resampled(*self.pair(name, other), counts[0], own) if len(own) else {}
            for other, own in zip(self.sets, counts[1:], strict=True)
        ]
        for key in RESAMPLED:
            values = [getattr(report, key) for report in reports]
            replicates = [each.get(key, np.zeros(0)) for each in drawn]
            numbers = zip([*values, float(np.mean(values))], [*replicates, np.mean(replicates, axis=0)], strict=True)
            for (value, own), where in zip(numbers, self.places, strict=True):
                yield Result(name, METRICS[key], _value(value, _percentiles(own)), where)

    def tests(self) -> Iterator[Comparison]:
        """Yield the tests of the best detector against every other, by AUROC; those of one place are one family."""
        for place, where in enumerate(self.places if self.areas else ()):
            best, *others = sorted(self.areas, key=lambda name: -self.areas[name][place].value)
            yield from correct_for_many(
                comparison_of(
                    best,
                    other,
                    METRICS["auroc"],
                    paired_test(self.areas[best][place], self.areas[other][place]),
                    where=where,
                )
                for other in others
            )


def _percentiles(values: np.ndarray) -> tuple[float, float] | None:
    defined = values[~np.isnan(values)]
    return tuple(np.quantile(defined, (0.025, 0.975)).tolist()) if len(defined) > 1 else None


def _value(number: float | None, ends: Sequence[float] | None) -> Value:
    if number is None:
        return Value(None, reason="a side has no image")
    intervals: tuple[Interval, ...] = interval_of(ends, "images")
    return Value(float(number), intervals)
