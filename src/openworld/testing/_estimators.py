"""What every estimator promises, as checks that need no test framework: for ours and for those of other packages."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from openworld.estimators import Estimate, Outputs
from openworld.runs import to_json
from openworld.testing._promises import (
    by_name,
    check_all,
    require_description,
    require_refused,
    settings_are_frozen_and_survive_json,
)

CLASSES, PARTNERS = 4, 4
FRACTIONS, ORDER = 1e-12, 1e-9


def small_outputs(seed: int, n: int = 60, strength: float = 2.0) -> Outputs:
    """All that an estimator may need: a judged model of 4 classes, labels, a reference, 4 partners and two slices.

    >>> small_outputs(0).logits.shape, len(small_outputs(0).partners)
    ((60, 4), 4)
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, n)

    def noisy(strength: float) -> np.ndarray:
        return rng.normal(size=(n, CLASSES)) + strength * np.eye(CLASSES)[labels]

    partners = tuple(noisy(strength * (i + 1) / PARTNERS) for i in range(PARTNERS))
    return Outputs(2 * noisy(strength), labels, 0.2 + 0.02 * noisy(strength / 2), partners, rng.random((n, 2)) < 0.5)


def check_estimator(estimator: Any) -> None:
    """Run every check; raises AssertionError for the first promise that is not kept.

    Args:
        estimator: an instance with its settings, that is fitted on one source; a score is not.

    >>> from openworld.estimators import AC
    >>> check_estimator(AC())
    """
    check_all(ESTIMATOR_CHECKS, estimator.name, estimator)


def _estimate(estimator, source: Outputs, target: Outputs, **chosen) -> Estimate:
    return estimator.fit(source).estimate(target, **chosen)


def says_what_it_is(estimator) -> None:
    """Name, paper, a short summary, and needs out of labels, reference, partners and slices."""
    require_description(estimator)
    assert set(estimator.needs) <= {"labels", "reference", "partners", "slices"}, f"needs {estimator.needs}"


def fractions_add_up(estimator) -> None:
    """Accuracy and error are fractions that add up to 1, with an interval in order; or None, and a warning says why."""
    for seed in range(4):
        estimate = _estimate(estimator, small_outputs(0), small_outputs(seed + 50, strength=seed / 2), resamples=40)
        if estimate.accuracy is None or estimate.error is None:
            assert estimate.warnings, "no estimate without a reason"
            continue
        adds_up = abs(estimate.accuracy + estimate.error - 1) < FRACTIONS
        assert 0 <= estimate.error <= 1 and adds_up, "error and accuracy"
        if estimate.interval is not None:
            low, high = estimate.interval
            assert 0 <= low <= high <= 1, f"an interval from {low} to {high}"


def order_does_not_matter(estimator) -> None:
    """Images in another order give the same estimate."""
    source, target, rng = small_outputs(0), small_outputs(1), np.random.default_rng(5)
    expected = _estimate(estimator, source, target, interval=False).raw_error
    shuffled = (outputs.take(rng.permutation(outputs.n)) for outputs in (source, target))
    error = _estimate(estimator, *shuffled, interval=False).raw_error
    assert _near(error, expected), f"{error} in another order, {expected} before"


def calls_repeat(estimator) -> None:
    """The same call gives the same answer; a seed moves the interval alone; inputs are not changed."""
    source, target = small_outputs(0), small_outputs(1)
    before = [outputs.logits.copy() for outputs in (source, target)]
    first, second = (_estimate(estimator, source, target, seed=3, resamples=40) for _ in range(2))
    assert to_json(first) == to_json(second), "the same call gives the same answer"
    assert _near(_estimate(estimator, source, target, seed=4, resamples=40).raw_error, first.raw_error), "seed"
    for copy, outputs in zip(before, (source, target), strict=True):
        assert np.array_equal(copy, outputs.logits), "inputs are not changed"


def target_labels_are_not_looked_at(estimator) -> None:
    """Right labels, wrong ones and none give the same answer."""
    target: Any = small_outputs(1)  # with its labels
    variants = (target, replace(target, labels=(target.labels + 1) % CLASSES), replace(target, labels=None))
    estimates = [to_json(_estimate(estimator, small_outputs(0), outputs, resamples=40)) for outputs in variants]
    assert estimates[0] == estimates[1] == estimates[2], "labels of the target are looked at"


def an_estimate_survives_json(estimator) -> None:
    """An estimate comes back from JSON as it was."""
    estimate = _estimate(estimator, small_outputs(0), small_outputs(1), resamples=40)
    assert to_json(Estimate(**to_json(estimate))) == to_json(estimate)


def scores_are_of_images(estimator) -> None:
    """Sample scores are one number an image, or None; no interval without resampling; one image is enough."""
    estimate = _estimate(estimator, small_outputs(0), small_outputs(1), interval=False)
    assert estimate.interval is None, "interval=False gives none"
    assert estimate.sample_scores is None or estimate.sample_scores.shape == (60,), "a score an image"
    single = _estimate(estimator, small_outputs(0), small_outputs(1).take([0]), interval=False)
    assert single.error is None or 0 <= single.error <= 1, "one image"


def refusals_tell_what_is_missing(estimator) -> None:
    """Other classes, and what it needs and is not given, raise ValueError (OpenworldError)."""
    fitted = estimator.fit(small_outputs(0))
    require_refused(lambda: fitted.estimate(Outputs(np.eye(5))), "a target of other classes")
    for need in estimator.needs:
        lacking = replace(small_outputs(0), **{need: () if need == "partners" else None})
        require_refused(lambda: estimator.fit(lacking).estimate(lacking), f"outputs without {need}")  # noqa: B023


def _near(first: float | None, second: float | None) -> bool:
    return first is second if first is None or second is None else abs(first - second) <= ORDER


ESTIMATOR_CHECKS: dict[str, Callable] = by_name(
    says_what_it_is,
    settings_are_frozen_and_survive_json,
    fractions_add_up,
    order_does_not_matter,
    calls_repeat,
    target_labels_are_not_looked_at,
    an_estimate_survives_json,
    scores_are_of_images,
    refusals_tell_what_is_missing,
)
