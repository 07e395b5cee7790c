"""Images that a classifier sees more than once: moved a little along the sign of a gradient, for ODIN and AdaSCALE; and
several logits of one image, of passes with dropout on, or of several classifiers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, cross_entropy
from torch.nn.modules.dropout import _DropoutNd
from torch.overrides import TorchFunctionMode

from openworld.core.errors import present
from openworld.core.types import AboveZero, NotNegative, Range, checked
from openworld.detectors.engine.layer_search import logits_of, run

Objective = Literal["confidence", "largest logit"]
Source = Literal["dropout", "members"]
Reading = Literal["confidence", "entropy"]
MOST = 100_000


@checked
@dataclass(frozen=True)
class Perturbation:
    """x + step * sign(gradient of the objective), on some of the pixels.

    Args:
        objective: "confidence": log softmax(z / temperature) of the predicted class; "largest logit": z of it.
        temperature: T of the confidence.
        step: how far, in units of the image before its channels were divided by their deviation where `in_pixels`,
            else of the image as the model takes it.
        share: of each image's values, those with the smallest gradients; 1 moves all.
        in_pixels: divide the step by each channel's deviation.

    Where a gradient is 0 the sign is that of ODIN's code, as if confidence fell, when all values are moved; it is 0
    when only a share of them is.
    """

    objective: Objective = "confidence"
    temperature: AboveZero = 1.0
    step: NotNegative = 0.0014
    share: Annotated[float, Range(0, 1, "(]")] = 1.0
    in_pixels: bool = True

    @property
    def direction(self) -> tuple[str, float]:
        """What the gradient is of: perturbations that agree in it share one backward pass."""
        return (self.objective, self.temperature if self.objective == "confidence" else 1.0)

    def move(self, images: Tensor, gradient: Tensor, pixel_std: Tensor | None) -> Tensor:
        """The moved images, float[N, ...].

        Args:
            images, gradient: float[N, ...]. pixel_std: deviations that broadcast over images, where `in_pixels`.

        >>> images, gradient = torch.zeros(1, 2), torch.tensor([[0.1, -3.0]])
        >>> Perturbation(step=0.5, in_pixels=False).move(images, gradient, None).tolist()
        [[0.5, -0.5]]
        >>> Perturbation(step=0.5, share=0.5, in_pixels=False).move(images, gradient, None).tolist()
        [[0.5, 0.0]]
        """
        if self.share == 1:
            # OpenOOD takes "the loss does not fall" (gradient >= 0) for +1, so that confidence 0 counts as falling.
            signs = torch.where(gradient > 0, 1.0, -1.0).to(images)
        else:
            signs = gradient.sign() * _smallest(gradient, self.share)
        step = self.step / present(pixel_std, "pixel_std") if self.in_pixels else self.step
        return images + step * signs


def input_gradients(logits: Tensor, images: Tensor, wanted: Iterable[Perturbation]) -> dict[tuple, Tensor]:
    """The gradients of float[N, C] that perturbations need, by direction: one backward pass each, none for weights."""
    directions = list(dict.fromkeys(how.direction for how in wanted))
    predicted = logits.detach().argmax(dim=1)
    gradients = {}
    for place, (objective, temperature) in enumerate(directions):
        if objective == "confidence":
            value = -cross_entropy(logits / temperature, predicted, reduction="sum")
        else:
            value = logits.gather(1, predicted[:, None]).sum()
        more = place + 1 < len(directions)
        (gradients[objective, temperature],) = torch.autograd.grad(value, images, retain_graph=more)
    return gradients


def uniform_gradients(logits: Tensor, layers: Mapping[str, Tensor], *, keep: bool) -> dict[str, Tensor]:
    """Gradients of KL(uniform || softmax) by what leaves layers, in one backward pass; `keep`: more passes follow."""
    divergence = -logits.log_softmax(dim=1).mean(dim=1).sum()  # up to a constant
    gradients = torch.autograd.grad(divergence, list(layers.values()), retain_graph=keep)
    return dict(zip(layers, gradients, strict=True))


def _smallest(gradient: Tensor, share: float) -> Tensor:
    """A mask of the share of each image's values whose gradient is smallest."""
    sizes = gradient.abs().flatten(1)
    places = sizes.topk(int(share * sizes.shape[1]), dim=1, largest=False).indices
    return torch.zeros_like(sizes).scatter(1, places, 1.0).view_as(gradient)


class AffineBatchNorm(TorchFunctionMode):
    """While the block runs, batch normalisation on a CPU, by what was learned, is one product and sum."""

    # On a CPU, PyTorch's own backward pass of it sums gradients over all positions for weights that nobody asked about,
    # a tenth of the whole backward pass of a ResNet-50. Values are the same to rounding.

    def __torch_function__(self, func, types, args=(), kwargs=None):
        """Every other function as it is."""
        called = func if func is not batch_norm else _affine
        return called(*args, **(kwargs or {}))


def _affine(
    input: Tensor,  # names are those of `batch_norm`, by which it is called
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    **rest,
) -> Tensor:
    if training or running_mean is None or input.device.type != "cpu" or input.dtype != running_mean.dtype:
        return batch_norm(input, running_mean, running_var, weight, bias, training, **rest)
    with torch.no_grad():
        scale = (running_var + rest.get("eps", 1e-5)).rsqrt()
        scale = scale if weight is None else scale * weight
        shift = -running_mean * scale if bias is None else bias - running_mean * scale
    shape = (-1, *[1] * (input.dim() - 2))
    return torch.addcmul(shift.view(shape), input, scale.view(shape))


@checked
@dataclass(frozen=True)
class Sampling:
    """Where several logits of an image come from.

    Args:
        source: "dropout": forward passes with dropout on; "members": the classifier and those that `watch` was given.
        repeats: of passes with dropout. seed: what drops out, begun anew with every batch.
    """

    source: Source = "dropout"
    repeats: Annotated[int, Range(1, MOST)] = 30
    seed: int = 0


@torch.no_grad()
def sampled_logits(module: nn.Module, members: Sequence[nn.Module], images: Tensor, how: Sampling) -> Tensor:
    """Logits float[N, R, C] of images: of the members, or of R passes with dropout on."""
    # Random numbers of the rest of the program are as they were before.
    if how.source == "members":
        return torch.stack([logits_of(run(member, images)) for member in members], dim=1)
    layers = dropout_layers(module)  # all else stays in evaluation mode
    try:
        for layer in layers:
            layer.training = True
        with torch.random.fork_rng(devices=[images.device] if images.is_cuda else []):
            torch.manual_seed(how.seed)
            return torch.stack([logits_of(run(module, images)) for _ in range(how.repeats)], dim=1)
    finally:
        for layer in layers:
            layer.training = False


def dropout_layers(module: nn.Module) -> list[nn.Module]:
    """Layers that would drop something."""
    return [part for part in module.modules() if isinstance(part, _DropoutNd) and part.p > 0]


def read_samples(logits: Tensor, reading: Reading) -> Tensor:
    """The largest mean softmax, or minus the entropy of the mean softmax, float[N], of logits float[N, R, C]."""
    mean = logits.softmax(dim=2).mean(dim=1)
    return mean.amax(dim=1) if reading == "confidence" else torch.special.xlogy(mean, mean).sum(dim=1)
