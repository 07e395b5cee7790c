"""CoCoOp's parts: the network that moves the context, and an image at a time."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from openworld import OpenworldError
from openworld.learners import CoCoOp, CoOp, Images, NameSets, Schedule, cocoop
from openworld.learners.engine.parameter_counts import tuned_parameters

LEARNER = CoCoOp(words=None)
NEW = ("sea turtle", "violin")


@pytest.fixture
def parameters(clip, shots):
    return LEARNER.start(clip, shots.classnames, torch.Generator().manual_seed(0))


@pytest.fixture
def images(shots):
    return Images(torch.from_numpy(shots.embeddings)[:5])


@pytest.fixture
def labels(shots):
    return torch.from_numpy(shots.labels)[:5]


def test_counts_as_published():
    assert tuned_parameters(CoCoOp()) == 4 * 512 + (512 + 1) * 32 + (32 + 1) * 512 == 35_360


def test_a_network_that_answers_zero_leaves_coop(clip, shots, parameters, images, labels):
    silent = {name: torch.zeros_like(tensor) if "shift" in name else tensor for name, tensor in parameters.items()}
    silent["context"].requires_grad_(True)
    coop, context = CoOp(context_length=4), {"context": parameters["context"]}
    gradients = []
    for learner, own in ((LEARNER, silent), (coop, context)):
        total = learner.loss(clip, own, images, labels, learner.prepare(clip, shots.classnames))["total"]
        gradients.append(torch.autograd.grad(total, own["context"])[0])
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)
    names = NameSets(shots.classnames, NEW)
    with torch.no_grad():
        ours, theirs = (
            learner.answer(clip, own, images, learner.text_bank(clip, own, names))
            for learner, own in ((LEARNER, silent), (coop, context))
        )
    torch.testing.assert_close(ours.logits, theirs.logits, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(ours.baseness, theirs.baseness, rtol=1e-4, atol=1e-4)


def test_a_batch_is_the_mean_of_its_images(clip, shots, parameters, images, labels):
    prepared = LEARNER.prepare(clip, shots.classnames)
    together = LEARNER.loss(clip, parameters, images, labels, prepared)["total"]
    alone = [
        LEARNER.loss(clip, parameters, Images(images.embeddings[[i]]), labels[[i]], prepared)["total"] for i in range(5)
    ]
    torch.testing.assert_close(together, torch.stack(alone).mean())


def test_the_length_of_an_embedding_does_not_reach_the_network(clip, shots, parameters, images):
    bank = LEARNER.text_bank(clip, parameters, NameSets(shots.classnames))
    ours, longer = (
        LEARNER.answer(clip, parameters, Images(factor * images.embeddings), bank).logits for factor in (1, 7)
    )
    torch.testing.assert_close(ours, longer, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("sentences", [1, 20])
def test_images_in_small_groups_are_answered_the_same(clip, shots, parameters, images, sentences, monkeypatch):
    bank = LEARNER.text_bank(clip, parameters, NameSets(shots.classnames, NEW))
    whole = LEARNER.answer(clip, parameters, images, bank)
    monkeypatch.setattr(cocoop, "SENTENCES", sentences)
    parts = LEARNER.answer(clip, parameters, images, bank)
    torch.testing.assert_close(whole.logits, parts.logits, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(whole.baseness, parts.baseness, rtol=1e-4, atol=1e-4)


def test_no_image_no_answer(clip, shots):
    fitted = replace(LEARNER, schedule=Schedule(epochs=1)).fit(clip, shots, seed=1)
    answer = fitted.answer(shots.select(np.arange(0)), fitted.text_bank(shots.classnames, NEW))
    assert answer.logits.shape == (0, len(shots.classnames) + len(NEW))


def test_image_by_image_as_published(clip, shots):
    learner = CoCoOp.published("caltech101")
    assert (learner.schedule.batch_size, learner.schedule.epochs, learner.words) == (1, 10, "a photo of a")
    fitted = replace(learner, schedule=replace(learner.schedule, epochs=2, learning_rate=2e-2)).fit(clip, shots, seed=1)
    assert fitted.history[1]["total"] < fitted.history[0]["total"]
    unified = CoCoOp.published("imagenet", "openpl")
    assert (unified.words, unified.context_length, unified.schedule.batch_size) == (None, 4, 1)
    assert unified.schedule.epochs == 10


def test_half_a_network_is_refused():
    with pytest.raises(OpenworldError, match="reduction is 0"):
        CoCoOp(reduction=0)
