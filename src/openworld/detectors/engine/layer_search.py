"""Where, in any torch classifier, the head and the last stage are, and what family it is of.

All is read off one forward pass: which linear layer was called last and whether the model returns what it gives; which
module turned maps into maps whose mean over positions is what enters that layer.
"""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from openworld.core.errors import OpenworldError, unknown_name


@dataclass(frozen=True, eq=False)
class Call:
    """One call of one module: its name, what went in first, what came out."""

    name: str
    entered: Any
    left: Any


@contextmanager
def recorded(module: nn.Module, wanted: Callable[[str, nn.Module], bool]):
    """A list that fills with the calls of chosen modules while the block runs; no hook stays behind."""
    calls: list[Call] = []

    def hook(name):
        return lambda _, entered, left: calls.append(Call(name, entered[0] if entered else None, left))

    handles = [part.register_forward_hook(hook(name)) for name, part in module.named_modules() if wanted(name, part)]
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()


def logits_of(output) -> Tensor:
    """Logits float[N, C] of what a classifier returns: a tensor, or an object or mapping with `logits`."""
    logits = output
    if not isinstance(logits, Tensor):
        logits = output.get("logits") if isinstance(output, dict) else getattr(output, "logits", None)
    if not isinstance(logits, Tensor) or logits.dim() != 2:
        shape = list(logits.shape) if isinstance(logits, Tensor) else type(output).__name__
        raise OpenworldError(
            f"the model returns {shape}, expected logits of shape [N, C]; wrap it in a module whose forward returns "
            "them."
        )
    return logits


def run(module: nn.Module, images: Tensor):
    """What the module returns; what it cannot take is told with the type and the shape of the images."""
    try:
        return module(images)
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        raise OpenworldError(
            f"the model cannot take images of {images.dtype}{list(images.shape)} ({error}); give those it knows."
        ) from error


@torch.no_grad()
def find_head(module: nn.Module, images: Tensor, name: str | None) -> str:
    """Name of the linear layer that gives the logits; raises where there is none, or where `name` is not it."""
    with recorded(module, lambda _, part: isinstance(part, nn.Linear)) as calls:
        logits = logits_of(run(module, images))
    layers = [call.name for call in calls]
    if name is not None and name not in layers:
        raise unknown_name("linear layer", name, layers)
    if not calls:
        raise OpenworldError(_no_head(module))
    call = calls[-1] if name is None else next(call for call in calls if call.name == name)
    if call.left.shape != logits.shape or not torch.equal(call.left, logits):
        raise OpenworldError(
            f"the linear layer {call.name!r} gives {list(call.left.shape)}, but it is not what the model returns "
            f"({list(logits.shape)}): something follows it, or there are several heads. Name the layer with head=..., "
            f"one of {', '.join(layers[-5:])}, or wrap the model so that its forward returns that layer's output."
        )
    layer: Any = module.get_submodule(call.name)
    if not torch.allclose(linear(call.entered, layer.weight, layer.bias), call.left, rtol=1e-3, atol=1e-4):
        raise OpenworldError(
            f"{call.name!r}, a {type(layer).__name__}, does not give W h + b of its weights. Put a linear layer in its "
            "place that gives the same logits; of a head of cosines: unit weights times the scale, called on unit "
            "features."
        )
    return call.name


@torch.no_grad()
def find_last_stage(module: nn.Module, images: Tensor, head: str, name: str | None) -> str | None:
    """Name of the module after whose maps only their mean is taken; None where there is none and none is named."""
    with recorded(module, lambda called, _: bool(called)) as calls:
        run(module, images)
    features = next(call.entered for call in calls if call.name == head)
    stages = [call.name for call in calls if _pools_to(call, features)]
    if name is not None:
        if name not in stages:
            raise OpenworldError(
                f"{name!r} is no last stage: the mean over positions of what leaves it is not what enters the head "
                f"{head!r}. Modules that could be: {', '.join(stages) or 'none'}."
            )
        return name
    # Inner modules are called to their end before outer ones: the first is the smallest that changes the maps' shape.
    changing = [call for call in calls if call.name in stages and call.entered.shape[1:] != call.left.shape[1:]]
    return changing[0].name if changing else None


