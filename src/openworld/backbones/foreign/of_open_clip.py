"""Models of open_clip (Ilharco et al., 2021), "open_clip:MODEL/WEIGHTS", where that package is installed (extra).

WEIGHTS is a tag of `open_clip.list_pretrained()` or a file; "open_clip:hf-hub:OWNER/NAME" is a repository of the hub.
open_clip needs torchvision and is imported when a model of it is asked for, not before.
"""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from PIL import Image
from torch import Tensor

from openworld.backbones.foreign.encoder import ForeignModel, import_library, refusing
from openworld.backbones.tokenizer import Spelling, speller_of
from openworld.core.errors import OpenworldError

HUB = "hf-hub:"


def load(source: str, name: str) -> ForeignModel:
    """Return a model by name and weights, or by repository; without weights, which would be random, it is refused."""
    model, weights = _split_name(source, name)
    library = import_library("open_clip", name)
    with refusing("open_clip", name):
        module, transform = library.create_model_from_pretrained(model, weights)
        tokenizer = library.get_tokenizer(model)
    positions = getattr(tokenizer, "context_length", None) or getattr(module, "context_length", None) or 77

    def prepare(image: Image.Image) -> np.ndarray:
        return transform(image).numpy()

    def sentences(texts: Sequence[str]) -> Tensor:
        tokens = tokenizer(texts, context_length=positions)
        # open_clip cuts without a word. With more room, a sentence that fits has the same tokens and padding behind.
        roomy = tokenizer(texts, context_length=2 * positions)
        fits = (roomy[:, :positions] == tokens).all(1) & (roomy[:, positions:] == roomy[:, -1:]).all(1)
        if not fits.all():
            cut = texts[int(fits.int().argmin())]
            raise OpenworldError(f"the text {cut!r} is longer than this model's {positions} tokens; shorten it.")
        return module.encode_text(tokens.to(next(module.parameters()).device))

    spelling: Any = speller_of(getattr(tokenizer, "tokenizer", None), positions, getattr(tokenizer, "clean_fn", None))
    if spelling is None and hasattr(tokenizer, "encode"):  # its own, which knows every character, by its bytes at worst
        spelling = SimpleNamespace(positions=positions, spell=lambda text: Spelling(tuple(tokenizer.encode(text))))
    configuration = None if model.startswith(HUB) else library.get_model_config(model)
    return ForeignModel(
        module=module,
        architecture=json.dumps([type(module).__name__, model, configuration]),
        embed_images=module.encode_image,
        embed_sentences=sentences,
        prepare=prepare,
        preparation=str(transform),
        logit_scale=module.logit_scale.detach().float().exp(),
        tokenizer=spelling,
        title=f"{model} of open_clip {getattr(library, '__version__', '')}".strip(),
    )


def _split_name(source: str, name: str) -> tuple[str, str | None]:
    """Model and weights; a repository of the hub brings its own weights."""
    if source.startswith(HUB):
        return source, None
    model, _, weights = source.partition("/")
    if not model or not weights:
        raise OpenworldError(
            f"{name!r} names no weights, and open_clip would draw them at random; say which, as in "
            "open_clip:ViT-B-16/laion2b_s34b_b88k (open_clip.list_pretrained() lists them)."
        )
    return model, weights
