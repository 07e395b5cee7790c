"""Open-world quality by shift: a run on coloured shapes against the arrays it saved, its results, and what it shows."""

from dataclasses import replace

import numpy as np
import pytest

from openworld.evaluations import evaluation_of, read_protocol
from openworld.evaluations.recognition_by_shift.evaluation import EVALUATION
from openworld.evaluations.recognition_by_shift.report import compare, report
from openworld.evaluations.recognition_by_shift.results import (
    ALARM,
    BASE,
    BY_LEVEL,
    NEAR,
    NEW,
    PARTS,
    POOL,
    SAME,
    baseline_of,
    cell,
    read_results,
)
from openworld.evaluations.recognition_metrics import rows_of
from openworld.evaluations.rows import read_rows
from openworld.evaluations.running import RunOptions
from openworld.evaluations.runtime import Machine
from openworld.metrics import openworld_auc
from openworld.report.layout.layout import REST
from openworld.results import RunFolder
from openworld.runs import RunStore, execute
from openworld.testing import check_report

DECOMPOSITION = {"settings": {"steps": 10}, "templates": ["a {}.", "a dark {}.", "a small {}.", "half a {}."]}
COOP = {"learner": "CoOp", "settings": {"context_length": 2, "schedule": {"epochs": 1}}}


def given(root, **changed):
    return {
        "protocol": "recognition-by-shift",
        "sources": [{"dataset": str(root)}],
        "pool": [{"dataset": str(root)}, {"dataset": str(root), "corruption": "contrast", "severity": 5}],
        "learners": [{"learner": "zero-shot"}, COOP],
        "estimators": [{"estimator": name} for name in ("AC", "FRAP")],
        "decomposition": DECOMPOSITION,
        "quantiles": {"covariate": [0.1, 0.9]},
        "shots": 4,
        "views": 1,
        "k": 2,
        "levels": 3,
        "least": 3,
        "seeds": [1, 2],
    } | changed


def run(spec, folder, cache):
    machine = Machine(cache=str(cache))
    made = [stage.work(RunOptions(folder, workers=1), None) for stage in evaluation_of(spec).artifacts(spec, machine)]
    RunStore(folder).create({}, spec, {"command": ["openworld", "run"]})
    return made, execute(EVALUATION.units(spec, machine), RunStore(folder))


