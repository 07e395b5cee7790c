"""MMRL: rows of one space for the upper blocks of both towers; published settings; refusals."""

import pytest
import torch
from comparison import images_of

from openworld import OpenworldError
from openworld.learners import MMRL, NameSets, Schedule
from openworld.learners.mmrl import mapped_rows


def start(learner, clip):
    return learner.start(clip, ("owl",), torch.Generator().manual_seed(0))


def test_maps_of_a_tower_start_as_copies_and_the_projection_at_random(clip):
    parameters = start(MMRL(depth=3, token_width=24), clip)
    shapes = {name: tuple(tensor.shape) for name, tensor in parameters.items()}
    maps = {f"{tower}_maps_weight": (3, 64, 24) for tower in ("image", "text")}
    maps |= {f"{tower}_maps_bias": (3, 64) for tower in ("image", "text")}
    assert shapes == {"tokens": (5, 24), "projection": (64, 64)} | maps
    for name in maps:
        assert (parameters[name] == parameters[name][0]).all()
    assert not torch.equal(parameters["image_maps_weight"], parameters["text_maps_weight"])
    assert 0.1 < parameters["projection"].std() < 0.15  # 1 / sqrt(64)


def test_rows_by_hand():
    parameters = {
        "tokens": torch.tensor([[1.0, 2.0]]),
        "text_maps_weight": torch.tensor([[[1.0, 1.0], [2.0, 0.0]], [[0.0, 3.0], [0.0, 0.0]]]),
        "text_maps_bias": torch.tensor([[0.0, 5.0], [1.0, 1.0]]),
    }
    assert mapped_rows(parameters, "text").tolist() == [[[3.0, 7.0]], [[7.0, 1.0]]]


def test_a_tower_with_fewer_blocks_gets_rows_at_every_block(clip):
    assert len(start(MMRL(depth=7), clip)["text_maps_bias"]) == 3


def test_terms_add_up_and_zero_weight_leaves_the_frozen_model_alone(clip):
    images, labels, names = images_of(clip, torch.float32)
    for weight in (0.0, 3.0):
        learner = MMRL(depth=2, weight=weight)
        terms = learner.loss(clip, start(learner, clip), images, labels, learner.prepare(clip, names))
        mixed = 0.7 * terms["cross_entropy"] + 0.3 * terms["token_cross_entropy"]
        assert float(terms["total"]) == pytest.approx(
            float(mixed + weight * (terms["image"] + terms["text"])), rel=1e-5
        )


def test_with_the_class_token_alone_base_logits_are_those_over_all_names(clip):
    learner = MMRL(depth=2, class_share=1.0)
    images, _, names = images_of(clip, torch.float32)
    parameters = start(learner, clip)
    answer = learner.answer(clip, parameters, images, learner.text_bank(clip, parameters, NameSets(tuple(names))))
    torch.testing.assert_close(answer.base_logits, answer.logits)


def test_published_settings():
    assert MMRL.published("") == MMRL()
    assert (MMRL.published("eurosat").token_width, MMRL.published("eurosat").weight) == (2048, 0.01)
    assert (MMRL.published("dtd").template, MMRL.published("dtd").weight) == ("{} texture.", 6.0)
    imagenet = MMRL.published("imagenet").schedule
    assert imagenet == Schedule(epochs=5, batch_size=32, learning_rate=1e-3, optimizer="AdamW")
    assert MMRL.published("imagenet", "ood").schedule.epochs == 1


@pytest.mark.parametrize(
    "wrong", [{"tokens": 0}, {"depth": 0}, {"class_share": 1.5}, {"weight": -1.0}, {"template": "owl"}], ids=str
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(OpenworldError):
        MMRL(**wrong)
