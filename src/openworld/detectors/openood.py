"""Postprocessors of OpenOOD v1.5 as detectors of ours: by name, from the package that is installed.

OpenOOD (Zhang et al., 2023, "OpenOOD v1.5") is not needed to import this. Its confidence is larger for what is more
in-distribution, as here. A postprocessor is called with a network and data; those that look at no more than logits, or
features and the head, get these as their data, so that they cost no pass of their own. Default settings are those of
its configuration files.
"""

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from openworld._errors import OpenworldError, unknown_name
from openworld._types import checked
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.fit_statistics import fit
from openworld.detectors.engine.fitted import FittedDetector
from openworld.detectors.engine.head import Head
from openworld.detectors.engine.openood_names import SERVED, UNSERVED, Postprocessor
from openworld.detectors.engine.other_libraries import (
    AT_ONCE,
    Inputs,
    Kept,
    View,
    borrowed,
    inputs_of,
    library,
    linear_layer,
    look,
    model_of,
    require_settings,
    whole_inputs,
)

INSTALL = "install it with `pip install git+https://github.com/Jingkang50/OpenOOD` and what its postprocessors import."


@checked
@dataclass(frozen=True)
class OpenOOD:
    """The confidence of a postprocessor of OpenOOD v1.5.

    Args:
        postprocessor: a name of `SERVED`, such as "knn"; or a class of `openood.postprocessors`, such as one of your
            own: it gets images and the whole classifier.
        settings: its `postprocessor_args` where they differ from OpenOOD's; of a class of your own, all of them.

    Raises:
        OpenworldError: OpenOOD is not installed, no such postprocessor, one that cannot be served, an unknown setting.
    """

    postprocessor: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    paper: ClassVar[str] = "Zhang et al., 2023"
    summary: ClassVar[str] = "a postprocessor of OpenOOD"

    def __post_init__(self):
        if self.postprocessor in UNSERVED:
            raise OpenworldError(f"{self.name} cannot be used here: {UNSERVED[self.postprocessor]}.")
        kinds = library("OpenOOD", "openood.postprocessors", INSTALL)
        if self.postprocessor not in SERVED and not isinstance(getattr(kinds, self.postprocessor, None), type):
            own = [name for name, found in vars(kinds).items() if hasattr(found, "postprocess")]
            raise unknown_name("postprocessor of OpenOOD", self.postprocessor, [*SERVED, *own])
        if self.postprocessor in SERVED:
            require_settings(self.name, self.settings, dict.fromkeys(self._how.settings, False))

    def __hash__(self) -> int:
        return hash((self.name, repr(sorted(self.settings.items()))))

    @property
    def name(self) -> str:
        """OpenOOD's name for it: "openood:knn"."""
        return f"openood:{self.postprocessor}"

    @property
    def needs(self) -> tuple[str, ...]:
        """What it looks at, and what of training images."""
        how = self._how
        parts = [how.view, *["head"] * (how.view != "logits"), *["maps"] * how.maps]
        learned = [need for statistic in self.gathers for need in statistic.needs if need in ("labels", "bank")]
        return (*parts, *learned)

    @property
    def gathers(self) -> tuple:
        """All training inputs: OpenOOD reads loaders."""
        return (Kept(self._how.view, self._how.learns == "labels"),) if self._how.learns else ()

    def fit(
        self, features: Tensor | Activations | None = None, labels: Tensor | None = None, head: Head | None = None
    ) -> FittedDetector:
        """Fit it on features float[N, D], or their logits, and labels int[N]."""
        return fit(self, features, labels, head)

    def learn(self, head: Head | None, inputs: Inputs) -> Inputs:
        """Training inputs, from which OpenOOD's own object is made again where it comes from a file."""
        whole = whole_inputs(self.name, inputs, labelled=self._how.learns == "labels")
        object.__setattr__(whole, "fitted", self._set_up(whole, Activations(head=head, model=model_of(inputs))))
        return whole

    @torch.no_grad()
    def read(self, state: Inputs | None, activations: Activations) -> Tensor:
        """Confidences float[N], larger = more in-distribution."""
        (inputs,) = inputs_of(activations, self._how.view)
        if (made := getattr(state, "fitted", None)) is None:
            made = self._set_up(state, activations)
            if state is not None:
                object.__setattr__(state, "fitted", made)
        postprocessor, network = made
        with self._borrowed("score these images", activations, inputs.device):
            parts = [postprocessor.postprocess(network, part.clone())[1] for part in inputs.split(AT_ONCE)]
        return torch.cat([torch.as_tensor(part).detach().reshape(-1) for part in parts]).to(inputs.device)

    def _set_up(self, state: Inputs | None, seen: Activations) -> tuple[Any, nn.Module]:
        """OpenOOD's object, set up, and the network that it is called with."""
        how = self._how
        like = seen.model.head.weight if how.view == "images" else _like(state, seen, how.view)
        classes = like.shape[1] if how.view == "logits" else seen.head.classes
        with self._borrowed("be set up", seen, like.device):
            kind = getattr(library("OpenOOD", "openood.postprocessors", INSTALL), how.kind)
            postprocessor = kind(_config(how.settings | dict(self.settings), classes))
            postprocessor.APS_mode, postprocessor.hyperparam_search_done = False, True
            for attribute in ("num_classes", "nc"):
                if hasattr(postprocessor, attribute):
                    setattr(postprocessor, attribute, classes)
            if hasattr(postprocessor, "input_std") and seen.model is not None:
                postprocessor.input_std = list(seen.model.pixel_std)
            network = Network(how.view, seen, like)
            if how.wrapped is not None:
                module, name = how.wrapped
                network = getattr(library("OpenOOD", f"openood.networks.{module}", INSTALL), name)(network)
            loaders = {} if state is None else dict.fromkeys(("train", "val", "test"), _loader(state, like.device))
            postprocessor.setup(network.eval(), loaders, {})
        return postprocessor, network

    @contextmanager
    def _borrowed(self, doing: str, seen: Activations, device: torch.device):
        with borrowed(self.name, doing, getattr(seen.model, "module", None)), _staying_on(device):
            yield

    @property
    def _how(self) -> Postprocessor:
        own = Postprocessor(self.postprocessor, "images", "labels", dict(self.settings))
        return SERVED.get(self.postprocessor, own)


