"""Averages by level against the records, tests against the yardstick, errors of estimates."""

import numpy as np
import pytest

from openworld.evaluations.recognition_by_shift.numbers import TOLD, Levels, estimate_errors, mean_of
from openworld.evaluations.recognition_by_shift.run import PARTS
from openworld.evaluations.recognition_by_shift.verdict import open_world_shift_verdict
from openworld.metrics import paired_test


@pytest.mark.parametrize(("view", "axis"), TOLD)
def test_averages_are_the_means_of_what_the_records_say(open_world_shifts, view, axis):
    levels = Levels(open_world_shifts)
    for name, records in open_world_shifts.records.items():
        for part in PARTS:
            told = [[None if one is None else one[part] for one in record.metrics[view][axis]] for record in records]
            expected = [None if None in ones else np.mean(ones) for ones in zip(*told, strict=True)]
            assert levels.values(name, view, axis, part) == pytest.approx(expected)


def test_one_seed_has_the_interval_of_its_record(open_world_shifts_of):
    run = open_world_shifts_of(seeds=(1,))
    levels = Levels(run)
    for name, (record,) in run.records.items():
        for one, told in zip(levels.of(name, "near", "semantic"), record.metrics["near"]["semantic"], strict=True):
            assert one.interval() == pytest.approx(told["intervals"]["openworld_auc"])
        assert levels.overall[name].value == record.metrics["overall"]["openworld_auc"]


def test_the_empty_corner_is_nobody(open_world_shifts):
    cells = open_world_shifts.cells("zero-shot")
    assert np.isnan(cells[2, 2]) and np.isfinite(cells).sum() == 8 and open_world_shifts.counts[2, 2] == 0


def test_tests_are_corrected_over_learners_and_levels(open_world_shifts):
    levels = Levels(open_world_shifts)
    found = levels.tests("near", "semantic")
    assert set(found) == {"<b>good</b>", "poor"} and all(len(tests) == 3 for tests in found.values())
    raw = paired_test(levels.of("poor", "near", "semantic")[0], levels.of("zero-shot", "near", "semantic")[0])
    assert found["poor"][0].difference == raw.difference and found["poor"][0].p >= raw.p_value
    assert {test.sign for test in found["<b>good</b>"]} == {1}


def test_without_a_yardstick_nothing_is_tested(open_world_shifts_of):
    run = open_world_shifts_of(learners={"poor": (0.0, 0.0)})
    assert run.yardstick is None and Levels(run).tests("near", "semantic") == {}
    assert not any("Against zero-shot" in sentence for sentence in open_world_shift_verdict(Levels(run)))


def test_errors_of_estimates_by_hand(open_world_shifts):
    off = estimate_errors(open_world_shifts, "AC", "poor")
    records = open_world_shifts.records["poor"]
    cells = [one.metrics["estimation"] for one in records]
    first = np.mean([one["estimates"]["AC"]["cells"][0][1] - one["accuracy"][0][1] for one in cells])
    assert off[0, 0, 1] == pytest.approx(first) and np.isnan(off[0, 2, 2])
    assert mean_of(off, "covariate", 2) == pytest.approx(np.nanmean(off[0, 2]))


def test_the_verdict_says_who_leads_and_which_estimate_errs_least(open_world_shifts):
    told = open_world_shift_verdict(Levels(open_world_shifts))
    assert told[0].startswith("Against all new pictures <b>good</b> has the highest OpenworldAUC of 3 learners")
    assert any("<b>good</b> is better at 0, 1 and 2" in sentence for sentence in told)
    assert any("FRAP errs least" in sentence for sentence in told)
    assert "80 base and" in told[-1] and "2 seeds" in told[-1]
