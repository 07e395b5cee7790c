"""What every learner promises (`openworld.testing`); all learners are tried."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small import SMALL

from openworld import OpenworldError
from openworld.learners import LEARNERS, load
from openworld.testing import LEARNER_CHECKS, small_world


@pytest.fixture(scope="module", params=LEARNERS)
def learner(request):
    return LEARNERS[request.param](**SMALL[request.param])


@pytest.fixture(scope="module")
def fitted(learner, clip, shots):
    return learner.fit(clip, shots, seed=1)


NEW = ("sea turtle", "violin", "lighthouse")


@pytest.mark.parametrize("check", LEARNER_CHECKS)
@pytest.mark.parametrize("name", LEARNERS)  # all checks of a learner in a row share its fit
def test_promise(name, check):
    LEARNER_CHECKS[check](LEARNERS[name](**SMALL[name]), small_world())


def test_it_is_listed_under_its_name(learner):
    assert LEARNERS[learner.name] is type(learner)


def test_length_of_an_embedding_does_not_matter_here(fitted, shots):
    bank = fitted.text_bank(shots.classnames, NEW)
    ours, longer = (fitted.logits(replace(shots, embeddings=scale * shots.embeddings), bank) for scale in (1, 3))
    np.testing.assert_allclose(ours, longer, rtol=1e-4, atol=1e-3)


def test_every_learned_tensor_depends_on_the_seed(learner, clip, shots, fitted):
    other = learner.fit(clip, shots, seed=2)
    # Weights that start from a phrase differ only by the order of their images.
    assert not any((tensor == other.parameters[name]).all() for name, tensor in fitted.parameters.items())


def test_what_it_consumes_is_asked_for(learner, clip, shots):
    if learner.consumes in ("patches", "pixels"):
        with pytest.raises(OpenworldError, match=f"consumes '{learner.consumes}'"):
            learner.fit(clip, replace(shots, view_patches=None, view_pixels=None), seed=1)


def test_images_that_do_not_fit_together_are_answered_in_parts(learner, fitted, shots, monkeypatch, caplog):
    bank, answer = fitted.text_bank(shots.classnames, NEW), type(learner).answer
    whole = fitted.answer(shots, bank)

    def full(self, clip, parameters, images, bank):
        if len(images) > 10:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return answer(self, clip, parameters, images, bank)

    monkeypatch.setattr(type(learner), "answer", full)
    parts = fitted.answer(shots, bank)
    np.testing.assert_allclose(parts.logits, whole.logits, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(parts.baseness, whole.baseness, rtol=1e-4, atol=1e-4)
    assert learner.name in caplog.text and "28 at a time do not fit" in caplog.text


def test_names_that_occur_twice_are_refused(fitted, shots):
    with pytest.raises(OpenworldError, match="'owl' occurs 2 times"):
        fitted.text_bank(shots.classnames, ("Owl",))


def test_unknown_subset_is_refused(fitted, shots):
    with pytest.raises(OpenworldError, match="subset: unknown value"):
        fitted.logits(shots, fitted.text_bank(shots.classnames, NEW), "old")


def test_augmented_views_are_asked_for(learner, clip, shots):
    if learner.consumes != "embeddings":
        with pytest.raises(OpenworldError, match="augmented views"):
            learner.fit(clip, replace(shots, views=None), seed=1)


def test_a_fit_on_nothing_is_refused(learner, clip, shots):
    if hasattr(learner, "schedule"):
        with pytest.raises(OpenworldError, match="no image to fit"):
            learner.fit(clip, shots.select(np.arange(0)), seed=1)


def test_features_of_another_backbone_are_refused(fitted, shots):
    bank = fitted.text_bank(shots.classnames, NEW)
    narrow = replace(shots, embeddings=shots.embeddings[:, :8])
    with pytest.raises(OpenworldError, match="8 numbers, .* gives 64"):
        fitted.logits(narrow, bank)


def test_training_names_that_occur_twice_are_refused(learner, clip, shots):
    names = ("Owl", *shots.classnames[1:])
    with pytest.raises(OpenworldError, match="'owl' occurs 2 times"):
        learner.fit(clip, replace(shots, classnames=names), seed=1)


@pytest.mark.parametrize("damage", ["missing", "cut short", "not JSON"])
def test_a_damaged_learner_is_refused(clip, shots, tmp_path, damage):
    LEARNERS["zero-shot"]().fit(clip, shots, seed=1).save(tmp_path)
    if damage == "missing":
        (tmp_path / "learner.json").unlink()
    elif damage == "cut short":
        (tmp_path / "parameters.safetensors").write_bytes(b"123")
    else:
        (tmp_path / "learner.json").write_text("{")
    with pytest.raises(OpenworldError, match="holds no whole learner"):
        load(tmp_path, clip)


def test_another_backbone_is_refused(clip, shots, tmp_path):
    LEARNERS["zero-shot"]().fit(clip, shots, seed=1).save(tmp_path)
    path = tmp_path / "learner.json"
    path.write_text(path.read_text().replace(clip.fingerprint, "0" * 64))
    with pytest.raises(OpenworldError, match="other weights"):
        load(tmp_path, clip)
