"""Parts of accuracy estimation: taxonomies by hand, references, held-out images, models and their partners."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from openworld import OpenworldError, backbones, classifiers
from openworld.datasets import emoji
from openworld.datasets.published import breeds
from openworld.estimators import FRAP, Estimate, ScoreRegression
from openworld.evaluations import read_protocol
from openworld.evaluations.artifacts import build_artifact, missing
from openworld.evaluations.classifiers import in_folder
from openworld.evaluations.entries import EstimatorSpec, ReferenceSpec
from openworld.evaluations.estimates import own_temperature, similarities
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.model_outputs import ModelOutputs, logits_of
from openworld.evaluations.runtime import Machine
from openworld.label_free.benchmark import unit
from openworld.label_free.benchmark.spec import ModelSpec
from openworld.label_free.benchmark.unit import note_of, taxonomy_of
from openworld.metrics import semantic_alignment
from openworld.runs import to_json

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[2] / "datasets")]
import shifted_trees  # noqa: E402
import trees  # noqa: E402


def test_concepts_under_their_subgroups_and_groups():
    classes = emoji.TASKS["concepts"].classes()
    similarity, _ = taxonomy_of("emoji-concepts")
    places = {(one.group, one.subgroup): number for number, (one,) in enumerate(classes.values())}
    concepts = [one for (one,) in classes.values()]
    for number in range(0, 100, 9):
        for other, two in enumerate(concepts):
            one = concepts[number]
            # edges up to what both share, and depth of that: the root has 1, a group 2, a subgroup 3, a concept 4
            apart, depth = (
                (0, 4) if number == other
                else (2, 3) if (one.group, one.subgroup) == (two.group, two.subgroup)
                else (4, 2) if one.group == two.group
                else (6, 1)
            )  # fmt: skip
            assert similarity[number, other] == pytest.approx((1 / (1 + apart) + 2 * depth / (apart + 2 * depth)) / 2)
    assert len(places) > 20


def test_groups_stand_side_by_side_and_subgroups_under_them():
    groups, subgroups = (taxonomy_of(f"emoji-{level}")[0] for level in ("groups", "subgroups"))
    assert np.unique(groups.round(9)).tolist() == pytest.approx([(1 / 3 + 1 / 2) / 2, 1])
    assert len(np.unique(subgroups.round(9))) == 3
    assert semantic_alignment(np.eye(len(groups)), np.arange(len(groups)), groups).value == 1


@pytest.fixture
def downloads(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENWORLD_DATA", str(tmp_path))
    taxonomy_of.cache_clear()
    yield tmp_path
    taxonomy_of.cache_clear()


def test_breeds_superclasses_stand_in_its_own_hierarchy(downloads, monkeypatch):
    monkeypatch.setitem(breeds.TASKS, "living17", breeds.BreedsTask(level=2, subclasses=2))
    edges = "root>a root>b a>c a>d b>e c>1 c>2 d>3 d>4 e>5 e>6"
    pairs = [tuple(breeds.ROOT if node == "root" else node for node in one.split(">")) for one in edges.split()]
    shifted_trees.plant_hierarchy(downloads / "breeds", pairs, list("123456"), {breeds.ROOT: "thing"})
    similarity, tree = taxonomy_of("living17")
    near, far = (1 / (1 + 2) + 2 * 2 / (2 + 2 * 2)) / 2, (1 / (1 + 4) + 2 * 1 / (4 + 2 * 1)) / 2
    assert similarity == pytest.approx(np.array([[1, near, far], [near, 1, far], [far, far, 1]]))
    assert "BREEDS" in tree


def test_imagenet_200_and_folders_called_by_wordnet_ids_stand_in_wordnet(downloads, monkeypatch):
    for name in ("imagenet", "imagenet-r"):
        trees.plant(downloads, name)
    plant_folders(downloads / "mine", ("n01443537", "n01440764"))
    monkeypatch.setattr(unit, "find_wordnet", object)
    monkeypatch.setattr(unit, "wordnet_similarity", lambda ids, nouns: ids)
    assert list(taxonomy_of("imagenet-200")[0]) == sorted(trees.SUBSETS["imagenet-r"])
    assert taxonomy_of(str(downloads / "mine")) == (("n01440764", "n01443537"), "WordNet 3.0")


def plant_folders(root, names):
    for name in names:
        (root / "test" / name).mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(root / "test" / name / "1.png")


def test_no_taxonomy_says_why(tmp_path):
    plant_folders(tmp_path, ("n01440764", "goldfish"))
    similarity, reason = taxonomy_of(str(tmp_path))
    assert similarity is None and "no taxonomy" in reason


OUTPUTS = "openworld.evaluations.model_outputs:ModelOutputs"


@pytest.fixture(scope="module")
def looked(shapes, tmp_path_factory):
    """Images, a classifier in a folder, and a cache in which it and the embedded backbone have looked at them."""
    root = tmp_path_factory.mktemp("looked")
    image_set = DatasetSpec(str(shapes)).images(limit=16)
    preprocess = classifiers.Preprocess(8, 8, "squash", (0.5,) * 3, (0.5,) * 3)
    module = classifiers.build("resnet-8", 8, 8)
    saved = classifiers.Classifier(module, image_set.load().classnames, preprocess, "resnet-8")
    classifiers.save(saved, root / "mine")
    machine = Machine(cache=str(root / "cache"))
    look = ModelOutputs("shapes", image_set, (in_folder(str(root / "mine")),), ("embedded",), 1)
    build_artifact(OUTPUTS, to_json(look), to_json(machine))
    return image_set, saved, root / "mine", machine, look


def test_a_look_is_what_everybody_says_alone(looked):
    image_set, saved, folder, machine, look = looked
    np.testing.assert_allclose(logits_of(image_set, in_folder(str(folder)), machine), saved.logits(image_set.load()))
    assert not missing([look, look], machine)
    (needed,) = missing([look, look], Machine(cache=machine.cache + "2"))
    assert needed.size() == 16


def test_a_classifier_of_other_names_is_refused(looked, shapes):
    image_set, saved, folder, machine, look = looked
    others = DatasetSpec(str(shapes)).images("validation")
    names = tuple(reversed(others.load().classnames))
    classifiers.save(classifiers.Classifier(saved.module, names, saved.preprocess, "resnet-8"), folder / "other")
    wrong = ModelOutputs("shapes", others, (in_folder(str(folder / "other")),), (), 1)
    with pytest.raises(OpenworldError, match="trained on other class names"):
        build_artifact(OUTPUTS, to_json(wrong), to_json(machine))


def test_cosines_are_those_of_zero_shot(looked):
    image_set, _, _, machine, _ = looked
    images, clip = image_set.load(), backbones.load("embedded")
    rows = np.arange(len(images))
    with torch.no_grad():
        pixels = torch.stack([clip.preprocess(images.image(number)) for number in rows])
        embeddings = torch.nn.functional.normalize(clip.encode_image(pixels), dim=-1)
        for templates, sentence in (("usual", "an icon of a {}."), (("a drawing of {}.",), "a drawing of {}.")):
            reference = ReferenceSpec("CLIP", backbone="embedded", templates=templates)
            text = clip.encode_text([sentence.format(name) for name in images.classnames])
            expected = embeddings @ torch.nn.functional.normalize(text, dim=-1).mT
            found = similarities(reference, image_set, rows, "emoji-groups", machine)
            np.testing.assert_allclose(found, expected, atol=1e-5)
    assert own_temperature(reference, machine) == pytest.approx(1 / float(clip.logit_scale))
    ensemble = ReferenceSpec("CLIP", backbone="embedded", templates="ensemble")
    assert np.abs(similarities(ensemble, image_set, rows, "emoji-groups", machine) - found).max() > 1e-3


def test_other_references(looked):
    image_set, saved, folder, machine, _ = looked
    rows = np.arange(0, 16, 2)
    said = similarities(ReferenceSpec("mine", classifier=str(folder)), image_set, rows, "", machine)
    np.testing.assert_allclose(said, saved.logits(image_set.load())[::2])
    assert not similarities(ReferenceSpec("uniform"), image_set, rows, "", machine).any()
    here = similarities(ReferenceSpec("dirichlet"), image_set, rows, "", machine)
    fewer = replace(image_set, limit=8)
    assert here.shape == (8, 8) and np.allclose(here.sum(axis=1), 1)
    assert not np.allclose(here, similarities(ReferenceSpec("dirichlet"), fewer, rows, "", machine))


def test_held_out_images_are_not_trained_on(shapes):
    model = {"architecture": "convnet", "recipe": {"epochs": 1, "side": 28}}
    given = {
        "protocol": "accuracy-estimation",
        "sources": [{"dataset": str(shapes)}],
        "targets": [{"dataset": str(shapes), "name": "test"}],
        "models": [model],
    }
    spec = read_protocol(given | {"held_out": 16, "shots": 0, "images": 0})
    assert (len(spec.source.load()), len(spec.training.load())) == (16, 32)
    assert np.bincount(spec.source.load().labels).tolist() == [2] * 8
    held, rest = (
        {one.image(i).tobytes() for i in range(len(one))} for one in (spec.source.load(), spec.training.load())
    )
    assert not held & rest
    assert len(spec.labelled_shifts) == 19 and len(spec.labelled_shifts[3].load()) == 16
    assert [one.severity for one in spec.labelled_shifts][:7] == [1, 2, 3, 4, 5, 1, 2]


def test_recipes_start_from_what_is_published():
    model = ModelSpec("resnet-18").resolved("cifar10")
    assert model.checkpoints == (300,) and model.recipe["milestones"] == (100, 200)
    assert model.resolved("cifar10") == model
    shorter = ModelSpec("resnet-18", recipe={"epochs": 4, "milestones": [2]}).resolved("cifar10")
    assert shorter.checkpoints == (4,) and shorter.recipe["batch_size"] == 200


def test_settings_are_written_out_and_none_has_a_word():
    frap = EstimatorSpec("FRAP", settings={"rule": "none"})
    assert frap.build() == FRAP(rule=None)
    whole = frap.resolved("CLIP")
    assert whole.settings["rule"] == "none" and whole.settings["fusion"] == "arithmetic"
    assert whole.facts()["settings"]["rule"] is None and whole.resolved("CLIP") == whole
    assert isinstance(EstimatorSpec("MaNo").build(), ScoreRegression) and EstimatorSpec("MaNo").is_score
    assert EstimatorSpec("SoftmaxCorr", settings={"frequencies": "reference"}).needs == ("reference",)


def test_details_are_small():
    estimate = Estimate.of(0.25, details={"n_target": 3, "threshold": None, "prices": [1, 2], "tau": 0.5})
    assert note_of(estimate)["details"] == {"threshold": None, "tau": 0.5}
