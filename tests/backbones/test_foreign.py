"""Encoders that transformers and open_clip run: equal to the library's own, and plain about what they lack."""

import json
import sys
from contextlib import suppress

import numpy as np
import pytest
import torch
import transformers
from foreign_models import copied, make_image, make_images
from safetensors.torch import load_file, save_file

from openworld import backbones
from openworld.backbones import published_files
from openworld.backbones.published_files import EMBEDDED
from openworld.core.errors import OpenworldError
from openworld.features import Encoding, encode

SENTENCES = ["a photo of an owl.", "a lamp"]


def embedded(clip, *images):
    prepared = torch.from_numpy(np.stack([clip.preprocess.prepare(one) for one in images]))
    return clip.encode_image(clip.preprocess.scale(prepared).to(clip.dtype))


def pooled(output):
    return getattr(output, "pooler_output", output)


def test_clip_run_by_transformers_equals_clip_run_here():
    ours, theirs = backbones.load("embedded"), backbones.load(f"transformers:{EMBEDDED}")
    # An odd number of pixels to crop is where the libraries' processors differ, by one pixel; 90 x 70 leaves 18.
    shown = make_image(90, 70)
    torch.testing.assert_close(embedded(theirs, shown), embedded(ours, shown), atol=1e-5, rtol=0)
    torch.testing.assert_close(theirs.encode_text(SENTENCES), ours.encode_text(SENTENCES), atol=1e-5, rtol=0)
    torch.testing.assert_close(theirs.logit_scale, ours.logit_scale)
    assert theirs.config.image.image_size == ours.config.image.image_size == 64


@pytest.mark.parametrize("architecture", ["align", "altclip", "groupvit", "siglip2"])
def test_features_are_those_of_the_library_called_by_hand(architecture, foreign_folder):
    folder = foreign_folder(architecture)
    clip = backbones.load(f"transformers:{folder}")
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    padding = {"padding": "max_length", "max_length": 64 if architecture == "siglip2" else 40}
    padding = padding if architecture in ("align", "siglip2") else {"padding": True}
    read = tokenizer(SENTENCES, return_tensors="pt", **padding)
    accepted = {key: value for key, value in read.items() if key in ("input_ids", "attention_mask")}
    with torch.no_grad():
        seen = pooled(model.get_image_features(**processor([make_image(), make_image(40, 80)], return_tensors="pt")))
        texts = pooled(model.get_text_features(**accepted))
    torch.testing.assert_close(embedded(clip, make_image(), make_image(40, 80)), seen, atol=1e-5, rtol=0)
    torch.testing.assert_close(clip.encode_text(SENTENCES), texts, atol=1e-5, rtol=0)


def test_the_embedded_images_in_half_precision_keep_the_scale_whole(foreign_folder):
    folder = foreign_folder("altclip")
    half = backbones.load(f"transformers:{folder}", dtype=torch.float16)
    assert half.dtype == torch.float16 and half.logit_scale.dtype == torch.float32
    assert half.logit_scale == backbones.load(f"transformers:{folder}").logit_scale


def test_patches_of_several_shapes_need_numbers_that_bfloat16_keeps(foreign_folder):
    with pytest.raises(OpenworldError, match="bfloat16.*float32"):
        backbones.load(f"transformers:{foreign_folder('siglip2')}", dtype=torch.bfloat16)


NEEDS = {
    "contexts": (lambda clip: clip.prompt_names(["owl"], 4), "text tower that takes learned contexts"),
    "width of the text tower": (lambda clip: clip.config.text.width, "text tower that takes learned contexts"),
    "blocks": (lambda clip: clip.config.image.layers, "image tower that takes learned rows"),
    "tower": (lambda clip: clip.image, "image tower that takes learned rows"),
    "rows": (lambda clip: clip.encode_image(torch.zeros(1, 3, 64, 64), prompts={}), "learned rows"),
    "patches": (lambda clip: clip.encode_patches(torch.zeros(1, 3, 64, 64)), "patch rows"),
}


@pytest.mark.parametrize("need", NEEDS)
def test_what_needs_a_tower_of_ours_is_refused_with_what_runs_instead(need):
    clip = backbones.load(f"transformers:{EMBEDDED}")
    ask, missing = NEEDS[need]
    with pytest.raises(OpenworldError, match=missing) as refusal:
        ask(clip)
    assert "zero-shot, zero-shot-ensemble" in str(refusal.value) and "list backbones" in str(refusal.value)


