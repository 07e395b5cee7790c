"""Checkpoints in every layout, from a folder and from the hub; and refusal of those that are not what they seem."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from openworld import backbones
from openworld.backbones.layouts import export_state
from openworld.core.errors import OpenworldError


@pytest.fixture
def open_clip_folder(clip_checkpoint, tmp_path):
    """The small CLIP as open_clip would save it."""
    folder = tmp_path / "open_clip"
    folder.mkdir()
    save_file(export_state(backbones.load(clip_checkpoint[0]), "openai"), folder / "open_clip_model.safetensors")
    shutil.copy(clip_checkpoint[0] / "tokenizer.json", folder)
    vision = {"image_size": 16, "layers": 2, "width": 48, "head_width": 16, "patch_size": 4, "mlp_ratio": 80 / 48}
    text = {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 4, "layers": 3, "mlp_ratio": 1.5}
    settings = {
        "model_cfg": {"embed_dim": 24, "quick_gelu": True, "vision_cfg": vision, "text_cfg": text},
        "preprocess_cfg": {
            "mean": [0.48145466, 0.4578275, 0.40821073],
            "std": [0.26862954, 0.26130258, 0.27577711],
            "interpolation": "bicubic",
            "resize_mode": "shortest",
        },
    }
    (folder / "open_clip_config.json").write_text(json.dumps(settings))
    return folder


def edit_open_clip(folder, part=None, **settings):
    """Settings of the model, or of one tower, put over those of open_clip's file; None takes one out."""
    path = folder / "open_clip_config.json"
    whole = json.loads(path.read_text())
    place = whole["model_cfg"][part] if part else whole["model_cfg"]
    place.update(settings)
    path.write_text(json.dumps(whole))


@pytest.mark.parametrize("fixture", ["clip_checkpoint", "siglip_checkpoint"])
def test_export_is_the_inverse_of_loading(fixture, request):
    folder, oracle = request.getfixturevalue(fixture)
    model = backbones.load(folder)
    layout = "hugging_face" if model.config.family == "clip" else "hugging_face_siglip"
    exported = export_state(model, layout)
    published = load_file(folder / "model.safetensors")
    assert set(exported) == set(published)
    assert all(torch.equal(exported[name].flatten(), published[name].flatten()) for name in exported)


def test_a_loaded_model_is_frozen_in_evaluation_mode_and_named_and_no_random_number_is_drawn(clip_checkpoint):
    state = torch.get_rng_state()
    model = backbones.load(clip_checkpoint[0])
    assert torch.equal(torch.get_rng_state(), state)
    assert not model.training and not any(parameter.requires_grad for parameter in model.parameters())
    assert model.name == str(clip_checkpoint[0]) and model.dtype == torch.float32 and model.device.type == "cpu"


@pytest.mark.parametrize(
    ("part", "setting"),
    [
        ("vision_cfg", {"timm_model_name": "convnext_base"}),
        ("vision_cfg", {"no_ln_pre": True}),
        ("vision_cfg", {"pool_type": "avg"}),
        ("vision_cfg", {"ls_init_value": 0.1}),
        ("vision_cfg", {"attentional_pool": True}),
        ("text_cfg", {"no_causal_mask": True}),
        ("text_cfg", {"hf_tokenizer_name": "bert-base-uncased"}),
        ("text_cfg", {"tokenizer_kwargs": {"clean": "canonicalize"}}),
        ("text_cfg", {"norm_kwargs": {"bias": False}}),
        (None, {"multimodal_cfg": {"width": 8}}),
        (None, {"init_logit_bias": -10}),
        (None, {"never_heard_of": 1}),
    ],
)
def test_what_our_towers_would_leave_out_of_open_clips_is_refused(open_clip_folder, part, setting):
    edit_open_clip(open_clip_folder, part, **setting)
    with pytest.raises(OpenworldError, match=r"of another make.*transformers:REPOSITORY or open_clip:"):
        backbones.load(open_clip_folder)


