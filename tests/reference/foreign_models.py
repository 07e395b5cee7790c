"""Small random models of other architectures, as transformers saves them, a stand-in for open_clip, and images.

open_clip itself needs torchvision, which is not a dependency of the tests; the stand-in has the functions that the
adapter calls, with open_clip's names, arguments and habits (sentences are cut off without a word, padding is 0).
"""

import shutil
import string
from pathlib import Path

import numpy as np
import torch
import transformers
from PIL import Image
from transformers.utils import logging

from openworld.backbones.published_files import EMBEDDED
from openworld.datasets import ImageSet

TEXT = {
    "vocab_size": 1600,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 40,
    "bos_token_id": 1598,
    "eos_token_id": 1599,
    "pad_token_id": 1599,
}
IMAGE = {
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "image_size": 32,
    "patch_size": 8,
}
CROP = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}


def align():
    image = {
        "image_size": 32,
        "width_coefficient": 1.0,
        "depth_coefficient": 1.0,
        "hidden_dim": 64,
        "kernel_sizes": [3],
        "in_channels": [32],
        "out_channels": [64],
        "depthwise_padding": [],
        "strides": [1],
        "num_block_repeats": [1],
        "expand_ratios": [1],
    }
    config = transformers.AlignConfig(
        text_config={**TEXT, "max_position_embeddings": 128}, vision_config=image, projection_dim=64
    )
    sizes = {"size": {"height": 34, "width": 34}, "crop_size": {"height": 32, "width": 32}, "do_center_crop": True}
    return transformers.AlignModel(config), transformers.EfficientNetImageProcessorPil(**sizes)


def altclip():
    text = {**TEXT, "max_position_embeddings": 80, "project_dim": 48, "pad_token_id": 1}
    config = transformers.AltCLIPConfig(text_config=text, vision_config=IMAGE, projection_dim=24)
    return transformers.AltCLIPModel(config), transformers.CLIPImageProcessorPil(**CROP)


def groupvit():
    image = {
        "hidden_size": 48,
        "intermediate_size": 80,
        "num_hidden_layers": 2,
        "depths": [1, 1],
        "num_group_tokens": [4, 0],
        "num_output_groups": [2, 2],
        "num_attention_heads": 3,
        "image_size": 32,
        "patch_size": 8,
    }
    config = transformers.GroupViTConfig(
        text_config=TEXT, vision_config=image, projection_dim=24, projection_intermediate_dim=40
    )
    return transformers.GroupViTModel(config), transformers.CLIPImageProcessorPil(**CROP)


def siglip2():
    """NaFlex: as many patches as fit, in the image's own shape, padded."""
    image = {key: value for key, value in IMAGE.items() if key != "image_size"}
    text = {**TEXT, "max_position_embeddings": 64, "projection_size": 48}
    config = transformers.Siglip2Config(text_config=text, vision_config={**image, "num_patches": 16})
    return transformers.Siglip2Model(config), transformers.Siglip2ImageProcessorPil(patch_size=8, max_num_patches=20)


ARCHITECTURES = {one.__name__: one for one in (align, altclip, groupvit, siglip2)}


def saved(architecture, folder):
    """The folder with the model, its processor and its tokenizer."""
    logging.disable_progress_bar()
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    torch.manual_seed(0)
    model, processor = ARCHITECTURES[architecture]()
    logging.set_verbosity(verbosity)
    for part in (model, processor, _letters() if architecture == "siglip2" else _words()):
        part.save_pretrained(folder)
    return folder


def _words():
    """The embedded model's vocabulary."""
    return transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(EMBEDDED / "tokenizer.json"), pad_token="<|endoftext|>", model_max_length=40
    )


def _letters():
    """A token per letter, in the class that SigLIP 2 is read with."""
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁", *string.printable]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    return transformers.Siglip2Tokenizer(
        vocab=vocabulary, merges=[], padding_side="right", model_input_names=["input_ids"]
    )


STAND_IN = '''
"""Stands in for open_clip in tests."""

import math

import numpy as np
import torch
from PIL import Image
from torch import nn

__version__ = "3.0.0"
KNOWN = {("EVA02-tiny", "random"), ("hf-hub:someone/EVA02-tiny", None)}


class CustomTextCLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.visual, self.token, self.text = nn.Linear(3 * 16 * 16, 24), nn.Embedding(256, 24), nn.Linear(24, 24)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(50)))
        self.context_length = 77

    def encode_image(self, image, normalize=False):
        return self.visual(image.flatten(1))

    def encode_text(self, text, normalize=False):
        return self.text((self.token(text) * (text > 0)[..., None]).sum(1))


class Tokenizer:
    context_length = 77

    def encode(self, text):
        return list(text.lower().encode())

    def __call__(self, texts, context_length=None):
        length = context_length or self.context_length
        result = torch.zeros(len(texts), length, dtype=torch.long)
        for row, text in enumerate(texts):
            tokens = [1, *self.encode(text), 2]
            if len(tokens) > length:
                tokens = [*tokens[: length - 1], 2]
            result[row, : len(tokens)] = torch.tensor(tokens)
        return result


class Transform:
    def __call__(self, image):
        pixels = np.array(image.convert("RGB").resize((16, 16), Image.Resampling.BICUBIC))
        return torch.from_numpy(pixels).permute(2, 0, 1) / 255 - 0.5

    def __repr__(self):
        return "Compose(Resize(16), ToTensor(), Normalize(0.5))"


def create_model_from_pretrained(model_name, pretrained=None, precision="fp32", return_transform=True, **_):
    if (model_name, pretrained) not in KNOWN:
        raise RuntimeError(f"{pretrained} is not a valid pretrained cfg or checkpoint for {model_name}.")
    torch.manual_seed(0)
    return CustomTextCLIP(), Transform()


def get_tokenizer(model_name=""):
    return Tokenizer()


def get_model_config(model_name):
    return {"embed_dim": 24}
'''


def stand_in_for_open_clip(folder):
    """A folder to put on sys.path."""
    (Path(folder) / "open_clip").mkdir(parents=True)
    (Path(folder) / "open_clip" / "__init__.py").write_text(STAND_IN)
    return folder


def copied(folder, to):
    return Path(shutil.copytree(folder, to))


def make_image(width=90, height=50, seed=0):
    """Noise."""
    noise = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(noise)


def make_images():
    """Six images of three classes."""
    rows = np.arange(6)
    return ImageSet("toy", "", ("cat", "dog", "lamp"), rows % 3, rows, "toy", lambda row: make_image(50 + row, 40, row))
