"""FRAP's printed numbers: recomputed where they can be, and every known contradiction shown to be one."""

from collections import Counter
from statistics import correlation, fmean, median

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from openworld.estimators import COT, Outputs
from openworld.papers import AVERAGE, SHIFTS, published_numbers

HALF = 0.005 + 1e-9  # of the last printed decimal
AVERAGED = ("1", "3", "6", "7")


def column(table, method):
    """{row: printed number} of a method, its average left out."""
    return {one.dataset: one.value for one in of_method(table, method) if one.dataset != AVERAGE}


def of_method(table, method):
    found = [one for one in published_numbers("frap", table) if one.method == method]
    assert found
    return found


def average(table, method):
    (found,) = [one.value for one in of_method(table, method) if one.dataset == AVERAGE]
    return found


def methods(table):
    return list(dict.fromkeys(one.method for one in published_numbers("frap", table)))


def better(table, one, other):
    """The rows in which a method has the smaller error."""
    left, right = column(table, one), column(table, other)
    return [row for row in SHIFTS if left[row] < right[row]]


# What recomputes


@pytest.mark.parametrize("table", AVERAGED)
def test_averages_are_the_means_of_their_rows(table):
    for method in methods(table):
        if method != "IM":
            assert average(table, method) == pytest.approx(fmean(column(table, method).values()), abs=HALF), method


def test_tables_repeat_one_another():
    for table in ("3", "6", "7"):
        assert column(table, "FRAP (CLIP)") == column("1", "FRAP (CLIP)")
    assert column("7", "FRAP (SigLIP)") == column("1", "FRAP (SigLIP)")
    assert all(average("4", method) == average("7", method) for method in methods("4"))


def test_the_fixed_temperature_of_clip_is_a_hundredth():
    assert column("7", "FRAP (CLIP) fixed tau") == column("3", "FRAP (CLIP) tau 0.01")


def test_a_flat_reference_is_as_good_as_a_random_one():
    """A fused score with a large temperature is nearly ATC; raw similarities give other numbers, so RAP is unfused."""
    tables = column("3", "FRAP (CLIP) tau 0.05"), column("3", "RAP (CLIP)"), column("7", "FRAP (Random)")
    flat, raw, random = ([told[row] for row in SHIFTS] for told in tables)
    assert fmean(abs(one - other) for one, other in zip(flat, random, strict=True)) == pytest.approx(0.20, abs=0.005)
    assert correlation(flat, random) > 0.99 and abs(correlation(raw, random)) < 0.25


def test_most_rows_are_worse_without_a_threshold():
    assert better("6", "FRAP (CLIP) no threshold", "FRAP (CLIP)") == ["C100-S", "L17-N", "NL26-N"]


def test_calibration_helps_in_nineteen_of_twenty_cells():
    worse = [
        (name, row)
        for name in ("CLIP", "SigLIP")
        for row, raw in column("2", f"{name} raw").items()
        if raw < column("2", f"{name} TTC")[row]
    ]
    assert worse == [("CLIP", "MNIST")]


# Every known contradiction is one


def im_average():
    assert average("1", "IM") == 13.76
    assert round(fmean(column("1", "IM").values()), 2) == 14.04


def deviations():
    rows = [one for one in published_numbers("frap", "1") if one.std is not None]
    ratios = [100 * one.std / one.value for one in rows]
    assert len(ratios) == 198 and round(median(ratios), 2) == 0.75
    assert round(np.sqrt(np.pi / 2 - 1), 2) == 0.76, "standard deviation over mean of absolute normal errors"
    (told,) = [one for one in rows if (one.dataset, one.method) == ("MNIST", "FRAP (CLIP)")]
    assert (told.value, told.std) == (12.42, 0.10)


def best_rows():
    best = Counter(min(methods("1"), key=lambda method: column("1", method)[row]) for row in SHIFTS)
    assert best == {"FRAP (CLIP)": 6, "COTT": 6, "COT": 3, "DoC": 1, "ATC-NE": 1, "FRAP (SigLIP)": 1}


def best_average():
    averages = {one.value: one.method for one in published_numbers("frap") if one.dataset == AVERAGE}
    assert min(averages) == 5.65 and averages[5.65] == "FRAP (SigLIP) fixed tau"
    assert average("4", "FRAP (SigLIP)") == 7.32
    assert (average("4", "FRAP (CLIP) fixed tau"), average("4", "FRAP (CLIP)")) == (6.61, 6.53)


def above_base():
    assert len(better("7", "Base (CLIP)", "FRAP (CLIP)")) == 7
    assert len(better("7", "Base (SigLIP)", "FRAP (SigLIP)")) == 9
    assert len(better("7", "FRAP (Random)", "FRAP (CLIP)")) == 10


def no_shift():
    """The runs say it: the target of C100-N is the test set that the source keeps, and C10-N's is CIFAR-10.2."""
    assert {"C100-N", "C10-N"} <= set(SHIFTS)


def cost_of_transport():
    logits, labels = np.random.default_rng(0).normal(0, 2, (60, 5)), np.repeat(np.arange(5), 12)
    outputs = Outputs(logits, labels=labels)
    found = COT(calibrate=False).fit(outputs).estimate(outputs)
    confidence = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    images, places = linear_sum_assignment(1 - confidence[:, labels])  # as many columns as images
    assert found.error == pytest.approx(1 - confidence[images, labels[places]].mean(), abs=1e-9)


SHOWN = {
    "IM's average": im_average,
    "deviations as fractions": deviations,
    "best on six rows": best_rows,
    "the best average": best_average,
    "consistently above Base": above_base,
    "no shift in C100-N": no_shift,
    "cost of COT": cost_of_transport,
}


def test_every_known_contradiction_is_one(demonstrate):
    demonstrate("frap", SHOWN)
