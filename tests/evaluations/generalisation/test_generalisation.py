"""Generalisation on folders of shapes with the embedded backbone: units, records, targets, left-out classes."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from made_units import numbers

from openworld import OpenworldError
from openworld.datasets import ClassSplit, imagenet_labels
from openworld.datasets.names.overlaps import Overlap
from openworld.datasets.templates import APPENDIX_C4, TEMPLATES
from openworld.evaluations import GeneralisationSpec, RecognitionSpec, read_protocol
from openworld.evaluations.encoding import encode_tasks
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.generalisation.evaluation import EVALUATION
from openworld.evaluations.generalisation.predictions import answer_target, answer_targets, encoded_targets
from openworld.evaluations.generalisation.spec import Target, split_as, summary, tasks
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition.evaluation import EVALUATION as RECOGNITION
from openworld.evaluations.recognition.outcome import load as load_outcomes
from openworld.evaluations.recognition.results import join
from openworld.evaluations.recognition_metrics import recognition_rows
from openworld.evaluations.rows import read_rows
from openworld.evaluations.runtime import Machine
from openworld.learners import LEARNERS
from openworld.report.album import choose
from openworld.runs import RunStore, execute, read_spec
from openworld.testing import small_world

sys.path += [str(Path(__file__).parents[2] / room) for room in ("learners", "datasets")]
from small import SMALL  # noqa: E402
from trees import plant  # noqa: E402

LEARNER = {"learner": "GMoP", "settings": {"detectors": 2, "detector_context": 4, "schedule": {"epochs": 2}}}
# In label order: blue circle, blue square, green circle, green square | orange and red ones.
BASE = ("blue circle", "blue square", "green circle", "green square")


@pytest.fixture(scope="session")
def sketches(shapes, tmp_path_factory):
    """A variant: one base class and two new ones, four pictures of each."""
    return part_of(shapes, tmp_path_factory.mktemp("sketches"), ("red square", "green circle", "orange circle"))


@pytest.fixture(scope="session")
def known(shapes, tmp_path_factory):
    """A variant of base classes alone."""
    return part_of(shapes, tmp_path_factory.mktemp("known"), BASE[:2])


@pytest.fixture(scope="session")
def animals(shapes, tmp_path_factory):
    """Another data set: three new classes, one that is a base class here, and one that is only a new class here."""
    names = {"red circle": "ladybird", "green square": "frog", "blue circle": "whale"}
    root = part_of(shapes, tmp_path_factory.mktemp("animals"), names, names)
    for folder, own in {"Green Squares": "green square", "red square": "red square"}.items():
        shutil.copytree(shapes / "test" / own, root / "test" / folder)
    return root


def part_of(shapes, root, folders, called=None):
    for folder in folders:
        name = (called or {}).get(folder, folder)
        shutil.copytree(shapes / "test" / folder, root / "test" / name, ignore=lambda *_: ["4.png"])
    return root


@pytest.fixture(scope="session")
def given(shapes, sketches, known, animals):
    return {
        "protocol": "generalisation",
        "learners": [{"learner": "zero-shot"}, LEARNER],
        "source": {"dataset": str(shapes)},
        "variants": [{"dataset": str(sketches)}, {"dataset": str(known)}],
        "others": [{"dataset": str(animals)}],
        "seeds": [1, 2],
        "shots": 2,
        "views": 0,
    }


@pytest.fixture(scope="session")
def spec(given):
    return read_protocol(given)


@pytest.fixture(scope="session")
def machine(tmp_path_factory):
    return Machine(cache=str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="session")
def run(spec, given, machine, tmp_path_factory):
    store = RunStore(tmp_path_factory.mktemp("run"))
    store.create(given, spec, {})
    execute(EVALUATION.units(spec, machine), store)
    return store


def test_a_unit_per_learner_and_seed_that_knows_what_is_left_out(spec):
    planned = tasks(spec)
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


def test_without_a_new_class_numbers_are_undefined_with_a_reason(run):
    record = run.records()[0]
    place = {"kind": "variant", "target": record.metrics["targets"][2]["target"]}
    known = {row.metric.key: row.value for row in read_rows(record) if row.entity and row.where == place}
    assert known["openworld_auc"].value is None and "no new sample" in known["openworld_auc"].reason
    assert known["new_accuracy"].value is None and 0 <= known["base_accuracy"].value <= 1


def test_numbers_follow_from_the_table(run):
    for record in run.records():
        table = record.table("images")
        for number, target in enumerate(record.metrics["targets"]):
            rows = {name: column[table["target"] == number] for name, column in table.items()}
            assert (np.diff(rows["id"]) > 0).all() and rows["label"].max() < len(target["classnames"])
            assert ((rows["label"] < target["n_base_classes"]) == (rows["side"] == "base")).all()
            place = {"kind": target["kind"], "target": target["target"]}
            found = {row.metric.key: row.value.value for row in recognition_rows(rows, record.metrics["learner"])}
            assert numbers(record, **place) == found


def test_rows_say_which_picture_they_are_of(run, told_columns):
    """Paths are below the folder of the image set that the picture comes from; its folder there is its class."""
    for record in run.records():
        table = record.table("images")
        assert set(table) <= told_columns
        for number, target in enumerate(record.metrics["targets"]):
            own = table["target"] == number
            assert [target["classnames"][one] for one in table["label"][own]] == table["label_name"][own].tolist()
            assert [path.split("/")[-2] for path in table["path"][own]] == table["label_name"][own].tolist()


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


def test_base_pictures_of_another_data_set_are_the_sources(run):
    table, target = run.records()[2].table("images"), run.records()[2].metrics["targets"][3]
    home, away = (table["target"] == number for number in (0, 3))
    base = table["side"] == "base"
    assert (table["id"][home & base] == table["id"][away & base]).all()
    assert target["new_ids_from"] == 40  # all test pictures of the source; the first five here are left out
    assert table["id"][away & ~base].min() == 45
    assert not set(table["group"][away & base]) & set(table["group"][away & ~base])


@pytest.mark.parametrize("name", LEARNERS)
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


def test_pictures_that_targets_share_are_answered_once(monkeypatch):
    fitted, targets = small_task("CoOp")
    asked, answer = [], type(fitted).answer
    monkeypatch.setattr(type(fitted), "answer", lambda own, one, bank: asked.append(len(one)) or answer(own, one, bank))
    list(answer_targets(fitted, targets))
    assert sum(asked) == sum(len(target.labels) for target in targets) - 2 * len(targets[0].base)


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
    """A learner fitted on four of the small world's classes, and four targets made of its pictures."""
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


