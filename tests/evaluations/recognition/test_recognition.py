"""The recognition protocol on a folder of shapes with the embedded backbone."""

from dataclasses import replace

import numpy as np
import pytest
from made_units import numbers

from openworld import OpenworldError
from openworld.datasets import reseeded_few_shot
from openworld.evaluations import RecognitionSpec
from openworld.evaluations.encoding import encode_tasks
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.recognition.evaluation import EVALUATION
from openworld.evaluations.recognition.spec import tasks
from openworld.evaluations.rows import read_rows
from openworld.evaluations.runtime import Machine
from openworld.runs import RunStore, execute, read_spec

FEW = {"schedule": {"epochs": 2}}
LEARNERS = (
    {"learner": "zero-shot"},
    {"learner": "CoOp", "settings": {"context_length": 4, **FEW}},
    {
        "learner": "GMoP",
        "settings": {"detectors": 2, **FEW},
        "choose": {"alpha": (0.1, 1.0), "schedule.epochs": (1, 2)},
    },
)


@pytest.fixture(scope="module")
def spec(shapes):
    given = {
        "dataset": str(shapes),
        "train_domain": None,
        "test_domain": None,
        "learners": LEARNERS,
        "seeds": (1, 2),
        "shots": 4,
        "views": 1,
    }
    return read_spec(given, RecognitionSpec)


@pytest.fixture(scope="module")
def records(spec, tmp_path_factory):
    place = tmp_path_factory.mktemp("recognition")
    return execute(EVALUATION.units(spec, Machine(cache=str(place / "cache"))), RunStore(place / "run"))


def test_a_unit_per_learner_and_seed_with_published_settings_filled_in(spec):
    planned = tasks(spec)
    assert [(task.learner.label, task.seed) for task in planned] == [
        (label, seed) for label in ("zero-shot", "CoOp", "GMoP") for seed in (1, 2)
    ]
    schedule = planned[-1].learner.settings["schedule"]
    # GMoP's own schedule with two epochs, not the general one with two epochs.
    assert (schedule["epochs"], schedule["momentum"], schedule["cosine_epochs"]) == (2, 0, 100)


def test_what_trains_longest_is_begun_first(spec, tmp_path):
    more = LearnerSpec("CoOp", "long", {"schedule": {"epochs": 7}})
    planned = EVALUATION.units(replace(spec, learners=(*spec.learners, more)), Machine(cache=str(tmp_path)))
    efforts = {unit.name.rpartition(",")[0]: unit.effort for unit in planned}
    assert max(efforts, key=efforts.get) == "long" and efforts["zero-shot"] == (0, 0)


def test_a_list_of_shots_is_swept_by_every_learner(spec):
    from dataclasses import replace

    several = replace(spec, shots=(1, 4), seeds=(1,))
    assert [(task.learner.label, task.shots) for task in tasks(several)] == [
        (label, shots) for label in ("zero-shot", "CoOp", "GMoP") for shots in (1, 4)
    ]
    assert [task.image_sets["train"].shots for task in tasks(several)] == [1, 4] * 3
    assert tasks(replace(spec, shots=(4,))) == tasks(spec)


def test_shots_may_be_drawn_as_openworldaucs_code_does(spec):
    (plain, *_), (other, *_) = tasks(spec), tasks(replace(spec, draw="openworldauc"))
    every = replace(plain.image_sets["train"], shots=None, base_only=False).load()
    drawn = other.image_sets["train"].load()
    rows = reseeded_few_shot(every.labels, 4, seed=1)
    rows = rows[np.isin(every.labels[rows], every.split.base)]
    assert drawn.labels.tolist() == every.labels[rows].tolist()
    assert [drawn.path_of(place) for place in range(len(drawn))] == [every.path_of(row) for row in rows]
    assert plain.image_sets["train"].fingerprint != drawn.fingerprint


def test_fresh_views_are_one_for_every_epoch_and_none_is_seen_twice(spec, tmp_path, monkeypatch):
    from openworld.learners.engine import fitted

    fresh = replace(
        spec, views="fresh", seeds=(1,), learners=(LearnerSpec("CoOp", "CoOp", {"schedule": {"epochs": 3}}),)
    )
    (task,), (unit,) = tasks(fresh), EVALUATION.units(fresh, Machine(cache=str(tmp_path)))
    assert task.encoding("train").views == 3 and task.encoding("test").views == 0
    seen, select = [], fitted.select_images
    monkeypatch.setattr(fitted, "select_images", lambda *given: seen.append(given[3:]) or select(*given))
    (record,) = execute([unit], RunStore(tmp_path / "run"))
    steps = [(rows, views) for rows, views in (given for given in seen if len(given) == 2) if views is not None]
    pairs = [pair for rows, views in steps for pair in zip(rows.tolist(), views.tolist(), strict=True)]
    assert len(pairs) == len(set(pairs)) == 3 * 16 and {view for _, view in pairs} == {0, 1, 2}
    assert record.unit.arguments["task"]["views"] == "fresh"


