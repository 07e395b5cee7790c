"""From made-up outcomes and curves to numbers under the papers' names, by hand."""

from pathlib import Path
from statistics import variance

import numpy as np
import pytest
from made_units import dynamic_unit, recognition_outcome

from openworld import OpenworldError
from openworld.evaluations.recognition.class_imbalance import ALL_RATIOS, VARIANCES
from openworld.evaluations.recognition.outcome import load
from openworld.papers import AVERAGE, METRICS
from openworld.papers.results import PaperResult, PaperRun, average_of
from openworld.reproduction.paper_results import paper_results
from openworld.results import METRICS as METRIC
from openworld.results import Result, Value, student
from openworld.runs import RunStore, Unit

LEVELS = (0.0, 0.5, 1.0)
ACCURACIES = {"zero-shot": [[0.5, 0.5, 0.5]] * 2, "CoOp": [[0.9, 0.6, 0.3], [0.7, 0.6, 0.5]]}


def outcome(learner="CoOp", seed=1, dataset="dtd", base=(1, 1, 0, 1), new=(1, 0), kind=None, rows=lambda _: (), **told):
    """Four base images and two new ones, base scores above all new ones; `base` and `new` say which are right."""
    correct = np.array([*base, *new], bool)
    sides = np.array(["base"] * len(base) + ["new"] * len(new))
    images = {
        "id": np.arange(correct.size),
        "side": sides,
        "label": np.where(sides == "base", 0, 1),
        "correct": correct,
        "score": np.where(sides == "base", 2.0, 1.0) + 0.01 * np.arange(correct.size),
        "group": np.arange(correct.size),
    }
    facts = {"task": dataset, "learner": learner, "seed": seed, "n_base_classes": 2, "n_new_classes": 2}
    facts |= {"kind": kind, "dataset": dataset, "domain": None} if kind else {}
    return recognition_outcome(images, rows(learner), seconds={"score": 0.12, "latency": 0.02}, **facts | told)


def run(*outcomes, **names):
    """A run that nobody wrote."""
    made = PaperRun(Path("nowhere"), names.get("datasets", {"dtd": "DTD"}), names.get("methods", {"zero-shot": "CLIP"}))
    made.__dict__.update(_loaded={load: outcomes}, backbone="embedded")
    return made


def only(numbers, **named):
    found = [one for one in numbers if all(getattr(one, name) == value for name, value in named.items())]
    assert len(found) == 1, found
    return found[0]


def test_recognition_with_both_intervals():
    seeds = [outcome(seed=2), outcome(seed=1, base=(1, 1, 1, 1))]
    (one,) = paper_results("openworldauc", "2", [run(*seeds)])
    assert (one.dataset, one.method, one.metric, one.backbone) == ("DTD", "CoOp", "OpenworldAUC", "embedded")
    assert one.number == pytest.approx((0.5 + 0.375) / 2)
    assert one.per_seed == pytest.approx((0.5, 0.375))  # seeds in increasing order
    assert [(interval.over, interval.n) for interval in one.value.intervals] == [("images", 6), ("seeds", 2)]
    assert one.value.intervals[0].low < one.number < one.value.intervals[0].high


def test_hm_is_that_of_the_mean_accuracies():
    numbers = paper_results("openworldauc", "8-9", [run(outcome(seed=1), outcome(seed=2, base=(1, 1, 1, 1)))])
    base, new = 0.875, 0.5
    found = only(numbers, metric="HM")
    assert found.number == pytest.approx(2 * base * new / (base + new))
    assert found.value.over("images").low < found.number < found.value.over("images").high
    assert only(numbers, metric="AUROC").number == 1


