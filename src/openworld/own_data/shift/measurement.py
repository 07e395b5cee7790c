"""How far one's own images are from a reference, in meaning and in appearance: what `openworld shift` computes.

Degrees, levels and cells as IS-OOD has them (Long et al., 2024), beside a baseline that the paper does not have: the
degrees of a sample of the reference's own images against the others; what lies above their 95 % quantile is called far.
Memory: two blocks of features at a time, and some 100 bytes of each image.

Every number is a row. Its entity is the axis that it is of, "meaning" or "appearance"; counts of images are of nobody.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.own_data.shift.decomposition import require_others, teachers_of
from openworld.own_data.shift.images import ImageCollection, Reader
from openworld.report.shift_axes import AXES
from openworld.results import METRICS, Metric, Result, Results, Value
from openworld.shifts import HALVES, Decomposition, Levels, ShiftGrid, merge_degrees, shift_degrees
from openworld.shifts.grid import axis_levels

SAMPLE = 1000  # reference images that are measured against the others
USUAL_SHARE = 0.95
SAME = 1e-6  # distance in both halves below which an image is one of the reference
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


@dataclass(frozen=True, eq=False)
class ImageDegrees:
    """Degrees of n test images against a reference, by half; levels and cells of the n."""

    reference: ImageCollection
    tests: Sequence[ImageCollection]
    test: np.ndarray  # int64[n], which collection
    row: np.ndarray  # int64[n], which image of it
    degrees: dict[str, np.ndarray]  # float64[n]
    nearest: dict[str, np.ndarray]  # int64[n], the nearest reference image
    usual: dict[str, np.ndarray]  # float64 of the sampled reference images
    grid: ShiftGrid
    cuts: Mapping[str, Levels]
    known: int  # reference images that were read
    shared: int  # test images that are in the reference, too
    k: int  # which neighbour the degrees are the distance to
    taught: int = 0  # reference images that taught the decomposition
    backbone: str = ""
    about: Mapping = field(default_factory=dict)  # of the decomposition
    seed: int = 0  # of what is drawn

    def bound(self, half: str) -> float:
        """Return what 95 % of the reference's own images stay below."""
        return float(np.quantile(self.usual[half], USUAL_SHARE))

    def far(self, half: str) -> np.ndarray:
        """Return which images lie beyond the bound, bool[n]."""
        return self.degrees[half] > self.bound(half)

    @property
    def right(self) -> Mapping[str, float]:
        """Return by half the share of held-out triplets in the right order; {} where not known."""
        return self.about.get("validation") or {}

    def concepts(self) -> list[str]:
        """Return the class of every test image; "" where it has none."""
        pairs = zip(self.test, self.row, strict=True)
        return [self.tests[test].concept(row) for test, row in pairs]


def measure(
    reference: ImageCollection,
    tests: Sequence[ImageCollection],
    decomposition: Decomposition,
    reader: Reader,
    *,
    k: int = 10,  # which neighbour, from 1
    levels: int = 8,  # of each axis
    least: int = 10,  # cells with fewer images are N/A
    seed: int = 0,  # of the sample of the reference
    cuts: Mapping[str, Levels] | None = None,  # by half, cut before; None to cut them by these images
) -> ImageDegrees:
    """Return degrees of all test images against all reference images, and their grid."""
    require_neighbours((reference,), len(reference.images), k, besides=2)
    count = sum(len(test.images) for test in tests)
    if count < 2 and cuts is None:
        raise OpenworldError(
            f"{' and '.join(test.name for test in tests)} holds {count} image(s), expected two or more: levels divide "
            "images. To measure a single one, give the levels of an earlier run with --levels-of."
        )
    rows_read = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in reader.blocks(reference))])
    known = len(rows_read)
    require_neighbours((reference,), known, k, besides=2)
    parts = [
        (np.full(len(rows), place), rows, *_against(reference, features.embeddings, decomposition, k, reader))
        for place, test in enumerate(tests)
        for rows, features in reader.blocks(test)
    ]
    test, row, semantic, covariate, *nearest, same = (np.concatenate(part) for part in zip(*parts, strict=True))
    degrees = {"semantic": semantic, "covariate": covariate}
    cuts = cuts or axis_levels(degrees, levels)
    # Images that taught what meaning and appearance are lie too far from one another to say what is usual.
    others = np.flatnonzero(~np.isin(rows_read, teachers_of(decomposition, reference)))
    if len(others) < known:
        require_others(reference, len(others))
    usual = _usual(reference, others, decomposition, reader, k=k, seed=seed)
    grid = grid_of(degrees, cuts, least)
    nearest = dict(zip(HALVES, nearest, strict=True))
    return ImageDegrees(
        reference,
        tests,
        test,
        row,
        degrees,
        nearest,
        usual,
        grid,
        cuts,
        known=known,
        shared=int(same.sum()),
        k=k,
        taught=known - len(others),
        backbone=reader.clip.name,
        about=decomposition.about,
        seed=seed,
    )


