"""What every estimator in ESTIMATORS keeps; what is special about some of them stands in SPECIAL below."""

from dataclasses import FrozenInstanceError, dataclass, replace

import numpy as np
import pytest
from simulated import outputs

from openworld.core.errors import OpenworldError
from openworld.estimators import ESTIMATORS, Estimate, Outputs, ScoreRegression
from openworld.runs import to_json


@dataclass(frozen=True)
class Case:
    """What is special about an estimator.

    score: it scores sets and needs `ScoreRegression`. per_image: it gives a score to each image. argmax_only: it looks
    at predictions alone, so that the scale of the logits cannot matter, fitted temperature or not.
    """

    score: bool = False
    per_image: bool = True
    argmax_only: bool = False


WHOLE_SET = Case(per_image=False)
SCORE = Case(score=True, per_image=False)
SPECIAL = {
    "GDE": Case(argmax_only=True),
    **dict.fromkeys(("ProjNorm", "ALine-S", "ALine-D"), replace(WHOLE_SET, argmax_only=True)),
}
CONTRACT = {name: SPECIAL.get(name, SCORE if hasattr(kind, "score") else Case()) for name, kind in ESTIMATORS.items()}
estimators = pytest.mark.parametrize("name", ESTIMATORS)
CLASSES, PARTNERS = 4, 4


def whole(seed, n=60, strength=2.0):
    """Outputs that hold all that any estimator needs."""
    return outputs(seed, n, CLASSES, strength, PARTNERS)


def made(name):
    estimator = ESTIMATORS[name]()
    return ScoreRegression(estimator) if CONTRACT[name].score else estimator


def source_of(name, seed=0):
    """What `fit` takes: one set with labels, or several for a score."""
    return [whole(seed + i, strength=i / 2) for i in range(1, 5)] if CONTRACT[name].score else whole(seed)


def each(change, source):
    return [change(one) for one in source] if isinstance(source, list) else change(source)


def fitted(name):
    return made(name).fit(source_of(name))


def shuffled(data):
    return data.take(np.random.default_rng(5).permutation(data.n))


def test_special_cases_are_of_estimators():
    assert SPECIAL.keys() <= ESTIMATORS.keys()


@estimators
def test_its_class_says_what_it_is(name):
    estimator = ESTIMATORS[name]
    assert estimator.name == name and estimator.paper
    assert 5 < len(estimator.summary) < 60
    assert set(estimator.needs) <= {"labels", "reference", "partners"}
    assert ">>>" in estimator.__doc__
    assert hasattr(estimator, "score") is CONTRACT[name].score


@estimators
def test_settings_are_frozen_and_can_be_written_down(name):
    with pytest.raises((FrozenInstanceError, TypeError)):
        ESTIMATORS[name]().anything = 1
    assert ESTIMATORS[name](**to_json(ESTIMATORS[name]())) == ESTIMATORS[name]()


@estimators
def test_fractions_that_add_up_and_an_interval_in_order(name):
    for seed in range(6):
        found = fitted(name).estimate(whole(seed + 50, strength=seed / 2), resamples=40)
        assert 0 <= found.error <= 1 and found.accuracy + found.error == pytest.approx(1)
        assert 0 <= found.interval[0] <= found.interval[1] <= 1
        assert found.error == pytest.approx(min(1, max(0, found.raw_error)))


@estimators
def test_what_it_rests_on_is_said(name):
    found = fitted(name).estimate(whole(1), resamples=40)
    assert found.details["n_target"] == 60 and found.details["n_source"] >= 60
    assert found.details["resamples"] == 40 and found.details["resampled"]
    assert all(isinstance(warning, str) and len(warning) > 20 for warning in found.warnings)
    assert (found.sample_scores is not None) is CONTRACT[name].per_image
    if CONTRACT[name].per_image:
        assert found.sample_scores.shape == (60,)


