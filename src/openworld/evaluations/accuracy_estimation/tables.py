"""The tables of errors: methods by lines with tests, the paper's layout, every shift, what was judged, and costs."""

from math import prod

from openworld.evaluations.accuracy_estimation import cards
from openworld.evaluations.accuracy_estimation.cards import BIAS, ERROR, EXPECTED, GIVEN
from openworld.evaluations.accuracy_estimation.crossed_bootstrap import CrossedBootstrap
from openworld.evaluations.accuracy_estimation.measurements import AVERAGE, Measurements
from openworld.evaluations.accuracy_estimation.record import RAW, SCALED
from openworld.evaluations.accuracy_estimation.reference_results import CALIBRATIONS
from openworld.evaluations.accuracy_estimation.results import is_complete
from openworld.report.sentences import counted
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import TEXT, Comparison, Results

DEVIATION = (
    "±: standard deviation of the absolute errors pooled in the line, as FRAP's tables appear to print it (there on "
    "the 0 to 1 scale); it says how unequal the errors are, not how sure their mean is"
)
INCOMPLETE = "*: no estimate was given every time, and such a method is never marked as the best"
NO_INTERVAL = "no interval: one shift and one training leave nothing to draw anew"
SIGN = "Bias: mean of estimated minus true accuracy, + = overestimated"


def overview_table(results: Results, measured: Measurements) -> Table:
    """Return methods by lines, their average with interval, bias, how often they are best, and the test against AC."""
    main, lines = measured.main, measured.rows if len(measured.rows) > 1 else ()
    drawn = what_is_drawn(measured)
    tests = tests_against(results, main, measured.baseline)
    columns = [Column(ERROR, line, show="deviation") for line in lines]
    columns += [Column(ERROR, main.lower() if lines else main, intervals=0, headline=True, priority=3)]
    columns += [Column(ERROR, "95 %", show="interval", priority=3)] if drawn else []
    columns += [Column(BIAS, intervals=0, priority=2)]
    columns += [Column(cards.LINES_WON, priority=1)] if lines else []
    columns += [Column(TEXT, f"against {measured.baseline}", priority=3)] if tests else []

    def row(label: str) -> Row:
        cells = [error_cell(results, measured, label, line) for line in (*lines, main)]
        cells += [results.value(label, metric.key, images=main) for metric in ((ERROR, BIAS) if drawn else (BIAS,))]
        cells += [results.value(label, cards.LINES_WON.key)] if lines else []
        cells += [tests.get(label, "")] if tests else []
        return Row(label, tuple(cells), series=label)

    rows = tuple(map(row, measured.labels))
    text = f"{caption(results, measured)} {DEVIATION}. The smallest of every column in bold."
    return Table("overview", "Mean absolute error of the estimated accuracy", text, "method", tuple(columns), rows)


def paper_table(results: Results, measured: Measurements) -> Table:
    """Return lines by methods, as FRAP's Table 1."""
    columns = tuple(Column(ERROR, label, show="deviation") for label in measured.labels)
    rows = tuple(
        Row(line, tuple(error_cell(results, measured, label, line) for label in measured.labels), rule=line == AVERAGE)
        for line in measured.lines
    )
    text = (
        f"Mean absolute error, points; every condition of a line with {count_models(measured)}. {DEVIATION}. The "
        "smallest of every line in bold."
    )
    return Table("paper", "Lines by methods, as in the paper", text, "line", columns, rows, "rows")


