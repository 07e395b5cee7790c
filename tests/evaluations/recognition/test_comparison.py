"""Tests between learners: against the metrics' paired test, corrected over all pairs, told in words."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_units import find_comparison

from openworld import metrics
from openworld.evaluations.recognition import results
from openworld.evaluations.recognition.comparison import compare_all
from openworld.results import significant


@pytest.fixture
def scores(small_results):
    """By learner the scores of its seeds."""
    (one,) = small_results.settings
    return {name: [outcome.test for outcome in own] for name, own in one.outcomes.items()}


def test_every_pair_is_tested_once_and_corrected_together(small_results, scores):
    (one,) = small_results.settings
    assert len(one.results.comparisons) == 6
    averages = {name: metrics.average([seed.result for seed in own]) for name, own in scores.items()}
    raw = [metrics.paired_test(averages[test.entity], averages[test.other]).p_value for test in one.results.comparisons]
    assert [test.p for test in one.results.comparisons] == pytest.approx(metrics.holm(raw))


def test_of_many_learners_those_pairs_are_tested_that_are_shown(small_results, scores, monkeypatch):
    """No correction is smaller than that of all pairs: the best was chosen by the numbers that are tested."""
    (all_pairs,) = small_results.settings
    monkeypatch.setattr(results, "ALL_PAIRS", 3)
    few = results.join(small_results.outcomes).settings[0]
    shown = {few.untuned[0], few.best}
    tests = few.results.comparisons
    assert all({test.entity, test.other} & shown for test in tests) and len(tests) == 5
    for test in tests:
        assert test.p >= find_comparison(all_pairs.results.comparisons, test.entity, test.other).p
    asked = results.join(small_results.outcomes, all_pairs=True).settings[0]
    assert asked.results.comparisons == all_pairs.results.comparisons
    monkeypatch.setattr(results, "ALL_PAIRS", len(all_pairs.learners))
    same = results.join(small_results.outcomes).settings[0]
    assert same.results.comparisons == all_pairs.results.comparisons


def test_five_percent_is_one_number_everywhere():
    """1 - 0.95 is 0.050000000000000044, which would call a p of .05 a difference."""
    assert significant(np.nextafter(0.05, 0)) and not significant(0.05) and not significant(None)
    sources = Path(metrics.__file__).parents[1]
    compared = re.compile(r"1 - LEVEL\b(?!\) / 2)|(?<!\()\bp\b *[<>]")  # "(p < .05 ..." stands in sentences
    found = {
        str(path.relative_to(sources))
        for room in (
            "results",
            "report",
            "papers",
            "evaluations",
            "own_data",
            "ood",
            "label_free",
            "reproduction",
            "cli",
        )
        for path in (sources / room).rglob("*.py")
        if compared.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"results/comparison.py"}


def test_a_learner_and_its_copy_do_not_differ_and_get_no_p_from_a_zero_error(scores):
    (test,) = compare_all({"a": scores["zero-shot"], "b": scores["zero-shot"]})
    assert test.difference == 0 and test.p is None and not test.differs


def part_of(scores, keep):
    return [one.only(np.unique(one.ids)[keep]) for one in scores]


def test_learners_on_other_images_are_tested_on_those_that_they_share(scores):
    first, second = part_of(scores["CoOp"], slice(0, 150)), part_of(scores["GMoP"], slice(20, None))
    (found,) = compare_all({"CoOp": first, "GMoP": second})
    shared = [part_of(scores[name], slice(20, 150)) for name in ("CoOp", "GMoP")]
    alone = metrics.paired_test(*(metrics.average([one.result for one in group]) for group in shared))
    assert found.shared == 130 and (found.difference, found.p) == pytest.approx((alone.difference, alone.p_value))
    assert "on 130 shared images" in found.sentence


def test_a_part_of_the_images_keeps_its_weights(scores):
    (whole, *_) = scores["CoOp"]
    heavy = replace(whole, weights=(np.arange(whole.is_base.sum()) + 1.0, None))
    part = heavy.only(np.unique(whole.ids)[::-2][::-1])
    kept = np.isin(np.asarray(whole.images["id"])[whole.is_base], part.ids)
    assert part.weights[0].tolist() == heavy.weights[0][kept].tolist() and part.weights[1] is None
