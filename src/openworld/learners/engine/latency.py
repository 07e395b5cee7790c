"""How long one image takes end to end, as a service that is given single images would wait for it.

Measured from the prepared pixels in memory to the answer in memory: image tower, prompts, logits and detection score.
Names are encoded before, as they would be. Reading and resizing the file are not counted: they are the same for all.
"""

import time
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
import torch

from openworld.features import Features
from openworld.learners.engine.fitted import FittedLearner
from openworld.learners.engine.text_bank import TextBank

WARM_UP = 2
REPEATS = 20
LONGEST = 2.0
"""Seconds after which no further repeat is begun."""


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
