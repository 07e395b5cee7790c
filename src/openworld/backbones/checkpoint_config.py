"""A checkpoint's own configuration file, read into a `TwoTowerConfig`; OpenAI's archives have none but their shapes.

Hugging Face's config.json leaves out what equals its defaults, so those defaults are in checkpoints.toml; open_clip's
open_clip_config.json describes OpenAI's architecture with GELU unless it says quick_gelu. Towers that are not ours are
refused with the way to run them all the same: a part of the architecture is never left out.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from openworld.backbones.config import ImageConfig, TextConfig, TwoTowerConfig
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import facts, read_plain

Description = TypeVar("Description")
Tower = TypeVar("Tower", TextConfig, ImageConfig)
ACTIVATION_NAMES = {"quick_gelu": "quick_gelu", "gelu": "gelu", "gelu_pytorch_tanh": "gelu_tanh"}

_FACTS = facts("openworld.backbones", "checkpoints.toml")
_USUAL, _OPEN_CLIP = _FACTS["usual"], _FACTS["open_clip"]
_ELSEWHERE = (
    "for what needs no prompted tower another library runs it: name it transformers:REPOSITORY or "
    "open_clip:hf-hub:REPOSITORY."
)
# Before 2023 CLIP configurations stated this wrong end token; the models pool the highest id.
_LEGACY_END = 2


def read_description(path: Path, read: Callable[[dict], Description]) -> Description:
    """Return what `read` makes of a JSON file that describes a model."""
    try:
        settings = json.loads(read_plain(path))
    except FileNotFoundError:
        raise OpenworldError(f"{path.parent} holds weights but no {path.name} to describe them.") from None
    except (ValueError, RecursionError) as error:
        raise OpenworldError(f"{path} is not JSON ({error}).") from error
    try:
        return read(settings)
    except OpenworldError as error:
        reason = str(error)
        raise OpenworldError(reason if path.name in reason else f"{path}: {reason}") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise OpenworldError(
            f"{path} does not describe a model as it should ({type(error).__name__}: {error}); fetch it again."
        ) from error


def from_hugging_face(settings: dict) -> TwoTowerConfig:
    """Read config.json of a CLIPModel or SiglipModel; other models and sizes are refused."""
    family = settings.get("model_type")
    if family is None and "architecture" in settings:
        raise OpenworldError(f"config.json is of timm's {settings['architecture']!r}, an image tower alone.")
    if family not in ("clip", "siglip"):
        raise OpenworldError(
            f"config.json describes a model of type {family!r}, whose towers are not those of clip or siglip; "
            f"{_ELSEWHERE}"
        )
    text = _tower_settings(settings, "text_config", _USUAL[family]["text"])
    image = _tower_settings(settings, "vision_config", _USUAL[family]["image"])
    if image["num_channels"] != 3 or not image.get("vision_use_head", True):
        raise OpenworldError("config.json describes an image tower without RGB input or without pooling head.")
    end, joint = text.get("eos_token_id"), text.get("projection_size") or text["hidden_size"]
    if family == "clip":
        return TwoTowerConfig(
            text=_tower(TextConfig, **_text_sizes(text), end_token=None if end == _LEGACY_END else end),
            image=_tower(ImageConfig, **_image_sizes(image)),
            joint_dimension=settings.get("projection_dim", 512),
        )
    if joint != image["hidden_size"]:
        raise OpenworldError(f"config.json projects text to {joint}, images to {image['hidden_size']} features.")
    return TwoTowerConfig(
        text=_tower(
            TextConfig,
            **_text_sizes(text),
            causal=False,
            pool="last",
            projection_bias=True,
            pad_token=text["pad_token_id"],
        ),
        image=_tower(
            ImageConfig, **_image_sizes(image), class_token=False, pre_norm=False, patch_bias=True, pool="attention"
        ),
        joint_dimension=joint,
        family="siglip",
    )


def _tower(kind: type[Tower], **settings) -> Tower:
    """Return the description of a tower; its refusal says which tower's setting is wrong."""
    name = "text tower" if kind is TextConfig else "image tower"
    try:
        return kind(**settings)
    except OpenworldError as error:
        raise OpenworldError(str(error) if name in str(error) else f"{name}: {error}") from error