def test_averages_are_over_the_data_sets_of_the_table():
    names = {"datasets": {"dtd": "DTD", "food": "Food101"}}
    outcomes = [outcome(dataset=name, seed=seed) for name in ("dtd", "food", "my own") for seed in (1, 2)]
    numbers = paper_results("openworldauc", "2", [run(*outcomes, **names)])
    assert [one.dataset for one in numbers] == ["DTD", "Food101", AVERAGE]
    assert numbers[-1].datasets == ("DTD", "Food101") and numbers[-1].number == pytest.approx(0.375)


def test_other_data_keeps_its_names():
    numbers = paper_results(
        "openworldauc", "2", [run(outcome(dataset="mine"), outcome(dataset="mine", learner="zero-shot"))]
    )
    assert [(one.dataset, one.method) for one in numbers] == [("mine", "CoOp"), ("mine", "CLIP")]
    assert PaperRun(Path(), {"a, b": "X", "a": "Y"}).dataset("a", "b") == "X"


def test_a_domain_other_than_the_trained_one_is_named():
    made = outcome(dataset="emoji", train_domain="twemoji", test_domain="noto")
    assert paper_results("openworldauc", "2", [run(made)])[0].dataset == "emoji, twemoji → noto"


def test_generalisation_targets():
    kinds = {"ImageNet": "source", "ImageNetV2": "variant", "DTD": "other"}
    made = run(*(outcome(dataset=name, kind=kind) for name, kind in kinds.items()), datasets={})
    four = paper_results("openworldauc", "4", [made])
    assert [(one.dataset, one.setting) for one in four] == [("ImageNet", "source"), ("ImageNetV2", "target")]
    thirteen = paper_results("openworldauc", "13", [made])
    assert [(one.dataset, one.setting) for one in thirteen] == [("DTD", "base classes = 500 ImageNet classes")]
    assert [one.dataset for one in paper_results("openworldauc", "2", [made])] == ["ImageNet"]
    fine = paper_results("openworldauc", "14", [made])
    assert {(one.dataset, one.setting) for one in fine if one.dataset != AVERAGE} == {
        ("ImageNet", ""),
        ("ImageNetV2", "target"),
    }


def test_a_recognition_record_goes_before_the_source_of_a_generalisation_record():
    made = run(outcome(dataset="ImageNet", kind="source"), outcome(dataset="ImageNet", base=(1, 1, 1, 1)), datasets={})
    assert [one.number for one in paper_results("openworldauc", "2", [made])] == [0.5]


def mixes(value):
    area, places = METRIC["openworld_auc"], {"forward": value, "backward": value / 2}
    return {
        "imbalance_factor": 5.0,
        "rows": lambda name: [Result(name, area, Value(one), {"mix": mix}) for mix, one in places.items()],
    }


def test_imbalance():
    numbers = paper_results("openworldauc", "3", [run(outcome(**mixes(0.4)))])
    assert [(one.setting, one.number) for one in numbers] == [
        ("base:new=5:1 (Fwd)", 0.4),
        ("base:new=1:5 (Bwd)", 0.2),
    ]
    assert numbers[0].value.intervals[0].over == "images" and numbers[0].value.intervals[0].width > 0
    several = paper_results("openworldauc", "3", [run(outcome(seed=1, **mixes(0.4)), outcome(seed=2, **mixes(0.5)))])
    assert several[0].number == pytest.approx(0.45) and [one.over for one in several[0].value.intervals] == [
        "images",
        "seeds",
    ]
    both = run(*(outcome(dataset=name, **mixes(0.4)) for name in ("DTD", "Food101")), datasets={})
    average = only(paper_results("openworldauc", "3", [both]), dataset=AVERAGE)
    assert average.number == pytest.approx(0.3) and average.setting == "mean of Fwd and Bwd columns"


