"""Models of open_clip (Ilharco et al., 2021), "open_clip:MODEL/WEIGHTS", where that package is installed (extra).

WEIGHTS is a tag of `open_clip.list_pretrained()` or a file; "open_clip:hf-hub:OWNER/NAME" is a repository of the hub.
open_clip needs torchvision and is imported when a model of it is asked for, not before.
"""

import json
from collections.abc import Callable, Sequence
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

    spelling = speller_of(getattr(tokenizer, "tokenizer", None), positions, getattr(tokenizer, "clean_fn", None))
    if spelling is None and hasattr(tokenizer, "encode"):
        spelling = _Encoding(tokenizer.encode, positions)
    configuration = None if model.startswith(HUB) else library.get_model_config(model)
    return ForeignModel(
        module=module,
        architecture=json.dumps([type(module).__name__, model, configuration]),
        embed_images=module.encode_image,
        embed_sentences=_Sentences(tokenizer, module, positions),
        prepare=prepare,
        preparation=str(transform),
        logit_scale=module.logit_scale.detach().float().exp(),
        tokenizer=spelling,
        title=f"{model} of open_clip {getattr(library, '__version__', '')}".strip(),
    )


class _Sentences:
    """Sentences to joint embeddings; those that the tokenizer would cut off are refused."""

    def __init__(self, tokenizer: Callable, module: Any, positions: int):
        self.tokenizer, self.module, self.positions = tokenizer, module, positions

    def __call__(self, texts: Sequence[str]) -> Tensor:
        tokens = self.tokenizer(texts, context_length=self.positions)
        # open_clip cuts without a word. With more room, a sentence that fits has the same tokens and padding behind.
        roomy = self.tokenizer(texts, context_length=2 * self.positions)
        fits = (roomy[:, : self.positions] == tokens).all(1) & (roomy[:, self.positions :] == roomy[:, -1:]).all(1)
        if not fits.all():
            cut = texts[int(fits.int().argmin())]
            raise OpenworldError(f"the text {cut!r} is longer than this model's {self.positions} tokens; shorten it.")
        return self.module.encode_text(tokens.to(next(self.module.parameters()).device))


class _Encoding:
    """How open_clip's own tokenizer reads a text; it knows every character, by its bytes at worst."""

    def __init__(self, encode: Callable[[str], list[int]], positions: int):
        self.encode, self.positions = encode, positions

    def spell(self, text: str) -> Spelling:
        return Spelling(tuple(self.encode(text)))


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
