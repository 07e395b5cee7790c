"""Text features: sentences averaged, contexts kept wide on a half-precision backbone."""

import numpy as np
import torch
from tiny_clip import tiny_clip
from torch.nn.functional import normalize

from openworld.learners import ZeroShotEnsemble
from openworld.learners.engine.text_features import encode_names


def test_an_ensemble_averages_unit_features(clip):
    templates = ("a photo of a {}.", "itap of a {}.")
    ours = encode_names(clip, ("ice_cream", "owl"), templates)
    with torch.no_grad():
        parts = [clip.encode_text([one.format("ice cream"), one.format("owl")]) for one in templates]
    mean = sum(part / part.norm(dim=-1, keepdim=True) for part in parts) / 2
    torch.testing.assert_close(ours, mean / mean.norm(dim=-1, keepdim=True))


def test_half_precision_backbones_are_read_in_single_precision(clip, shots):
    learner, names = ZeroShotEnsemble(), (shots.classnames, ("violin",))
    half, wide = (learner.fit(backbone, shots, seed=1) for backbone in (tiny_clip(torch.bfloat16), clip))
    bank = half.text_bank(*names)
    assert bank.text.dtype == torch.float32
    torch.testing.assert_close(normalize(bank.text, dim=-1), bank.text)
    logits, expected = half.logits(shots, bank), wide.logits(shots, wide.text_bank(*names))
    assert np.corrcoef(logits.ravel(), expected.ravel())[0, 1] > 0.99
