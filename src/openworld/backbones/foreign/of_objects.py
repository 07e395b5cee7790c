"""Models that somebody brings, as dual encoders: an object in Python as it is, or embeddings in the place of a model.

    (model, processor)               a model of transformers with its processor
    (model, preprocess, tokenizer)   `encode_image` of pixels and `encode_text` of tokens, as in open_clip
    an object                        `encode_image` of a list of PIL images, `encode_text` of a list of sentences, and
                                     `logit_scale`, what cosines are multiplied by (CLIP's is 100)
    "package.module:function"        a function without arguments that returns one of these
    "FILE.npz", "FILE.parquet"       embeddings of class names, of a model that is not here

The model stays on its device and in its mode; it must be in evaluation mode. Embeddings of class names read these, and
nothing else: images come embedded, too, as a data set of embeddings.
"""

import hashlib
from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn.functional import normalize

from openworld.backbones.foreign.encoder import ForeignEncoder, ForeignModel
from openworld.backbones.names import is_embeddings
from openworld.backbones.two_tower import TwoTower, hash_weights
from openworld.core.errors import OpenworldError
from openworld.core.functions import find_function
from openworld.tables.classes import normalise_class_name
from openworld.tables.embeddings import Embeddings, read_embeddings

EXPECTED = (
    "expected a transformers model with its processor, (model, processor); an open_clip model with its preprocess and "
    "tokenizer, (model, preprocess, tokenizer); or an object with encode_image, encode_text and logit_scale"
)
_PROBES = ("a photo of a cat.", "an icon of a red umbrella.")


def is_encoder(given: Any) -> bool:
    """Whether an object is, or with its parts makes, a dual encoder."""
    model = given[0] if isinstance(given, tuple) and len(given) in (2, 3) else given
    return _has(model, "get_image_features", "get_text_features") or _has(model, "encode_image", "encode_text")


def encoder_of(given: Any, name: str = "") -> TwoTower | ForeignEncoder:
    """Return the dual encoder of an object; `name` is what people call it, by default its class."""
    if hasattr(type(given), "preprocess_fingerprint"):
        return given  # one of ours, or as ours
    model, *parts = given if isinstance(given, tuple) and len(given) in (2, 3) else (given,)
    name = name or type(model).__name__
    if not is_encoder(given):
        raise OpenworldError(f"the model came as {type(given).__name__}, {EXPECTED}.")
    if isinstance(model, nn.Module) and model.training:
        raise OpenworldError(f"{name} is in training mode, in which embeddings depend on chance; call .eval() first.")
    if _has(model, "get_image_features"):
        from openworld.backbones.foreign.of_libraries import model_of

        processor = parts[0] if parts else None
        images = getattr(processor, "image_processor", processor if len(parts) == 2 else None)
        tokenizer = getattr(processor, "tokenizer", parts[1] if len(parts) == 2 else None)
        if images is None or tokenizer is None:
            raise OpenworldError(
                f"{name} came without its processor, which prepares images and reads sentences; give (model, "
                "AutoProcessor.from_pretrained(...)), or (model, image_processor, tokenizer)."
            )
        encoder = model_of(model, images, tokenizer, name)
    elif len(parts) == 1:
        raise OpenworldError(f"{name} came with {type(parts[0]).__name__} alone; {EXPECTED}.")
    else:
        module = model if isinstance(model, nn.Module) else nn.Module()
        scale = getattr(model, "logit_scale", None)
        if parts and isinstance(scale, nn.Parameter):
            scale = scale.detach().exp()  # as CLIP and open_clip keep it
        encoder = ForeignModel(
            module=module,
            architecture=f"{type(model).__module__}.{type(model).__qualname__}",
            logit_scale=_scale(scale, name),
            title=type(model).__name__,
            **(_of_open_clip(model, module, *parts) if parts else _of_object(model)),
        )
    return OwnEncoder(name, encoder)


def load(name: str) -> TwoTower | ForeignEncoder:
    return GivenEncoder(read_embeddings(name), name) if is_embeddings(name) else encoder_of(made_by(name), name)


def made_by(name: str) -> Any:
    """Return what a function "package.module:function" returns when it is called without arguments."""
    function = find_function(name)
    try:
        return function()
    except OpenworldError:
        raise
    except (Exception, SystemExit) as error:  # somebody's code may fail in any way; the failure is named
        raise OpenworldError(
            f"{name!r} gives no model ({type(error).__name__}: {error}); expected a function that is called without "
            "arguments and returns a model."
        ) from error


