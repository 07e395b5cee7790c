"""`openworld detect` on a model and images, on features, and with thresholds that are kept and used."""

import contextlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from small_images import draw, network, save_network

import openworld as ow
from openworld import classifiers, detectors
from openworld.detectors import KNN, MSP, Activations, Head
from openworld.ood.detect.places import images_at, known_images
from openworld.ood.thresholds import SavedModel, SavedThresholds, read_saved_thresholds, write_saved
from openworld.runs.sealed import seal, unseal

NAMES = ("blue", "green", "red")
COUNTS = {"train": 8, "validation": 20, "test": 6}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Class folders in three parts, others without classes, and a list of these as OpenOOD writes it."""
    place, dice = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    for part, count in COUNTS.items():
        for channel, name in enumerate(reversed(NAMES)):
            draw(place / "mine" / part / name, count, dice, channel=channel)
    draw(place / "others", 7, dice)
    (place / "others.txt").write_text("".join(f"others/{number}.png -1\n" for number in range(5)))
    return place


@pytest.fixture(scope="module")
def saved(place):
    return save_network(place / "classifier", NAMES)


def test_a_classifier_scores_as_its_detectors_do_and_kept_thresholds_flag_the_share_that_was_wanted(
    place, saved, tmp_path
):
    out, sets = tmp_path / "out", {"near": place / "others", "far:listed": place / "others.txt"}
    how = {"detector": ["MSP", "KNN:k=3"], "flag_rate": 0.1, "replicates": 0}
    report = ow.detect(model=saved, id=place / "mine", ood=sets, **how, out=out, quiet=True)
    sets = [(each.name, each.group, len(each)) for each in report.found.all]
    assert sets == [("test", "id", 18), ("validation", "id", 60), ("others", "near", 7), ("listed", "far", 5)]
    logits = torch.from_numpy(classifiers.load(saved).logits(images_at(str(place / "others"))))
    wanted = MSP().fit().score(Activations(outputs=logits))
    assert report.found.others[0].scores["MSP"] == pytest.approx(wanted.double().numpy(), abs=1e-5)

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
    shared = {"model": str(features / "head.npz"), "id": features / "mine.npz", "quiet": True}
    shared |= {"ood": {"far": features / "others.npz"}, "replicates": 0}
    report = ow.detect(**shared, flag_rate=0.1, out=features / "out")
    assert {"MSP", "Energy", "MDS", "RMDS"} <= set(report.results.entities)
    train, others = (np.load(features / f"{name}.npz")["features"] for name in ("mine", "others"))
    detector = KNN(k=5).fit(torch.from_numpy(train[:40]))
    again = ow.detect(**shared, detector=["KNN:k=5"]).found.others[0].scores["KNN:k=5"]
    assert again == pytest.approx(detector.score(torch.from_numpy(others)).double().numpy(), abs=1e-5)
    wanted = MSP().fit().score(Activations(torch.from_numpy(others), Head(torch.eye(3, 5))))
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
    for where, expected in (("mine", {"train": 24, "validation": 60, "test": 18}), ("mine/test", {"test": 18})):
        assert {part: len(images) for part, images in known_images(str(place / where))[0].items()} == expected


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
        ({"detector": ["MSP"], "flag_rate": 0.01}, "60 validation images are too few to flag 1 %: give 100"),
    ],
)
def test_what_cannot_work_is_refused(place, saved, how, said):
    given = {"model": saved, "id": str(place / "mine"), "ood": [f"near={place / 'others'}"]}
    with pytest.raises(ow.OpenworldError, match=said):
        ow.detect(**given | how, quiet=True)


def test_all_leaves_out_what_the_model_cannot_serve_and_what_cannot_learn_says_so(place, saved, monkeypatch):
    few = {name: kind for name, kind in detectors.DETECTORS.items() if name in ("MSP", "ODIN", "MDS", "ViM", "MCM")}
    monkeypatch.setattr(detectors, "all_detectors", lambda: few)
    given = {"id": str(place / "mine"), "ood": [f"near={place / 'others'}"], "detector": ["all"]}
    report = ow.detect(model=saved, **given, replicates=0, quiet=True)
    assert {"MSP", "ODIN", "MDS"} == set(report.found.detectors) and "MCM" not in report.found.detectors
    assert any("ViM is left out" in warning for warning in report.found.warnings)
    assert any(warning.startswith("Left out: MCM: ") for warning in report.found.warnings)


def test_members_and_dropout_serve_the_detectors_that_sample_and_all_says_what_is_left_out(place, saved, tmp_path):
    other = save_network(tmp_path / "other", NAMES, seed=1)
    dropping = save_network(tmp_path / "dropping", NAMES, architecture="convnet")
    of_images = {"id": place / "mine", "ood": {"near": place / "others"}, "replicates": 0, "quiet": True}
    report = ow.detect(model=saved, member=[other], detector=["DeepEnsemble", "MSP"], **of_images)
    images = images_at(str(place / "others"))
    both = [classifiers.load(folder).logits(images) for folder in (saved, other)]
    mean = sum(torch.as_tensor(logits).double().softmax(1) for logits in both) / 2
    (others,) = report.found.others
    assert np.allclose(others.scores["DeepEnsemble"], mean.amax(1).numpy(), atol=1e-6)
    assert ow.detect(model=dropping, detector=["MCDropout"], **of_images).found.detectors == ("MCDropout",)
    for detector, said in {"MCDropout": "no layer that drops", "DeepEnsemble": "--member"}.items():
        with pytest.raises(ow.OpenworldError, match=said):
            ow.detect(model=saved, detector=[detector], **of_images)
    with pytest.raises(ow.OpenworldError, match="another order"):
        ow.detect(model=saved, member=[network(NAMES[::-1])], detector=["MSP"], **of_images)
