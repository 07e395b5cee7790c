"""The operating point in a run: chosen on validation images alone, measured on test images, refused in time."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from made_units import numbers, recognition_outcome

from openworld import OpenworldError
from openworld.evaluations import RecognitionSpec
from openworld.evaluations.recognition.evaluation import EVALUATION
from openworld.evaluations.recognition.operating_point import (
    OperatingSpec,
    as_baseness,
    operating_rows,
    with_operating_points,
)
from openworld.evaluations.recognition.outcome import ImageScores, load
from openworld.evaluations.rows import read_rows
from openworld.evaluations.runtime import Machine
from openworld.metrics import accuracy, choose_threshold
from openworld.runs import RunStore, execute, read_spec

GIVEN = {"seeds": (1,), "shots": 2, "views": 1}
BASE = ("blue circle", "blue square", "green circle", "green square")
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


def chosen(rule, probability=False, validation=VALIDATION):
    """(what is known of validation images, the rates on test images) by metric."""
    rows = [*operating_rows(rule, validation, TEST, "GMoP", probability=probability)]
    sides = ([row for row in rows if ("part" in row.where) == part] for part in (True, False))
    return tuple({row.metric.key: row.value for row in side} for side in sides)


def test_by_hand():
    reached, rates = chosen(OperatingSpec(miss_rate=0.4))
    assert reached["threshold"].value == 3.0 and "baseness_threshold" not in reached
    assert [reached[name].value for name in ("miss", "hit", "cost", "most_hit")] == [0.4, 0.5, None, 0.75]
    assert reached["least_miss"].value == pytest.approx(0.2)
    values = [rates[name].value for name in ("miss", "hit", "false_alarm", "detected")]
    assert values == [0.5, 0.25, 0.25, 0.5]  # 2 is flagged, a 3 is misnamed
    interval = rates["miss"].over("images")
    assert (interval.low, interval.high) == accuracy([0, 1, 1, 0], groups=[0, 0, 1, 1]).interval
    assert "cost" not in rates


def test_costs_by_hand():
    _, rates = chosen(OperatingSpec(base_missed=1.0, new_unhit=5.0, new_share=0.1))
    cost = rates["cost"]
    assert cost.value == pytest.approx(0.9 * rates["miss"].value + 0.1 * 5 * (1 - rates["hit"].value))
    assert cost.over("images").low < cost.value < cost.over("images").high


def test_no_threshold_is_a_reason_not_a_number():
    reached, rates = chosen(OperatingSpec(miss_rate=0.1), probability=True)
    none = (reached["threshold"], reached["baseness_threshold"], *rates.values())
    assert {(each.value, each.reason) for each in none} == {(None, "misnamed base images alone are a miss rate of 0.2")}


def test_baseness_parts_the_same_images():
    generator = np.random.default_rng(0)
    for scores in -np.exp(generator.normal(-3, 3, (50, 40))):
        threshold = scores[5]
        short = as_baseness(threshold, scores)
        np.testing.assert_array_equal(np.exp(scores) < short, scores < threshold)
    assert as_baseness(np.nextafter(0.0, 1), [-1.0, 0.0]) is None  # to flag baseness 1 no number in [0, 1] will do
    assert as_baseness(-5.0, [-1.0]) == 0.2  # nothing is flagged by anything below exp(-1)


def test_a_decision_needs_validation_scores():
    one = replace(recognition_outcome(TEST.images, tuned_parameters=None), test=TEST)
    with pytest.raises(OpenworldError, match="no scores of validation images, .*keep_validation = true"):
        with_operating_points([one], OperatingSpec(miss_rate=0.4))
    base = replace(VALIDATION, images={name: column[:5] for name, column in VALIDATION.images.items()})
    only_base = replace(one, validation=base)
    with pytest.raises(OpenworldError, match="of new classes, which a hit rate and costs need"):
        with_operating_points([only_base], OperatingSpec(hit_rate=0.4))
    (found,) = with_operating_points([only_base], OperatingSpec(miss_rate=0.4))
    at_threshold = {row.metric.key: row.value.value for row in found.rows if "part" in row.where}
    assert at_threshold["threshold"] == 3.0 and at_threshold["hit"] is None


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
        assert one.metrics == other.metrics | {"operating": None}
        assert [row for row in read_rows(other) if "rule" not in row.where] == [*read_rows(one)]


def test_the_record_holds_what_the_tables_say(with_rule):
    for record in with_rule:
        rule, validation = {"rule": "hit at least 30 % of the new images"}, record.table("validation")
        told = numbers(record, **rule, part="validation")
        assert len(validation["id"]) == 16 and set(validation["side"]) == {"base", "new"}
        base = np.asarray(validation["side"]) == "base"
        sides = [validation[name][side] for side in (base, ~base) for name in ("score", "correct")]
        assert told["threshold"] == choose_threshold(*sides, hit_rate=0.3).value
        images = record.table("images")
        flagged, new = np.asarray(images["score"]) < told["threshold"], np.asarray(images["side"]) == "new"
        assert numbers(record, **rule)["hit"] == pytest.approx((flagged & images["correct"])[new].mean())
        np.testing.assert_array_equal(np.exp(images["score"]) < told["baseness_threshold"], flagged)


def test_deciding_afterwards_is_deciding_in_the_run(with_rule):
    in_the_run = load(with_rule[0].folder.parents[1])
    afterwards = with_operating_points(in_the_run, OperatingSpec(hit_rate=0.3))
    for one, other in zip(afterwards, in_the_run, strict=True):
        assert {row.key: row for row in one.rows} == {row.key: row for row in other.rows}


def test_a_miss_rate_needs_base_classes_alone(run):
    for record in run(operating={"miss_rate": 0.9}, keep_validation=False):
        assert set(record.table("validation")["side"]) == {"base"}
        (reached,) = (row.value for row in read_rows(record).where(metric="hit", part="validation"))
        assert reached.value is None


@pytest.mark.parametrize(
    ("classes", "operating", "words"),
    [
        ((), {"miss_rate": 0.2}, "has none; add a part `validation` to it"),
        (BASE, {"hit_rate": 0.2}, "no image of a new class; add some, or choose by miss_rate"),
        ((), None, ""),  # without a rule it is simply not there
        (BASE, {"miss_rate": 0.2}, ""),
        (BASE, None, ""),
    ],
)
def test_with_validation_images_of_no_class_or_of_base_classes_alone(shapes, tmp_path, classes, operating, words):
    for part in ("train", "test"):
        shutil.copytree(shapes / part, tmp_path / part)
    for name in classes:
        shutil.copytree(shapes / "validation" / name, tmp_path / "validation" / name)
    given = {"dataset": str(tmp_path), "learners": LEARNERS, "operating": operating}
    spec = read_spec(given | GIVEN, RecognitionSpec)
    if words:
        with pytest.raises(OpenworldError, match=words):
            EVALUATION.units(spec, Machine())
    else:
        assert ("validation" in EVALUATION.units(spec, Machine())[0].inputs) == bool(classes)
