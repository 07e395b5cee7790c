"""The diffusion painter: what it asks of a pipeline (a stand-in), and a real, tiny one of random weights."""

import contextlib
import io
import json
import shutil
import sys
import types
import warnings

import numpy as np
import pytest
import torch
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.shifts.synthesis import DiffusionPainter, generate, sdxl_turbo
from openworld.shifts.synthesis.diffusion import fitting_batch


class StandIn:
    """Paints the first numbers of each generator, as a pipeline does with its latents."""

    dtype = torch.float32

    def __init__(self):
        self.asked = []

    def __call__(self, **asked):
        self.asked.append(asked)
        shape = (asked["height"], asked["width"], 3)
        noise = [torch.rand(shape, generator=one).numpy() for one in asked["generator"]]
        return types.SimpleNamespace(images=[Image.fromarray((one * 255).astype(np.uint8)) for one in noise])


def test_the_pipeline_is_asked_for_what_was_ordered(plan):
    pipeline = StandIn()
    orders = [plan.commission(number) for number in range(3)]
    images = DiffusionPainter(pipeline, "mine", side=16, steps=2).paint(orders)
    asked = pipeline.asked[0]
    assert [image.size for image in images] == [(16, 16)] * 3
    assert asked["prompt"] == [order.text for order in orders]
    assert [one.initial_seed() for one in asked["generator"]] == [order.seed for order in orders]
    assert (asked["num_inference_steps"], asked["guidance_scale"], asked["negative_prompt"]) == (2, 0.0, None)
    guided = DiffusionPainter(pipeline, "mine", side=16, guidance=2.0)
    guided.paint(orders)
    assert pipeline.asked[1]["negative_prompt"] == [order.negative for order in orders]
    about = {"name": "StandIn", "weights": "mine", "side": 16, "steps": 4, "guidance": 2.0, "dtype": "torch.float32"}
    assert guided.about == about
    for wrong in ({"side": 0}, {"steps": 0}, {"guidance": -1.0}):
        with pytest.raises(OpenworldError, match="expected"):
            DiffusionPainter(pipeline, "mine", **wrong)


def test_diffusers_is_asked_for_where_it_is_needed_with_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "diffusers", None)
    with pytest.raises(OpenworldError, match=r"pip install 'openworld\[synth\]'"):
        sdxl_turbo(device="cpu")
    with pytest.raises(OpenworldError, match="there is no such folder. Expected"):
        sdxl_turbo(str(tmp_path / "missing"), device="cpu")


@pytest.fixture(scope="module")
def diffusers():
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")  # what other people's packages say of one another while they load
        return pytest.importorskip("diffusers", exc_type=ImportError)


@pytest.fixture(scope="module")
def weights(diffusers, tmp_path_factory):
    """A whole SDXL pipeline of random weights, saved as the published one is."""
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

    folder = tmp_path_factory.mktemp("tiny")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        text = CLIPTextConfig(
            vocab_size=520, hidden_size=32, intermediate_size=37, num_attention_heads=4, num_hidden_layers=2,
            projection_dim=32, bos_token_id=512, eos_token_id=513, pad_token_id=1,
        )  # fmt: skip
        unet = diffusers.UNet2DConditionModel(
            sample_size=8, block_out_channels=(8, 16), layers_per_block=1, norm_num_groups=4,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            attention_head_dim=(2, 4), use_linear_projection=True, addition_embed_type="text_time",
            addition_time_embed_dim=8, transformer_layers_per_block=(1, 1), projection_class_embeddings_input_dim=80,
            cross_attention_dim=64,
        )  # fmt: skip
        vae = diffusers.AutoencoderKL(
            block_out_channels=(8, 8), down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2, norm_num_groups=4, latent_channels=4, sample_size=32,
        )  # fmt: skip
        pipeline = diffusers.StableDiffusionXLPipeline(
            vae=vae, text_encoder=CLIPTextModel(text), text_encoder_2=CLIPTextModelWithProjection(text),
            tokenizer=tokenizer(folder), tokenizer_2=tokenizer(folder), unet=unet,
            scheduler=diffusers.EulerAncestralDiscreteScheduler(timestep_spacing="trailing"), add_watermarker=False,
        )  # fmt: skip
        pipeline.save_pretrained(folder / "pipeline", safe_serialization=True)
    return str(folder / "pipeline")


