"""A model some of whose weights are other tensors, which a gradient may reach."""

import copy
from collections.abc import Mapping

from torch import Tensor, nn

from openworld._errors import OpenworldError


def with_weights(module: nn.Module, weights: Mapping[str, Tensor], prefix: str = "") -> nn.Module:
    """Return a module like `module` in which the named weights are other tensors; `module` stays as it is.

    Modules on the way to a replaced weight are made anew, all others are shared; a pass through the result is
    differentiable with respect to the tensors.

    >>> import torch
    >>> layer = nn.Linear(1, 1)
    >>> other = with_weights(layer, {"weight": torch.tensor([[3.0]]), "bias": torch.tensor([1.0])})
    >>> other(torch.tensor([2.0])), other is layer
    (tensor([7.]), False)
    """
    inside: dict[str, dict[str, Tensor]] = {}
    own = {name: tensor for name, tensor in weights.items() if "." not in name}
    for name in weights.keys() - own.keys():
        child, _, rest = name.partition(".")
        inside.setdefault(child, {})[rest] = weights[name]
    _require_like(module, own, inside, prefix)
    changed = copy.copy(module)
    # Straight into the dictionaries: attributes take parameters alone, and these are results that carry a gradient.
    vars(changed)["_parameters"] = module._parameters | own
    children = {child: with_weights(module._modules[child], inside[child], f"{prefix}{child}.") for child in inside}
    vars(changed)["_modules"] = module._modules | children
    return changed


def _require_like(module: nn.Module, own: Mapping[str, Tensor], inside: Mapping[str, object], prefix: str) -> None:
    known = {name for name, tensor in module._parameters.items() if tensor is not None} | module._modules.keys()
    unknown = sorted((own.keys() | inside.keys()) - known)
    if unknown:
        raise OpenworldError(f"the model has no weight {prefix + unknown[0]!r}; `named_parameters` lists its weights.")
    for name, tensor in own.items():
        expected = list(module._parameters[name].shape)
        if list(tensor.shape) != expected:
            raise OpenworldError(f"the weight {prefix + name!r} is of shape {expected}, got {list(tensor.shape)}.")
