"""Training: the same bytes for a seed, one step by hand, checkpoints on the way, images moved as said."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from made_up import NAMES, SMALL, image, image_set
from torch.nn.functional import cross_entropy

from openworld import OpenworldError
from openworld.classifiers import Recipe, build, train
from openworld.classifiers.training import TrainingImages, _batches, move_images


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_it_learns_what_can_be_learned(trained, optimiser):
    images = image_set(60)
    if optimiser == "adam":
        recipe = replace(SMALL, optimiser="adam", learning_rate=0.01, weight_decay=0.0)
        trained = train("resnet-8", image_set(), recipe, seed=0)
    assert (trained[4].logits(images).argmax(1) == images.labels).mean() > 0.9


def test_checkpoints_are_those_of_a_training_that_is_seen_on_the_way(trained):
    assert list(trained) == [1, 4] and trained[1].classnames == NAMES
    assert len(trained[1].history) == 1 and len(trained[4].history) == 4
    assert trained[4].history[:1] == trained[1].history
    assert trained[4].history[-1]["loss"] < trained[4].history[0]["loss"]
    assert trained[1].fingerprint != trained[4].fingerprint


def test_the_same_seed_gives_the_same_bytes_and_another_other_ones(trained):
    counted, brief = [], replace(SMALL, epochs=1, checkpoints=())
    again = train("resnet-8", image_set(), SMALL, seed=0, progress=lambda *counts: counted.append(counts))
    assert again[4].fingerprint == trained[4].fingerprint and counted == [(n, 4) for n in (1, 2, 3, 4)]
    assert train("resnet-8", image_set(), brief, seed=1)[1].fingerprint != trained[1].fingerprint
    torch.manual_seed(5)
    dropping = [train("convnet", image_set(6), brief, seed=3)[1] for _ in range(2)]
    assert dropping[0].fingerprint == dropping[1].fingerprint
    drawn, _ = torch.rand(1), torch.manual_seed(5)
    assert torch.rand(1) == drawn, "numbers that others draw are left alone"


def test_one_step_of_plain_descent_by_hand():
    recipe = Recipe(epochs=1, batch_size=24, learning_rate=0.1, momentum=0, weight_decay=0.5, shift=0, side=16)
    images = image_set()
    trained = train("resnet-8", images, recipe, seed=2)[1]
    with torch.random.fork_rng():
        torch.manual_seed(2)
        network = build("resnet-8", 3, 16)
        order = torch.randperm(24).tolist()
    pixels = torch.stack([trained.preprocess(image(index)) for index in order])
    cross_entropy(network(pixels), torch.from_numpy(images.labels)[order]).backward()
    for name, weights in network.named_parameters():
        expected = weights - 0.1 * (weights.grad + 0.5 * weights)
        torch.testing.assert_close(trained.module.get_parameter(name), expected, rtol=1e-4, atol=1e-5)


def test_a_last_batch_of_one_image_is_left_out():
    assert [len(batch) for batch in _batches(9, 4)] == [4, 4]
    assert [len(batch) for batch in _batches(10, 4)] == [4, 4, 2]
    assert [len(batch) for batch in _batches(1, 4)] == [1]


def test_many_images_are_read_again_every_time(monkeypatch):
    kept = TrainingImages(image_set(), Recipe(side=16), None)
    monkeypatch.setattr("openworld.classifiers.training._LARGEST", 0)
    anew = TrainingImages(image_set(), Recipe(side=16), None)
    rows = torch.tensor([3, 0, 3])
    assert anew._kept is None and anew.preprocess == kept.preprocess
    stacked = np.stack([np.asarray(image(index).resize((17, 16), 2))[:, :16] for index in range(24)]) / 255
    np.testing.assert_allclose(kept.preprocess.mean, stacked.mean(axis=(0, 1, 2)), atol=1e-4)
    np.testing.assert_allclose(kept.preprocess.std, stacked.std(axis=(0, 1, 2)), atol=1e-4)
    assert torch.equal(anew.pixels(rows), kept.pixels(rows))
    for images in (kept, anew):
        for row in range(24):
            images.pixels(torch.tensor([row]))
    assert len(kept.seen.same) == 24 and (kept.seen.same == anew.seen.same).all()
    assert (kept.seen.alike == anew.seen.alike).all()


def test_images_move_by_whole_pixels_and_repeat_their_edges():
    row = torch.tensor([1, 2, 3, 4], dtype=torch.uint8).expand(200, 3, 4, 4)
    seen = {tuple(one[0, 0].tolist()) for one in move_images(row, flip=False, shift=1)}
    assert seen == {(1, 2, 3, 4), (1, 1, 2, 3), (2, 3, 4, 4)}
    assert {tuple(one[0, 0].tolist()) for one in move_images(row, True, 0)} == {(1, 2, 3, 4), (4, 3, 2, 1)}
    assert torch.equal(move_images(row, False, 0), row)


def test_a_training_that_diverges_says_so():
    with pytest.raises(OpenworldError, match=r"diverged in epoch \d: .*lower the learning rate \(1e\+30\)"):
        train("convnet", image_set(), replace(SMALL, learning_rate=1e30), seed=0)
