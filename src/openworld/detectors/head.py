"""The last linear layer of a classifier: what turns features into logits."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, normalize

from openworld._errors import OpenworldError
from openworld._short_repr import short_repr


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
        shape = tuple(self.weight.shape)
        if len(shape) != 2 or shape[0] < 2 or shape[1] < 1:
            raise OpenworldError(f"the head's weight has shape {list(shape)}, expected [C, D] with C >= 2 classes.")
        if self.bias is not None and self.bias.shape != shape[:1]:
            raise OpenworldError(f"the head's bias has shape {list(self.bias.shape)}, expected [{shape[0]}] or None.")
        object.__setattr__(self, "weight", wide(self.weight.detach()))
        object.__setattr__(self, "bias", None if self.bias is None else wide(self.bias.detach()))
        if not all(part.isfinite().all() for part in (self.weight, self.bias) if part is not None):
            raise OpenworldError("the head holds NaN or infinite weights; load the classifier's weights again.")

    @classmethod
    def of(cls, layer: nn.Linear) -> "Head":
        """The head that a linear layer is."""
        return cls(layer.weight, layer.bias)

    @classmethod
    def of_texts(cls, texts: Tensor, scale: float | Tensor) -> "Head":
        """Zero-shot classification as a head over unit image embeddings: scale * unit texts, float[C, D]."""
        return cls(scale * normalize(wide(texts), dim=-1))

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

    def to(self, like: Tensor) -> "Head":
        """The same on the device and in the type of a tensor."""
        if self.fits(like):
            return self
        return Head(self.weight.to(like), None if self.bias is None else self.bias.to(like))


def wide(tensor: Tensor) -> Tensor:
    """Half precision and integers as float32; float32 and float64 as they are."""
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()
