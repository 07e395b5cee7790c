"""Any model of transformers (Wolf et al., 2020) that has `get_image_features` and `get_text_features` (extra).

Images go through the model's own image processor, in its Pillow form, which needs no torchvision and gives the same
numbers on every machine; sentences through its own tokenizer, padded as its processor pads them. Code that comes with a
repository is never run, and a model whose weights are not all there is refused.
"""

import inspect
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from openworld.backbones.foreign.encoder import ForeignModel, import_library, refusing
from openworld.backbones.tokenizer import speller_of
from openworld.core.errors import OpenworldError

# Trained on sentences of one length, padding included, which their towers see: SigLIP pools the last position.
_PADDED = {"align": 64, "siglip": None, "siglip2": None, "tipsv2": None}
_UNKNOWN = 10**6  # tokenizers that state no longest sentence state a far larger number


def load(source: str, name: str) -> ForeignModel:
    """Return a model by repository, if wanted with "@revision", or by folder."""
    library = import_library("transformers", name)
    place, _, revision = (source, "", "") if Path(source).is_dir() else source.partition("@")
    where = {"revision": revision} if revision else {}
    pil = {"backend": "pil"} if int(library.__version__.split(".")[0]) >= 5 else {"use_fast": False}
    with refusing("transformers", name), _without_bars(library):
        module, report = library.AutoModel.from_pretrained(
            place, dtype=torch.float32, output_loading_info=True, trust_remote_code=False, **where
        )
        _require_whole(name, module, report)
        processor = library.AutoImageProcessor.from_pretrained(place, trust_remote_code=False, **pil, **where)
        tokenizer = library.AutoTokenizer.from_pretrained(place, trust_remote_code=False, **where)
    return model_of(module, processor, tokenizer, name)


def model_of(module: Any, processor, tokenizer, name: str) -> ForeignModel:
    """A model with its image processor and its tokenizer, as the library has them."""
    library = import_library("transformers", name)
    positions, padding = _sentences(module.config, tokenizer)
    images, wanted = _Images(processor, module), _accepted(module.get_text_features)
    how = {"padding": "max_length", "max_length": padding} if padding else {"padding": True}

    def sentences(texts: Sequence[str]) -> Tensor:
        for text, tokens in zip(texts, tokenizer(texts, verbose=False)["input_ids"], strict=True):
            if len(tokens) > positions:
                raise OpenworldError(
                    f"the text {text!r} is {len(tokens)} tokens long, start and end included, and this model reads "
                    f"at most {positions}; shorten it."
                )
        read, device = tokenizer(texts, return_tensors="pt", **how), next(module.parameters()).device
        return _embedding(
            module.get_text_features(**{key: value.to(device) for key, value in read.items() if key in wanted})
        )

    return ForeignModel(
        module=module,
        architecture=json.dumps([type(module).__name__, module.config.to_json_string(use_diff=False)]),
        embed_images=images.embed,
        embed_sentences=sentences,
        prepare=images.prepare,
        preparation=f"{type(processor).__name__} {processor.to_json_string()}",
        logit_scale=_logit_scale(name, module),
        tokenizer=speller_of(tokenizer, positions),
        title=f"{type(module).__name__} of transformers {library.__version__}",
    )


class _Images:
    """What the processor makes of an image, in one array, and what the model makes of many of them."""

    # Most processors give pixels alone. Some add what tells padding apart (NaFlex: a mask, and how many patches lie
    # side by side): all numbers of an image are then laid in one row, and taken apart again for the model.
    def __init__(self, processor, module: Any):
        self.processor, self.module = processor, module
        sample = self._processed(Image.new("RGB", (96, 64)))
        self.layout = {name: (tensor.shape[1:], tensor.dtype) for name, tensor in sample.items()}

    def prepare(self, image: Image.Image) -> np.ndarray:
        tensors = {name: tensor[0].numpy() for name, tensor in self._processed(image).items()}
        if len(tensors) == 1:
            return next(iter(tensors.values())).astype(np.float32)
        return np.concatenate([array.astype(np.float32).ravel() for array in tensors.values()])

    def embed(self, pixels: Tensor) -> Tensor:
        if len(self.layout) == 1:
            return _embedding(self.module.get_image_features(**{next(iter(self.layout)): pixels}))
        if pixels.dtype == torch.bfloat16:
            raise OpenworldError(f"bfloat16 rounds the patch places of {type(self.module).__name__}; use float32.")
        parts = pixels.split([int(np.prod(shape)) for shape, _ in self.layout.values()], dim=1)
        shaped = {
            name: part.unflatten(1, shape).to(pixels.dtype if dtype.is_floating_point else dtype)
            for part, (name, (shape, dtype)) in zip(parts, self.layout.items(), strict=True)
        }
        return _embedding(self.module.get_image_features(**shaped))

    def _processed(self, image: Image.Image) -> dict[str, Tensor]:
        wanted = _accepted(self.module.get_image_features)
        return {key: value for key, value in self.processor(image, return_tensors="pt").items() if key in wanted}


def _embedding(output) -> Tensor:
    """The pooled, projected row: given as such, or since version 5 inside what the tower gives."""
    return output if isinstance(output, Tensor) else output.pooler_output


def _accepted(method: Callable) -> set[str]:
    return set(inspect.signature(method).parameters)


def _sentences(config, tokenizer) -> tuple[int, int | None]:
    """The longest sentence in tokens, and the length that all are padded to, or None."""
    stated = [getattr(getattr(config, "text_config", config), "max_position_embeddings", None)]
    stated += [tokenizer.model_max_length if tokenizer.model_max_length < _UNKNOWN else None]
    kind = config.model_type
    stated += [_PADDED.get(kind)]
    positions = min(number for number in stated if number is not None) if any(stated) else _UNKNOWN
    if kind in _PADDED and positions < _UNKNOWN:
        return positions, positions
    return positions, None


def _logit_scale(name: str, module: Any) -> Tensor:
    """exp of CLIP's logit scale, or one over ALIGN's temperature."""
    if isinstance(getattr(module, "logit_scale", None), Tensor) and module.logit_scale.numel() == 1:
        return module.logit_scale.detach().float().exp()
    if isinstance(getattr(module, "temperature", None), Tensor) and module.temperature.numel() == 1:
        return 1 / module.temperature.detach().float()
    raise OpenworldError(
        f"{name!r} ({type(module).__name__}) has neither logit_scale nor temperature: what its cosines are to be "
        "multiplied by is not known; take a model trained by contrast of images and sentences."
    )


def _require_whole(name: str, module: nn.Module, report: Mapping) -> None:
    """Refuse what has no towers for both, and weights that transformers would have drawn at random."""
    if not (hasattr(module, "get_image_features") and hasattr(module, "get_text_features")):
        raise OpenworldError(f"{name!r} is a {type(module).__name__} without get_image_features or get_text_features.")
    missing = [*report["missing_keys"], *(str(key) for key in report["mismatched_keys"])]
    if missing:
        raise OpenworldError(
            f"the weights of {name!r} lack {len(missing)} tensors of a {type(module).__name__}, first {missing[0]}: "
            "they would be random; fetch them again, or name the model that they are of."
        )


@contextmanager
def _without_bars(library: ModuleType) -> Generator[None]:
    logging = library.utils.logging
    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()
