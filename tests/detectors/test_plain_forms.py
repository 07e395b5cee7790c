"""Detectors without stored scores of other people's code, against plain loops over their definitions in NumPy."""

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import multivariate_normal, weibull_min

from openworld import OpenworldError
from openworld.detectors import (
    GMM,
    RAS,
    Activations,
    Entropy,
    Head,
    KLMatching,
    OpenMax,
    Relation,
    ResidualNorm,
    TemperatureScaling,
    WeiPer,
)

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


def test_entropy():
    expected = [(np.exp(row) * row).sum() for row in log_softmax(Z_TEST, axis=1)]
    np.testing.assert_allclose(scores(Entropy()), expected)


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


def test_residual_is_the_distance_to_the_principal_features():
    origin = -np.linalg.pinv(WEIGHT) @ BIAS
    _, vectors = np.linalg.eigh((TRAIN - origin).T @ (TRAIN - origin))
    basis = vectors[:, -2:]  # the two leading ones
    expected = [-np.linalg.norm(row - basis @ (basis.T @ row)) for row in TEST - origin]
    np.testing.assert_allclose(scores(ResidualNorm(2)), expected)


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


def test_gmm_says_where_classes_have_few_images():
    fitted = GMM().fit(torch.rand(6, 5), torch.arange(6) % 2)
    assert "no more images than the 5 features in 2 class(es)" in fitted.warnings[0]


def test_gmm_of_too_many_numbers(monkeypatch):
    monkeypatch.setattr("openworld.detectors.gmm.MOST", 100)
    with pytest.raises(OpenworldError, match="4 covariances of 6 x 6 numbers; set covariance to 'tied'"):
        scores(GMM())
    assert np.isfinite(scores(GMM("tied"))).all()


def test_ras_puts_the_profile_in_the_order_of_the_features():
    profile = np.sort(TRAIN, axis=1).mean(0)
    shifted = np.array([profile[np.argsort(np.argsort(row))] for row in TEST])
    np.testing.assert_allclose(scores(RAS()), logsumexp(shifted @ WEIGHT.T + BIAS, axis=1))


def openmax_plainly(alpha, tail, shift=10_000.0):
    """As the paper's algorithms 1 and 2, with libMR's shift and SciPy's fit."""
    centres, tails = [], []
    for label in range(4):
        own = Z[(Z.argmax(1) == LABELS) & (label == LABELS)]
        centres.append(own.mean(0))
        farthest = np.sort(np.linalg.norm(own - centres[-1], axis=1))[-tail:]
        moved = farthest - farthest[0] + shift
        start = shift / np.std(moved)
        with np.errstate(over="ignore"):
            shape, _, scale = weibull_min.fit(moved, start, floc=0, scale=moved.mean())
        tails.append((farthest[0], shape, scale))
    known = []
    for z in Z_TEST:
        revised, unknown = z.copy(), 0.0
        for rank, label in enumerate(np.argsort(-z)[:alpha]):
            least, shape, scale = tails[label]
            far = max(0.0, np.linalg.norm(z - centres[label]) - least + shift)
            cut = z[label] * weibull_min.cdf(far, shape, scale=scale) * (alpha - rank) / alpha
            revised[label], unknown = z[label] - cut, unknown + cut
        known.append(logsumexp(revised) - logsumexp([*revised, unknown]))
    return known


@pytest.mark.parametrize(("alpha", "tail"), [(2, 5), (4, 20)])
def test_openmax_is_the_loop_over_classes(alpha, tail):
    np.testing.assert_allclose(scores(OpenMax(alpha, tail)), openmax_plainly(alpha, tail), rtol=2e-2, atol=1e-3)


def test_openmax_needs_images_named_right():
    with pytest.raises(OpenworldError, match="named right|names right in every class, and finds fewer in 1 of 2: 1"):
        OpenMax().fit(Activations(outputs=torch.tensor([[1.0, 0], [2, 0]]), labels=torch.tensor([0, 0])))


def test_weiper_is_the_loop_over_images():
    detector = WeiPer(repeats=3, bins=12, feature_window=2, logit_window=3)
    heads = detector.fit(torch.tensor(TRAIN), head=HEAD).state.weight.numpy().reshape(3, 4, 6)
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


def test_logits_alone_will_do():
    seen = Activations(outputs=torch.tensor(Z), labels=torch.tensor(LABELS))
    for detector in (OpenMax(), TemperatureScaling(), KLMatching(), Entropy()):
        alone = detector.fit(seen).score(Activations(outputs=torch.tensor(Z_TEST)))
        np.testing.assert_allclose(alone.numpy(), scores(detector))
