"""Accuracy at the levels of a change: read among each level's names, anchored at labels, with errors over images."""

import numpy as np
import pytest
from simulated import refused

from openworld.estimators import AC, ATCMaxConfidence, DoC, Outputs, by_level
from openworld.estimators.by_level import AS_A_WHOLE, accuracy_by_level, among
from openworld.estimators.quote.by_class import expected_right
from openworld.metrics import curve_intervals


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch, request):
    if "slow" not in request.keywords:
        monkeypatch.setattr(by_level, "RESAMPLES", 30)


def scored(n, levels=(1.0, 0.6, 0.3), classes=5, seed=0):
    """Calibrated outputs: every label is drawn from the softmax of the logits, the flatter the further the level."""
    generator = np.random.default_rng(seed)
    sets = []
    for sharp in levels:
        logits = 3 * sharp * generator.normal(size=(n, classes))
        share = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        labels = (share.cumsum(axis=1) < generator.random((n, 1))).sum(axis=1)
        sets.append(Outputs(logits, np.minimum(labels, classes - 1)))
    return sets


def unlabelled(outputs):
    return Outputs(outputs.logits)


def test_level_0_is_what_labels_say_and_the_others_are_what_the_estimator_says():
    source, *views = scored(300)
    found = accuracy_by_level(AC(), source, source, list(map(unlabelled, views)))
    fitted = AC().fit(source)
    expected = [1 - source.mistakes / source.n, *(fitted.estimate(view, interval=False).accuracy for view in views)]
    assert found.accuracy.tolist() == pytest.approx(expected)
    for estimator in (AC(), ATCMaxConfidence()):
        estimate = estimator.fit(source).estimate(unlabelled(views[0]), interval=False)
        assert expected_right(estimate).mean() == pytest.approx(estimate.accuracy)
    whole = accuracy_by_level(DoC(), source, source, list(map(unlabelled, views)))
    assert whole.errors is None and whole.reason == AS_A_WHOLE and np.isfinite(whole.accuracy).all()


def test_names_that_do_not_count_change_nothing():
    source, view = scored(200, (1.0, 0.5), 4)
    wide = [np.concatenate([each.logits, np.full((each.n, 2), -np.inf)], axis=1) for each in (source, view)]
    known, stream = Outputs(among(wide[0]), source.labels), Outputs(among(wide[1]))
    for estimator in (AC(), ATCMaxConfidence()):
        narrow = accuracy_by_level(estimator, source, source, [unlabelled(view)]).accuracy
        assert accuracy_by_level(estimator, known, known, [stream]).accuracy == pytest.approx(narrow)
    refused("image 1 has no finite logit", among, [[1.0, 2.0], [-np.inf, 1.0]], [0])
    refused("0 levels", accuracy_by_level, AC(), source, source, [])
    refused("home_rows has 200 entries, expected 5", accuracy_by_level, AC(), source, source.take(range(5)), [view])


def test_more_images_of_stream_and_source_narrow_the_interval():
    few, many = ([each.take(np.arange(n)) for each in scored(900)] for n in (60, 900))
    widths = []
    for source, *views in (few, many):
        found = accuracy_by_level(AC(), source, source, list(map(unlabelled, views)))
        interval = curve_intervals(found.errors, [0, 0.5, 1], 0)["auc"]
        widths.append(interval.high - interval.low)
    assert widths[1] < widths[0] / 2.5


def test_an_image_at_several_levels_counts_once():
    source, view, _ = scored(150)
    views = [unlabelled(view)] * 2
    alone, same = (
        accuracy_by_level(AC(), source, source, views, groups) for groups in (None, [np.arange(150), np.arange(150)])
    )
    spreads = [found.errors.spread([[0, 1, 1]]).standard_error for found in (alone, same)]
    assert spreads[0] < spreads[1]


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [AC(), ATCMaxConfidence()])
def test_the_interval_of_the_area_holds_what_endless_images_would_give(estimator):
    weights = [0.25, 0.5, 0.25]
    source, *views = scored(10_000, seed=1)
    limit = weights @ accuracy_by_level(estimator, source, source, list(map(unlabelled, views))).accuracy
    areas = []
    for seed in range(30):
        source, *views = scored(300, seed=seed + 10)
        found = accuracy_by_level(estimator, source, source, list(map(unlabelled, views)))
        areas.append(curve_intervals(found.errors, [0, 0.5, 1], 0)["auc"])
    assert sum(area.low <= limit <= area.high for area in areas) >= 25
