"""What every estimator of open-world quality promises, as checks that need no test framework: for ours and others'."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from openworld.estimators.open_world import NUMBERS, OpenWorldEstimate, OpenWorldOutputs
from openworld.testing._promises import (
    by_name,
    check_all,
    require_description,
    require_refused,
    settings_are_frozen_and_survive_json,
)

BASE, NEW = 4, 3
ORDER = 1e-9


def small_open_world(seed: int, n: int = 240, new_share: float = 0.5) -> OpenWorldOutputs:
    """Labelled images of 4 base and 3 new classes, all that an estimator may need; new_share=0 for validation images.

    >>> outputs = small_open_world(0)
    >>> outputs.logits.shape, outputs.n_base, int((outputs.labels >= 4).sum())
    ((240, 7), 4, 120)
    """
    generator = np.random.default_rng(seed)
    n_new = round(n * new_share)
    labels = np.concatenate([generator.integers(0, BASE, n - n_new), generator.integers(BASE, BASE + NEW, n_new)])
    labels = generator.permutation(labels)
    logits, reference = (
        generator.normal(size=(n, BASE + NEW)) + strength * np.eye(BASE + NEW)[labels] for strength in (2.5, 2.0)
    )
    return OpenWorldOutputs(logits=logits, n_base=BASE, labels=labels, reference=reference)


def check_open_world_estimator(estimator: Any) -> None:
    """Run every check; raises AssertionError for the first promise that is not kept.

    Args:
        estimator: an instance with its settings.

    >>> from openworld.estimators.open_world import OwnNames
    >>> check_open_world_estimator(OwnNames())
    """
    check_all(OPEN_WORLD_ESTIMATOR_CHECKS, estimator.name, estimator)


def _fitted(estimator):
    return estimator.fit(small_open_world(0, 120, 0))


def _numbers(estimate: OpenWorldEstimate) -> dict[str, float | None]:
    return {name: getattr(estimate, name) for name in NUMBERS}


def _same(first: OpenWorldEstimate, second: OpenWorldEstimate) -> bool:
    pairs = zip(_numbers(first).values(), _numbers(second).values(), strict=True)
    return all(one is other if one is None or other is None else abs(one - other) <= ORDER for one, other in pairs)


def says_what_it_is(estimator) -> None:
    """Name, paper, premise and a short summary; needs and gives out of what there is."""
    require_description(estimator, "premise")
    assert set(estimator.needs) <= {"labels", "logits", "reference"}, f"needs {estimator.needs}"
    assert estimator.gives and set(estimator.gives) <= set(NUMBERS), f"gives {estimator.gives}"


def numbers_are_fractions_or_have_reasons(estimator) -> None:
    """Every number lies in [0, 1], or is None for a reason; what it gives, it gives on an easy stream."""
    fitted = _fitted(estimator)
    for seed, share in enumerate((0.0, 0.02, 0.3, 0.5, 0.8, 0.98, 1.0)):
        estimate = fitted.estimate(small_open_world(seed + 50, new_share=share))
        for name, value in _numbers(estimate).items():
            assert (value is None) == (name in estimate.reasons), f"{name} is {value} at a share of {share}"
            assert value is None or 0 <= value <= 1, f"{name} is {value}"
    given = {name for name, value in _numbers(fitted.estimate(small_open_world(1))).items() if value is not None}
    assert given == set(estimator.gives), f"gives {sorted(given)}"


def images_are_a_set(estimator) -> None:
    """Images in another order give the same estimate, and scores on another rising scale."""
    fitted, stream = _fitted(estimator), small_open_world(1)
    expected = fitted.estimate(stream)
    both: tuple[Any, Any] = (fitted.validation, stream)
    shuffled = stream.rows(np.random.default_rng(5).permutation(stream.n))
    assert _same(fitted.estimate(shuffled), expected), "another order of the images"
    validation, rescaled = (replace(each, scores=np.exp(each.scores)) for each in both)
    assert _same(estimator.fit(validation).estimate(rescaled), expected), "scores on another rising scale"


def calls_can_be_repeated(estimator) -> None:
    """The same call gives the same answer, and inputs are not changed."""
    fitted, stream = _fitted(estimator), small_open_world(1)
    assert stream.logits is not None and stream.scores is not None
    before = stream.logits.copy(), stream.scores.copy()
    first, second = fitted.estimate(stream), fitted.estimate(stream)
    assert _numbers(first) == _numbers(second), "the same call gives the same answer"
    after = stream.logits, stream.scores
    assert all(np.array_equal(*pair) for pair in zip(before, after, strict=True)), "inputs are not changed"


def details_fit_into_json(estimator) -> None:
    """What an estimate rests on can be kept, also where every validation image is named right."""
    validation: Any = small_open_world(0, 120, 0)
    right = replace(validation, labels=validation.logits[:, :BASE].argmax(axis=1))
    for known in (validation, right):
        details = estimator.fit(known).estimate(small_open_world(1)).details
        plain = {name: detail for name, detail in details.items() if not hasattr(detail, "shape")}
        json.dumps(plain, allow_nan=False)


def labels_of_the_stream_are_not_looked_at(estimator) -> None:
    """Right labels, wrong ones and none give the same answer."""
    fitted, stream = _fitted(estimator), small_open_world(1)
    assert stream.labels is not None and stream.base_right is not None
    others: dict[str, Any] = {"labels": (stream.labels + 1) % (BASE + NEW), "base_right": ~stream.base_right}
    lying, blind = replace(stream, **others), replace(stream, **dict.fromkeys(others))
    numbers = [_numbers(fitted.estimate(outputs)) for outputs in (stream, lying, blind)]
    assert numbers[0] == numbers[1] == numbers[2], "labels of the stream are looked at"


def a_given_share_is_kept(estimator) -> None:
    """`new_share` is the share of the estimate, and more new images than base ones may be said to be there."""
    fitted, stream = _fitted(estimator), small_open_world(1)
    for share in (0.2, 0.5, 0.8):
        share_found = fitted.estimate(stream, new_share=share).new_share
        assert abs(share_found - share) < 1e-6, f"{share_found} where {share} is given"
    for share in (0.0, 1.0, 1.5):
        require_refused(lambda: fitted.estimate(stream, new_share=share), f"new_share={share}")  # noqa: B023


def proxies_are_expectations(estimator) -> None:
    """One number an image: 0 <= base_right <= base, 0 <= new_right <= 1 - base; or none at all."""
    proxies = _fitted(estimator).estimate(small_open_world(1)).proxies
    if proxies is not None:
        assert len(proxies) == 240, "one an image"
        for right, side in ((proxies.base_right, proxies.base), (proxies.new_right, 1 - proxies.base)):
            assert np.all(right >= 0) and np.all(right <= side + ORDER), "right at most as often as of that side"


def too_little_is_refused(estimator) -> None:
    """Few images give no number; few, new or unlabelled validation images, and outputs without a need, raise."""
    fitted = _fitted(estimator)
    few = fitted.estimate(small_open_world(1, 20))
    assert not [name for name, value in _numbers(few).items() if value is not None], "20 images are too few"
    require_refused(lambda: estimator.fit(small_open_world(0, 20, 0)), "20 validation images")
    require_refused(lambda: estimator.fit(small_open_world(0, 120, 0.5)), "validation images of new classes")
    for need in estimator.needs:
        changes = {"logits": ("logits", "base_logits", "new_logits", "reference")}.get(need, (need,))
        lacking = replace(small_open_world(0, 120, 0), **dict.fromkeys(changes))
        require_refused(lambda: estimator.fit(lacking), f"validation images without {need}")  # noqa: B023


def one_new_name_tells_nothing(estimator) -> None:
    """The confidence in one name alone is 1, and no accuracy of new names is given."""
    validation, stream = small_open_world(0, 120, 0), small_open_world(1)
    pairs: Any = ((validation, validation.labels), (stream, None))
    cut = [
        replace(one, logits=one.logits[:, :5], new_logits=None, reference=one.reference[:, :5], labels=labels)
        for one, labels in pairs
    ]
    estimate = estimator.fit(cut[0]).estimate(cut[1])
    assert estimate.new_accuracy is None and estimate.openworld_auc is None, "one new name"


OPEN_WORLD_ESTIMATOR_CHECKS: dict[str, Callable] = by_name(
    says_what_it_is,
    settings_are_frozen_and_survive_json,
    numbers_are_fractions_or_have_reasons,
    images_are_a_set,
    calls_can_be_repeated,
    details_fit_into_json,
    labels_of_the_stream_are_not_looked_at,
    a_given_share_is_kept,
    proxies_are_expectations,
    too_little_is_refused,
    one_new_name_tells_nothing,
)
