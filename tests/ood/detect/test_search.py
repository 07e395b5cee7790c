"""`openworld detect --validation-ood`: settings chosen on validation images, in the passes that are made anyhow."""

from collections import Counter

import numpy as np
import pytest
import torch
from small_images import draw, save_network

import openworld as ow
from openworld import classifiers
from openworld.detectors import GEN, KNN, Activations, Head, load_together
from openworld.metrics import auroc
from openworld.ood.detect.choosing import choose_detectors
from openworld.ood.detect.places import known_images
from openworld.ood.feature_model import FeatureModel

WIDTH = 5


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Features of in-distribution images in three parts, of two other sets and of validation images, and a head."""
    place, dice = tmp_path_factory.mktemp("features"), np.random.default_rng(1)
    labels = np.arange(120) % 3
    inside = (dice.normal(size=(120, WIDTH)) + 3 * np.eye(3, WIDTH)[labels]).astype(np.float32)
    np.savez(place / "mine.npz", features=inside, labels=labels, part=np.repeat(["train", "validation", "test"], 40))
    for name, count, spread in (("near", 30, 1), ("far", 25, 2), ("noise", 35, 1.5), ("more", 15, 1)):
        np.savez(place / f"{name}.npz", features=(spread * dice.normal(size=(count, WIDTH))).astype(np.float32))
    np.savez(place / "head.npz", weight=np.eye(3, WIDTH, dtype=np.float32), bias=np.zeros(3, np.float32))
    return place


def detect(place, *, ood=("near", "far"), validation_ood=("noise", "more"), **given):
    return ow.detect(
        model=str(place / "head.npz"),
        id=given.pop("id", place / "mine.npz"),
        ood=[f"{name}={place / name}.npz" for name in ood],
        validation_ood=[str(place / f"{name}.npz") for name in validation_ood],
        quiet=True,
        **{"replicates": 0, **given},
    )


def features(place, name, part=None):
    table = dict(np.load(place / f"{name}.npz"))
    rows = slice(None) if part is None else table["part"] == part
    return torch.from_numpy(table["features"][rows])


def by_running_each(place, detectors):
    """Every setting fitted and scored by itself; the first of the largest mean AUROC over both validation sets."""
    head = Head(torch.eye(3, WIDTH), torch.zeros(3))
    worth = []
    for detector in detectors:
        fitted = detector.fit(features(place, "mine", "train"), head=head)
        known = fitted.score(Activations(features(place, "mine", "validation"), head)).double()
        sets = [fitted.score(Activations(features(place, name), head)).double() for name in ("noise", "more")]
        worth.append(np.mean([auroc(known, own).value for own in sets]))
    return worth, detectors[int(np.argmax(worth))].fit(features(place, "mine", "train"), head=head)


def test_the_choice_is_that_of_running_every_setting_and_test_scores_are_those_of_the_chosen(place, tmp_path):
    report = detect(place, detector=["KNN:k=1/5/30", "GEN:largest=2", "MSP"], out=tmp_path / "out", flag_rate=0.1)
    gammas = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
    for label, tried in (("KNN", [KNN(k) for k in (1, 5, 30)]), ("GEN:largest=2", [GEN(g, 2) for g in gammas])):
        worth, fitted = by_running_each(place, tried)
        name = "k" if label == "KNN" else "gamma"
        rows = [row for row in report.results.rows if row.metric.key == "validation_auroc" and row.entity == label]
        assert [row.value.value for row in rows] == pytest.approx(worth)
        (chosen,) = (row.where["settings"] for row in rows if row.where["chosen"] == "yes")
        assert chosen == f"{name} {getattr(fitted.detector, name)}"
        for each in (report.found.test, report.found.validation, *report.found.others):
            own = features(place, "mine", each.name) if each.group == "id" else features(place, each.name)
            expected = fitted.score(Activations(own, Head(torch.eye(3, WIDTH), torch.zeros(3)))).double().numpy()
            assert each.scores[label] == pytest.approx(expected, abs=1e-6)
        assert load_together(tmp_path / "out" / "fitted.safetensors")[label].detector == fitted.detector
    assert list(report.found.detectors) == ["KNN", "GEN:largest=2", "MSP"] and "MSP" not in chosen
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Which settings were chosen?" in page and "k 30" in page
    assert any(
        "40 in-distribution validation images and 35 of noise and 15 of more" in note for note in report.notes
    ) or ("35 of noise and 15 of more" in page)


def test_without_validation_images_out_of_distribution_nothing_is_searched(place):
    report = detect(place, validation_ood=(), detector=["GEN"])
    assert "validation_auroc" not in {row.metric.key for row in report.results.rows}
    with pytest.raises(ow.OpenworldError, match="2 values of k; say with --validation-ood"):
        detect(place, validation_ood=(), detector=["KNN:k=1/5"])


def test_a_setting_that_is_named_is_not_searched_and_profiles_are(place):
    known, _ = known_images(place / "mine.npz")
    model = FeatureModel.of(str(place / "head.npz"), known["test"])
    words = ["GEN:gamma=0.5", "profile:transformer", "ASH:percent=10/20,variant=s", "KNN:k=5"]
    entries, _ = choose_detectors(words, model, known, search=True)
    assert {entry.label: list(entry.grid) for entry in entries if entry.grid} == {
        "GEN:gamma=0.5": ["largest"],
        "GEN": ["gamma", "largest"],
        "ASH:variant=s": ["percent"],
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"validation_ood": ("near",)}, "30 of the 30 images of --validation-ood near are among those of near"),
        ({"validation_ood": ("mine",)}, "40 of the 120 images of --validation-ood mine are among those of train"),
        ({"validation_ood": ("nowhere",)}, "there are no images at"),
        ({"detector": ["KNN:k=0/5"]}, "k is 0"),
        ({"detector": ["KNN:kk=1/5"]}, "kk"),
        ({"detector": ["KNN:5"]}, "'5' for a setting, expected setting=value"),
        ({"detector": ["KNN:k=100/200"]}, "100 neighbour"),
    ],
)
def test_what_cannot_be_searched_is_refused(place, given, said):
    with pytest.raises(ow.OpenworldError, match=said):
        detect(place, **given)


def test_a_search_wants_in_distribution_validation_images(place, tmp_path):
    table = dict(np.load(place / "mine.npz"))
    kept = table["part"] != "validation"
    np.savez(tmp_path / "bare.npz", **{name: column[kept] for name, column in table.items()})
    with pytest.raises(ow.OpenworldError, match="searched with in-distribution validation images, too"):
        detect(place, id=tmp_path / "bare.npz")


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Colours in three parts, noise twice, and a small network that nobody trained."""
    place, dice = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    counts = {"mine/train/red": 6, "mine/train/green": 6, "mine/validation/red": 8, "mine/test/red": 5}
    for folder, count in (counts | {"near": 7, "noise": 9}).items():
        draw(place / folder, count, dice)
    save_network(place / "classifier", ("green", "red"))
    return place