def bias_table(results: Results, measured: Measurements) -> Table:
    """Return bias, median, largest error and number of estimates in every line, and what intervals hold, if any."""
    metrics = (BIAS, cards.MEDIAN, cards.WORST, GIVEN)
    columns = [Column(metric, f"{line}: {metric.title}", intervals=0) for line in measured.lines for metric in metrics]
    covered = results.where(metric=cards.COVERAGE.key).entities
    of_intervals = (cards.COVERAGE, cards.WIDTH) if covered else ()
    columns += [Column(metric, intervals=0) for metric in of_intervals]

    def row(label: str) -> Row:
        cells = []
        for line in measured.lines:
            cells += [results.value(label, metric.key, images=line) for metric in metrics[:-1]]
            expected = results.value("", EXPECTED.key, images=line).value
            part = "" if is_complete(results, label, line) else f" of {expected:.0f}"
            cells.append(Cell(results.value(label, GIVEN.key, images=line), mark=part))
        cells += [results.value(label, metric.key) if label in covered else None for metric in of_intervals]
        return Row(label, tuple(cells), series=label)

    text = f"{SIGN}, points; median and largest absolute error, points; n: estimates given (of those expected)."
    text += " Intervals of single estimates: share that holds the true accuracy, mean width in points." * bool(covered)
    title = "Bias, median, largest error, number of estimates"
    return Table("bias", title, text, "method", tuple(columns), tuple(map(row, measured.labels)), best="")


def shift_table(results: Results, measured: Measurements) -> Table:
    """Return mean absolute errors under every shift, severities, models, checkpoints and seeds pooled."""

    def cell(label: str, where: dict[str, str]) -> Cell:
        complete = results.value(label, GIVEN.key, **where) == results.value("", EXPECTED.key, **where)
        value = results.value(label, cards.SHIFT_ERROR.key, **where)
        return Cell(value, mark="" if complete else "*", bold=None if complete else False)

    def row(images: str, shift: str) -> Row:
        where = {"images": images, "shift": shift}
        names = {each.name for each in measured.conditions if (each.row, each.shift) == (images, shift)}
        name = names.pop() if len(names) == 1 else shift.replace("_", " ")
        truth = results.value("", cards.TRUE_ACCURACY.key, **where)
        return Row(name, (truth, *(cell(label, where) for label in measured.labels)), remark=images)

    columns = (Column(cards.TRUE_ACCURACY), *(Column(cards.SHIFT_ERROR, label) for label in measured.labels))
    rows = tuple(row(*each) for each in measured.shifts)
    text = "Mean absolute error under every shift, points, severities and models pooled; the smallest in bold."
    return Table("shifts", "Every shift", text, "shift", columns, rows, best="rows")


def model_table(results: Results, measured: Measurements) -> Table:
    """Return what was judged: source accuracy, temperature and calibration, and the true accuracy in every line."""
    raw, scaled = ({"calibration": CALIBRATIONS[kind]} for kind in (RAW, SCALED))
    numbers = [
        (cards.SOURCE_ACCURACY, "", {}),
        (cards.TEMPERATURE, "", {}),
        (cards.CALIBRATION, "source ECE", raw),
        (cards.CALIBRATION, "scaled", scaled),
        *((cards.TRUE_ACCURACY, row, {"images": row}) for row in measured.rows),
    ]
    rows = []
    for title, place in {model.title: model.place for model in measured.models}.items():
        seeds = " ".join(str(model.seed) for model in measured.models if model.title == title)
        values = (results.value("", metric.key, **place, **where) for metric, _, where in numbers)
        rows.append(Row(title, (seeds, *values)))
    text = (
        "The classifiers, means over their seeds: accuracy on the labelled source images, the temperature fitted "
        "there, its calibration error (15 bins) before and after scaling, and the true accuracy over the conditions of "
        "every line; percent."
    )
    columns = (Column(TEXT, "seeds"), *(Column(metric, title, intervals=0) for metric, title, _ in numbers))
    return Table("models", "The classifiers", text, "model", columns, tuple(rows), best="")


