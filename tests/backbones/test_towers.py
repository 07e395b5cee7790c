"""Both towers against transformers' CLIPModel and SiglipModel on small random weights."""

import torch

from openworld import backbones
from openworld.backbones import ImageConfig, TextConfig
from openworld.backbones.towers import ImageTower, TextTower

PIXELS = torch.randn(3, 3, 16, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
SENTENCES = ["a photo of a golden retriever.", "x", "a photo of the large ice cream, a type of food."]


def padded(model, length, pad):
    return torch.tensor([ids + [pad] * (length - len(ids)) for ids in model.tokenizer(SENTENCES)])


def test_clip_equals_transformers(clip_checkpoint):
    folder, oracle = clip_checkpoint
    model = backbones.load(folder, dtype=torch.float64)
    tokens = padded(model, 77, 0)
    with torch.no_grad():
        image = oracle.get_image_features(PIXELS).pooler_output
        text = oracle.get_text_features(tokens).pooler_output
    torch.testing.assert_close(model.encode_image(PIXELS), image, rtol=0, atol=1e-10)
    torch.testing.assert_close(model.text(tokens), text, rtol=0, atol=1e-10)
    torch.testing.assert_close(model.encode_text(SENTENCES), text, rtol=0, atol=1e-10)
    torch.testing.assert_close(model.logit_scale, oracle.logit_scale.exp().detach())
    assert model.logit_bias == 0


def test_clip_patches_equal_the_value_path_of_transformers(clip_checkpoint):
    folder, oracle = clip_checkpoint
    model = backbones.load(folder, dtype=torch.float64)
    vision = oracle.vision_model
    with torch.no_grad():
        rows = vision(PIXELS, output_hidden_states=True).hidden_states[-2]
        layer = vision.encoder.layers[-1]
        values = layer.self_attn.out_proj(layer.self_attn.v_proj(layer.layer_norm1(rows)))
        rows = rows + values
        rows = rows + layer.mlp(layer.layer_norm2(rows))
        expected = oracle.visual_projection(vision.post_layernorm(rows[:, 1:]))
    pooled, patches = model.encode_patches(PIXELS)
    torch.testing.assert_close(model.project_patches(patches), expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(pooled, model.encode_image(PIXELS), rtol=0, atol=1e-12)


def test_siglip_equals_transformers(siglip_checkpoint):
    folder, oracle = siglip_checkpoint
    model = backbones.load(folder, dtype=torch.float64)
    with torch.no_grad():
        image = oracle.get_image_features(PIXELS).pooler_output
        text = oracle.get_text_features(padded(model, 16, 1)).pooler_output
    torch.testing.assert_close(model.encode_image(PIXELS), image, rtol=0, atol=1e-10)
    torch.testing.assert_close(model.encode_text(SENTENCES), text, rtol=0, atol=1e-10)
    torch.testing.assert_close(model.logit_scale, oracle.logit_scale.exp().detach()[0])
    torch.testing.assert_close(model.logit_bias, oracle.logit_bias.detach()[0])


def test_kept_patches_alone_are_seen():
    torch.manual_seed(0)
    tower = ImageTower(ImageConfig(8, 2, 16, 2, 2, 32), 12)
    pixels, keep = torch.randn(2, 3, 8, 8), torch.tensor([[0, 5, 9], [15, 2, 4]])
    dropped = pixels.clone()
    dropped[0, :, 2:4, 4:6] = 9.0  # patch 6, not kept
    torch.testing.assert_close(tower(pixels, keep), tower(dropped, keep))
    everything = torch.arange(16).expand(2, -1)
    torch.testing.assert_close(tower(pixels, everything), tower(pixels))


def test_causal_text_needs_no_rows_after_the_end_token():
    torch.manual_seed(0)
    tower = TextTower(TextConfig(16, 2, 2, 32, vocabulary=9, positions=6), 12)
    tokens = torch.tensor([[7, 1, 8, 0, 0, 0], [7, 8, 0, 0, 0, 0]])
    torch.testing.assert_close(tower(tokens[:, :3]), tower(tokens))


def test_the_first_end_token_is_pooled():
    tower = TextTower(TextConfig(16, 1, 2, 32, vocabulary=9, positions=6, end_token=5), 12)
    assert tower.pooled_position(torch.tensor([[7, 5, 8, 5], [7, 1, 1, 5]])).tolist() == [1, 3]


def test_random_weights_are_scaled_by_the_width_and_residual_ones_by_the_depth_too():
    torch.manual_seed(0)
    image = ImageTower(ImageConfig(patch_size=16, width=256, layers=2, heads=4, mlp_width=1024), 64)
    expected = {
        "class_row": 1 / 16, "positions": 1 / 16, "projection.weight": 1 / 16,
        "blocks.0.qkv.weight": 1 / 16, "blocks.0.out.weight": 1 / 32, "blocks.0.down.weight": 1 / 32,
    }  # fmt: skip
    found = dict(image.named_parameters())
    for name, deviation in expected.items():
        torch.testing.assert_close(found[name].std().item(), deviation, rtol=0.15, atol=0, msg=name)
