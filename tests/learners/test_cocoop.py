"""CoCoOp's parts: the network that moves the context, and an image at a time."""

import pytest
import torch

from openworld.learners import CoCoOp, CoOp, Images, NameSets, cocoop

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


@pytest.mark.parametrize("sentences", [1, 20])
def test_images_in_small_groups_are_answered_the_same(clip, shots, parameters, images, sentences, monkeypatch):
    bank = LEARNER.text_bank(clip, parameters, NameSets(shots.classnames, NEW))
    whole = LEARNER.answer(clip, parameters, images, bank)
    monkeypatch.setattr(cocoop, "SENTENCES", sentences)
    parts = LEARNER.answer(clip, parameters, images, bank)
    torch.testing.assert_close(whole.logits, parts.logits, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(whole.baseness, parts.baseness, rtol=1e-4, atol=1e-4)