@pytest.mark.parametrize("search", [False, True])
def test_every_image_is_looked_at_once_however_many_settings_are_tried(images, monkeypatch, search):
    looked = Counter()
    plain = classifiers.Classifier.batches

    def counted(self, images, rows, **how):
        looked[len(images)] += len(rows)
        yield from plain(self, images, rows, **how)

    monkeypatch.setattr(classifiers.Classifier, "batches", counted)
    report = ow.detect(
        model=str(images / "classifier"),
        id=images / "mine",
        ood=[f"near={images / 'near'}"],
        validation_ood=[str(images / "noise")] * search,
        detector=["GEN", "ASH", "ReAct"],
        replicates=0,
        quiet=True,
    )
    assert looked == {12: 12, 8: 8, 5: 5, 7: 7} | ({9: 9} if search else {})
    tried = [row for row in report.results.rows if row.metric.key == "validation_auroc"]
    assert len(tried) == (42 + 7 + 4) * search


def test_a_file_that_is_tested_is_no_validation_image_by_whatever_path(images, tmp_path):
    (tmp_path / "list.txt").write_text("near/../near/3.png -1\nnoise/1.png -1\n")
    with pytest.raises(ow.OpenworldError, match="1 of the 2 images of --validation-ood list are among those of near"):
        ow.detect(
            model=str(images / "classifier"),
            id=images / "mine",
            ood=[f"near={images / 'near'}"],
            validation_ood=[str(tmp_path / "list.txt")],
            root=str(images),
            quiet=True,
        )
