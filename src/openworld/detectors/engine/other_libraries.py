"""What detectors of other libraries need around them: training inputs, the classifier as they expect it, and an end.

They fit on whole tensors or loaders, run the model themselves, print, draw from the global generator, switch the model
to training mode and write into its gradients. What happens within `borrowed` leaves none of that behind.
"""

import importlib
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any, Literal

import torch
from torch import Tensor, nn

from openworld._errors import OpenworldError, unknown_name
from openworld._short_repr import short_repr
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.layer_search import recorded, run

View = Literal["logits", "features", "maps", "layers", "images"]
AT_ONCE = 128  # images scored at a time: some libraries make a tensor [N, C, D]


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a detector of another library is fitted on.

    Args:
        parts: batches of tensors float[n, ...]: one tensor, or one of each layer.
        labels: int64[n] of each batch, or None.
    """

    parts: tuple[tuple[Tensor, ...], ...]
    labels: tuple[Tensor | None, ...]

    __repr__ = short_repr

    def tensors(self) -> tuple[Tensor, ...]:
        """Whole tensors float[N, ...]."""
        return tuple(torch.cat([tensor.to(parts[0].device) for tensor in parts])
                     for parts in zip(*self.parts, strict=True))  # fmt: skip

    def all_labels(self) -> Tensor | None:
        """int64[N], None where some batch has none."""
        return None if any(part is None for part in self.labels) else torch.cat([part.cpu() for part in self.labels])


@dataclass(frozen=True)
class Kept:
    """Training inputs, image by image: what a library fits on that knows no sums.

    of: what is kept. labelled: whether labels must come with it. with_model: whether the fit runs the model too.
    """

    of: View
    labelled: bool
    with_model: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """What it looks at."""
        more = ["labels"] * self.labelled + ["images"] * (self.with_model and self.of != "images")
        return (self.of, *more, "bank")

    def add(self, total: Inputs | None, activations: Activations) -> Inputs:
        """The total with one more batch in it."""
        with torch.inference_mode(False):  # what was made in it cannot be learned from
            tensors = tuple(tensor.clone() for tensor in inputs_of(activations, self.of))
            if self.of == "images":
                tensors = tuple(tensor.cpu() for tensor in tensors)
        both = Inputs((tensors,), (activations.labels,))
        made = both if total is None else self.merge(total, both)
        model = activations.model if total is None else model_of(total)
        object.__setattr__(made, "model", model)  # no field: a model is not written to a file
        return made

    def merge(self, first: Inputs, second: Inputs) -> Inputs:
        """The total of two shards."""
        return Inputs(first.parts + second.parts, first.labels + second.labels)


def whole_inputs(name: str, inputs: Inputs, *, labelled: bool) -> Inputs:
    """Return training inputs as one batch.

    Args:
        name: of the detector. labelled: whether it learns from labels.

    Raises:
        OpenworldError: no labels for such a detector.
    """
    labels = inputs.all_labels()
    if labelled and labels is None:
        raise OpenworldError(f"{name} needs labels of the training images; pass labels=...")
    return Inputs((inputs.tensors(),), (labels,))


def model_of(inputs: Inputs) -> Any:
    """The watched model that showed them, None where it is not known."""
    return getattr(inputs, "model", None)


def inputs_of(activations: Activations, view: View) -> tuple[Tensor, ...]:
    """The tensors float[N, ...] that a detector is called with, row by row in memory; of layers, their maps pooled."""
    if view == "layers":
        return tuple(layer.pooled.detach().contiguous() for layer in activations.layers.values())
    whole = activations.maps.late if view == "maps" else getattr(activations, view)
    return (whole.detach().contiguous(),)


def library(package: str, module: str, install: str) -> ModuleType:
    """A module of an installed package.

    Raises:
        OpenworldError: it is not installed, or cannot be imported; `install` says what to do.
    """
    try:
        return importlib.import_module(module)
    except Exception as error:  # a package that is half installed fails in its own ways
        raise OpenworldError(f"{package} cannot be used here ({type(error).__name__}: {error}); {install}") from error


def installed(distribution: str) -> str:
    """Name and version of a package, such as "pytorch-ood 0.4.0"."""
    try:
        return f"{distribution} {version(distribution)}"
    except PackageNotFoundError:
        return distribution


def require_settings(name: str, settings: Mapping[str, Any], known: Mapping[str, bool] | None) -> None:
    """Refuse settings that a detector does not have, and demand those without which it cannot be made.

    Args:
        known: names of settings, and whether they must be given; None where any will do.
    """
    for key in settings if known is not None else ():
        if key not in known:
            raise unknown_name(f"setting of {name}", key, known)
    missing = [key for key, must in (known or {}).items() if must and key not in settings]
    if missing:
        raise OpenworldError(f"{name} has no default for {missing[0]}; give it, such as {name}:{missing[0]}=VALUE.")


def linear_layer(activations: Activations, like: Tensor) -> nn.Linear:
    """The head as a module with a bias, on the device and in the type of a tensor."""
    head = activations.head.to(like)
    layer = nn.Linear(head.width, head.classes, device=like.device, dtype=like.dtype).requires_grad_(False)
    layer.weight.copy_(head.weight)
    layer.bias.zero_() if head.bias is None else layer.bias.copy_(head.bias)
    return layer.eval()


def look(model: Any, images: Tensor, layers: tuple[str, ...] = ()) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Logits, features and what leaves layers of a watched model, with their gradient where there is one."""
    with recorded(model.module, lambda name, _: name in {model.head_name, *layers}) as calls:
        run(model.module, images)
    called = {call.name: call for call in calls}
    head = called[model.head_name]
    return head.left, head.entered, [called[name].left for name in layers]


@contextmanager
def borrowed(who: str, doing: str, module: nn.Module | None = None) -> Iterator[None]:
    """Within it a library may do as it likes; afterwards the model, the generator and the screen are as they were.

    Whatever it raises becomes an `OpenworldError` that names it.
    """
    kept = _state(module) if module is not None else None
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    try:
        with torch.random.fork_rng(devices), torch.enable_grad(), torch.inference_mode(False):
            torch.manual_seed(0)
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                yield
    except (OpenworldError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise OpenworldError(f"{who} cannot {doing}: {reason}") from error
    finally:
        if module is not None:
            _restore(module, kept)


def _state(module: nn.Module) -> tuple:
    """Modes, gradients and buffers; all parameters ask for a gradient until `_restore`."""
    parameters = [(own, own.requires_grad, own.grad) for own in module.parameters()]
    for own, _, _ in parameters:
        own.requires_grad_(own.is_floating_point())
        own.grad = None
    modes = [(part, part.training) for part in module.modules()]
    return modes, parameters, [(own, own.detach().clone()) for own in module.buffers()]


@torch.no_grad()
def _restore(module: nn.Module, kept: tuple) -> None:
    modes, parameters, buffers = kept
    for part, training in modes:
        part.training = training
    for own, required, gradient in parameters:
        own.requires_grad_(required)
        own.grad = gradient
    for own, before in buffers:
        own.copy_(before)
