"""Small random checkpoints in the file sets that are published, each with the model that wrote it.

A layout is a function that writes a folder and returns the reference: features of images and of sentences by
transformers, or by the plain form of OpenAI's model. Names of files, and what is odd about their content, are those of
the repositories named.
"""

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import torch
import transformers
from PIL import Image
from plain_clip import PlainClip
from safetensors.torch import save_file
from small_models import IMAGE, TEXT, VOCABULARY, randomise
from tokenizers import Tokenizer as Engine
from tokenizers.models import BPE, Unigram

SENTENCES = ["a photo of an owl.", "Two  dogs' hats, in the rain"]
EXAMPLE = Image.effect_noise((40, 24), 90).convert("RGB")
EXAMPLE.paste((250, 20, 90), (5, 3, 22, 17))
OPENAI_MEAN, OPENAI_STD = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]
CLIP_IMAGES = {"size": 16, "crop_size": 16, "image_mean": OPENAI_MEAN, "image_std": OPENAI_STD, "resample": 3}
OLD_IMAGES = {"do_center_crop": True, "do_normalize": True, "do_resize": True} | {
    "feature_extractor_type": "CLIPFeatureExtractor",
    **CLIP_IMAGES,
}


@dataclass(frozen=True)
class Reference:
    """Features of EXAMPLE and of SENTENCES as the model gives them that wrote the checkpoint."""

    image: torch.Tensor
    text: torch.Tensor


def write_json(folder: Path, name: str, content: dict) -> None:
    (folder / name).write_text(json.dumps(content, indent=2))


def write_clip_tokenizer(folder: Path, *names: str) -> None:
    """CLIP's tokenizer in the files named; others of transformers are written, but hold nothing that is needed."""
    model = json.loads(VOCABULARY.read_text())["model"]
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    contents = {
        "tokenizer.json": VOCABULARY.read_text(),
        "vocab.json": json.dumps(model["vocab"]),
        "merges.txt": "\n".join(["#version: 0.2", *merges]) + "\n",
        "tokenizer_config.json": json.dumps({"tokenizer_class": "CLIPTokenizer", "model_max_length": 77}),
        "special_tokens_map.json": json.dumps({"pad_token": "<|endoftext|>"}),
    }
    for name in names:
        (folder / name).write_text(contents[name])


ALL_TOKENS = ("tokenizer.json", "vocab.json", "merges.txt", "tokenizer_config.json", "special_tokens_map.json")


def clip_tokens() -> torch.Tensor:
    """SENTENCES as CLIP reads them, by transformers, padded with zeros to 77 as OpenAI pads."""
    engine = Engine.from_file(str(VOCABULARY))
    rows = torch.zeros(len(SENTENCES), 77, dtype=torch.int64)
    for row, sentence in zip(rows, SENTENCES, strict=True):
        ids = engine.encode(sentence).ids
        row[: len(ids)] = torch.tensor(ids)
    return rows


def clip_pixels() -> torch.Tensor:
    processor = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16}, resample=3
    )
    return torch.from_numpy(processor(EXAMPLE, return_tensors="np")["pixel_values"])


# Hugging Face's layout


def clip_model(activation: str = "quick_gelu") -> transformers.CLIPModel:
    config = transformers.CLIPConfig(
        text_config={**TEXT, "eos_token_id": 49407, "hidden_act": activation},
        vision_config={**IMAGE, "hidden_size": 48, "hidden_act": activation},
        projection_dim=24,
    )
    return randomise(transformers.CLIPModel(config)).float()


