"""Open-world quality by shift: a run on coloured shapes against the arrays it saved, units, bad specs, resuming."""

import numpy as np
import pytest

from openworld.evaluations import evaluation_of, read_protocol
from openworld.evaluations.artifacts import Crew
from openworld.evaluations.recognition_by_shift.evaluation import EVALUATION
from openworld.evaluations.recognition_by_shift.results import BASE, NEAR, NEW, PARTS, POOL, SAME, cell
from openworld.evaluations.recognition_by_shift.spec import summary, tasks
from openworld.evaluations.recognition_metrics import rows_of
from openworld.evaluations.rows import read_rows
from openworld.evaluations.runtime import Machine
from openworld.metrics import openworld_auc
from openworld.runs import RunStore, execute

COOP = {"learner": "CoOp", "settings": {"context_length": 2, "schedule": {"epochs": 1}}}


def given(root, **changed):
    return {
        "protocol": "recognition-by-shift",
        "sources": [{"dataset": str(root)}],
        "pool": [{"dataset": str(root)}, {"dataset": str(root), "corruption": "contrast", "severity": 5}],
        "learners": [{"learner": "zero-shot"}, COOP],
        "estimators": [{"estimator": name} for name in ("AC", "FRAP")],
        "decomposition": {"settings": {"steps": 10, "semantic_width": 112}},
        "quantiles": {"covariate": [0.1, 0.9]},
        "shots": 4,
        "views": 1,
        "k": 2,
        "levels": 3,
        "least": 3,
        "seeds": [1],
    } | changed


def run(spec, folder, cache):
    machine = Machine(cache=str(cache))
    made = [stage.work(Crew("local", 1, folder), None) for stage in evaluation_of(spec).artifacts(spec, machine)]
    return made, execute(EVALUATION.units(spec, machine), RunStore(folder))


@pytest.fixture(scope="module")
def ran(shapes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("open-world-shift")
    spec = read_protocol(given(shapes))
    return spec, folder, *run(spec, folder, folder / "cache")


def columns(record, name):
    return {key: np.array(values) for key, values in record.table(name).items()}


def test_stages_do_what_is_missing_and_no_more(ran):
    spec, folder, made, records = ran
    # Shots, 20 base, 8 validation and 80 pool images; shots once more, without views; 8 names in 80 sentences.
    assert made == [16 + 20 + 8 + 80, 16, 8 * 80, 20 + 80]
    again, same = run(spec, folder, folder / "cache")
    assert again == [0, 0, 0, 0] and [one.metrics for one in same] == [one.metrics for one in records]


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


def test_one_cell_of_everything_is_open_world_recognition(ran, shapes):
    cuts = {"semantic": [1.9, 1.95], "covariate": [1.9, 1.95]}
    _, (record, _) = run(read_protocol(given(shapes, cuts=cuts)), ran[1] / "one", ran[1] / "cache")
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


def test_without_estimators_no_validation_image_is_read(ran, shapes):
    spec = read_protocol(given(shapes, estimators=[], references=[], validation_part="nowhere"))
    _, records = run(spec, ran[1] / "without", ran[1] / "cache")
    assert "estimation" not in records[0].metrics
    for without, record in zip(records, ran[3], strict=True):
        kept = [row for row in read_rows(record) if row.metric.key in PARTS]
        assert [row for row in read_rows(without) if row.metric.key in PARTS] == kept


def test_keys_change_with_what_a_result_depends_on(shapes, tmp_path):
    machine = Machine(cache=str(tmp_path))

    def keys(**changed):
        return [unit.key for unit in EVALUATION.units(read_protocol(given(shapes, **changed)), machine)]

    known = keys()
    changes = ({"least": 4}, {"levels": 4}, {"shots": 3}, {"k": 3}, {"images": 20}, {"estimators": []}, {"seeds": [2]})
    for changed in (*changes, {"decomposition": {"settings": {"steps": 11, "semantic_width": 112}}}):
        assert not set(known) & set(keys(**changed)), changed
    assert keys(learners=[COOP])[0] != known[0]


def test_its_tasks_and_what_they_read(shapes):
    spec = read_protocol(given(shapes))
    assert summary(spec)[1:] == ["2 learner(s)", "2 estimator(s)"] and "against 2 image set(s)" in summary(spec)[0]
    assert set(tasks(spec)[0].image_sets) == {"train", "base", "validation", "pool 1", "pool 2"}
    assert [task.name for task in tasks(spec)] == ["zero-shot, seed 1", "CoOp, seed 1"]
