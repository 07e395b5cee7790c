"""Every number of a measured shift as tidy rows: both axes, their levels, concepts and styles, and the cells."""

from collections.abc import Iterator

from openworld.applications.shift.shift_measurement import ShiftMeasurement
from openworld.results import METRICS, Metric, Result, Results, Value

IMAGES = METRICS["images"]
UNREADABLE = Metric("unreadable_images", "unreadable", "count", 0, 0, (0.0, None))
MEDIAN = Metric("median_degree", "median degree", "fraction", 3, 0, (0.0, 2.0))
OWN_MEDIAN = Metric("reference_median_degree", "median of the reference's own", "fraction", 3, 0, (0.0, 2.0))
USUAL = Metric("usual_degree", "95 % of these below", "fraction", 3, 0, (0.0, 2.0))
FAR = Metric("far", "far", better=0)
FAR_ALONE = Metric("far_in_it_alone", "far in it alone", better=0)
ORDERED = Metric("held_out_triplets", "held-out triplets in the right order", better=0)
START = Metric("level_start", "from", "fraction", 4, 0, (0.0, 2.0))

GROUPS = {"looks": "style", "concepts": "concept"}
"""A field of a `ShiftMeasurement` -> what its groups are called."""


def results_of(measurement: ShiftMeasurement) -> Results:
    """Return all rows but the degrees of single images, which are a table of their own."""
    return Results("shift", tuple(Result("", metric, value, where) for metric, value, where in _rows(measurement)))


def _rows(measurement: ShiftMeasurement) -> Iterator[tuple[Metric, Value, dict]]:
    for place, images in enumerate((measurement.reference, *measurement.tests)):
        where = {"set": place, "name": images.name, "part": "test" if place else "reference"}
        yield IMAGES, Value(images.n), where
        yield UNREADABLE, Value(images.unreadable), where
    for kind, count in measurement.far.items():
        yield IMAGES, Value(count), {"far_in": kind}
    for half, axis in measurement.axes.items():
        where = {"axis": half}
        numbers = {MEDIAN: axis.median, OWN_MEDIAN: axis.own_median, USUAL: axis.usual, FAR: axis.beyond}
        for metric, number in (numbers | {FAR_ALONE: measurement.far[half] / measurement.n}).items():
            yield metric, Value(number), where
        yield ORDERED, Value(axis.right, reason="the decomposition does not say" * (axis.right is None)), where
    for half, axis in measurement.axes.items():
        for level, (start, count) in enumerate(zip((0.0, *axis.cuts), axis.counts, strict=True)):
            where = {"axis": half, "level": level}
            yield START, Value(start), where
            yield IMAGES, Value(count), where
    for groups in ("concepts", "looks"):
        for group in getattr(measurement, groups):
            where = {"group": GROUPS[groups], "name": group.name}
            yield IMAGES, Value(group.n), where
            for half in measurement.axes:
                yield MEDIAN, Value(getattr(group, half)), {**where, "axis": half}
                yield FAR, Value(getattr(group, f"{half}_beyond")), {**where, "axis": half}
    for row, counts in enumerate(measurement.cells):
        for column, count in enumerate(counts):
            yield IMAGES, Value(count), {"covariate_level": row, "semantic_level": column}
