"""Detectors by group of sets: means count sets alike, full spectrum counts shifted images as in-distribution."""

from dataclasses import replace

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.metrics import auroc, detection_metrics
from openworld.ood.detection_results import detection_results
from openworld.ood.scored_sets import ScoredSets, SetScores, score_columns

pytestmark = pytest.mark.base

MEANS = {"test": 2.0, "a": 1.0, "b": 0.5, "c": 0.0, "v": 1.8, "w": 1.5}
GROUPS = {"test": "id", "a": "near", "b": "near", "c": "far", "v": "covariate", "w": "full-spectrum"}


@pytest.fixture(scope="module")
def sets():
    generator = np.random.default_rng(0)

    def scored(name, count):
        scores = {label: generator.normal(factor * MEANS[name], 1, count) for label, factor in (("A", 1), ("B", 2))}
        clusters = np.array([f"{name} {place}" for place in range(count)])
        return SetScores(name, GROUPS[name], scores, np.arange(count), clusters)

    others = tuple(scored(name, 30 + 10 * place) for place, name in enumerate(list(MEANS)[1:]))
    return ScoredSets(scored("test", 80), others)


@pytest.fixture(scope="module")
def results(sets):
    return detection_results(sets, replicates=50)


def test_numbers_of_a_set_are_those_of_its_scores_with_an_interval_around_each(sets, results):
    by_name = {each.name: each for each in sets.all}
    plain = detection_metrics(sets.test.scores["A"], by_name["b"].scores["A"])
    for metric in ("auroc", "fpr_in_positive", "fpr_out_positive", "aupr_in", "aupr_out"):
        value = results.value("A", metric, group="near", set="b")
        assert value.value == pytest.approx(getattr(plain, metric), abs=1e-12)
        assert value.over("images").low <= value.value <= value.over("images").high


def test_the_mean_of_a_group_counts_every_set_alike_and_its_interval_is_narrower_than_the_widest(results):
    for metric in ("auroc", "fpr_out_positive"):
        parts = [results.value("B", metric, group="near", set=name) for name in "ab"]
        mean = results.value("B", metric, group="near")
        assert mean.value == pytest.approx(np.mean([part.value for part in parts]))
        assert mean.over().width < max(part.over().width for part in parts)


def test_shifted_images_count_as_in_distribution_in_full_spectrum_alone(sets, results):
    scores = {each.name: each.scores["A"] for each in sets.all}
    shift = results.value("A", "shift_seen", group="full-spectrum", set="w")
    assert shift.value == pytest.approx(auroc(scores["test"], scores["w"]).value)
    joined = np.concatenate([scores["test"], scores["w"]])
    full = results.value("A", "auroc", group="far", set="c", in_distribution="full-spectrum")
    assert full.value == pytest.approx(auroc(joined, scores["c"]).value)
    assert results.value("A", "auroc", group="far", set="c").value == pytest.approx(
        auroc(scores["test"], scores["c"]).value
    )
    assert not results.where(metric="auroc", group="covariate").rows


def test_the_best_detector_is_tested_against_the_other_at_every_place(results):
    tests = {tuple(test.where.items()): test for test in results.comparisons}
    assert {"near", "far"} == {test.where["group"] for test in results.comparisons}
    test = tests[("group", "near"),]
    assert test.entity == "B" and test.better and test.interval.low > 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"group": "nearby"}, "did you mean 'near'"),
        ({"name": "test"}, "two sets are called 'test'"),
        ({"scores": {"A": np.ones(2)}}, "other detectors"),
        ({"images": np.arange(0)}, "no image"),
    ],
)
def test_sets_that_do_not_fit_are_refused(change, said):
    pair = {"A": np.ones(2), "B": np.ones(2)}
    whole = {"name": "a", "group": "near", "scores": pair, "images": np.arange(2), "clusters": np.arange(2)}
    test = SetScores(**whole | {"name": "test", "group": "id"})
    with pytest.raises(OpenworldError, match=said):
        ScoredSets(test, (SetScores(**whole | change),))


def test_columns_of_streams_are_as_long_as_the_table(sets):
    generator = np.random.default_rng(1)
    streams = tuple(replace(each, inside={"A": generator.normal(size=80)}) for each in sets.others)
    table = score_columns(ScoredSets(sets.test, streams))
    columns = {name: column for name, column in table.items() if name.startswith("stream ")}
    rows = sum(map(len, sets.all))
    assert len(columns) == len(streams)
    for column, each in zip(columns.values(), streams, strict=True):
        assert column.shape == (rows,) and np.isnan(column[80:]).all()
        np.testing.assert_array_equal(column[:80], each.inside["A"])
