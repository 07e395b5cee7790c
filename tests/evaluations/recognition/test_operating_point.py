"""The operating point in a run: chosen on validation images alone, measured on test images, refused in time."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.evaluations import RecognitionSpec
from openworld.evaluations.recognition.evaluation import EVALUATION
from openworld.evaluations.recognition.operating_point import (
    OperatingSpec,
    as_baseness,
    choose_operating_point,
    with_operating_points,
)
from openworld.evaluations.recognition.outcome import ImageScores, Outcome, load
from openworld.evaluations.recognition.record import RecognitionRecord, Undefinable
from openworld.evaluations.runtime import Machine
from openworld.metrics import accuracy, choose_threshold
from openworld.runs import RunStore, execute, read_spec

GIVEN = {"train_domain": None, "test_domain": None, "seeds": (1,), "shots": 2, "views": 1}
LEARNERS = (
    {"learner": "zero-shot"},
    {"learner": "CoOp", "settings": {"context_length": 2, "schedule": {"epochs": 1}}},
)


def table(base, new):
    """Per-image columns from (score, correct) of either side; two images a group."""
    rows = [*base, *new]
    score, correct = (np.array(column) for column in zip(*rows, strict=True))
    return {
        "id": np.arange(len(rows)),
        "side": np.repeat(["base", "new"], [len(base), len(new)]),
        "score": score.astype(float),
        "correct": correct.astype(bool),
        "group": np.arange(len(rows)) // 2,
    }


VALIDATION = ImageScores(table([(5, 1), (4, 1), (3, 1), (2, 1), (1, 0)], [(0, 1), (2.5, 1), (3.5, 0), (6, 1)]))
TEST = ImageScores(table([(4, 1), (2, 1), (3, 0), (3, 1)], [(2, 1), (1, 0), (5, 1), (3, 1)]))


def test_by_hand():
    found = choose_operating_point(OperatingSpec(miss_rate=0.4), VALIDATION, TEST, probability=False)
    assert found.threshold == 3.0 and found.baseness is None and found.reason is None
    assert found.rule == {"miss_rate": 0.4}
    reached = found.validation
    assert (reached.miss_rate, reached.hit_rate, reached.cost, reached.most_hit) == (0.4, 0.5, None, 0.75)
    assert reached.least_miss == pytest.approx(0.2) and (reached.n_base, reached.n_new) == (5, 4)
    rates = [getattr(found.test, name).value for name in ("miss", "hit", "false_alarm", "detected")]
    assert rates == [0.5, 0.25, 0.25, 0.5]  # 2 is flagged, a 3 is misnamed
    assert found.test.miss.interval == accuracy([0, 1, 1, 0], groups=[0, 0, 1, 1]).interval
    assert found.test.cost is None


def test_costs_by_hand():
    rule = OperatingSpec(base_missed=1.0, new_unhit=5.0, new_share=0.1)
    found = choose_operating_point(rule, VALIDATION, TEST, probability=False).test
    assert found.cost.cost == pytest.approx(0.9 * found.miss.value + 0.1 * 5 * (1 - found.hit.value))
    assert found.cost.interval[0] < found.cost.cost < found.cost.interval[1]


def test_no_threshold_is_a_reason_not_a_number():
    found = choose_operating_point(OperatingSpec(miss_rate=0.1), VALIDATION, TEST, probability=True)
    assert (found.threshold, found.test, found.baseness) == (None, None, None)
    assert found.reason == "misnamed base images alone are a miss rate of 0.2"


def test_baseness_parts_the_same_images():
    generator = np.random.default_rng(0)
    for scores in -np.exp(generator.normal(-3, 3, (50, 40))):
        threshold = scores[5]
        short = as_baseness(threshold, scores)
        np.testing.assert_array_equal(np.exp(scores) < short, scores < threshold)
    assert as_baseness(np.nextafter(0.0, 1), [-1.0, 0.0]) is None  # to flag baseness 1 no number in [0, 1] will do
    assert as_baseness(-5.0, [-1.0]) == 0.2  # nothing is flagged by anything below exp(-1)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "none came; give a miss rate, a hit rate, or the costs"),
        ({"miss_rate": 0.1, "hit_rate": 0.1}, "miss rate and hit rate came"),
        ({"hit_rate": 0.1, "new_share": 0.1}, "hit rate and costs came"),
        ({"base_missed": 1.0}, "needs that of a base image missed and that of a new one not hit"),
        ({"base_missed": 1.0, "new_unhit": 1.0, "new_share": 2.0}, "new_share is 2.0"),
        ({"miss_rate": 1.0}, "miss_rate is 1.0"),
    ],
)
def test_rules_that_are_none_are_refused(given, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        OperatingSpec(**given)


def test_a_decision_needs_validation_scores():
    place = dict.fromkeys(("train_domain", "test_domain", "tuned_parameters"))
    counts = {"n_base_classes": 1, "n_new_classes": 1, "openworld_auc": Undefinable(0.5)}
    record = RecognitionRecord(task="t", split="as given", backbone="", learner="L", seed=1, **place, **counts)
    one = Outcome(record, TEST)
    with pytest.raises(OpenworldError, match="no scores of validation images, .*keep_validation = true"):
        with_operating_points([one], OperatingSpec(miss_rate=0.4))
    base = replace(VALIDATION, images={name: column[:5] for name, column in VALIDATION.images.items()})
    only_base = replace(one, validation=base)
    with pytest.raises(OpenworldError, match="of new classes, which a hit rate and costs need"):
        with_operating_points([only_base], OperatingSpec(hit_rate=0.4))
    (found,) = with_operating_points([only_base], OperatingSpec(miss_rate=0.4))
    assert found.record.operating_point.threshold == 3.0
    assert found.record.operating_point.validation.hit_rate is None


@pytest.fixture(scope="module")
def run(shapes, tmp_path_factory):
    """Runs learners on the shapes by a spec, and gives the records."""
    cache = tmp_path_factory.mktemp("cache")

    def go(**given):
        spec = read_spec({"dataset": str(shapes), "learners": LEARNERS, **GIVEN, **given}, RecognitionSpec)
        store = RunStore(tmp_path_factory.mktemp("run"))
        store.create(given, spec, {})
        return execute(EVALUATION.units(spec, Machine(cache=str(cache))), store)

    return go


@pytest.fixture(scope="module")
def plain(run):
    return run(keep_validation=False)


@pytest.fixture(scope="module")
def with_rule(run):
    return run(operating={"hit_rate": 0.3})


def test_validation_scores_touch_nothing_else(plain, with_rule):
    for one, other in zip(plain, with_rule, strict=True):
        assert one.tables == ("images",) and other.tables == ("images", "validation")
        assert (one.folder / "images.parquet").read_bytes() == (other.folder / "images.parquet").read_bytes()
        assert one.attachment("learner/parameters.safetensors") == other.attachment("learner/parameters.safetensors")
        assert one.metrics == other.metrics | {"operating_point": None}


def test_the_record_holds_what_the_tables_say(with_rule):
    for record in with_rule:
        told, validation = record.metrics["operating_point"], record.table("validation")
        assert len(validation["id"]) == 16 and set(validation["side"]) == {"base", "new"}
        base = np.asarray(validation["side"]) == "base"
        sides = [validation[name][side] for side in (base, ~base) for name in ("score", "correct")]
        assert told["threshold"] == choose_threshold(*sides, hit_rate=0.3).value
        images = record.table("images")
        flagged, new = np.asarray(images["score"]) < told["threshold"], np.asarray(images["side"]) == "new"
        assert told["test"]["hit"]["value"] == pytest.approx((flagged & images["correct"])[new].mean())
        np.testing.assert_array_equal(np.exp(images["score"]) < told["baseness"], flagged)


def test_deciding_afterwards_is_deciding_in_the_run(run, with_rule):
    afterwards = with_operating_points(load(run()[0].folder.parents[1]), OperatingSpec(hit_rate=0.3))
    in_the_run = load(with_rule[0].folder.parents[1])
    for one, other in zip(afterwards, in_the_run, strict=True):
        assert one.record.operating_point == other.record.operating_point


def test_a_miss_rate_needs_base_classes_alone(run):
    for record in run(operating={"miss_rate": 0.9}, keep_validation=False):
        assert set(record.table("validation")["side"]) == {"base"}
        assert record.metrics["operating_point"]["validation"]["hit_rate"] is None


@pytest.fixture
def without(shapes, tmp_path):
    """The shapes without some of their validation part: a function of what to take away."""

    def copy(keep):
        for part in ("train", "test", *(["validation"] if keep else [])):
            shutil.copytree(shapes / part, tmp_path / "shapes" / part)
        for folder in (tmp_path / "shapes" / "validation").glob("*"):
            if not keep(folder.name):
                shutil.rmtree(folder)
        return tmp_path / "shapes"

    return copy


def planned(folder, **given):
    spec = read_spec({"dataset": str(folder), "learners": LEARNERS, **GIVEN, **given}, RecognitionSpec)
    return EVALUATION.units(spec, Machine())


def test_without_a_validation_part(without):
    folder = without(None)
    with pytest.raises(OpenworldError, match="has none; add a part `validation` to it"):
        planned(folder, operating={"miss_rate": 0.2})
    (first, *_) = planned(folder)  # without a rule it is simply not there
    assert "validation" not in first.inputs


def test_with_a_validation_part_of_base_classes(without):
    folder = without(lambda name: name in ("blue circle", "blue square", "green circle", "green square"))
    with pytest.raises(OpenworldError, match="no image of a new class; add some, or choose by miss_rate"):
        planned(folder, operating={"hit_rate": 0.2})
    assert "validation" in planned(folder, operating={"miss_rate": 0.2})[0].inputs
    assert "validation" in planned(folder)[0].inputs
