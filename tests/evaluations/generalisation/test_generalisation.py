"""Generalisation on folders of shapes with the embedded backbone: units, records, targets, left-out classes."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from made_units import numbers

from openworld.datasets.names.class_names import Overlap
from openworld.datasets.templates import APPENDIX_C4, TEMPLATES
from openworld.evaluations import GeneralisationSpec, RecognitionSpec, read_protocol
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.generalisation.evaluation import EVALUATION, answer_target, answer_targets, encoded_targets
from openworld.evaluations.generalisation.spec import Target
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition.evaluation import EVALUATION as RECOGNITION
from openworld.evaluations.recognition.outcome import load as load_outcomes
from openworld.evaluations.recognition_metrics import recognition_rows
from openworld.evaluations.runtime import Machine
from openworld.learners import LEARNERS
from openworld.report.album import choose
from openworld.runs import RunStore, execute
from openworld.testing import small_world

sys.path += [str(Path(__file__).parents[2] / room) for room in ("learners", "datasets")]
from small import SMALL  # noqa: E402

LEARNER = {"learner": "GMoP", "settings": {"detectors": 2, "detector_context": 4, "schedule": {"epochs": 2}}}
# In label order: blue circle, blue square, green circle, green square | orange and red ones.
BASE = ("blue circle", "blue square", "green circle", "green square")


@pytest.fixture(scope="module")
def given(shapes, tmp_path_factory):
    """Variants: one base class and two new ones, and base classes alone; another data set with three classes of its
    own, one that is a base class here, and one that is only a new class here. Four images of each."""
    root = tmp_path_factory.mktemp("targets")
    renamed = {"red circle": "ladybird", "green square": "frog", "blue circle": "whale"}
    classes = [("sketches", name, name) for name in ("red square", "green circle", "orange circle")]
    classes += [("base", name, name) for name in BASE[:2]]
    classes += [("animals", name, own) for name, own in renamed.items()]
    for target, name, own in classes:
        shutil.copytree(shapes / "test" / name, root / target / "test" / own, ignore=lambda *_: ["4.png"])
    for name, own in {"green square": "Green Squares", "red square": "red square"}.items():
        shutil.copytree(shapes / "test" / name, root / "animals" / "test" / own)
    sketches, base, animals = ({"dataset": str(root / target)} for target in ("sketches", "base", "animals"))
    targets = {"source": {"dataset": str(shapes)}, "variants": [sketches, base], "others": [animals]}
    learners = [{"learner": "zero-shot"}, LEARNER]
    return targets | {"protocol": "generalisation", "learners": learners, "seeds": [1, 2], "shots": 2, "views": 0}


@pytest.fixture(scope="module")
def spec(given):
    return read_protocol(given)


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    return Machine(cache=str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def run(spec, given, machine, tmp_path_factory):
    store = RunStore(tmp_path_factory.mktemp("run"))
    store.create(given, spec, {})
    execute(EVALUATION.units(spec, machine), store)
    return store


def test_a_unit_per_learner_and_seed_that_knows_what_is_left_out(spec):
    planned = spec.tasks()
    assert isinstance(spec, GeneralisationSpec)
    assert [task.name for task in planned] == [f"{one}, seed {n}" for one in ("zero-shot", "GMoP") for n in (1, 2)]
    assert planned[0].targets[-1].left_out == (Overlap("Green Squares", "green square"),)
    assert not planned[0].by_wordnet  # these classes have no WordNet ids
    assert [target.kind for target in planned[0].targets] == ["source", "variant", "variant", "other"]


def test_targets_by_hand(run):
    for record in run.records():
        targets = record.metrics["targets"]
        told = [(one["kind"], one["n_base_classes"], one["n_new_classes"], one["left_out"]) for one in targets]
        assert told == [
            ("source", 4, 4, []),
            ("variant", 1, 2, []),
            ("variant", 2, 0, []),
            ("other", 4, 4, ["Green Squares"]),
        ]
        assert record.metrics["training_classnames"] == list(BASE)
        assert targets[1]["classnames"] == ["green circle", "orange circle", "red square"]
        assert targets[3]["classnames"] == [*BASE, "frog", "ladybird", "red square", "whale"]


def test_numbers_and_names_follow_from_the_table(run, told_columns):
    """Paths are below the folder of the image set that an image comes from; its folder there is its class."""
    for record in run.records():
        table = record.table("images")
        assert set(table) <= told_columns
        for number, target in enumerate(record.metrics["targets"]):
            rows = {name: column[table["target"] == number] for name, column in table.items()}
            assert (np.diff(rows["id"]) > 0).all() and rows["label"].max() < len(target["classnames"])
            assert ((rows["label"] < target["n_base_classes"]) == (rows["side"] == "base")).all()
            place = {"kind": target["kind"], "target": target["target"]}
            found = {row.metric.key: row.value.value for row in recognition_rows(rows, record.metrics["learner"])}
            assert numbers(record, **place) == found and (number != 2 or found["openworld_auc"] is None)
            assert [target["classnames"][label] for label in rows["label"]] == rows["label_name"].tolist()
            assert [path.split("/")[-2] for path in rows["path"]] == rows["label_name"].tolist()


def test_the_source_is_a_recognition_run(spec, run, machine, tmp_path):
    same = RecognitionSpec(
        learners=spec.learners, dataset=spec.source.dataset, seeds=(1,), shots=2, views=0, keep_validation=False
    )
    ours = {record.name: record for record in run.records()}
    for theirs in execute(RECOGNITION.units(same, machine), RunStore(tmp_path)):
        home, table = ours[theirs.name].metrics["targets"][0], theirs.table("images")
        at_source = numbers(ours[theirs.name], kind="source", target=home["target"])
        assert at_source["openworld_auc"] == pytest.approx(numbers(theirs)["openworld_auc"])
        mine = ours[theirs.name].table("images")
        at_home = mine["target"] == 0
        for name in ("id", "label", "prediction", "side", "group"):
            assert (mine[name][at_home] == table[name]).all()
        np.testing.assert_allclose(mine["score"][at_home], table["score"], atol=1e-4)


@pytest.mark.parametrize("name", ["zero-shot", "CoOp", "MaPLe", "DePT", "DeCoOp", "GMoP"])
def test_slices_are_what_each_target_gives_by_itself(name):
    fitted, targets = small_task(name)
    for target, answer in zip(targets, answer_targets(fitted, targets), strict=True):
        alone = answer_target(fitted, target)
        assert answer.logits.shape == (len(target.labels), len(target.split.names))
        np.testing.assert_allclose(answer.logits, alone.logits, atol=1e-3)
        np.testing.assert_allclose(answer.baseness, alone.baseness, atol=1e-4)
        assert (answer.base_logits is None) == (alone.base_logits is None)
        if answer.base_logits is not None:
            np.testing.assert_allclose(answer.base_logits, alone.base_logits, atol=1e-3)


@pytest.mark.parametrize("name", ["zero-shot", "GMoP"])
def test_new_names_stand_in_the_sentence_of_their_data_set_and_base_names_in_the_sources(name):
    fitted, targets = small_task(name)
    places = (targets[0], *(replace(target.target, data=DatasetSpec("food101")) for target in targets[-1:]))
    targets = [replace(targets[-1], target=where if isinstance(where, Target) else where.target) for where in places]
    source, food = answer_targets(fitted, targets, own_sentences=True)
    plain, _ = answer_targets(fitted, targets)
    target = targets[1]
    sentence = {"zero-shot": TEMPLATES, "GMoP": {"food101": APPENDIX_C4["food101"][0]}}[name]["food101"]
    text = fitted.clip.encode_text([sentence.format(new) for new in target.split.new_names])
    images = np.concatenate([target.base.embeddings, target.new.embeddings])[target.order]
    unit = images / np.linalg.norm(images, axis=1, keepdims=True)
    new = float(fitted.clip.logit_scale) * unit @ torch.nn.functional.normalize(text, dim=-1).numpy().T
    count = len(target.split.base)
    np.testing.assert_allclose(food.logits[:, count:], new, atol=2e-3)
    np.testing.assert_allclose(food.logits[:, :count], plain.logits[:, :count], atol=1e-3)
    np.testing.assert_allclose(source.logits, plain.logits, atol=1e-3)
    assert np.abs(food.logits[:, count:] - plain.logits[:, count:]).max() > 0.1


def small_task(name):
    """A learner fitted on four of the small world's classes, and four targets made of its images."""
    world = small_world()
    fitted = LEARNERS[name](**SMALL[name]).fit(world.clip, world.shots.of_classes(range(4)), seed=1)
    learner, places = (
        LearnerSpec("zero-shot"),
        tuple(DatasetSpec(f"./{one}") for one in ("home", "variant", "one", "two")),
    )
    task = GeneralisationSpec(
        (learner,), seeds=(1,), source=places[0], variants=places[1:2], others=places[2:], wordnet=False
    )
    left_out = {places[2]: (), places[3]: (Overlap("owl", "lamp"),)}
    renamed = replace(world.shots, classnames=("piano", "Bench", "owl", "kite", "harp", "door", "tree"))
    parts = {
        "test": world.shots,
        "variant 0": world.shots.of_classes([6, 2, 4, 0]),
        "other 0": renamed.of_classes([0, 1, 4]),
        "other 1": renamed.of_classes([1, 2, 3]),
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("openworld.evaluations.image_selection.ImageSelection.load", lambda source: world.shots)
        patched.setattr(
            "openworld.evaluations.generalisation.spec.left_out_of", lambda source, other, _: left_out[other]
        )
        return fitted, list(encoded_targets(task, parts))


def test_the_report_reads_one_outcome_per_target(run):
    outcomes = load_outcomes(run.folder)
    assert len(outcomes) == 4 * 4
    first = outcomes[:4]
    assert [one.facts["target"] for one in first][1].startswith("→ ")
    assert {one.learner for one in first} == {"zero-shot"}
    source = run.records()[0].metrics["targets"][0]
    assert first[0].area == numbers(run.records()[0], kind="source", target=source["target"])["openworld_auc"]
    assert sum(len(one.test.images["id"]) for one in first) == len(run.records()[0].table("images")["id"])
    images = first[3].test.images
    assert first[3].thumbnail(int(images["id"][choose(images)["best_classes"][0][0]])).startswith(b"\x89PNG")
    assert len({one.fingerprint for one in first}) == 4
    spent = [one.seconds["score"] for one in first]
    assert sum(spent) == pytest.approx(run.records()[0].timing["seconds"]["score"])


def test_a_key_depends_on_what_is_left_out(spec, machine, monkeypatch):
    one = replace(spec, learners=spec.learners[:1], seeds=(1,))
    before = EVALUATION.units(one, machine)[0]
    monkeypatch.setattr("openworld.evaluations.generalisation.spec.left_out_of", lambda *_: ())
    assert EVALUATION.units(one, machine)[0].key != before.key


def test_imagenets_classes_are_compared_by_their_names_in_wordnet(monkeypatch):
    from openworld.datasets.names.class_names import ClassNames
    from openworld.evaluations.generalisation import spec as here

    source = ClassNames("imagenet", ("tench", "goldfish", "umbrella"), ("n01440764", "n01443537", "n04507155"))
    monkeypatch.setattr(here, "source_names", lambda _: source)
    monkeypatch.setattr(DatasetSpec, "classnames", ("Tinca tinca", "goldfish", "umbrella"))
    found = {flag: here.left_out_of(DatasetSpec("imagenet"), DatasetSpec("dtd"), flag) for flag in (True, False)}
    assert [(one.name, one.base_name) for one in found[True]] == [("Tinca tinca", "tench"), ("goldfish", "goldfish")]
    assert [one.name for one in found[False]] == ["goldfish"]  # the umbrella is a new class of the source