def published_config(activation: str = "quick_gelu", twice: bool = False) -> dict:
    """config.json as OpenAI's repositories hold it: end token 2, defaults left out, sizes repeated in old ones."""
    text = {**TEXT, "bos_token_id": 0, "eos_token_id": 2, "model_type": "clip_text_model", "hidden_act": activation}
    image = {**IMAGE, "hidden_size": 48, "model_type": "clip_vision_model", "hidden_act": activation}
    older = {"text_config_dict": dict(text), "vision_config_dict": dict(image)} if twice else {}
    stated = ({}, {}) if twice else (text, image)
    return {
        "architectures": ["CLIPModel"],
        "model_type": "clip",
        "projection_dim": 24,
        "logit_scale_init_value": 2.6592,
        "torch_dtype": "float32",
        "text_config": stated[0],
        "vision_config": stated[1],
        "text_config_dict": None,
        "vision_config_dict": None,
        **older,
    }


def clip_reference(model: transformers.CLIPModel) -> Reference:
    return _of_transformers(model, clip_pixels(), clip_tokens())


def _of_transformers(model, pixels: torch.Tensor, tokens: torch.Tensor) -> Reference:
    with torch.no_grad():
        found = model(input_ids=tokens, pixel_values=pixels.to(next(model.parameters()).dtype))
    # What `forward` returns is normalised, as what is compared with it will be.
    return Reference(found.image_embeds, found.text_embeds)


def state_of(model, *, half: bool = False) -> dict[str, torch.Tensor]:
    """The tensors as published: buffers of positions among them, numbers perhaps in half precision."""
    state = {name: (tensor.half() if half else tensor).contiguous() for name, tensor in model.state_dict().items()}
    if hasattr(model, "text_model"):
        state["text_model.embeddings.position_ids"] = torch.arange(model.config.text_config.max_position_embeddings)[
            None
        ]
        state["vision_model.embeddings.position_ids"] = torch.arange(17)[None]
    return state


def openai_main(folder: Path) -> Reference:
    """openai/clip-vit-base-patch16, main: weights as pytorch_model.bin alone."""
    model = clip_model()
    write_json(folder, "config.json", published_config())
    write_json(folder, "preprocessor_config.json", OLD_IMAGES)
    write_clip_tokenizer(folder, *ALL_TOKENS)
    torch.save(state_of(model), folder / "pytorch_model.bin")
    return clip_reference(model)


def old_pickle(folder: Path) -> Reference:
    """A .bin written before PyTorch 1.6, which is no zip."""
    reference = openai_main(folder)
    state = torch.load(folder / "pytorch_model.bin", weights_only=True)
    torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    return reference


def sharded(folder: Path, stem: str, ending: str, save: Callable) -> Reference:
    """laion/CLIP-ViT-bigG-14: weights in parts, behind an index."""
    reference = openai_main(folder)
    state = torch.load(folder / "pytorch_model.bin", weights_only=True)
    (folder / "pytorch_model.bin").unlink()
    names = sorted(state)
    shards = {f"{stem}-{number:05d}-of-00002.{ending}": names[number - 1 :: 2] for number in (1, 2)}
    for file, held in shards.items():
        save({name: state[name] for name in held}, folder / file)
    weight_map = {name: file for file, held in shards.items() for name in held}
    write_json(folder, f"{stem}.{ending}.index.json", {"metadata": {"total_size": 1}, "weight_map": weight_map})
    return reference


def new_processor(folder: Path) -> Reference:
    """What transformers 5 saves: the preparation of images inside processor_config.json, no vocab.json."""
    model = clip_model()
    model.save_pretrained(folder)
    images = {
        **CLIP_IMAGES,
        "image_processor_type": "CLIPImageProcessor",
        "size": {"shortest_edge": 16},
        "crop_size": {"height": 16, "width": 16},
        "do_resize": True,
        "do_rescale": True,
        "do_normalize": True,
        "do_center_crop": True,
    }
    write_json(folder, "processor_config.json", {"image_processor": images, "processor_class": "CLIPProcessor"})
    write_clip_tokenizer(folder, "tokenizer.json", "tokenizer_config.json")
    return clip_reference(model)


