"""The tables of recognition by shift: learners by level and their change per level, estimators by level and learner."""

from openworld.evaluations.recognition_by_shift.estimation_results import ALARM, CELLS, VALIDATION, estimated, off_by
from openworld.evaluations.recognition_by_shift.record import OPEN_WORLD, PARTS
from openworld.evaluations.recognition_by_shift.results import (
    AUC,
    FIELDS,
    LEVEL_START,
    NEAR,
    SAME,
    RecognitionShiftResults,
)
from openworld.report.sentences import counted
from openworld.report.shift_axes import AXES
from openworld.report.table import Cell, Column, Row, Table, cell_of
from openworld.results import METRICS, TEXT, Comparison, Metric

MARKS = {1: "▲", -1: "▼", 0: ""}
WHOLE = 9
"""Priority of the numbers of all images, which no terminal leaves out; the nearer a level, the longer it stays."""

ERROR, BIAS, ACCURACY, SLOPE = (METRICS[key] for key in ("absolute_error", "bias", "accuracy", "slope"))


def level_table(results: RecognitionShiftResults, view: str, axis: str, part: str = AUC.key) -> Table:
    """One quantity of every learner at every level; tests of OpenworldAUC against the baseline as marks."""
    facts, metric, is_main, rows = results.facts, METRICS[part], part == AUC.key, results.rows
    tests = {(test.entity, test.where["level"]): test for test in results.tests(view, axis)} if is_main else {}
    whole = (Column(metric, "all", WHOLE, headline=is_main),) if view == NEAR else ()
    counts = [int(count.value) for count in results.by_level("new images", "images", axis)]
    counts = [sum(counts)] * len(whole) + counts
    lines = [Row("new images", tuple(f"{count:,}" for count in counts))]
    for name in facts.learners:
        cells = [cell_of(rows.result(name, part, view=view))] if whole else []
        for level in facts.levels(axis):
            cell = cell_of(rows.result(name, part, view=view, axis=axis, level=level))
            cells.append(_mark(cell, tests.get((name, level))))
        lines.append(Row(name, tuple(cells), name))
    title = f"{PARTS[part]} by {AXES[axis]}, base images in the {view}"
    marks = f" ▲ ▼: better or worse than {facts.baseline} (p < .05 after Holm over learners and levels)."
    caption = (
        f"Percent, mean of {counted(len(facts.seeds), 'seed')}{'; [95 % over images]' * bool(whole)}. Levels of "
        f"{AXES[axis]} by the degree at which they start.{marks * bool(tests)}"
    )
    name = "-".join((FIELDS[view], axis, part)).replace("_", "-")
    return Table(name, title, caption, "learner", (*whole, *_level_columns(results, axis, metric)), tuple(lines))


def trend_table(results: RecognitionShiftResults) -> Table:
    """Show by how many points each quantity changes from one level to the next."""
    places = [(part, axis) for part in ("openworld_auc", "new_accuracy", "auroc") for axis in AXES]
    rows = []
    for name in results.facts.learners:
        slopes = (results.rows.result(name, "slope", view=NEAR, axis=axis, part=PARTS[part]) for part, axis in places)
        rows.append(Row(name, tuple(map(cell_of, slopes)), name))
    caption = (
        "Points per level: the slope of the line through the means of the cells at each level, base images in the "
        f"training appearance, mean of {counted(len(results.facts.seeds), 'seed')}."
    )
    columns = (Column(SLOPE, f"{PARTS[part]}, {AXES[axis]}", intervals=0) for part, axis in places)
    return Table("trends", "Change per level", caption, "learner", tuple(columns), tuple(rows))


def error_table(results: RecognitionShiftResults, axis: str) -> Table:
    """Estimators by level: mean absolute errors over cells and learners, and the bias over all cells."""
    rows = []
    for name in results.facts.estimators:
        whole = (results.value(name, metric.key) for metric in (ERROR, BIAS))
        rows.append(Row(name, (*whole, *results.by_level(name, ERROR.key, axis)), name))
    columns = (Column(ERROR, "all cells", WHOLE), Column(BIAS, "bias", WHOLE), *_level_columns(results, axis, ERROR))
    caption = (
        "Absolute, points, means over cells and learners. Bias: the mean signed error, above 0 where the accuracy is "
        "overestimated. The smallest error of a column is in bold."
    )
    title = f"Errors of the estimated accuracy by {AXES[axis]}"
    return Table(f"errors-{axis}", title, caption, "estimator", columns, tuple(rows))


