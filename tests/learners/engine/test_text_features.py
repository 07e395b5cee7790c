"""Text features: sentences averaged, contexts kept wide on a half-precision backbone."""

import numpy as np
import torch
from tiny_clip import tiny_clip
from torch.nn.functional import normalize

from openworld.learners import GMoP, Schedule
from openworld.learners.engine.text_features import encode_names


def test_an_ensemble_averages_unit_features(clip):
    templates = ("a photo of a {}.", "itap of a {}.")
    ours = encode_names(clip, ("ice_cream", "owl"), templates)
    with torch.no_grad():
        parts = [clip.encode_text([one.format("ice cream"), one.format("owl")]) for one in templates]
    mean = sum(part / part.norm(dim=-1, keepdim=True) for part in parts) / 2
    torch.testing.assert_close(ours, mean / mean.norm(dim=-1, keepdim=True))


def test_half_precision_backbones_are_tuned_in_single_precision(clip, shots):
    learner = GMoP(detector_context=4, schedule=Schedule(epochs=1, batch_size=14))
    half = tiny_clip(torch.bfloat16)
    fitted, wide = learner.fit(half, shots, seed=1), learner.fit(clip, shots, seed=1)
    bank = fitted.text_bank(shots.classnames, ("violin",))
    assert bank.text.dtype == torch.float32
    torch.testing.assert_close(normalize(bank.text, dim=-1), bank.text)
    logits = fitted.logits(shots, bank)
    expected = wide.logits(shots, wide.text_bank(shots.classnames, ("violin",)))
    assert np.corrcoef(logits.ravel(), expected.ravel())[0, 1] > 0.99