@pytest.fixture(scope="module")
def ran(shapes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("open-world-shift")
    spec = read_protocol(given(shapes))
    return spec, folder, *run(spec, folder, folder / "cache")


@pytest.fixture(scope="module")
def finished(ran):
    return RunFolder.read(ran[1])


@pytest.fixture(scope="module")
def rows(finished):
    return read_results(finished)


def columns(record, name):
    return {key: np.array(values) for key, values in record.table(name).items()}


def test_stages_do_what_is_missing_and_no_more(ran):
    spec, folder, made, _ = ran
    # Shots, 20 base, 8 validation and 80 pool images; shots once more, without views; 8 names in 4 sentences.
    assert made == [16 + 20 + 8 + 80, 16, 8 * 4, 20 + 80]
    again, _ = run(spec, folder, folder / "cache")
    assert again == [0, 0, 0, 0]


def held(base, pool, own, new):
    """OpenworldAUC of rows of two tables, in the plainest way: every pair."""
    pairs = [
        (1.0 if s > t else 0.5 if s == t else 0.0) * c * d
        for s, c in zip(base["score"][own], base["correct"][own], strict=True)
        for t, d in zip(pool["score"][new], pool["correct"][new], strict=True)
    ]
    return np.mean(pairs)


def rows_by(record):
    """A function of (metric, place) that gives a number of the unit's learner, or of what the place is of."""
    rows = read_rows(record)
    return lambda metric, entity=record.metrics["learner"], **where: rows.value(entity, metric, **where)


def same(found, expected):
    assert (found is None) == (expected is None)
    assert found is None or found == pytest.approx(expected)


def against(pool, members, base):
    """What the run should tell of some new images: None for too few of either side."""
    own = {name: base[name] for name in ("score", "correct")}
    enough = min(members.sum(), len(own["score"])) >= 3
    return held(own, pool, np.ones(len(own["score"]), bool), members) if enough else None


def test_every_cell_and_level_is_every_pair_of_its_images(ran):
    for record in ran[3]:
        value, base, pool = rows_by(record), columns(record, "base"), columns(record, "pool")
        assert base["id"].size == 20 and pool["id"].size == 80
        new = pool["side"] == "new"
        for half in ("semantic", "covariate"):
            for level in range(3):
                members = new & (pool[f"{half}_level"] == level)
                found = value("openworld_auc", view=NEAR, axis=half, level=level)
                same(found.value, against(pool, members, base))
                assert value("images", NEW, axis=half, level=level).value == members.sum()
        for row, column in np.ndindex(3, 3):
            looks, place = pool["covariate_level"] == row, cell(row, column)
            members, shown = new & looks & (pool["semantic_level"] == column), rows_of(pool, ~new & looks)
            assert value("images", NEW, **place).value == members.sum()
            assert value("images", BASE, axis="covariate", level=row).value == shown["id"].size
            same(value("openworld_auc", view=NEAR, **place).value, against(pool, members, base))
            same(value("openworld_auc", view=SAME, **place).value, against(pool, members, shown))
            level = value("openworld_auc", view=SAME, axis="covariate", level=row)
            same(level.value, against(pool, new & looks, shown))


@pytest.fixture(scope="module")
def one_cell(ran, shapes):
    """A run whose levels begin so far off that the first has all images."""
    cuts = {"semantic": [1.9, 1.95], "covariate": [1.9, 1.95]}
    spec = read_protocol(given(shapes, cuts=cuts, seeds=[1], learners=[{"learner": "zero-shot"}]))
    run(spec, ran[1] / "one", ran[1] / "cache")
    return RunFolder.read(ran[1] / "one")


def test_one_cell_of_everything_is_open_world_recognition(one_cell):
    (record,) = one_cell.records
    base, pool = columns(record, "base"), columns(record, "pool")
    new = pool["side"] == "new"
    apart = pool["group"][new] + base["group"].max() + 1
    whole = openworld_auc(
        base["score"], base["correct"], pool["score"][new], pool["correct"][new],
        base_groups=base["group"], new_groups=apart,
    )  # fmt: skip
    value, first = rows_by(record), {"view": NEAR}
    for where in (
        first,
        first | cell(0, 0),
        *(first | {"axis": half, "level": 0} for half in ("semantic", "covariate")),
    ):
        assert [value(part, **where).value for part in PARTS] == [whole.estimate(part).value for part in PARTS]
        over = value("openworld_auc", **where).over("images")
        assert (() if over is None else (over.low, over.high)) == tuple(whole.interval() or ())
    counts = [value("images", NEW, **cell(*place)).value for place in np.ndindex(3, 3)]
    assert counts == [40] + [0] * 8
    assert value("openworld_auc", **first, axis="semantic", level=1).value is None
    assert value("openworld_auc", **first, **cell(1, 0)).value is None
    slope = value("slope", **first, axis="semantic", part="OpenworldAUC")
    assert slope.value is None and slope.reason


def test_estimates_stand_beside_what_is_true(ran):
    for record in ran[3]:
        value, pool = rows_by(record), columns(record, "pool")
        right = pool["joint_prediction"] == pool["label"]
        assert record.metrics["estimation"]["validation_images"] == 8
        assert sum(value("images", POOL, **cell(*place)).value for place in np.ndindex(3, 3)) == 80
        for row, column in np.ndindex(3, 3):
            there = (pool["covariate_level"] == row) & (pool["semantic_level"] == column)
            truth = value("accuracy", **cell(row, column)).value
            same(truth, right[there].mean() if there.sum() >= 3 else None)
            for label in ("AC", "FRAP"):
                said = value("estimated_accuracy", label, **cell(row, column)).value
                assert (said is None) == (truth is None) and (said is None or 0 <= said <= 1)


def test_without_estimators_no_validation_image_is_read_and_one_seed_keeps_its_intervals(ran, shapes):
    spec = read_protocol(given(shapes, estimators=[], references=[], validation_part="nowhere", seeds=[1]))
    _, records = run(spec, ran[1] / "without", ran[1] / "cache")
    told = report(RunFolder.read(ran[1] / "without"))
    check_report(told)
    assert "estimation" not in records[0].metrics and "without labels" not in told.html()
    for without, record in zip(records, ran[3][::2], strict=True):
        kept = [row for row in read_rows(record) if row.metric.key in PARTS]
        assert [row for row in read_rows(without) if row.metric.key in PARTS] == kept
        for row in kept:
            found = told.results.value(row.entity, row.metric.key, **row.where)
            assert found.value == row.value.value and [each.n for each in found.intervals] == [
                each.n for each in row.value.intervals
            ]
            for ours, theirs in zip(found.intervals, row.value.intervals, strict=True):
                assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.parametrize(("view", "axis"), BY_LEVEL)
def test_averages_are_the_means_of_what_the_units_say(finished, rows, view, axis):
    for name in ("zero-shot", "CoOp"):
        units = [read_rows(record) for record in finished.records if record.metrics["learner"] == name]
        levels = [row for row in rows.where(entity=name, view=view, axis=axis) if row.metric.key in PARTS]
        assert len(levels) == len(PARTS) * 3
        for row in levels:
            each = [unit.value(name, row.metric.key, **row.where).value for unit in units]
            assert row.value.value == (None if None in each else pytest.approx(np.mean(each)))
            assert row.value.value is not None or "fewer than 3 images" in row.value.reason
            assert None in each or [interval.over for interval in row.value.intervals][:1] == ["images"]


def test_tests_are_against_the_baseline_at_every_level(finished, rows):
    tests = [one for one in rows.comparisons if (one.where["view"], one.where.get("axis")) == (NEAR, "covariate")]
    levels = rows.where(entity="CoOp", metric="openworld_auc", view=NEAR, axis="covariate")
    assert len(tests) == sum(row.value.value is not None for row in levels) >= 1
    assert {(one.entity, one.other) for one in tests} == {("CoOp", "zero-shot")}
    values = [rows.value(name, "openworld_auc", **tests[0].where).value for name in ("CoOp", "zero-shot")]
    assert tests[0].difference == pytest.approx(values[0] - values[1])
    alone = replace(finished, records=tuple(each for each in finished.records if each.metrics["learner"] == "CoOp"))
    assert baseline_of(finished) == "zero-shot" and baseline_of(alone) == ""
    assert read_results(alone).comparisons == ()


def test_errors_of_estimates_by_hand(rows):
    cells = [
        (row.where["covariate_level"], row.value.value - true.value)
        for row in rows.where(entity="AC", learner="CoOp", metric="estimated_accuracy")
        if "semantic_level" in row.where
        and (true := rows.value("CoOp", "accuracy", **{key: row.where[key] for key in cell(0, 0)})).value is not None
    ]
    assert rows.value("AC", "bias", learner="CoOp").value == pytest.approx(np.mean([off for _, off in cells]))
    assert rows.value("AC", "absolute_error", learner="CoOp").value == pytest.approx(
        np.mean([abs(off) for _, off in cells])
    )
    both = rows.where(entity="AC", metric="absolute_error", axis="covariate")
    assert [row.where["level"] for row in both] == [0, 1, 2] and all(row.value.value >= 0 for row in both)

    levels = {"view": SAME, "axis": "covariate"}
    for name in ("hybrid", "positive-unlabelled"):
        off = [
            row.value.value - true
            for row in rows.where(entity=name, metric="estimated_auroc", **levels)
            if (true := rows.value(row.where["learner"], "auroc", **levels, level=row.where["level"]).value) is not None
            and row.value.value is not None
        ]
        assert rows.value(name, "auroc_bias").value == (pytest.approx(np.mean(off)) if off else None)
        assert rows.value(name, "auroc_error").value == (pytest.approx(np.mean(np.abs(off))) if off else None)
    alarms = rows.where(metric=ALARM.key)
    assert len(alarms) == 2 * 3 and {row.value.value for row in alarms} <= {None, 0.0, 0.5, 1.0}


def test_every_number_has_a_place_of_its_own_and_runs_are_compared_where_levels_are_the_same(one_cell, finished):
    told, other = report(finished), report(one_cell)
    check_report(told)
    assert all(section.heading != REST for section in told.page.sections)
    same = compare(told, told, "")
    assert len(same) == 2 * (1 + 3 * 3) and {pair.comparison.difference for pair in same} <= {0.0, None}
    assert [pair.first.where for pair in compare(told, other, "")] == [{"view": NEAR}]


def test_keys_change_with_what_a_result_depends_on(shapes, tmp_path):
    machine = Machine(cache=str(tmp_path))

    def keys(**changed):
        return [unit.key for unit in EVALUATION.units(read_protocol(given(shapes, **changed)), machine)]

    known = keys()
    changes = ({"least": 4}, {"levels": 4}, {"shots": 3}, {"k": 3}, {"images": 20}, {"estimators": []}, {"seeds": [3]})
    for changed in (*changes, {"decomposition": DECOMPOSITION | {"settings": {"steps": 11}}}):
        assert not set(known) & set(keys(**changed)), changed
    assert keys(learners=[COOP])[0] != known[0]


def test_its_tasks_and_what_they_read(shapes):
    spec = read_protocol(given(shapes))
    assert spec.summary()[1:] == ["2 learner(s)", "2 estimator(s)"] and "against 2 image set(s)" in spec.summary()[0]
    assert set(spec.tasks()[0].image_sets) == {"train", "base", "validation", "pool 1", "pool 2"}
    assert [task.name for task in spec.tasks()] == [
        f"{name}, seed {seed}" for name in ("zero-shot", "CoOp") for seed in (1, 2)
    ]
