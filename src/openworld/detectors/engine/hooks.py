"""Any torch classifier, watched: what enters its last linear layer, and what more a detector asks for.

The model is run as it is: no copy, no edit, no hook left behind. It must be in evaluation mode.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from openworld.core.arrays import as_scores
from openworld.core.errors import OpenworldError, present, unknown_name
from openworld.core.types import checked
from openworld.detectors.engine.activations import Activations, Layer, Maps
from openworld.detectors.engine.head import Head
from openworld.detectors.engine.layer_search import (
    Call,
    family_of,
    find_head,
    find_last_stage,
    find_layers,
    logits_of,
    recorded,
    run,
    takes_channels_last,
)
from openworld.detectors.engine.perturbation import (
    AffineBatchNorm,
    Perturbation,
    Sampling,
    dropout_layers,
    input_gradients,
    sampled_logits,
    uniform_gradients,
)

Batch = Any  # a tensor; `_require_batch` tells whoever brings a list what to do with it


@dataclass(frozen=True, eq=False)
class WatchedModel:
    """A classifier with its parts named; made by `watch`.

    Args:
        module: the classifier. head_name, last_stage: names of its modules; last_stage None where there is none.
        head: the last linear layer. family: "convolutional", "transformer" or "other".
        pixel_std: by what each channel of the images was divided, or None where that was not said.
        layers: names of the modules after which each stage's maps are looked at, in order; empty where there are none.
        members: the classifier and others of the same classes; empty where there are no others.
        channels_last: whether it takes images whose channels lie beside one another in memory, which convolutions on a
            CPU are faster on; its logits are the same to rounding.
    """

    module: nn.Module
    head_name: str
    head: Head
    last_stage: str | None
    family: str
    pixel_std: tuple[float, ...] | None = None
    layers: tuple[str, ...] = ()
    members: tuple[nn.Module, ...] = ()
    channels_last: bool = False

    @checked
    def see(
        self,
        images: Batch,
        labels: Any = None,
        *,
        maps: bool = False,
        perturbations: Sequence[Perturbation] = (),
        layers: Sequence[str] = (),
        layer_gradients: bool = False,
        samplings: Sequence[Sampling] = (),
    ) -> Activations:
        """Look at a batch: one forward pass; with perturbations, one backward for each direction, one forward each.

        The gradients of layers cost one backward pass for all of them.

        Args:
            images: float[N, ...] as the model takes them. labels: int[N], or None.
            maps: catch what enters and leaves the last stage. perturbations: how images are to be moved.
            layers: names of modules; catch what leaves them, with its gradient where `layer_gradients`.
            samplings: where several logits of each image come from, at as many more forward passes.
        Raises:
            OpenworldError: images that are no batch, a model in training mode, maps of a model without a last stage,
                pixels to be moved without `pixel_std`, dropout or members that are not there.
        """
        _require_batch(images)
        _require_evaluation(self.module)
        in_pixels = any(how.in_pixels for how in perturbations)
        self.require("see", maps=maps, in_pixels=in_pixels, samplings=samplings)
        pixels = images.detach()
        if self.channels_last and pixels.dim() == 4 and pixels.device.type == "cpu":
            pixels = pixels.contiguous(memory_format=torch.channels_last)
        several = {how: sampled_logits(self.module, self.members, images.detach(), how) for how in samplings}
        layer_gradients = layer_gradients and bool(layers)
        differentiated = bool(perturbations) or layer_gradients
        std = self._deviations(pixels) if in_pixels else None
        moving = pixels.clone().requires_grad_() if differentiated else pixels
        slopes, gradients = {}, {}
        with torch.set_grad_enabled(differentiated):
            with AffineBatchNorm() if differentiated else nullcontext():
                features, logits, stage_maps, left = self._forward(moving, maps, layers)
            if layer_gradients:
                slopes = uniform_gradients(logits.float(), left, keep=bool(perturbations))
            if perturbations:
                gradients = input_gradients(logits.float(), moving, perturbations)
        moved = {}
        with torch.no_grad():
            for how in dict.fromkeys(perturbations):
                moved[how] = self._forward(how.move(pixels, gradients[how.direction], std), False)[0]
        caught = {name: Layer(part.detach(), slopes.get(name)) for name, part in left.items()}
        parts = features.detach(), self.head, logits.detach(), labels, stage_maps
        return Activations(*parts, perturbed=moved, layers=caught, sampled=several)

    def require(
        self,
        who: str,
        *,
        maps: bool = False,
        in_pixels: bool = False,
        layers: Sequence[str] | None = None,
        samplings: Sequence[Sampling] = (),
    ) -> None:
        """Raise unless the model can show all that; of no `layers`, those that were found."""
        if maps and self.last_stage is None:
            raise OpenworldError(
                f"{who}: maps are needed, and the model ({self.family}) has no last stage whose maps are averaged into "
                f"what enters {self.head_name!r}; name it with watch(..., last_stage=...), or leave the detector out."
            )
        if in_pixels and self.pixel_std is None:
            raise OpenworldError(
                f"{who} moves pixels by a share of their range, and must know by what the channels were divided: pass "
                "watch(..., pixel_std=(0.229, 0.224, 0.225)), or 1 for each channel of images that were not divided."
            )
        _require_modules(self.module, layers or ())
        if layers is not None and not layers and not self.layers:
            raise OpenworldError(
                f"{who}: maps of several layers are needed, and none are found in the model ({self.family}); name "
                "modules that give maps [N, c, h, w] or vectors [N, c] with watch(..., layers=[...]), or leave the "
                "detector out."
            )
        sources = {how.source for how in samplings}
        if "members" in sources and not self.members:
            raise OpenworldError(f"{who} needs several classifiers; give the others with watch(..., members=[...]).")
        if "dropout" in sources and not dropout_layers(self.module):
            raise OpenworldError(
                f"{who} needs dropout, and the model has no layer that drops anything; take another detector, or a "
                "model with nn.Dropout layers that was trained with them."
            )

    def _forward(
        self, images: Tensor, maps: bool, layers: Sequence[str] = ()
    ) -> tuple[Tensor, Tensor, Maps | None, dict[str, Tensor]]:
        wanted = {self.head_name, *layers} | ({self.last_stage} if maps else set())
        with recorded(self.module, lambda name, _: name in wanted) as calls:
            logits = logits_of(run(self.module, images))
        called = {call.name: call for call in calls}
        stage_maps = None
        if maps:
            stage = called[self.last_stage]
            stage_maps = Maps(stage.entered.detach(), stage.left.detach(), self._stage)
        left = {name: _maps_of(called.get(name), name) for name in layers}
        return called[self.head_name].entered, logits, stage_maps, left

    @torch.no_grad()
    def _stage(self, maps: Tensor) -> Tensor:
        return self.module.get_submodule(present(self.last_stage, "the last stage"))(maps)

    def _deviations(self, images: Tensor) -> Tensor:
        deviations = present(self.pixel_std, "pixel_std")
        if images.dim() < 3 or images.shape[1] != len(deviations):
            raise OpenworldError(
                f"pixel_std has {len(deviations)} channels, but the images have shape {list(images.shape)}."
            )
        return images.new_tensor(deviations).view(-1, *[1] * (images.dim() - 2))


@checked
def watch(
    module: nn.Module,
    images: Batch,
    *,
    head: str | None = None,
    last_stage: str | None = None,
    pixel_std: Sequence[float] | None = None,
    layers: Sequence[str] = (),
    members: Sequence[nn.Module] = (),
) -> WatchedModel:
    """Find the head of a classifier, and the stages of a convolutional one, by running it on a few images.

    Args:
        module: any torch classifier whose forward takes images alone and returns logits, or an object with `logits`.
        images: float[n, ...], one or a few as the model takes them: content plays no part.
        head: name of the layer that gives the logits; None to take the last linear layer that is called.
        last_stage: name of the module after which maps are averaged into features; None to find it.
        pixel_std: by what each channel was divided in preprocessing, such as (0.229, 0.224, 0.225); ODIN needs it. Of
            images that were not divided: 1 for each channel.
        layers: names of modules that give maps or vectors; none for the last module at each size of the maps.
        members: more classifiers of the same classes, for DeepEnsemble.
    Raises:
        OpenworldError: no linear layer at the end, a layer of that name that is none, a model in training mode or with
            two towers.

    >>> model = nn.Sequential(nn.Flatten(), nn.Linear(4, 2)).eval()
    >>> watch(model, torch.zeros(1, 1, 2, 2)).head_name
    '1'
    """
    if hasattr(module, "encode_text"):
        raise OpenworldError(
            f"{type(module).__name__} has two towers and no head; use `activations_of(clip, features, texts)` "
            "instead of `watch`."
        )
    _require_batch(images)
    _require_evaluation(module)
    name = find_head(module, images, head)
    layer = module.get_submodule(name)
    stage = find_last_stage(module, images, name, last_stage)
    deviations = None if pixel_std is None else tuple(as_scores(pixel_std, "pixel_std").tolist())
    if deviations is not None and not all(value > 0 for value in deviations):
        raise OpenworldError(f"pixel_std is {deviations}, expected one number above 0 for each channel.")
    family = family_of(module)
    _require_modules(module, layers)
    together = (module, *members) if members else ()
    _require_one_size(together, images)
    stages = tuple(layers) or (() if family == "transformer" else find_layers(module, images))
    last = family == "convolutional" and takes_channels_last(module, images)
    return WatchedModel(module, name, Head.of(layer), stage, family, deviations, stages, together, last)


def _require_modules(module: nn.Module, names: Sequence[str]) -> None:
    modules = [name for name, _ in module.named_modules() if name]
    for name in names:
        if name not in modules:
            raise unknown_name("layer", name, modules)


@torch.no_grad()
def _require_one_size(members: Sequence[nn.Module], images: Tensor) -> None:
    for member in members:
        _require_evaluation(member)
    sizes = [logits_of(run(member, images)).shape[1] for member in members]
    if len(set(sizes)) > 1:
        raise OpenworldError(f"the classifiers name {sizes} classes, expected the same number of all members.")


def _maps_of(call: Call | None, name: str) -> Tensor:
    """What left a layer in a call, float[N, c, h, w] or float[N, c]."""
    left = None if call is None else call.left
    if not isinstance(left, Tensor) or left.dim() not in (2, 4):
        shape = "nothing" if call is None else list(left.shape) if isinstance(left, Tensor) else type(left).__name__
        raise OpenworldError(
            f"the layer {name!r} gives {shape}, expected maps [N, c, h, w] or vectors [N, c]; name another."
        )
    return left


def _require_batch(images) -> None:
    dense = isinstance(images, Tensor) and images.layout == torch.strided
    if dense and images.dim() >= 2 and images.is_floating_point() and len(images):
        return
    if isinstance(images, Sequence) and len({tuple(getattr(image, "shape", ())) for image in images}) > 1:
        raise OpenworldError("the images of a batch differ in size; resize or crop them to one size and stack them.")
    what = f"{images.dtype}{list(images.shape)}" if isinstance(images, Tensor) else type(images).__name__
    what += f" ({images.layout})" if isinstance(images, Tensor) and not dense else ""
    raise OpenworldError(f"images came as {what}, expected a dense float tensor [N, channels, height, width], N >= 1.")


def _require_evaluation(module: nn.Module) -> None:
    training = [name for name, part in module.named_modules() if part.training]
    if training:
        which = f"'s part {training[0]!r}" if training[0] else ""
        raise OpenworldError(
            f"the model{which} is in training mode, in which an image's logits depend on the others and on chance; "
            "call model.eval() first."
        )
