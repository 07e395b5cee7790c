"""What a run of recognition by shift says, in sentences made from its results and tests."""

from collections.abc import Sequence

from openworld.evaluations.recognition_by_shift.record import PARTS
from openworld.evaluations.recognition_by_shift.results import AUC, BY_LEVEL, NEAR, SAME, RecognitionShiftResults
from openworld.report.sentences import counted, listed
from openworld.report.shift_axes import AXES
from openworld.results import METRICS, Comparison, mean

ERROR = METRICS["absolute_error"]


def verdict(results: RecognitionShiftResults) -> tuple[str, ...]:
    """The best learner and how it fares along both axes, tuning against not tuning, estimates, and the evidence."""
    sentences = (
        _leader(results),
        *(_along(results, view, axis) for view, axis in BY_LEVEL),
        _leader_in_same_appearance(results),
        *(_tuning(results, view, axis) for view, axis in BY_LEVEL),
        _estimates(results),
        _evidence(results),
    )
    return tuple(filter(None, sentences))


def _leader(results: RecognitionShiftResults) -> str:
    best, count = results.best_learner, len(results.facts.learners)
    value, among = results.value(best, AUC.key, view=NEAR), f" of {count} learners" * (count > 1)
    number = f"{AUC.write(value.value)} {AUC.write_interval(value.over('images'))}".strip()
    return f"Against all new images {best} has the highest OpenworldAUC{among}, {number}."


def _known(results: RecognitionShiftResults, entity: str, metric: str, axis: str, **where: str) -> list[float]:
    """A number at the levels where it is defined, from the nearest to the farthest."""
    values = (level.value for level in results.by_level(entity, metric, axis, **where))
    return [value for value in values if value is not None]


def _along(results: RecognitionShiftResults, view: str, axis: str) -> str:
    """How the best learner changes from the nearest level to the farthest, with the parts."""
    parts = [part for part in PARTS if part != "base_accuracy" or view == SAME]
    values = {part: _known(results, results.best_learner, part, axis, view=view) for part in parts}
    if len(values[AUC.key]) < 2:
        return ""
    whole, *changes = (f"from {_from_to(values[part])}" for part in parts)
    named = listed([f"{PARTS[part]} {change}" for part, change in zip(parts[1:], changes, strict=True)])
    together = " if base images change their appearance too" * (view == SAME)
    return f"From the nearest to the farthest level of {AXES[axis]}{together}, its OpenworldAUC goes {whole} ({named})."


def _leader_in_same_appearance(results: RecognitionShiftResults) -> str:
    """Which learner leads when base images change their appearance too, where that is another."""
    means = {name: mean(_known(results, name, AUC.key, "covariate", view=SAME)) for name in results.facts.learners}
    best, other = results.best_learner, max(means, key=lambda name: means[name] or 0.0)
    if None in means.values() or other == best:
        return ""
    return (
        f"If base images change their appearance too, {other} has the highest OpenworldAUC, mean of the levels: "
        f"{AUC.write(means[other])}, and {best} {AUC.write(means[best])}."
    )


def _tuning(results: RecognitionShiftResults, view: str, axis: str) -> str:
    """Say at which levels learners differ from the one that tunes nothing."""
    facts, tests = results.facts, results.tests(view, axis)
    if not facts.baseline or len(facts.learners) == 1:
        return ""
    by_learner = {name: _differing([test for test in tests if test.entity == name]) for name in facts.learners}
    parts = [f"{name} is {words}" for name, words in by_learner.items() if words]
    together = ", base images in the same appearance" * (view == SAME)
    summary = "; ".join(parts) or "no learner is shown to differ"
    return f"Against {facts.baseline}, level by level of {AXES[axis]}{together}: {summary}."


def _differing(tests: Sequence[Comparison]) -> str:
    """Levels by the verdict there; empty where nothing is shown.

    >>> tests = [(0.1, 0.01), (-0.1, 0.02), (-0.2, 0.04), (0.1, None)]
    >>> _differing([Comparison("a", "b", AUC, *test, where={"level": n}) for n, test in enumerate(tests)])
    'better at 0 and worse at 1 and 2'
    """
    places = {word: [str(test.where["level"]) for test in tests if getattr(test, word)] for word in ("better", "worse")}
    return " and ".join(f"{word} at {listed(levels)}" for word, levels in places.items() if levels)


def _estimates(results: RecognitionShiftResults) -> str:
    """Which estimator errs least, and whether that holds as the shift grows."""
    estimators = results.facts.estimators
    if not estimators:
        return ""
    errors = {name: results.value(name, ERROR.key).value for name in estimators}
    known = {name: error for name, error in errors.items() if error is not None}
    if not known:
        return "No estimator could say anything."
    best = min(known, key=known.get)
    along = (f"{_from_to(_known(results, best, ERROR.key, axis))} along {AXES[axis]}" for axis in AXES)
    bias = METRICS["bias"].write(results.value(best, "bias").value)
    return (
        f"Of the label-free estimates {best} errs least: {ERROR.write(known[best])} points over cells and learners "
        f"({'; '.join(along)}), mean signed error {bias}."
    )


def _evidence(results: RecognitionShiftResults) -> str:
    first = results.facts.first
    sides = f"{first.n_base_images:,} base and {sum(map(sum, first.counts)):,} new images"
    return (
        f"This rests on {sides}, of {first.n_base_classes} and {first.n_new_classes} classes, and on "
        f"{counted(len(results.facts.seeds), 'seed')}; degrees are those of one model, and levels are of this pool."
    )


def _from_to(values: Sequence[float]) -> str:
    """The first and the last of some fractions, in percent."""
    return f"{AUC.write(values[0])} to {AUC.write(values[-1])}"