def half_precision(folder: Path) -> Reference:
    """Weights in half precision, vocabulary as vocab.json and merges.txt alone."""
    model = clip_model().half().float()
    write_json(folder, "config.json", published_config() | {"torch_dtype": "float16"})
    write_json(folder, "preprocessor_config.json", OLD_IMAGES)
    write_clip_tokenizer(folder, "vocab.json", "merges.txt", "tokenizer_config.json")
    save_file(state_of(model, half=True), folder / "model.safetensors")
    return clip_reference(model)


def laion_both(folder: Path) -> Reference:
    """laion/CLIP-ViT-g-14-laion2B-s12B-b42K: GELU, both layouts pickled, no open_clip_config.json."""
    model = clip_model("gelu")
    write_json(folder, "config.json", published_config("gelu", twice=True))
    write_json(folder, "preprocessor_config.json", OLD_IMAGES)
    write_clip_tokenizer(folder, "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.json")
    torch.save(state_of(model), folder / "pytorch_model.bin")
    torch.save(plain_clip(False).state_dict(), folder / "open_clip_pytorch_model.bin")
    return clip_reference(model)


# SigLIP


def siglip_model(vocabulary: int, positions: int, side: int = 16) -> transformers.SiglipModel:
    config = transformers.SiglipConfig(
        text_config={
            **TEXT,
            "vocab_size": vocabulary,
            "max_position_embeddings": positions,
            "projection_size": 48,
        },
        vision_config={**IMAGE, "hidden_size": 48, "image_size": side},
    )
    return randomise(transformers.SiglipModel(config)).float()


def siglip(folder: Path, positions: int = 64, side: int = 16) -> Reference:
    """google/siglip-base-patch16-224: spiece.model beside tokenizer.json, defaults of the configuration left out."""
    letters = [(letter, -3.0) for letter in "abcdefghijklmnopqrstuvwxyz"]
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("\u2581", -2.0), ("\u2581owl", -1.0), *letters]
    engine = Engine(Unigram(pieces, unk_id=2))
    model = siglip_model(len(pieces), positions, side)
    _write_siglip(folder, model, engine, {"resample": 3})
    stripped = [re.sub(r"[^a-z ]", "", sentence.lower()) for sentence in SENTENCES]
    return _siglip_reference(model, engine, [re.sub(" +", " ", one) for one in stripped], 1, 1, side, 3)


def siglip_so400m(folder: Path) -> Reference:
    """google/siglip-so400m-patch14-384: 16 or 64 positions, and an image that its patches do not fill."""
    return siglip(folder, positions=32, side=18)


def siglip2(folder: Path) -> Reference:
    """google/siglip2-base-patch16-224: Gemma's vocabulary, which has a "</s>", too; nothing says how it pads."""
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", "</s>", "\u2581", *"abcdefghijklmnopqrstuvwxyz.,'"]
    engine = Engine(BPE({token: number for number, token in enumerate(tokens)}, [], unk_token="<unk>"))
    model = siglip_model(len(tokens), 64)
    _write_siglip(folder, model, engine, {"resample": 2})
    lowered = [sentence.lower() for sentence in SENTENCES]
    return _siglip_reference(model, engine, lowered, 1, 0, 16, 2)


def _write_siglip(folder: Path, model: transformers.SiglipModel, engine: Engine, changes: dict) -> None:
    config = model.config
    text = {**TEXT, "model_type": "siglip_text_model", "projection_size": 48}
    text |= {
        "vocab_size": config.text_config.vocab_size,
        "max_position_embeddings": config.text_config.max_position_embeddings,
    }
    image = {**IMAGE, "hidden_size": 48, "image_size": config.vision_config.image_size}
    write_json(folder, "config.json", {"model_type": "siglip", "text_config": text, "vision_config": image})
    side = config.vision_config.image_size
    images = {
        "do_rescale": True,
        "image_processor_type": "SiglipImageProcessor",
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
        "size": {"height": side, "width": side},
        **changes,
    }
    write_json(folder, "preprocessor_config.json", images)
    engine.save(str(folder / "tokenizer.json"))
    write_json(folder, "tokenizer_config.json", {"tokenizer_class": "SiglipTokenizer"})
    write_json(folder, "special_tokens_map.json", {})
    (folder / "spiece.model").write_bytes(b"\n\x0e")
    save_file(state_of(model), folder / "model.safetensors")


