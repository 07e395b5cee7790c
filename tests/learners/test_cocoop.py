"""CoCoOp reads all names anew for every image; in groups of any size it answers the same."""

import torch
from comparison import images_of

from openworld.learners import CoCoOp, NameSets, cocoop


def test_images_in_small_groups_are_answered_the_same(clip, monkeypatch):
    learner, (images, _, names) = CoCoOp(words=None), images_of(clip, torch.float32)
    parameters = learner.start(clip, names, torch.Generator().manual_seed(0))
    bank = learner.text_bank(clip, parameters, NameSets(tuple(names), ("violin",)))
    whole = learner.answer(clip, parameters, images, bank)
    for sentences in (1, 20):
        monkeypatch.setattr(cocoop, "SENTENCES", sentences)
        parts = learner.answer(clip, parameters, images, bank)
        torch.testing.assert_close(whole.logits, parts.logits, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(whole.baseness, parts.baseness, rtol=1e-4, atol=1e-4)
