"""`openworld detect` on a model and images, on features, and with thresholds that are kept and used."""

import contextlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import openworld as ow
from openworld import classifiers, detectors
from openworld.detectors import KNN, MSP, Activations, Head
from openworld.ood.detect.places import images_at, known_images, named_sets
from openworld.ood.thresholds import SavedModel, SavedThresholds, read_saved_thresholds, write_saved
from openworld.runs.sealed import seal, unseal

NAMES = ("blue", "green", "red")
SIDE = 32
COUNTS = {"train": 8, "validation": 20, "test": 6}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Class folders in three parts, others without classes, and a list of these as OpenOOD writes it."""
    place, generator = tmp_path_factory.mktemp("images"), np.random.default_rng(0)

    def draw(path, channel):
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = generator.integers(0, 60, (SIDE, SIDE, 3))
        if channel is not None:
            pixels[..., channel] += 150
        Image.fromarray(pixels.astype(np.uint8)).save(path)

    for part, count in COUNTS.items():
        for channel, name in enumerate(reversed(NAMES)):
            for number in range(count):
                draw(place / "mine" / part / name / f"{number}.png", channel)
    for number in range(7):
        draw(place / "others" / f"{number}.png", None)
    (place / "others.txt").write_text("".join(f"others/{number}.png -1\n" for number in range(5)))
    return place


@pytest.fixture(scope="module")
def saved(place):
    torch.manual_seed(0)
    preprocess = classifiers.Preprocess(SIDE, SIDE, "shortest", (0.5,) * 3, (0.25,) * 3)
    module = classifiers.build("resnet-8", len(NAMES), SIDE)
    folder = place / "classifier"
    classifiers.save(classifiers.Classifier(module, NAMES, preprocess, "resnet-8"), folder)
    return str(folder)


def test_scores_of_a_classifier_are_those_of_its_detectors_on_the_same_images(place, saved):
    report = ow.detect(
        model=saved,
        id=place / "mine",
        ood={"near": place / "others", "far:listed": place / "others.txt"},
        detector=["MSP", "KNN:k=3"],
        replicates=0,
        quiet=True,
    )
    sets = report.found
    assert [(each.name, each.group, len(each)) for each in sets.all] == [
        ("test", "id", 18),
        ("validation", "id", 60),
        ("others", "near", 7),
        ("listed", "far", 5),
    ]
    images = images_at(str(place / "others"))
    logits = torch.from_numpy(classifiers.load(saved).logits(images))
    wanted = MSP().fit().score(Activations(outputs=logits))
    assert sets.others[0].scores["MSP"] == pytest.approx(wanted.double().numpy(), abs=1e-5)
    assert "KNN:k=3" in report.results.entities


def test_images_are_flagged_by_kept_thresholds_with_the_share_that_was_wanted(place, saved, tmp_path):
    out = tmp_path / "out"
    report = ow.detect(
        model=saved,
        id=place / "mine",
        ood=[f"near={place / 'others'}"],
        detector=["MSP", "KNN:k=3"],
        flag_rate=0.1,
        replicates=0,
        out=out,
        quiet=True,
    )
    validation = report.found.validation.scores["KNN:k=3"]
    threshold = json.loads((out / "thresholds.json").read_text())["thresholds"]["KNN:k=3"]
    assert threshold == np.sort(validation)[5] and (validation < threshold).mean() <= 0.1
    flagged = ow.detect(place / "others", apply=out, detector=["KNN:k=3"], out=tmp_path / "flagged", quiet=True).found
    assert flagged.scores == pytest.approx(report.found.others[0].scores["KNN:k=3"])
    assert flagged.alarm == (flagged.scores < threshold).any()
    lines = (tmp_path / "flagged" / "flagged.csv").read_text().splitlines()
    assert lines[0] == "image,score,flagged" and len(lines) == 8
    assert not ow.detect(place / "others", apply=out, at_most=0.999, quiet=True).found.alarm or flagged.flagged.all()


@pytest.fixture
def features(tmp_path):
    """In-distribution features in three parts, others, and a head."""
    generator = np.random.default_rng(1)
    labels = np.arange(120) % 3
    parts = np.repeat(["train", "validation", "test"], 40)
    centres = 4 * np.eye(3, 5)
    inside = (generator.normal(size=(120, 5)) + centres[labels]).astype(np.float32)
    head = {"weight": np.eye(3, 5, dtype=np.float32), "bias": np.zeros(3, np.float32)}
    np.savez(tmp_path / "mine.npz", features=inside, labels=labels, part=parts)
    np.savez(tmp_path / "others.npz", features=generator.normal(size=(30, 5)).astype(np.float32))
    np.savez(tmp_path / "head.npz", **head)
    return tmp_path


def test_features_and_a_head_are_enough(features):
    report = ow.detect(
        model=str(features / "head.npz"),
        id=features / "mine.npz",
        ood={"far": features / "others.npz"},
        flag_rate=0.1,
        out=features / "out",
        quiet=True,
    )
    assert {"MSP", "Energy", "MDS", "RMDS"} <= set(report.results.entities)
    table = dict(np.load(features / "mine.npz"))
    train, others = (
        torch.from_numpy(own) for own in (table["features"][:40], np.load(features / "others.npz")["features"])
    )
    detector = KNN(k=5).fit(train)
    again = ow.detect(
        model=str(features / "head.npz"),
        id=features / "mine.npz",
        ood={"far": features / "others.npz"},
        detector=["KNN:k=5"],
        replicates=0,
        quiet=True,
    )
    assert again.found.others[0].scores["KNN:k=5"] == pytest.approx(detector.score(others).double().numpy(), abs=1e-5)
    wanted = MSP().fit().score(Activations(others, Head(torch.eye(3, 5))))
    assert report.found.others[0].scores["MSP"] == pytest.approx(wanted.double().numpy(), abs=1e-5)
    flagged = ow.detect(features / "others.npz", apply=features / "out", detector=["MDS"], quiet=True).found
    assert flagged.flagged.mean() > 0.5


def test_new_detectors_never_stand_beside_old_thresholds(tmp_path, monkeypatch):
    """A second pair over the first is ended at each change of a file in turn: either is read, or none."""
    saved = [SavedThresholds({"MDS": place}, 0.1, 20, "MDS", SavedModel()) for place in (1.0, 2.0)]
    pairs = list(zip(saved, (b"first", b"second"), strict=True))

    def stoppable(change, left):
        def stop(*given, **named):
            left[0] -= 1
            if left[0] == -1:
                raise KeyboardInterrupt
            return change(*given, **named)

        return lambda *given, **named: stop(*given, **named)  # a plain function is a method where `change` is one

    changes, is_ended = 0, True
    while is_ended:
        write_saved(*pairs[0], tmp_path)
        left = [changes]
        with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            for home, name in ((os, "replace"), (os, "rename"), (Path, "unlink")):
                patch.setattr(home, name, stoppable(getattr(home, name), left))
            write_saved(*pairs[1], tmp_path)
            is_ended = False
        changes += 1
        try:
            read = read_saved_thresholds(tmp_path).threshold()[1], (tmp_path / "fitted.safetensors").read_bytes()
            assert read in [(saved.threshold()[1], fitted) for saved, fitted in pairs]
        except ow.OpenworldError as error:
            assert "is not the file that its thresholds were chosen with" in str(error)
    assert changes > 2


def test_thresholds_that_cannot_be_are_refused_whatever_their_seal(tmp_path):
    rng = np.random.default_rng(0)
    mine = {"group": ["id"] * 40 + ["far"] * 9, "part": ["validation"] * 20 + ["test"] * 29, "MSP": rng.random(49)}
    ow.detect(scores=mine, flag_rate=0.1, replicates=0, out=tmp_path, quiet=True)
    file = tmp_path / "thresholds.json"
    good = unseal(file.read_bytes())
    np.savez(tmp_path / "new.npz", MSP=rng.random(5))
    for edit in (
        {"flag_rate": 1.5},
        {"flag_rate": 0},
        {"validation": 0},
        {"validation": -3},
        {"validation": "many"},
        {"best": "Nothing"},
        {"thresholds": {}},
        {"thresholds": {"MSP": "high"}},
        {"thresholds": None},
        {"model": {"model": 3}},
        {"more": 1},
    ):
        file.write_bytes(seal(good | edit))
        with pytest.raises(ow.OpenworldError, match="holds no thresholds"):
            ow.detect(tmp_path / "new.npz", apply=tmp_path, quiet=True)


def test_parts_of_a_place_are_found_by_their_names(place):
    known = known_images(str(place / "mine"))
    assert [len(part) for part in (known.train, known.validation, known.test)] == [24, 60, 18]
    alone = known_images(str(place / "mine" / "test"))
    assert alone.train is None and alone.validation is None and len(alone.test) == 18


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"id": ""}, "none of --scores"),
        ({"ood": ["nearby=others"]}, "unknown group"),
        ({"ood": ["near"]}, "expected GROUP=IMAGES"),
        ({"ood": []}, "no set but in-distribution"),
        ({"ood": ["near=nowhere"]}, "no images at nowhere"),
        ({"detector": ["MCM"]}, "MCM needs"),
        ({"detector": ["MSB"]}, "did you mean"),
        ({"model": ""}, "images need a model"),
    ],
)
def test_what_cannot_work_is_refused(place, saved, how, said):
    given = {"model": saved, "id": str(place / "mine"), "ood": [f"near={place / 'others'}"]}
    with pytest.raises(ow.OpenworldError, match=said):
        ow.detect(**given | how, quiet=True)


def test_too_few_validation_images_for_a_rate_are_refused(place, saved):
    given = {"id": str(place / "mine"), "ood": [f"near={place / 'others'}"], "detector": ["MSP"]}
    with pytest.raises(ow.OpenworldError, match="60 validation images are too few to flag 1 %: give 100"):
        ow.detect(model=saved, **given, flag_rate=0.01, quiet=True)


def test_files_that_a_list_names_and_that_are_not_there_are_counted(tmp_path):
    (tmp_path / "list.txt").write_text("a b.png 3\nc.png 1\n")
    with pytest.raises(ow.OpenworldError, match="2 of 2 images"):
        named_sets([f"far={tmp_path / 'list.txt'}"])


def test_all_leaves_out_what_the_model_cannot_serve_and_what_cannot_learn_says_so(place, saved, monkeypatch):
    few = {name: kind for name, kind in detectors.DETECTORS.items() if name in ("MSP", "ODIN", "MDS", "ViM", "MCM")}
    monkeypatch.setattr(detectors, "all_detectors", lambda: few)
    given = {"id": str(place / "mine"), "ood": [f"near={place / 'others'}"], "detector": ["all"]}
    report = ow.detect(model=saved, **given, replicates=0, quiet=True)
    assert {"MSP", "ODIN", "MDS"} == set(report.found.detectors) and "MCM" not in report.found.detectors
    assert any("ViM is left out" in warning for warning in report.found.warnings)
    assert any(warning.startswith("Left out: MCM: ") for warning in report.found.warnings)


def test_members_and_dropout_serve_the_detectors_that_sample_and_all_says_what_is_left_out(place, saved, tmp_path):
    torch.manual_seed(1)
    preprocess = classifiers.Preprocess(SIDE, SIDE, "shortest", (0.5,) * 3, (0.25,) * 3)
    dropping = classifiers.build("convnet", len(NAMES), SIDE)
    other = classifiers.Classifier(classifiers.build("resnet-8", len(NAMES), SIDE), NAMES, preprocess, "resnet-8")
    classifiers.save(other, tmp_path / "other")
    classifiers.save(classifiers.Classifier(dropping, NAMES, preprocess, "convnet"), tmp_path / "dropping")
    of_images = {"id": place / "mine", "ood": {"near": place / "others"}, "replicates": 0, "quiet": True}
    report = ow.detect(model=saved, member=[str(tmp_path / "other")], detector=["DeepEnsemble", "MSP"], **of_images)
    images = images_at(str(place / "others"))
    both = [classifiers.load(folder).logits(images) for folder in (saved, tmp_path / "other")]
    mean = sum(torch.as_tensor(logits).double().softmax(1) for logits in both) / 2
    (others,) = report.found.others
    assert np.allclose(others.scores["DeepEnsemble"], mean.amax(1).numpy(), atol=1e-6)
    assert (
        "MCDropout" in ow.detect(model=str(tmp_path / "dropping"), detector=["MCDropout"], **of_images).found.detectors
    )
    for detector, said in {"MCDropout": "no layer that drops", "DeepEnsemble": "--member"}.items():
        with pytest.raises(ow.OpenworldError, match=said):
            ow.detect(model=saved, detector=[detector], **of_images)
    strange = classifiers.Classifier(other.module, NAMES[::-1], preprocess, "resnet-8")
    with pytest.raises(ow.OpenworldError, match="another order"):
        ow.detect(model=saved, member=[strange], detector=["MSP"], **of_images)
