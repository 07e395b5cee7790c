"""The tables of recognition by shift: learners by level and their change per level, estimators by level and learner."""

from openworld.evaluations.recognition_by_shift.estimation_results import CELLS, VALIDATION
from openworld.evaluations.recognition_by_shift.record import PARTS
from openworld.evaluations.recognition_by_shift.results import AUC, FIELDS, LEVEL_START, NEAR, RecognitionShiftFacts
from openworld.report.sentences import counted
from openworld.report.shift_axes import AXES
from openworld.report.table import Cell, Column, Row, Table, cell_of
from openworld.results import METRICS, Comparison, Metric, Results

MARKS = {1: "▲", -1: "▼", 0: ""}
WHOLE = 9
"""Priority of the numbers of all images, which no terminal leaves out; the nearer a level, the longer it stays."""

ERROR, BIAS, ACCURACY, SLOPE = (METRICS[key] for key in ("absolute_error", "bias", "accuracy", "slope"))


def level_table(found: Results, facts: RecognitionShiftFacts, view: str, axis: str, part: str = AUC.key) -> Table:
    """One quantity of every learner at every level; tests of OpenworldAUC against the baseline as marks."""
    metric, levels, is_main = METRICS[part], facts.levels(axis), part == AUC.key
    tests = {(one.entity, one.where["level"]): one for one in tests_of(found, view, axis)} if is_main else {}
    whole = (Column(metric, "all", WHOLE, headline=is_main),) if view == NEAR else ()
    counts = [int(found.value("new images", "images", axis=axis, level=level).value) for level in levels]
    rows = [Row("new images", tuple(f"{count:,}" for count in ([sum(counts)] if whole else []) + counts))]
    for name in facts.learners:
        results = [found.result(name, part, view=view, axis=axis, level=level) for level in levels]
        cells = [_marked(cell_of(one), tests.get((name, at))) for at, one in enumerate(results)]
        overall = [cell_of(found.result(name, part, view=view))] if whole else []
        rows.append(Row(name, (*overall, *cells), name))
    title = f"{PARTS[part]} by {AXES[axis]}, base images in the {view}"
    marks = f" ▲ ▼: better or worse than {facts.baseline} (p < .05 after Holm over learners and levels)."
    caption = (
        f"Percent, mean of {counted(len(facts.seeds), 'seed')}{'; [95 % over images]' * bool(whole)}. Levels of "
        f"{AXES[axis]} by the degree at which they start.{marks * bool(tests)}"
    )
    name = "-".join((FIELDS[view], axis, part)).replace("_", "-")
    return Table(name, title, caption, "learner", (*whole, *_level_columns(found, facts, axis, metric)), tuple(rows))


def tests_of(found: Results, view: str, axis: str) -> list[Comparison]:
    """The tests against the baseline at the levels of an axis."""
    place = {"view": view, "axis": axis}
    return [one for one in found.comparisons if {key: one.where[key] for key in place} == place]


def trend_table(found: Results, facts: RecognitionShiftFacts) -> Table:
    """By how many points each quantity changes from one level to the next."""
    places = [(part, axis) for part in ("openworld_auc", "new_accuracy", "auroc") for axis in AXES]
    columns = (Column(SLOPE, f"{PARTS[part]}, {AXES[axis]}", intervals=0) for part, axis in places)
    rows = [
        Row(name, tuple(cell_of(found.result(name, "slope", view=NEAR, axis=axis, part=PARTS[part]))
                        for part, axis in places), name)
        for name in facts.learners
    ]  # fmt: skip
    caption = (
        "Points per level: the slope of the line through the means of the cells at each level, base images in the "
        f"training appearance, mean of {counted(len(facts.seeds), 'seed')}."
    )
    return Table("trends", "Change per level", caption, "learner", tuple(columns), tuple(rows))


def error_table(found: Results, facts: RecognitionShiftFacts, axis: str) -> Table:
    """Estimators by level: mean absolute errors over cells and learners, and the bias over all cells."""
    levels = facts.levels(axis)
    rows = []
    for name in facts.estimators:
        by_level = (found.value(name, ERROR.key, axis=axis, level=level) for level in levels)
        rows.append(Row(name, (found.value(name, ERROR.key), found.value(name, BIAS.key), *by_level), name))
    columns = (Column(ERROR, "all cells", WHOLE), Column(BIAS, "bias", WHOLE))
    caption = (
        "Absolute, points, means over cells and learners. Bias: the mean signed error, above 0 where the accuracy is "
        "overestimated. The smallest error of a column is in bold."
    )
    title = f"Errors of the estimated accuracy by {AXES[axis]}"
    columns = (*columns, *_level_columns(found, facts, axis, ERROR))
    return Table(f"errors-{axis}", title, caption, "estimator", columns, tuple(rows))


def learner_table(found: Results, facts: RecognitionShiftFacts) -> Table:
    """Learners: accuracy on validation images and over all cells, and the error of each estimator over all cells."""
    rows = []
    for name in facts.learners:
        accuracies = (cell_of(found.result(name, ACCURACY.key, images=images)) for images in (VALIDATION, CELLS))
        errors = (found.value(one, ERROR.key, learner=name) for one in facts.estimators)
        rows.append(Row(name, (*accuracies, *errors), name))
    columns = (Column(ACCURACY, title, intervals=0) for title in (VALIDATION, CELLS))
    caption = (
        "Accuracy on the labelled images that estimators were fitted on; true accuracy, mean of the cells; each "
        "estimator's mean absolute error over the cells. Percent and points, mean of "
        f"{counted(len(facts.seeds), 'seed')}."
    )
    columns = (*columns, *(Column(ERROR, name) for name in facts.estimators))
    return Table("learners", "Estimates by learner", caption, "learner", columns, tuple(rows), best="")


def _level_columns(found: Results, facts: RecognitionShiftFacts, axis: str, metric: Metric) -> list[Column]:
    starts = [found.value("", LEVEL_START.key, axis=axis, level=level).value for level in facts.levels(axis)]
    titles = [f"{level}: {LEVEL_START.write(start)}" if level else "0" for level, start in enumerate(starts)]
    return [Column(metric, title, max(0, WHOLE - 1 - at), intervals=0) for at, title in enumerate(titles)]


def _marked(cell: Cell, test: Comparison | None) -> Cell:
    """A number with a mark where it is better or worse than the baseline's."""
    if test is None:
        return cell
    note = "; ".join(filter(None, (f"{test.sentence}", cell.note)))
    return Cell(cell.content, mark=MARKS[test.better - test.worse], note=note)
