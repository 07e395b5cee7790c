"""Scores of a classifier's detectors in shards: those of one pass, each image read once, resumed where it was."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from small_images import draw, save_network

from openworld import OpenworldError, detectors
from openworld.datasets.formats import folder as folder_format
from openworld.evaluations.artifacts import MANIFEST, Stage
from openworld.evaluations.classifiers import in_folder
from openworld.evaluations.entries import CellsSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.published_cells import given_cells, some_images
from openworld.evaluations.running import RunOptions
from openworld.evaluations.runtime import Machine
from openworld.features.cache import look
from openworld.ood import classifier_shards
from openworld.ood.classifier_shards import ClassifierDetectors
from openworld.ood.model_entries import DetectorSpec
from openworld.ood.models import ImagesToScore, classifier_model
from openworld.ood.scoring import stages_of

NAMES = ("cat", "dog", "owl")
COUNTS = {"train": 100, "test": 50}  # of each class
BATCH = 128


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """300 training and 150 test images of 8 x 8 pixels, and a saved network of three classes that nobody trained."""
    root, luck = tmp_path_factory.mktemp("tiny"), np.random.default_rng(0)
    for part, count in COUNTS.items():
        for label, name in enumerate(NAMES):
            draw(root / "images" / part / name, count, luck, side=8, low=40 * label, high=256)
    save_network(root / "network", NAMES, side=8, architecture="convnet", resize="squash")
    return root


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(classifier_shards, "SCORED", BATCH)
    monkeypatch.setattr(classifier_shards, "GATHERED", BATCH)


def scoring(home, *names, settings={"KNN": {"k": 3}}):  # noqa: B006
    images = DatasetSpec(str(home / "images"))
    chosen = tuple(DetectorSpec(name, settings=settings.get(name, {})) for name in names)
    train, test = (ImagesToScore(part, (images.images(part),)) for part in ("train", "test"))
    pool = ImagesToScore("pool", (images.images("test"), images.images("train")))
    shards = ClassifierDetectors("network", in_folder(str(home / "network")), chosen, train, threads=1)
    return SimpleNamespace(shards=shards, scored=(test, pool))


def machine_in(folder):
    return Machine(cache=str(folder / "cache"))


def carried_out(given, machine, folder):
    return [stage.work(RunOptions(folder, workers=1)) for stage in stages_of([given], machine)]


def scores_of(given, machine):
    """What all detectors say of test images and pool."""
    fitted, _ = given.shards.fitted(machine)
    return [given.shards.answers(fitted, images, machine) for images in given.scored]


def in_one_pass(given, machine):
    """Scores of test images and pool, and predictions of the test images, written without a shard."""
    classifier = given.shards.classifier.load(machine)
    route = detectors.plan(given.shards.build_detectors(), classifier_model(given.shards.classifier, machine).watched)
    parts = [images.load(machine) for images in (given.shards.training, *given.scored)]
    train, test, pool = ([*classifier.batches(*part)] for part in parts)
    fitted = route.fit(train)
    predictions = torch.cat([route.model.see(pixels).predictions for pixels, _ in test])
    return route.score(fitted, test), route.score(fitted, pool), predictions


def test_scores_are_those_of_one_pass(home, small_shards, tmp_path):
    given, machine = scoring(home, "MSP", "KNN", "MDS", "ODIN", "ReAct", "GMM"), machine_in(tmp_path)
    assert carried_out(given, machine, tmp_path) == [300, 6, 150 + 450]
    (of_test, of_pool), (test, pool, predictions) = scores_of(given, machine), in_one_pass(given, machine)
    assert [*of_test.scores] == ["MSP", "KNN", "MDS", "ODIN", "ReAct", "GMM"]
    for label in of_test.scores:
        # Sums over the training images are rounded in another order; what learns of no sum is the same to the last bit.
        close = {"rtol": 0, "atol": 0} if label in ("MSP", "KNN", "ODIN", "ReAct") else {"rtol": 1e-4, "atol": 1e-4}
        np.testing.assert_allclose(of_test.scores[label], test[label].double().numpy(), **close)
        np.testing.assert_allclose(of_pool.scores[label], pool[label].double().numpy(), **close)
    assert of_test.prediction.tolist() == predictions.tolist()


def test_few_training_images_are_gathered_in_one_pass_to_the_last_bit(home, tmp_path):
    given, machine = scoring(home, "MDS", "GMM"), machine_in(tmp_path)
    (of_test, of_pool), (test, pool, _) = scores_of(given, machine), in_one_pass(given, machine)
    for label in ("MDS", "GMM"):
        assert of_test.scores[label].tolist() == test[label].double().tolist()
        assert of_pool.scores[label].tolist() == pool[label].double().tolist()


def test_every_image_is_read_once(home, small_shards, tmp_path, monkeypatch):
    counts, read = Counter(), folder_format.read_image
    monkeypatch.setattr(folder_format, "read_image", lambda path: counts.update([path]) or read(path))
    given, machine = scoring(home, "MSP", "KNN"), machine_in(tmp_path)
    carried_out(given, machine, tmp_path)
    scores_of(given, machine)
    # Training images are among the pool here, and test images, too.
    assert set(counts.values()) == {2} and len(counts) == sum(COUNTS.values()) * len(NAMES)


def test_what_was_scored_before_an_interruption_is_kept(home, small_shards, tmp_path):
    given, machine = scoring(home, "MSP", "MDS"), machine_in(tmp_path)
    carried_out(given, machine, tmp_path)
    whole = {path: path.read_bytes() for path in Path(machine.cache).rglob("*.safetensors")}
    (lost, damaged), kept = sorted(whole)[:2], sorted(whole)[2:]
    lost.unlink()
    damaged.write_bytes(whole[damaged][:-1] + b"?")
    stamps = {path: path.stat().st_mtime_ns for path in kept}
    carried_out(given, machine, tmp_path)
    assert {path: path.read_bytes() for path in whole} == whole
    assert {path: path.stat().st_mtime_ns for path in kept} == stamps


def test_gathered_shards_go_once_the_detectors_are_fitted(home, small_shards, tmp_path):
    given, machine = scoring(home, "MDS"), machine_in(tmp_path)
    gathered, fitting, _ = stages_of([given], machine)
    assert gathered.work(RunOptions(tmp_path, workers=1)) == 300
    folder = Path(machine.cache, given.shards.folder(machine))
    assert len([*folder.glob("gathered-*.safetensors")]) == 3
    assert fitting.work(RunOptions(tmp_path, workers=1)) == 1
    assert {path.name for path in folder.iterdir()} == {
        "detectors.safetensors",
        "detectors.safetensors.sha256",
        MANIFEST,
    }
    assert gathered.work(RunOptions(tmp_path, workers=1)) == 0


def test_the_cache_knows_what_it_holds(home, small_shards, tmp_path):
    given, machine = scoring(home, "MSP"), machine_in(tmp_path)
    carried_out(given, machine, tmp_path)
    assert not look(Path(machine.cache)).foreign
    assert [each.images for each in look(Path(machine.cache)).sets if "shard" in each.holds] == [None, None]
    scores_of(given, machine)
    held = {each.holds: each.images for each in look(Path(machine.cache)).sets}
    assert held == {"2 score shards": 150, "4 score shards": 450, "fitted detectors": 300}


def test_another_detector_or_setting_is_scored_anew(home, tmp_path):
    machine = machine_in(tmp_path)
    keys = {
        scoring(home, *names, settings=settings).shards.folder(machine)
        for names, settings in ((["KNN"], {}), (["KNN"], {"KNN": {"k": 3}}), (["KNN", "MSP"], {"KNN": {"k": 3}}))
    }
    assert len(keys) == 3


def test_sums_of_shards_are_part_of_what_a_result_depends_on(home, tmp_path, monkeypatch):
    """Runs of one pass keep the keys that they had."""
    given, machine = scoring(home, "MDS"), machine_in(tmp_path)
    assert given.shards.inputs(machine) == {}
    monkeypatch.setattr(classifier_shards, "GATHERED", BATCH)
    assert given.shards.inputs(machine)


@pytest.mark.slow
def test_workers_give_the_same_bytes(home, tmp_path):
    """In processes of their own, where nothing of this one is known."""
    given = scoring(home, "MSP", "KNN", "MDS")
    contents = []
    for workers in (1, 2):
        machine = machine_in(tmp_path / str(workers))
        for stage in stages_of([given], machine):
            stage.work(RunOptions(tmp_path / str(workers), workers=workers))
        found = Path(machine.cache)
        contents.append({str(path.relative_to(found)): path.read_bytes() for path in found.rglob("*.safetensors")})
    assert contents[0] == contents[1] and len(contents[0]) == 3


# --- given cells ----------------------------------------------------------------------------------------------


@pytest.fixture
def cells(home, tmp_path):
    """Three lists of 7, 0 and 5 images in one folder, and of 4 in another."""
    listed = {
        "a/cov_0_sem_0": ("cat", 7),
        "a/cov_0_sem_1": ("", 0),
        "a/cov_1_sem_0": ("dog", 5),
        "b/cov_0_sem_0": ("owl", 4),
    }
    for name, (folder, count) in listed.items():
        file = tmp_path / f"{name}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"./{folder}/{number}.png\n" for number in range(count)))
    return CellsSpec((str(tmp_path / "a"), str(tmp_path / "b")), str(home / "images" / "test"))


def test_some_images_of_given_cells_are_those_of_all(cells):
    every = given_cells(cells).images
    paths = [every.path_of(place) for place in range(16)]
    for start in range(17):
        for stop in range(start, 17):
            some = some_images(cells, start, stop)
            assert [some.path_of(place) for place in range(len(some))] == paths[start:stop]
    assert some_images(cells, 6, 9).image(1).tobytes() == every.image(7).tobytes()


def test_given_cells_are_scored_like_any_images(home, cells, small_shards, tmp_path, monkeypatch):
    monkeypatch.setattr(classifier_shards, "SCORED", 5)
    base, machine = scoring(home, "MSP"), machine_in(tmp_path)
    pool = ImagesToScore("pool", cells=cells)
    base.shards.build(machine)
    answers = base.shards.answers(base.shards.fitted(machine)[0], pool, machine)
    shown = given_cells(cells).images
    logits = base.shards.classifier.load(machine).logits(shown)
    np.testing.assert_allclose(answers.scores["MSP"], torch.from_numpy(logits).softmax(1).amax(1).numpy(), rtol=1e-5)
    assert answers.prediction.tolist() == logits.argmax(1).tolist()


def test_a_missing_image_is_named_when_its_shard_is_due(home, cells, tmp_path):
    gone = CellsSpec(cells.lists, str(tmp_path))
    with pytest.raises(OpenworldError, match="2 of 2 images of 'given cells' are missing.*cat/6.png, dog/0.png"):
        some_images(gone, 6, 8)


def test_the_pace_begins_with_the_work(home, small_shards, tmp_path):
    given, machine = scoring(home, "MSP"), machine_in(tmp_path)
    heard = []
    shards = lambda: given.shards.score_shards(given.scored[0], machine)  # noqa: E731
    given.shards.build(machine)
    stage = Stage("scoring", "scored", "images", machine, shards)
    stage.work(RunOptions(tmp_path, workers=1), lambda *done: heard.append(done))
    assert heard == [(0, 150), (128, 150), (150, 150)]
