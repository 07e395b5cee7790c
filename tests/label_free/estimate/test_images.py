"""Models look at images and write a file of scores; whose labels count, and which models will not do."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from openworld import OpenworldError, backbones, classifiers, datasets
from openworld.datasets.appearance import appearance
from openworld.label_free.estimate import scoring
from openworld.label_free.estimate.estimation import estimate_accuracy
from openworld.label_free.estimate.reading import open_table
from openworld.label_free.estimate.scoring import made_of, scoring_model, write_scores
from openworld.label_free.settings import Settings
from openworld.learners.engine.text_bank import cosine_logits
from openworld.learners.engine.text_features import encode_names
from openworld.own_data.images import are_images, labelled_images, labels_among, target_images

SENTENCE = "an icon of a {}."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four images of each of 8 classes, by class, and the same without classes."""
    root = tmp_path_factory.mktemp("images")
    images = datasets.load("emoji-groups", part="test")
    for label, name in enumerate(images.classnames):
        for place in (root / "by class" / name, root / "loose"):
            place.mkdir(parents=True, exist_ok=True)
            for number in np.flatnonzero(images.labels == label)[:4]:
                images.image(int(number)).save(place / f"{label}-{number:04}.png")
    return root


@pytest.fixture(scope="module")
def classifier(folder, tmp_path_factory):
    recipe = classifiers.Recipe(side=28, epochs=1, checkpoints=(1,))
    trained = classifiers.train("convnet", datasets.folder.load(folder / "by class"), recipe, seed=0)[1]
    place = tmp_path_factory.mktemp("classifier")
    classifiers.save(trained, place)
    return place


def test_scores_of_all_models(folder, classifier, tmp_path, monkeypatch):
    monkeypatch.setattr(scoring, "TOGETHER", 10)
    images = labelled_images(str(folder / "by class"))
    model = scoring_model(str(classifier), None, SENTENCE, "cpu", scaled=True)
    reference = scoring_model("embedded", model.classnames, SENTENCE, "cpu", scaled=False)
    done = []
    models = {"logits": model, "reference": reference, "partner_1": model}
    assert write_scores(images, models, tmp_path / "s.parquet", lambda *counts: done.append(counts)) == 0
    assert done == [(count, 32, 0) for count in (0, 10, 20, 30, 32)]
    table = open_table([tmp_path / "s.parquet"])
    (block,) = (block.outputs for block in table.scores())
    assert table.classnames == images.classnames and len(block.partners) == 1
    np.testing.assert_array_equal(block.labels, images.labels)
    np.testing.assert_allclose(block.logits, classifiers.load(classifier).logits(images), atol=1e-5)
    clip = backbones.load("embedded")
    text = encode_names(clip, images.classnames, (SENTENCE,))
    pixels = clip.preprocess(images.image(31))[None]
    expected = cosine_logits(clip.encode_image(pixels).detach(), text, 1.0)
    np.testing.assert_allclose(block.reference[31], expected[0].numpy(), atol=1e-5)
    assert np.abs(block.reference).max() <= 1
    table = table.with_vectors()
    (block,) = (block.outputs for block in table.scores())
    assert table.vectors == ("appearance",) and np.array_equal(block.appearance, appearance(images))


def test_a_call_that_was_stopped_goes_on_where_it_was(folder, classifier, tmp_path, monkeypatch):
    monkeypatch.setattr(scoring, "TOGETHER", 10)
    images = labelled_images(str(folder / "by class"))
    model = scoring_model(str(classifier), None, SENTENCE, "cpu", scaled=True)
    scored = []

    def stopping_at(most):
        def scores(part):
            if len(scored) == most:
                raise KeyboardInterrupt
            scored.append(len(part))
            return model.scores(part)

        return {"logits": replace(model, scores=scores)}

    whole, path = tmp_path / "whole.parquet", tmp_path / "scores" / "s.parquet"
    write_scores(images, {"logits": model}, whole)
    with pytest.raises(KeyboardInterrupt):
        write_scores(images, stopping_at(2), path)
    assert not path.exists() and scored == [10, 10]  # whole or not at all
    (shard,) = path.parent.glob("*/scores-00001.parquet")
    shard.write_bytes(shard.read_bytes()[:-1])
    assert write_scores(images, stopping_at(9), path) == 10 and scored == [10, 10, 10, 10, 2]
    assert path.read_bytes() == whole.read_bytes() and len(list(path.parent.iterdir())) == 2
    assert write_scores(images, stopping_at(5), path) == 32
    for bad in (path.read_bytes()[:-10], b"PAR1", path.read_bytes().replace(b"classnames", b"classnamed")):
        path.write_bytes(bad)
        assert write_scores(images, stopping_at(99), path) == 0