class Network(nn.Module):
    """What OpenOOD expects of a network, of a watched classifier or of its head alone.

    view: what it is called with: logits, which it returns; features, which enter the head; or images.
    """

    def __init__(self, view: View, seen: Activations, like: Tensor):
        super().__init__()
        self.view, self.watched = view, seen.model
        if view != "logits":
            self.fc = linear_layer(seen, like)
            self.feature_size = self.fc.in_features
        self.avgpool = nn.AdaptiveAvgPool2d(1)

    def forward(self, data: Tensor, return_feature: bool = False, return_feature_list: bool = False):
        """Logits float[N, C]; with features float[N, D], or a list of maps whose last is features [N, D, 1, 1]."""
        maps: list[Tensor] = []
        if self.view == "logits":
            logits, features = data, None
        elif self.view == "features":
            logits, features = self.fc(data), data
        else:
            logits, features, maps = look(self.watched, data, self.watched.layers if return_feature_list else ())
        if return_feature:
            return logits, features
        return (logits, [*maps, features[:, :, None, None]]) if return_feature_list else logits

    def get_fc(self):
        """Weights [C, D] and bias [C] of the head as NumPy arrays."""
        return self.fc.weight.detach().cpu().numpy(), self.fc.bias.detach().cpu().numpy()

    def get_fc_layer(self) -> nn.Linear:
        """The head."""
        return self.fc

    def intermediate_forward(self, data: Tensor, layer_index: int) -> Tensor:
        """Maps that leave the last stage (4) or enter it (3)."""
        maps = self.watched.see(data, maps=True).maps
        return (maps.late if layer_index == 4 else maps.early).contiguous()

    def layer4(self, maps: Tensor) -> Tensor:
        """The last stage."""
        return self.watched.module.get_submodule(self.watched.last_stage)(maps)


class Config(dict):
    """A mapping whose entries are attributes too, as OpenOOD's."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def _config(settings: Mapping[str, Any], classes: int) -> Config:
    """OpenOOD looks the number of classes up by the name of its own data sets; it is set afterwards."""
    args = Config(settings)
    sweep = Config({f"{key}_list": [value] for key, value in settings.items()})
    own = Config(postprocessor_args=args, postprocessor_sweep=sweep, APS_mode=False)
    dataset = Config(name="imagenet", num_classes=classes)
    return Config(postprocessor=own, dataset=dataset, network=Config(name="resnet", num_classes=classes))


def _like(state: Inputs | None, seen: Activations, view: View) -> Tensor:
    return inputs_of(seen, view)[0] if state is None else state.parts[0][0]


class _Rows(Dataset):
    def __init__(self, inputs: Inputs):
        (self.data,), self.labels = inputs.parts[0], inputs.labels[0]
        self.name = "train"

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> dict[str, Tensor]:
        label = torch.tensor(0) if self.labels is None else self.labels[place]
        return {"data": self.data[place], "data_aux": self.data[place], "label": label}


def _loader(inputs: Inputs, device: torch.device) -> DataLoader:
    def joined(rows: list[dict[str, Tensor]]) -> dict[str, Tensor]:
        stacked = {key: torch.stack([row[key] for row in rows]) for key in rows[0]}
        return {key: value if key == "label" else value.to(device) for key, value in stacked.items()}

    return DataLoader(_Rows(inputs), batch_size=AT_ONCE, shuffle=False, collate_fn=joined)


@contextmanager
def _staying_on(device: torch.device):
    """OpenOOD calls `.cuda()` on all it touches; within it, where the model is on the CPU, that stays there."""
    if device.type == "cuda":
        yield
        return

    def same(own: Any, *_: Any, **__: Any) -> Any:
        return own

    floats = patch.object(torch.cuda, "FloatTensor", torch.FloatTensor, create=True)
    with patch.object(Tensor, "cuda", same), patch.object(nn.Module, "cuda", same), floats:
        yield
