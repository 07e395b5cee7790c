"""`openworld detect` with names of what the classes are not, with tuned learners, and with AdaNeg's streams."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import softmax

import openworld as ow
from openworld import backbones, datasets
from openworld.datasets.splits import few_shot
from openworld.detectors import Activations, AdaNeg, Texts, conjugated_names
from openworld.features import Encoding, encode
from openworld.learners import LEARNERS, encoding_for
from openworld.metrics import auroc

NOUNS = [f"{first}{second}" for first in ("ship", "tree", "moon", "fish", "road") for second in "abcdefgh"]
ADJECTIVES = [f"{first}{second}" for first in ("dark", "wet", "old") for second in "abcdefgh"]
GROUPS = 2


@pytest.fixture(scope="module")
def clip():
    return backbones.load("embedded")


@pytest.fixture(scope="module")
def images():
    """In-distribution images of five classes in three parts, and two sets of others."""

    def some(name, part, count, domain="twemoji"):
        whole = datasets.load(name, domain=domain, part=part)
        kept = whole.subset(np.flatnonzero(whole.labels < 5)[:count])
        return replace(kept, classnames=whole.classnames[:5])

    known = {part: some("emoji-concepts", part, count) for part, count in
             (("train", 20), ("validation", 10), ("test", 10))}  # fmt: skip
    return known, {"near:others": some("emoji-concepts-b", "test", 8), "far:two": some("emoji-concepts-b", "test", 6)}


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    (folder / "nouns.txt").write_text("\n".join([*NOUNS, "word " * 200]))
    (folder / "adjectives.txt").write_text("\n".join(ADJECTIVES))
    return folder


@pytest.fixture(scope="module")
def learner(clip, images):
    def fit(name):
        made = LEARNERS[name]()
        made = replace(made, context_length=2, words=None, schedule=replace(made.schedule, epochs=1))
        encoding = encoding_for(made, Encoding(2, (0.5, 1.0)))
        return made.fit(clip, encode(clip, images[0]["train"], encoding), seed=0)

    return fit


def judge(model, images, **given):
    known, others = images
    parts = {"id": known["test"], "train": known["train"], "validation": known["validation"]}
    return ow.detect(model=model, **parts, ood=others, replicates=0, quiet=True, device="cpu", **given)


def unit(rows):
    rows = np.asarray(rows, np.float64)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def furthest(own, candidates):
    near = np.quantile(candidates @ own.T, 0.95, axis=1)
    return candidates[np.argsort(near, kind="stable")[: int(0.15 * len(near))]]


def neglabel(images, own, negative):
    """The share of the class names in a softmax with each of `GROUPS` groups of negative names, image by image."""
    size = len(negative) // GROUPS
    order = np.random.default_rng(0).permutation(size * GROUPS).reshape(GROUPS, size)
    return [
        np.mean([softmax(100 * np.append(own @ image, negative[group] @ image))[: len(own)].sum() for group in order])
        for image in images
    ]


def embeddings(clip, images):
    return unit(encode(clip, images).embeddings[:])


@torch.no_grad()
def sentences(clip, template, names):
    return unit(clip.encode_text([template.format(name) for name in names]).numpy())


def test_neglabel_and_csp_are_their_plain_forms_on_words_of_a_folder(clip, images, words, tmp_path):
    detector = [f"{name}:groups={GROUPS}" for name in ("NegLabel", "CSP")]
    report = judge("embedded", images, negatives=words, detector=detector, flag_rate=0.1, out=tmp_path)
    assert any("1 of 89 names of the list are too long" in warning for warning in report.found.warnings)
    flagged = ow.detect(images[1]["near:others"], apply=tmp_path, detector=detector[:1], quiet=True, device="cpu").found
    assert flagged.scores == pytest.approx(report.found.others[0].scores[detector[0]]), "without the list"
    photo, names = "a photo of a {}", images[0]["test"].classnames
    own, nouns = sentences(clip, photo, names), furthest(sentences(clip, photo, names), sentences(clip, photo, NOUNS))
    adjectives = furthest(own, sentences(clip, "This is a {} photo", ADJECTIVES))
    joined = furthest(own, sentences(clip, photo, conjugated_names(ADJECTIVES)))
    for each in (report.found.test, *report.found.others):
        seen = embeddings(clip, images[0]["test"] if each.group == "id" else images[1][f"{each.group}:{each.name}"])
        for label, second in zip(detector, (adjectives, joined), strict=True):
            pool = np.concatenate([nouns, second])
            assert each.scores[label] == pytest.approx(neglabel(seen, own, pool), abs=2e-4)


def test_adaneg_sees_one_stream_for_each_set_and_says_so(clip, images, words, tmp_path):
    label = "AdaNeg:groups=2,length=4"
    report = judge("embedded", images, negatives=words, detector=[label, "MCM"], flag_rate=0.1, out=tmp_path)
    photo, names = "a photo of a {}", images[0]["test"].classnames
    own = sentences(clip, photo, names)
    negative = [furthest(own, sentences(clip, photo, NOUNS))]
    negative.append(furthest(own, sentences(clip, "This is a {} photo", ADJECTIVES)))
    texts = Texts(torch.tensor(own), torch.tensor(np.concatenate(negative)))
    test = embeddings(clip, images[0]["test"])
    for each in report.found.others:
        both = np.concatenate([test, embeddings(clip, images[1][f"{each.group}:{each.name}"])])
        order = np.random.default_rng(0).permutation(len(both))
        stream = AdaNeg(groups=2, length=4).fit().score(Activations(torch.tensor(both[order]), texts=texts)).numpy()
        scores = np.empty(len(both))
        scores[order] = stream
        assert np.append(each.inside[label], each.scores[label]) == pytest.approx(scores, abs=2e-4)
        value = report.results.value(label, "auroc", group=each.group, set=each.name).value
        assert value == auroc(each.inside[label], each.scores[label]).value
    assert list(json.loads((tmp_path / "thresholds.json").read_text())["thresholds"]) == ["MCM"]
    page = (tmp_path / "report.html").read_text()
    assert f"{label} *" in page and "depends on the order" in page
    again = ow.detect(scores=tmp_path / "scores.parquet", replicates=0, quiet=True)
    for each in report.found.others:
        where = {"group": each.group, "set": each.name}
        assert again.results.value(label, "auroc", **where) == report.results.value(label, "auroc", **where)


def test_a_threshold_for_what_depends_on_the_order_is_refused(images, words):
    with pytest.raises(ow.OpenworldError, match="depend on the order.*name another detector too"):
        judge("embedded", images, negatives=words, detector=["AdaNeg:groups=2"], flag_rate=0.1)


def test_a_saved_learner_detects_with_its_own_score_and_its_own_texts(clip, images, words, learner, tmp_path):
    fitted = learner("LoCoOp")
    fitted.save(tmp_path / "saved")
    detector = ["own score", f"NegLabel:groups={GROUPS}", "KNN:k=3"]
    report = judge(str(tmp_path / "saved"), images, negatives=words, detector=detector)
    bank, others = fitted.text_bank(fitted.classnames), images[1]["near:others"]
    seen = encode(clip, others, Encoding(patches=True))
    assert report.found.others[0].scores["own score"] == pytest.approx(fitted.own_score(seen, bank), abs=1e-6)
    own, nouns, adjectives = (unit(fitted.text_bank(names).text) for names in (fitted.classnames, NOUNS, ADJECTIVES))
    pool = np.concatenate([furthest(own, nouns), furthest(own, adjectives)])
    wanted = neglabel(unit(seen.embeddings[:]), own, pool)
    assert report.found.others[0].scores[detector[1]] == pytest.approx(wanted, abs=2e-4)
    assert "1 epoch" in report.made["training"] and "schedule.epochs 1" in report.made["settings"]


def test_negative_names_are_refused_where_no_text_stands_for_a_name(images, words, learner):
    fitted = learner("GalLoP")
    with pytest.raises(ow.OpenworldError, match="NegLabel.*GalLoP on embedded does not"):
        judge(fitted, images, negatives=words, detector=["NegLabel"])


def test_a_learner_is_trained_on_the_training_images_and_kept_beside_its_thresholds(clip, images, tmp_path):
    words, shots = "CoOp:context_length=2,schedule.epochs=1", 2
    given = {"learner": words, "shots": shots, "detector": ["own score", "MCM"], "flag_rate": 0.1, "seed": 3}
    report = judge("embedded", images, **given, out=tmp_path / "out")
    train = images[0]["train"]
    drawn = train.subset(few_shot(train.labels, shots, random.Random(3)))
    made = replace(LEARNERS["CoOp"](), context_length=2, schedule=replace(LEARNERS["CoOp"]().schedule, epochs=1))
    fitted = made.fit(clip, encode(clip, drawn, Encoding(8, (0.5, 1.0), 3)), seed=3)
    others = images[1]["near:others"]
    wanted = fitted.own_score(encode(clip, others), fitted.text_bank(fitted.classnames))
    assert report.found.others[0].scores["own score"] == pytest.approx(wanted, abs=1e-6)
    (tmp_path / "out").rename(tmp_path / "moved")
    for detector in ("own score", "MCM"):
        flagged = ow.detect(others, apply=tmp_path / "moved", detector=[detector], quiet=True, device="cpu").found
        assert flagged.scores == pytest.approx(report.found.others[0].scores[detector])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"detector": ["NegLabel"]}, "give negatives: 'wordnet', a folder"),
        ({"detector": ["NegLabel"], "negatives": NOUNS}, "groups, and of the 40 of the words.*NegLabel:groups to 6 or"),
        ({"detector": ["CSP"], "negatives": NOUNS}, "CSP needs adjectives beside the nouns"),
        ({"negatives": "nowhere.txt"}, "nowhere.txt"),
        ({"learner": "CoOps"}, "did you mean"),
        ({"learner": "CoOp:context=2"}, "context_length"),
    ],
)
def test_what_cannot_work_is_refused(images, given, said):
    with pytest.raises(ow.OpenworldError, match=said):
        judge("embedded", images, **given)