def test_the_ratio_sweep_and_its_variance():
    keys = ("base_accuracy", "new_accuracy", "harmonic_mean", "auroc", "overall_accuracy", "openworld_auc")
    shares = {10.0: 0.4, 1.0: 0.5, 0.1: 0.9}

    def rows(learner):
        for key in keys:
            for ratio, share in shares.items():
                yield Result(learner, METRIC[key], Value(share), {"ratio": ratio, "new_share": ratio / (1 + ratio)})
            yield Result(learner, METRIC[key], Value(0.6), {"mix": ALL_RATIOS})
            yield Result(learner, VARIANCES[key], Value(variance(shares.values())), {"mix": ALL_RATIOS})

    made = [outcome(name, rows=rows) for name in ("TCP", "CoOp")]
    numbers = paper_results("openworldauc", "11", [run(*made)])
    assert {one.method for one in numbers} == {"TCP"}, "the paper's method alone, where it was run"
    rows = [one for one in numbers if one.metric == "OpenworldAUC"]
    assert [one.setting for one in rows[:3]] == ["new/base=10", "new/base=1", "new/base=0.1"]
    assert only(rows, setting="mean over the ten ratios").number == pytest.approx(0.6)
    assert only(rows, setting="variance over the ten ratios").number == pytest.approx(variance([40, 50, 90]) / 100)


def test_size_and_time_belong_to_no_data_set():
    (size,) = paper_results("openworldauc", "7", [run(outcome(), outcome(dataset="food"))])
    assert (size.dataset, size.number, size.metric) == ("", 512, "n_params")
    (time,) = paper_results("openworldauc", "16", [run(outcome())])
    assert time.number == pytest.approx(0.02) and METRICS[time.metric].title == "seconds"


def test_averages_over_tasks():
    numbers = paper_results(
        "openworldauc", "15", [run(outcome(**mixes(0.4)), outcome(dataset="ImageNet", kind="source"))]
    )
    found = {one.task: (one.dataset, one.number) for one in numbers}
    assert found["open-world recognition (imbalanced test sets)"] == (AVERAGE, pytest.approx(0.3))
    assert found["open-world recognition"] == (AVERAGE, pytest.approx(0.375))
    assert found["domain adaption (column name as printed)"] == (AVERAGE, pytest.approx(0.375))
    assert found["complexity"] == ("", 512)


def test_what_cannot_be_read_is_refused():
    with pytest.raises(OpenworldError, match="none of the 1 given holds imbalance of .*CoOp"):
        paper_results("openworldauc", "3", [run(outcome())])
    with pytest.raises(OpenworldError, match="differ in OpenworldAUC"):
        paper_results("openworldauc", "2", [run(outcome()), run(outcome(base=(0, 0, 0, 1)))])
    with pytest.raises(OpenworldError, match="Table 13: .* is read from runs of generalisation; none of the 1 given"):
        paper_results("openworldauc", "13", [run(outcome())])
    with pytest.raises(OpenworldError, match="unknown table of openworldauc '5'"):
        paper_results("openworldauc", "5", [run(outcome())])


def test_the_same_outcome_in_two_runs_counts_once():
    (one,) = paper_results("openworldauc", "2", [run(outcome()), run(outcome())])
    assert len(one.per_seed) == 1


def test_an_undefined_number_stays_undefined():
    made = outcome(new=(), harmonic_mean=None, auroc=None)
    numbers = paper_results("openworldauc", "8-9", [run(made)])
    assert [(one.number, one.value.intervals) for one in numbers] == [(None, ())] * 3


def test_student_by_hand():
    assert student([0.4, 0.4], METRICS["HM"]) == () == student([0.4], METRICS["HM"])
    (one,) = student([0.49, 0.51], METRICS["HM"])
    assert (one.high - one.low) / 2 == pytest.approx(0.127062, abs=1e-5)  # t of one degree x 1.414 / sqrt(2)
    assert student([0.0, 0.9], METRICS["HM"])[0].low == 0.0


def test_an_average_of_other_seeds_is_not_by_seed():
    parts = [
        PaperResult(name, "", "CoOp", "HM", Value(0.5), per_seed=seeds)
        for name, seeds in (("a", (1.0,)), ("b", (1.0, 2.0)))
    ]
    assert average_of(parts).per_seed == ()


