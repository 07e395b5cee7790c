"""What a learner costs: how many numbers it tunes, and how long one image takes end to end.

Numbers are counted on a model that has shapes but no trained weights. Each weight is a single zero that is shown in the
shape of the weight, so that ViT-B/16 costs a few milliseconds and no memory. Its tokenizer reads one token per word, as
CLIP's byte-pair vocabulary does with the words of published contexts ("a photo of a").

An image is timed from its prepared pixels in memory to the answer in memory, as a service that is given single images
would wait for it: image tower, prompts, logits and detection score. Names are encoded before, as they would be. Reading
and resizing the file are not counted: they are the same for all.
"""

import re
import time
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import nn

from openworld.backbones import TwoTower, TwoTowerConfig
from openworld.backbones.tokenizer import require_fitting
from openworld.backbones.towers import Unfilled
from openworld.core.errors import OpenworldError
from openworld.datasets.names.forms import numbered_names
from openworld.features import Features
from openworld.learners.engine.fitted import FittedLearner, Learner
from openworld.learners.engine.text_bank import TextBank

VIT_B_16 = TwoTowerConfig()
WARM_UP = 2
REPEATS = 20
LONGEST = 2.0
"""Seconds after which no further repeat is begun."""

# Letters, single digits, and runs of anything else that is no space: where CLIP splits before its byte pairs.
_WORDS = re.compile(r"[^\W\d_]+|\d|(?:[^\w\s]|_)+")


class WordTokenizer:
    """One token per word, its id a hash of the word; the last two ids are the start and the end token."""

    def __init__(self, vocabulary: int = 49408, positions: int = 77):
        self.vocabulary, self.positions = vocabulary, positions

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids of each text, start and end included; a text that is too long is refused."""
        start, end = self.vocabulary - 2, self.vocabulary - 1

        def number(word: str) -> int:
            return 1 + zlib.crc32(word.encode()) % (self.vocabulary - 3)

        ids = [[start, *map(number, _WORDS.findall(text.lower())), end] for text in texts]
        return require_fitting(texts, ids, self.positions)


def tuned_parameters(learner: Learner, classes: int = 50, config: TwoTowerConfig = VIT_B_16) -> int:
    """Return how many numbers `learner` tunes for so many base classes on a backbone of this shape."""
    start: Any = getattr(learner, "start", None)
    if start is None:
        return 0
    names = numbered_names(classes)
    try:
        tensors = start(_with_zeros(config), names, torch.Generator().manual_seed(0))
    except RuntimeError as error:
        raise OpenworldError(
            f"`start` of {learner.name} failed on a backbone whose weights are all zero, on which its numbers are "
            f"counted ({type(error).__name__}: {error}); there it may read weights and `clip.config`, such as "
            "`clip.config.joint_dimension`, but change no weight and refuse no zero."
        ) from error
    return sum(tensor.numel() for tensor in tensors.values())


@cache
def _with_zeros(config: TwoTowerConfig) -> TwoTower:
    # On the meta device, which needs no zeros, indexing and adding import PyTorch's compiler: they are made on the CPU.
    with torch.device("meta"), Unfilled():
        model = TwoTower(config, tokenizer=WordTokenizer(config.text.vocabulary, config.text.positions), name="shapes")
    zero = torch.zeros(())
    for module in model.modules():
        for name, tensor in [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]:
            zeros = zero.to(tensor.dtype).expand(tensor.shape)
            setattr(
                module, name, nn.Parameter(zeros, requires_grad=False) if isinstance(tensor, nn.Parameter) else zeros
            )
    return model.eval()


def measure_latency(fitted: FittedLearner, bank: TextBank, pixels: np.ndarray) -> dict[str, Any]:
    """Time a fitted learner on images [B, 3, H, W] that come together, the image tower included.

    Return "seconds" of one batch, the median over the "repeats" after `WARM_UP` runs that do not count; "batch", images
    at a time; "memory", most bytes of the GPU in use meanwhile, weights included, None on other devices.
    """
    device = fitted.clip.device
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    seconds: list[float] = []
    began = time.perf_counter()
    while len(seconds) < WARM_UP + 1 or (len(seconds) < WARM_UP + REPEATS and time.perf_counter() - began < LONGEST):
        start = time.perf_counter()
        fitted.answer(_encoded(fitted, pixels), bank)
        # The answer is in NumPy arrays, so that a GPU has finished.
        seconds.append(time.perf_counter() - start)
    memory = torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None
    timed = seconds[WARM_UP:]
    return {"seconds": median(timed), "batch": len(pixels), "repeats": len(timed), "memory": memory}


@torch.no_grad()
def _encoded(fitted: FittedLearner, pixels: np.ndarray) -> Features:
    """Return images as the learner consumes them; one that consumes pixels runs the tower itself."""
    clip: Any = fitted.clip
    numbers = np.zeros(len(pixels), dtype=np.int64)
    width = clip.config.joint_dimension
    plain = Features(np.zeros((len(pixels), width), np.float32), numbers, numbers, numbers, fitted.classnames, "")
    if fitted.learner.consumes == "pixels":
        return replace(plain, pixels=pixels)
    scaled = clip.preprocess.scale(torch.as_tensor(pixels, device=clip.device)).to(clip.dtype)
    if fitted.learner.consumes == "patches":
        embeddings, patches = clip.encode_patches(scaled)
        return replace(plain, embeddings=embeddings.float().cpu().numpy(), patches=patches.half().cpu().numpy())
    return replace(plain, embeddings=clip.encode_image(scaled).float().cpu().numpy())
