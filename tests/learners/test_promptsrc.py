"""PromptSRC: what holds it to frozen CLIP vanishes where they agree; the average over the epochs."""

from dataclasses import replace

import pytest
import torch
from comparison import images_of
from torch.nn.functional import normalize

from openworld.learners import PromptSRC, Schedule, promptsrc
from openworld.learners.engine.prompts import encode_prompted_image, encode_prompted_text
from openworld.learners.promptsrc import gaussian_weights

SMALL = PromptSRC(depth=2, schedule=Schedule(epochs=2, batch_size=14, warmup=False))


@pytest.fixture(autouse=True)
def few_sentences(monkeypatch):
    monkeypatch.setattr(promptsrc, "PROMPTSRC", promptsrc.PROMPTSRC[:4])  # of 60


def start(learner, clip):
    return learner.start(clip, ("owl",), torch.Generator().manual_seed(0))


def test_where_student_and_teacher_agree_only_the_cross_entropy_is_left(clip):
    images, labels, names = images_of(clip, torch.float32)
    parameters = start(SMALL, clip)
    prompts, _ = SMALL.prepare(clip, names)
    teacher = normalize(encode_prompted_text(clip, parameters["text"], prompts), dim=-1)
    images = replace(images, embeddings=encode_prompted_image(clip, images.pixels, parameters["image"]))
    terms = SMALL.loss(clip, parameters, images, labels, (prompts, teacher))
    for name in ("text", "image", "logits"):
        assert float(terms[name]) == pytest.approx(0, abs=1e-6)
    assert float(terms["total"]) == pytest.approx(float(terms["cross_entropy"]), abs=1e-4)


@pytest.mark.parametrize(("epochs", "mean", "deviation"), [(20, 15, 1), (50, 45, 5), (1, 15, 1), (3, 500, 1)])
def test_epochs_weigh_one_together(epochs, mean, deviation):
    weights = gaussian_weights(epochs, mean, deviation)
    assert len(weights) == epochs
    assert sum(weights) == pytest.approx(1)
    assert weights.index(max(weights)) == min(mean, epochs) - 1


def test_prompts_that_stand_still_are_their_own_average(clip, shots):
    still = replace(SMALL, schedule=replace(SMALL.schedule, learning_rate=0.0))
    fitted = still.fit(clip, shots, seed=4)
    begun = still.start(clip, shots.classnames, torch.Generator().manual_seed(4))
    for name, tensor in fitted.parameters.items():
        torch.testing.assert_close(tensor, begun[name])


def test_a_narrow_gaussian_keeps_one_epoch(clip, shots):
    early, late = (
        replace(SMALL, mean=mean, deviation=0.01).fit(clip, shots, seed=4).parameters["image"] for mean in (1, 2)
    )
    assert not torch.allclose(early, late, atol=1e-4)
