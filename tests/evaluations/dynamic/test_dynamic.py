"""Dynamic scenarios on folders of shapes: units, records against their tables, and resuming."""

from dataclasses import replace

import numpy as np
import pytest

from openworld.evaluations import DynamicSpec
from openworld.evaluations.dynamic.curves import PLACE, SCENARIOS
from openworld.evaluations.dynamic.evaluation import EVALUATION
from openworld.evaluations.dynamic.scenarios import class_order
from openworld.evaluations.rows import read_rows
from openworld.evaluations.runtime import Machine
from openworld.runs import RunStore, execute, read_spec


def test_zero_shot_is_the_baseline_of_every_run():
    mine = read_spec({"learners": [{"learner": "CoOp"}, {"learner": "zero-shot", "label": "CLIP"}]}, DynamicSpec)
    assert [learner.label for learner in mine.compared] == ["CoOp", "CLIP"]
    usual = read_spec({"learners": [{"learner": "CoOp"}]}, DynamicSpec)
    assert [learner.label for learner in usual.compared] == ["zero-shot", "CoOp"] and usual.published == "openpl"
    assert {entry.domain for entry in (*usual.datasets, usual.source, *usual.others)} == {"twemoji"}
    assert np.isclose(usual.levels, [0, 0.2, 0.4, 0.6, 0.8, 1]).all()


def test_a_unit_per_kind_of_tuning_learner_and_seed_tuned_on_the_first_half_of_the_seeds_order(spec, records):
    planned = spec.tasks()
    assert [(task.scenarios, task.learner.label, task.seed) for task in planned] == [
        (scenarios, learner, seed)
        for scenarios in (SCENARIOS[:2], SCENARIOS[2:])
        for learner in ("zero-shot", "CoOp")
        for seed in (1, 2)
    ]
    assert len({task.name for task in planned}) == 8
    schedule = planned[2].learner.settings["schedule"]
    assert (schedule["epochs"], schedule["learning_rate"]) == (1, 2e-3)
    names = planned[0].image_sets["test"].load().classnames
    for task, record in zip(planned, records, strict=True):
        order = class_order(8, task.seed)
        trained = order[:4] if task.of_classes else order
        assert record.metrics["training_classnames"] == [names[number] for number in trained]
        assert set(task.image_sets["train"].load().labels) == set(trained.tolist())


def test_scenario_runs_by_hand(records):
    of_classes, against = records[0].metrics["courses"], records[-1].metrics["courses"]
    counts = {run["scenario"]: [view["n_new_classes"] for view in run["views"]] for run in of_classes + against}
    assert counts == {
        "emerging-classes": [0, 2, 4],
        "varying-ratio": [0, 2, 4],
        "distribution-shift": [0] * 3,
        "co-evolution": [0, 2, 4],
    }
    assert [view["n_classes"] for view in of_classes[0]["views"]] == [4, 6, 8]
    assert {view["n_classes"] for run in of_classes[1:] + against for view in run["views"]} == {4}
    assert {view["n_images"] for view in against[0]["views"]} == {16}  # four images of the four drawn classes
    mixed = against[2]  # of a name on both sides, the other data set's class is shown
    shown = {number for view in mixed["views"] for number in view["classes"]}
    assert mixed["n_base_classes"] == 4 and "red square" in {mixed["classnames"][number] for number in shown}
    assert mixed["classnames"].index("red square") not in shown


def test_numbers_follow_from_the_tables(records):
    for record in records:
        table, scores, rows = record.table("predictions"), record.table("scores"), read_rows(record)
        for number, run in enumerate(record.metrics["courses"]):
            place = {key: run[key] for key in PLACE if run[key]}
            for view in run["views"]:
                shown = (table["course"] == number) & (table["level"] == view["level"])
                right = table["prediction"][shown] == table["label"][shown]
                value = {
                    key: rows.value(record.metrics["learner"], key, **place, level=view["level"])
                    for key in ("accuracy", "base_accuracy", "new_accuracy", "auroc")
                }
                assert value["accuracy"].value == pytest.approx(right.mean()) and view["n_images"] == shown.sum()
                assert set(table["prediction"][shown]) <= set(view["classes"])
                new = view["n_new_images"] / view["n_images"]
                sides = [(1 - new) * (value["base_accuracy"].value or 0), new * (value["new_accuracy"].value or 0)]
                assert sum(sides) == pytest.approx(right.mean())
                both = 0 < view["n_new_classes"] < view["n_classes"]
                scored = ((scores["course"] == number) & (scores["level"] == view["level"])).sum()
                assert scored == (view["n_images"] if both else 0) and (value["auroc"].value is not None) == both
                assert both or "no " in value["auroc"].reason


def test_every_row_has_its_image(records, told_columns):
    """By course, part and id: a path below the folder of the part, and a class name."""
    for record in records:
        images, table = record.table("images"), record.table("predictions")
        assert set(images) | set(table) | set(record.table("scores")) <= told_columns
        keys = list(zip(*(images[name].tolist() for name in ("course", "part", "id")), strict=True))
        label_of = dict(zip(keys, images["label_name"], strict=True))
        assert len(label_of) == len(keys)
        for run, part, number, label in zip(*(table[n] for n in ("course", "part", "id", "label")), strict=True):
            assert label_of[run, part, number] == record.metrics["courses"][run]["classnames"][label]
        folders = [path.split("/")[-2].casefold() for path in images["path"]]
        assert folders == [name.casefold() for name in images["label_name"]]


def test_a_run_goes_on_where_it_was_and_scenarios_left_out_decide_nothing(spec, records, tmp_path):
    machine = Machine(cache=str(tmp_path / "cache"))
    few = replace(spec, learners=spec.compared[:1], scenarios=("varying-ratio",), seeds=(1,), variants=(), others=())
    (first,) = execute(EVALUATION.units(few, machine), RunStore(tmp_path / "run"))
    again, _ = execute(EVALUATION.units(replace(few, seeds=(1, 2)), machine), RunStore(tmp_path / "run"))
    same = EVALUATION.units(replace(few, variants=spec.variants, others=spec.others), machine)[0]
    assert again.unit.key == first.unit.key == same.key
    assert first.metrics["courses"] == [records[0].metrics["courses"][1]]