@torch.no_grad()
def find_layers(module: nn.Module, images: Tensor) -> tuple[str, ...]:
    """Names of the modules after which the maps have each of their sizes for the last time: the stages of a network."""
    # Sequences are looked into, other modules that give maps are blocks; one that holds all of them is opened.
    with recorded(module, lambda called, _: bool(called)) as calls:
        run(module, images)
    tensors = [call for call in calls if isinstance(call.left, Tensor) and call.left.dim() == 4]
    maps = [call for call in tensors if call.left.is_floating_point() and call.left.shape[2:].numel() > 1]
    units, opened = _units(module, maps, set()), set()
    while len(units) == 1 and units[0].name not in opened:
        opened.add(units[0].name)
        units = _units(module, maps, opened) or units
    names = {}
    for call, after in zip_longest(units, units[1:]):
        if after is None or after.left.shape[2:] != call.left.shape[2:]:
            # The shortest name of a module that gives the very same tensor, the call's own among equals.
            same = [call.name, *(other.name for other in maps if other.left is call.left)]
            names[min(same, key=lambda name: name.count("."))] = None
    return tuple(names)


@torch.no_grad()
def takes_channels_last(module: nn.Module, images: Tensor) -> bool:
    """Whether the model, on a CPU, gives the same logits of images whose channels lie beside one another in memory."""
    # A model that takes maps apart with `view` cannot read them, one with `as_strided` reads something else.
    if images.dim() != 4 or images.device.type != "cpu":
        return False
    expected = logits_of(module(images))
    try:
        logits = logits_of(module(images.contiguous(memory_format=torch.channels_last)))
    except RuntimeError:
        return False
    return torch.allclose(logits, expected, rtol=1e-4, atol=1e-5)


def _units(module: nn.Module, maps: list[Call], opened: set[str]) -> list[Call]:
    """Calls of blocks that lie in no other block, in the order in which they end."""
    blocks = {
        call.name
        for call in maps
        if not isinstance(module.get_submodule(call.name), nn.Sequential) and call.name not in opened
    }

    def inside(name: str) -> bool:
        parts = name.split(".")
        return any(".".join(parts[:length]) in blocks for length in range(1, len(parts)))

    return [call for call in maps if call.name in blocks and not inside(call.name)]


def family_of(module: nn.Module) -> str:
    """Return "transformer" where some module attends, else "convolutional" where some convolves, else "other"."""
    kinds = {type(part).__name__.casefold() for part in module.modules()}
    if any("attention" in kind or "attn" in kind for kind in kinds):
        return "transformer"
    return "convolutional" if any("conv" in kind for kind in kinds) else "other"


def _no_head(module: nn.Module) -> str:
    convolutions = [(name, part) for name, part in module.named_modules() if isinstance(part, nn.Conv2d)]
    way = ""
    if convolutions and set(convolutions[-1][1].kernel_size) == {1}:
        way = (
            f" If {convolutions[-1][0]!r}, a convolution of 1 x 1, gives them: pool before it, and put a linear layer "
            "with its weights, weight.flatten(1), in its place."
        )
    return (
        "the model calls no linear layer, so that there is no head; detectors need logits = W h + b at its end."
        f"{way} Those that need logits alone run on Activations(outputs=logits)."
    )


def _pools_to(call: Call, features: Tensor) -> bool:
    if not all(isinstance(part, Tensor) and part.dim() == 4 for part in (call.entered, call.left)):
        return False
    if call.left.shape[:2] != features.shape or call.left.shape[2:].numel() == 1:
        return False  # one position: pooling layers pass here too, and there is no rank to take away
    return torch.allclose(call.left.mean(dim=(2, 3)), features, rtol=1e-3, atol=1e-5)
