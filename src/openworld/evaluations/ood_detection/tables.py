"""The tables of an OOD-detection run: a row per model and detector, in the order of the run."""

from collections.abc import Iterable, Sequence

from openworld.evaluations.ood_detection.facts import KEPT, REMOVED, Detector, ShiftFacts
from openworld.evaluations.ood_detection.record import SUBSETS
from openworld.evaluations.ood_detection.results import (
    ALL,
    AUROC,
    CELL_METRICS,
    CELLS,
    COMMON,
    COUNTS,
    DEGREE,
    along,
    cell_values,
    correlation_of,
    curve,
    is_mixed,
    slope_of,
    whole_pool,
)
from openworld.report.sentences import over_what
from openworld.report.shift_axes import AXES
from openworld.report.table import Cell, Column, Row, Table, cell_of
from openworld.results import METRICS, TEXT, Metric, Result, Results, Value

LEVELS = "Levels count from 0, the nearest to the training images"
TREND_METRICS = {"auroc": "AUROC", "fpr_out_positive": "FPR@95", "aupr_in": "AUPR"}
"""Metrics whose trends IS-OOD prints, as it names them."""

_MAIN, _COMMON, _REACH, _COUNT = 4, 3, 2, 1  # priorities on a narrow terminal


def main_table(found: Results, facts: ShiftFacts) -> Table:
    """AUROC against the whole pool, at the ends of both axes, its slopes, and where a detector leads or is blind."""
    columns = [Column(AUROC, headline=True, priority=_MAIN)]
    for axis in AXES:
        columns += [
            Column(TEXT, f"{axis} near → far", priority=_REACH),
            Column(slope_of(AUROC), f"{axis} slope", priority=_MAIN),
            Column(slope_of(AUROC), f"{axis} common", priority=_COMMON),
        ]
    columns += [Column(COUNTS[key], priority=_COUNT) for key in ("best_cells", "blind_cells")]
    rows = [[detector, *_main_cells(found, facts, detector)] for detector in facts.detectors]
    caption = (
        f"{_main_caption(found, facts)} Best in, blind in: of {int(facts.present().sum())} cells; blind: the interval "
        "over images reaches down to 50. *: the mix of cells makes the slope; on common cells it turns or differs by a "
        "point."
    )
    return _table(facts, "main", "AUROC of every detector", caption, columns, rows)


def cell_tables(found: Results, facts: ShiftFacts) -> tuple[Table, ...]:
    """As the paper lays them out: AUROC in every cell, a table per model and detector."""
    return tuple(_cell_table(found, facts, number, one) for number, one in enumerate(facts.detectors))


def trend_table(found: Results, facts: ShiftFacts, metric: str) -> Table:
    """Slope and Pearson's correlation of a metric along both axes, over all cells and on common ones."""
    places = [(axis, cells) for axis in AXES for cells in CELLS]
    card, name = next(one for one in CELL_METRICS.values() if one.key == metric), TREND_METRICS[metric]
    kinds = [("slope", slope_of(card)), ("r", correlation_of(card))]
    heads = [(f"{axis}, {cells}: {what}", kind) for axis, cells in places for what, kind in kinds]
    columns = [Column(kind, title, intervals=int("slope" in kind.key)) for title, kind in heads]
    rows = []
    for detector in facts.detectors:
        cells = []
        for axis, kind in places:
            cells.append(_slope_cell(found, facts, detector, axis, kind, metric))
            cells.append(along(found, facts, detector, axis, kind, f"{metric}_correlation"))
        rows.append([detector, *cells])
    over = over_what(_slopes(found, facts, metric)).replace("over levels", "of the line through the levels")
    caption = (
        f"Slope: least squares, points of {name} per level, with its sign {over}; its size is the sensitivity of "
        "IS-OOD. r: Pearson's correlation with the level, mean over the seeds. All cells: a level's value is the mean "
        "of its present cells; common: of the levels of the other axis that all levels share. *: the mix of cells "
        "makes the trend: on common cells it turns or differs by a point."
    )
    return _table(facts, f"trends-{metric.replace('_', '-')}", f"Trends of {name}", caption, columns, rows, best="")