def _siglip_reference(
    model, engine: Engine, texts: list[str], end: int, pad: int, side: int, resample: int
) -> Reference:
    positions = model.config.text_config.max_position_embeddings
    tokens = torch.full((len(texts), positions), pad)
    for row, text in zip(tokens, texts, strict=True):
        ids = [*engine.encode(text, add_special_tokens=False).ids, end]
        row[: len(ids)] = torch.tensor(ids)
    processor = transformers.SiglipImageProcessorPil(size={"height": side, "width": side}, resample=resample)
    pixels = torch.from_numpy(processor(EXAMPLE, return_tensors="np")["pixel_values"])
    return _of_transformers(model, pixels, tokens)


# open_clip's layout and OpenAI's archive


@cache
def plain_clip(quick: bool) -> PlainClip:
    """It is the same each time, and not changed."""
    return PlainClip(quick=quick).eval()


def open_clip_config(quick: bool, *, prepared: bool = True, **model) -> dict:
    image = {"image_size": 16, "layers": 2, "width": 128, "patch_size": 4}
    text = {"context_length": 77, "vocab_size": 49408, "width": 128, "heads": 2, "layers": 2}
    settings = {"embed_dim": 24, **({"quick_gelu": True} if quick else {}), **model}
    images = {"mean": OPENAI_MEAN, "std": OPENAI_STD}
    images |= {"interpolation": "bicubic", "resize_mode": "shortest"} if quick else {}
    return {"model_cfg": {**settings, "vision_cfg": image, "text_cfg": text}, "preprocess_cfg": images}


def plain_reference(model: PlainClip, tokens: torch.Tensor | None = None) -> Reference:
    with torch.no_grad():
        return Reference(
            model.encode_image(clip_pixels()), model.encode_text(clip_tokens() if tokens is None else tokens)
        )


def laion_open_clip(folder: Path) -> Reference:
    """laion/CLIP-ViT-B-16-laion2B-s34B-b88K: open_clip's files alone, GELU, interpolation not said."""
    model = plain_clip(False)
    write_json(folder, "open_clip_config.json", open_clip_config(quick=False))
    write_clip_tokenizer(
        folder, "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.json", "merges.txt"
    )
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    return plain_reference(model)


def laion_large(folder: Path) -> Reference:
    """laion/CLIP-ViT-L-14-laion2B-s32B-b82K: what the conversion calls open_clip_pytorch_model.safetensors."""
    reference = laion_open_clip(folder)
    (folder / "open_clip_model.safetensors").rename(folder / "open_clip_pytorch_model.safetensors")
    torch.save(plain_clip(False).state_dict(), folder / "open_clip_pytorch_model.bin")
    return reference


def dfn(folder: Path) -> Reference:
    """apple/DFN2B-CLIP-ViT-B-16: open_clip_pytorch_model.bin alone, and no word of QuickGELU."""
    model = plain_clip(False)
    write_json(folder, "open_clip_config.json", open_clip_config(quick=False))
    write_clip_tokenizer(folder, *ALL_TOKENS)
    (folder / "LICENSE").write_text("of the model")
    torch.save(model.state_dict(), folder / "open_clip_pytorch_model.bin")
    return plain_reference(model)


def timm_conversion(folder: Path) -> Reference:
    """timm/vit_base_patch16_clip_224.openai: a config.json and weights of timm's own beside open_clip's files."""
    model = plain_clip(True)
    timms = {"architecture": "vit_base_patch16_clip_224", "num_classes": 512, "pretrained_cfg": {"tag": "openai"}}
    write_json(folder, "config.json", timms)
    write_json(folder, "open_clip_config.json", open_clip_config(quick=True))
    write_clip_tokenizer(folder, *ALL_TOKENS)
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    torch.save(model.state_dict(), folder / "open_clip_pytorch_model.bin")
    for file, save in (("model.safetensors", save_file), ("pytorch_model.bin", torch.save)):
        save({"blocks.0.norm1.weight": torch.ones(3), "head.weight": torch.ones(3)}, folder / file)
    return plain_reference(model)