@pytest.mark.parametrize("kept", ["patches", "pixels"])
def test_patches_and_pixels_are_not_encoded(kept, tmp_path):
    clip = backbones.load(f"transformers:{EMBEDDED}")
    with pytest.raises(OpenworldError, match="lacks|pixels are not kept"):
        encode(clip, make_images(), Encoding(**{kept: True}), cache=tmp_path)


@pytest.mark.parametrize("package, name", [("transformers", "transformers:a/b"), ("open_clip", "open_clip:A/b")])
def test_a_library_that_is_not_there_is_named_with_its_extra(package, name, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(OpenworldError, match=f"needs the package {package}.*pip install"):
        backbones.load(name)


def test_weights_that_are_not_all_there_are_refused_not_drawn_at_random(foreign_folder, tmp_path):
    folder = copied(foreign_folder("altclip"), tmp_path / "torn")
    weights = load_file(folder / "model.safetensors")
    weights.pop("text_projection.weight")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(OpenworldError, match="lack 1 tensors.*text_projection"):
        backbones.load(f"transformers:{folder}")


@pytest.mark.parametrize("name", ["transformers:a/b", "open_clip:hf-hub:a/b"])
def test_of_revisions_that_the_hub_cache_holds_main_is_looked_into_alone(name, tmp_path, monkeypatch):
    monkeypatch.setattr(
        published_files, "cached_folders", lambda source, revision: [tmp_path / "main", tmp_path / "refs-pr-1"]
    )
    assert [found.folder for found in published_files.needed_files(name)] == [tmp_path / "main"]


def test_a_model_of_one_tower_is_refused(tmp_path):
    config = transformers.ViTConfig(
        hidden_size=24, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, image_size=32, patch_size=8
    )
    transformers.ViTModel(config).save_pretrained(tmp_path)
    with pytest.raises(OpenworldError, match="ViTModel.*get_image_features"):
        backbones.load(f"transformers:{tmp_path}")


@pytest.mark.parametrize("name", ["transformers:someone/not-here", "transformers:not-here"])
def test_what_transformers_cannot_load_is_told_in_a_sentence_with_where_to_look(name):
    with pytest.raises(OpenworldError, match="transformers cannot load.*openworld doctor"):
        backbones.load(name)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"auto_map": {"AutoModel": "own.Model", "AutoConfig": "own.Config"}, "model_type": "own"}),
        (
            "preprocessor_config.json",
            {"auto_map": {"AutoImageProcessor": "own.Own"}, "image_processor_type": "Own"},
        ),
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["own.Words", None]}, "tokenizer_class": "Words"}),
    ],
)
def test_code_that_comes_with_a_model_is_not_run(file, change, foreign_folder, tmp_path):
    folder = copied(foreign_folder("altclip"), tmp_path / "code")
    said = json.loads((folder / file).read_text()) if (folder / file).exists() else {}
    (folder / file).write_text(json.dumps(said | change))
    (folder / "own.py").write_text("raise SystemExit('was run')")
    with suppress(OpenworldError):  # a class of the library serves where there is one
        backbones.load(f"transformers:{folder}")
        assert file != "config.json"


def test_open_clip_draws_no_weights_at_random(open_clip):
    with pytest.raises(OpenworldError, match="names no weights.*list_pretrained"):
        backbones.load("open_clip:EVA02-tiny")


def test_open_clip_is_asked_for_model_and_weights(open_clip):
    with pytest.raises(OpenworldError, match="open_clip cannot load.*not a valid pretrained"):
        backbones.load("open_clip:EVA02-tiny/other")
    hub = backbones.load("open_clip:hf-hub:someone/EVA02-tiny")
    assert hub.architecture == "hf-hub:someone/EVA02-tiny of open_clip 3.0.0"


def test_open_clip_gives_its_own_features(open_clip):
    clip = backbones.load("open_clip:EVA02-tiny/random")
    import open_clip as library

    model, transform = library.create_model_from_pretrained("EVA02-tiny", "random")
    with torch.no_grad():
        torch.testing.assert_close(embedded(clip, make_image()), model.encode_image(transform(make_image())[None]))
        tokens = library.get_tokenizer("EVA02-tiny")(SENTENCES)
        torch.testing.assert_close(clip.encode_text(SENTENCES), model.encode_text(tokens))
    assert clip.logit_scale.item() == pytest.approx(50)
