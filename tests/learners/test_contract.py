"""What every learner promises; a learner that is not in `SMALL` fails here."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from openworld import OpenworldError
from openworld.learners import LEARNERS, TASKS, Schedule, load

SMALL = {
    "zero-shot": {},
    "zero-shot-ensemble": {},
    "CoOp": {"context_length": 4, "schedule": Schedule(epochs=3)},
    "KgCoOp": {"words": None, "schedule": Schedule(epochs=3)},
    "VPT": {"image_length": 4, "schedule": Schedule(epochs=3, batch_size=14, warmup=False)},
    "MaPLe": {"depth": 2, "schedule": Schedule(epochs=3, batch_size=14, warmup=False)},
    "IVLP": {"text_depth": 2, "image_depth": 3, "schedule": Schedule(epochs=3, batch_size=14, warmup=False)},
    "PromptSRC": {"depth": 2, "mean": 3, "schedule": Schedule(epochs=3, batch_size=14, warmup=False)},
    "DePT": {"words": None, "schedule": Schedule(epochs=3)},
    "DeCoOp": {
        "detector_context": 4,
        "classifier_context": 4,
        "detector_schedule": Schedule(epochs=3, warmup=False, drop_last=False, decay="none"),
        "schedule": Schedule(epochs=6, warmup=False, drop_last=False, decay="per step", cosine_epochs=100),
    },
    "GMoP": {"detector_context": 4, "schedule": Schedule(epochs=3, warmup=False, drop_last=False)},
    "CoCoOp": {"words": None, "schedule": Schedule(epochs=3, batch_size=4)},
    "ProGrad": {"context_length": 4, "schedule": Schedule(epochs=3)},
    "RPO": {"prompts": 4, "schedule": Schedule(epochs=3, batch_size=14, warmup=False)},
    "ProDA": {"contexts": 8, "context_length": 4, "schedule": Schedule(epochs=3, learning_rate=1e-3)},
    "TCP": {"schedule": Schedule(epochs=3, optimizer="Adam", adam_epsilon=1e-3)},
    "LoCoOp": {"context_length": 4, "schedule": Schedule(epochs=3)},
    "GalLoP": {"top": (2, 4), "schedule": Schedule(epochs=3, warmup=False)},
}


@pytest.fixture(params=LEARNERS)
def learner(request):
    return LEARNERS[request.param](**SMALL[request.param])


@pytest.fixture
def fitted(learner, clip, shots):
    return learner.fit(clip, shots, seed=1)


NEW = ("sea turtle", "violin", "lighthouse")


def test_describes_itself(learner):
    assert LEARNERS[learner.name] is type(learner)
    assert learner.paper and learner.tunes and learner.cost
    assert learner.consumes in ("embeddings", "views", "patches", "pixels")
    assert learner.depends_on_other_names in (True, False)


def test_logits_and_baseness(fitted, shots):
    bank = fitted.text_bank(shots.classnames, NEW)
    every = fitted.logits(shots, bank, "all")
    base, new = fitted.logits(shots, bank, "base"), fitted.logits(shots, bank, "new")
    assert every.dtype == np.float32
    assert base.shape == (len(shots), len(shots.classnames))
    np.testing.assert_allclose(every[:, base.shape[1] :], new, rtol=1e-4, atol=1e-4)
    baseness = fitted.baseness(shots, bank)
    assert baseness.shape == (len(shots),)
    assert np.isfinite(baseness).all()


def test_an_image_is_answered_the_same_alone_and_in_company(fitted, shots):
    bank = fitted.text_bank(shots.classnames, NEW)
    together, alone = fitted.baseness(shots, bank), fitted.baseness(shots.select(np.arange(1)), bank)
    np.testing.assert_allclose(together[:1], alone, rtol=1e-4, atol=1e-4)


def test_length_of_an_embedding_does_not_matter_here(fitted, shots):
    bank = fitted.text_bank(shots.classnames, NEW)
    ours, longer = (fitted.logits(replace(shots, embeddings=scale * shots.embeddings), bank) for scale in (1, 3))
    np.testing.assert_allclose(ours, longer, rtol=1e-4, atol=1e-3)


def test_same_seed_same_learner_other_seed_another(learner, clip, shots, fitted):
    again, other = learner.fit(clip, shots, seed=1), learner.fit(clip, shots, seed=2)
    for name, tensor in fitted.parameters.items():
        assert torch.equal(tensor, again.parameters[name])
        # Weights that start from a phrase differ only by the order of their images.
        assert not torch.equal(tensor, other.parameters[name])


def test_the_backbone_stays_frozen(clip, fitted):
    assert not any(parameter.requires_grad or parameter.grad is not None for parameter in clip.parameters())
    assert not any(tensor.requires_grad for tensor in fitted.parameters.values())


def test_saved_and_loaded_it_answers_the_same(fitted, clip, shots, tmp_path):
    fitted.save(tmp_path)
    again = load(tmp_path, clip)
    assert again.learner == fitted.learner
    bank, bank_again = fitted.text_bank(shots.classnames, NEW), again.text_bank(shots.classnames, NEW)
    assert np.array_equal(fitted.logits(shots, bank), again.logits(shots, bank_again))


def test_one_name_per_half(learner, clip, shots):
    fitted = learner.fit(clip, shots, seed=1)
    bank = fitted.text_bank(shots.classnames[:1], NEW[:1])
    assert fitted.logits(shots, bank).shape == (len(shots), 2)


def test_names_of_very_different_lengths(fitted, shots):
    longest = " ".join(["lamp"] * 40)
    bank = fitted.text_bank(shots.classnames, ("owl lamp", longest))
    together = fitted.logits(shots, bank)
    alone = fitted.logits(shots, fitted.text_bank(shots.classnames, ("owl lamp",)))
    assert np.isfinite(together).all()
    if not fitted.learner.depends_on_other_names:
        np.testing.assert_allclose(together[:, :-1], alone, rtol=1e-4, atol=1e-3)


def test_a_name_that_does_not_fit_is_refused(fitted, shots):
    with pytest.raises(OpenworldError, match="tokens"):
        fitted.text_bank(shots.classnames, (" ".join(["lamp"] * 80),))


def test_two_training_names(learner, clip, shots):
    if "detectors" in vars(learner):
        learner = replace(learner, detectors=2)
    two = shots.of_classes(np.array([4, 1]))
    bank = learner.fit(clip, two, seed=1).text_bank(two.classnames, NEW)
    assert bank.base_count == 2


def test_without_new_names(fitted, shots):
    bank = fitted.text_bank(shots.classnames)
    assert fitted.logits(shots, bank, "new").shape == (len(shots), 0)


def test_names_that_occur_twice_are_refused(fitted, shots):
    with pytest.raises(OpenworldError, match="'owl' occurs 2 times"):
        fitted.text_bank(shots.classnames, ("Owl",))


def test_unknown_subset_is_refused(fitted, shots):
    with pytest.raises(OpenworldError, match="unknown subset"):
        fitted.logits(shots, fitted.text_bank(shots.classnames, NEW), "old")


def test_training_lowers_the_loss(fitted):
    if fitted.history:
        assert fitted.history[-1]["total"] < fitted.history[0]["total"]


def test_augmented_views_are_asked_for(learner, clip, shots):
    if learner.consumes != "embeddings":
        with pytest.raises(OpenworldError, match="augmented views"):
            learner.fit(clip, replace(shots, views=None), seed=1)


def test_what_it_consumes_is_asked_for(learner, clip, shots):
    if learner.consumes in ("patches", "pixels"):
        with pytest.raises(OpenworldError, match=f"consumes '{learner.consumes}'"):
            learner.fit(clip, replace(shots, view_patches=None, view_pixels=None), seed=1)


def test_published_settings_for_every_task(learner):
    for task in TASKS:
        for dataset in ("", "imagenet", "oxford_pets", "dtd", "eurosat", "sun397"):
            assert isinstance(type(learner).published(dataset, task), type(learner))


def test_a_fit_on_nothing_is_refused(learner, clip, shots):
    if hasattr(learner, "schedule"):
        with pytest.raises(OpenworldError, match="no image to fit"):
            learner.fit(clip, shots.select(np.arange(0)), seed=1)


def test_features_of_another_backbone_are_refused(fitted, shots):
    bank = fitted.text_bank(shots.classnames, NEW)
    narrow = replace(shots, embeddings=shots.embeddings[:, :8])
    with pytest.raises(OpenworldError, match="8 dimensions, but .* gives 64"):
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
