"""Recognition on a folder of shapes with the embedded backbone: tasks, draws, records, keys."""

from dataclasses import replace

import numpy as np
import pytest
from made_units import numbers

from openworld.datasets import reseeded_few_shot
from openworld.evaluations import RecognitionSpec
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.recognition.evaluation import EVALUATION
from openworld.evaluations.rows import read_rows
from openworld.evaluations.runtime import Machine
from openworld.learners.engine import fitting
from openworld.runs import RunStore, execute, read_spec

LEARNERS = (
    {"learner": "zero-shot"},
    {"learner": "GMoP", "settings": {"detectors": 2, "schedule": {"epochs": 2}},
     "choose": {"alpha": (0.1, 1.0), "schedule.epochs": (1, 2)}},
)  # fmt: skip


@pytest.fixture(scope="module")
def spec(shapes):
    given = {"dataset": str(shapes), "learners": LEARNERS, "seeds": (1, 2), "shots": 4, "views": 1}
    return read_spec(given, RecognitionSpec)


@pytest.fixture(scope="module")
def records(spec, tmp_path_factory):
    place = tmp_path_factory.mktemp("recognition")
    units = EVALUATION.units(replace(spec, seeds=(1,)), Machine(cache=str(place / "cache")))
    return execute(units, RunStore(place / "run"))


def test_a_unit_per_learner_shots_and_seed_with_published_settings_filled_in(spec):
    planned = replace(spec, shots=(1, 4)).tasks()
    assert [(task.learner.label, task.shots, task.seed) for task in planned] == [
        (label, shots, seed) for label in ("zero-shot", "GMoP") for shots in (1, 4) for seed in (1, 2)
    ]
    assert [task.image_sets["train"].shots for task in planned] == [1, 1, 4, 4] * 2
    assert replace(spec, shots=(4,)).tasks() == spec.tasks()
    schedule = planned[-1].learner.settings["schedule"]
    # GMoP's own schedule with two epochs, not the general one with two epochs.
    assert (schedule["epochs"], schedule["momentum"], schedule["cosine_epochs"]) == (2, 0, 100)


def test_what_trains_longest_is_begun_first(spec, tmp_path):
    more = LearnerSpec("CoOp", "long", {"schedule": {"epochs": 700}})
    planned = EVALUATION.units(replace(spec, learners=(*spec.learners, more)), Machine(cache=str(tmp_path)))
    efforts = {unit.name.rpartition(",")[0]: unit.effort for unit in planned}
    assert max(efforts, key=efforts.get) == "long" and efforts["zero-shot"] == (0, 0)


def test_shots_may_be_drawn_as_openworldaucs_code_does(spec):
    (plain, *_), (other, *_) = spec.tasks(), replace(spec, draw="openworldauc").tasks()
    every = replace(plain.image_sets["train"], shots=None, base_only=False).load()
    drawn = other.image_sets["train"].load()
    rows = reseeded_few_shot(every.labels, 4, seed=1)
    rows = rows[np.isin(every.labels[rows], every.split.base)]
    assert drawn.labels.tolist() == every.labels[rows].tolist()
    assert [drawn.path_of(place) for place in range(len(drawn))] == [every.path_of(row) for row in rows]
    assert plain.image_sets["train"].fingerprint != drawn.fingerprint


def test_fresh_views_are_one_for_every_epoch_and_none_is_seen_twice(spec, tmp_path, monkeypatch):
    learner = LearnerSpec("CoOp", "CoOp", {"schedule": {"epochs": 3}})
    fresh = replace(spec, views="fresh", seeds=(1,), learners=(learner,))
    (task,), (unit,) = fresh.tasks(), EVALUATION.units(fresh, Machine(cache=str(tmp_path)))
    assert task.encoding("train").views == 3 and task.encoding("test").views == 0
    seen, select = [], fitting.select_images
    monkeypatch.setattr(fitting, "select_images", lambda *given: seen.append(given[3:]) or select(*given))
    execute([unit], RunStore(tmp_path / "run"))
    steps = [given for given in seen if len(given) == 2 and given[1] is not None]
    pairs = [pair for rows, views in steps for pair in zip(rows.tolist(), views.tolist(), strict=True)]
    assert len(pairs) == len(set(pairs)) == 3 * 16 and {view for _, view in pairs} == {0, 1, 2}


def test_records_hold_every_number_and_say_of_every_image_which_it_is(records, shapes, told_columns):
    """Its path below the data's folder and the names of its classes; nothing of where the folder lies."""
    for record in records:
        images, names = record.table("images"), record.metrics["classnames"]
        assert sorted(images["id"].tolist()) == list(range(40)) and set(images) <= told_columns
        right, is_base = np.asarray(images["correct"]), np.asarray(images["side"]) == "base"
        assert numbers(record)["base_accuracy"] == pytest.approx(right[is_base].mean())
        assert record.metrics["n_base_classes"] == record.metrics["n_new_classes"] == 4
        assert record.metrics["split"] == "same domain" and record.attachments  # no drawings of the embedded world
        rows = read_rows(record)
        assert len(rows.places("ratio")) == 10 and rows.places("mix") == ("forward", "backward", "all ratios")
        for number, (path, name) in enumerate(zip(images["path"], images["label_name"], strict=True)):
            assert (shapes / path).is_file() and path.split("/")[:2] == ["test", name]
            assert names[images["label"][number]] == name
        for column in ("prediction", "joint_prediction"):
            assert [names[number] for number in images[column]] == images[f"{column}_name"].tolist()


def test_choices_are_made_on_base_classes_and_recorded(records):
    detail = records[-1].metrics["detail"]
    assert [entry["candidate"] for entry in detail["choices"]] == [
        {"alpha": alpha, "schedule.epochs": epochs} for alpha in (0.1, 1.0) for epochs in (1, 2)
    ]
    best = max(detail["choices"], key=lambda entry: entry["openworld_auc"])["candidate"]
    assert detail["chosen"]["alpha"] == best["alpha"]
    assert detail["chosen"]["schedule"]["epochs"] == best["schedule.epochs"]


def test_keys_change_with_what_decides_the_result(spec, tmp_path):
    def keys(allow_corrupt=0, **changed):
        machine = Machine(cache=str(tmp_path / str(allow_corrupt)), allow_corrupt=allow_corrupt)
        return {unit.key for unit in EVALUATION.units(replace(spec, **changed), machine)}

    assert keys() == keys(allow_corrupt=3) < keys(seeds=(1, 2, 3))
    assert not keys() & keys(shots=2)


def test_domains_and_crops_left_out_are_those_of_the_data_set(shapes):
    def domains(**given):
        spec = read_spec({"learners": [{"learner": "GMoP"}], "views": 0, **given}, RecognitionSpec)
        return spec.train_domain, spec.test_domain, spec.crop_scale

    assert domains() == ("twemoji", "twemoji", (0.5, 1.0))
    assert domains(train_domain="noto") == ("noto", "noto", (0.5, 1.0))
    assert domains(test_domain="noto") == ("twemoji", "noto", (0.5, 1.0))
    assert domains(dataset=str(shapes)) == domains(dataset="dtd") == (None, None, (0.08, 1.0))