def _tower_settings(settings: dict, part: str, defaults: dict) -> dict:
    """The settings of a tower. Old files state them twice, and then those of "..._dict" count, as in transformers."""
    older = settings.get(f"{part}_dict")
    return {**defaults, **(settings.get(part) or {}), **({**defaults, **older} if older else {})}


def from_open_clip(settings: dict) -> TwoTowerConfig:
    """Read open_clip_config.json of a model with OpenAI's architecture; anything else is refused."""
    model = settings["model_cfg"]
    image, text = model["vision_cfg"], model["text_cfg"]
    unknown = []
    for name, part in (("model", model), ("image", image), ("text", text)):
        for key, value in part.items():
            is_off = value in (None, False, 0, {}, "", *_OPEN_CLIP["usual"].get(key, ()))
            if key not in _OPEN_CLIP[name] and not is_off:
                unknown.append(f"{key} {value!r}")
    if unknown or isinstance(image["layers"], list):
        raise OpenworldError(
            f"open_clip_config.json describes towers of another make ({', '.join(unknown) or 'a ResNet'}); take the "
            f"same model in Hugging Face layout, if there is one; {_ELSEWHERE}"
        )
    activation = "quick_gelu" if model.get("quick_gelu") else "gelu"
    return TwoTowerConfig(
        text=_tower(
            TextConfig,
            **_open_clip_sizes(text, text["heads"], activation),
            vocabulary=text.get("vocab_size", 49408),
            positions=text.get("context_length", 77),
        ),
        image=_tower(
            ImageConfig,
            **_open_clip_sizes(image, image["width"] // image.get("head_width", 64), activation),
            image_size=_side(image.get("image_size", 224)),
            patch_size=_side(image["patch_size"]),
        ),
        joint_dimension=model["embed_dim"],
    )


def _sizes(settings: dict) -> dict:
    activation = settings["hidden_act"]
    if activation not in ACTIVATION_NAMES:
        raise OpenworldError(f"config.json names the activation {activation!r}; known: {', '.join(ACTIVATION_NAMES)}.")
    return {
        "width": settings["hidden_size"],
        "layers": settings["num_hidden_layers"],
        "heads": settings["num_attention_heads"],
        "mlp_width": settings["intermediate_size"],
        "activation": ACTIVATION_NAMES[activation],
        "norm_epsilon": settings["layer_norm_eps"],
    }


def _text_sizes(settings: dict) -> dict:
    return dict(**_sizes(settings), vocabulary=settings["vocab_size"], positions=settings["max_position_embeddings"])


def _image_sizes(settings: dict) -> dict:
    sides = {name: _side(settings[name]) for name in ("image_size", "patch_size")}
    return dict(**_sizes(settings), **sides)


def _side(size: object) -> object:
    square = isinstance(size, list) and len(size) == 2 and size[0] == size[1]
    return size[0] if square else size


def _open_clip_sizes(settings: dict, heads: int, activation: str) -> dict:
    norm, act = settings.get("norm_kwargs") or {}, settings.get("act_kwargs") or {}
    if set(norm) - {"eps"} or set(act) - {"approximate"} or (act and activation != "gelu"):
        raise OpenworldError(f"open_clip_config.json has norms or activations of another make; {_ELSEWHERE}")
    return {
        "width": settings["width"],
        "layers": settings["layers"],
        "heads": heads,
        "mlp_width": int(settings["width"] * settings.get("mlp_ratio", 4.0)),
        "activation": "gelu_tanh" if act.get("approximate") == "tanh" else activation,
        "norm_epsilon": norm.get("eps", 1e-5),
    }