def test_open_clip_settings_that_change_nothing_are_read_over(open_clip_folder, clip_checkpoint):
    vision = {"ls_init_value": None, "patch_dropout": 0.5, "pool_type": "tok"}
    edit_open_clip(open_clip_folder, "vision_cfg", **vision)
    text = {"pool_type": "argmax", "hf_model_name": None, "norm_kwargs": {"eps": 1e-5}}
    edit_open_clip(open_clip_folder, "text_cfg", **text)
    ours, theirs = backbones.load(open_clip_folder), backbones.load(clip_checkpoint[0])
    pixels = torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(1))
    assert torch.equal(ours.encode_image(pixels), theirs.encode_image(pixels)) and ours.preprocess == theirs.preprocess
    assert torch.equal(ours.encode_text(["a photo of an owl."]), theirs.encode_text(["a photo of an owl."]))


class Bomb:
    """Runs something of the system when it is unpickled by whoever trusts it."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def test_nothing_of_pickled_code_is_run(copy_of_clip, tmp_path):
    torch.save({"weights": Bomb(tmp_path / "ran")}, copy_of_clip / "pytorch_model.bin")
    (copy_of_clip / "model.safetensors").unlink()
    with pytest.raises(OpenworldError, match="pytorch_model.bin is not a weights-only PyTorch file"):
        backbones.load(copy_of_clip)
    assert not (tmp_path / "ran").exists()


def test_an_unknown_name_gets_the_nearest_spelling():
    with pytest.raises(OpenworldError, match="'embeded'; did you mean 'embedded'"):
        backbones.load("embeded")
    with pytest.raises(OpenworldError, match="unknown backbone"):
        backbones.load("/no/such/folder")


WEIGHTS, SHARDS = "model.safetensors", [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
NORM, KEYS = "text_model.final_layer_norm.bias", "text_model.encoder.layers.1.self_attn.k_proj.weight"
WRONG_SHAPE = r"visual_projection.weight has shape \[7, 48\].*\[24, 48\]"
TIMM = {"model_type": None, "architecture": "vit_base_patch16_clip_224"}


def said(file, **changes):
    """Put settings over those of a file; those of a tower over its own."""

    def damage(folder):
        settings = json.loads((folder / file).read_text())
        settings["text_config"] = settings.get("text_config", {}) | changes.pop("text", {})
        (folder / file).write_text(json.dumps(settings | changes))

    return damage


def indexed(index):
    """Weights behind an index that says so."""

    def damage(folder):
        (folder / WEIGHTS).rename(folder / SHARDS[0])
        (folder / f"{WEIGHTS}.index.json").write_text(index)

    return damage


def pickled(held):
    def damage(folder):
        (folder / WEIGHTS).unlink()
        torch.save(held, folder / "pytorch_model.bin")

    return damage


def weights(change):
    def damage(folder):
        tensors = load_file(folder / WEIGHTS)
        change(tensors)
        save_file(tensors, folder / WEIGHTS)

    return damage


def written(content):
    return lambda folder: (folder / WEIGHTS).write_bytes(
        (folder / WEIGHTS).read_bytes()[:-100] if content is None else content
    )


DAMAGED = [
    (lambda folder: (folder / WEIGHTS).unlink(), "a whole checkpoint"),
    (indexed(json.dumps({"weight_map": dict(zip("ab", SHARDS, strict=True))})), f"not beside it: {SHARDS[1]}"),
    *((indexed(index), "model.safetensors.index.json")
      for index in ("{", '{"weight_map": {}}', '{"weight_map": {"a": "../x"}}', "7")),
    *((pickled(held), "holds no tensors by name")
      for held in ({"step": 3}, [torch.zeros(2)], {"state_dict": {"a": "text"}})),
    *((written(content), "model.safetensors is not a complete safetensors file")
      for content in (b"", b"version https://git-lfs.github.com/spec/v1", None)),
    (weights(lambda held: held.pop(NORM)), f"lacks the weights {NORM}"),
    (weights(lambda held: held.update(extra=torch.zeros(1))), "beyond what its configuration .*, the weights extra"),
    (weights(lambda held: held.update({"visual_projection.weight": torch.zeros(7, 48)})), WRONG_SHAPE),
    *((weights(lambda held, end=end: held[KEYS][3].fill_(float(end))), f"{KEYS} holds NaN or infinite")
      for end in ("nan", "inf")),
    (said("config.json", model_type="blip"), "model of type 'blip'"),
    (said("config.json", model_type="siglip2"), "type 'siglip2'.*transformers:REPOSITORY"),
    (said("config.json", **TIMM), "timm's 'vit_base_patch16_clip_224', an image tower alone"),
    (said("config.json", vision_config={"hidden_act": "relu"}), "activation 'relu'"),
    (said("config.json", vision_config={"num_channels": 1}), "without RGB"),
    (said("config.json", text={"num_attention_heads": 5}), "not a multiple of its 5 heads"),
    (said("config.json", vision_config={"image_size": 3, "patch_size": 4}), "3 pixels does not hold a patch of 4"),
    (said("config.json", text={"eos_token_id": 5}), "the files are not of one model"),
    (said("preprocessor_config.json", crop_size=24), "images of 24 pixels for a model of 16"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "words"), DAMAGED)
def test_a_checkpoint_that_is_not_what_it_seems_is_refused(copy_of_clip, damage, words):
    damage(copy_of_clip)
    with pytest.raises(OpenworldError, match=words):
        backbones.load(copy_of_clip)


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "preprocessor_config.json"])
def test_missing_and_damaged_companion_files_are_named(copy_of_clip, file):
    (copy_of_clip / file).write_text('{"cut off')
    with pytest.raises(OpenworldError, match=file.split(".")[0]):
        backbones.load(copy_of_clip)
    (copy_of_clip / file).unlink()
    with pytest.raises(OpenworldError, match=file):
        backbones.load(copy_of_clip)


def test_siglip_vocabulary_as_spiece_only(siglip_checkpoint, tmp_path):
    folder = Path(shutil.copytree(siglip_checkpoint[0], tmp_path / "siglip"))
    (folder / "tokenizer.json").rename(folder / "spiece.model")
    with pytest.raises(OpenworldError, match="only as spiece.model; convert"):
        backbones.load(folder)


SIZES = {"image_size": 16, "patch_size": 4}
PREPARED = {"size": 16, "image_mean": [0, 0, 0], "image_std": [1, 1, 1]}
ABSURD = [
    *((file, "[]", "does not describe a model") for file in ("config.json", "preprocessor_config.json")),
    *((file, "[" * 100_000 + "]" * 100_000, "not JSON") for file in ("config.json", "preprocessor_config.json")),
    ("config.json", {"projection_dim": 1.5}, "joint_dimension: 1.5 came"),
    ("config.json", {"text_config": "x"}, "does not describe a model"),
    ("config.json", {"vision_config": SIZES | {"patch_size": 0}}, "image tower: patch_size is 0"),
    ("config.json", {"text_config": SIZES | {"num_hidden_layers": 10**9}}, "text tower: layers is 1000000000"),
    ("config.json", {"vision_config": SIZES | {"num_hidden_layers": 1000}}, "not of one model"),
    ("config.json", {"vision_config": SIZES | {"intermediate_size": 2**23}}, "not of one model"),
    ("config.json", {"vision_config": SIZES | {"layer_norm_eps": float("nan")}}, "norm_epsilon: nan came"),
    ("config.json", {"vision_config": SIZES | {"hidden_act": ["gelu"]}}, "does not describe a model"),
    ("preprocessor_config.json", {}, "size"),
    ("preprocessor_config.json", PREPARED | {"image_mean": None}, "does not describe a model"),
    ("preprocessor_config.json", PREPARED | {"image_mean": [float("nan"), 0, 0]}, r"mean\[0\]: nan came"),
    ("preprocessor_config.json", PREPARED | {"image_std": [0, 1, 1]}, r"std\[0\] is 0.0, expected a number above 0"),
    ("preprocessor_config.json", PREPARED | {"size": 0}, "resize is 0"),
    ("preprocessor_config.json", PREPARED | {"size": "large"}, "does not describe a model"),
]


@pytest.mark.parametrize(("file", "content", "said"), ABSURD, ids=range(len(ABSURD)))
def test_a_description_that_makes_no_sense_is_a_sentence_that_names_its_file(copy_of_clip, file, content, said):
    if isinstance(content, dict):
        kind = {"model_type": "clip"} if file == "config.json" else {}
        content = json.dumps(kind | content)
    (copy_of_clip / file).write_text(content)
    with pytest.raises(OpenworldError, match=said) as refusal:
        backbones.load(copy_of_clip)
    assert file in str(refusal.value) or "model.safetensors" in str(refusal.value)