def open_world_table(results: RecognitionShiftResults) -> Table:
    """Learners by level of appearance: OpenworldAUC as it is and as estimators say without labels, and the alarm."""
    facts, rows = results.facts, []
    for name in facts.learners:
        true = results.by_level(name, AUC.key, "covariate", view=SAME)
        rows.append(Row(name, ("true", *(Cell(value, bold=False) for value in true)), name, rule=True))
        for estimator in facts.open_world_estimators:
            said = results.by_level(estimator, estimated(AUC.key).key, "covariate", learner=name, view=SAME)
            rows.append(Row(name, (estimator, *(Cell(value, bold=False) for value in said)), name))
        alarms = results.by_level(name, ALARM.key, "covariate", view=SAME)
        words = ("" if not alarm.value else "alarm" for alarm in alarms)
        rows.append(Row(name, ("two signs", *words), name))
    columns = (Column(TEXT, "", WHOLE), *_level_columns(results, "covariate", AUC))
    caption = (
        f"Percent, mean of {counted(len(facts.seeds), 'seed')}, of all images of the pool at each level of appearance, "
        "base and new. Without labels each estimate rests on a premise; alarm: in some seed they score otherwise than "
        "base images at home."
    )
    title = "OpenworldAUC by appearance, with labels and without"
    return Table("open-world", title, caption, "learner", columns, tuple(rows), best="")


def open_world_error_table(results: RecognitionShiftResults) -> Table:
    """Open-world estimators: mean absolute error of every part over levels and learners, and the bias."""
    rows = []
    for name in results.facts.open_world_estimators:
        errors = (results.value(name, off_by(part).key, view=SAME) for part in OPEN_WORLD)
        rows.append(Row(name, (*errors, results.value(name, off_by(AUC.key, bias=True).key, view=SAME)), name))
    columns = (*(Column(off_by(part)) for part in OPEN_WORLD), Column(off_by(AUC.key, bias=True), "bias"))
    caption = "Absolute, points, means over levels of appearance and learners; the bias is that of OpenworldAUC."
    title = "Errors of open-world estimates"
    return Table("open-world-errors", title, caption, "estimator", columns, tuple(rows))


def learner_table(results: RecognitionShiftResults) -> Table:
    """Learners: accuracy on validation images and over all cells, and the error of each estimator over all cells."""
    facts, rows = results.facts, []
    for name in facts.learners:
        accuracies = (cell_of(results.rows.result(name, ACCURACY.key, images=images)) for images in (VALIDATION, CELLS))
        errors = (results.value(estimator, ERROR.key, learner=name) for estimator in facts.estimators)
        rows.append(Row(name, (*accuracies, *errors), name))
    columns = (Column(ACCURACY, title, intervals=0) for title in (VALIDATION, CELLS))
    columns = (*columns, *(Column(ERROR, name) for name in facts.estimators))
    caption = (
        "Accuracy on the labelled images that estimators were fitted on; true accuracy, mean of the cells; each "
        "estimator's mean absolute error over the cells. Percent and points, mean of "
        f"{counted(len(facts.seeds), 'seed')}."
    )
    return Table("learners", "Estimates by learner", caption, "learner", columns, tuple(rows), best="")


def _level_columns(results: RecognitionShiftResults, axis: str, metric: Metric) -> list[Column]:
    starts = [start.value for start in results.by_level("", LEVEL_START.key, axis)]
    titles = [f"{level}: {LEVEL_START.write(start)}" if level else "0" for level, start in enumerate(starts)]
    return [Column(metric, title, max(0, WHOLE - 1 - at), intervals=0) for at, title in enumerate(titles)]


def _mark(cell: Cell, test: Comparison | None) -> Cell:
    """A number with a mark where it is better or worse than the baseline's."""
    if test is None:
        return cell
    note = "; ".join(filter(None, (test.sentence, cell.note)))
    return Cell(cell.content, mark=MARKS[test.better - test.worse], note=note)
