"""A detector bound to what it learned: scores of any number of images, in parts; written to a file."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.linalg import LinAlgError

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.detectors.engine.activations import Activations, require_finite
from openworld.detectors.engine.head import Head
from openworld.detectors.engine.serialization import (
    FITTED,
    OURS,
    classes_beside,
    detector_of,
    put_together,
    read,
    settings_of,
    take_apart,
    write,
)
from openworld.detectors.engine.texts import Texts

ROWS = 4096  # images scored at a time: bounds what N x C and N x D intermediates take


class OODDetector(Protocol):
    """What every detector offers: a frozen dataclass of settings that says what it is, fits, and scores.

    name, paper, summary: for tables; `name` is what specs say. needs: what it looks at, of `NEEDS`. gathers: statistics
    of training images; where there are any, `learn(head, *gathered)` makes the state that `read` gets. A detector with
    `sequential = True` remembers images as it scores them: its `read` gets all images of a call, in their order.
    One with a `sweep` says which values of its settings a search tries ({"k": (50, 100)}), as published.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    summary: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]

    @property
    def gathers(self) -> tuple: ...

    def fit(
        self, features: Tensor | Activations | None = None, labels: Tensor | None = None, head: Head | None = None
    ) -> "FittedDetector": ...

    def read(self, state: Any, activations: Activations) -> Tensor: ...


@dataclass(frozen=True, eq=False)
class FittedDetector:
    """A detector bound to what it learned.

    Args:
        detector: its settings. state: what it learned, None for nothing.
        head, texts: of the fit; images to be scored that bring none of their own use these.
        warnings: sentences about the training images. width: of their features, None where there were none.
    """

    detector: OODDetector
    state: Any = None
    head: Head | None = None
    texts: Texts | None = None
    warnings: tuple[str, ...] = ()
    width: int | None = None

    __repr__ = short_repr

    @checked
    def score(self, features: Tensor | Activations) -> Tensor:
        """How much images look like the training data: larger = more in-distribution.

        Args:
            features: float[N, D], or all that was `Activations` of N images.
        Returns:
            float[N] on the same device.
        Raises:
            OpenworldError: something that the detector `needs` is missing, another number of features than in the
                fit, a score that is NaN or infinite.
        """
        return score_together({"score": self}, features)["score"]

    def read(self, activations: Activations) -> Tensor:
        """Scores of images that are known to bring all that is needed; small numbers of them, or a whole stream."""
        with solvable(self.detector.name):
            scores = self.detector.read(self.state, activations)
        require_finite(
            scores, f"{self.detector.name} gives", "the method is not made for such features; see its documentation"
        )
        return scores

    def save(self, path: Path | str) -> None:
        """Write one safetensors file, which `load_fitted` reads; see `save_together`."""
        save_together({self.detector.name: self}, path)


@contextmanager
def solvable(who: str) -> Generator[None]:
    """Within it, a matrix that has no decomposition is told as what it comes of."""
    try:
        yield
    except LinAlgError as error:
        raise OpenworldError(
            f"{who} cannot decompose the matrix that it makes of these features and this head ({error}); their numbers "
            "are too large, too small or too much alike."
        ) from error


@torch.no_grad()
@checked
def score_together(fitted: Mapping[str, FittedDetector], features: Tensor | Activations) -> dict[str, Tensor]:
    """Scores of all detectors for the same images: what they share (logits, softmax, norms) is computed once.

    Args:
        fitted: fitted detectors by a label of yours. features: as for `FittedDetector.score`.
    Returns:
        float[N] by the same labels, larger = more in-distribution.
    """
    parts = {label: [] for label in fitted}
    whole = features if isinstance(features, Activations) else Activations(features)
    sequential, others = _apart(fitted)
    for part in whole.split(ROWS):
        completed = {}
        for label, detector in others.items():
            parts[label].append(_read(part, detector, completed))
    for label, detector in sequential.items():
        parts[label].append(_read(whole, detector, {}))
    return {label: torch.cat(scores) for label, scores in parts.items()}


