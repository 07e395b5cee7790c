"""From made-up outcomes and curves to numbers under the papers' names, by hand."""

from pathlib import Path
from statistics import variance

import numpy as np
import paper_runs
import pytest
from paper_runs import outcome_of, run

from openworld import OpenworldError
from openworld.evaluations.recognition.class_imbalance import ALL_RATIOS, VARIANCES
from openworld.papers import AVERAGE, METRICS
from openworld.papers.results import PaperResult, PaperRun, average_of, paper_results
from openworld.results import METRICS as METRIC
from openworld.results import Result, Value


def outcome(learner="CoOp", seed=1, dataset="dtd", base=(1, 1, 0, 1), new=(1, 0), kind=None, **facts):
    """Four base images and two new ones, base scores above all new ones; `base` and `new` say which are right."""
    sides = np.array(["base"] * len(base) + ["new"] * len(new))
    score = np.where(sides == "base", 2.0, 1.0) + 0.01 * np.arange(sides.size)
    facts |= {"kind": kind, "dataset": dataset, "domain": None} if kind else {}
    images = {"side": sides, "correct": np.array([*base, *new], bool), "score": score}
    return outcome_of(images, learner, seed, task=dataset, **facts)


def read(table, *outcomes, datasets=paper_runs.NAMES):
    return paper_results("openworldauc", table, [run("nowhere", *outcomes, datasets=datasets)])


def only(numbers, **named):
    found = [one for one in numbers if all(getattr(one, name) == value for name, value in named.items())]
    assert len(found) == 1, found
    return found[0]


def test_recognition_with_both_intervals():
    (one,) = read("2", outcome(seed=2), outcome(seed=1, base=(1, 1, 1, 1)))
    assert (one.dataset, one.method, one.metric, one.backbone) == ("DTD", "CoOp", "OpenworldAUC", "embedded")
    assert one.number == pytest.approx((0.5 + 0.375) / 2)
    assert one.per_seed == pytest.approx((0.5, 0.375))  # seeds in increasing order
    assert [(interval.over, interval.n) for interval in one.value.intervals] == [("images", 6), ("seeds", 2)]
    assert one.value.intervals[0].low < one.number < one.value.intervals[0].high


def test_hm_is_that_of_the_mean_accuracies():
    numbers = read("8-9", outcome(seed=1), outcome(seed=2, base=(1, 1, 1, 1)))
    base, new = 0.875, 0.5
    found = only(numbers, metric="HM")
    assert found.number == pytest.approx(2 * base * new / (base + new))
    assert found.value.over("images").low < found.number < found.value.over("images").high
    assert only(numbers, metric="AUROC").number == 1


def test_averages_are_over_the_data_sets_of_the_table():
    numbers = read("2", *(outcome(dataset=name, seed=seed) for name in ("dtd", "food101", "mine") for seed in (1, 2)))
    assert [one.dataset for one in numbers] == ["DTD", "Food101", AVERAGE]
    assert numbers[-1].datasets == ("DTD", "Food101") and numbers[-1].number == pytest.approx(0.375)


def test_other_data_keeps_its_names_and_a_domain_other_than_the_trained_one_is_named():
    numbers = read("2", outcome(dataset="mine"), outcome("zero-shot", dataset="mine"))
    assert [(one.dataset, one.method) for one in numbers] == [("mine", "CoOp"), ("mine", "CLIP")]
    assert PaperRun(Path(), {"a, b": "X", "a": "Y"}).dataset("a", "b") == "X"
    made = outcome(dataset="emoji", train_domain="twemoji", test_domain="noto")
    assert read("2", made)[0].dataset == "emoji, twemoji → noto"


def test_generalisation_targets():
    kinds = {"ImageNet": "source", "ImageNetV2": "variant", "DTD": "other"}
    made = [outcome(dataset=name, kind=kind) for name, kind in kinds.items()]
    for table, places in {
        "4": [("ImageNet", "source"), ("ImageNetV2", "target")],
        "13": [("DTD", "base classes = 500 ImageNet classes")],
        "2": [("ImageNet", "")],
    }.items():
        assert [(one.dataset, one.setting) for one in read(table, *made)] == places
    fine = {(one.dataset, one.setting) for one in read("14", *made) if one.dataset != AVERAGE}
    assert fine == {("ImageNet", ""), ("ImageNetV2", "target")}
    recognised = outcome(dataset="ImageNet", base=(1, 1, 1, 1))
    assert [one.number for one in read("2", made[0], recognised)] == [0.5], "a recognition record goes first"


def mixes(value, **facts):
    area, places = METRIC["openworld_auc"], {"forward": value, "backward": value / 2}
    rows = [Result("CoOp", area, Value(one), {"mix": mix}) for mix, one in places.items()]
    return outcome(imbalance_factor=5.0, rows=lambda name: rows, **facts)


