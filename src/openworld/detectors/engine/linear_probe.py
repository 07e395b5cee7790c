"""A linear probe: logistic regression on frozen features, a head for models that have none (Radford et al., 2021,
"Learning Transferable Visual Models From Natural Language Supervision", appendix A.3)."""

from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from openworld.core.arrays import MANY
from openworld.core.errors import OpenworldError
from openworld.core.types import AboveZero, Range, checked
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.head import Head

STEPS = 1000  # as many as the paper's at most
SETTLED = 1e-7  # of the largest gradient


@checked
def linear_probe(
    features: Tensor,
    labels: Tensor,
    classes: Annotated[int, Range(2, MANY)] | None = None,
    *,
    penalty: AboveZero = 1e-4,
) -> Head:
    """The head that minimises mean cross-entropy + penalty / 2 * the squared weights, by L-BFGS in float64.

    Args:
        features: float[N, D], such as the unit embeddings of `activations_of`. labels: int[N].
        classes: C; None for the largest label + 1.
        penalty: above 0; scikit-learn's C is 1 / (penalty N). What suits depends on the length of the features: choose
            it on held-out images.
    Raises:
        OpenworldError: shapes that do not fit, fewer than two classes, a class without an image, a penalty of 0.

    >>> head = linear_probe(torch.tensor([[1.0], [-1.0]]), torch.tensor([0, 1]))
    >>> head.logits(torch.tensor([[0.5]])).argmax().item()
    0
    """
    activations = Activations(features, labels=labels)
    if activations.labels is None or activations.features is None:
        raise OpenworldError("a probe is fitted on features and labels; one of them came as None.")
    counts = torch.bincount(activations.labels.cpu(), minlength=classes or 0)
    if len(counts) < 2 or len(counts) > (classes or len(counts)) or not counts.all():
        raise OpenworldError(
            f"the labels name classes {counts.nonzero().flatten().tolist()[:5]} (the first five), expected each of "
            f"{max(classes or len(counts), 2)}; give every class an image."
        )
    rows = activations.features.double()
    return _fit(rows, activations.labels.to(rows.device), len(counts), penalty, activations.features.dtype)


@torch.enable_grad()
def _fit(rows: Tensor, labels: Tensor, classes: int, penalty: float, dtype: torch.dtype) -> Head:
    weight = rows.new_zeros(classes, rows.shape[1], requires_grad=True)
    bias = rows.new_zeros(classes, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [weight, bias], max_iter=STEPS, tolerance_grad=SETTLED, tolerance_change=0, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        optimiser.zero_grad()
        value = cross_entropy(rows @ weight.mT + bias, labels) + penalty / 2 * weight.square().sum()
        value.backward()
        return value

    optimiser.step(loss)
    return Head(weight.to(dtype), bias.to(dtype))
