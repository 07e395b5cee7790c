"""The tiny CLIP as transformers runs it: what learners that change the towers themselves are compared with."""

import torch
import transformers
from tiny_clip import CONFIG, tiny_clip

from openworld.backbones.layouts import export_state, source_names
from openworld.backbones.prompts import pad_tokens


def transformers_clip() -> transformers.CLIPModel:
    """In float64, with the weights of `tiny_clip`; frozen."""
    sizes = {"num_hidden_layers": 3, "num_attention_heads": 1, "hidden_size": 64, "intermediate_size": 256}
    config = transformers.CLIPConfig(
        text_config=sizes | {"eos_token_id": 49407, "bos_token_id": 49406},
        vision_config=sizes | {"image_size": CONFIG.image.image_size, "patch_size": CONFIG.image.patch_size},
        projection_dim=64,
        attn_implementation="sdpa",
    )
    model = transformers.CLIPModel(config).double()
    state = export_state(tiny_clip(torch.float64), "hugging_face")
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and all("position_ids" in name for name in missing)
    return model.requires_grad_(False).eval()


def token_ids(clip, sentences) -> torch.Tensor:
    """int64[C, 77], padded as OpenAI's code pads."""
    return pad_tokens(clip.tokenizer(sentences), 77)


def text_features(model, ids) -> torch.Tensor:
    """Unnormalised, by the whole tower."""
    return model.text_projection(model.text_model(input_ids=ids).pooler_output)


def image_features(model, pixels) -> torch.Tensor:
    """Unnormalised, by the whole tower."""
    return model.visual_projection(model.vision_model(pixel_values=pixels).pooler_output)


def weight_of(model, ours: str) -> torch.Tensor:
    """The weight that we name so; transformers keeps queries, keys and values apart."""
    return torch.cat([model.get_parameter(name) for name in source_names(ours, "hugging_face")])


def gradient_of(model, ours: str) -> torch.Tensor:
    """Its gradient."""
    return torch.cat([model.get_parameter(name).grad for name in source_names(ours, "hugging_face")])
