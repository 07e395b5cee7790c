"""Who is best is said no further than tests show it: ties are shared, chosen ones corrected, noise is not praised."""

import numpy as np
import pytest

from openworld.report.sentences import below_chance, leads
from openworld.results import (
    METRICS,
    Comparison,
    Interval,
    Result,
    Value,
    against_chance,
    correct_for_many,
    standing,
)

pytestmark = pytest.mark.base

AREA = METRICS["auroc"]


def comparisons(**p):
    """The tests of GMoP against others by their p-values."""
    return [Comparison("GMoP", name, AREA, 0.1, own, "" if own else "no variance") for name, own in p.items()]


@pytest.mark.parametrize(
    "values, tests, words",
    [
        ({"GMoP": 0.8}, [], "AUROC of GMoP is 80.0; nothing is there to compare it with"),
        ({"GMoP": 0.8, "TCP": None}, [], "AUROC of GMoP is 80.0; TCP has none"),
        ({"GMoP": 0.8, "TCP": 0.7}, comparisons(TCP=0.01), "GMoP has the highest AUROC, 80.0, and is better than TCP"),
        ({"GMoP": 0.8, "TCP": 0.7}, comparisons(TCP=0.2), "but it is not shown to differ from TCP (p .20)"),
        ({"GMoP": 0.8, "TCP": 0.7}, comparisons(TCP=None), "but no difference from TCP is tested (no variance)"),
        ({"GMoP": 0.8, "TCP": 0.7}, [], "but no difference from TCP is tested"),
        ({"GMoP": 0.8, "TCP": 0.8}, [], "GMoP and TCP share the highest AUROC, 80.0, the same to the last digit"),
        ({"GMoP": 0.8, "TCP": 0.8 + 1e-15}, [], "share the highest"),
        ({"GMoP": 0.8, "TCP": 0.8, "MSP": 0.5}, comparisons(MSP=0.01), ", and are better than MSP"),
        (
            {"GMoP": 0.8, "TCP": 0.7, "MSP": 0.5},
            comparisons(TCP=0.3, MSP=0.01),
            "it is better than MSP, but no difference is shown from TCP (p .30)",
        ),
        (
            {"GMoP": 0.8, "TCP": 0.7, "MSP": 0.5},
            comparisons(MSP=0.01),
            "it is better than MSP, but no difference is shown from TCP",
        ),
    ],
)
def test_a_best_is_named_with_what_is_shown(values, tests, words):
    by_pair = {(test.entity, test.other): test for test in tests}
    found = standing(values, lambda *pair: by_pair.get(pair))
    assert words in leads(found, "AUROC", "80.0").replace("\u00a0", " ")


def test_where_nobody_has_a_number_nobody_stands():
    assert standing({"GMoP": None}) is None


def test_the_best_of_k_is_corrected_for_all_pairs():
    family = comparisons(a=0.005, b=0.01, c=0.4)  # of four: six pairs, of which three were not made
    assert [test.p for test in correct_for_many(family, among=6)] == pytest.approx([0.03, 0.05, 1.0])
    assert [test.p for test in correct_for_many(family)] == pytest.approx([0.015, 0.02, 0.4])


def test_chance_is_one_family_of_all_that_is_looked_at():
    def row(name, area, half):
        intervals = (Interval(area - half, area + half, "images"),) if half else ()
        return Result(name, AREA, Value(area, intervals))

    alone, *_ = against_chance([row("MSP", 0.56, 0.055)])
    assert alone.better and alone.p == pytest.approx(0.0325, abs=1e-3)
    first, _, turned, *bare = against_chance(
        [
            row("MSP", 0.56, 0.055),
            row("GEN", 0.55, 0.055),
            row("KNN", 0.36, 0.06),
            row("MDS", 0.9, 0.0),
            row("ViM", 0.9, None),
        ]
    )
    assert not first.differs and turned.worse and [test.p for test in bare] == [None, None]
    assert below_chance([first, turned], "base").startswith("KNN (36.0) is below chance (AUROC 50): are the scores")
    assert below_chance([first], "base") == ""


def test_detectors_that_err_alike_count_as_one_against_chance():
    rows = [Result(f"D{place}", AREA, Value(0.56, (Interval(0.505, 0.615, "images"),))) for place in range(10)]
    alike, apart = against_chance(rows, np.ones((10, 10))), against_chance(rows, np.eye(10))
    assert alike[0].better and alike[0].p == pytest.approx(0.0325, abs=0.004)
    assert not apart[0].differs and apart[0].p == pytest.approx(1 - (1 - 0.0325) ** 10, abs=0.01)
    assert against_chance(rows)[0].p == pytest.approx(0.325, abs=0.01)