class OwnEncoder(ForeignEncoder):
    """A `DualEncoder` around somebody's own object, which is left as it is."""

    def __init__(self, name: str, model: ForeignModel):
        parameter = next(model.module.parameters(), torch.zeros(0))
        super().__init__(name, model, parameter.device, parameter.dtype, frozen=False)

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of weights, and of what is made of two images and two sentences."""
        if self._fingerprint is None:
            digest = hashlib.sha256(hash_weights(self._model.architecture, self.module.state_dict()).encode())
            pixels = self.preprocess.scale(torch.from_numpy(np.stack(self._probes()))).to(self.device, self.dtype)
            with torch.no_grad():
                for embeddings in (self.encode_image(pixels), self.encode_text(_PROBES)):
                    digest.update(embeddings.detach().float().cpu().contiguous().numpy().tobytes())
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    @property
    def preprocess_fingerprint(self) -> str:
        """SHA-256 (hex) of two prepared images."""
        return hashlib.sha256(b"".join(map(np.ndarray.tobytes, self._probes()))).hexdigest()

    def _probes(self) -> list[np.ndarray]:
        pixels = np.random.RandomState(0).randint(0, 256, (2, 70, 90, 3)).astype(np.uint8)
        return [self.preprocess.prepare(Image.fromarray(one)) for one in pixels]


def _has(given: Any, *names: str) -> bool:
    return all(callable(getattr(given, name, None)) for name in names)


def _of_open_clip(model: Any, module: nn.Module, preprocess: Any, tokenizer: Any) -> dict[str, Any]:
    def sentences(texts: Sequence[str]) -> Tensor:
        tokens = tokenizer(list(texts))
        device = next(module.parameters(), torch.zeros(0)).device
        return model.encode_text(tokens.to(device) if isinstance(tokens, Tensor) else tokens)

    return {
        "embed_images": model.encode_image,
        "embed_sentences": sentences,
        "prepare": lambda image: np.asarray(preprocess(image), np.float32),
        "preparation": str(preprocess),
    }


def _of_object(model: Any) -> dict[str, Any]:
    """An object that takes PIL images: each is embedded where others are prepared, since sizes may differ."""
    lock = Lock()

    def prepare(image: Image.Image) -> np.ndarray:
        with lock, torch.no_grad():  # images are prepared by several threads
            return _array(model.encode_image([image]))[0]

    return {
        "embed_images": lambda embeddings: embeddings,
        "embed_sentences": lambda texts: torch.from_numpy(_array(model.encode_text(list(texts)))),
        "prepare": prepare,
        "preparation": "",
    }


def _array(embeddings: Any) -> np.ndarray:
    if isinstance(embeddings, Tensor):
        embeddings = embeddings.detach().float().cpu().numpy()
    return np.asarray(embeddings, np.float32)


def _scale(given: Any, name: str) -> Tensor:
    try:
        scale = float(given)
    except (TypeError, ValueError, RuntimeError):
        scale = 0.0
    if not 0 < scale < float("inf"):
        raise OpenworldError(f"{name} has the logit_scale {given!r}, expected a number above 0 (CLIP's is 100).")
    return torch.tensor(scale)


class GivenEncoder(ForeignEncoder):
    """A `DualEncoder` that knows the embeddings of some class names."""

    def __init__(self, given: Embeddings, name: str = ""):
        self.classnames, self.sentences = given.classnames, torch.from_numpy(given.classes)
        self._width = given.classes.shape[-1]
        self._place = {normalise_class_name(name): place for place, name in enumerate(given.classnames or ())}
        # Of several sentences, the mean of unit embeddings, as an ensemble of templates has it.
        self._classes = (
            normalize(self.sentences, dim=-1).mean(1) if given.classes.shape[1] > 1 else self.sentences[:, 0]
        )
        name = name or given.name
        model = ForeignModel(
            module=nn.Module(),
            architecture=f"embeddings {given.content}",
            embed_images=lambda pixels: pixels,
            embed_sentences=self._look_up,
            prepare=self._no_images,
            preparation="",
            logit_scale=torch.tensor(given.logit_scale),
            title="embeddings of class names",
        )
        super().__init__(name, model, "cpu", torch.float32)

    def class_sentences(self, names: Sequence[str]) -> Tensor:
        """Return float32[C, S, D], each name in every sentence."""
        if self.sentences.shape[1] < 2:
            raise OpenworldError(
                f"{self.name} has each class name in one sentence, and LAID learns from several what is meaning: give "
                "class_embeddings [C, S, D], or a fitted decomposition with --laid."
            )
        return self.sentences[[self._index(name) for name in names]]

    def _look_up(self, texts: Sequence[str]) -> Tensor:
        return self._classes[[self._index(getattr(text, "classname", text)) for text in texts]]

    def _index(self, name: str) -> int:
        place = self._place.get(normalise_class_name(name))
        if place is None:
            examples = ", ".join(list(self._place)[:5])
            raise OpenworldError(
                f"{self.name} has no embedding of {str(name)!r}; it knows {len(self._place)} class names ({examples}, "
                "...), and cannot embed others."
            )
        return place

    def _no_images(self, image: Image.Image) -> np.ndarray:
        raise OpenworldError(f"{self.name} holds embeddings and cannot look at images; give embeddings of that model.")

    def _side(self) -> int:
        return 1  # it looks at no image

    def _joint_dimension(self) -> int:
        return self._width

    @property
    def preprocess_fingerprint(self) -> str:
        return "no images"
