"""Models look at pictures and write a file of scores; whose labels count, and which models will not do."""

import shutil

import numpy as np
import pytest
from PIL import Image

from openworld import OpenworldError, backbones, classifiers, datasets
from openworld.applications.estimate import images as pictures
from openworld.applications.estimate.estimation import EstimateOptions, estimate_accuracy
from openworld.applications.estimate.models import find_judge
from openworld.applications.estimate.score_tables import open_table
from openworld.learners.engine.text_bank import cosine_logits
from openworld.learners.engine.text_features import encode_names

SENTENCE = "an icon of a {}."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four pictures of each of 8 classes, by class, and the same without classes."""
    root = tmp_path_factory.mktemp("pictures")
    images = datasets.load("emoji-groups", part="test")
    for label, name in enumerate(images.classnames):
        for place in (root / "by class" / name, root / "loose"):
            place.mkdir(parents=True, exist_ok=True)
            for number in np.flatnonzero(images.labels == label)[:4]:
                images.image(int(number)).save(place / f"{label}-{number:04}.png")
    return root


@pytest.fixture(scope="module")
def classifier(folder, tmp_path_factory):
    trained = classifiers.train(
        "convnet",
        datasets.folder.load(folder / "by class"),
        classifiers.Recipe(side=28, epochs=1, checkpoints=(1,)),
        seed=0,
    )[1]
    place = tmp_path_factory.mktemp("classifier")
    classifiers.save(trained, place)
    return place


def test_scores_of_all_models(folder, classifier, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "TOGETHER", 10)
    shown = pictures.labelled_pictures(str(folder / "by class"))
    judged = find_judge(str(classifier), None, SENTENCE, "cpu", scaled=True)
    reference = find_judge("embedded", judged.classnames, SENTENCE, "cpu", scaled=False)
    done = []
    panel = pictures.Panel(judged, reference, (judged,))
    pictures.write_scores(shown, panel, tmp_path / "s.parquet", lambda *told: done.append(told))
    assert done == [(10, 32), (20, 32), (30, 32), (32, 32)]
    table = open_table([tmp_path / "s.parquet"])
    (block,) = (block.outputs for block in table.blocks())
    assert table.layout.classnames == shown.images.classnames and len(block.partners) == 1
    np.testing.assert_array_equal(block.labels, shown.images.labels)
    np.testing.assert_allclose(block.logits, judged.classifier.logits(shown.images), atol=1e-5)
    clip = backbones.load("embedded")
    text = encode_names(clip, shown.images.classnames, (SENTENCE,))
    pixels = clip.preprocess(shown.images.image(31))[None]
    expected = cosine_logits(clip.encode_image(pixels).detach(), text, 1.0)
    np.testing.assert_allclose(block.reference[31], expected[0].numpy(), atol=1e-5)
    assert np.abs(block.reference).max() <= 1


def scores_of(where, classifier, path):
    judged = find_judge(str(classifier), None, SENTENCE, "cpu", scaled=True)
    pictures.write_scores(pictures.labelled_pictures(str(where)), pictures.Panel(judged), path)
    return open_table([path])


def test_a_source_that_the_model_was_trained_on_is_said(folder, classifier, tmp_path):
    """Its very pictures, copies of them in another format, and others; also where the scores were kept."""
    rest = datasets.load("emoji-groups", part="test")
    names = rest.classnames
    for label, name in enumerate(names):
        for place in ("copies", "others"):
            (tmp_path / place / name).mkdir(parents=True)
        for path in (folder / "by class" / name).iterdir():
            Image.open(path).save(tmp_path / "copies" / name / f"{path.stem}.jpg", quality=90)
        for number in np.flatnonzero(rest.labels == label)[4:9]:
            rest.image(int(number)).save(tmp_path / "others" / name / f"{number}.png")
    target = scores_of(tmp_path / "others", classifier, tmp_path / "target.parquet")
    said = {}
    for place in (folder / "by class", tmp_path / "copies", tmp_path / "others"):
        source = scores_of(place, classifier, tmp_path / "source.parquet")
        found = estimate_accuracy(source, target, EstimateOptions(estimators=("AC",))).warnings
        said[place.name] = "\n".join(one for one in found if "seen_in_training" in one)
    assert "trained on 32 of the 32 source images" in said["by class"]
    assert "trained on 0 of the 32 source images, and on pictures much like" in said["copies"]
    assert said["others"] == ""


def test_a_classifier_that_does_not_know_its_training_pictures(folder, classifier, tmp_path):
    old = shutil.copytree(classifier, tmp_path / "old")
    (old / "training-pictures.safetensors").unlink()
    source = scores_of(folder / "by class", old, tmp_path / "source.parquet")
    assert "seen_in_training" not in source.files[0].columns
    assert not any(
        "trained on" in one for one in estimate_accuracy(source, source, EstimateOptions(estimators=("AC",))).warnings
    )


def test_a_backbone_that_is_judged_speaks_on_its_own_scale(folder):
    names = pictures.labelled_pictures(str(folder / "by class")).images.classnames
    judged, reference = (find_judge("embedded", names, SENTENCE, "cpu", scaled=scaled) for scaled in (True, False))
    images = pictures.labelled_pictures(str(folder / "by class")).images.subset([0, 1])
    scale = float(judged.clip.logit_scale)
    np.testing.assert_allclose(judged.scores(images), scale * reference.scores(images), atol=1e-5)


def test_a_folder_of_parts_is_no_folder_of_classes(tmp_path):
    for part in ("train", "val"):
        (tmp_path / part / "cat").mkdir(parents=True)
    with pytest.raises(OpenworldError, match="holds parts, not classes: train, val; give one of them"):
        pictures.labelled_pictures(str(tmp_path))


def test_what_names_pictures(folder):
    assert pictures.is_pictures(str(folder)) and pictures.is_pictures("emoji-concepts/noto")
    assert not pictures.is_pictures("scores.npz") and not pictures.is_pictures("no-such-set")
    shown = pictures.labelled_pictures("emoji-groups/noto/validation")
    assert (shown.images.name, shown.images.domain) == ("emoji-groups", "noto") and shown.sentence == SENTENCE
    with pytest.raises(OpenworldError, match="has too many parts"):
        pictures.labelled_pictures("emoji-groups/noto/test/1")


def test_a_target_is_labelled_where_its_folders_are_classes(folder):
    names = pictures.labelled_pictures(str(folder / "by class")).images.classnames
    assert pictures.target_pictures(str(folder / "by class"), names).named
    assert pictures.target_pictures(str(folder / "loose"), names).labels(names) is None
    shown = pictures.target_pictures(str(folder), names)  # its folders are no classes: all pictures below are loose
    assert not shown.named and len(shown.images) == 64


def test_labels_in_the_models_order(folder):
    shown = pictures.labelled_pictures(str(folder / "by class"))
    names = shown.images.classnames[::-1]
    np.testing.assert_array_equal(shown.labels(names), 7 - shown.images.labels)
    with pytest.raises(OpenworldError, match=r"has 1 class\(es\) that the model does not tell apart, first"):
        shown.labels(names[1:])


def test_models_that_will_not_do(classifier):
    with pytest.raises(OpenworldError, match="knows no classes of its own"):
        find_judge("embedded", None, SENTENCE, "cpu", scaled=True)
    with pytest.raises(OpenworldError, match="the classes of .* are not those expected"):
        find_judge(str(classifier), ("cat", "dog"), SENTENCE, "cpu", scaled=True)
    with pytest.raises(OpenworldError, match="must hold {} once"):
        find_judge("embedded", ("cat", "dog"), "a photo", "cpu", scaled=True)
