"""`ForeignEncoder`: a model of another library in the place of our towers, as far as whole embeddings go."""

import hashlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from openworld.backbones.two_tower import hash_weights
from openworld.core.errors import OpenworldError

RUNS = "zero-shot, zero-shot-ensemble, and whatever else reads embeddings of whole images and sentences alone"
_TOGETHER = 256  # sentences of one pass: bounds its memory

_TEXT = "a text tower that takes learned contexts"
_IMAGE = "an image tower that takes learned rows and shows its blocks"
_PATCHES = "patch rows"
_LACKING = {
    "encode_patches": _PATCHES,
    "project_patches": _PATCHES,
    **dict.fromkeys(("image", "record_image", "read_image", "enter_image", "leave_image"), _IMAGE),
    **dict.fromkeys(("text", "prompt_names", "encode_prompts", "embed_words", "record_text", "read_text"), _TEXT),
    **dict.fromkeys(("enter_text", "leave_text"), _TEXT),
    "with_weights": "weights that a learner may tune",
}
"""What a `TwoTower` has and a foreign model does not -> what is missing then, in words."""


class Lacks(OpenworldError, AttributeError):
    """A part of a model that another library runs was asked for and is not there; `what` it is, in words."""

    what: str = ""


def _lacks(name: str, what: str) -> Lacks:
    error = Lacks(
        f"{name!r} is run by another library and lacks {what}; it serves {RUNS}. For others, take one of "
        "`openworld list backbones`."
    )
    error.what = what
    return error


class _Sizes:
    """What is known of a tower; anything else that a `TwoTower` would tell is refused."""

    def __init__(self, name: str, what: str, **known: object):
        self._name, self._what = name, what
        self.__dict__.update(known)

    def __getattr__(self, attribute: str):
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        raise _lacks(self._name, self._what)


@dataclass(frozen=True)
class ForeignModel:
    module: Any
    architecture: str  # the library's class and what it was made from: part of the fingerprint
    embed_images: Callable[[Tensor], Tensor]  # prepared images float[B, ...] to [B, D]
    embed_sentences: Callable[[Sequence[str]], Tensor]  # sentences to [C, D]; refuses those that are too long
    prepare: Callable[[Image.Image], np.ndarray]  # an image to a float32 array of one shape
    preparation: str  # everything that determines `prepare`, as text
    logit_scale: Tensor  # what cosines are multiplied by, 0-d float32
    title: str  # the class and the library, for people
    tokenizer: Any = None  # for the audit of names (`positions`, `spell`)


@dataclass(frozen=True)
class _ForeignPreparation:
    """Prepared by the model's own processor, all steps at once; see `Preparation`."""

    whole: Callable[[Image.Image], np.ndarray]

    def prepare(self, image: Image.Image) -> np.ndarray:
        return np.ascontiguousarray(self.whole(image.convert("RGB")), dtype=np.float32)

    def scale(self, pixels: Tensor) -> Tensor:
        return pixels.float()


def import_library(package: str, name: str, extra: str = "") -> ModuleType:
    """Return the package that runs the model `name`; `extra` brings it where it is not called like the package."""
    try:
        return import_module(package)
    except ImportError as error:
        raise OpenworldError(
            f"{name!r} needs the package {package}, which cannot be imported ({error}); "
            f'pip install "openworld[{extra or package.replace("_", "-")}]".'
        ) from error


@contextmanager
def refusing(package: str, name: str) -> Generator[None]:
    """Raise what a package raises while it loads the backbone `name` as OpenworldError, in a sentence."""
    try:
        yield
    except OpenworldError:
        raise
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        reason = " ".join((str(error).strip() or type(error).__name__).split("\n")[0].split())
        raise OpenworldError(
            f"{package} cannot load {name!r} ({reason}); check the network, or give files that are here "
            "(openworld doctor NAME says which)."
        ) from error