def custom_text(folder: Path) -> Reference:
    """A model that open_clip keeps as CustomTextCLIP: the text tower's names behind "text."."""
    model = plain_clip(False)
    state = model.state_dict()
    names = {name: name if name.startswith("visual.") or name == "logit_scale" else f"text.{name}" for name in state}
    write_json(folder, "open_clip_config.json", open_clip_config(quick=False, custom_text=True))
    write_clip_tokenizer(folder, "tokenizer.json")
    save_file({names[name]: tensor for name, tensor in state.items()}, folder / "open_clip_model.safetensors")
    return plain_reference(model)


def byte_letters() -> list[str]:
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return [*map(chr, printed), *(chr(256 + n) for n in range(256 - len(printed)))]


@cache
def openai_vocabulary() -> bytes:
    """bpe_simple_vocab_16e6.txt.gz with made-up merges, more than the 48,894 that are read of the real one."""
    learned = ["p h", "o w", "ow l</w>", "o f</w>", "ph o", "d o", "a n</w>", "t h", "th e</w>", "i n</w>"]
    letters = byte_letters()
    rare = [letter for letter in letters if not letter.isascii()]
    fill = (f"{a} {b}{end}" for a in rare for b in letters for end in ("", "</w>"))
    lines = ['"bpe_simple_vocab_16e6.txt#version: 0.2', *learned, *fill]
    return gzip.compress("\n".join(lines).encode())


def write_openai_vocabulary(folder: Path) -> None:
    (folder / "bpe_simple_vocab_16e6.txt.gz").write_bytes(openai_vocabulary())


def training_checkpoint(folder: Path) -> Reference:
    """What open_clip's training writes: weights of several GPUs beside the optimiser's state, in one .pt."""
    model = plain_clip(False)
    write_json(folder, "open_clip_config.json", open_clip_config(quick=False))
    write_clip_tokenizer(folder, "tokenizer.json")
    wrapped = {f"module.{name}": tensor for name, tensor in model.state_dict().items()}
    optimiser = {"state": {0: {"step": torch.tensor(3.0)}}, "param_groups": [{"lr": 0.1, "params": [0]}]}
    torch.save({"epoch": 32, "name": "run", "state_dict": wrapped, "optimizer": optimiser}, folder / "epoch_32.pt")
    return plain_reference(model)


LAYOUTS: dict[str, Callable[[Path], Reference]] = {
    "openai/clip-vit-base-patch16, main": openai_main,
    "older than PyTorch 1.6": old_pickle,
    "safetensors in shards": partial(sharded, stem="model", ending="safetensors", save=save_file),
    "pytorch_model.bin in shards": partial(sharded, stem="pytorch_model", ending="bin", save=torch.save),
    "saved by transformers 5": new_processor,
    "half precision": half_precision,
    "laion/CLIP-ViT-g-14-laion2B-s12B-b42K": laion_both,
    "laion/CLIP-ViT-B-16-laion2B-s34B-b88K": laion_open_clip,
    "laion/CLIP-ViT-L-14-laion2B-s32B-b82K": laion_large,
    "apple/DFN2B-CLIP-ViT-B-16": dfn,
    "timm/vit_base_patch16_clip_224.openai": timm_conversion,
    "open_clip, custom text tower": custom_text,
    "open_clip, checkpoint of a training": training_checkpoint,
    "google/siglip-base-patch16-224": siglip,
    "google/siglip-so400m-patch14-384": siglip_so400m,
    "google/siglip2-base-patch16-224": siglip2,
}


def checkpoint(folder: Path) -> Path:
    """What to give `load`: the folder, or the one .pt in it."""
    return next(iter(folder.glob("*.pt")), folder)