@estimators
def test_the_order_of_images_does_not_matter(name):
    source, target = source_of(name), whole(1)
    expected = made(name).fit(source).estimate(target, interval=False)
    other = made(name).fit(each(shuffled, source)).estimate(shuffled(target), interval=False)
    assert other.raw_error == pytest.approx(expected.raw_error, rel=1e-9, abs=1e-12)
    if CONTRACT[name].per_image:
        np.testing.assert_allclose(np.sort(other.sample_scores), np.sort(expected.sample_scores), atol=1e-9)


@estimators
def test_single_precision_and_lists_are_read_without_loss(name):
    def single(data):
        rounded = [one.astype(np.float32) for one in (data.logits, data.reference, *data.partners)]
        return Outputs(rounded[0], data.labels, rounded[1], tuple(rounded[2:]))

    def listed(data):
        partners = tuple(one.tolist() for one in data.partners)
        return Outputs(data.logits.tolist(), data.labels.tolist(), data.reference.tolist(), partners)

    source, target = each(single, source_of(name)), single(whole(1))
    expected = made(name).fit(source).estimate(target, interval=False)
    assert made(name).fit(each(listed, source)).estimate(listed(target), interval=False).error == expected.error


@estimators
def test_calls_repeat_and_inputs_are_kept(name):
    source, target, one = source_of(name), whole(1), made(name)
    before = target.logits.copy()
    first, second = (one.fit(source).estimate(target, seed=3, resamples=40) for _ in range(2))
    assert to_json(first) == to_json(second)
    np.testing.assert_array_equal(before, target.logits)
    assert one.fit(source).estimate(target, seed=4, resamples=40).error == first.error


@estimators
def test_labels_of_the_target_are_not_looked_at(name):
    target = whole(1)
    blind = replace(target, labels=None)
    lying = replace(target, labels=(target.labels + 1) % CLASSES)
    assert to_json(fitted(name).estimate(blind)) == to_json(fitted(name).estimate(lying))


@estimators
def test_an_estimate_survives_json(name):
    found = fitted(name).estimate(whole(1), resamples=40)
    again = Estimate(**to_json(found))
    assert to_json(again) == to_json(found)
    assert again.interval == found.interval and isinstance(again.interval, tuple)


@estimators
def test_without_an_interval_nothing_is_resampled(name):
    found = fitted(name).estimate(whole(1), interval=False)
    assert found.interval is None and "resamples" not in found.details


@estimators
def test_a_single_image_has_an_estimate(name):
    found = fitted(name).estimate(whole(1).take([0]), resamples=40)
    assert found.details["n_target"] == 1 and (found.error is None or 0 <= found.error <= 1)


@estimators
def test_the_scale_of_the_logits_does_not_matter_to_what_looks_at_predictions(name):
    if not CONTRACT[name].argmax_only:
        return

    def scaled(data):
        return replace(data, logits=7 * data.logits)

    source, target = source_of(name), whole(1)
    expected = made(name).fit(source).estimate(target)
    found = made(name).fit(each(scaled, source)).estimate(scaled(target))
    assert (found.raw_error, found.interval) == (expected.raw_error, expected.interval)


@estimators
def test_other_classes_are_refused(name):
    with pytest.raises(OpenworldError, match="the target has 5 classes, but .* on 4"):
        fitted(name).estimate(outputs(1, 60, 5, 2.0, PARTNERS))


@estimators
def test_what_is_missing_is_named(name):
    for need in ESTIMATORS[name].needs:
        nothing = () if need == "partners" else None
        with pytest.raises(OpenworldError, match=f"needs {need}"):
            made(name).fit(each(lambda one: replace(one, **{need: nothing}), source_of(name))).estimate(  # noqa: B023
                replace(whole(1), **{need: nothing})
            )


@estimators
def test_too_few_resamples_are_refused(name):
    with pytest.raises(OpenworldError, match="resamples is 5, expected 20 or more"):
        fitted(name).estimate(whole(1), resamples=5)
