"""The verdict on a run of accuracy estimation: sentences made from the tests, also when they show nothing.

First whose estimates lie nearest to the truth, then what that is against AC and in which direction methods err, then
what this rests on. Which method is the best was chosen on the very conditions it is tested on, and this is said.
"""

from openworld.evaluations.accuracy_estimation.cards import BIAS, ERROR, LINES_WON
from openworld.evaluations.accuracy_estimation.measurements import Measurements, finite
from openworld.evaluations.accuracy_estimation.results import leader
from openworld.evaluations.accuracy_estimation.tables import count_models, tests_against, what_is_drawn
from openworld.report.sentences import counted, listed, none_or, span
from openworld.results import SIGNIFICANCE, Results

ONE_SIDED = 0.5
"""Share of the mean error that is bias; beyond it a method errs in one direction."""


def verdict(results: Results, measured: Measurements) -> tuple[str, str, str]:
    """Three sentences: the best method, the baseline and the direction of errors, and the evidence."""
    return _best(results, measured), _against_baseline(results, measured), _evidence(measured)


def _best(results: Results, measured: Measurements) -> str:
    best = leader(results, measured)
    if best is None:
        return "No method gave an estimate for every condition and model, so none is called the best."
    error = results.value(best, ERROR.key, images=measured.main)
    number = f"{ERROR.write(error.value)} {ERROR.write_interval(error.over())}".strip().replace(" ", "\u00a0")
    size = f"off by {number} points on average"
    if len(measured.labels) == 1:
        return f"{best}'s estimates are {size}; nothing was run beside it."
    won, lines = results.value(best, LINES_WON.key).value, len(measured.rows)
    rows = f", and it is best in {none_or(int(won))} of {counted(lines, 'line')}" if lines > 1 else ""
    return f"{best}'s estimates lie nearest to the truth, {size}{rows}; {_others(results, measured, best)}."


def _others(results: Results, measured: Measurements, best: str) -> str:
    """Which of the other methods are shown to err more than the best."""
    tests = tests_against(results, measured.main, best).values()
    tested = [test for test in tests if test.p is not None]
    if not tested:
        return f"no difference is tested ({listed(sorted({test.reason for test in tests if test.reason}))})"
    equal = sorted((test for test in tested if not test.worse), key=lambda test: test.difference)
    if not equal:
        return f"it is shown to err less than each of the {len(tested)} others"
    errors = {test.entity: results.value(test.entity, ERROR.key, images=measured.main).value for test in equal}
    names = [f"{name} ({ERROR.write(error)})" for name, error in errors.items()]
    if len(equal) == len(tested) > 3:
        return f"it is not told apart from any of the {len(tested)} others, next {listed(names[:3])}"
    worse = len(tested) - len(equal)
    lead = f"shown to err less than {worse} of {len(tested)} others, it" if worse else "it"
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return f"{lead} is not told apart from {listed([*names[:3], *more])}"


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