class ForeignEncoder:
    """A `DualEncoder` around a model of another library, frozen, in evaluation mode.

    Args:
        name: what it was asked for by. model: what the library gives. device, dtype: of the weights. frozen: whether
            the weights are frozen and brought there; somebody's own stay as they are.

    Raises:
        OpenworldError: no embedding per image or sentence, two widths, prepared images of several shapes.
    """

    def __init__(
        self, name: str, model: ForeignModel, device: str | torch.device, dtype: torch.dtype, *, frozen: bool = True
    ) -> None:
        self.name, self.tokenizer, self._model = name, model.tokenizer, model
        self.preprocess = _ForeignPreparation(model.prepare)
        self.module = model.module
        if frozen:
            self.module.to(device=device, dtype=dtype).requires_grad_(False).eval()
        self._scale = model.logit_scale.detach().float().reshape(()).to(device)
        self._fingerprint = None
        side = self._side()
        image = _Sizes(name, _IMAGE, image_size=side)
        self.config: Any = _Sizes(name, _TEXT, joint_dimension=self._joint_dimension(), image=image)

    @property
    def architecture(self) -> str:
        """The library and its class."""
        return self._model.title

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.module.parameters(), torch.zeros(0)).device

    @property
    def dtype(self) -> torch.dtype:
        """The floating type of the weights; pixels must come in it."""
        return next(self.module.parameters(), torch.zeros(0)).dtype

    @property
    def logit_scale(self) -> Tensor:
        """What cosines are multiplied by, 0-d float32."""
        return self._scale

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the library's class, its configuration, and the weights as they are in memory."""
        if self._fingerprint is None:
            self._fingerprint = hash_weights(self._model.architecture, self.module.state_dict())
        return self._fingerprint

    @property
    def preprocess_fingerprint(self) -> str:
        """SHA-256 (hex) of the processor's settings."""
        return hashlib.sha256(self._model.preparation.encode()).hexdigest()

    def encode_image(self, pixels: Tensor, prompts: object = None) -> Tensor:
        """Pixels as `preprocess` gives them, float[B, ...], to unnormalised joint embeddings float[B, D].

        Raises OpenworldError for prompts.
        """
        if prompts is not None:
            raise _lacks(self.name, _IMAGE)
        return self._model.embed_images(pixels)

    def encode_text(self, texts: Sequence[str]) -> Tensor:
        """C sentences to unnormalised joint embeddings float[C, D].

        Raises OpenworldError for an empty list, and for a sentence longer than the model reads.
        """
        if isinstance(texts, str) or not len(texts):
            raise OpenworldError(f"expected a list of at least one sentence, got {texts!r}.")
        parts = (list(texts[start : start + _TOGETHER]) for start in range(0, len(texts), _TOGETHER))
        return torch.cat([self._model.embed_sentences(part) for part in parts])

    def __getattr__(self, attribute: str):
        if attribute in _LACKING:
            raise _lacks(self.name, _LACKING[attribute])
        raise AttributeError(f"{type(self).__name__!r} has no attribute {attribute!r}")

    def _side(self) -> int:
        """Return the side of a square with as many pixels as the model sees; 1 where nobody knows."""
        wide, high = (self.preprocess.prepare(Image.new("RGB", size)) for size in ((96, 64), (40, 80)))
        if wide.shape != high.shape:
            raise OpenworldError(
                f"the processor of {self.name!r} gives images of several shapes ({list(wide.shape)}, "
                f"{list(high.shape)}), which cannot be encoded together; take a model with a fixed size."
            )
        return max(round((wide.size / 3) ** 0.5), 1) if wide.ndim > 1 else 1

    @torch.no_grad()
    def _joint_dimension(self) -> int:
        image = torch.from_numpy(self.preprocess.prepare(Image.new("RGB", (96, 64))))
        of_image = self.encode_image(image[None].to(self.device, self.dtype))
        of_text = self.encode_text(["a photo."])
        if of_image.dim() != 2 or of_text.dim() != 2 or of_image.shape[1] != of_text.shape[1]:
            raise OpenworldError(
                f"{self.name!r} gives {list(of_image.shape)} of one image and {list(of_text.shape)} of one sentence, "
                "expected one embedding each, equally wide; it is no dual encoder."
            )
        return of_image.shape[1]