def metric_table(found: Results, facts: ShiftFacts) -> Table:
    """Every metric as the mean over the present cells, and below it from the nearest to the farthest in meaning."""
    rows = [
        [detector, *(_mean_cell(found, facts, detector, metric) for metric in CELL_METRICS.values())]
        for detector in facts.detectors
    ]
    caption = (
        "Unweighted means over all present cells, percent; below them those of the nearest → farthest semantic "
        "level. FPR@95, in positive: share of out-of-distribution images that pass where 95 % of the in-distribution "
        "ones do; out positive (OpenOOD v1.5, IS-OOD): share of in-distribution images that are flagged where 95 % of "
        "the others are. AUPRs depend on how many images a cell has, but for the last: as if half were in distribution."
    )
    columns = [Column(metric, intervals=0) for metric in CELL_METRICS.values()]
    return _table(facts, "metrics", "Every metric", caption, columns, rows)


def known_class_table(found: Results, facts: ShiftFacts) -> Table:
    """AUROC with the pool's images of in-distribution classes and without them, in total and over the cells."""
    kinds = {"whole pool": AUROC, "mean of cells": AUROC} | {f"{axis} slope": slope_of(AUROC) for axis in AXES}
    both = [(title, metric, kept) for title, metric in kinds.items() for kept in (KEPT, REMOVED)]
    columns = [Column(metric, f"{title}: {kept}", intervals=int(metric is not AUROC)) for title, metric, kept in both]
    rows = []
    for one in facts.detectors:
        cells = [whole_pool(found, facts, one, subset) for subset in ("all", "unknown")]
        place = {"model": one.model, "cells": ALL}
        cells += [found.value(one.label, "auroc", id_classes=kept, **place) for kept in (KEPT, REMOVED)]
        for axis in AXES:
            cells += [
                found.value(one.label, "auroc_slope", id_classes=kept, axis=axis, **place) for kept in (KEPT, REMOVED)
            ]
        rows.append([one, *cells])
    sizes = [f"{facts.counts(kept).sum():,} images in {facts.present(kept).sum()} cells" for kept in (KEPT, REMOVED)]
    caption = (
        f"AUROC, percent, and its slopes over all cells in points per level. Kept: {sizes[0]}, as published; removed: "
        f"without images of in-distribution classes, {sizes[1]}. Means and slopes are over the cells of each."
    )
    title = "Images of in-distribution classes kept and removed"
    return _table(facts, "kept", title, caption, columns, rows, best="")


def labelling_table(found: Results, facts: ShiftFacts) -> Table:
    """AUROC against subsets of the pool with fewer and fewer images that may show what is in distribution."""
    sizes = facts.first.labelling.subsets
    columns = [Column(AUROC, f"{title} ({sizes[subset]:,})") for subset, title in SUBSETS.items()]
    rows = [[one, *(whole_pool(found, facts, one, subset) for subset in SUBSETS)] for one in facts.detectors]
    whose = over_what(value for _, *values in rows for value in values)
    caption = (
        f"AUROC, percent {whose}; in brackets the number of images. Other classes: without images of in-distribution "
        "classes; far: the upper half of the semantic levels. IS-OOD's Table 8 does not say where its larger shift "
        "begins."
    )
    return _table(facts, "labelling", "How much is labelling", caption, columns, rows)


def level_table(found: Results, facts: ShiftFacts) -> Table:
    """Where levels begin, how many images they hold, and how many of their cells are present."""
    kinds = (DEGREE, METRICS["images"], COUNTS["present_cells"])
    columns = [Column(metric, f"{axis}: {metric.title}") for axis in AXES for metric in kinds]
    rows = []
    for level in range(max(facts.shape)):
        places = [{"id_classes": facts.counting, "axis": axis, "level": level} for axis in AXES]
        rows.append(Row(str(level), tuple(_known(found, metric, place) for place in places for metric in kinds)))
    caption = f"{LEVELS}. From: the degree, a cosine distance, at which a level begins; a dash where cells were given."
    return Table("levels", "Levels", caption, "level", tuple(columns), tuple(rows), best="")


def model_table(found: Results, facts: ShiftFacts) -> Table:
    """The models, and how well they name the in-distribution test images."""
    columns = (Column(TEXT, "kind"), Column(TEXT, "seeds"), Column(METRICS["accuracy"]))
    rows = []
    for model in facts.models:
        seeds = " ".join(map(str, facts.seeds(model)))
        rows.append(Row(model, (facts.of(model)[0].kind, seeds, cell_of(found.result(model, "accuracy")))))
    caption = "Accuracy on the in-distribution test images, percent, mean over the seeds."
    return Table("models", "The models", caption, "model", columns, tuple(rows), best="")


