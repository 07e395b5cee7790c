"""The decomposition for measuring one's own pictures: read from a file, or LAID fitted to class names and templates."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from openworld._errors import OpenworldError
from openworld.datasets.templates import CLIP_80, EMOJI_LOOKS
from openworld.shift import LAID, AppearanceEncoder, Decomposition, load_decomposition, write_texts

EMBEDDED = "embedded"
NAMES, FEWEST = 200, 20  # names that LAID learns from at most, and at least
STEPS, RATE = 2000, 3e-3
_TOGETHER = 16  # names written and encoded at a time


def fit_laid(
    clip, names: Sequence[str], templates: Sequence[str], *, seed: int, progress: Callable[[str, int, int], None]
) -> Decomposition:
    """LAID on names in templates; of many names a draw of `NAMES`.

    The embedded backbone gets a narrow covariate part: pictures of 64 pixels, and captions that say little of looks.

    Args:
        names: distinct. templates: () for those that suit the backbone.
    Raises:
        OpenworldError: fewer than `FEWEST` names.
    """
    if len(names) < FEWEST:
        raise OpenworldError(
            f"there are {len(names)} class names, and LAID learns what meaning is from {FEWEST} or more: give a list "
            "with --classnames FILE (any names of things of this kind will do), or a fitted decomposition with --laid."
        )
    if len(names) > NAMES:
        drawn = np.sort(np.random.default_rng(seed).choice(len(names), NAMES, replace=False))
        names = [names[place] for place in drawn]
    sentences = templates or (EMOJI_LOOKS if clip.name == EMBEDDED else CLIP_80)
    features = _encode(clip, names, sentences, progress)
    progress("learning what is meaning and what is looks", 0, 1)
    width = features.shape[2] * 7 // 8 if clip.name == EMBEDDED else None
    fitted = LAID(steps=STEPS, learning_rate=RATE, semantic_width=width).fit(features, seed=seed)
    about = {"backbone": clip.name, "weights": clip.fingerprint, "names": list(names), "sentences": list(sentences)}
    return replace(fitted, about={**fitted.about, **about})


def read_laid(file: Path, clip) -> Decomposition:
    """A kept decomposition, for this backbone.

    Raises:
        OpenworldError: no such file, or one of another backbone.
    """
    kept = load_decomposition(file)
    weights, width = (
        kept.about.get("weights"),
        clip.width if isinstance(clip, AppearanceEncoder) else clip.config.joint_dimension,
    )
    if weights not in (None, clip.fingerprint) or kept.width != width:
        raise OpenworldError(
            f"{file} was fitted to features of {kept.about.get('backbone', 'another backbone')} ({kept.width} "
            f"numbers), not of {clip.name} ({width}); give that backbone with --backbone, or fit again without --laid."
        )
    return kept


@torch.no_grad()
def _encode(clip, names: Sequence[str], templates: Sequence[str], progress) -> torch.Tensor:
    """float32[S, C, D]."""
    parts = []
    for start in range(0, len(names), _TOGETHER):
        own = names[start : start + _TOGETHER]
        rows = clip.encode_text(write_texts(own, templates)).float().cpu()
        parts.append(rows.reshape(len(own), len(templates), -1))
        progress("reading class names", start + len(own), len(names))
    return torch.cat(parts)
