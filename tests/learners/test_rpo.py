"""RPO: pairs of rows that only read; how they start, what they cost, what is refused."""

import pytest
import torch
from comparison import images_of
from torch.nn.functional import normalize

from openworld import OpenworldError
from openworld.learners import RPO, NameSets

LEARNER = RPO(prompts=3)


def prompts_of(learner, clip, seed=0):
    return learner.start(clip, ("owl",), torch.Generator().manual_seed(seed))


def test_prompts_start_a_step_away_from_the_frozen_rows(clip):
    prompts = prompts_of(LEARNER, clip)
    frozen = {"text": clip.text.tokens.weight[49407], "image": clip.image.class_row}
    for way, row in frozen.items():
        moves = prompts[way] - row
        torch.testing.assert_close(moves.norm(dim=-1), torch.full((3,), 0.1))
        directions = normalize(moves, dim=-1)
        assert (directions @ directions.T - torch.eye(3)).abs().max() < 0.9


def test_or_from_small_numbers(clip):
    rows = prompts_of(RPO(prompts=200, initial="normal"), clip)
    assert all(0.019 < tensor.std() < 0.021 for tensor in rows.values())


def test_chunks_give_the_same(clip, monkeypatch):
    images, _, names = images_of(clip, torch.float32)
    prompts, asked = prompts_of(LEARNER, clip), NameSets(tuple(names[:5]), tuple(names[5:]))
    banks, answers = [], []
    for chunk in (32, 4):
        monkeypatch.setattr("openworld.learners.rpo.CHUNK", chunk)
        banks.append(LEARNER.text_bank(clip, prompts, asked))
        answers.append(LEARNER.answer(clip, prompts, images, banks[-1]).logits)
    torch.testing.assert_close(*(bank.text for bank in banks), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(*answers, rtol=1e-4, atol=1e-3)


def test_names_that_leave_no_room_are_refused(clip):
    prompts, long = prompts_of(LEARNER, clip), "golden " * 67 + "retriever"
    with pytest.raises(OpenworldError, match="3 read-only prompts .* use at most 2 prompts"):
        LEARNER.text_bank(clip, prompts, NameSets(("owl", long)))
