"""What a run of recognition by shift says, in sentences made from its results and tests."""

from collections.abc import Sequence

from openworld.evaluations.recognition_by_shift.record import PARTS
from openworld.evaluations.recognition_by_shift.results import AUC, BY_LEVEL, NEAR, SAME, RecognitionShiftFacts
from openworld.evaluations.recognition_by_shift.tables import tests_of
from openworld.report.sentences import counted, listed
from openworld.report.shift_axes import AXES
from openworld.results import METRICS, Comparison, Results, mean

ERROR = METRICS["absolute_error"]


def verdict(found: Results, facts: RecognitionShiftFacts) -> tuple[str, ...]:
    """The best learner and how it fares along both axes, tuning against not tuning, estimates, and the evidence."""
    best = best_learner(found, facts)
    sentences = [_leader(found, facts, best)]
    sentences += [_along(found, facts, best, view, axis) for view, axis in BY_LEVEL]
    sentences.append(_leader_in_same_appearance(found, facts, best))
    sentences += [_tuning(found, facts, view, axis) for view, axis in BY_LEVEL]
    sentences.append(_estimates(found, facts))
    return (*filter(None, sentences), _evidence(facts))


def best_learner(found: Results, facts: RecognitionShiftFacts) -> str:
    """The learner with the highest OpenworldAUC against all new images."""
    return max(facts.learners, key=lambda name: found.value(name, AUC.key, view=NEAR).value or 0.0)


def _leader(found: Results, facts: RecognitionShiftFacts, best: str) -> str:
    value, count = found.value(best, AUC.key, view=NEAR), len(facts.learners)
    among = f" of {count} learners" * (count > 1)
    number = f"{AUC.write(value.value)} {AUC.write_interval(value.over('images'))}".strip()
    return f"Against all new images {best} has the highest OpenworldAUC{among}, {number}."


def _by_level(found: Results, facts: RecognitionShiftFacts, entity: str, metric: str, **where: str) -> list[float]:
    """A number at the levels where it is defined, from the nearest to the farthest."""
    values = (found.value(entity, metric, level=level, **where).value for level in facts.levels(where["axis"]))
    return [value for value in values if value is not None]


def _along(found: Results, facts: RecognitionShiftFacts, best: str, view: str, axis: str) -> str:
    """How the best learner changes from the nearest level to the farthest, with the parts."""
    changing = [part for part in PARTS if part != "base_accuracy" or view == SAME]
    values = {part: _by_level(found, facts, best, part, view=view, axis=axis) for part in changing}
    if len(values[AUC.key]) < 2:
        return ""
    whole, *parts = (f"from {_from_to(values[part])}" for part in changing)
    named = listed([f"{PARTS[part]} {change}" for part, change in zip(changing[1:], parts, strict=True)])
    together = " if base images change their appearance too" * (view == SAME)
    return f"From the nearest to the farthest level of {AXES[axis]}{together}, its OpenworldAUC goes {whole} ({named})."


def _leader_in_same_appearance(found: Results, facts: RecognitionShiftFacts, best: str) -> str:
    """Which learner leads when base images change their appearance too, where that is another."""
    means = {name: mean(_by_level(found, facts, name, AUC.key, view=SAME, axis="covariate")) for name in facts.learners}
    if None in means.values():
        return ""
    other = max(means, key=means.get)
    if other == best:
        return ""
    return (
        f"If base images change their appearance too, {other} has the highest OpenworldAUC, mean of the levels: "
        f"{AUC.write(means[other])}, and {best} {AUC.write(means[best])}."
    )


def _tuning(found: Results, facts: RecognitionShiftFacts, view: str, axis: str) -> str:
    """At which levels learners differ from the one that tunes nothing."""
    tests = tests_of(found, view, axis)
    if not facts.baseline or len(facts.learners) == 1:
        return ""
    by_learner = {name: [one for one in tests if one.entity == name] for name in facts.learners}
    parts = [f"{name} is {words}" for name, own in by_learner.items() if (words := _differing(own))]
    together = ", base images in the same appearance" * (view == SAME)
    summary = "; ".join(parts) or "no learner is shown to differ"
    return f"Against {facts.baseline}, level by level of {AXES[axis]}{together}: {summary}."


def _differing(tests: Sequence[Comparison]) -> str:
    """Levels by the verdict there; empty where nothing is shown.

    >>> tests = [(0.1, 0.01), (-0.1, 0.02), (-0.2, 0.04), (0.1, None)]
    >>> _differing([Comparison("a", "b", AUC, *test, where={"level": n}) for n, test in enumerate(tests)])
    'better at 0 and worse at 1 and 2'
    """
    places = {word: [str(one.where["level"]) for one in tests if getattr(one, word)] for word in ("better", "worse")}
    return " and ".join(f"{word} at {listed(levels)}" for word, levels in places.items() if levels)


def _estimates(found: Results, facts: RecognitionShiftFacts) -> str:
    """Which estimator errs least, and whether that holds as the shift grows."""
    if not facts.estimators:
        return ""
    errors = {name: found.value(name, ERROR.key).value for name in facts.estimators}
    known = {name: error for name, error in errors.items() if error is not None}
    if not known:
        return "No estimator could say anything."
    best = min(known, key=known.get)
    along = (f"{_from_to(_by_level(found, facts, best, ERROR.key, axis=axis))} along {AXES[axis]}" for axis in AXES)
    bias = METRICS["bias"].write(found.value(best, "bias").value)
    return (
        f"Of the label-free estimates {best} errs least: {ERROR.write(known[best])} points over cells and learners "
        f"({'; '.join(along)}), mean signed error {bias}."
    )


def _evidence(facts: RecognitionShiftFacts) -> str:
    first = facts.first
    sides = f"{first.n_base_images:,} base and {sum(map(sum, first.counts)):,} new images"
    return (
        f"This rests on {sides}, of {first.n_base_classes} and {first.n_new_classes} classes, and on "
        f"{counted(len(facts.seeds), 'seed')}; degrees are those of one model, and levels are of this pool."
    )


def _from_to(values: Sequence[float]) -> str:
    """The first and the last of some fractions, in percent."""
    return f"{AUC.write(values[0])} to {AUC.write(values[-1])}"