def test_a_split_keeps_the_order_of_the_source():
    names = ("a", "b", "c", "d", "e")
    some, every = split_as(ClassSplit.of(names), ("E", "c", "a")), split_as(ClassSplit.of(names), names)
    assert (some.base.tolist(), some.new.tolist()) == ([2, 1], [0])
    assert (every.base.tolist(), every.new.tolist()) == ([0, 1, 2], [3, 4])


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
    shown = choose(images)["wrong_new"] + choose(images)["best_classes"]
    assert all(first[3].thumbnail(int(images["id"][one.place])).startswith(b"\x89PNG") for one in shown)
    assert len({one.fingerprint for one in first}) == 4
    spent = [one.seconds["score"] for one in first]
    assert sum(spent) == pytest.approx(run.records()[0].timing["seconds"]["score"])


def test_a_fit_that_serves_all_targets_is_spent_once(run):
    facts = dict(read_report(run.folder).page.facts)
    seconds = [record.seconds["fit"] for record in run.records() if record.metrics["learner"] == "GMoP"]
    assert facts["records"] == "4" and f"fit {sum(seconds):.1f} s" in facts["GMoP"]


def test_a_page_and_tables_are_made_of_it(run):
    text = read_report(run.folder).html()
    assert "mean over 2 variants" in text and "Green Squares" in text
    assert [len(one.learners) for one in join(load_outcomes(run.folder)).settings] == [2] * 4


def test_everything_is_encoded_before_and_once(spec, tmp_path):
    here = Machine(cache=str(tmp_path / "cache"))
    # Two shots of 4 classes for two seeds, 5 test pictures of 8 classes, 4 of 3, 4 of 2, and 4 of 3 and 5 of 2.
    assert encode_tasks(tasks(spec), here) == 2 * 8 + 40 + 12 + 8 + 22
    assert encode_tasks(tasks(spec), here) == 0 and len(EVALUATION.fingerprints(spec)) == 2 + 4
    assert summary(spec)[0].endswith("2 variants and 1 other data set")


def test_a_key_depends_on_what_is_left_out(spec, machine, monkeypatch):
    one = replace(spec, learners=spec.learners[:1], seeds=(1,))
    before = EVALUATION.units(one, machine)[0]
    monkeypatch.setattr("openworld.evaluations.generalisation.spec.left_out_of", lambda *_: ())
    assert EVALUATION.units(one, machine)[0].key != before.key


