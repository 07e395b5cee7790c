"""Curves, ranks, intervals and tests of made-up records of dynamic scenarios, by hand and from stored predictions."""

import numpy as np
import pytest
from made_units import dynamic_unit, find_comparison

from openworld import OpenworldError
from openworld.evaluations.dynamic.curves import NUMBERS, ScenarioCurves, ViewAnswers, image_errors, scenario_curves
from openworld.evaluations.dynamic.report import LINEAR, Average, read_results
from openworld.metrics import area_test, friedman_ranks, level_errors, seeds_test
from openworld.results import Results, RunFolder
from openworld.runs import RunStore, Unit

LEVELS = (0.0, 0.5, 1.0)
# Accuracy by level of two seeds; CoOp starts above zero-shot and ends below.
CURVES = {
    "zero-shot": [[0.6, 0.6, 0.6], [0.6, 0.6, 0.6]],
    "CoOp": [[0.9, 0.6, 0.3], [0.7, 0.6, 0.5]],
    "Co<b>": [[0.7, 0.7, 0.7], [0.7, 0.7, 0.7]],
}
SETS = ("emoji-concepts", "emoji-groups")
FIRST = {"scenario": "emerging-classes", "images": "emoji-concepts, twemoji"}


def write(folder, learners=CURVES, datasets=SETS, levels=None):
    """Write a run; `levels` = {data set: how many levels it has}."""
    store = RunStore(folder)
    store.create({"protocol": "dynamic"}, {"protocol": "dynamic", "seeds": [1, 2]}, {"command": ["openworld", "run"]})
    planned = [
        (Unit("math:sqrt", {"x": [data, name, seed]}, name=f"{data} {name} {seed}"), data, name, seed)
        for data in datasets
        for name in (learners[data] if isinstance(learners, dict) and data in learners else learners)
        for seed in (2, 1)
    ]
    store.plan([unit for unit, *_ in planned])
    for unit, data, name, seed in planned:
        accuracies = dict(zip(LEVELS[: (levels or {}).get(data, 3)], CURVES[name][seed - 1], strict=False))
        views = {
            level: {"accuracy": value, "base_accuracy": value, "new_accuracy": None, "auroc": 0.8 if level else None}
            for level, value in accuracies.items()
        }
        kinds = (("co-evolution", "emoji-concepts-b, twemoji"), ("emerging-classes", None))
        courses = [(scenario, target, views) for scenario, target in kinds]
        store.write(unit, dynamic_unit(name, seed, courses, dataset=data, domain="twemoji"))
    return RunFolder.read(folder)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The results of curves by hand: two scenarios on two data sets, without predictions."""
    return read_results(write(tmp_path_factory.mktemp("by-hand")))


@pytest.fixture(scope="module")
def curves(course_run):
    return scenario_curves(RunFolder.read(course_run))


@pytest.fixture(scope="module")
def found(course_run):
    """The results of a run with predictions: one run of emerging classes, two of a distribution shift."""
    return read_results(RunFolder.read(course_run))


def test_seeds_are_averaged_first_and_compared_with_zero_shot(made):
    results = made

    def of(metric, learner="CoOp"):
        return results.result(learner, metric, **FIRST)

    assert of("positive_area", "zero-shot").value.value is None
    assert "no zero-shot curve" in of("delta_auc", "zero-shot").value.reason
    assert of("auc").value.value == pytest.approx(0.6) and of("auc").seeds == (1, 2)
    assert of("auc").value.over("seeds") is None, "both seeds have .6: no interval is made up"
    first = of("initial_accuracy").value
    assert first.value == pytest.approx(0.8) and (first.over("seeds").low, first.over("seeds").high) == (0.0, 1.0)
    assert of("positive_area").value.value == pytest.approx(0.05) == of("negative_area").value.value
    assert of("variation").value.value == pytest.approx(0.4) and of("variation").per_seed == pytest.approx((0.6, 0.2))
    assert first.over("images") is None
    assert {test.reason for test in results.comparisons if test.where == FIRST} == {"the records keep no predictions"}


def test_ranks_by_hand(made):
    results = made
    # By level, zero-shot: 3, 2.5, 2; CoOp: 1, 2.5, 3; the other: 2, 1, 1.
    ranks = [results.value(learner, "friedman_rank", **FIRST).value for learner in CURVES]
    assert ranks == pytest.approx([(3 + 2.5 + 2) / 3, (1 + 2.5 + 3) / 3, (2 + 1 + 1) / 3])
    assert [results.value(name, "final_rank", scenario="co-evolution").value for name in CURVES] == [3, 2, 1]
    assert "needs at least 5" in results.value("", "friedman_p", scenario="co-evolution").reason


def test_with_data_sets_enough_the_tests_of_ranks_are_made(tmp_path):
    results = _of_many(tmp_path)
    assert results.value("", "friedman_p", scenario="co-evolution").value < 0.05
    assert results.value("", "critical_difference", scenario="co-evolution").value > 0
    pairs = [test for test in results.comparisons if test.metric.key == "area_rank"]
    assert len(pairs) == 2 * 3 and all(0 <= test.p <= 1 for test in pairs)


def _of_many(folder):
    return read_results(write(folder, datasets=[f"set {number}" for number in range(6)]))


def _tests(results, where):
    return [test for test in results.comparisons if test.where == where]


def test_without_zero_shot_there_are_no_curves(tmp_path):
    with pytest.raises(OpenworldError, match="no zero-shot learner"):
        read_results(write(tmp_path, ["CoOp"]))


def test_runs_with_other_levels_are_ranked_together_and_have_no_means_by_level(tmp_path):
    run = write(tmp_path, levels={"emoji-groups": 2})
    first, second = scenario_curves(run)[:2]
    found = read_results(run)
    whole = friedman_ranks(np.concatenate([first.accuracy, second.accuracy], axis=1))
    ranks = [found.value(name, "friedman_rank", scenario="emerging-classes").value for name in CURVES]
    assert ranks == pytest.approx(whole)
    reasons = {test.reason for test in found.comparisons if test.where == {"scenario": "emerging-classes"}}
    assert reasons == {"the scenario runs do not have the same levels"}
    assert not [row for row in found if row.where.keys() == {"scenario", "level"}]


def test_learners_that_lack_a_data_set_are_not_ranked(tmp_path):
    learners = {"emoji-concepts": list(CURVES), "emoji-groups": ["zero-shot", "CoOp"]}
    with pytest.raises(OpenworldError, match="the same learners on all data sets") as refused:
        read_results(write(tmp_path, learners))
    assert "emoji-concepts, twemoji" in str(refused.value) and "emoji-groups, twemoji" in str(refused.value)


def test_stored_predictions_give_back_the_accuracy_of_the_rows(curves):
    for run in curves:
        errors, reason = Average((run,)).errors
        assert errors.accuracy == pytest.approx(run.accuracy) and errors.groups == 12 and not reason


def test_every_number_of_a_scenario_run_has_an_interval_over_images_that_holds_it(found, curves):
    for run in curves:
        for learner in run.learners:
            for name in NUMBERS:
                value = found.value(learner, name, **run.where)
                interval = value.over("images")
                assert (value.value is None) == (interval is None), name
                assert interval is None or interval.low <= value.value <= interval.high, name


def test_the_tests_are_those_of_the_areas_corrected_by_holm(curves, found):
    one = curves[0]
    tests, (errors, _) = _tests(found, one.where), Average((one,)).errors
    assert len(tests) == 3
    for test in tests:
        rows = (one.learners.index(name) for name in (test.entity, test.other))
        raw = area_test(errors, one.levels, *rows).p_value
        assert raw <= test.p <= min(1.0, 3 * raw)
    assert find_comparison(tests, "GMoP", "zero-shot").better and find_comparison(tests, "zero-shot", "GMoP").worse


def test_over_seeds_a_learner_is_paired_seed_by_seed(found, curves):
    where = curves[0].where
    areas = [found.result(name, "auc", **where).per_seed for name in ("CoOp", "zero-shot")]
    test = find_comparison(_tests(found, where | {"over": "seeds"}), "CoOp", "zero-shot")
    assert test.difference == pytest.approx(seeds_test(*areas).difference)
    assert test.p is not None and not test.differs, "two seeds show nothing"


def test_means_over_data_sets_and_their_intervals(found, curves):
    results, shift = found, {"scenario": "distribution-shift"}
    each = [run.where for run in curves if run.where["scenario"] == "distribution-shift"]
    for name in NUMBERS:
        value = results.value("GMoP", name, **shift)
        assert value.value == pytest.approx(np.mean([results.value("GMoP", name, **where).value for where in each]))
        assert (value.over("images") is not None) == (name in LINEAR)
    assert results.value("GMoP", "auc", **shift).over("data sets").n == 2
    areas = [results.value("GMoP", "auc", **run.where).value for run in curves]
    assert results.value("GMoP", "auc").value == pytest.approx(np.mean(areas)), "over all scenario runs"


def test_images_of_the_source_count_once_over_data_sets(curves, found):
    # Both variants are shown as part 0, the source's: the same images stand behind both runs.
    assert found.value("GMoP", "auc", scenario="distribution-shift").over("images").n == 12
    answers = [one.answers for one in curves[1:]]
    views = [[one["zero-shot"][seed].groups for one in answers for seed in (1, 2)]]
    correct = [
        [np.stack(level) for level in zip(*(one[name][seed].correct for name in one), strict=True)]
        for one in answers
        for seed in (1, 2)
    ]
    expected = level_errors(views[0], correct)
    assert Average(tuple(curves[1:])).errors[0].covariance == pytest.approx(expected.covariance)


def test_other_images_or_seeds_are_not_compared():
    one, two = (ViewAnswers((np.array(ids),), (np.array(ids),), (np.array([True, False]),)) for ids in ([0, 1], [0, 2]))

    def errors(first, second):
        answers = {"a": first, "b": second}
        return image_errors([ScenarioCurves({}, "any", (0.0, 1.0), {}, Results("dynamic", ()), "a", answers)])

    assert "same images" in errors({1: one}, {1: two})[1]
    assert "same seeds" in errors({1: one}, {2: one})[1]
    assert "keep no predictions" in errors({1: one}, {1: None})[1]
    assert errors({1: one}, {1: one})[0].groups == 2
