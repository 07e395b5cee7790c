"""The verdict on a run of accuracy estimation: sentences made from the tests, also when they show nothing.

First whose estimates lie nearest to the truth, then what that is against AC and in which direction methods err, then
what this rests on. Which method is the best was chosen on the very conditions it is tested on, and this is said.
"""

from openworld.evaluations.accuracy_estimation.cards import BIAS, ERROR, LINES_WON
from openworld.evaluations.accuracy_estimation.measurements import Measurements, finite
from openworld.evaluations.accuracy_estimation.results import best, leader
from openworld.evaluations.accuracy_estimation.tables import count_models, tests_against, what_is_drawn
from openworld.report.sentences import counted, leads, none_or, span
from openworld.results import SIGNIFICANCE, Results, Standing

ONE_SIDED = 0.5
"""Share of the mean error that is bias; beyond it a method errs in one direction."""


def verdict(results: Results, measured: Measurements) -> tuple[str, str, str]:
    """Three sentences: the best method, the baseline and the direction of errors, and the evidence."""
    return _best(results, measured), _against_baseline(results, measured), _evidence(measured)


def _best(results: Results, measured: Measurements) -> str:
    first = leader(results, measured)
    if first is None:
        return "No method gave an estimate for every condition and model, so none is called the best."
    error = results.value(first, ERROR.key, images=measured.main)
    number = f"{ERROR.write(error.value)} points {ERROR.write_interval(error.over())}".strip().replace(" ", "\u00a0")
    names, tests = best(results, measured, measured.main), tests_against(results, measured.main, first)
    others = tuple(label for label in measured.labels if label not in names)
    found = Standing(names, others, tuple(tests[label].reversed() for label in others if label in tests))
    won, lines = results.value(first, LINES_WON.key).value, len(measured.rows)
    rows = f"; {first} is best, alone or with others, in {none_or(int(won))} of {counted(lines, 'line')}" * (lines > 1)
    return f"{leads(found, 'mean error', number, 'methods', 'smallest')}{rows}."


def _against_baseline(results: Results, measured: Measurements) -> str:
    baseline = measured.baseline
    error, bias = (results.value(baseline, metric.key, images=measured.main).value for metric in (ERROR, BIAS))
    if error is None:
        return f"{baseline} gave no estimate, so nothing is compared with it."
    way = "overestimating" if bias > 0 else "underestimating"
    slant = f", on balance {way} by {ERROR.write(abs(bias))}" if abs(bias) > ONE_SIDED * error else ""
    sentence = f"{baseline} is off by {ERROR.write(error)} points{slant}"
    tests = [test for test in tests_against(results, measured.main, baseline).values() if test.p is not None]
    if tests:
        better, worse = (sum(getattr(test, way) for test in tests) for way in ("better", "worse"))
        sentence += (
            f"; of {len(tests)} other methods {none_or(better)} are shown to err less and {none_or(worse)} to err more"
        )
    return f"{sentence}. {_direction(results, measured)}".rstrip()


def _direction(results: Results, measured: Measurements) -> str:
    """How many methods err mostly in one direction."""
    pairs = [
        tuple(results.value(label, metric.key, images=measured.main).value for metric in (ERROR, BIAS))
        for label in measured.labels
    ]
    known = [(error, bias) for error, bias in pairs if error is not None]
    over = sum(bias > ONE_SIDED * error for error, bias in known)
    under = sum(-bias > ONE_SIDED * error for error, bias in known)
    if len(known) < 3 or over + under == 0:
        return ""
    return f"Of all {len(known)} methods {none_or(over)} mostly overestimate and {none_or(under)} mostly underestimate."


def _evidence(measured: Measurements) -> str:
    known, sizes = finite(measured.accuracy), [target.n for _, _, target in measured.targets]
    natural = sum(condition.kind == "natural" for condition in measured.conditions)
    kinds = f"{natural} natural, {len(measured.conditions) - natural} synthetic"
    sentence = (
        f"This rests on {counted(len(measured.conditions), 'condition')} ({kinds}) of {span(sizes)} images "
        f"and {count_models(measured)}; true accuracy runs from {ERROR.write(float(known.min()))} to "
        f"{ERROR.write(float(known.max()))}\u00a0%"
    )
    drawn = what_is_drawn(measured)
    if not drawn:
        return f"{sentence}; a single shift and training leave no interval and no test."
    return (
        f"{sentence}. Intervals and paired tests draw {drawn} anew (p after Holm, "
        f"{100 * SIGNIFICANCE:.0f}\u00a0%); the best was chosen on the conditions it is tested on, which flatters it."
    )
