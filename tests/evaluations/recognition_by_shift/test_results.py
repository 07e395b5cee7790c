"""Averages by level against the records, tests against the baseline, errors of estimates."""

import numpy as np
import pytest

from openworld.evaluations.recognition_by_shift.results import BY_LEVEL, NEAR, PARTS, baseline_of, read_results
from openworld.evaluations.rows import read_rows


@pytest.fixture(scope="module")
def rows(shift_run):
    return read_results(shift_run)


def rows_of(run, learner):
    return [read_rows(record) for record in run.records if record.metrics["learner"] == learner]


@pytest.mark.parametrize(("view", "axis"), BY_LEVEL)
def test_averages_are_the_means_of_what_the_units_say(shift_run, rows, view, axis):
    for name in ("zero-shot", "poor"):
        for row in rows.where(entity=name, view=view, axis=axis):
            if row.metric.key not in PARTS or "level" not in row.where:
                continue
            each = [unit.value(name, row.metric.key, **row.where).value for unit in rows_of(shift_run, name)]
            if None in each:
                assert row.value.value is None and "fewer than 8 images" in row.value.reason
            else:
                assert row.value.value == pytest.approx(np.mean(each))
                assert [interval.over for interval in row.value.intervals][:1] == ["images"]


def test_one_seed_has_the_intervals_of_its_unit(made_up_run):
    run = made_up_run(seeds=(1,), estimators=())
    results = read_results(run)
    for record in run.records:
        of_parts = [row for row in read_rows(record) if row.metric.key in PARTS]
        assert len(of_parts) > 4 * 2 * 9
        for row in of_parts:
            found = results.value(row.entity, row.metric.key, **row.where)
            assert found.value == row.value.value and len(found.intervals) == len(row.value.intervals)
            for ours, theirs in zip(found.intervals, row.value.intervals, strict=True):
                assert (ours.low, ours.high, ours.n) == (
                    pytest.approx(theirs.low),
                    pytest.approx(theirs.high),
                    theirs.n,
                )


def test_the_empty_corner_has_no_number(rows):
    place = {"covariate_level": 2, "semantic_level": 2}
    assert rows.value("zero-shot", "openworld_auc", view=NEAR, **place).value is None
    assert rows.value("new images", "images", **place).value == 0
    assert rows.value("AC", "estimated_accuracy", learner="poor", **place).value is None
    known = rows.where(metric="openworld_auc", entity="poor", view=NEAR, semantic_level=1)
    assert len(known) == 3 and all(len(row.per_seed) == 2 for row in known)


def test_tests_are_corrected_over_learners_and_levels(rows):
    tests = [one for one in rows.comparisons if (one.where["view"], one.where.get("axis")) == (NEAR, "semantic")]
    assert len(tests) == 2 * 3 and {one.other for one in tests} == {"zero-shot"}
    assert all(one.better for one in tests if one.entity == "<b>good</b>")
    first = next(one for one in tests if one.entity == "poor")
    values = [rows.value(name, "openworld_auc", **first.where).value for name in ("poor", "zero-shot")]
    assert first.difference == pytest.approx(values[0] - values[1]) and first.interval.over == "images"


def test_without_a_baseline_nothing_is_tested(made_up_run):
    run = made_up_run(learners={"poor": (0.0, 0.0)})
    assert baseline_of(run) == "" and read_results(run).comparisons == ()


def test_errors_of_estimates_by_hand(shift_run, rows):
    cells = [(row, rows.value("poor", "accuracy", **_cell(row))) for row in rows.where(entity="AC", learner="poor")
             if row.metric.key == "estimated_accuracy" and "semantic_level" in row.where]  # fmt: skip
    assert len(cells) == 9
    off = [row.value.value - true.value for row, true in cells if true.value is not None]
    assert rows.value("AC", "bias", learner="poor").value == pytest.approx(np.mean(off))
    assert rows.value("AC", "absolute_error", learner="poor").value == pytest.approx(np.mean(np.abs(off)))
    by_level = [rows.value("AC", "absolute_error", axis="covariate", level=level).value for level in range(3)]
    assert by_level == pytest.approx([0.1, 0.1, 0.1], abs=0.03)


def _cell(row):
    return {key: value for key, value in row.where.items() if key != "learner"}
