"""What a run of recognition by shift says, in sentences made from its results and tests."""

from collections.abc import Mapping, Sequence

from openworld.evaluations.recognition_by_shift.record import PARTS
from openworld.evaluations.recognition_by_shift.results import AUC, BY_LEVEL, NEAR, SAME, RecognitionShiftResults
from openworld.report.sentences import below_chance, counted, leads, listed, possessive
from openworld.report.shift_axes import AXES
from openworld.results import METRICS, Comparison, against_chance, mean, standing

ERROR = METRICS["absolute_error"]


def verdict(results: RecognitionShiftResults) -> tuple[str, ...]:
    """The best learner and how it fares along both axes, tuning against not tuning, estimates, and the evidence."""
    areas = (results.rows.result(name, "auroc", view=NEAR) for name in results.facts.learners)
    sentences = (
        _leader(results),
        *(_along(results, view, axis) for view, axis in BY_LEVEL),
        _leader_in_same_appearance(results),
        *(_tuning(results, view, axis) for view, axis in BY_LEVEL),
        _estimates(results),
        below_chance(against_chance(areas), "base"),
        _evidence(results),
    )
    return tuple(filter(None, sentences))


def _leader(results: RecognitionShiftResults) -> str:
    value = results.value(results.best_learner, AUC.key, view=NEAR)
    if results.standing is None:
        return f"Against all new images no learner has an OpenworldAUC: {value.reason}."
    number = f"{AUC.write(value.value)} {AUC.write_interval(value.over('images'))}".strip()
    return f"{leads(results.standing, 'OpenworldAUC against all new images', number, 'learners')}."


def _known(results: RecognitionShiftResults, entity: str, metric: str, axis: str, **where: str) -> dict[int, float]:
    """A number by level, where it is defined; level 0 is the nearest."""
    values = enumerate(level.value for level in results.by_level(entity, metric, axis, **where))
    return {level: value for level, value in values if value is not None}


def _along(results: RecognitionShiftResults, view: str, axis: str) -> str:
    """How the best learner changes from the nearest level to the farthest, with the parts."""
    parts = [part for part in PARTS if part != "base_accuracy" or view == SAME]
    values = {part: _known(results, results.best_learner, part, axis, view=view) for part in parts}
    if len(values[AUC.key]) < 2:
        return ""
    whole, *changes = (_from_to(values[part]) for part in parts)
    named = listed([f"{PARTS[part]} {change}" for part, change in zip(parts[1:], changes, strict=True)])
    together = " if base images change their appearance too" * (view == SAME)
    levels, farthest = sorted(values[AUC.key]), len(results.facts.levels(axis)) - 1
    first = f"level {levels[0]} (nearer ones are N/A)" if levels[0] else "the nearest level"
    last = "the farthest" if levels[-1] == farthest else f"level {levels[-1]} (farther ones are N/A)"
    return (
        f"From {first} to {last} in {AXES[axis]}{together}, the OpenworldAUC of {results.best_learner} goes {whole} "
        f"({named})."
    )


def _leader_in_same_appearance(results: RecognitionShiftResults) -> str:
    """Which learner leads when base images change their appearance too, where that is another."""
    known = {name: _known(results, name, AUC.key, "covariate", view=SAME) for name in results.facts.learners}
    means, best = {name: mean([*values.values()]) for name, values in known.items()}, results.best_learner
    found = standing(means)
    if found is None or best in found.names or None in means.values():
        return ""
    lead = leads(found, "mean OpenworldAUC of the levels", AUC.write(means[found.names[0]]), "learners")
    return f"If base images change their appearance too, {lead}; that of {best} is {AUC.write(means[best])}."


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
    found = standing(known, better=-1)
    best = found.names[0]
    by_axis = {axis: _known(results, best, ERROR.key, axis) for axis in AXES}
    along = [f"{_from_to(errors)} as images move away in {AXES[axis]}" for axis, errors in by_axis.items() if errors]
    bias, number = METRICS["bias"].write(results.value(best, "bias").value), f"{ERROR.write(known[best])} points"
    lead = leads(found, "mean error over cells and learners", number, "estimators", "smallest")
    changes = f"; {possessive(best)} goes {listed(along)}" if along else ""
    return f"Of the label-free estimates {lead}{changes}; its mean signed error is {bias}."


def _evidence(results: RecognitionShiftResults) -> str:
    first = results.facts.first
    sides = f"{first.n_base_images:,} base and {sum(map(sum, first.counts)):,} new images"
    return (
        f"This rests on {sides}, of {first.n_base_classes} and {first.n_new_classes} classes, and on "
        f"{counted(len(results.facts.seeds), 'seed')}; degrees are those of one model, and levels are of this pool."
    )


def _from_to(values: Mapping[int, float]) -> str:
    """The first and the last of some fractions by level, in percent."""
    return f"from {AUC.write(values[min(values)])} to {AUC.write(values[max(values)])}"
