"""Models that give images a number per class: classifiers from a folder, two-tower backbones by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openworld import classifiers
from openworld._errors import OpenworldError
from openworld._functions import code_of
from openworld.applications.estimate.columns import order_of
from openworld.applications.estimate.inputs import ModelNames
from openworld.applications.own_models import own_encoder, own_model
from openworld.backbones.devices import find_device
from openworld.classifiers import Classifier
from openworld.classifiers.checkpoints import is_checkpoint, named_after
from openworld.classifiers.serialization import function_of, is_classifier, without_function
from openworld.datasets import ImageSet
from openworld.datasets.names.forms import are_numbered, readable_class_name
from openworld.features import encode
from openworld.learners.engine.text_bank import cosine_logits, require_distinct
from openworld.learners.engine.text_features import encode_names
from openworld.runs.scratch import ScratchFolder


@dataclass(frozen=True, eq=False)
class ScoringModel:
    """A model that scores images."""

    name: str
    fingerprint: str  # of weights and preprocessing
    classnames: tuple[str, ...]  # with spaces for underscores, as image sets have them; in the order of the scores
    scores: Callable[[ImageSet], np.ndarray]  # images -> float32[N, C]
    reordered: bool = False  # whether the model itself has its classes in another order
    find_seen: Callable[[ImageSet], np.ndarray] | None = None  # images -> uint8[N], which it was trained on
    tokenizer: object = None  # of a backbone, as its text features float32[C, D] are
    text: torch.Tensor | None = None
    settings: str = ""  # what else scores depend on: code, preprocessing, precision, scale, device


Models = dict[str, ScoringModel]
"""By the names of their tables in a file of scores; `logits` is the model whose accuracy is estimated."""


def find_models(names: ModelNames, classnames: Sequence[str] | None, source_names: Sequence[str] | None) -> Models:
    """Return the models of these names: a classifier brings its classes along, a backbone is given some."""
    if isinstance(names.model, str) and not names.model:
        raise OpenworldError(
            "images need a model whose accuracy on them is estimated: --model FOLDER (a saved classifier) or NAME."
        )
    shared = {"template": names.template, "device": find_device(names.device), "architectures": names.architectures}
    named = [name for name in (names.model, names.reference, *names.partners) if isinstance(name, str) and name]
    if names.architectures and not any(function_of(name) or is_checkpoint(name) for name in named):
        raise OpenworldError(
            f"--architecture {names.architectures[0]} builds none of {', '.join(named)}: it is for the folder of a "
            "saved classifier whose network a function of yours makes; leave it out."
        )
    own = own_model(names.model, classnames)
    wanted = classnames if isinstance(own, Classifier) or _is_classifier(own) else classnames or source_names
    models = {"logits": find_model(own, wanted, scaled=True, **shared)}
    own = models["logits"].classnames
    if not isinstance(names.reference, str) or names.reference:
        models["reference"] = find_model(names.reference, own, scaled=False, **shared)
    partners = (find_model(name, own, scaled=True, **shared) for name in names.partners)
    return models | {f"partner_{place}": partner for place, partner in enumerate(partners, 1)}


def find_model(
    name: Any,
    classnames: Sequence[str] | None,
    template: str,
    device: str,
    *,
    scaled: bool,
    architectures: Sequence[str] = (),
) -> ScoringModel:
    """Return a model by a folder of a saved classifier, a name, folder or hub id of a backbone, or an object."""
    name = own_model(name, classnames)
    if isinstance(name, Classifier):
        return _scoring(name, name.architecture, classnames, device)
    if _is_classifier(name):
        return _saved(name, classnames, device, architectures)
    if classnames is None:
        called = getattr(name, "name", name)
        raise OpenworldError(f"{called} knows no classes of its own: name them, by folders or --classnames FILE.")
    require_distinct(classnames)
    clip = own_encoder(name, device)
    text = encode_names(clip, classnames, (template,)).cpu()
    scale = clip.logit_scale.detach().cpu() if scaled else 1.0

    def scores(images: ImageSet) -> np.ndarray:
        with ScratchFolder() as scratch:  # images are encoded anew and nothing is kept
            embeddings = torch.from_numpy(np.array(encode(clip, images, cache=Path(scratch)).embeddings))
        return cosine_logits(embeddings, text, scale).float().numpy()

    parts = clip.preprocess_fingerprint, clip.dtype, float(scale), torch.device(device).type, code_of(clip)
    known = {"tokenizer": clip.tokenizer, "text": text, "settings": " ".join(map(str, parts))}
    return ScoringModel(clip.name, clip.fingerprint, tuple(classnames), scores, **known)


def _is_classifier(name: Any) -> bool:
    return isinstance(name, str | Path) and is_classifier(name)


def _saved(folder: str, classnames: Sequence[str] | None, device: str, architectures: Sequence[str]) -> ScoringModel:
    """Return a saved classifier; a function that builds it must have been named, since it runs somebody's code."""
    if is_checkpoint(folder):
        architecture = architectures[0] if architectures else None
        return _scoring(classifiers.load(folder, architecture=architecture), folder, classnames, device)
    function = function_of(folder)
    if function and function not in architectures and len(architectures) != 1:
        raise without_function(folder, function, "--architecture {}")
    chosen = function if function in architectures else architectures[0] if function else None
    return _scoring(classifiers.load(folder, architecture=chosen), folder, classnames, device)


def _scoring(classifier: Classifier, where: str, classnames: Sequence[str] | None, device: str) -> ScoringModel:
    classifier = named_after(classifier, classnames)
    own = tuple(map(readable_class_name, classifier.classnames))
    if classnames is not None and are_numbered(own) and len(own) != len(classnames):
        raise OpenworldError(
            f"{where} tells {len(own)} classes apart and does not name them, and there are {len(classnames)} class "
            "names; give --classnames FILE, a name per line, in the order of its logits."
        )
    wanted = own if classnames is None else tuple(classnames)
    order = order_of(own, wanted, where, "those expected")

    def scores(images: ImageSet) -> np.ndarray:
        logits = classifier.logits(images, device=device)
        return logits if order is None else logits[:, order]

    find_seen = None if classifier.seen is None else classifier.find_seen
    settings = f"{torch.device(device).type} {code_of(classifier.module)}"
    about = {"reordered": order is not None, "find_seen": find_seen, "settings": settings}
    return ScoringModel(Path(where).name, classifier.fingerprint, wanted, scores, **about)
