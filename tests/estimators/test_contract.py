"""What every estimator in ESTIMATORS keeps: the checks of `openworld.testing`, and what those of ours keep besides."""

from dataclasses import replace

import numpy as np
import pytest
from simulated import outputs, refused

from openworld.estimators import COT, ESTIMATORS, FRAP, IM, ALineD, Outputs, ScoreRegression
from openworld.runs import to_json
from openworld.testing import ESTIMATOR_CHECKS

VARIANTS = [IM(slices="given", pairs=True), FRAP(rule=None), COT("uniform"), ALineD(reject=True)]
SCORES = {name for name, kind in ESTIMATORS.items() if hasattr(kind, "score")}
OURS = [kind() for name, kind in ESTIMATORS.items() if name not in SCORES]
WHOLE_SETS = {"ProjNorm", "ALine-S", "ALine-D"} | SCORES  # no score for each image
PREDICTIONS = {"GDE", "ProjNorm", "ALine-S", "ALine-D"}  # look at nothing else: the scale of logits cannot matter
estimators = pytest.mark.parametrize("name", ESTIMATORS)
SOURCE, TARGET = (outputs(seed, 60, 4, 2.0, 4) for seed in (0, 1))


def fitted(name, change=lambda one: one):
    """Fitted on a changed source; a score on several sets."""
    if name not in SCORES:
        return ESTIMATORS[name]().fit(change(SOURCE))
    sets = [outputs(seed, 60, 4, seed / 2, 4) for seed in range(1, 5)]
    return ScoreRegression(ESTIMATORS[name]()).fit([change(one) for one in sets])


@pytest.mark.parametrize("check", ESTIMATOR_CHECKS)
@pytest.mark.parametrize("estimator", [*OURS, *VARIANTS], ids=str)
def test_it_keeps_every_promise(estimator, check):
    ESTIMATOR_CHECKS[check](estimator)


@estimators
def test_it_says_what_it_is_and_what_it_rests_on(name):
    kind, found = ESTIMATORS[name], fitted(name).estimate(TARGET, resamples=40)
    assert kind.name == name and kind.paper and 5 < len(kind.summary) < 60 and ">>>" in kind.__doc__
    assert set(kind.needs) <= {"labels", "reference", "partners"} and kind(**to_json(kind())) == kind()
    assert found.details["n_target"] == 60 and found.details["n_source"] >= 60
    assert found.details["resamples"] == 40 and found.details["resampled"]
    assert found.error == pytest.approx(min(1, max(0, found.raw_error))) == pytest.approx(1 - found.accuracy)
    assert 0 <= found.interval[0] <= found.interval[1] <= 1
    assert (found.sample_scores is None) is (name in WHOLE_SETS)
    assert all(isinstance(warning, str) and len(warning) > 20 for warning in found.warnings)


@estimators
def test_order_precision_and_lists_do_not_matter(name):
    def single(data):
        rounded = [one.astype(np.float32) for one in (data.logits, data.reference, *data.partners)]
        return Outputs(rounded[0], data.labels, rounded[1], tuple(rounded[2:]))

    def listed(data):
        partners = tuple(one.tolist() for one in single(data).partners)
        tables = (single(data).logits, data.labels, single(data).reference)
        return Outputs(*(one.tolist() for one in tables), partners)

    def shuffled(data):
        return single(data).take(np.random.default_rng(5).permutation(data.n))

    expected, found, other = (
        fitted(name, way).estimate(way(TARGET), interval=False) for way in (single, listed, shuffled)
    )
    assert found.error == expected.error and found.interval is None
    assert other.raw_error == pytest.approx(expected.raw_error, rel=1e-9, abs=1e-12)
    if name not in WHOLE_SETS:
        np.testing.assert_allclose(np.sort(other.sample_scores), np.sort(expected.sample_scores), atol=1e-9)


@pytest.mark.parametrize("name", sorted(PREDICTIONS))
def test_the_scale_of_logits_does_not_matter_to_what_looks_at_predictions(name):
    expected = fitted(name).estimate(TARGET)
    found = fitted(name, lambda one: replace(one, logits=7 * one.logits)).estimate(
        replace(TARGET, logits=7 * TARGET.logits)
    )
    assert (found.raw_error, found.interval) == (expected.raw_error, expected.interval)


@estimators
def test_what_cannot_be_estimated_is_refused(name):
    refused("the target has 5 classes, but .* on 4", fitted(name).estimate, outputs(1, 60, 5, 2.0, 4))
    refused("resamples is 5, expected 20 or more", fitted(name).estimate, TARGET, resamples=5)
    for need in ESTIMATORS[name].needs:
        nothing = {need: () if need == "partners" else None}
        with_nothing = lambda one: replace(one, **nothing)  # noqa: B023, E731
        refused(f"needs {need}", lambda: fitted(name, with_nothing).estimate(with_nothing(TARGET)))  # noqa: B023