def test_imbalance():
    numbers = read("3", mixes(0.4))
    places = [("base:new=5:1 (Fwd)", 0.4), ("base:new=1:5 (Bwd)", 0.2)]
    assert [(one.setting, one.number) for one in numbers] == places
    assert numbers[0].value.intervals[0].over == "images" and numbers[0].value.intervals[0].width > 0
    first, _ = read("3", mixes(0.4, seed=1), mixes(0.5, seed=2))
    assert first.number == pytest.approx(0.45)
    assert [interval.over for interval in first.value.intervals] == ["images", "seeds"]
    average = only(read("3", *(mixes(0.4, dataset=name) for name in ("DTD", "Food101"))), dataset=AVERAGE)
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

    numbers = read("11", *(outcome(name, rows=rows) for name in ("TCP", "CoOp")))
    assert {one.method for one in numbers} == {"TCP"}, "the paper's method alone, where it was run"
    rows = [one for one in numbers if one.metric == "OpenworldAUC"]
    assert [one.setting for one in rows[:3]] == ["new/base=10", "new/base=1", "new/base=0.1"]
    assert only(rows, setting="mean over the ten ratios").number == pytest.approx(0.6)
    assert only(rows, setting="variance over the ten ratios").number == pytest.approx(variance([40, 50, 90]) / 100)


def test_size_and_time_belong_to_no_data_set():
    (size,) = read("7", outcome(), outcome(dataset="food"))
    assert (size.dataset, size.number, size.metric) == ("", 512, "n_params")
    (time,) = read("16", outcome())
    assert time.number == pytest.approx(0.02) and METRICS[time.metric].title == "seconds"


def test_averages_over_tasks():
    numbers = read("15", mixes(0.4), outcome(dataset="ImageNet", kind="source"))
    found = {one.task: (one.dataset, one.number) for one in numbers}
    assert found["open-world recognition (imbalanced test sets)"] == (AVERAGE, pytest.approx(0.3))
    assert found["open-world recognition"] == (AVERAGE, pytest.approx(0.375))
    assert found["domain adaption (column name as printed)"] == (AVERAGE, pytest.approx(0.375))
    assert found["complexity"] == ("", 512)


@pytest.mark.parametrize(
    ("table", "outcomes", "message"),
    [
        ("3", [{}], "none of the 1 given holds imbalance of .*CoOp"),
        ("2", [{}, {"base": (0, 0, 0, 1)}], "differ in OpenworldAUC"),
        ("13", [{}], "Table 13: .* is read from runs of generalisation; none of the 1 given"),
        ("5", [{}], "unknown table of openworldauc '5'"),
    ],
)
def test_what_cannot_be_read_is_refused(table, outcomes, message):
    with pytest.raises(OpenworldError, match=message):
        paper_results("openworldauc", table, [run("nowhere", outcome(**each)) for each in outcomes])


def test_the_same_outcome_in_two_runs_counts_once_and_an_undefined_number_stays_undefined():
    (one,) = paper_results("openworldauc", "2", [run("one", outcome()), run("two", outcome())])
    assert len(one.per_seed) == 1
    numbers = read("8-9", outcome(new=(), harmonic_mean=None, auroc=None))
    assert [(one.number, one.value.intervals) for one in numbers] == [(None, ())] * 3


def test_an_average_of_other_seeds_is_not_by_seed():
    each = {"a": (1.0,), "b": (1.0, 2.0)}
    parts = [PaperResult(name, "", "CoOp", "HM", Value(0.5), per_seed=seeds) for name, seeds in each.items()]
    assert average_of(parts).per_seed == ()


# OpenPL


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    return PaperRun(paper_runs.played(tmp_path_factory.mktemp("played")), paper_runs.NAMES, paper_runs.METHODS)


def test_curves_of_one_data_set(played):
    numbers = paper_results("openpl", "12", [played])
    found = {(one.method, one.metric): one for one in numbers}
    assert {one.dataset for one in numbers} == {"DTD"} and found["CoOp", "AUC"].backbone == "embedded"
    assert ("CLIP", "PosArea") not in found and found["CLIP", "AUC"].number == pytest.approx(0.5)
    for metric, number in {"Acc(0)": 0.8, "AUC": 0.6, "WA": 0.4, "EVM": 0.4, "VS": 0.0}.items():
        assert found["CoOp", metric].number == pytest.approx(number, abs=1e-9)
    # The mean curve falls from .8 to .4 and crosses .5 at t = .75: above .3 x .75 / 2, below .1 x .25 / 2.
    assert found["CoOp", "PosArea"].number == pytest.approx(0.1125)
    assert found["CoOp", "NegArea"].number == pytest.approx(0.0125)
    assert found["CoOp", "Acc(0)"].per_seed == pytest.approx((0.9, 0.7)) and found["CoOp", "Acc(0)"].value.over("seeds")


def test_the_data_set_of_a_shift_is_the_variant_and_a_scenario_that_nobody_played_is_refused(played):
    numbers = paper_results("openpl", "33", [PaperRun(played.folder, {"dtd-r": "ImageNet-R"})])
    assert {one.dataset for one in numbers} == {"ImageNet-R"}
    with pytest.raises(OpenworldError, match="holds co-evolution"):
        paper_results("openpl", "9", [played])


def test_ranks_of_one_data_set_and_over_all(played):
    one = {(number.method, number.metric): number.number for number in paper_results("openpl", "38", [played])}
    assert one["CoOp", "Friedman_rank"] == pytest.approx(4 / 3) and one["CLIP", "Final_rank"] == 2
    both = paper_results("openpl", "6", [played])
    assert {number.dataset for number in both} == {AVERAGE}
    gain = only(both, method="CoOp", metric="delta_AUC")
    assert gain.number == pytest.approx(0.1) and set(gain.datasets) == {"DTD", "Food101"}
    assert only(both, method="CoOp", metric="delta_PN").number == pytest.approx(gain.number)
