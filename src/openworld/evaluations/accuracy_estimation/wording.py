"""What the tables of estimated accuracies say of themselves: how numbers are written, and what they are over."""

from collections.abc import Sequence

from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, Errors, ErrorTable
from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.report.text import percent, signed

SPREAD = (
    "±: standard deviation of the absolute errors pooled in the line, as FRAP's tables appear to print it (there on "
    "the 0 to 1 scale); it tells how unequal the errors are, not how sure their mean is"
)
MISSING = "*: no estimate was given every time, and such a method is never marked as the best"
BIAS = "Bias: mean of estimated minus true accuracy, + = too hopeful"


def starred(errors: Errors) -> str:
    """The mean error in points, with a star where some estimates are missing.

    >>> starred(Errors(0.0234, 0.01, 0.02, 0.02, 0.1, 7, 8, None))
    '2.3*'
    """
    return percent(errors.mean) + "*" * (errors.mean is not None and not errors.whole)


def spread(errors: Errors) -> str:
    """The +- of a cell; empty where there is none."""
    return "" if errors.spread is None else f"±\u00a0{percent(errors.spread)}"


def hint(errors: Errors) -> str:
    """What stands behind a cell, told to those who point at it."""
    if errors.mean is None:
        return f"no estimate in any of {errors.asked}"
    interval = f" [{percent(errors.interval[0])} {percent(errors.interval[1])}]" if errors.interval else ""
    parts = [f"mean {percent(errors.mean)}{interval}", f"bias {signed(errors.bias)}"]
    parts += [f"median {percent(errors.median)}", f"worst {percent(errors.worst)}"]
    number = f"n = {errors.count}" if errors.whole else f"n = {errors.count} of {errors.asked}"
    return " · ".join([*parts, number])


def over(table: ErrorTable) -> str:
    """Over what intervals and tests are, for captions."""
    chance = table.chance
    if not chance.freedom():
        return "no interval: one shift and one training leave nothing to draw anew"
    return f"[95 %, bootstrap over {drawn(table)}]"


def drawn(table: ErrorTable) -> str:
    """What the bootstrap draws anew, and what it holds fixed."""
    chance, rows = table.chance, len(table.rows)
    shifts, trainings = chance.shifts(), chance.trainings
    sides = [f"{shifts} shifts" + " within their lines" * (rows > 1)] if shifts > rows else []
    sides += [f"{trainings} trainings"] if trainings > 1 else []
    held = "" if len(sides) > 1 else ", given the one training" if trainings == 1 else ", given the shifts"
    return " and ".join(sides) + held


def pooled(run: EstimateRun) -> str:
    """What a line pools.

    >>> from openworld.evaluations.accuracy_estimation.run import Model
    >>> counts([Model("resnet-8", "resnet-8", seed, 5, 0) for seed in (0, 1)])
    '1 model × 2 seeds × 1 checkpoint'
    """
    return f"every condition of a line with {counts(run.models)}"


def counts(models: Sequence) -> str:
    """How many models, seeds and checkpoints there are, as a product where all combinations are there."""
    sides = {
        "model": {model.name for model in models},
        "seed": {model.seed for model in models},
        "checkpoint": {model.checkpoint for model in models},
    }
    product = 1
    for side in sides.values():
        product *= len(side)
    if product != len(models):
        return f"{len(models)} judged models"
    return " × ".join(f"{len(side)} {name}{'s' * (len(side) > 1)}" for name, side in sides.items())


def caption(table: ErrorTable) -> str:
    """Over what the numbers, the intervals and the tests of the main table are."""
    run, tests = table.run, table.tests[AVERAGE]
    tested = sum(test.p is not None for test in tests.values())
    asked = f"Mean absolute error of the estimated accuracy, points; lower is better; {pooled(run)}"
    average = f"; {AVERAGE.lower()}: unweighted mean of {len(table.rows)} lines" if len(table.rows) > 1 else ""
    test = f" Against {run.yardstick}: paired on the same conditions and models" if tested else ""
    test += f", p after Holm over {tested} methods." if tested > 1 else "." * bool(tested)
    lacking = any(not errors.whole for errors in table.cells[AVERAGE].values())
    return f"{asked}{average}; {over(table)}. {BIAS}.{test}" + f" {MISSING}." * lacking