def test_changed_pictures_are_noticed(spec, machine):
    unit = EVALUATION.units(replace(spec, learners=spec.learners[:1], seeds=(1,)), machine)[0]
    with pytest.raises(OpenworldError, match="other 0 changed since"):
        EVALUATION(**unit.arguments, **unit.resources, inputs={**unit.inputs, "other 0": "other"})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"variants": [], "others": []}, "no target"),
        ({"variants": [{"dataset": "emoji-groups"}] * 2}, "variants must be distinct"),
        ({"source": {"dataset": "emoji-groups"}, "variants": [{"dataset": "emoji-groups"}]}, "is the source"),
        ({"source": {"dataset": "emoji-groups"}, "others": [{"dataset": "emoji-groups", "domain": "noto"}]}, "source"),
        ({"seeds": [1, 1]}, "seeds must be distinct"),
        ({"learners": []}, "labels of learners must be distinct, and at least one"),
        (
            {"views": 1, "learners": [{"learner": "CoOp", "choose": {"context_length": [2, 4]}}]},
            "settings under choose",
        ),
        ({"learners": [{"learner": "CoOp"}]}, "views is 0"),
        ({"shots": 0}, "shots is 0"),
    ],
)
def test_wrong_specs_are_refused(given, change, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        read_spec(given | change, GeneralisationSpec)


def test_a_variant_without_base_classes_is_refused(given, shapes, machine, tmp_path):
    part_of(shapes, tmp_path, ("red square", "red circle"))
    spec = read_protocol(given | {"variants": [{"dataset": str(tmp_path)}]})
    with pytest.raises(OpenworldError, match="shows no base class of"):
        EVALUATION.units(spec, machine)


def test_a_variant_of_other_classes_is_refused(given, animals, machine):
    spec = read_protocol(given | {"variants": [{"dataset": str(animals)}], "others": []})
    with pytest.raises(OpenworldError, match="4 classes of the variant are no class of the source"):
        EVALUATION.units(spec, machine)


def test_another_data_set_of_base_classes_alone_is_refused(given, known, machine):
    spec = read_protocol(given | {"variants": [], "others": [{"dataset": str(known)}]})
    with pytest.raises(OpenworldError, match="every class of .* is a base class"):
        EVALUATION.units(spec, machine)


def test_the_example_leaves_out_the_kind_that_is_a_concept(repository):
    spec = read_protocol(repository / "examples" / "generalisation-embedded.toml")
    targets = [target for target in tasks(spec)[0].targets if target.kind == "other"]
    left_out = {str(one.data): [gone.name for gone in one.left_out] for one in targets}
    assert left_out == {"emoji-concepts-b, twemoji": [], "emoji-subgroups, twemoji": ["warning"]}
    assert len(spec.variants) == 4 and len(tasks(spec)) == 5 * 3


def test_imagenets_classes_are_compared_by_their_names_in_wordnet(monkeypatch):
    from openworld.datasets.names.class_names import ClassNames
    from openworld.evaluations.generalisation import spec as here

    source = ClassNames("imagenet", ("tench", "goldfish", "umbrella"), ("n01440764", "n01443537", "n04507155"))
    monkeypatch.setattr(here, "source_names", lambda _: source)
    monkeypatch.setattr(DatasetSpec, "classnames", ("Tinca tinca", "goldfish", "umbrella"))
    found = {flag: here.left_out_of(DatasetSpec("imagenet"), DatasetSpec("dtd"), flag) for flag in (True, False)}
    assert [(one.name, one.base_name) for one in found[True]] == [("Tinca tinca", "tench"), ("goldfish", "goldfish")]
    assert [one.name for one in found[False]] == ["goldfish"]  # the umbrella is a new class of the source


def test_imagenets_variants_and_another_data_set_on_trees_as_people_download_them(tmp_path, machine, monkeypatch):
    for name in ("imagenet", "imagenetv2", "imagenet-a", "imagenet-r", "dtd"):
        plant(tmp_path, name)
    monkeypatch.setenv("OPENWORLD_DATA", str(tmp_path))
    variants = [{"dataset": name} for name in ("imagenetv2", "imagenet-a", "imagenet-r")]
    given = {"protocol": "generalisation", "learners": [{"learner": "zero-shot"}], "source": {"dataset": "imagenet"}}
    spec = read_protocol(given | {"variants": variants, "others": [{"dataset": "dtd"}], "seeds": [1], "shots": 1})
    (record,) = execute(EVALUATION.units(spec, machine), RunStore(tmp_path / "run"))
    names = record.metrics["targets"][0]["classnames"]
    half, listed = record.metrics["targets"][0]["n_base_classes"], {}
    for target in record.metrics["targets"][:4]:
        of_base = [name in names[:half] for name in target["classnames"]]
        assert sum(of_base) == target["n_base_classes"] and of_base == sorted(of_base, reverse=True)
        listed[target["dataset"]] = target["n_base_classes"], target["n_new_classes"]
    expected = {name: imagenet_labels(name, tmp_path) for name in listed}
    assert listed == {name: ((of < half).sum(), (of >= half).sum()) for name, of in expected.items()}
    assert record.metrics["wordnet"] and record.metrics["targets"][2]["target"] == "→ imagenet-a"
    assert record.metrics["targets"][4]["task"] == "imagenet → dtd"
