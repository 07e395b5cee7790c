"""All that a detector may look at of some images: one cache, filled once, read by every detector.

Features and logits come from one forward pass, maps and moved images from the few more that a `Plan` makes. What
several detectors derive from them (logits from features, unit features, energies) is computed once and kept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld.core.arrays import LARGEST_LABEL, as_labels
from openworld.core.errors import OpenworldError, present
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.detectors.engine.head import Head, as_floats
from openworld.detectors.engine.perturbation import Perturbation, Sampling
from openworld.detectors.engine.texts import Texts

PER_IMAGE = ("features", "outputs", "labels", "patches", "own")
"""Parts of `Activations` that are tensors with a row for each image."""


@checked
@dataclass(frozen=True, eq=False)
class Maps:
    """What enters the last stage of a convolutional network and what leaves it.

    Args:
        early: float[N, c, h, w]. late: float[N, D, H, W], whose mean over positions is the features.
        last_stage: the stage as a function, early to late.
    """

    early: Tensor
    late: Tensor
    last_stage: Callable[[Tensor], Tensor]

    __repr__ = short_repr

    def __post_init__(self):
        for name in ("early", "late"):
            object.__setattr__(self, name, _check(getattr(self, name), name, 4))
        if len(self.early) != len(self.late) or self.early.dtype != self.late.dtype:
            raise OpenworldError(
                f"early maps are {self.early.dtype}{list(self.early.shape)} and late ones {self.late.dtype}"
                f"{list(self.late.shape)}, expected the same type, of the same images."
            )


@checked
@dataclass(frozen=True, eq=False)
class Layer:
    """What leaves a layer, of N images.

    Args:
        maps: float[N, c, h, w], or vectors float[N, c]. gradient: of the same shape, of KL(uniform || softmax) with
            respect to them; or None.

    >>> layer = Layer(torch.tensor([[[[1.0, 3.0]]]]), torch.tensor([[[[0.5, 0.25]]]]))
    >>> layer.pooled.tolist(), layer.influence.tolist()
    ([[2.0]], [[1.5]])
    """

    maps: Tensor
    gradient: Tensor | None = None

    __repr__ = short_repr

    def __post_init__(self):
        for name in ("maps", "gradient"):
            if (tensor := getattr(self, name)) is not None:
                vectors = isinstance(tensor, Tensor) and tensor.dim() == 2
                object.__setattr__(self, name, _check(tensor, f"{name} of a layer", 2 if vectors else 4))
        if self.gradient is not None and self.gradient.shape != self.maps.shape:
            raise OpenworldError(
                f"a layer has maps of shape {list(self.maps.shape)} and a gradient of {list(self.gradient.shape)}, "
                "expected the same shape."
            )

    @cached_property
    def pooled(self) -> Tensor:
        """Mean over positions, float[N, c]."""
        return self.maps.flatten(2).mean(dim=2) if self.maps.dim() > 2 else self.maps

    @cached_property
    def influence(self) -> Tensor:
        """Pooled maps times the derivative with respect to them, float[N, c]: all positions move as their mean does."""
        gradient = present(self.gradient, "the gradient of a layer")
        return self.pooled * (gradient.flatten(2).sum(dim=2) if gradient.dim() > 2 else gradient)

    def take(self, rows: Any) -> "Layer":
        """Some of the images."""
        return Layer(self.maps[rows], None if self.gradient is None else self.gradient[rows])


@checked
@dataclass(frozen=True, eq=False)
class Activations:
    """N images as a classifier, or a two-tower model, sees them; half precision is read as float32.

    Args:
        features: float[N, D], what enters the head: of two-tower models, image embeddings.
        head: the last linear layer.
        outputs: float[N, C], the model's logits; left out, they are computed from features and head.
        labels: int[N] in 0..C-1; only a fit looks at them.
        maps: of the last stage.
        perturbed: features float[N, D] of the same images moved, by how they were moved.
        texts: text embeddings of the classes. patches: float[N, P, E], patches in the joint space.
        layers: what leaves several layers, by the name of the module.
        sampled: float[N, R, C], several logits of each image, by where they come from.
        own: float[N], the detection score of the tuned learner that answers, larger = more in-distribution.

    Raises:
        OpenworldError: shapes that do not fit one another, NaN or infinity, with the first image.

    >>> activations = Activations(torch.tensor([[3.0, 4.0]]), Head(torch.eye(2)))
    >>> activations.logits.tolist(), activations.predictions.tolist()
    ([[3.0, 4.0]], [1])
    """

    features: Tensor | None = None
    head: Head | None = None
    outputs: Tensor | None = None
    labels: Tensor | None = None
    maps: Maps | None = None
    perturbed: Mapping[Perturbation, Tensor] = field(default_factory=dict)
    texts: Texts | None = None
    patches: Tensor | None = None
    layers: Mapping[str, Layer] = field(default_factory=dict)
    sampled: Mapping[Sampling, Tensor] = field(default_factory=dict)
    own: Tensor | None = None

    __repr__ = short_repr

    def __post_init__(self):
        for name, dimensions in (("features", 2), ("outputs", 2), ("patches", 3), ("own", 1)):
            if (tensor := getattr(self, name)) is not None:
                object.__setattr__(self, name, _check(tensor, name, dimensions))
        object.__setattr__(self, "perturbed", {how: _check(h, "perturbed", 2) for how, h in self.perturbed.items()})
        object.__setattr__(self, "sampled", {how: _check(z, "sampled", 3) for how, z in self.sampled.items()})
        if self.labels is not None:
            object.__setattr__(self, "labels", _labels(self.labels))
        counts = self._counts()
        if len(set(counts.values())) > 1:
            raise OpenworldError(f"expected one entry per image in all parts, got {counts}.")
        _require_widths(self)

    def __len__(self) -> int:
        return next(iter(self._counts().values()), 0)

    def _counts(self) -> dict[str, int]:
        """How many images each part is of."""
        parts = {name: getattr(self, name) for name in PER_IMAGE}
        parts |= {"maps": self.maps and self.maps.late}
        parts |= {f"perturbed by {how}": features for how, features in self.perturbed.items()}
        parts |= {f"layer {name}": layer.maps for name, layer in self.layers.items()}
        parts |= {f"sampled by {how}": logits for how, logits in self.sampled.items()}
        return {name: len(part) for name, part in parts.items() if part is not None}

    def tensor(self, name: str) -> Tensor:
        """Return the part of a name in `PER_IMAGE`, which must be there: a detector looks at what it `needs` alone."""
        return present(getattr(self, name), name)

    def logits_of(self, features: Tensor) -> Tensor:
        """Return what the head, which must be there, makes of other features than those of the images, float[N, C]."""
        return present(self.head, "the head").logits(features)

    @cached_property
    def logits(self) -> Tensor:
        """float[N, C]."""
        self.require("logits", "logits")
        return self.logits_of(self.tensor("features")) if self.outputs is None else self.outputs

    @cached_property
    def probabilities(self) -> Tensor:
        """Softmax of the logits, float[N, C]."""
        return self.logits.softmax(dim=1)

    @cached_property
    def predictions(self) -> Tensor:
        """int64[N], the class of the largest logit."""
        return self.logits.argmax(dim=1)

    @cached_property
    def energy(self) -> Tensor:
        """log sum exp of the logits, float[N]."""
        return self.logits.logsumexp(dim=1)

    @cached_property
    def unit(self) -> Tensor:
        """Features of length 1, float[N, D]; a zero vector stays zero."""
        return normalize(self.tensor("features"), dim=1)

    @cached_property
    def unit_texts(self) -> Texts:
        """The texts, which must be there, on the device and in the type of the features."""
        return present(self.texts, "texts").to(self.unit)

    @cached_property
    def cosines(self) -> Tensor:
        """Cosines of features and class texts, float[N, C]."""
        return self.unit @ self.unit_texts.own.mT

    @cached_property
    def patch_cosines(self) -> Tensor:
        """Cosines of patches and class texts, float[N, P, C]."""
        patches = self.tensor("patches")
        return normalize(patches, dim=-1) @ present(self.texts, "texts").to(patches).own.mT

    def require(self, need: str, who: str) -> None:
        """Raise unless `need`, one of `NEEDS`, is there; what only a fit looks at counts as there."""
        there = {
            "features": self.features is not None,
            "head": self.head is not None,
            "logits": self.outputs is not None or (self.features is not None and self.head is not None),
            "maps": self.maps is not None,
            "gradient": bool(self.perturbed),
            "texts": self.texts is not None,
            "patches": self.patches is not None,
            "samples": bool(self.sampled),
            "learner": self.own is not None,
            "layers": bool(self.layers),
            "layer gradients": bool(self.layers) and all(layer.gradient is not None for layer in self.layers.values()),
        }
        if not there.get(need, True):
            raise OpenworldError(f"{who} needs {NEEDS[need]}; {_WAYS[need]}.")

    def moved(self, how: Perturbation, who: str) -> Tensor:
        """Features float[N, D] of the same images, moved; raises where no pass was made for it."""
        return _made(self.perturbed, how, f"{who} needs images moved by {how}", "gradient")

    def sampled_by(self, how: Sampling, who: str) -> Tensor:
        """Several logits of each image, float[N, R, C]; raises where no pass was made for them."""
        return _made(self.sampled, how, f"{who} needs several logits of each image, by {how}", "samples")

    def layers_of(self, names: Sequence[str], who: str) -> dict[str, Layer]:
        """The layers of those names, or all where none is named; raises where one is not there."""
        names = names or tuple(self.layers)
        return {name: _made(self.layers, name, f"{who} needs what leaves the layer {name!r}", "layers")
                for name in names}  # fmt: skip

    def take(self, rows: Any) -> "Activations":
        """Some of the images: a slice, indices int64[n] or bool[N]."""
        parts = {name: getattr(self, name) for name in PER_IMAGE}
        taken = {name: part[rows] for name, part in parts.items() if part is not None}
        maps = self.maps and replace(self.maps, early=self.maps.early[rows], late=self.maps.late[rows])
        perturbed = {how: h[rows] for how, h in self.perturbed.items()}
        layers = {name: layer.take(rows) for name, layer in self.layers.items()}
        sampled = {how: logits[rows] for how, logits in self.sampled.items()}
        return replace(self, **taken, maps=maps, perturbed=perturbed, layers=layers, sampled=sampled)

    def split(self, size: int) -> "Iterator[Activations]":
        """Yield parts of `size` images, or the whole where there are no more."""
        if len(self) <= size:
            yield self
            return
        for start in range(0, len(self), size):
            yield self.take(slice(start, start + size))


NEEDS: Mapping[str, str] = {
    "logits": "logits",
    "features": "the features that enter the head",
    "head": "the classifier's last linear layer",
    "labels": "labels of the training images",
    "bank": "training features, kept one by one",
    "maps": "the maps around the last stage",
    "gradient": "a gradient with respect to the pixels",
    "texts": "text embeddings of the class names",
    "patches": "patches in the joint space of a two-tower model",
    "layers": "the maps that leave several layers",
    "layer gradients": "a gradient with respect to the maps of several layers",
    "samples": "several logits of each image, of passes with dropout or of several classifiers",
    "learner": "a tuned learner's own detection score",
}
"""What a detector may say it needs, and what that is."""

_OF_MAPS = "let `plan(...)` make the passes over images; maps are not kept with cached features"
_OF_GRADIENTS = "let `plan(...)` make the passes over images; cached features alone cannot give it"
_WAYS = {
    "logits": "pass outputs=..., or features and a head",
    "features": "pass features=...",
    "head": "pass head=Head(weight, bias)",
    "maps": _OF_MAPS,
    "gradient": _OF_GRADIENTS,
    "texts": "pass texts=encode_texts(clip, names); only two-tower models have them",
    "layers": _OF_MAPS,
    "layer gradients": _OF_GRADIENTS,
    "samples": "let `plan(...)` make the passes over images, or pass sampled={detector.sampling: logits}",
    "learner": "read images with `activations_of_learner(fitted, features)`; only tuned learners have one",
    "patches": "encode with patches=True and read them with `activations_of(clip, features, texts)`",
}


def _made(parts: Mapping[Any, Any], key: Any, lacking: str, need: str) -> Any:
    """Return what was made for a detector, which asks for it by a key."""
    if key not in parts:
        raise OpenworldError(f"{lacking}; {_WAYS[need]}.")
    return parts[key]


def require_finite(values: Tensor, what: str, then: str) -> None:
    """Raise where a row of float[N, ...] holds NaN or infinity; names the first image."""
    # A sum is finite only where all parts are, and is read off in a fifth of the time; one that overflows looks closer.
    if values.sum().isfinite() or values.isfinite().all():
        return
    bad = (~values.isfinite()).flatten(1).any(dim=1) if values.dim() > 1 else ~values.isfinite()
    first, count = int(bad.int().argmax()), int(bad.sum())
    raise OpenworldError(
        f"{what} NaN or infinite for {count} of {len(bad)} image(s), first for number {first}; {then}."
    )


def _check(values: Tensor, name: str, dimensions: int) -> Tensor:
    if not isinstance(values, Tensor) or values.dim() != dimensions:
        shapes = {"outputs": "[N, C]", "sampled": "[N, R, C]"}
        axes = shapes.get(name, {1: "[N]", 2: "[N, D]", 3: "[N, P, E]", 4: "[N, channels, height, width]"}[dimensions])
        shape = [str(list(values.shape))] if hasattr(values, "shape") else []
        kind = [] if isinstance(values, Tensor) else [type(values).__name__]
        raise OpenworldError(f"{name} came as {' '.join(kind + shape)}, expected a torch tensor of shape {axes}.")
    values = as_floats(values, name)
    require_finite(values, f"{name} are", "find out what the model makes of that image, or leave it out")
    return values


def _labels(values) -> Tensor:
    labels = values if isinstance(values, Tensor) else torch.from_numpy(as_labels(values, "labels"))
    is_dense = labels.layout == torch.strided and labels.dim() == 1
    if not is_dense or labels.is_complex() or labels.is_floating_point() or labels.dtype == torch.bool:
        came = f"{labels.dtype}{list(labels.shape)}, {labels.layout}"
        raise OpenworldError(f"labels came as {came}, expected class indices int[N].")
    labels = labels.long()  # before they are looked at: what unsigned labels wrap to is negative
    if len(labels) and labels.min() < 0:
        raise OpenworldError(f"labels hold the negative class {int(labels.min())}; classes count from 0.")
    if len(labels) and labels.max() > LARGEST_LABEL:
        raise OpenworldError(f"labels hold {int(labels.max())}, expected class indices of at most {LARGEST_LABEL}.")
    return labels


def _require_widths(activations: Activations) -> None:
    head, features = activations.head, activations.features
    if head is not None and features is not None and features.shape[1] != head.width:
        raise OpenworldError(f"features have {features.shape[1]} columns, but the head reads {head.width}.")
    if head is not None and activations.outputs is not None and activations.outputs.shape[1] != head.classes:
        raise OpenworldError(f"outputs have {activations.outputs.shape[1]} classes, but the head has {head.classes}.")
    if activations.texts is not None and features is not None and features.shape[1] != activations.texts.own.shape[1]:
        raise OpenworldError(
            f"features have {features.shape[1]} columns, the texts {activations.texts.own.shape[1]}; "
            "two-tower detectors compare embeddings of one model."
        )
    classes = head.classes if head else activations.outputs.shape[1] if activations.outputs is not None else None
    if activations.labels is not None and len(activations.labels) and classes is not None:
        largest = int(activations.labels.max())
        if largest >= classes:
            raise OpenworldError(f"labels hold class {largest}, but there are {classes} classes (from 0).")