@torch.no_grad()
@checked
def score_stream(
    fitted: Mapping[str, FittedDetector], image_sets: Sequence[Activations], *, seed: int = 0
) -> list[dict[str, Tensor]]:
    """Scores of several image sets, such as known and strange images, of which sequential detectors see one stream.

    A detector that remembers what it scored must not know which set an image is of: it gets the images of all sets in
    an order that is drawn. All other detectors score each set as `score_together` does.

    Args:
        fitted: fitted detectors by a label of yours. image_sets: one at least, of one model.
        seed: of the order.
    Returns:
        for each image set, float[N] by the same labels.
    Raises:
        OpenworldError: as `score_together`; no image set.
    """
    if not len(image_sets):
        raise OpenworldError("there is no image set to score; give one at least.")
    sequential, others = _apart(fitted)
    scores = [score_together(others, images) for images in image_sets]
    if sequential:
        order = torch.from_numpy(np.random.default_rng(seed).permutation(sum(map(len, image_sets))))
        stream = score_together(sequential, _join(image_sets).take(order))
        for label, of_stream in stream.items():
            back = of_stream[order.argsort().to(of_stream.device)].split([len(images) for images in image_sets])
            for of_set, values in zip(scores, back, strict=True):
                of_set[label] = values
    return [{label: of_set[label] for label in fitted} for of_set in scores]


@torch.no_grad()
@checked
def score_streams(
    fitted: Mapping[str, FittedDetector], known: Activations, others: Sequence[Activations], *, seed: int = 0
) -> tuple[dict[str, Tensor], list[dict[str, Tensor]], list[dict[str, Tensor]]]:
    """Scores of known images and of several sets of others, each of which makes a stream of its own with the known.

    So sequential detectors are published: in-distribution test images mixed with one set of others, stream by stream.

    Args:
        fitted: fitted detectors by a label of yours. known: in-distribution images. others: one set at least.
        seed: of the order of each stream.
    Returns:
        scores of the known images, of sequential detectors the mean over the streams; scores of each other set; and
        beside each other set what sequential detectors say of the known images in its stream.
    Raises:
        OpenworldError: as `score_together`; no other set.
    """
    if not len(others):
        raise OpenworldError("there is no set beside the known images to score; give one at least.")
    sequential, plain = _apart(fitted)
    scores = [score_together(plain, images) for images in (known, *others)]
    inside: list[dict[str, Tensor]] = [{} for _ in others]
    if sequential:
        streams = [score_stream(sequential, [known, images], seed=seed) for images in others]
        inside = [of_known for of_known, _ in streams]
        scores[0] |= {label: torch.stack([own[label] for own in inside]).mean(dim=0) for label in sequential}
        for of_set, (_, own) in zip(scores[1:], streams, strict=True):
            of_set |= own
    first, *rest = ({label: of_set[label] for label in fitted} for of_set in scores)
    return first, rest, inside


def is_sequential(detector: Any) -> bool:
    """Whether its scores depend on the order of the images and on which others there are."""
    return getattr(detector, "sequential", False)


def _apart(fitted: Mapping[str, FittedDetector]) -> tuple[dict[str, FittedDetector], dict[str, FittedDetector]]:
    """Return the sequential detectors, and the others."""
    sequential = {label: detector for label, detector in fitted.items() if is_sequential(detector.detector)}
    return sequential, {label: detector for label, detector in fitted.items() if label not in sequential}


def _join(image_sets: Sequence[Activations]) -> Activations:
    """Features, logits and patches of all sets, one behind the other; head and texts of the first."""
    parts = ("features", "outputs", "patches", "own")
    names = [name for name in parts if getattr(image_sets[0], name) is not None]
    joined: dict[str, Any] = {name: torch.cat([images.tensor(name) for images in image_sets]) for name in names}
    return Activations(**joined, head=image_sets[0].head, texts=image_sets[0].texts)


