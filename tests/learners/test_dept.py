"""DePT: KgCoOp where the head is silent, the head's columns, what counts the length of an embedding, the counts."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from openworld.learners import DePT, Schedule

LEARNER = DePT(schedule=Schedule(epochs=3, batch_size=8))
NEW = ("sea turtle", "violin")


@pytest.fixture(scope="module")
def fitted(clip, shots):
    return LEARNER.fit(clip, shots, seed=1)


def test_the_head_follows_the_names(fitted, shots):
    names = shots.classnames
    given = fitted.answer(shots, fitted.text_bank(names)).base_logits
    order = [4, 0, 6, 5, 2, 1, 3]
    shuffled = fitted.answer(shots, fitted.text_bank([names[place].upper() for place in order])).base_logits
    np.testing.assert_allclose(shuffled, given[:, order], rtol=1e-4, atol=1e-4)
    some = fitted.answer(shots, fitted.text_bank(names[2:4], NEW)).base_logits
    np.testing.assert_allclose(some, given[:, 2:4], rtol=1e-4, atol=1e-4)


def test_the_head_is_silent_where_it_does_not_know_a_name(fitted, shots):
    bank = fitted.text_bank((*shots.classnames[:3], "lighthouse"), NEW)
    answer = fitted.answer(shots, bank)
    assert answer.base_logits is None
    assert np.array_equal(fitted.logits(shots, bank, "base"), answer.logits[:, :4])


def test_length_counts_for_base_logits_alone(fitted, shots):
    bank = fitted.text_bank(shots.classnames, NEW)
    ours, longer = (fitted.answer(replace(shots, embeddings=by * shots.embeddings), bank) for by in (1, 3))
    np.testing.assert_allclose(ours.logits, longer.logits, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(ours.baseness, longer.baseness, rtol=1e-4, atol=1e-3)
    assert np.abs(ours.base_logits - longer.base_logits).max() > 0.01


def test_everything_but_the_context_learns_faster(clip, shots):
    parameters = LEARNER.start(clip, shots.classnames, torch.Generator().manual_seed(0))
    assert LEARNER.loop.rate_factors == dict.fromkeys(parameters.keys() - {"context"}, 6.5)
    # Without a rate of their own they stand still once the warm-up epoch, which has one rate for all, is over.
    slow = replace(LEARNER, rate_factor=0)
    brief = replace(slow, schedule=replace(slow.schedule, epochs=1))
    longer, first = (learner.fit(clip, shots, seed=1).parameters for learner in (slow, brief))
    assert [name for name in parameters if not torch.equal(longer[name], first[name])] == ["context"]
