"""One model under every name that papers, OpenAI and open_clip give it."""

import pytest

from openworld.backbones import known_name, load
from openworld.core.errors import OpenworldError

BASE = "openai/clip-vit-base-patch16"


LARGE = "openai/clip-vit-large-patch14-336"
SAME = [
    *((name, BASE) for name in ("ViT-B/16", "ViT-B-16/openai", "ViT-B-16:openai", "ViT-B-16-quickgelu/openai", BASE)),
    *((name, BASE) for name in ("ViT-B-16/OpenAI", f"hf-hub:{BASE}")),
    *((name, LARGE) for name in ("ViT-L/14@336px", "ViT-L-14-336/openai")),  # its size in pixels is no revision
    ("ViT-B-16/laion2b-s34b-b88k", "laion/CLIP-ViT-B-16-laion2B-s34B-b88K"),
    *((name, name) for name in ("embedded", "someone/model", "someone/model@main", "/a/folder", "RN50/openai")),
    ("ViT-B-16-quickgelu/laion2b_s34b_b88k", "ViT-B-16-quickgelu/laion2b_s34b_b88k"),  # weights without QuickGELU
]


@pytest.mark.parametrize(("name", "model"), SAME)
def test_the_same_model(name, model):
    assert known_name(name) == model


@pytest.mark.parametrize("name", ["RN50/openai", "EVA02-B-16/merged2b_s8b_b131k", "MobileCLIP-S2:datacompdr"])
def test_models_of_open_clip_whose_towers_are_not_ours_are_sent_to_it(name):
    with pytest.raises(OpenworldError, match=f"open_clip:{name.replace(':', '/')}"):
        load(name)


def test_an_unknown_tag_of_open_clip_lists_those_of_its_architecture():
    with pytest.raises(OpenworldError, match="weights of ViT-B-16 'laion2b_s34b'; did you mean 'laion2b_s34b_b88k'"):
        load("ViT-B-16/laion2b_s34b")


def test_a_folder_of_a_known_name_comes_first(tmp_path, monkeypatch):
    (tmp_path / "ViT-B" / "16").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert known_name("ViT-B/16") == "ViT-B/16"