def _read(images: Activations, fitted: FittedDetector, completed: dict[tuple, Activations]) -> Tensor:
    activations = _complete(images, fitted, completed)
    width = None if activations.features is None else activations.features.shape[1]
    if None not in (fitted.width, width) and width != fitted.width:
        raise OpenworldError(
            f"{fitted.detector.name} was fitted on features of {fitted.width} numbers, and these have {width}; give "
            "features of the same model."
        )
    for need in fitted.detector.needs:
        activations.require(need, fitted.detector.name)
    return fitted.read(activations)


def _complete(part: Activations, fitted: FittedDetector, completed: dict[tuple, Activations]) -> Activations:
    """The part with head and texts of the fit where it brings none; one for all detectors that were fitted together."""
    head, texts = part.head or fitted.head, part.texts or fitted.texts
    key = (id(head), id(texts))
    if key not in completed:
        same = head is part.head and texts is part.texts
        completed[key] = part if same else replace(part, head=head, texts=texts)
    return completed[key]


def plain_scores(scores: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    """Return scores by label as float64[N]."""
    return {label: values.double().cpu().numpy() for label, values in scores.items()}


@checked
def save_together(fitted: Mapping[str, FittedDetector], path: Path | str) -> None:
    """Write fitted detectors into one file, scores of which are the same to the last bit when it was read again.

    Args:
        fitted: fitted detectors by a label of yours, as `fit_together` and `Plan.fit` give them.
        path: of the file; its folder is made where it is missing.
    Raises:
        OpenworldError: a state that cannot be written, a file that cannot.
    """
    tensors: dict[str, Tensor] = {}
    form = {}
    for place, (label, own) in enumerate(fitted.items()):
        form[label] = {
            "detector": settings_of(own.detector),
            "state": take_apart(own.state, f"{place}.state", tensors, classes_beside(own.detector)),
            "head": take_apart(own.head, f"{place}.head", tensors, OURS),
            "texts": take_apart(own.texts, f"{place}.texts", tensors, OURS),
            "warnings": list(own.warnings),
            "width": own.width,
        }
    write(path, FITTED, form, tensors)


@checked
def load_together(path: Path | str, *, kinds: Iterable[type] = (), device: str = "cpu") -> dict[str, FittedDetector]:
    """Read what `save_together` or `FittedDetector.save` wrote.

    Args:
        kinds: classes of detectors in the file that are neither ours nor installed plug-ins.
        device: where what was learned is to lie; that of the features which are to be scored is fastest.
    Raises:
        OpenworldError: no such file, another kind of file, one of another version, an unknown detector.
    """

    def build(form: dict, tensors: dict[str, Tensor]) -> dict[str, FittedDetector]:
        fitted = {}
        for label, entry in form.items():
            detector = detector_of(entry["detector"], kinds)
            state = put_together(entry["state"], tensors, classes_beside(detector))
            head, texts = (put_together(entry[part], tensors, OURS) for part in ("head", "texts"))
            fitted[label] = FittedDetector(detector, state, head, texts, tuple(entry["warnings"]), entry["width"])
        return fitted

    return read(path, FITTED, device, build)


@checked
def load_fitted(path: Path | str, *, kinds: Iterable[type] = (), device: str = "cpu") -> FittedDetector:
    """Read what `FittedDetector.save` wrote; arguments and errors as for `load_together`, and a file of several is
    refused.

    >>> import tempfile, torch
    >>> from openworld.detectors import KNN
    >>> path = Path(tempfile.mkdtemp(), "knn.safetensors")
    >>> KNN(k=1).fit(torch.eye(2)).save(path)
    >>> load_fitted(path).score(torch.tensor([[-1.0, 0.0]])).tolist()
    [-2.0]
    """
    detectors = load_together(path, kinds=kinds, device=device)
    if len(detectors) != 1:
        raise OpenworldError(f"{path} holds {len(detectors)} fitted detectors; read them with `load_together`.")
    return next(iter(detectors.values()))