def test_shards_are_removed_by_the_next_call_if_their_own_was_stopped_before(folder, classifier, tmp_path, monkeypatch):
    images, path = labelled_images(str(folder / "by class")), tmp_path / "s.parquet"
    model = {"logits": scoring_model(str(classifier), None, SENTENCE, "cpu", scaled=True)}

    def stop(path):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(scoring, "remove", stop)
        write_scores(images, model, path)
    assert path.exists() and len(list(tmp_path.glob("s.*/*.parquet"))) == 1
    assert write_scores(images, model, path) == len(images)
    assert not list(tmp_path.glob("s.*/"))


DIFFERENT = {  # what is changed in (images, model, labelled)
    "labels": lambda images, model: (replace(images, labels=images.labels[::-1].copy()), model, True),
    "no labels": lambda images, model: (images, model, False),
    "weights": lambda images, model: (images, replace(model, fingerprint="other"), True),
    "code, precision, device": lambda images, model: (images, replace(model, settings="other"), True),
    "classes": lambda images, model: (images, replace(model, classnames=model.classnames[::-1]), True),
    "sentence": lambda images, model: (images, replace(model, text=torch.ones(2, 2)), True),
}


def test_other_inputs_never_use_scores_again(folder, classifier):
    images = labelled_images(str(folder / "by class"))
    model = scoring_model(str(classifier), None, SENTENCE, "cpu", scaled=True)
    made = made_of(images, {"logits": model})
    for what, change in DIFFERENT.items():
        other, changed, labelled = change(images, model)
        assert made != made_of(other, {"logits": changed}, labelled=labelled), what
    assert made == made_of(labelled_images(str(folder / "by class")), {"logits": model})


def test_another_image_under_the_same_name_is_another_target(folder, tmp_path):
    shutil.copytree(folder / "loose", tmp_path / "loose")
    first, second, *_ = sorted((tmp_path / "loose").iterdir())
    before, again = (target_images(str(tmp_path / "loose"), ("cat",))[0].fingerprint for _ in range(2))
    shutil.copy(first, second)
    assert before == again != target_images(str(tmp_path / "loose"), ("cat",))[0].fingerprint


def test_a_source_that_the_model_was_trained_on_is_said(folder, classifier, tmp_path):
    """Its very images, copies of them in another format, and others; also where the scores were kept."""
    rest = datasets.load("emoji-groups", part="test")
    names = rest.classnames
    for label, name in enumerate(names):
        for place in ("copies", "others"):
            (tmp_path / place / name).mkdir(parents=True)
        for path in (folder / "by class" / name).iterdir():
            Image.open(path).save(tmp_path / "copies" / name / f"{path.stem}.jpg", quality=90)
        for number in np.flatnonzero(rest.labels == label)[4:9]:
            rest.image(int(number)).save(tmp_path / "others" / name / f"{number}.png")
    models, said = {"logits": scoring_model(str(classifier), None, SENTENCE, "cpu", scaled=True)}, {}
    for place in (tmp_path / "others", folder / "by class", tmp_path / "copies"):
        write_scores(labelled_images(str(place)), models, tmp_path / f"{place.name}.parquet")
        source, target = (open_table([tmp_path / f"{name}.parquet"]) for name in (place.name, "others"))
        found = estimate_accuracy(source, target, Settings(estimators=("AC",))).warnings
        said[place.name] = "\n".join(one for one in found if "seen_in_training" in one)
    assert "trained on 32 of the 32 source images" in said["by class"]
    assert "trained on 0 of the 32 source images, and on images much like" in said["copies"]
    assert said["others"] == ""


