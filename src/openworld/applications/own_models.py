"""From what somebody names, or has in Python, to a model of ours: the one place where this is decided.

a saved classifier, an exported file    `classifiers.load`
"package.module:function"               what the function returns, which is one of the others
the name of a backbone                  `backbones.load`
a model of timm                         with class names: a classifier, prepared as its configuration says
a two-tower model of anybody's          `backbones.foreign.of_objects`
"""

from collections.abc import Sequence
from typing import Any

from torch import nn

from openworld._errors import OpenworldError
from openworld.backbones.foreign import is_function
from openworld.backbones.foreign.of_objects import encoder_of, is_encoder, made_by
from openworld.backbones.loading import load_once
from openworld.classifiers import Classifier, from_timm

EXPECTED = (
    "expected openworld.classifiers.Classifier(module, classnames, preprocess, 'any name'), a timm model with class "
    "names, a two-tower model (with encode_image and encode_text, or a transformers model with its processor), or the "
    "name of one"
)


def own_model(given: Any, classnames: Sequence[str] | None = None):
    """Return a `Classifier` or a `DualEncoder` of an object; a name that is no function's comes back as it is."""
    if not isinstance(given, str):
        return _of_object(given, classnames, type(given).__name__)
    return _of_object(made_by(given), classnames, given) if is_function(given) else given


def own_encoder(given: Any, device: str):
    """Return the `DualEncoder` of a name or an object; objects stay where they are."""
    found = own_model(given)
    if isinstance(found, str):
        return load_once(found, device)
    if isinstance(found, Classifier):
        raise OpenworldError(f"{found.architecture} embeds no sentences; give a two-tower model as the backbone.")
    return found


def _of_object(given: Any, classnames: Sequence[str] | None, name: str):
    if isinstance(given, Classifier):
        return given
    if hasattr(type(given), "preprocess_fingerprint") or is_encoder(given):
        return encoder_of(given, "" if isinstance(given, tuple) else name)
    if isinstance(given, nn.Module) and (found := from_timm(given, classnames, name)):
        return found
    if hasattr(given, "predict_proba"):
        raise OpenworldError(f"{name} reads rows of numbers, not images; give source and target as embeddings [N, D].")
    raise OpenworldError(f"the model came as {type(given).__name__}, {EXPECTED}.")
