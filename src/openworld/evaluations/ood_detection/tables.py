"""The tables of an OOD-detection run: a row per model and detector, in the order of the run."""

from collections.abc import Iterable, Iterator, Sequence

from openworld.evaluations.ood_detection.facts import KEPT, REMOVED, Detector, ShiftFacts
from openworld.evaluations.ood_detection.measurements import (
    ALL,
    AUROC,
    CELL_METRICS,
    CELLS,
    COMMON,
    DEGREE,
    PRESENT,
    TREND_METRICS,
    correlation_of,
    slope_of,
)
from openworld.evaluations.ood_detection.record import SUBSETS
from openworld.evaluations.ood_detection.results import COUNTS, DetectionResults, is_mixed
from openworld.report.sentences import over_what
from openworld.report.shift_axes import AXES
from openworld.report.table import Cell, Column, Row, Table, cell_of
from openworld.results import METRICS, TEXT, Result, Value

LEVELS = "Levels count from 0, the nearest to the training images"
_MAIN, _COMMON, _REACH, _COUNT = 4, 3, 2, 1  # priorities on a narrow terminal
MARK = " †"
OF_ORDER = " † depends on the order of the images: the detector remembers those that it scored."
_MIXED = "*: the mix of cells makes the slope; on common cells it turns or differs by a point."


def main_table(results: DetectionResults) -> Table:
    """AUROC against the whole pool, at the ends of both axes, its slopes, and where a detector leads or is blind."""
    columns = [Column(AUROC, headline=True, priority=_MAIN)]
    for axis in AXES:
        columns += [
            Column(TEXT, f"{axis} near → far", priority=_REACH),
            Column(slope_of(AUROC), f"{axis} slope", priority=_MAIN),
            Column(slope_of(AUROC), f"{axis} common", priority=_COMMON),
        ]
    counts = ("best_cells", "blind_cells")
    columns += [Column(COUNTS[key], priority=_COUNT) for key in counts]

    def cells(detector: Detector) -> Iterator[Cell | Value]:
        yield results.whole_pool(detector)
        for axis in AXES:
            ends = reach(results.curve(detector, axis, ALL))
            yield Cell(" → ".join(map(AUROC.write, ends)), sort=ends[1])
            yield from (_slope_cell(results, detector, axis, kind) for kind in CELLS)
        yield from (results.value(detector, key) for key in counts)

    facts, present = results.facts, results.facts.present()
    whole = over_what(map(results.whole_pool, facts.detectors))
    slopes = f" {over_what(_slopes(results))}".rstrip()
    caption = (
        f"AUROC, percent, against the whole pool {whole} and at the nearest → farthest level that has a number, mean "
        f"of its cells; slopes in points per level{slopes}, over all present cells and on common ones, of levels of "
        f"the other axis that all levels share. {LEVELS}; N/A cells (fewer than {facts.least} images: "
        f"{int((~present).sum())} of {present.size}) count nowhere; {counted_images(facts)}. Best in, blind in: of "
        f"{int(present.sum())} cells; blind: the interval over images reaches down to 50. {_MIXED}"
    )
    return _table(facts, "main", "AUROC of every detector", caption, columns, map(cells, facts.detectors))


def cell_tables(results: DetectionResults) -> Iterator[Table]:
    """Return tables as the paper lays them out: AUROC in every cell, a table per model and detector."""
    rows, columns = results.facts.shape
    heads = tuple(Column(AUROC, str(level), intervals=0) for level in range(columns))
    for number, detector in enumerate(results.facts.detectors):
        areas = {place: "N/A" if area.value is None else area for place, area in results.cells(detector).items()}
        lines = (Row(str(row), tuple(areas[row, column] for column in range(columns))) for row in range(rows))
        title = f"AUROC of {detector.title}: rows covariate, columns semantic levels"
        yield Table(f"cells-{number}", title, "", "level", heads, tuple(lines), best="")