def test_a_backbone_whose_accuracy_is_estimated_speaks_on_its_own_scale(folder):
    images = labelled_images(str(folder / "by class")).subset([0, 1])
    names, scale = images.classnames, float(backbones.load("embedded").logit_scale)
    model, reference = (scoring_model("embedded", names, SENTENCE, "cpu", scaled=scaled) for scaled in (True, False))
    np.testing.assert_allclose(model.scores(images), scale * reference.scores(images), atol=1e-5)


def test_what_names_images(folder, tmp_path):
    assert are_images(str(folder)) and are_images("emoji-concepts/noto")
    assert not are_images("scores.npz") and not are_images("no-such-set")
    images = labelled_images("emoji-groups/noto/validation")
    assert (images.name, images.domain) == ("emoji-groups", "noto")
    for part in ("train", "val"):
        (tmp_path / part / "cat").mkdir(parents=True)
    for where, words in {
        "emoji-groups/noto/test/1": "has too many parts",
        str(tmp_path): "holds parts, not classes: train, val; give one of them",
    }.items():
        with pytest.raises(OpenworldError, match=words):
            labelled_images(where)


def test_a_target_is_labelled_where_its_folders_are_classes(folder):
    names = labelled_images(str(folder / "by class")).classnames
    assert target_images(str(folder / "by class"), names)[1]
    assert not target_images(str(folder / "loose"), names)[1]
    images, labelled = target_images(str(folder), names)  # its folders are no classes: all images below are loose
    assert not labelled and len(images) == 64


def test_labels_in_the_models_order(folder):
    images = labelled_images(str(folder / "by class"))
    names = images.classnames[::-1]
    np.testing.assert_array_equal(labels_among(images, names), 7 - images.labels)
    with pytest.raises(OpenworldError, match=r"has 1 class\(es\) that the model does not tell apart, first"):
        labels_among(images, names[1:])


def test_models_that_will_not_do(classifier):
    with pytest.raises(OpenworldError, match="knows no classes of its own"):
        scoring_model("embedded", None, SENTENCE, "cpu", scaled=True)
    with pytest.raises(OpenworldError, match="the classes of .* are not those expected"):
        scoring_model(str(classifier), ("cat", "dog"), SENTENCE, "cpu", scaled=True)
    with pytest.raises(OpenworldError, match="must hold {} once"):
        scoring_model("embedded", ("cat", "dog"), "a photo", "cpu", scaled=True)


@pytest.fixture(scope="module")
def images():
    every = datasets.load("emoji-groups", domain="noto", part="test")
    return every.subset(range(0, len(every), 20))


def test_copies_are_of_four_families_mild_and_strong(images, monkeypatch):
    monkeypatch.setattr(scoring, "MOST", 5)
    copies = list(scoring.corrupted_copies(images, 0))
    assert len(copies) == 16 and {family for family, _ in copies} == {"noise", "blur", "weather", "digital"}
    assert len({copy.domain for _, copy in copies}) == 16
    first, *others = (copy for _, copy in copies)
    assert len(first) == 5 and all(np.array_equal(first.labels, one.labels) for one in others)
    assert len({one.fingerprint for one in (first, *others)}) == 16
    other = next(scoring.corrupted_copies(images, 1))[1]
    assert other.fingerprint != first.fingerprint
    again = next(scoring.corrupted_copies(images, 0))[1]
    assert np.array_equal(np.asarray(first.image(2)), np.asarray(again.image(2)))


def test_families_are_those_of_the_corruptions():
    from openworld.datasets.corruptions import CORRUPTIONS

    for family, names in scoring.FAMILIES.items():
        assert {CORRUPTIONS[name].group for name in names} == {family}


@pytest.mark.parametrize(("size", "expected"), [((600, 512), (300, 256)), ((300, 100), (300, 100))])
def test_large_images_are_scaled_down_first(size, expected):
    assert scoring.read_at_most(lambda index: Image.new("L", size), 0).size == expected
