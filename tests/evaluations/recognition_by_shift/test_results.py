"""Averages by level against the records, tests against the baseline, errors of estimates."""

import numpy as np
import pytest

from openworld.evaluations.recognition_by_shift.record import PARTS, ShiftRecord
from openworld.evaluations.recognition_by_shift.results import BY_LEVEL, FIELDS, NEAR, SAME, read_results
from openworld.results import Results


@pytest.fixture(scope="module")
def rows(shift_run):
    return read_results(shift_run)[0]


def records_of(run, learner):
    return [record for record in run.metrics(ShiftRecord) if record.learner == learner]


@pytest.mark.parametrize(("view", "axis"), BY_LEVEL)
def test_averages_are_the_means_of_what_the_records_say(shift_run, rows, view, axis):
    for name in ("zero-shot", "poor"):
        own = [getattr(getattr(record, FIELDS[view]), axis) for record in records_of(shift_run, name)]
        for level, each in enumerate(zip(*own, strict=True)):
            for part in PARTS:
                value = rows.value(name, part, view=view, axis=axis, level=level)
                if None in each:
                    assert value.value is None and "fewer than 8 images" in value.reason
                else:
                    assert value.value == pytest.approx(np.mean([getattr(one, part) for one in each]))
                    assert [interval.over for interval in value.intervals][:1] == ["images"]


def test_one_seed_has_the_interval_of_its_record(made_up_run):
    run = made_up_run(seeds=(1,), estimators=())
    rows, facts = read_results(run)
    for name in facts.learners:
        (record,) = records_of(run, name)
        for level, own in enumerate(record.near.semantic):
            interval = rows.value(name, "openworld_auc", view=NEAR, axis="semantic", level=level).over("images")
            assert (interval.low, interval.high) == pytest.approx(own.intervals["openworld_auc"])
            assert interval.n == own.n_base + own.n_new
        assert rows.value(name, "auroc", view=NEAR).value == record.overall.auroc
        cell = rows.value(name, "auroc", view=SAME, covariate_level=0, semantic_level=1)
        assert (cell.value, cell.over("images").low) == (
            record.same_looks.cells[0][1].auroc,
            record.same_looks.cells[0][1].intervals["auroc"][0],
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
    rows, facts = read_results(made_up_run(learners={"poor": (0.0, 0.0)}))
    assert facts.baseline == "" and rows.comparisons == ()


def test_errors_of_estimates_by_hand(shift_run, rows):
    cells = [record.estimation for record in records_of(shift_run, "poor")]
    off = np.mean([np.array(one.estimates["AC"].cells, float) - np.array(one.accuracy, float) for one in cells], axis=0)
    assert rows.value("AC", "bias", learner="poor").value == pytest.approx(np.nanmean(off))
    assert rows.value("AC", "absolute_error", learner="poor").value == pytest.approx(np.nanmean(np.abs(off)))
    place = {"covariate_level": 0, "semantic_level": 1}
    assert rows.value("poor", "accuracy", **place).value == pytest.approx(
        np.mean([one.accuracy[0][1] for one in cells])
    )
    by_level = [rows.value("AC", "absolute_error", axis="covariate", level=level).value for level in range(3)]
    assert by_level == pytest.approx([0.1, 0.1, 0.1], abs=0.03)


def test_rows_are_read_back(rows):
    assert Results.from_json(rows.to_json()) == rows
