"""Models that other libraries run, which are extras and are imported when a model of theirs is asked for.

"transformers:REPOSITORY" is any model of transformers (Wolf et al., 2020) that has `get_image_features` and
`get_text_features`. Images go through the model's own image processor, in its Pillow form, which needs no torchvision
and gives the same numbers on every machine; sentences through its own tokenizer, padded as its processor pads them.
Code that comes with a repository is never run, and a model whose weights are not all there is refused.

"open_clip:MODEL/WEIGHTS" is a model of open_clip (Ilharco et al., 2021), which needs torchvision. WEIGHTS is a tag of
`open_clip.list_pretrained()` or a file; "open_clip:hf-hub:OWNER/NAME" is a repository of the hub.
"""

import inspect
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from openworld.backbones.foreign.encoder import ForeignModel, import_library, refusing
from openworld.backbones.tokenizer import Spelling, require_fitting, speller_of
from openworld.core.errors import OpenworldError

# Trained on sentences of one length, padding included, which their towers see: SigLIP pools the last position.
_PADDED = {"align": 64, "siglip": None, "siglip2": None, "tipsv2": None}
_UNKNOWN = 10**6  # tokenizers that state no longest sentence state a far larger number


def _load_transformers(source: str, name: str) -> ForeignModel:
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
    prepare, embed = _image_passes(processor, module)
    wanted = _accepted(module.get_text_features)
    how = {"padding": "max_length", "max_length": padding} if padding else {"padding": True}

    def sentences(texts: Sequence[str]) -> Tensor:
        require_fitting(texts, tokenizer(texts, verbose=False)["input_ids"], positions)
        read, device = tokenizer(texts, return_tensors="pt", **how), next(module.parameters()).device
        return _embedding(
            module.get_text_features(**{key: value.to(device) for key, value in read.items() if key in wanted})
        )

    return ForeignModel(
        module=module,
        architecture=json.dumps([type(module).__name__, module.config.to_json_string(use_diff=False)]),
        embed_images=embed,
        embed_sentences=sentences,
        prepare=prepare,
        preparation=f"{type(processor).__name__} {processor.to_json_string()}",
        logit_scale=_logit_scale(name, module),
        tokenizer=speller_of(tokenizer, positions),
        title=f"{type(module).__name__} of transformers {library.__version__}",
    )


def _image_passes(
    processor: Any, module: Any
) -> tuple[Callable[[Image.Image], np.ndarray], Callable[[Tensor], Tensor]]:
    """Return what the processor makes of an image, in one array, and what the model makes of many of them."""
    # Most processors give pixels alone. Some add what tells padding apart (NaFlex: a mask, and how many patches lie
    # side by side): all numbers of an image are then laid in one row, and taken apart again for the model.
    wanted = _accepted(module.get_image_features)

    def processed(image: Image.Image) -> dict[str, Tensor]:
        return {key: value for key, value in processor(image, return_tensors="pt").items() if key in wanted}

    layout = {name: (value.shape[1:], value.dtype) for name, value in processed(Image.new("RGB", (96, 64))).items()}

    def prepare(image: Image.Image) -> np.ndarray:
        arrays = [tensor[0].numpy().astype(np.float32) for tensor in processed(image).values()]
        return arrays[0] if len(arrays) == 1 else np.concatenate([array.ravel() for array in arrays])

    def embed(pixels: Tensor) -> Tensor:
        if len(layout) == 1:
            return _embedding(module.get_image_features(**{next(iter(layout)): pixels}))
        if pixels.dtype == torch.bfloat16:
            raise OpenworldError(f"bfloat16 rounds the patch places of {type(module).__name__}; use float32.")
        parts = pixels.split([int(np.prod(shape)) for shape, _ in layout.values()], dim=1)
        shaped = {
            name: part.unflatten(1, shape).to(pixels.dtype if dtype.is_floating_point else dtype)
            for part, (name, (shape, dtype)) in zip(parts, layout.items(), strict=True)
        }
        return _embedding(module.get_image_features(**shaped))

    return prepare, embed


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


HUB = "hf-hub:"


def _load_open_clip(source: str, name: str) -> ForeignModel:
    """Return a model by name and weights, or by repository; without weights, which would be random, it is refused."""
    model, _, weights = source.partition("/")
    if source.startswith(HUB):
        model, weights = source, None  # a repository brings its own weights
    elif not model or not weights:
        raise OpenworldError(
            f"{name!r} names no weights, and open_clip would draw them at random; say which, as in "
            "open_clip:ViT-B-16/laion2b_s34b_b88k (open_clip.list_pretrained() lists them)."
        )
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


LOADERS = {"transformers": _load_transformers, "open_clip": _load_open_clip}
"""Prefix of a name -> (what follows it, the name) to the model."""
