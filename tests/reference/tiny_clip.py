"""The tiny CLIP behind the reference numbers in `learners/`: weights from a rule anyone can recompute.

Every tensor is drawn from `RandomState(crc32(OpenAI state-dict name))` and scaled by kind; `weights_check.json` holds
check sums. Its tokenizer is the part of CLIP's byte-pair vocabulary that the reference sentences need, ids unchanged
(OpenAI's CLIP, MIT licence). Use: `tiny_clip(torch.float64)`, `reference("coop")["f64/logits_train"]`.
"""

import math
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer as Engine

from openworld.backbones import ImageConfig, Preprocess, TextConfig, TwoTower, TwoTowerConfig
from openworld.backbones.layouts import export_state, load_state
from openworld.backbones.tokenizer import Tokenizer

HERE = Path(__file__).parent
CONFIG = TwoTowerConfig(
    text=TextConfig(width=64, layers=3, heads=1, mlp_width=256),
    image=ImageConfig(image_size=32, patch_size=8, width=64, layers=3, heads=1, mlp_width=256),
    joint_dimension=64,
)


def tiny_clip(dtype: torch.dtype = torch.float32) -> TwoTower:
    """The tiny CLIP, frozen, in evaluation mode, with its tokenizer."""
    model = TwoTower(
        CONFIG,
        tokenizer=Tokenizer(Engine.from_file(str(HERE / "tiny_clip_tokenizer.json")), 77),
        preprocess=Preprocess(32, 32, "shortest", (0.5,) * 3, (0.25,) * 3),
        name="tiny",
    )
    names = export_state(model, "openai")
    load_state(model, {name: _draw(name, tuple(tensor.shape)) for name, tensor in names.items()}, "openai", "tiny")
    return model.to(dtype).requires_grad_(False).eval()


@cache
def reference(name: str) -> dict[str, np.ndarray]:
    """All arrays of learners/<name>.npz."""
    with np.load(HERE / "learners" / f"{name}.npz") as file:
        return dict(file)


def as_tensor(array: np.ndarray, dtype: torch.dtype | None = None) -> torch.Tensor:
    return torch.from_numpy(np.array(array)).to(dtype)


@cache
def _draw(name: str, shape: tuple[int, ...]) -> torch.Tensor:
    if name == "logit_scale":
        return torch.tensor(math.log(100))
    noise = np.random.RandomState(zlib.crc32(name.encode())).standard_normal(shape).astype(np.float32)
    return torch.from_numpy(np.asarray(_scaled(name, noise, shape), dtype=np.float32))


def _scaled(name: str, noise: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if ".ln_" in f".{name}" and name.endswith("weight"):
        return np.float32(1) + np.float32(0.1) * noise
    if name.endswith("bias") or "embedding" in name:
        return np.float32(0.02) * noise
    if name == "visual.conv1.weight":
        return noise * np.float32(1 / np.sqrt(192))
    return noise * np.float32(1 / np.sqrt(shape[0] if name.endswith("proj") else shape[1]))
