"""AdaSCALE image by image, from its description; no public numbers are stored for it."""

import numpy as np
import pytest
import torch
from seen_images import whole

from openworld.detectors import AdaSCALE
from openworld.testing import small_classifier


def unrest(detector, h, moved):
    k1, k2 = max(1, int(len(h) * detector.moved / 100)), max(1, int(len(h) * detector.shifted / 100))
    order = np.argsort(-h, kind="stable")
    kept = np.maximum(moved[order[:k1]], 0).sum()
    return kept + detector.weight * np.abs(h - moved)[order[:k2]].sum()


@pytest.mark.parametrize("variant", ["a", "l"])
def test_against_a_loop(variant):
    detector = AdaSCALE(variant, 60, 80, moved=20, shifted=10)
    head, train, judged = small_classifier().head, whole(1), whole(2, 30)
    how = detector.perturbation
    rows = [(h, m) for h, m in zip(train.features.numpy(), train.perturbed[how].numpy(), strict=True)]
    known = np.array([unrest(detector, h, m) for h, m in rows])
    expected = []
    for h, m in zip(judged.features.numpy(), judged.perturbed[how].numpy(), strict=True):
        percent = 60 + (1 - np.mean(known <= unrest(detector, h, m))) * 20
        left = len(h) - int(np.round(len(h) * percent / 100))
        scale = h.sum() / np.sort(h)[-left:].sum()
        logits = head.logits(torch.from_numpy(h)).numpy()
        z = logits * scale**2 if variant == "l" else head.logits(torch.from_numpy(h * np.exp(scale))).numpy()
        expected.append(np.log(np.exp(z.astype(float)).sum()))
    scores = detector.fit(train).score(judged)
    torch.testing.assert_close(scores.double(), torch.tensor(expected), rtol=1e-4, atol=1e-4)
