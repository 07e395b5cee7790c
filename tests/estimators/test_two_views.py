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


def test_the_formula_of_all_images():
    source, target = pair()
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


def test_it_sees_what_the_model_does_not():
    for model in (3.0, 2.0, 1.0, 0.0):
        source, target = pair(model)
        found = TwoViews().fit(source).estimate(target)
        true = 1 - target.mistakes / target.n
        assert abs(found.accuracy - true) < 0.03
        assert found.interval[1] - found.interval[0] < 0.1
        assert found.interval[0] - 0.02 < true < found.interval[1] + 0.02  # where both guess, they agree by chance


def test_the_references_own_fall_is_not_the_models():
    source, target = pair(model=3.0, reference=1.0)
    weaker = TwoViews().fit(source).estimate(target)
    assert weaker.details["reference_accuracy"] < 0.6
    assert abs(weaker.accuracy - (1 - target.mistakes / target.n)) < 0.04


def test_the_scale_of_similarities_does_not_matter():
    source, target = pair(n=500)
    louder = [replace(one, reference=1000 * one.reference + 7) for one in (source, target)]
    expected = TwoViews().fit(source).estimate(target, interval=False).accuracy
    assert TwoViews().fit(louder[0]).estimate(louder[1], interval=False).accuracy == pytest.approx(expected)


def test_classes_that_the_reference_does_not_know_are_left_out():
    source, target = pair(n=3000)
    names = np.array([1, 0, 2, 3, 4, 5])
    strong = 0.02 * scores(source.labels, 9.0, 6), 0.02 * scores(target.labels, 9.0, 7)
    source, target = (replace(one, reference=x[:, names]) for one, x in zip((source, target), strong, strict=True))
    found = TwoViews().fit(source).estimate(target, interval=False)
    assert found.details["counted"] == (target.predictions > 1).sum()
    assert abs(found.accuracy - (1 - target.mistakes / target.n)) < 0.04


def test_of_few_images_that_count_nothing_is_said():
    source, target = pair(n=600)
    names = np.array([1, 0, 2, 3, 4, 5])
    strong = 0.02 * scores(source.labels, 9.0, 6), 0.02 * scores(target.labels, 9.0, 7)
    source, target = (replace(one, reference=x[:, names]) for one, x in zip((source, target), strong, strict=True))
    few = target.take(np.r_[np.flatnonzero(target.predictions < 2), np.flatnonzero(target.predictions == 2)[:4]])
    assert TwoViews().fit(source).estimate(few).accuracy is None
    more = target.take(np.flatnonzero(target.predictions > 1)[:5])
    assert TwoViews().fit(source).estimate(more).accuracy is not None


def test_a_reference_that_tells_nothing_apart_is_no_reason_to_fail():
    source, target = (replace(one, reference=np.ones_like(one.logits)) for one in pair(n=200))
    found = TwoViews().fit(source).estimate(target)
    assert any("knows too little" in warning for warning in found.warnings)


def test_where_they_never_agree_nothing_is_said():
    source, target = pair(n=200)
    apart = replace(source, reference=-source.logits)
    found = TwoViews().fit(apart).estimate(replace(target, reference=target.reference))
    assert found.accuracy is None and any("read off" in warning for warning in found.warnings)
