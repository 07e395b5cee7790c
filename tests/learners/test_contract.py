"""What every learner promises (`openworld.testing`), tried on all learners; and what a fitted learner refuses."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from small import SMALL

from openworld import OpenworldError
from openworld.learners import LEARNERS, load, promptsrc
from openworld.testing import LEARNER_CHECKS, small_world
from openworld.testing._learners import _fit

NEW = ("sea turtle", "violin", "lighthouse")
OF_EACH_INPUT = ("CoOp", "GalLoP", "MaPLe")


def learns_every_tensor_by_the_seed(learner, world):
    """Weights that start from a phrase differ only by the order of their images."""
    one, two = (_fit(learner, world, seed).parameters for seed in (1, 2))
    assert not any((tensor == two[name]).all() for name, tensor in one.items())


def reads_embeddings_of_any_length(learner, world):
    fitted = _fit(learner, world)
    bank = fitted.text_bank(world.shots.classnames, world.new)
    scaled = (replace(world.shots, embeddings=factor * world.shots.embeddings) for factor in (1, 3))
    ours, longer = (fitted.logits(shots, bank) for shots in scaled)
    np.testing.assert_allclose(ours, longer, rtol=1e-4, atol=1e-3)


OURS = (learns_every_tensor_by_the_seed, reads_embeddings_of_any_length)


@pytest.mark.parametrize("name", LEARNERS)
def test_promises(name, monkeypatch):
    monkeypatch.setattr(promptsrc, "PROMPTSRC", promptsrc.PROMPTSRC[:4])  # of 60 sentences
    for check in (*LEARNER_CHECKS.values(), *OURS):
        check(LEARNERS[name](**SMALL[name]), small_world())


@pytest.fixture(scope="module")
def fit(clip, shots):
    """A learner fitted on the shots, by its name."""
    return cache(lambda name: LEARNERS[name](**SMALL[name]).fit(clip, shots, seed=1))


@pytest.mark.parametrize("name", OF_EACH_INPUT)
def test_images_that_do_not_fit_together_are_answered_in_parts(fit, shots, name, monkeypatch, caplog):
    fitted, kind = fit(name), LEARNERS[name]
    bank, answer = fitted.text_bank(shots.classnames, NEW), kind.answer
    whole = fitted.answer(shots, bank)

    def full(self, clip, parameters, images, bank):
        if len(images) > 10:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return answer(self, clip, parameters, images, bank)

    monkeypatch.setattr(kind, "answer", full)
    parts = fitted.answer(shots, bank)
    np.testing.assert_allclose(parts.logits, whole.logits, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(parts.baseness, whole.baseness, rtol=1e-4, atol=1e-4)
    assert name in caplog.text and "28 at a time do not fit" in caplog.text


@pytest.mark.parametrize("name", OF_EACH_INPUT)
def test_what_does_not_go_together_is_refused(fit, clip, shots, name):
    fitted = fit(name)
    bank = fitted.text_bank(shots.classnames, NEW)
    with pytest.raises(OpenworldError, match="8 numbers, .* gives 64"):
        fitted.logits(replace(shots, embeddings=shots.embeddings[:, :8]), bank)
    with pytest.raises(OpenworldError, match="subset: unknown value"):
        fitted.logits(shots, bank, "old")
    with pytest.raises(OpenworldError, match="augmented views"):
        fitted.learner.fit(clip, replace(shots, views=None), seed=1)
    with pytest.raises(OpenworldError, match="'owl' occurs 2 times"):
        fitted.text_bank(shots.classnames, ("Owl",))
    if name != "CoOp":
        with pytest.raises(OpenworldError, match=f"consumes '{fitted.learner.consumes}'"):
            fitted.learner.fit(clip, replace(shots, view_patches=None, view_pixels=None), seed=1)


@pytest.mark.parametrize(
    ("file", "damage", "words"),
    [
        ("learner.json", lambda content: None, "holds no whole learner"),
        ("parameters.safetensors", lambda content: b"123", "holds no whole learner"),
        ("learner.json", lambda content: b"{", "holds no whole learner"),
        ("learner.json", lambda content: content.replace(small_fingerprint(), b"0" * 64), "other weights"),
    ],
)
def test_a_damaged_learner_and_one_of_another_backbone_are_refused(tmp_path, file, damage, words):
    world = small_world()
    LEARNERS["zero-shot"]().fit(world.clip, world.shots, seed=1).save(tmp_path)
    content = damage((tmp_path / file).read_bytes())
    (tmp_path / file).unlink() if content is None else (tmp_path / file).write_bytes(content)
    with pytest.raises(OpenworldError, match=words):
        load(tmp_path, world.clip)


def small_fingerprint():
    return small_world().clip.fingerprint.encode()
