"""The last linear layer of a classifier: what turns features into logits."""

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, normalize

from openworld.core.arrays import LARGEST
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked


@checked
@dataclass(frozen=True, eq=False)
class Head:
    """z = W h + b.

    Args:
        weight: W, float[C, D], at least two classes; half precision is read as float32.
        bias: b, float[C], or None for none.

    Raises:
        OpenworldError: other shapes, fewer than two classes, NaN or infinity.

    >>> Head(torch.eye(2), torch.tensor([0.0, 1.0])).logits(torch.tensor([[3.0, 4.0]])).tolist()
    [[3.0, 5.0]]
    """

    weight: Tensor
    bias: Tensor | None = None

    __repr__ = short_repr

    def __post_init__(self):
        weight = as_floats(self.weight, "the head's weight")
        bias = None if self.bias is None else as_floats(self.bias, "the head's bias")
        shape = tuple(weight.shape)
        if len(shape) != 2 or shape[0] < 2 or shape[1] < 1:
            raise OpenworldError(f"the head's weight has shape {list(shape)}, expected [C, D] with C >= 2 classes.")
        if bias is not None and bias.shape != shape[:1]:
            raise OpenworldError(f"the head's bias has shape {list(bias.shape)}, expected [{shape[0]}] or None.")
        # One type for both, the wider: a product takes no two.
        dtype = weight.dtype if bias is None else torch.promote_types(weight.dtype, bias.dtype)
        object.__setattr__(self, "weight", weight.to(dtype))
        object.__setattr__(self, "bias", None if bias is None else bias.to(dtype))
        if not all(part.isfinite().all() for part in (self.weight, self.bias) if part is not None):
            raise OpenworldError("the head holds NaN or infinite weights; load the classifier's weights again.")

    @classmethod
    def of(cls, layer: nn.Linear) -> "Head":
        """The head that a linear layer is."""
        return cls(layer.weight, layer.bias)

    @classmethod
    @checked
    def of_texts(cls, texts: Tensor, scale: float | Tensor) -> "Head":
        """Zero-shot classification as a head over unit image embeddings: scale * unit texts, float[C, D]."""
        if isinstance(scale, Tensor) and scale.numel() != 1:
            raise OpenworldError(f"scale has shape {list(scale.shape)}, expected one number.")
        return cls(scale * normalize(as_floats(texts, "texts"), dim=-1))

    @property
    def classes(self) -> int:
        """C."""
        return self.weight.shape[0]

    @property
    def width(self) -> int:
        """D, the number of features."""
        return self.weight.shape[1]

    def logits(self, features: Tensor) -> Tensor:
        """Logits float[..., C] of features float[..., D]."""
        head = self.to(features)
        return linear(features, head.weight, head.bias)

    def fits(self, like: Tensor) -> bool:
        """Whether it lies on the device and is of the type of a tensor."""
        return self.weight.device == like.device and self.weight.dtype == like.dtype

    def equals(self, other: "Head") -> bool:
        """Whether it has the same weights, on whatever device."""
        parts = ((self.weight, other.weight), (self.bias, other.bias))
        return all(
            one is two if one is None or two is None else torch.equal(one.cpu(), two.cpu()) for one, two in parts
        )

    def to(self, like: Tensor) -> "Head":
        """Return the head on the device and in the type of a tensor."""
        if self.fits(like):
            return self
        return Head(self.weight.to(like), None if self.bias is None else self.bias.to(like))


def as_floats(values, name: str) -> Tensor:
    """A dense tensor of real numbers, none beyond `LARGEST`, in float32 or float64 and without its gradient."""
    if not isinstance(values, Tensor) or values.is_complex() or values.layout != torch.strided or values.is_quantized:
        kind = f"a tensor of {values.dtype}, {values.layout}" if isinstance(values, Tensor) else type(values).__name__
        raise OpenworldError(f"{name} came as {kind}, expected a dense torch tensor of real numbers.")
    tensor = wide(values.detach())
    size = float(tensor.abs().max()) if tensor.dtype == torch.float64 and tensor.numel() else 0.0
    if LARGEST < size < inf:  # infinity is told elsewhere, with the image it belongs to
        raise OpenworldError(f"{name} holds a number of size {size:g}, expected at most {LARGEST:g}.")
    return tensor


def wide(tensor: Tensor) -> Tensor:
    """Half precision and integers as float32; float32 and float64 as they are."""
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()
