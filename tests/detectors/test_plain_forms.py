"""Detectors without stored scores of other people's code, against plain loops over their definitions in NumPy."""

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import multivariate_normal

from openworld import OpenworldError
from openworld.detectors import (
    GMM,
    RAS,
    Activations,
    Head,
    KLMatching,
    Relation,
    TemperatureScaling,
    WeiPer,
)
from openworld.detectors.corp import Fourier

GENERATOR = np.random.default_rng(0)
WEIGHT, BIAS = GENERATOR.normal(size=(4, 6)), GENERATOR.normal(size=4)
HEAD = Head(torch.tensor(WEIGHT), torch.tensor(BIAS))
TRAIN, TEST = GENERATOR.normal(size=(120, 6)) + 0.5, 1.5 * GENERATOR.normal(size=(15, 6))
Z, Z_TEST = TRAIN @ WEIGHT.T + BIAS, TEST @ WEIGHT.T + BIAS
LABELS = np.where(np.arange(120) % 6 == 0, (Z.argmax(1) + 1) % 4, Z.argmax(1))


def scores(detector):
    """What it gives of the test images, fitted on the training images, in float64."""
    fitted = detector.fit(torch.tensor(TRAIN), torch.tensor(LABELS), HEAD)
    return fitted.score(torch.tensor(TEST)).numpy()


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_kl_matching_takes_the_nearest_class():
    p = softmax(Z, axis=1)
    typical = [p[Z.argmax(1) == name].mean(0) for name in range(4) if (Z.argmax(1) == name).any()]
    expected = [-min((q * np.log(q / d)).sum() for d in typical) for q in softmax(Z_TEST, axis=1)]
    np.testing.assert_allclose(scores(KLMatching()), expected)


def test_temperature_is_the_likeliest():
    grid = np.linspace(0.2, 8, 4000)
    likelihoods = [-log_softmax(Z / t, axis=1)[np.arange(120), LABELS].mean() for t in grid]
    best = grid[np.argmin(likelihoods)]
    np.testing.assert_allclose(scores(TemperatureScaling()), softmax(Z_TEST / best, axis=1).max(1), atol=1e-3)


def test_temperature_of_a_faultless_model_is_one_and_says_so():
    fitted = TemperatureScaling().fit(Activations(outputs=torch.eye(3) * 9, labels=torch.arange(3)))
    assert fitted.state == 1.0 and "no temperature can be fitted" in fitted.warnings[0]


@pytest.mark.parametrize("power", [1, 2])
def test_relation_sums_over_training_images(power):
    p, q = softmax(Z, axis=1), softmax(Z_TEST, axis=1)
    expected = []
    for row, own in zip(unit(TEST), q, strict=True):
        relations = [max(0, row @ other) * (own @ theirs) for other, theirs in zip(unit(TRAIN), p, strict=True)]
        expected.append(sum(r**power for r in relations if r > 0.03))
    np.testing.assert_allclose(scores(Relation(power=power)), expected)


@pytest.mark.parametrize("covariance", ["class", "tied"])
def test_gmm_is_the_density_of_scipy(covariance):
    present = np.unique(LABELS)
    groups = [TRAIN[label == LABELS] for label in present]
    within = sum((group - group.mean(0)).T @ (group - group.mean(0)) for group in groups) / len(TRAIN)
    parts = []
    for group in groups:
        own = np.cov(group.T, bias=True) if covariance == "class" else within
        normal = multivariate_normal(group.mean(0), own + 1e-6 * np.eye(6))
        parts.append(np.log(len(group) / len(TRAIN)) + normal.logpdf(TEST))
    np.testing.assert_allclose(scores(GMM(covariance)), logsumexp(parts, axis=0), rtol=1e-6)
    few = GMM(covariance).fit(torch.rand(6, 5), torch.arange(6) % 2).warnings
    assert [("5 features in 2 class(es)" in warning) for warning in few] == [True] * (covariance == "class")


def test_gmm_of_too_many_numbers(monkeypatch):
    monkeypatch.setattr("openworld.detectors.gmm.MOST", 100)
    with pytest.raises(OpenworldError, match="4 covariances of 6 x 6 numbers; set covariance to 'tied'"):
        scores(GMM())
    assert np.isfinite(scores(GMM("tied"))).all()


def test_ras_puts_the_profile_in_the_order_of_the_features():
    profile = np.sort(TRAIN, axis=1).mean(0)
    shifted = np.array([profile[np.argsort(np.argsort(row))] for row in TEST])
    np.testing.assert_allclose(scores(RAS()), logsumexp(shifted @ WEIGHT.T + BIAS, axis=1))


def test_weiper_is_the_loop_over_images():
    detector = WeiPer(repeats=3, bins=12, feature_window=2, logit_window=3)
    heads = detector.fit(torch.tensor(TRAIN), head=HEAD).state[0].numpy().reshape(3, 4, 6)
    lengths = np.linalg.norm(heads - WEIGHT, axis=2) / np.linalg.norm(WEIGHT, axis=1)
    np.testing.assert_allclose(lengths, 2.1)  # how far every row was moved

    def perturbed(rows):
        return np.stack([rows @ head.T + BIAS for head in heads], axis=1)

    def divergence(train, image, window, floor):
        gap = (train.max() - train.min()) / len(train)
        edges = np.linspace(train.min() - gap, train.max() + gap, 13)
        p = np.mean([np.histogram(row, edges)[0] / row.size for row in train], axis=0) + floor
        counts = np.histogram(image, edges)[0] / image.size
        before, after = (window - 1) // 2, window // 2
        padded = np.pad(counts, (before, after), mode="edge")
        q = np.array([padded[place : place + window].mean() for place in range(12)]) + floor
        p, q = p / p.sum(), q / q.sum()
        return (p * np.log(p / q)).sum() + (q * np.log(q / p)).sum()

    training = perturbed(TRAIN).reshape(120, -1)
    expected = []
    for row, logits in zip(TEST, perturbed(TEST), strict=True):
        apart = divergence(TRAIN, row, 2, 0.01) + 2.5 * divergence(training, logits.ravel(), 3, 0.025)
        expected.append(0.1 * softmax(logits, axis=1).max(axis=1).mean() - apart)
    np.testing.assert_allclose(scores(detector), expected, rtol=1e-6)


def test_products_of_fourier_features_are_a_gaussian_kernel():
    rows = torch.tensor(unit(TEST))
    features = Fourier(20_000, 0.5, 0)(rows)
    torch.testing.assert_close(
        features @ features.mT, (-0.5 * torch.cdist(rows, rows).square()).exp(), atol=0.03, rtol=0
    )
