"""Write a trained model as a Hugging Face CLIPModel folder: four files, weights in half precision."""

import copy
import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import nn

from emoji_clip.recipe import MEAN, STD
from emoji_clip.tokens import END, START
from openworld.backbones.config import TwoTowerConfig
from openworld.backbones.layouts import export_state
from openworld.backbones.two_tower import TwoTower


def export_model(model: TwoTower, tokenizer: Tokenizer, logit_scale: float, folder: Path) -> None:
    """Write `model` into `folder`; each file is replaced as a whole, so a reader never sees half of one.

    model: as training keeps it (SiLU activations), see `as_quick_gelu`. logit_scale: what cosines are multiplied by.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ready = as_quick_gelu(model)
    ready.log_scale.data.fill_(logit_scale).log_()
    tensors = {name: tensor.half() for name, tensor in export_state(ready, "hugging_face").items()}
    texts = {
        "config.json": json.dumps(hugging_face_config(model.config, tokenizer), indent=2) + "\n",
        "preprocessor_config.json": json.dumps(preprocessing(model.config.image.image_size), indent=2) + "\n",
        "tokenizer.json": tokenizer.to_str(pretty=True) + "\n",
    }
    for name, text in texts.items():
        _replace(folder / name, lambda path, text=text: path.write_text(text, encoding="utf-8"))
    _replace(folder / "model.safetensors", lambda path: save_file(tensors, path, metadata={"format": "pt"}))


@torch.no_grad()
def as_quick_gelu(model: TwoTower) -> TwoTower:
    """A copy that computes the same with CLIP's activation: silu(1.702 x) / 1.702 = x sigmoid(1.702 x)."""
    model = copy.deepcopy(model)
    for block in (*model.image.blocks, *model.text.blocks):
        block.up.weight /= 1.702
        block.up.bias /= 1.702
        block.down.weight *= 1.702
    return model


def train_with_silu(model: TwoTower) -> TwoTower:
    """Switch the blocks to SiLU, which has a fused kernel (5 % more images per second); `as_quick_gelu` undoes it."""
    for block in (*model.image.blocks, *model.text.blocks):
        block.activation = nn.functional.silu
    return model


def hugging_face_config(config: TwoTowerConfig, tokenizer: Tokenizer) -> dict:
    """The contents of config.json."""
    start, end = tokenizer.token_to_id(START), tokenizer.token_to_id(END)
    special = {"bos_token_id": start, "eos_token_id": end, "pad_token_id": end}
    text, image = config.text, config.image
    shared = {"hidden_act": "quick_gelu", "layer_norm_eps": 1e-5, "projection_dim": config.joint_dimension}
    return {
        "architectures": ["CLIPModel"],
        "model_type": "clip",
        "projection_dim": config.joint_dimension,
        "logit_scale_init_value": 2.6592,
        "torch_dtype": "float16",
        "text_config": _tower(text)
        | shared
        | special
        | {
            "model_type": "clip_text_model",
            "vocab_size": text.vocabulary,
            "max_position_embeddings": text.positions,
        },
        "vision_config": _tower(image)
        | shared
        | {
            "model_type": "clip_vision_model",
            "image_size": image.image_size,
            "patch_size": image.patch_size,
            "num_channels": 3,
        },
    }


def preprocessing(size: int) -> dict:
    """The contents of preprocessor_config.json."""
    return {
        "image_processor_type": "CLIPImageProcessor",
        "do_convert_rgb": True,
        "do_resize": True,
        "size": {"shortest_edge": size},
        "resample": 3,
        "do_center_crop": True,
        "crop_size": {"height": size, "width": size},
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": [MEAN] * 3,
        "image_std": [STD] * 3,
    }


def _tower(config) -> dict:
    return {
        "hidden_size": config.width,
        "intermediate_size": config.mlp_width,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
    }


def _replace(path: Path, write) -> None:
    partial = path.with_name(path.name + ".partial")
    write(partial)
    partial.chmod(0o644)  # safetensors writes files that only their owner may read
    partial.replace(path)