def tokenizer(folder):
    """CLIP's, of single bytes."""
    from transformers import CLIPTokenizer
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    letters = list(bytes_to_unicode().values())
    words = [*letters, *(letter + "</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({word: place for place, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return CLIPTokenizer.from_pretrained(folder, model_max_length=77)


@pytest.fixture(scope="module")
def tiny(weights):
    """The painter as a user gets it: from a folder of weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sdxl_turbo(weights, device="cpu", side=32, steps=2)


def pixels(image):
    return np.asarray(image, int)


@pytest.mark.filterwarnings("ignore")
def test_a_real_pipeline_paints_the_same_in_every_batch(tiny, plan, tmp_path):
    assert tiny.about["name"] == "StableDiffusionXLPipeline" and tiny.about["dtype"] == "torch.float32"
    found = generate(plan, tiny, tmp_path / "set", batch=5)
    assert found.images.image(0).size == (32, 32)
    alone = tiny.paint([plan.commission(7)])[0]
    there = pixels(found.images.image(7))
    assert abs(pixels(alone) - there).max() <= 1
    assert abs(pixels(found.images.image(8)) - there).max() > 8


@pytest.mark.filterwarnings("ignore")
def test_memory_is_asked_on_a_gpu_and_the_batch_follows(tiny, monkeypatch):
    """Where CUDA is not, its answers are made up: one image takes 1 GB, and 10 GB are free."""
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda device: None)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 2 * 10**9)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: 3 * 10**9)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (10**10, 10**11))
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    pipeline = StandIn()
    pipeline.device = "cuda"
    assert DiffusionPainter(pipeline, "mine", side=16).fitting() == 8
    assert len(pipeline.asked) == 1
    assert tiny.fitting() == DiffusionPainter(StandIn(), "mine", side=16).fitting() == 1  # no GPU
    assert fitting_batch(80 * 2**30, 2**30) == 64 and fitting_batch(0, 2**30) == 1


@pytest.mark.filterwarnings("ignore")
def test_other_weights_have_another_name(weights, tiny, tmp_path):
    assert tiny.about["weights"].startswith("pipeline@") and len(tiny.about["weights"]) == len("pipeline@") + 16
    again = shutil.copytree(weights, tmp_path / "pipeline")
    assert sdxl_turbo(str(again), device="cpu").about["weights"] == tiny.about["weights"]
    settings = again / "scheduler" / "scheduler_config.json"
    settings.write_text(settings.read_text().replace("trailing", "leading"))
    assert sdxl_turbo(str(again), device="cpu").about["weights"] != tiny.about["weights"]


@pytest.mark.filterwarnings("ignore")
def test_a_repository_that_was_fetched_is_named_by_its_commit(weights, plan, tiny, tmp_path, monkeypatch):
    commit = "0123456789abcdef0123456789abcdef01234567"
    kept = tmp_path / "models--me--tiny"
    shutil.copytree(weights, kept / "snapshots" / commit)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("diffusers.pipelines.pipeline_utils.HF_HUB_CACHE", str(tmp_path), raising=False)
    found = sdxl_turbo("me/tiny", device="cpu", download=False, side=32, steps=2)
    assert found.about["weights"] == f"me/tiny@{commit}"
    assert np.array_equal(pixels(found.paint([plan.commission(0)])[0]), pixels(tiny.paint([plan.commission(0)])[0]))


@pytest.mark.filterwarnings("ignore")
def test_what_is_no_pipeline_is_refused_in_a_sentence(weights, tmp_path):
    for name, spoil in (
        ("no index", lambda folder: (folder / "model_index.json").unlink()),
        ("damaged", lambda folder: next((folder / "unet").glob("*.safetensors")).write_bytes(b"no tensors")),
        ("me/no-such-repository", None),
    ):
        place = name if spoil is None else shutil.copytree(weights, tmp_path / name)
        if spoil is not None:
            spoil(place)
        with pytest.raises(OpenworldError, match=f"{name} cannot be loaded as a .* pipeline: .* Expected") as refusal:
            sdxl_turbo(str(place), device="cpu", download=False)
        assert "\n" not in str(refusal.value)


def test_a_pipeline_brings_no_code(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "diffusers", None)  # refused before anything is loaded
    monkeypatch.syspath_prepend(tmp_path)
    code = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    (tmp_path / "planted_marker.py").write_text(code)
    for name, index in (
        ("module", {"_class_name": "StableDiffusionPipeline", "unet": ["planted_marker", "go"]}),
        ("file", {"_class_name": ["marker", "Pipe"]}),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model_index.json").write_text(json.dumps(index))
        if name == "file":
            (tmp_path / name / "marker.py").write_text(code)
        with pytest.raises(OpenworldError, match="names code"):
            sdxl_turbo(str(tmp_path / name), device="cpu")
    assert not (tmp_path / "ran").exists()
