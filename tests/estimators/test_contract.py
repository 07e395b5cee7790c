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
def test_it_says_what_it_rests_on_and_reads_single_precision_and_lists(name):
    def single(data):
        rounded = [one.astype(np.float32) for one in (data.logits, data.reference, *data.partners)]
        return Outputs(rounded[0], data.labels, rounded[1], tuple(rounded[2:]))

    def listed(data):
        partners = tuple(one.tolist() for one in single(data).partners)
        tables = (single(data).logits, data.labels, single(data).reference)
        return Outputs(*(one.tolist() for one in tables), partners)

    kind, found = ESTIMATORS[name], fitted(name, single).estimate(single(TARGET), resamples=40)
    assert kind.name == name and ">>>" in kind.__doc__ and kind(**to_json(kind())) == kind()
    assert found.details["n_target"] == 60 and found.details["n_source"] >= 60
    assert found.details["resamples"] == 40 and found.details["resampled"]
    assert found.error == pytest.approx(min(1, max(0, found.raw_error)))
    assert (found.sample_scores is None) is (name in WHOLE_SETS)
    assert fitted(name, listed).estimate(listed(TARGET), resamples=40).error == found.error


@pytest.mark.parametrize("name", sorted(PREDICTIONS))
def test_the_scale_of_logits_does_not_matter_to_what_looks_at_predictions(name):
    expected = fitted(name).estimate(TARGET)
    found = fitted(name, lambda one: replace(one, logits=7 * one.logits)).estimate(
        replace(TARGET, logits=7 * TARGET.logits)
    )
    assert (found.raw_error, found.interval) == (expected.raw_error, expected.interval)


@pytest.mark.parametrize("name", sorted(SCORES))
def test_what_a_regression_cannot_estimate_is_refused(name):
    refused("the target has 5 classes, but .* on 4", fitted(name).estimate, outputs(1, 60, 5, 2.0, 4))
    refused("resamples is 5, expected 20 or more", fitted(name).estimate, TARGET, resamples=5)
