"""Every number of a measured shift as tidy rows: both axes, their levels, concepts and appearances, and the cells."""

from collections.abc import Iterator

from openworld.applications.shift.shift_measurement import ImageGroup, ShiftMeasurement
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


def results_of(found: ShiftMeasurement) -> Results:
    """Return all rows but the degrees of single images, which are a table of their own."""
    rows = [*_image_sets(found), *_axes(found), *_levels(found)]
    for kind, groups in (("concept", found.concepts), ("look", found.looks)):
        rows += [row for group in groups for row in _group(kind, group)]
    return Results("shift", (*rows, *_cells(found)))


def group_place(kind: str, group: ImageGroup) -> dict[str, str]:
    """Return where the rows of a group lie: `kind` is "concept" or "look"."""
    return {"group": kind, "name": group.name}


def _image_sets(found: ShiftMeasurement) -> Iterator[Result]:
    for place, images in enumerate((found.reference, *found.tests)):
        where = {"set": place, "name": images.name, "part": "test" if place else "reference"}
        yield Result("", IMAGES, Value(images.n), where)
        yield Result("", UNREADABLE, Value(images.unreadable), where)
    for kind, count in found.far.items():
        yield Result("", IMAGES, Value(count), {"far_in": kind})


def _axes(found: ShiftMeasurement) -> Iterator[Result]:
    for half, axis in found.axes.items():
        where = {"axis": half}
        numbers = {MEDIAN: axis.median, OWN_MEDIAN: axis.own_median, USUAL: axis.usual, FAR: axis.beyond}
        for metric, number in (numbers | {FAR_ALONE: found.far[half] / found.n}).items():
            yield Result("", metric, Value(number), where)
        reason = "" if axis.right is not None else "the decomposition does not say"
        yield Result("", ORDERED, Value(axis.right, reason=reason), where)


def _levels(found: ShiftMeasurement) -> Iterator[Result]:
    for half, axis in found.axes.items():
        for level, (start, count) in enumerate(zip((0.0, *axis.cuts), axis.counts, strict=True)):
            where = {"axis": half, "level": level}
            yield Result("", START, Value(start), where)
            yield Result("", IMAGES, Value(count), where)


def _group(kind: str, group: ImageGroup) -> Iterator[Result]:
    where = group_place(kind, group)
    yield Result("", IMAGES, Value(group.n), where)
    for half in ("semantic", "covariate"):
        yield Result("", MEDIAN, Value(getattr(group, half)), {**where, "axis": half})
        yield Result("", FAR, Value(getattr(group, f"{half}_beyond")), {**where, "axis": half})


def _cells(found: ShiftMeasurement) -> Iterator[Result]:
    for row, counts in enumerate(found.cells):
        for column, count in enumerate(counts):
            yield Result("", IMAGES, Value(count), {"covariate_level": row, "semantic_level": column})
