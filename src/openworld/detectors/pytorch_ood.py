"""Any detector of pytorch-ood as one of ours: by its name, from the package that is installed, or made by the user.

pytorch-ood (0.4 or later) is not needed to import this. Its scores grow with strangeness; they are negated here. What
a detector looks at is read off its methods, what it must be given off the names of its arguments.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from openworld._errors import OpenworldError, unknown_name
from openworld._types import checked
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.fit_statistics import fit
from openworld.detectors.engine.fitted import FittedDetector
from openworld.detectors.engine.head import Head
from openworld.detectors.engine.hooks import no_pixel_std, require_samples
from openworld.detectors.engine.other_libraries import (
    AT_ONCE,
    Inputs,
    Kept,
    borrowed,
    inputs_of,
    library,
    linear_layer,
    look,
    model_of,
    require_settings,
    whole_inputs,
)
from openworld.detectors.engine.sampling import Sampling

INSTALL = "install it with `pip install pytorch-ood scikit-learn`, which brings torchvision."
WITHOUT_LABELS = {"DICE", "fDBD", "KLMatching", "KNN", "NACUE", "NCI", "NNGuide", "PNML", "ReAct", "ViM", "VRA"}
UNSERVED = {"WeightedEBO": "it weighs logits by what was learned when the classifier was trained"}
OF_LAYERS = {"Gram": "feature_layers", "MultiMahalanobis": "model", "NACUE": "layers"}
GIVEN = {"model", "encoder", "backbone", "head", "w", "b", "text_embeddings", "feature_layers", "num_classes"}
FUNCTIONS = {"detector", "criterion", "feature_reduce", "device", "self", "knn_kwargs"}
VIEWS = {"features": "features", "logits": "logits", "feature_maps": "maps"}


@checked
@dataclass(frozen=True)
class PytorchOOD:
    """-score of a detector of pytorch-ood (0.4 or later).

    Args:
        detector: name of a class of `pytorch_ood.detector`, which is then made with this classifier's parts; or an
            object of your own, with None for its model or encoder where it works on logits, features or maps, such as
            `KNN(encoder=None, k=50)`. Each fit fits this very object anew; make one for each fit that is to be kept.
        settings: of a name, the arguments of its class: {"k": 5}. `layers` are names of modules, for detectors of
            several layers; `param_filter` is the name of the one parameter whose gradient is taken.

    Raises:
        OpenworldError: pytorch-ood is not installed, no detector of that name, a setting that it does not have or that
            is missing, an object that is no detector.
    """

    detector: Any
    settings: Mapping[str, Any] = field(default_factory=dict)

    paper: ClassVar[str] = "Kirchheim et al., 2022"
    summary: ClassVar[str] = "a detector of pytorch-ood"

    def __post_init__(self):
        if not self._is_named:
            if self._view is None:
                raise OpenworldError(
                    f"{type(self.detector).__name__} has neither predict_logits nor predict_features, and no predict "
                    "for images; give a detector of pytorch-ood."
                )
            if self.settings:
                raise OpenworldError(f"{self.name} came as an object, which has its settings; give none beside it.")
            return
        kinds = library("pytorch-ood", "pytorch_ood.detector", INSTALL)
        known = [name for name, found in vars(kinds).items() if inspect.isclass(found) and hasattr(found, "predict")]
        if self.detector not in known:
            raise unknown_name("detector of pytorch-ood", self.detector, known)
        if self.detector in UNSERVED:
            raise OpenworldError(f"{self.name} cannot be made by its name: {UNSERVED[self.detector]}.")
        any_key = any(own.kind is own.VAR_KEYWORD for own in self._parameters.values())
        require_settings(self.name, self.settings, None if any_key else self._known())

    def __hash__(self) -> int:
        return hash((self.name, repr(sorted(self.settings.items()))))

    @property
    def name(self) -> str:
        """pytorch-ood's name for it, "pytorch-ood:KNN"; of an object "pytorch-ood KNN"."""
        return f"pytorch-ood:{self.detector}" if self._is_named else f"pytorch-ood {type(self.detector).__name__}"

    @property
    def needs(self) -> tuple[str, ...]:
        """What it is called with and made from, and labels where it is fitted with them."""
        parts = [self._view]
        if self._is_named:
            parts += ["head"] * bool({"head", "w", "b", "num_classes"} & set(self._parameters))
            parts += ["texts"] * ("text_embeddings" in self._parameters)
            parts += ["layers"] * (self.detector in OF_LAYERS)
        learned = [need for statistic in self.gathers for need in statistic.needs if need in ("labels", "bank")]
        return tuple(dict.fromkeys((*parts, *learned)))

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the layers it looks at; none for those that are found in the model."""
        named = self.settings.get("layers", ())
        return (named,) if isinstance(named, str) else tuple(named)

    @property
    def gathers(self) -> tuple:
        """All training inputs: pytorch-ood fits on whole tensors."""
        learns = getattr(self._kind, "requires_fit", False) and self.settings.get("threshold") is None
        return (Kept(self._fit_view, self._is_labelled, self._view == "images"),) if learns else ()

    def fit(
        self, features: Tensor | Activations | None = None, labels: Tensor | None = None, head: Head | None = None
    ) -> FittedDetector:
        """Fit it on features float[N, D], or their logits, and labels int[N]."""
        return fit(self, features, labels, head)

    def learn(self, head: Head | None, inputs: Inputs) -> Inputs:
        """Training inputs, from which pytorch-ood's own object is made again where it comes from a file."""
        whole = whole_inputs(self.name, inputs, labelled=self._is_labelled)
        object.__setattr__(whole, "fitted", self._fitted(whole, Activations(head=head, model=model_of(inputs))))
        return whole

    @torch.no_grad()
    def read(self, state: Inputs | None, activations: Activations) -> Tensor:
        """Scores float[N]."""
        inputs = inputs_of(activations, self._view)
        if state is None:
            detector = self._made(activations, inputs)
        elif (detector := getattr(state, "fitted", None)) is None:
            detector = self._fitted(state, activations)
            object.__setattr__(state, "fitted", detector)
        with borrowed(self.name, "score these images", getattr(activations.model, "module", None)):
            parts = zip(*(tensor.clone().split(AT_ONCE) for tensor in inputs), strict=True)
            scores = torch.cat([self._predict(detector, part).detach() for part in parts])
        return -scores.to(inputs[0].device)

    def _predict(self, detector: Any, inputs: tuple[Tensor, ...]) -> Tensor:
        if self._view == "layers":
            return detector.predict_structured(list(inputs))
        method = next((method for method, view in VIEWS.items() if view == self._view), None)
        return getattr(detector, f"predict_{method}")(*inputs) if method else detector.predict(*inputs)

    def _fitted(self, state: Inputs, activations: Activations) -> Any:
        """pytorch-ood's object, fitted."""
        (tensors,), (labels,) = state.parts, state.labels
        labels = torch.zeros(len(tensors[0]), dtype=torch.int64) if labels is None else labels
        like = tensors[0] if activations.model is None else activations.model.head.weight
        detector = self._made(activations, tensors)
        with borrowed(self.name, "learn from these images", getattr(activations.model, "module", None)):
            if self._fit_view == "images":
                pairs = zip(tensors[0].split(AT_ONCE), labels.split(AT_ONCE), strict=True)
                detector.fit([(images.to(like.device), own) for images, own in pairs])
            elif self._fit_view == "layers":
                detector.fit_structured(list(tensors), labels.to(tensors[0].device))
            else:
                method = next(method for method, view in VIEWS.items() if view == self._fit_view)
                getattr(detector, f"fit_{method}")(tensors[0], labels.to(tensors[0].device))
        return detector

    def _made(self, seen: Activations, inputs: tuple[Tensor, ...]) -> Any:
        if not self._is_named:
            return self.detector
        model = seen.model
        device = inputs[0].device if self._view != "images" else model.head.weight.device
        with borrowed(self.name, "be made"):
            detector = self._kind(**self._sources(seen, inputs), **self._own_settings())
            return detector.to(device)

    def _own_settings(self) -> dict[str, Any]:
        own = {key: value for key, value in self.settings.items() if key not in ("layers", "head")}
        if isinstance(wanted := own.get("param_filter"), str):
            own["param_filter"] = lambda name: name == wanted
        return own

    def _sources(self, seen: Activations, inputs: tuple[Tensor, ...]) -> dict[str, Any]:
        """What its class asks for beside settings."""
        model, wanted = seen.model, set(self._parameters) - set(self.settings)
        sources: dict[str, Any] = dict.fromkeys(("model", "encoder", "backbone"))
        if self._view == "images":
            sources |= {"model": model.module, "encoder": lambda images: look(model, images)[1]}
            if self.detector == "MCD":
                require_samples(model, Sampling("dropout", 1), self.name)
            names = self.layers or model.layers
            sources["layers"] = [model.module.get_submodule(name) for name in names]
            if "feature_layers" in wanted:
                replay = Replay(model, names)
                sources |= {"feature_layers": replay.steps, "head": replay.logits, "num_classes": model.head.classes}
            if "norm_std" in wanted:
                if model.pixel_std is None:
                    raise OpenworldError(no_pixel_std(self.name))
                sources["norm_std"] = list(model.pixel_std)
        elif self._view == "layers":
            sources["model"] = [nn.Identity() for _ in inputs]
        elif seen.head is not None:
            layer = linear_layer(seen, inputs[0])
            sources |= {"w": layer.weight.detach(), "b": layer.bias.detach(), "head": layer}
            if self._view == "maps":
                sources["head"] = lambda maps: layer(maps.mean(dim=(2, 3)))
        if seen.texts is not None:
            sources["text_embeddings"] = seen.texts.to(inputs[0]).own
        return {
            name: value for name, value in sources.items() if name in self._parameters and name not in self.settings
        }

    def _known(self) -> dict[str, bool]:
        """Its settings, and whether they must be given."""
        own = {
            name: parameter.default is parameter.empty
            for name, parameter in self._parameters.items()
            if name not in GIVEN | FUNCTIONS
        }
        return own | ({"layers": False} if self.detector in OF_LAYERS else {})

    @cached_property
    def _kind(self) -> type:
        if not self._is_named:
            return type(self.detector)
        return getattr(library("pytorch-ood", "pytorch_ood.detector", INSTALL), self.detector)

    @property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self._kind.__init__).parameters

    @property
    def _is_labelled(self) -> bool:
        return self._kind.__name__ not in WITHOUT_LABELS

    @property
    def _is_named(self) -> bool:
        return isinstance(self.detector, str)

    @property
    def _view(self) -> str | None:
        """What it is called with."""
        if self._kind.__name__ == "MultiMahalanobis":
            return "layers"
        found = next((view for method, view in VIEWS.items() if hasattr(self._kind, f"predict_{method}")), None)
        return found or ("images" if hasattr(self._kind, "predict") else None)

    @property
    def _fit_view(self) -> str:
        """What it is fitted on: MahalanobisODIN, which moves images, learns from features."""
        return "features" if self._view == "images" and hasattr(self._kind, "fit_features") else self._view


class Replay:
    """A classifier as a chain of layers and a head, one pass of which is made when the first is called."""

    def __init__(self, model: Any, names: tuple[str, ...]):
        self.model, self.names = model, names
        self.steps = [lambda entered, place=place: self._step(entered, place) for place in range(len(names))]

    def logits(self, _: Tensor) -> Tensor:
        """Logits float[N, C] of the images that the first layer was called with."""
        return self.seen[0]

    def _step(self, entered: Tensor, place: int) -> Tensor:
        if place == 0:
            self.seen = look(self.model, entered, self.names)
        return self.seen[2][place]
