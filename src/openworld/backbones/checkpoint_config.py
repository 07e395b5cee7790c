"""A checkpoint's own configuration file, read into a `TwoTowerConfig`.

Hugging Face's config.json leaves out what equals its defaults, so those defaults stand here too; open_clip's
open_clip_config.json describes OpenAI's architecture with GELU unless it says quick_gelu.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from openworld._errors import OpenworldError
from openworld._plain import read_plain
from openworld.backbones.config import ImageConfig, TextConfig, TwoTowerConfig

Description = TypeVar("Description")
ACTIVATION_NAMES = {"quick_gelu": "quick_gelu", "gelu": "gelu", "gelu_pytorch_tanh": "gelu_tanh"}

_CLIP_TEXT = {
    "vocab_size": 49408,
    "hidden_size": 512,
    "intermediate_size": 2048,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "max_position_embeddings": 77,
    "hidden_act": "quick_gelu",
    "layer_norm_eps": 1e-5,
    "eos_token_id": 49407,
    "pad_token_id": 1,
}
_CLIP_IMAGE = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "num_channels": 3,
    "image_size": 224,
    "patch_size": 32,
    "hidden_act": "quick_gelu",
    "layer_norm_eps": 1e-5,
}
_SIGLIP_TEXT = {
    "vocab_size": 32000,
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "max_position_embeddings": 64,
    "hidden_act": "gelu_pytorch_tanh",
    "layer_norm_eps": 1e-6,
    "pad_token_id": 1,
}
_SIGLIP_IMAGE = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "num_channels": 3,
    "image_size": 224,
    "patch_size": 16,
    "hidden_act": "gelu_pytorch_tanh",
    "layer_norm_eps": 1e-6,
    "vision_use_head": True,
}
# Before 2023 CLIP configurations stated this wrong end token; the models pool the highest id.
_LEGACY_END = 2


def described(path: Path, read: Callable[[dict], Description]) -> Description:
    """What `read` makes of a JSON file that describes a model.

    Raises:
        OpenworldError: no such file, no JSON, or one that does not say what is needed in the kinds that are needed.
    """
    try:
        settings = json.loads(read_plain(path))
    except FileNotFoundError:
        raise OpenworldError(f"{path.parent} holds weights but no {path.name} to describe them.") from None
    except (ValueError, RecursionError) as error:
        raise OpenworldError(f"{path} is not JSON ({error}).") from error
    try:
        return read(settings)
    except OpenworldError as error:
        told = str(error)
        raise OpenworldError(told if path.name in told else f"{path}: {told}") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise OpenworldError(
            f"{path} does not describe a model as it should ({type(error).__name__}: {error}); fetch it again."
        ) from error


def from_hugging_face(settings: dict) -> TwoTowerConfig:
    """config.json of a CLIPModel or SiglipModel.

    Raises OpenworldError for another model type and for sizes this package cannot represent.

    >>> from_hugging_face({"model_type": "clip", "vision_config": {"patch_size": 16}}).image.grid
    14
    """
    family = settings.get("model_type")
    if family not in ("clip", "siglip"):
        raise OpenworldError(
            f"config.json describes a model of type {family!r}; this package reads two-tower models of type clip "
            "or siglip."
        )
    text = {**(_CLIP_TEXT if family == "clip" else _SIGLIP_TEXT), **(settings.get("text_config") or {})}
    image = {**(_CLIP_IMAGE if family == "clip" else _SIGLIP_IMAGE), **(settings.get("vision_config") or {})}
    if image["num_channels"] != 3 or not isinstance(image["image_size"], int) or not image.get("vision_use_head", True):
        raise OpenworldError("config.json describes an image tower without RGB input, square pictures or pooling head.")
    build = _clip if family == "clip" else _siglip
    return build(settings, text, image)


def _clip(settings: dict, text: dict, image: dict) -> TwoTowerConfig:
    end = text["eos_token_id"]
    return TwoTowerConfig(
        text=TextConfig(**_text_sizes(text), end_token=None if end == _LEGACY_END else end),
        image=ImageConfig(**_image_sizes(image)),
        joint_dimension=settings.get("projection_dim", 512),
    )


def _siglip(settings: dict, text: dict, image: dict) -> TwoTowerConfig:
    joint = text.get("projection_size") or text["hidden_size"]
    if joint != image["hidden_size"]:
        raise OpenworldError(
            f"config.json projects text to {joint} features and images to {image['hidden_size']}; they must agree."
        )
    return TwoTowerConfig(
        text=TextConfig(
            **_text_sizes(text),
            causal=False,
            pool="last",
            projection_bias=True,
            pad_token=text["pad_token_id"],
        ),
        image=ImageConfig(**_image_sizes(image), class_token=False, pre_norm=False, patch_bias=True, pool="attention"),
        joint_dimension=joint,
        family="siglip",
    )


def from_open_clip(settings: dict) -> TwoTowerConfig:
    """open_clip_config.json of a model with OpenAI's architecture.

    Raises OpenworldError for towers of another make (timm, Hugging Face text models, custom text).
    """
    model = settings["model_cfg"]
    image, text = model["vision_cfg"], model["text_cfg"]
    foreign = [key for key in (*image, *text) if key.startswith(("timm_", "hf_"))]
    if foreign or model.get("custom_text") or not isinstance(image["layers"], int):
        raise OpenworldError(
            f"open_clip_config.json describes towers of another make ({', '.join(foreign) or 'custom'}); "
            "use the same model in Hugging Face layout."
        )
    activation = "quick_gelu" if model.get("quick_gelu") else "gelu"
    return TwoTowerConfig(
        text=TextConfig(
            **_open_clip_sizes(text, text["heads"], activation),
            vocabulary=text.get("vocab_size", 49408),
            positions=text.get("context_length", 77),
        ),
        image=ImageConfig(
            **_open_clip_sizes(image, image["width"] // image.get("head_width", 64), activation),
            image_size=image.get("image_size", 224),
            patch_size=image["patch_size"],
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
    return dict(**_sizes(settings), image_size=settings["image_size"], patch_size=settings["patch_size"])


def _open_clip_sizes(settings: dict, heads: int, activation: str) -> dict:
    return {
        "width": settings["width"],
        "layers": settings["layers"],
        "heads": heads,
        "mlp_width": int(settings["width"] * settings.get("mlp_ratio", 4.0)),
        "activation": activation,
    }