# OpenPL


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Two data sets, both scenarios of classes and a shift, two learners, two seeds, without predictions."""
    store = RunStore(tmp_path_factory.mktemp("courses"))
    store.create({}, {"protocol": "dynamic", "backbone": "embedded"}, {"command": ["openworld", "run"]})
    units = [
        (Unit("math:sqrt", {"x": [data, name, seed]}, name=f"{data} {name} {seed}"), data, name, seed)
        for data in ("dtd", "food")
        for name in ACCURACIES
        for seed in (1, 2)
    ]
    store.plan([unit for unit, *_ in units])
    for unit, data, name, seed in units:
        kinds = (("emerging-classes", None), ("distribution-shift", f"{data}-r, sketch"))
        courses = [(scenario, target, _views(ACCURACIES[name][seed - 1])) for scenario, target in kinds]
        store.write(unit, dynamic_unit(name, seed, courses, dataset=data))
    return store.folder


def _views(accuracy):
    parts = {"base_accuracy": 0.5, "new_accuracy": None, "auroc": None}
    return {level: {"accuracy": value, **parts} for level, value in zip(LEVELS, accuracy, strict=True)}


def test_curves_of_one_data_set(played):
    names = {"dtd": "DTD", "food": "Food101"}
    numbers = paper_results("openpl", "12", [PaperRun(played, names, {"zero-shot": "CLIP"})])
    found = {(one.method, one.metric): one for one in numbers}
    assert {one.dataset for one in numbers} == {"DTD"} and found["CoOp", "AUC"].backbone == "embedded"
    assert ("CLIP", "PosArea") not in found and found["CLIP", "AUC"].number == pytest.approx(0.5)
    expected = {"Acc(0)": 0.8, "AUC": 0.6, "WA": 0.4, "EVM": 0.4, "VS": 0.0, "PosArea": 0.8 * 0.3 / 2 - 0.0075}
    for metric in ("Acc(0)", "AUC", "WA", "EVM", "VS"):
        assert found["CoOp", metric].number == pytest.approx(expected[metric], abs=1e-9)
    # The mean curve falls from .8 to .4 and crosses .5 at t = .75: above .3 x .75 / 2, below .1 x .25 / 2.
    assert found["CoOp", "PosArea"].number == pytest.approx(0.1125)
    assert found["CoOp", "NegArea"].number == pytest.approx(0.0125)
    assert found["CoOp", "Acc(0)"].per_seed == pytest.approx((0.9, 0.7)) and found["CoOp", "Acc(0)"].value.over("seeds")


def test_the_data_set_of_a_shift_is_the_variant(played):
    numbers = paper_results("openpl", "33", [PaperRun(played, {"dtd-r": "ImageNet-R"})])
    assert {one.dataset for one in numbers} == {"ImageNet-R"}


def test_ranks_of_one_data_set_and_over_all(played):
    names = {"dtd": "DTD", "food": "Food101"}
    runs = [PaperRun(played, names, {"zero-shot": "CLIP"})]
    one = {(number.method, number.metric): number.number for number in paper_results("openpl", "38", runs)}
    assert one["CoOp", "Friedman_rank"] == pytest.approx(4 / 3) and one["CLIP", "Final_rank"] == 2
    both = paper_results("openpl", "6", runs)
    assert {number.dataset for number in both} == {AVERAGE}
    gain = only(both, method="CoOp", metric="delta_AUC")
    assert gain.number == pytest.approx(0.1) and gain.datasets == ("DTD", "Food101")
    assert only(both, method="CoOp", metric="delta_PN").number == pytest.approx(gain.number)


def test_a_scenario_that_nobody_played_is_refused(played):
    with pytest.raises(OpenworldError, match="holds co-evolution"):
        paper_results("openpl", "9", [PaperRun(played)])