def time_table(results: Results, measured: Measurements) -> Table | None:
    """Return methods by what they cost, beside their error; None where no time is known."""
    timed = results.where(metric=cards.FIT.key).entities
    if not timed:
        return None
    devices = sorted({seconds.device for seconds in measured.seconds})
    costs = (cards.FIT, cards.ESTIMATE, cards.TIMES_FASTEST)

    def row(label: str) -> Row:
        error = results.value(label, ERROR.key, images=measured.main)
        return Row(label, (error, *(results.value(label, metric.key) for metric in costs)), series=label)

    text = (
        f"On {' and '.join(devices)}, every method alone, means over {len(measured.models)} classifiers: to fit on "
        "the labelled source set, and to estimate one condition, once models have seen its images. × fastest: one "
        "condition against the fastest method."
    )
    columns = (Column(ERROR, "mean error", intervals=0), *map(Column, costs))
    return Table("times", "What the methods cost", text, "method", columns, tuple(map(row, timed)), best="")


def error_cell(results: Results, measured: Measurements, label: str, line: str) -> Cell:
    """Return a mean error, with a star where estimates are missing; the other numbers of the line as its note."""

    def write(metric) -> str:
        return f"{metric.title} {metric.write(results.value(label, metric.key, images=line).value)}"

    value, complete = results.value(label, ERROR.key, images=line), is_complete(results, label, line)
    note = [write(metric) for metric in (BIAS, cards.MEDIAN, cards.WORST, GIVEN) if value.value is not None]
    note += [] if complete else [f"{results.value('', EXPECTED.key, images=line).value:.0f} expected"]
    test = tests_against(results, line, measured.baseline).get(label)
    note += [f"against {measured.baseline}: {test.verdict}"] if test and test.p is not None else []
    return Cell(value, mark="" if complete else "*", note=" · ".join(note), bold=None if complete else False)


def tests_against(results: Results, line: str, other: str) -> dict[str, Comparison]:
    """Return {method: its test against another one in a line}."""
    where = {"images": line, "against": other}
    return {test.entity: test for test in results.comparisons if test.where == where}


def caption(results: Results, measured: Measurements) -> str:
    """Return over what the numbers, the intervals and the tests of the main table are."""
    main, rows = measured.main, len(measured.rows)
    tested = sum(test.p is not None for test in tests_against(results, main, measured.baseline).values())
    average = f"; {AVERAGE.lower()}: unweighted mean of {rows} lines" if rows > 1 else ""
    test = f" Against {measured.baseline}: paired on the same conditions and models" if tested else ""
    test += f", p after Holm over {tested} methods." if tested > 1 else "." * bool(tested)
    incomplete = any(not is_complete(results, label, main) for label in measured.labels)
    drawn = what_is_drawn(measured)
    over = f"[95 %, bootstrap over {drawn}]" if drawn else NO_INTERVAL
    return (
        f"Mean absolute error, points; lower is better; every condition of a line with {count_models(measured)}"
        f"{average}; {over}. {SIGN}.{test}{f' {INCOMPLETE}.' * incomplete}"
    )


def what_is_drawn(measured: Measurements) -> str:
    """Return what the bootstrap draws anew, and what it holds fixed; empty where nothing can be drawn."""
    bootstrap, rows = CrossedBootstrap(measured), len(measured.rows)
    shifts, trainings = bootstrap.shifts(measured.main), bootstrap.trainings
    sides = [f"{shifts} shifts" + " within their lines" * (rows > 1)] if shifts > rows else []
    sides += [f"{trainings} trainings"] if trainings > 1 else []
    held = {0: "", 1: ", given the one training" if trainings == 1 else ", given the shifts", 2: ""}[len(sides)]
    return " and ".join(sides) + held


def count_models(measured: Measurements) -> str:
    """Return how many models, seeds and checkpoints there are, as a product where all combinations are there."""
    models = measured.models
    sides = {
        "model": {model.name for model in models},
        "seed": {model.seed for model in models},
        "checkpoint": {model.checkpoint for model in models},
    }
    if prod(map(len, sides.values())) != len(models):
        return f"{len(models)} classifiers"
    return " × ".join(counted(len(side), name) for name, side in sides.items())
