"""One model under every name that papers, OpenAI and open_clip give it."""

import pytest

from openworld.backbones import BACKBONES, SHORT_NAMES, known_name, load
from openworld.backbones.names import OPEN_CLIP_NAMES
from openworld.core.errors import OpenworldError

BASE = "openai/clip-vit-base-patch16"


@pytest.mark.parametrize(
    "name",
    [
        "ViT-B/16",
        "ViT-B-16/openai",
        "ViT-B-16:openai",
        "ViT-B-16-quickgelu/openai",
        "ViT-B-16/OpenAI",
        f"hf-hub:{BASE}",
        BASE,
    ],
)
def test_the_same_model(name):
    assert known_name(name) == BASE


@pytest.mark.parametrize("name", ["embedded", "someone/model", "someone/model@main", "/a/folder", "RN50/openai"])
def test_other_names_stay_as_they_are(name):
    assert known_name(name) == name


def test_the_name_with_its_size_in_pixels_is_no_revision():
    assert known_name("ViT-L/14@336px") == known_name("ViT-L-14-336/openai") == "openai/clip-vit-large-patch14-336"


def test_tags_are_read_as_open_clip_reads_them():
    assert known_name("ViT-B-16/laion2b-s34b-b88k") == "laion/CLIP-ViT-B-16-laion2B-s34B-b88K"


def test_a_quickgelu_variant_of_weights_without_it_is_not_known():
    assert known_name("ViT-B-16-quickgelu/laion2b_s34b_b88k") == "ViT-B-16-quickgelu/laion2b_s34b_b88k"


def test_every_name_stands_for_a_repository():
    named = [source for tags in OPEN_CLIP_NAMES.values() for source in tags.values()] + list(SHORT_NAMES.values())
    assert all(source.count("/") == 1 for source in named)
    assert set(SHORT_NAMES.values()) <= set(BACKBONES)


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