def test_records_hold_every_number_and_every_image(records):
    for record in records:
        images = record.table("images")
        assert len(images["id"]) == 40
        assert sorted(np.asarray(images["id"])) == list(range(40))
        right = np.asarray(images["correct"])
        is_base = np.asarray(images["side"]) == "base"
        assert numbers(record)["base_accuracy"] == pytest.approx(right[is_base].mean())
        assert record.metrics["n_base_classes"] == record.metrics["n_new_classes"] == 4
        assert record.metrics["split"] == "same domain"  # no drawings of the embedded world
        rows = read_rows(record)
        assert len(rows.places("ratio")) == 10 and rows.places("mix") == ("forward", "backward", "all ratios")
        assert record.attachments


def test_records_say_which_picture_a_row_is_of(records, shapes, told_columns):
    """Its path below the data's folder and the names of its classes; nothing of where the folder lies."""
    for record in records:
        images, names = record.table("images"), record.metrics["classnames"]
        assert set(images) <= told_columns
        for number, (path, name) in enumerate(zip(images["path"], images["label_name"], strict=True)):
            assert (shapes / path).is_file() and path.split("/")[:2] == ["test", name]
            assert names[images["label"][number]] == name
        for column in ("prediction", "joint_prediction"):
            assert [names[number] for number in images[column]] == images[f"{column}_name"].tolist()


def test_zero_shot_does_not_depend_on_the_seed(records):
    one, two = (record.table("images") for record in records[:2])
    np.testing.assert_array_equal(one["score"], two["score"])


def test_choices_are_made_on_base_classes_and_recorded(records):
    detail = records[-1].metrics["detail"]
    assert [entry["candidate"] for entry in detail["choices"]] == [
        {"alpha": alpha, "schedule.epochs": epochs} for alpha in (0.1, 1.0) for epochs in (1, 2)
    ]
    best = max(detail["choices"], key=lambda entry: entry["openworld_auc"])["candidate"]
    assert detail["chosen"]["alpha"] == best["alpha"]
    assert detail["chosen"]["schedule"]["epochs"] == best["schedule.epochs"]


def test_features_are_encoded_before_and_only_once(spec, tmp_path):
    machine, calls = Machine(cache=str(tmp_path / "cache")), []
    # Two seeds of 4 shots of 4 base classes, 2 validation and 5 test pictures of 8 classes.
    assert encode_tasks(tasks(spec), machine, lambda done, total: calls.append((done, total))) == 2 * 16 + 16 + 40
    assert calls[-1] == (88, 88)
    assert encode_tasks(tasks(spec), machine) == 0
    folders = sorted((tmp_path / "cache").iterdir())
    execute(EVALUATION.units(spec, machine), RunStore(tmp_path / "run"))
    assert sorted((tmp_path / "cache").iterdir()) == folders


def test_training_pictures_are_of_base_classes(spec):
    for task in tasks(spec):
        assert set(task.image_sets["train"].load().labels) == set(range(4))


def test_keys_change_with_what_decides_the_result(spec, tmp_path):
    from dataclasses import replace

    machine = Machine(cache=str(tmp_path))
    keys = {unit.key for unit in EVALUATION.units(spec, machine)}
    assert keys == {unit.key for unit in EVALUATION.units(spec, Machine(cache="elsewhere", allow_corrupt=3))}
    assert not keys & {unit.key for unit in EVALUATION.units(replace(spec, shots=2), machine)}
    more_seeds = {unit.key for unit in EVALUATION.units(replace(spec, seeds=(1, 2, 3)), machine)}
    assert keys < more_seeds


def test_changed_pictures_are_noticed(spec, tmp_path):
    unit = EVALUATION.units(spec, Machine(cache=str(tmp_path)))[0]
    with pytest.raises(OpenworldError, match="test changed since"):
        EVALUATION(**unit.arguments, **unit.resources, inputs={**unit.inputs, "test": "other"})


