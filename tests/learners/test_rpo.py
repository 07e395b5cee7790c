"""RPO: pairs of rows that only read; how they start, what they cost, what is refused."""

import pytest
import torch
from comparison import images_of
from tiny_clip import tiny_clip
from torch.nn.functional import normalize

from openworld import OpenworldError
from openworld.learners import RPO, NameSets
from openworld.learners.engine.parameter_counts import tuned_parameters

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


def test_logits_are_the_mean_over_pairs(clip):
    """Each pair by itself, as RPO with one prompt."""
    images, _, names = images_of(clip, torch.float32)
    prompts, asked = prompts_of(LEARNER, clip), NameSets(tuple(names))

    def logits(rows):
        return LEARNER.answer(clip, rows, images, LEARNER.text_bank(clip, rows, asked)).logits

    alone = [logits({way: rows[k : k + 1] for way, rows in prompts.items()}) for k in range(3)]
    torch.testing.assert_close(logits(prompts), torch.stack(alone).mean(dim=0), rtol=1e-4, atol=1e-4)


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_prompt_learns_in_wide_numbers(dtype):
    clip = tiny_clip(dtype)
    images, labels, names = images_of(clip, dtype)
    prompts = {way: rows.requires_grad_(True) for way, rows in prompts_of(LEARNER, clip).items()}
    total = LEARNER.loss(clip, prompts, images, labels, LEARNER.prepare(clip, names))["total"]
    total.backward()
    assert total.dtype == torch.float32
    for rows in prompts.values():
        assert rows.grad.dtype == torch.float32 and (rows.grad.abs().amax(dim=1) > 0).all()


def test_underscores_are_spaces_unless_kept(clip):
    prompts = prompts_of(LEARNER, clip)

    def bank(learner, name):
        return learner.text_bank(clip, prompts, NameSets((name,))).text

    kept = RPO(prompts=3, keep_underscores=True)
    assert torch.equal(bank(LEARNER, "ice_cream"), bank(LEARNER, "ice cream"))
    assert not torch.allclose(bank(kept, "ice_cream"), bank(kept, "ice cream"), atol=1e-3)


def test_names_that_leave_no_room_are_refused(clip):
    prompts, long = prompts_of(LEARNER, clip), "golden " * 67 + "retriever"
    with pytest.raises(OpenworldError, match="3 read-only prompts .* use at most 2 prompts"):
        LEARNER.text_bank(clip, prompts, NameSets(("owl", long)))


def test_published_settings():
    assert tuned_parameters(RPO.published("dtd")) == 30_720
    assert tuned_parameters(RPO.published("dtd", "openpl")) == 5_120
    assert RPO.published("dtd") == RPO(prompts=24)
    plan = RPO.published("imagenet", "openpl")
    assert (plan.prompts, plan.schedule.epochs, plan.schedule.learning_rate) == (4, 10, 2e-3)
    assert RPO.published("imagenet", "ood").schedule.learning_rate == 5e-3


@pytest.mark.parametrize(
    "wrong", [{"prompts": 0}, {"noise": -1.0}, {"initial": "random"}, {"template": "a photo."}], ids=str
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(OpenworldError):
        RPO(**wrong)
