"""Every number of a measured shift as a row: both axes, their levels, concepts and styles, and the cells.

The entity of a number is the axis that it is of, "meaning" or "appearance"; counts of images are of nobody.
"""

from collections.abc import Iterator

import numpy as np

from openworld.own_data.shift.images import Reader
from openworld.own_data.shift.measurement import ImageDegrees
from openworld.report.shift_axes import AXES
from openworld.results import METRICS, Metric, Result, Results, Value

SURE = 0.75  # share of held-out triplets below which a half is not trusted
IMAGES = METRICS["images"]
CLASSES = Metric("classes", "classes", "count", 0, 0, (0.0, None))
UNREADABLE = Metric("unreadable_images", "unreadable", "count", 0, 0, (0.0, None))
MEDIAN = Metric("median_degree", "median degree", "fraction", 3, 0, (0.0, 2.0))
OWN_MEDIAN = Metric("reference_median_degree", "median of the reference's own", "fraction", 3, 0, (0.0, 2.0))
USUAL = Metric("usual_degree", "95 % of these below", "fraction", 3, 0, (0.0, 2.0))
FAR = Metric("far", "far", better=0)
FAR_ALONE = Metric("far_in_it_alone", "far in it alone", better=0)
ORDERED = Metric("held_out_triplets", "held-out triplets in the right order", better=0)
START = Metric("level_start", "from", "fraction", 4, 0, (0.0, 2.0))

NEITHER, BOTH = "neither", "both"
STYLE, CONCEPT = "style", "concept"
ORDERED_BY = {STYLE: AXES["covariate"], CONCEPT: AXES["semantic"]}
"""Kinds of groups -> the axis that orders them."""


def results_of(measured: ImageDegrees, reader: Reader) -> Results:
    """Return all rows but the degrees of single images, which are a table of their own."""
    return Results("shift", (*_of_sets(measured, reader), *_of_axes(measured), *_of_groups(measured)))


def _of_sets(measured: ImageDegrees, reader: Reader) -> Iterator[Result]:
    """Yield how many images each set, each cell, and each part of the far ones has."""
    tests = measured.tests
    counts = [measured.known, *np.bincount(measured.test, minlength=len(tests)).tolist()]
    for place, images in enumerate((measured.reference, *tests)):
        where = {"set": place, "set_name": images.name if place else f"{images.name} (reference)"}
        numbers = {IMAGES: counts[place], CLASSES: len(images.classnames), UNREADABLE: reader.unreadable(images.name)}
        yield from (Result("", metric, Value(number), where) for metric, number in numbers.items())
    kinds = (NEITHER, *(f"{word} alone" for word in AXES.values()), BOTH)
    far = measured.far("semantic") + 2 * measured.far("covariate")
    for kind, count in zip(kinds, np.bincount(far, minlength=len(kinds)).tolist(), strict=True):
        yield Result("", IMAGES, Value(count), {"far_in": kind})
    for (row, column), count in np.ndenumerate(measured.grid.counts):
        yield Result("", IMAGES, Value(int(count)), {"covariate_level": row, "semantic_level": column})


def _of_axes(measured: ImageDegrees) -> Iterator[Result]:
    """Yield what is known of each axis, and of its levels."""
    for half, word in AXES.items():
        far = measured.far(half)
        alone = far & ~np.logical_and.reduce([measured.far(other) for other in AXES])
        numbers = {
            MEDIAN: float(np.median(measured.degrees[half])),
            OWN_MEDIAN: float(np.median(measured.usual[half])),
            USUAL: measured.bound(half),
            FAR: float(far.mean()),
            FAR_ALONE: float(alone.mean()),
        }
        yield from (Result(word, metric, Value(number)) for metric, number in numbers.items())
        right = measured.right.get(half)
        yield Result(word, ORDERED, Value(right, reason="" if right is not None else "the decomposition does not say"))
        cuts = measured.cuts[half]
        counts = np.bincount(getattr(measured.grid, half), minlength=len(cuts)).tolist()
        for level, (start, count) in enumerate(zip((0.0, *cuts.cuts), counts, strict=True)):
            yield Result(word, START, Value(start), {"level": level})
            yield Result(word, IMAGES, Value(count), {"level": level})


def _of_groups(measured: ImageDegrees) -> Iterator[Result]:
    """Yield what is known of test sets, where there are several, and of classes: the farthest first."""
    tests = measured.tests
    names = {CONCEPT: measured.concepts()}
    if len(tests) > 1:
        names = {STYLE: [tests[test].name for test in measured.test]} | names
    for kind, own in names.items():
        places: dict[str, list[int]] = {}
        for place, name in enumerate(own):
            if name:
                places.setdefault(name, []).append(place)
        medians = {
            name: {word: float(np.median(measured.degrees[half][places[name]])) for half, word in AXES.items()}
            for name in places
        }
        for name in sorted(places, key=lambda name: (-medians[name][ORDERED_BY[kind]], name)):
            where = {"group": kind, "name": name}
            yield Result("", IMAGES, Value(len(places[name])), where)
            for half, word in AXES.items():
                yield Result(word, MEDIAN, Value(medians[name][word]), where)
                yield Result(word, FAR, Value(float(measured.far(half)[places[name]].mean())), where)