@pytest.mark.parametrize("part", ["train", "test"])
def test_a_class_without_a_picture_is_refused(shapes, tmp_path, part):
    import shutil

    root = shutil.copytree(shapes, tmp_path / "shapes")
    for picture in (root / part / "blue circle").iterdir():
        picture.unlink()
    given = {"dataset": str(root), "train_domain": None, "test_domain": None, "learners": LEARNERS, "views": 1}
    with pytest.raises(OpenworldError, match=f"no image in part '{part}', first 'blue circle'"):
        EVALUATION.units(read_spec(given, RecognitionSpec), Machine(cache=str(tmp_path / "cache")))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"learner": "coop2"}, "unknown learner 'coop2'; did you mean 'CoOp'"),
        ({"learner": "CoOp", "settings": {"context_lenght": 4}}, "did you mean 'context_length'"),
        ({"learner": "GMoP", "settings": {"schedule": {"epoch": 4}}}, "schedule.*did you mean 'epochs'"),
        ({"learner": "GMoP", "settings": {"gate": "soft"}}, "gate"),
        ({"learner": "GMoP", "choose": {"alfa": (0.1,)}}, "did you mean 'alpha'"),
        ({"learner": "GMoP", "choose": {"alpha": ()}}, "choose.alpha lists no candidate"),
        ({"learner": "GMoP", "choose": {"detectors": (3, 1)}}, "detectors is 1"),
        ({"learner": "CoOp", "settings": {"schedule.epochs": 0}}, "epochs is 0"),
    ],
)
def test_wrong_learners_are_refused_when_the_spec_is_read(given, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        read_spec({"learners": [given]}, RecognitionSpec)


def test_wrong_specs_are_refused():
    for given, sentence in (
        ({"learners": []}, "labels of learners must be distinct, and at least one"),
        ({"learners": [{"learner": "CoOp"}] * 2}, "distinct"),
        ({"learners": [{"learner": "CoOp"}], "seed": [1]}, "did you mean 'seeds'"),
        ({"learners": [{"learner": "CoOp"}], "shots": "16"}, "shots"),
        ({"learners": [{"learner": "CoOp"}], "shots": 0}, "shots is 0"),
        ({"learners": [{"learner": "CoOp"}], "views": 0}, "views is 0, expected 1"),
        ({"learners": [{"learner": "CoOp"}], "shots": [4, 0]}, r"shots\[1\] is 0"),
        ({"learners": [{"learner": "CoOp"}], "shots": [4, 4]}, "shots must be distinct"),
        ({"learners": [{"learner": "CoOp"}], "shots": []}, "shots must be distinct, and at least one"),
        ({"learners": [{"learner": "CoOp"}], "imbalance_factor": 0.5}, "imbalance_factor is 0.5, expected 1"),
        ({"learners": [{"learner": "CoOp"}], "resamples": 0}, "resamples is 0, expected 1"),
        ({"learners": [{"learner": "CoOp"}], "seeds": [1, -1]}, "seeds.1. is -1"),
        ({"learners": [{"learner": "CoOp"}], "ratios": [1, 0]}, "ratios must be above 0"),
        ({"learners": [{"learner": "CoOp"}], "crop_scale": [0.5, 1.5]}, "crop_scale"),
        ({"learners": [{"learner": "CoOp"}], "threads": 0}, "threads is 0"),
    ):
        with pytest.raises(OpenworldError, match=sentence):
            read_spec(given, RecognitionSpec)


def test_a_learner_spec_takes_its_label_from_the_learner():
    assert LearnerSpec("CoOp").label == "CoOp"


def test_domains_and_crops_left_out_are_those_of_the_data_set(shapes):
    def domains(**given):
        spec = read_spec({"learners": [{"learner": "GMoP"}], "views": 0, **given}, RecognitionSpec)
        return spec.train_domain, spec.test_domain, spec.crop_scale

    assert domains() == ("twemoji", "twemoji", (0.5, 1.0))
    assert domains(train_domain="noto") == ("noto", "noto", (0.5, 1.0))
    assert domains(test_domain="noto") == ("twemoji", "noto", (0.5, 1.0))
    assert domains(dataset=str(shapes)) == (None, None, (0.08, 1.0))
    assert domains(dataset="dtd") == (None, None, (0.08, 1.0))


@pytest.mark.parametrize(("device", "sentence"), [("gpu", "unknown device 'gpu'"), ("cuda:99", "not on this machine")])
def test_a_device_that_is_not_there_is_refused(device, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        Machine(device=device)
