"""What a run of dynamic scenarios shows: curves and ranks by hand, intervals and tests from stored predictions."""

import numpy as np
import pytest
from made_units import dynamic_unit, find_comparison

from openworld import OpenworldError
from openworld.evaluations.dynamic.curves import NUMBERS, ScenarioCurves, image_errors, scenario_curves
from openworld.evaluations.dynamic.report import LINEAR, Average, read_results, report
from openworld.metrics import area_test, friedman_ranks, seeds_test
from openworld.report.layout.layout import REST
from openworld.results import Results, RunFolder
from openworld.runs import RunStore, Unit
from openworld.testing import check_report

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
def curves(run):
    return scenario_curves(run)


@pytest.fixture(scope="module")
def found(run):
    """The results of a run with predictions."""
    return read_results(run)


def test_seeds_are_averaged_first_and_compared_with_zero_shot(made):
    def of(metric, learner="CoOp"):
        return made.result(learner, metric, **FIRST)

    assert of("positive_area", "zero-shot").value.value is None
    assert "no zero-shot curve" in of("delta_auc", "zero-shot").value.reason
    assert of("auc").value.value == pytest.approx(0.6) and of("auc").seeds == (1, 2)
    assert of("auc").value.over("seeds") is None, "both seeds have .6: no interval is made up"
    first = of("initial_accuracy").value
    assert first.value == pytest.approx(0.8) and (first.over("seeds").low, first.over("seeds").high) == (0.0, 1.0)
    assert of("positive_area").value.value == pytest.approx(0.05) == of("negative_area").value.value
    assert of("variation").value.value == pytest.approx(0.4) and of("variation").per_seed == pytest.approx((0.6, 0.2))
    assert first.over("images") is None
    assert {test.reason for test in made.comparisons if test.where == FIRST} == {"the records keep no predictions"}


def test_ranks_by_hand(made):
    # By level, zero-shot: 3, 2.5, 2; CoOp: 1, 2.5, 3; the other: 2, 1, 1.
    ranks = [made.value(learner, "friedman_rank", **FIRST).value for learner in CURVES]
    assert ranks == pytest.approx([(3 + 2.5 + 2) / 3, (1 + 2.5 + 3) / 3, (2 + 1 + 1) / 3])
    assert [made.value(name, "final_rank", scenario="co-evolution").value for name in CURVES] == [3, 2, 1]
    assert "needs at least 5" in made.value("", "friedman_p", scenario="co-evolution").reason


def test_with_data_sets_enough_ranks_are_tested_and_drawn(tmp_path):
    told = report(write(tmp_path, datasets=[f"set {number}" for number in range(5)]))
    assert told.results.value("", "friedman_p", scenario="co-evolution").value < 0.05
    assert told.results.value("", "critical_difference", scenario="co-evolution").value > 0
    pairs = [test for test in told.results.comparisons if test.metric.key == "area_rank"]
    assert len(pairs) == 2 * 3 and all(0 <= test.p <= 1 for test in pairs)
    assert "critical-difference" in told.figures


def test_every_number_has_a_place_of_its_own(run):
    told = report(run)
    check_report(told)
    assert all(section.heading != REST for section in told.page.sections)
    assert "critical-difference" not in told.figures


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


def test_every_number_of_a_scenario_run_has_an_interval_over_images_that_holds_it(found, curves):
    for run in curves:
        errors, reason = Average((run,)).errors
        assert errors.accuracy == pytest.approx(run.accuracy) and not reason, "of the predictions, as of the rows"
        for learner in run.learners:
            for name in NUMBERS:
                value = found.value(learner, name, **run.where)
                interval = value.over("images")
                assert value.value is not None or interval is None, name
                assert interval is None or interval.low <= value.value <= interval.high, name
            assert found.value(learner, "auc", **run.where).over("images")


def test_the_tests_are_those_of_the_areas_on_images_and_seed_by_seed(curves, found):
    one = curves[0]
    ((test,), (errors, _)) = _tests(found, one.where), Average((one,)).errors
    rows = (one.learners.index(name) for name in (test.entity, test.other))
    assert test.p == pytest.approx(area_test(errors, one.levels, *rows).p_value)
    areas = [found.result(name, "auc", **one.where).per_seed for name in ("CoOp", "zero-shot")]
    test = find_comparison(_tests(found, one.where | {"over": "seeds"}), "CoOp", "zero-shot")
    assert test.difference == pytest.approx(seeds_test(*areas).difference)
    assert test.p is not None and not test.differs, "two seeds show nothing"


def test_means_over_data_sets_and_their_intervals(found, curves):
    shift = {"scenario": "distribution-shift"}
    each = [run.where for run in curves if run.where["scenario"] == "distribution-shift"]
    for name in NUMBERS:
        value = found.value("CoOp", name, **shift)
        assert value.value == pytest.approx(np.mean([found.value("CoOp", name, **where).value for where in each]))
        assert name in LINEAR or value.over("images") is None
    area = found.value("CoOp", "auc", **shift)
    assert area.over("data sets") is None or area.over("data sets").n == 2
    images = [found.value("CoOp", "auc", **where).over("images").n for where in each]
    assert max(images) < area.over("images").n < sum(images), "images of the source count once"
    areas = [found.value("CoOp", "auc", **run.where).value for run in curves]
    assert found.value("CoOp", "auc").value == pytest.approx(np.mean(areas)), "over all scenario runs"


def test_other_images_or_seeds_are_not_compared():
    one, two = ([(np.array(ids), np.array(ids), np.array([True, False]))] for ids in ([0, 1], [0, 2]))

    def errors(first, second):
        answers = {"a": first, "b": second}
        return image_errors([ScenarioCurves({}, "any", (0.0, 1.0), {}, Results("dynamic", ()), "a", answers)])

    assert "same images" in errors({1: one}, {1: two})[1]
    assert "same seeds" in errors({1: one}, {2: one})[1]
    assert "keep no predictions" in errors({1: one}, {1: ()})[1]
    assert errors({1: one}, {1: one})[0].groups == 2
