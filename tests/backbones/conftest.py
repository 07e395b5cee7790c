"""Small random checkpoints as transformers and open_clip would publish them, and the models that wrote them."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import torch
import transformers

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))
sys.path.insert(0, str(Path(__file__).parent))

import tiny_clip as tiny  # noqa: E402
from hub_stand_in import Hub  # noqa: E402
from small_models import IMAGE, TEXT, VOCABULARY, randomise  # noqa: E402

CLIP_PREPROCESSING = {
    "crop_size": {"height": 16, "width": 16},
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
    "resample": 3,
    "size": {"shortest_edge": 16},
}
SIGLIP_PREPROCESSING = {
    "image_mean": [0.5] * 3,
    "image_std": [0.5] * 3,
    "resample": 3,
    "size": {"height": 16, "width": 16},
}


def save(model, folder, preprocessing):
    model.float().save_pretrained(folder)
    model.double()
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessing))
    shutil.copy(VOCABULARY, folder / "tokenizer.json")
    return model


@pytest.fixture(scope="session")
def tiny_clip():
    """The seeded tiny CLIP of the reference numbers, in float64."""
    return tiny.tiny_clip(torch.float64)


@pytest.fixture(scope="session")
def clip_checkpoint(tmp_path_factory):
    """(folder, CLIPModel in float64): 4 text heads of 8, 3 image heads of 16, joint dimension 24."""
    folder = tmp_path_factory.mktemp("clip")
    config = transformers.CLIPConfig(
        text_config={**TEXT, "eos_token_id": 49407}, vision_config={**IMAGE, "hidden_size": 48}, projection_dim=24
    )
    torch.manual_seed(0)
    return folder, save(randomise(transformers.CLIPModel(config)), folder, CLIP_PREPROCESSING)


@pytest.fixture(scope="session")
def siglip_checkpoint(tmp_path_factory):
    """(folder, SiglipModel in float64): 16 text positions, joint dimension 48."""
    folder = tmp_path_factory.mktemp("siglip")
    config = transformers.SiglipConfig(
        text_config={**TEXT, "vocab_size": 49408, "max_position_embeddings": 16, "projection_size": 48},
        vision_config={**IMAGE, "hidden_size": 48},
    )
    torch.manual_seed(0)
    return folder, save(randomise(transformers.SiglipModel(config)), folder, SIGLIP_PREPROCESSING)


@pytest.fixture
def hub(copy_of_clip, tmp_path, monkeypatch):
    """The small CLIP as a repository of a hub, and a home in which nothing is cached."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Hub(copy_of_clip, tmp_path / "hub").stand_in(monkeypatch)


@pytest.fixture
def copy_of_clip(clip_checkpoint, tmp_path):
    """A folder of the small CLIP that a test may damage."""
    return Path(shutil.copytree(clip_checkpoint[0], tmp_path / "clip"))
