"""The verdict on a run of accuracy estimation: sentences made from the tests, also when they show nothing.

First whose estimates lie nearest to the truth, then what that is against AC and in which direction methods err, then
what this rests on. Which method is the best was chosen on the very conditions it is tested on, and this is said.
"""

import numpy as np

from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, ErrorTable
from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.evaluations.accuracy_estimation.wording import counts, drawn
from openworld.report.comparison import HOLM
from openworld.report.sentences import counted, listed, none_or, span
from openworld.report.text import percent

SLANTED = 0.5  # share of the mean error that is bias; beyond it a method errs in one direction


def estimate_verdict(run: EstimateRun | ErrorTable) -> tuple[str, str, str]:
    """Three sentences: the leader, the yardstick and the direction, and the evidence."""
    table = run if isinstance(run, ErrorTable) else ErrorTable(run)
    return _leader(table), _against_yardstick(table), _evidence(table)


def _leader(table: ErrorTable) -> str:
    leader = table.leader
    if leader is None:
        return "No method gave an estimate for every condition and model, so none is called the best."
    errors = table.cells[AVERAGE][leader]
    interval = f"\u00a0[{percent(errors.interval[0])}\u00a0{percent(errors.interval[1])}]" if errors.interval else ""
    lead = f"off by {percent(errors.mean)}{interval} points on average"
    if len(table.labels) == 1:
        return f"{leader}'s estimates are {lead}; nothing was run beside it."
    rows = f", and it is best in {_of(table.firsts(leader), len(table.rows), 'line')}" if len(table.rows) > 1 else ""
    return f"{leader}'s estimates lie nearest to the truth, {lead}{rows}; {_beaten(table, leader)}."


def _beaten(table: ErrorTable, leader: str) -> str:
    tests = [test.seen_from(leader) for test in table.against_leader.values()]
    tested = [test for test in tests if test.p is not None]
    if not tested:
        return f"no difference is tested ({listed(sorted({test.reason for test in tests if test.reason}))})"
    level = sorted((test for test in tested if not test.better), key=lambda test: test.difference)
    if not level:
        return f"it is shown to err less than each of the {len(tested)} others"
    names = [f"{test.other} ({percent(table.cells[AVERAGE][test.other].mean)})" for test in level[:3]]
    if len(level) == len(tested) > 3:
        return f"it cannot be told apart from any of the {len(tested)} others, next {listed(names)}"
    more = f" and {len(level) - 3} more" if len(level) > 3 else ""
    beaten = len(tested) - len(level)
    told = f"shown to err less than {beaten} of {len(tested)} others, it" if beaten else "it"
    return f"{told} cannot be told apart from {', '.join(names) if more else listed(names)}{more}"


def _against_yardstick(table: ErrorTable) -> str:
    yardstick = table.run.yardstick
    errors = table.cells[AVERAGE][yardstick]
    if errors.mean is None:
        return f"{yardstick} gave no estimate, so nothing is held against it."
    way = "too hopeful" if errors.bias > 0 else "too gloomy"
    slant = f", on balance {way} by {percent(abs(errors.bias))}" if abs(errors.bias) > SLANTED * errors.mean else ""
    told = f"{yardstick} is off by {percent(errors.mean)} points{slant}"
    tests = [test for test in table.tests[AVERAGE].values() if test.p is not None]
    if tests:
        better, worse = sum(test.better for test in tests), sum(test.worse for test in tests)
        told += (
            f"; of {len(tests)} other methods {none_or(better)} are shown to err less and {none_or(worse)} to err more"
        )
    return f"{told}. {_direction(table)}".rstrip()


def _direction(table: ErrorTable) -> str:
    """How many methods err mostly in one direction."""
    cells = [one for one in table.cells[AVERAGE].values() if one.mean is not None]
    hopeful = sum(one.bias > SLANTED * one.mean for one in cells)
    gloomy = sum(-one.bias > SLANTED * one.mean for one in cells)
    if len(cells) < 3 or hopeful + gloomy == 0:
        return ""
    hopeful, gloomy = none_or(hopeful), none_or(gloomy)
    return f"Of all {len(cells)} methods {hopeful} are mostly too hopeful and {gloomy} mostly too gloomy."


def _evidence(table: ErrorTable) -> str:
    run = table.run
    known = run.accuracy[np.isfinite(run.accuracy)]
    sizes = run.images[run.images > 0]
    natural = sum(one.kind == "natural" for one in run.conditions)
    kinds = f"{natural} natural, {len(run.conditions) - natural} synthetic"
    told = (
        f"This rests on {counted(len(run.conditions), 'condition')} ({kinds}) of {span(sizes.tolist())} pictures and "
        f"{counts(run.models)}; true accuracy runs from {percent(float(known.min()))} to "
        f"{percent(float(known.max()))}\u00a0%"
    )
    if not table.chance.freedom():
        return f"{told}; a single shift and training leave no interval and no test."
    return (
        f"{told}. Intervals and paired tests draw {drawn(table)} anew (p after {HOLM}); the "
        "best was chosen on the conditions it is tested on, which flatters it."
    )


def _of(count: int, whole: int, noun: str) -> str:
    return f"{none_or(count)} of {counted(whole, noun)}"