def require_neighbours(reference: Sequence[ImageCollection], count: int, k: int, *, besides: int = 0) -> None:
    """Refuse a reference of too few images for the distance to neighbour `k`, with some `besides`."""
    if count < k + besides:
        raise OpenworldError(
            f"{' and '.join(images.name for images in reference)} holds {count} image(s) that can be read, and the "
            f"distance to neighbour {k} needs {k + besides} or more: give more reference images, or a smaller "
            "--neighbour."
        )


def grid_of(degrees: Mapping[str, np.ndarray], cuts: Mapping[str, Levels], least: int) -> ShiftGrid:
    semantic, covariate = (cuts[half].of(degrees[half]) for half in HALVES)
    return ShiftGrid(semantic, covariate, (len(cuts["covariate"]), len(cuts["semantic"])), least)


def _against(reference: ImageCollection, features, decomposition: Decomposition, k: int, reader: Reader) -> tuple:
    """Return both degrees, the nearest images in both halves, and whether an image is in the reference: [n] each."""
    merged, rows = [], []
    for number, block in reader.blocks(reference):
        merged.append(shift_degrees(decomposition, features, block.embeddings, k=k + 1, first=sum(map(len, rows))))
        rows.append(number)
        if len(merged) > 1:
            merged = [merge_degrees(merged)]
    neighbours, rows = [getattr(merged[0], half) for half in HALVES], np.concatenate(rows)
    same = np.logical_and(*(near.distances[:, 0] < SAME for near in neighbours))
    first = same.astype(np.int64)  # an image of the reference is its own first neighbour, which does not count
    each = np.arange(len(same))
    degrees = (near.distances[each, first + k - 1] for near in neighbours)
    return *degrees, *(rows[near.places[each, first]] for near in neighbours), same


def _usual(
    reference: ImageCollection, others: np.ndarray, decomposition: Decomposition, reader: Reader, *, k: int, seed: int
) -> dict[str, np.ndarray]:
    """Return degrees of a sample of the reference's `others`, by their places, against the rest of it."""
    generator = np.random.default_rng(seed)
    drawn = np.sort(generator.choice(others, min(SAMPLE, len(others)), replace=False))
    samples, first = [], 0
    for _, block in reader.blocks(reference):
        rows = drawn[(drawn >= first) & (drawn < first + len(block))] - first
        samples.append(np.asarray(block.embeddings[rows]))
        first += len(block)
    degrees = _against(reference, np.concatenate(samples), decomposition, k, reader)
    return dict(zip(HALVES, degrees[:2], strict=True))


def degree_columns(measured: ImageDegrees) -> dict[str, list]:
    """Return a row per test image: set, file, class; in both halves degree, level, far, nearest."""
    tests = measured.tests
    pairs = list(zip(measured.test.tolist(), measured.row.tolist(), strict=True))
    own = {
        "set": [tests[test].name for test, _ in pairs],
        "image": [tests[test].path(row) for test, row in pairs],
        "class": measured.concepts(),
    }
    by_half = {
        "degree": lambda half: measured.degrees[half].tolist(),
        "level": lambda half: getattr(measured.grid, half).tolist(),
        "far": lambda half: measured.far(half).tolist(),
        "nearest": lambda half: [measured.reference.path(row) for row in measured.nearest[half].tolist()],
    }
    return own | {f"{half}_{name}": column(half) for name, column in by_half.items() for half in HALVES}


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
