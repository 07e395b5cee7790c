"""Models that give images a number per class: classifiers, two-tower backbones with class names, tuned learners."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openworld.backbones.devices import find_device
from openworld.classifiers import Classifier
from openworld.core.errors import OpenworldError
from openworld.core.functions import code_of
from openworld.datasets import ImageSet
from openworld.datasets.names.audit import Speller
from openworld.datasets.names.forms import readable_class_name
from openworld.features import Encoding, Features, encode
from openworld.learners import FittedLearner, encoding_for
from openworld.learners.engine.fitted import PLAIN_IMAGES
from openworld.learners.engine.text_bank import cosine_logits, require_distinct
from openworld.learners.engine.text_features import encode_names
from openworld.own_data.models import Model, find_model, named_classes, require_building
from openworld.runs.scratch import ScratchFolder
from openworld.tables.classes import order_of


@dataclass(frozen=True, eq=False)
class ScoringModel:
    """A model that scores images."""

    name: str
    fingerprint: str  # of weights and preprocessing
    classnames: tuple[str, ...]  # with spaces for underscores, as image sets have them; in the order of the scores
    scores: Callable[[ImageSet], np.ndarray]  # images -> float32[N, C]
    reordered: bool = False  # whether the model itself has its classes in another order
    find_seen: Callable[[ImageSet], np.ndarray] | None = None  # images -> uint8[N], which it was trained on
    tokenizer: Speller | None = None  # of a backbone, as its text features float32[C, D] are
    text: torch.Tensor | None = None
    settings: str = ""  # what else scores depend on: code, preprocessing, precision, scale, device


Models = dict[str, ScoringModel]
"""By the names of their tables in a file of scores; `logits` is the model whose accuracy is estimated."""


def find_models(
    classnames: Sequence[str] | None,
    source_names: Sequence[str] | None,
    *,
    model: Any = "",
    reference: Any = "",
    partners: Sequence[Any] = (),
    template: str = "",
    device: str = "auto",
    architectures: Sequence[str] = (),
) -> Models:
    """Return models by names or as objects: a classifier brings its classes along, a backbone is given some."""
    # `architectures` are functions that build saved classifiers.
    if isinstance(model, str) and not model:
        raise OpenworldError(
            "images need a model whose accuracy on them is estimated: --model FOLDER (a saved classifier) or NAME."
        )
    require_building(architectures, (model, reference, *partners))
    device = find_device(device)
    shared: dict[str, Any] = {"template": template, "device": device, "architectures": architectures}
    loaded = find_model(model, classnames, device=device, architectures=architectures)
    wanted = classnames if isinstance(loaded, Classifier | FittedLearner) else classnames or source_names
    models = {"logits": scoring_model(model, wanted, found=loaded, **shared)}
    names = models["logits"].classnames
    if not isinstance(reference, str) or reference:
        models["reference"] = scoring_model(reference, names, scaled=False, **shared)
    others = (scoring_model(name, names, **shared) for name in partners)
    return models | {f"partner_{place}": partner for place, partner in enumerate(others, 1)}


def scoring_model(
    given: Any,
    classnames: Sequence[str] | None,
    template: str,
    device: str,
    *,
    scaled: bool = True,
    architectures: Sequence[str] = (),
    found: Model | None = None,  # what `given` is, where that is found already
) -> ScoringModel:
    """Return a model of what `find_model` takes; a backbone is given class names, the others bring theirs."""
    if found is None:
        found = find_model(given, classnames, device=device, architectures=architectures)
    if isinstance(found, Classifier | FittedLearner):
        return _with_own_classes(found, given, classnames, device)
    if classnames is None:
        raise OpenworldError(f"{found.name} knows no classes of its own: name them, by folders or --classnames FILE.")
    require_distinct(classnames)
    text = encode_names(found, classnames, (template,)).cpu()
    scale = found.logit_scale.detach().cpu() if scaled else torch.ones(())

    def scores(images: ImageSet) -> np.ndarray:
        embeddings = torch.from_numpy(np.array(_encoded(found, images).embeddings))
        return cosine_logits(embeddings, text, scale).float().numpy()

    parts = found.preprocess_fingerprint, found.dtype, float(scale), torch.device(device).type, code_of(found)
    about: dict[str, Any] = {"tokenizer": found.tokenizer, "text": text, "settings": " ".join(map(str, parts))}
    return ScoringModel(found.name, found.fingerprint, tuple(classnames), scores, **about)


def _with_own_classes(
    found: Classifier | FittedLearner, given: Any, classnames: Sequence[str] | None, device: str
) -> ScoringModel:
    """Return a classifier, or a learner with the names that it was tuned on, in the order of `classnames` if given."""
    about: dict[str, Any]
    if isinstance(found, Classifier):
        where = str(given) if isinstance(given, str | Path) else found.architecture
        found, name = named_classes(found, classnames, where), Path(where).name
        about = {"settings": f"{torch.device(device).type} {code_of(found.module)}"}
        about["find_seen"] = None if found.seen is None else found.find_seen
        logits = partial(found.logits, device=device)
    else:
        clip, bank = found.clip, found.text_bank(found.classnames)
        name = where = f"{found.learner.name} on {clip.name}"
        parts = clip.preprocess_fingerprint, clip.dtype, clip.device.type, code_of(clip)
        about = {"tokenizer": clip.tokenizer, "settings": " ".join(map(str, parts))}

        def logits(images: ImageSet) -> np.ndarray:
            return found.logits(_encoded(clip, images, encoding_for(found.learner)), bank)

    names = tuple(map(readable_class_name, found.classnames))
    wanted = names if classnames is None else tuple(classnames)
    order = order_of(names, wanted, where, "those expected")

    def scores(images: ImageSet) -> np.ndarray:
        return logits(images) if order is None else logits(images)[:, order]

    return ScoringModel(name, found.fingerprint, wanted, scores, order is not None, **about)


def _encoded(clip: Any, images: ImageSet, encoding: Encoding = PLAIN_IMAGES) -> Features:
    with ScratchFolder() as scratch:  # images are encoded anew and nothing is kept
        return encode(clip, images, encoding, cache=Path(scratch))
