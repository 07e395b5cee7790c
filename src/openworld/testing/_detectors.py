"""What every detector promises, as checks that need no test framework: for ours and for those of other packages.

A check takes a detector, an instance with settings that suit 90 training images of 24 features, and a device.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.detectors import (
    NEEDS,
    Activations,
    FittedDetector,
    fit_together,
    gather,
    is_sequential,
    load_fitted,
    score_stream,
)
from openworld.metrics import auroc
from openworld.runs import to_json
from openworld.testing import _promises
from openworld.testing._classifier import small_seen
from openworld.testing._promises import by_name, check_all, require_description, require_refused

IMAGES = 90
CLOSE = 1e-3  # of the largest score: float32 rounding after a covariance was inverted; to look at others costs far more
TOLD_APART = 0.6  # AUROC of images of a colour against noise; ours have from 0.7 to 1
SEEN = cache(small_seen)


def check_detector(detector: Any, device: str = "cpu") -> None:
    """Run every check; raises AssertionError for the first promise that is not kept.

    Args:
        detector: an instance, with settings that suit 90 training images of 24 features and 3 classes.
        device: where features lie and scores must lie, such as "cuda".

    >>> from openworld.detectors import MSP
    >>> check_detector(MSP())
    """
    check_all(DETECTOR_CHECKS, getattr(detector, "name", type(detector).__name__), detector, device)


def says_what_it_is(detector, device: str) -> None:
    """Name, paper, a short summary, and needs that are known and agree with what it gathers."""
    require_description(detector)
    assert detector.needs and set(detector.needs) <= set(NEEDS), f"needs {detector.needs}, known are {tuple(NEEDS)}"
    gathered = {need for statistic in detector.gathers for need in statistic.needs}
    for need in ("bank", "labels"):
        assert (need in gathered) is (need in detector.needs), f"needs and gathers disagree on {need}"
    assert "gradient" not in detector.needs or hash(detector.perturbation), "`perturbation` says how images are moved"
    assert "samples" not in detector.needs or hash(detector.sampling), "`sampling` says where several logits come from"


def settings_are_frozen_and_survive_json(detector, device: str) -> None:
    """Settings cannot be changed, can be hashed, and come back from JSON as they were."""
    _promises.settings_are_frozen_and_survive_json(detector)
    assert hash(type(detector)(**to_json(detector))) == hash(detector), "equal settings have one hash"


def scores_are_a_number_an_image(detector, device: str) -> None:
    """float[N] on the device of the features, finite, without a gradient, not all the same."""
    scores = _fit(detector, device).score(_seen(detector, device, 2))
    assert isinstance(scores, Tensor) and scores.shape == (IMAGES,), f"a score an image, not {_shape(scores)}"
    assert scores.is_floating_point() and scores.isfinite().all(), "scores are finite numbers"
    assert scores.device.type == torch.device(device).type, f"scores lie on {scores.device}, features on {device}"
    assert not scores.requires_grad, "scores carry no gradient"
    assert len(scores.unique()) > IMAGES // 2, "images can be told apart"


def larger_is_more_in_distribution(detector, device: str) -> None:
    """Images like the training images have larger scores than noise: AUROC of 0.6 at least."""
    image_sets = [_seen(detector, device, 2, known=known) for known in (True, False)]
    known, strange = (scores["it"].cpu().numpy() for scores in score_stream({"it": _fit(detector, device)}, image_sets))
    area = auroc(known, strange).value
    assert area is not None and area >= TOLD_APART, (
        f"AUROC of what it knows against noise is {area:.2f}; turn the sign of the scores"
    )


def an_image_has_its_score_whatever_the_others_are(detector, device: str) -> None:
    """In another order, and alone, an image has the score that it has among others; but for sequential detectors."""
    if is_sequential(detector):
        return
    fitted, activations = _fit(detector, device), _seen(detector, device, 2)
    scores = fitted.score(activations)
    turned = fitted.score(activations.take(torch.arange(IMAGES).flip(0).to(device)))
    _require_close(turned.flip(0), scores, "in another order")
    _require_close(fitted.score(activations.take([4])), scores[4:5], "alone")


def no_image_has_no_score(detector, device: str) -> None:
    """Of no image, scores float[0]."""
    scores = _fit(detector, device).score(_seen(detector, device, 2).take([]))
    assert scores.shape == (0,), f"float[0] of no image, not {_shape(scores)}"


def batches_and_shards_do_not_matter_to_a_fit(detector, device: str) -> None:
    """Fitted on batches, or on two shards that were gathered apart and merged, it is the same."""
    train, test = _seen(detector, device, 1), _seen(detector, device, 2)
    expected = _fit(detector, device).score(test)
    _require_close(fit_together({"it": detector}, train.split(7))["it"].score(test), expected, "fitted on batches of 7")
    shards = [gather({"it": detector}, [part], start=50 * place) for place, part in enumerate(train.split(50))]
    _require_close(shards[0].merge(shards[1]).fit()["it"].score(test), expected, "fitted on two shards")


def calls_repeat_and_inputs_are_kept(detector, device: str) -> None:
    """The same fit and score give the same numbers; what was seen is not changed."""
    train, test = _seen(detector, device, 1), _seen(detector, device, 2)
    before = [part.clone() for part in _tensors(train) + _tensors(test)]
    scores = [detector.fit(train).score(test) for _ in range(2)]
    assert torch.equal(*scores), "the same call gives the same scores"
    assert all(map(torch.equal, before, _tensors(train) + _tensors(test))), "what was seen is not changed"


def precision_is_that_of_the_features(detector, device: str) -> None:
    """Features in float64 give the scores of float32, those in half precision finite ones."""
    expected = _fit(detector, device).score(_seen(detector, device, 2))
    for dtype, close in ((torch.float64, True), (torch.float16, False)):
        train, test = (
            replace(
                seen,
                features=None if seen.features is None else seen.features.to(dtype),
                outputs=None if seen.outputs is None else seen.outputs.to(dtype),
                perturbed={how: features.to(dtype) for how, features in seen.perturbed.items()},
            )
            for seen in (_seen(detector, device, seed) for seed in (1, 2))
        )
        scores = detector.fit(train).score(test)
        assert scores.isfinite().all(), f"scores of {dtype} are finite"
        if close:
            _require_close(scores, expected, f"in {dtype}")


def labels_of_judged_images_are_not_looked_at(detector, device: str) -> None:
    """Right labels, and none, give the same scores."""
    fitted, test = _fit(detector, device), _seen(detector, device, 2)
    assert torch.equal(fitted.score(replace(test, labels=None)), fitted.score(test)), "labels are looked at"


def what_is_missing_is_refused(detector, device: str) -> None:
    """Without something it needs, without labels or images where it learns from them: OpenworldError that names it."""
    train, test = _seen(detector, device, 1), _seen(detector, device, 2)
    refused = partial(require_refused, by=OpenworldError, who=detector.name)
    for need in (need for need in detector.needs if need in BLIND):
        blind = replace(test, **BLIND[need])
        refused(lambda: detector.fit(blind).score(blind), f"images without {need}")  # noqa: B023
    if "labels" in detector.needs:
        refused(lambda: detector.fit(replace(train, labels=None)), "training images without labels")
    if detector.gathers:
        refused(detector.fit, "a fit on nothing")


def bad_features_are_refused(detector, device: str) -> None:
    """NaN, and another number of features than in the fit: OpenworldError."""
    if "features" not in detector.needs:
        return
    fitted, right = _fit(detector, device), _seen(detector, device, 2).features
    assert right is not None
    spoilt = right.index_fill(0, torch.tensor([3], device=right.device), float("nan"))
    for features, what in ((spoilt, "NaN"), (right[:, :5], "another number of features")):
        require_refused(lambda: fitted.score(features), what, by=OpenworldError)  # noqa: B023


def survives_a_file(detector, device: str) -> None:
    """Saved and loaded it gives the same scores, to the last bit."""
    fitted, test = _fit(detector, device), _seen(detector, device, 2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fitted.safetensors")
        fitted.save(path)
        again = load_fitted(path, kinds=[type(detector)], device=device)
    assert torch.equal(again.score(test), fitted.score(test)), "scores after loading are others"
    assert again.warnings == fitted.warnings, "warnings are lost"


# What makes a `Activations` lack something: logits come from features and a head, too.
BLIND = {
    "features": {"features": None, "texts": None},
    "head": {"head": None},
    "logits": {"outputs": None, "head": None},
    "maps": {"maps": None},
    "gradient": {"perturbed": {}},
    "texts": {"texts": None},
    "patches": {"patches": None},
    "layers": {"layers": {}},
    "layer gradients": {"layers": {}},
    "samples": {"sampled": {}},
    "learner": {"own": None},
}


def _seen(detector, device: str, seed: int, *, known: bool = True) -> Activations:
    """Training images are those of seed 1; a copy, since a detector may spoil it."""
    moved = (detector.perturbation,) if "gradient" in detector.needs else ()
    several = (detector.sampling,) if "samples" in detector.needs else ()
    seen = SEEN(seed, IMAGES, known=known, perturbations=moved, samplings=several, device=device)
    return seen.take([*range(IMAGES)])


def _fit(detector, device: str) -> FittedDetector:
    return detector.fit(_seen(detector, device, 1))


def _tensors(batch: Activations) -> list[Tensor]:
    maps = (batch.maps.early, batch.maps.late) if batch.maps is not None else ()
    tensors = (batch.features, batch.outputs, batch.labels, batch.patches, *maps)
    return [tensor for tensor in tensors if tensor is not None]


def _require_close(ours: Tensor, theirs: Tensor, when: str) -> None:
    assert ours.shape == theirs.shape, f"{_shape(ours)} scores {when}, expected {_shape(theirs)}"
    apart = float((ours.double() - theirs.double()).abs().max() / theirs.double().abs().max().clamp(min=1e-3))
    assert apart <= CLOSE, f"scores {when} differ by {apart:.1e} of the largest"


def _shape(scores) -> str:
    return str(list(scores.shape)) if isinstance(scores, Tensor) else type(scores).__name__


DETECTOR_CHECKS: dict[str, Callable] = by_name(
    says_what_it_is,
    settings_are_frozen_and_survive_json,
    scores_are_a_number_an_image,
    larger_is_more_in_distribution,
    an_image_has_its_score_whatever_the_others_are,
    no_image_has_no_score,
    batches_and_shards_do_not_matter_to_a_fit,
    calls_repeat_and_inputs_are_kept,
    precision_is_that_of_the_features,
    labels_of_judged_images_are_not_looked_at,
    what_is_missing_is_refused,
    bad_features_are_refused,
    survives_a_file,
)
