"""Tests between learners: against the metrics' paired test, corrected over all pairs, told in words."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from openworld import metrics
from openworld.evaluations.recognition.comparison import compare_all
from openworld.report.comparison import Comparison
from openworld.results import significant


def test_every_pair_is_tested_once_and_corrected_together(small_summary):
    table = small_summary.tables[0]
    assert len(table.comparisons) == table.tested == 6
    averages = {row.learner: metrics.average([one.result for one in row.outcomes]) for row in table.rows}
    raw = [metrics.paired_test(averages[one], averages[other]).p_value for one, other in table.comparisons]
    assert [test.p for test in table.comparisons.values()] == pytest.approx(metrics.holm(raw))


def test_five_percent_is_one_number_everywhere():
    """1 - 0.95 is 0.050000000000000044, which would call a p of .05 a difference."""
    assert significant(np.nextafter(0.05, 0)) and not significant(0.05) and not significant(None)
    sources = Path(metrics.__file__).parents[1]
    compared = re.compile(r"1 - LEVEL|(?<!\()\bp\b *[<>]")  # "(p < .05 ..." stands in sentences
    found = {
        path.name
        for room in ("report", "cli")
        for path in (sources / room).rglob("*.py")
        if compared.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"comparison.py"}


def test_a_test_reads_the_same_from_both_sides(small_summary):
    table = small_summary.tables[0]
    forth, back = table.compare("zero-shot", "GMoP"), table.compare("GMoP", "zero-shot")
    assert forth.difference == -back.difference and forth.p == back.p and forth.worse == back.better
    assert table.compare("GMoP", "GMoP") is None


@pytest.mark.parametrize(
    ("difference", "p", "words"),
    [
        (0.1, 0.031, "better than CoOp (p .03)"),
        (-0.1, 0.0004, "worse than CoOp (p < .001)"),
        (0.1, 0.0042, "better than CoOp (p .004)"),
        (0.1, 0.05, "does not differ from CoOp (p .05)"),
        (0.0, 1.0, "does not differ from CoOp (p 1.00)"),
        (0.0, None, "cannot be tested against CoOp: they agree"),
    ],
)
def test_the_words_follow_from_the_test(difference, p, words):
    test = Comparison("GMoP", "CoOp", difference, p, "they agree" if p is None else None)
    assert test.words.replace("\u00a0", " ") == words


def test_learners_on_other_images_are_not_tested(small_summary):
    first, second = (row.outcomes for row in small_summary.tables[0].rows[:2])
    shifted = [replace(one, images=dict(one.images) | {"id": one.images["id"] + 1000}) for one in second]
    (test,) = compare_all({"a": first, "b": shifted}).values()
    assert test.p is None and "same images" in test.reason


def test_a_learner_and_its_copy_do_not_differ_and_get_no_p_from_a_zero_error(small_summary):
    outcomes = small_summary.tables[0].rows[0].outcomes
    (test,) = compare_all({"a": outcomes, "b": outcomes}).values()
    assert test.difference == 0 and test.p is None and not test.differs


def part_of(outcomes, keep):
    return [one.only(np.unique(one.ids)[keep]) for one in outcomes]


def test_learners_on_other_images_are_tested_on_those_that_they_share(small_summary):
    rows = {row.learner: row.outcomes for row in small_summary.tables[0].rows}
    first, second = part_of(rows["CoOp"], slice(0, 150)), part_of(rows["GMoP"], slice(20, None))
    ((_, found),) = compare_all({"CoOp": first, "GMoP": second}).items()
    shared = [part_of(rows[name], slice(20, 150)) for name in ("CoOp", "GMoP")]
    alone = metrics.paired_test(*(metrics.average([one.result for one in group]) for group in shared))
    assert found.shared == 130 and (found.difference, found.p) == pytest.approx((alone.difference, alone.p_value))
    assert "on 130 shared images" in found.words


def test_learners_that_share_no_image_are_not_tested(small_summary):
    rows = {row.learner: row.outcomes for row in small_summary.tables[0].rows}
    first, second = part_of(rows["CoOp"], slice(0, 50)), part_of(rows["GMoP"], slice(50, None))
    (found,) = compare_all({"CoOp": first, "GMoP": second}).values()
    assert found.p is None and "share none" in found.reason


def test_a_part_of_an_outcome_keeps_its_weights(small_summary):
    (whole, *_) = small_summary.tables[0].rows[1].outcomes
    heavy = replace(whole, weights=(np.arange(whole.is_base.sum()) + 1.0, None))
    part = heavy.only(np.unique(whole.ids)[::-2][::-1])
    kept = np.isin(np.asarray(whole.images["id"])[whole.is_base], part.ids)
    assert part.weights[0].tolist() == heavy.weights[0][kept].tolist() and part.weights[1] is None