def reach(results: Sequence[Result]) -> tuple[float | None, float | None]:
    """The values of a curve at the nearest and the farthest level that has one."""
    known = [result.value.value for result in results if result.value.value is not None]
    return (known[0], known[-1]) if known else (None, None)


def counted(facts: ShiftFacts) -> str:
    """Which images the main tables count."""
    known = facts.first.pool.known
    if not known:
        return "no image of the pool is of an in-distribution class"
    kept = "counted" if facts.first.id_kept else "left out"
    return f"the pool's {known:,} images of in-distribution classes are {kept}"


def _table(facts: ShiftFacts, name, title, caption, columns, rows: Iterable[Sequence], best: str = "columns") -> Table:
    """A table with a row per detector, and its model where the run has several."""
    several = len(facts.models) > 1
    heads = (*[Column(TEXT, "model", priority=_MAIN)] * several, *columns)
    lines = (Row(one.label, (*[one.model] * several, *cells), one.label) for one, *cells in rows)
    return Table(name, title, caption, "detector", heads, tuple(lines), best)


def _main_cells(found: Results, facts: ShiftFacts, detector: Detector) -> Iterable:
    yield whole_pool(found, facts, detector)
    for axis in AXES:
        yield _reach_cell(reach(curve(found, facts, detector, axis, ALL)), AUROC)
        for kind in CELLS:
            yield _slope_cell(found, facts, detector, axis, kind)
    for key in ("best_cells", "blind_cells"):
        yield found.value(detector.label, key, model=detector.model)


def _slope_cell(found: Results, facts: ShiftFacts, detector: Detector, axis: str, cells: str, metric="auroc") -> Cell:
    """A slope; with a star where the mix of cells makes it."""
    both = [along(found, facts, detector, axis, kind, metric) for kind in CELLS]
    return Cell(both[cells == COMMON], mark="*" * (cells == ALL and is_mixed(*both)))


def _reach_cell(ends: tuple[float | None, float | None], metric: Metric) -> Cell:
    return Cell(" → ".join(map(metric.write, ends)), sort=ends[1])


def _mean_cell(found: Results, facts: ShiftFacts, detector: Detector, metric: Metric) -> Cell:
    where = {"model": detector.model, "id_classes": facts.counting, "cells": ALL}
    ends = reach(curve(found, facts, detector, "semantic", ALL, metric.key))
    return Cell(found.value(detector.label, metric.key, **where), under=" → ".join(map(metric.write, ends)))


def _cell_table(found: Results, facts: ShiftFacts, number: int, detector: Detector) -> Table:
    values, (rows, columns) = cell_values(found, facts, detector), facts.shape
    heads = tuple(Column(AUROC, str(level), intervals=0) for level in range(columns))
    lines = []
    for row in range(rows):
        own = (values[row, column] for column in range(columns))
        lines.append(Row(str(row), tuple("N/A" if value.value is None else value for value in own)))
    title = f"AUROC of {detector.title}: rows covariate, columns semantic levels"
    return Table(f"cells-{number}", title, "", "level", heads, tuple(lines), best="")


def _known(found: Results, metric: Metric, place: dict) -> Value | None:
    """A fact about a level; None where there is no such level, or no degree."""
    rows = found.where(entity="", metric=metric.key, **place).rows
    return rows[0].value if rows else None


def _slopes(found: Results, facts: ShiftFacts, metric: str = "auroc") -> list[Value]:
    places = [(one, axis, kind) for one in facts.detectors for axis in AXES for kind in CELLS]
    return [along(found, facts, *place, metric) for place in places]


def _main_caption(found: Results, facts: ShiftFacts) -> str:
    """What the numbers of the main table are."""
    present = facts.present()
    whole = over_what(whole_pool(found, facts, one) for one in facts.detectors)
    slopes = f" {over_what(_slopes(found, facts))}".rstrip()
    return (
        f"AUROC, percent, against the whole pool {whole} and at the nearest → farthest level, mean of its cells; "
        f"slopes in points per level{slopes}, over all present cells and on common ones, of levels of the other axis "
        f"that all levels share. {LEVELS}; N/A cells (fewer than {facts.least} images: {int((~present).sum())} of "
        f"{present.size}) count nowhere; {counted(facts)}."
    )
