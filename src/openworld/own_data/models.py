"""From what somebody has to a model: a name, a path, an object, a function, embeddings; the finder of all commands.

a `Classifier`, a saved one, an exported file, a state dict, a model of timm    a `Classifier`
a saved learner, or a fitted one                                                a `FittedLearner`
the name or folder of a backbone, or any two-tower model                        a `DualEncoder`
embeddings of class names: a file, columns, or `Embeddings`                     a `DualEncoder` that knows these names
"package.module:function"                                                       what the function returns, of the above
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from openworld.backbones import DualEncoder
from openworld.backbones.foreign.of_objects import GivenEncoder, encoder_of, is_encoder, made_by
from openworld.backbones.loading import load_once
from openworld.backbones.names import is_function
from openworld.classifiers import Classifier, from_timm
from openworld.classifiers import load as load_classifier
from openworld.classifiers.checkpoints import is_checkpoint, named_after
from openworld.classifiers.serialization import function_of, is_classifier, without_function
from openworld.core.errors import OpenworldError
from openworld.datasets.names.forms import are_numbered
from openworld.learners import FittedLearner
from openworld.learners import load as load_learner
from openworld.learners.engine.fitted import backbone_of, describe, holds_learner, saved_folder
from openworld.tables.embeddings import Embeddings, embeddings_of, read_embeddings
from openworld.tables.files import ScoreFile

Model = Classifier | DualEncoder | FittedLearner
"""What commands take: it tells its own classes apart; it compares images with any names; it was tuned on some names."""

EXPECTED = (
    "expected openworld.classifiers.Classifier(module, classnames, preprocess, 'any name'), a timm model with class "
    "names, a two-tower model (with encode_image and encode_text, or a transformers model with its processor), a "
    "fitted learner, class embeddings, or the name of one"
)


def find_model(
    what: Any,
    classnames: Sequence[str] | None = None,
    *,
    device: str = "cpu",
    architectures: Sequence[str] = (),
    backbone: Any = "",
) -> Model:
    """Return the model that somebody names or has, as the head of this file lists them.

    Args:
        classnames: names for a classifier that numbers its classes, in the order of its logits; others bring names.
        device: where a backbone is loaded, and that of a saved learner; objects and classifiers stay where they are.
        architectures: what may build a classifier whose own file does not: "package.module:function", "timm:NAME".
        backbone: of a saved learner, by name or as an object; "" for the one that it was fitted on.
    """
    if isinstance(what, str | Path):
        return _by_name(str(what), classnames, device, architectures, backbone)
    name = type(what).__name__
    if isinstance(what, Classifier | FittedLearner):
        return what
    if isinstance(what, Embeddings | ScoreFile):
        return GivenEncoder(read_embeddings(what))
    if isinstance(what, Mapping) and "class_embeddings" in what:
        return GivenEncoder(embeddings_of(what))
    if hasattr(type(what), "preprocess_fingerprint") or is_encoder(what):
        return encoder_of(what, "" if isinstance(what, tuple) else name)
    if isinstance(what, nn.Module) and (classifier := from_timm(what, classnames, name)):
        return classifier
    if hasattr(what, "predict_proba"):
        raise OpenworldError(f"{name} reads rows of numbers, not images; give source and target as embeddings [N, D].")
    raise OpenworldError(f"the model came as {name}, {EXPECTED}.")


def find_encoder(what: Any, device: str = "cpu") -> DualEncoder:
    """Return the two-tower model that somebody names or has, as `find_model` does; refuse the other kinds."""
    encoder = find_model(what, device=device)
    if isinstance(encoder, Classifier):
        raise OpenworldError(f"{encoder.architecture} embeds no sentences; give a two-tower model as the backbone.")
    if isinstance(encoder, FittedLearner):
        raise OpenworldError(f"{encoder.learner.name} is a fitted learner; give its backbone, {encoder.clip.name}.")
    return encoder


def _by_name(
    name: str, classnames: Sequence[str] | None, device: str, architectures: Sequence[str], backbone: Any
) -> Model:
    if is_function(name):
        made = made_by(name)
        if is_encoder(made):
            return encoder_of(made, name)  # called as it was asked for
        return find_model(made, classnames, device=device, architectures=architectures, backbone=backbone)
    if holds_learner(name):
        folder, on = saved_folder(name), backbone or backbone_of(name, "--backbone {}")
        if isinstance(on, str | Path) and not is_function(str(on)):
            return load_learner(folder, load_once(str(on), device, describe(folder).precision))
        return load_learner(folder, find_encoder(on, device))
    if not is_classifier(name):
        return load_once(name, device)
    function = function_of(name)
    if function and function not in architectures and len(architectures) != 1:
        raise without_function(name, function, "--architecture {}")
    chosen = function if function in architectures else next(iter(architectures), None)
    # Only a state dict, or a file that says what builds it, can be built in another way than it says.
    classifier = load_classifier(name, architecture=chosen if function or is_checkpoint(name) else None)
    return named_classes(classifier, classnames, name)


def require_building(architectures: Sequence[str], models: Sequence[Any]) -> None:
    """Refuse an architecture that builds none of the models that somebody names."""
    named = [str(model) for model in models if isinstance(model, str | Path) and str(model)]
    if architectures and not any(is_checkpoint(name) or function_of(name) for name in named):
        raise OpenworldError(
            f"--architecture {architectures[0]} builds none of {', '.join(named) or 'these models'}: it is for the "
            "folder of a saved classifier whose network a function of yours makes, or for a state dict; leave it out."
        )


def named_classes(classifier: Classifier, classnames: Sequence[str] | None, where: str = "") -> Classifier:
    """Return a classifier that numbers its classes under class names; refuse another number of them."""
    own = classifier.classnames
    if classnames is not None and are_numbered(own) and len(own) != len(classnames):
        raise OpenworldError(
            f"{where or classifier.architecture} tells {len(own)} classes apart and does not name them, and there are "
            f"{len(classnames)} class names; give --classnames FILE, a name per line, in the order of its logits."
        )
    return named_after(classifier, classnames)