def trend_table(results: DetectionResults, metric: str) -> Table:
    """Slope and Pearson's correlation of a metric along both axes, over all cells and on common ones."""
    places, name = [(axis, cells) for axis in AXES for cells in CELLS], TREND_METRICS[metric]
    slope, correlation = (kind(METRICS[metric]) for kind in (slope_of, correlation_of))
    columns = []
    for axis, cells in places:
        columns.append(Column(slope, f"{axis}, {cells}: slope"))
        columns.append(Column(correlation, f"{axis}, {cells}: r", intervals=0))

    def row(detector: Detector) -> Iterator[Cell | Value]:
        for place in places:
            yield _slope_cell(results, detector, *place, slope.key)
            yield results.trend(detector, *place, correlation.key)

    over = over_what(_slopes(results, slope.key)).replace("over levels", "of the line through the levels")
    caption = (
        f"Slope: least squares, points of {name} per level, with its sign {over}; its size is the sensitivity of "
        "IS-OOD. r: Pearson's correlation with the level, mean over the seeds. All cells: a level's value is the mean "
        f"of its present cells; common: of the levels of the other axis that all levels share. {_MIXED}"
    )
    rows = map(row, results.facts.detectors)
    return _table(
        results.facts, f"trends-{metric.replace('_', '-')}", f"Trends of {name}", caption, columns, rows, best=""
    )


def metric_table(results: DetectionResults) -> Table:
    """Every metric as the mean over the present cells, and below it from the nearest to the farthest in meaning."""

    def cells(detector: Detector) -> Iterator[Cell]:
        for metric in CELL_METRICS.values():
            ends = reach(results.curve(detector, "semantic", ALL, metric.key))
            value = results.value(detector, metric.key, id_classes=results.facts.counting, cells=ALL)
            yield Cell(value, under=" → ".join(map(metric.write, ends)))

    caption = (
        "Unweighted means over all present cells, percent; below them those of the nearest → farthest semantic level "
        "that has a number. FPR@95, in positive: share of out-of-distribution images that pass where 95 % of the "
        "in-distribution ones do; out positive (OpenOOD v1.5, IS-OOD): share of in-distribution images that are "
        "flagged where 95 % of the others are. AUPRs depend on how many images a cell has, but for the last: as if "
        "half were in distribution."
    )
    columns = [Column(metric, intervals=0) for metric in CELL_METRICS.values()]
    rows = map(cells, results.facts.detectors)
    return _table(results.facts, "metrics", "Every metric", caption, columns, rows)


def known_class_table(results: DetectionResults) -> Table:
    """AUROC with the pool's images of in-distribution classes and without them, in total and over the cells."""
    facts, kinds = results.facts, (KEPT, REMOVED)
    columns = [Column(AUROC, f"{title}: {kept}", intervals=0) for title in ("whole pool", "mean of cells")
               for kept in kinds]  # fmt: skip
    columns += [Column(slope_of(AUROC), f"{axis} slope: {kept}") for axis in AXES for kept in kinds]

    def cells(detector: Detector) -> Iterator[Value]:
        yield from (results.whole_pool(detector, subset) for subset in ("all", "unknown"))
        yield from (results.value(detector, "auroc", id_classes=kept, cells=ALL) for kept in kinds)
        for axis in AXES:
            where = {"cells": ALL, "axis": axis}
            yield from (results.value(detector, "auroc_slope", id_classes=kept, **where) for kept in kinds)

    sizes = [f"{facts.counts(kept).sum():,} images in {facts.present(kept).sum()} cells" for kept in kinds]
    caption = (
        f"AUROC, percent, and its slopes over all cells in points per level. Kept: {sizes[0]}, as published; removed: "
        f"without images of in-distribution classes, {sizes[1]}. Means and slopes are over the cells of each."
    )
    title = "Images of in-distribution classes kept and removed"
    return _table(facts, "kept", title, caption, columns, map(cells, facts.detectors), best="")


