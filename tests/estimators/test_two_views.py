"""Two views: the formula by hand, a model that fails unawares, and where nothing can be read off."""

from dataclasses import replace

import numpy as np
import pytest

from openworld.estimators import Outputs, TwoViews
from openworld.estimators.engine.temperature import confidences, source_temperature


def scores(labels, strength, seed, classes=6):
    return strength * np.eye(classes)[labels] + np.random.default_rng(seed).normal(size=(len(labels), classes))


def pair(model=1.0, reference=2.5, n=4000):
    """A source, and a target on which the model is as weak as said and does not know it; the reference knows."""
    there, here = (np.random.default_rng(seed).integers(0, 6, n) for seed in (0, 1))
    source = Outputs(scores(there, 3.0, 2), there, 0.02 * 2.5 * scores(there, 2.5, 3))
    return source, Outputs(3 * scores(here, model, 4), here, 0.02 * reference * scores(here, reference, 5))


def without_two_classes(n):
    """A strong reference that gives the first two classes each other's name."""
    names = np.array([1, 0, 2, 3, 4, 5])
    sides = zip(pair(n=n), (6, 7), strict=True)
    return [replace(one, reference=0.02 * scores(one.labels, 9.0, seed)[:, names]) for one, seed in sides]


def test_the_formula_of_all_images_whatever_the_scale_of_similarities():
    source, target = pair(n=1000)
    found = TwoViews().fit(source).estimate(target, interval=False)
    named = [one.reference.argmax(axis=1) for one in (source, target)]
    agree = [(one.predictions == name).mean() for one, name in zip((source, target), named, strict=True)]
    model, reference = 1 - source.mistakes / source.n, (named[0] == source.labels).mean()
    scale = source.reference.std(axis=1).mean()
    temperature = scale * source_temperature(source.reference / scale, source.labels).value
    change = confidences(target.reference, temperature).mean() - confidences(source.reference, temperature).mean()
    rho = agree[0] / (model * reference)
    assert found.accuracy == pytest.approx(agree[1] / (rho * (reference + change)))
    assert found.details["reference_accuracy"] == pytest.approx(reference + change)
    louder = [replace(one, reference=1000 * one.reference + 7) for one in (source, target)]
    assert TwoViews().fit(louder[0]).estimate(louder[1]).accuracy == pytest.approx(found.accuracy)


def test_it_sees_what_the_model_does_not_and_the_references_fall_is_not_the_models():
    for model in (3.0, 1.0, 0.0):
        source, target = pair(model)
        found = TwoViews().fit(source).estimate(target, resamples=40)
        true = 1 - target.mistakes / target.n
        assert abs(found.accuracy - true) < 0.03
        assert found.interval[1] - found.interval[0] < 0.1
        assert found.interval[0] - 0.02 < true < found.interval[1] + 0.02  # where both guess, they agree by chance
    source, target = pair(model=3.0, reference=1.0)
    weaker = TwoViews().fit(source).estimate(target, interval=False)
    assert weaker.details["reference_accuracy"] < 0.6
    assert abs(weaker.accuracy - (1 - target.mistakes / target.n)) < 0.04


def test_classes_that_the_reference_does_not_know_are_left_out():
    source, target = without_two_classes(3000)
    found = TwoViews().fit(source).estimate(target, interval=False)
    assert found.details["counted"] == (target.predictions > 1).sum()
    assert abs(found.accuracy - (1 - target.mistakes / target.n)) < 0.04
    few = target.take(np.r_[np.flatnonzero(target.predictions < 2), np.flatnonzero(target.predictions == 2)[:4]])
    assert TwoViews().fit(source).estimate(few).accuracy is None
    more = target.take(np.flatnonzero(target.predictions > 1)[:5])
    assert TwoViews().fit(source).estimate(more).accuracy is not None


def test_a_reference_that_tells_nothing_apart_is_no_reason_to_fail():
    source, target = pair(n=200)
    same = [replace(one, reference=np.ones_like(one.logits)) for one in (source, target)]
    found = TwoViews().fit(same[0]).estimate(same[1])
    assert any("knows too little" in warning for warning in found.warnings)
    found = TwoViews().fit(replace(source, reference=-source.logits)).estimate(target)  # they never agree
    assert found.accuracy is None and any("read off" in warning for warning in found.warnings)