def labelling_table(results: DetectionResults) -> Table:
    """AUROC against subsets of the pool with fewer and fewer images that may show what is in distribution."""
    facts, sizes = results.facts, results.facts.first.labelling.subsets
    columns = [Column(AUROC, f"{title} ({sizes[subset]:,})") for subset, title in SUBSETS.items()]
    rows = [[results.whole_pool(detector, subset) for subset in SUBSETS] for detector in facts.detectors]
    caption = (
        f"AUROC, percent {over_what(sum(rows, []))}; in brackets the number of images. Other classes: without images "
        "of in-distribution classes; far: the upper half of the semantic levels. IS-OOD's Table 8 does not say where "
        "its larger shift begins."
    )
    return _table(facts, "labelling", "How much is labelling", caption, columns, rows)


def level_table(results: DetectionResults) -> Table:
    """Where levels begin, how many images they hold, and how many of their cells are present."""
    columns = [(axis, metric) for axis in AXES for metric in (DEGREE, METRICS["images"], PRESENT)]
    known = {
        (row.where["axis"], row.where["level"], row.metric.key): row.value
        for row in results.rows.where(entity="", id_classes=results.facts.counting)
        if "axis" in row.where
    }
    rows = [
        Row(str(level), tuple(known.get((axis, level, metric.key)) for axis, metric in columns))
        for level in range(max(results.facts.shape))
    ]
    heads = tuple(Column(metric, f"{axis}: {metric.title}") for axis, metric in columns)
    caption = f"{LEVELS}. From: the degree, a cosine distance, at which a level begins; a dash where cells were given."
    return Table("levels", "Levels", caption, "level", heads, tuple(rows), best="")


def model_table(results: DetectionResults) -> Table:
    """The models, and how well they name the in-distribution test images."""
    facts, columns = results.facts, (Column(TEXT, "kind"), Column(TEXT, "seeds"), Column(METRICS["accuracy"]))
    rows = []
    for model in facts.models:
        seeds, accuracy = " ".join(map(str, facts.seeds(model))), cell_of(results.rows.result(model, "accuracy"))
        rows.append(Row(model, (facts.of(model)[0].kind, seeds, accuracy)))
    caption = "Accuracy on the in-distribution test images, percent, mean over the seeds."
    return Table("models", "The models", caption, "model", columns, tuple(rows), best="")


def reach(curve: Sequence[Result]) -> tuple[float | None, float | None]:
    """The values of a curve at the nearest and the farthest level that has one."""
    known = [result.value.value for result in curve if result.value.value is not None]
    return (known[0], known[-1]) if known else (None, None)


def counted_images(facts: ShiftFacts) -> str:
    """Which images the main tables count."""
    known = facts.first.pool.known
    if not known:
        return "no image of the pool is of an in-distribution class"
    kept = "counted" if facts.first.id_kept else "left out"
    return f"the pool's {known:,} images of in-distribution classes are {kept}"


def _table(facts: ShiftFacts, name, title, caption, columns, rows: Iterable[Iterable], best: str = "columns") -> Table:
    """A table with a row per detector, and its model where the run has several."""
    several = len(facts.models) > 1
    heads = (*[Column(TEXT, "model", priority=_MAIN)] * several, *columns)
    lines = (
        Row(detector.label + MARK * detector.sequential, (*[detector.model] * several, *cells), detector.label)
        for detector, cells in zip(facts.detectors, rows, strict=True)
    )
    caption += OF_ORDER if any(detector.sequential for detector in facts.detectors) else ""
    return Table(name, title, caption, "detector", heads, tuple(lines), best)


def _slope_cell(
    results: DetectionResults, detector: Detector, axis: str, cells: str, slope: str = "auroc_slope"
) -> Cell:
    """A slope; with a star where the mix of cells makes it."""
    everything, common = (results.trend(detector, axis, kind, slope) for kind in CELLS)
    if cells == COMMON:
        return Cell(common)
    return Cell(everything, mark="*" * is_mixed(everything, common))


def _slopes(results: DetectionResults, slope: str = "auroc_slope") -> list[Value]:
    places = [(detector, axis, kind) for detector in results.facts.detectors for axis in AXES for kind in CELLS]
    return [results.trend(*place, slope) for place in places]
