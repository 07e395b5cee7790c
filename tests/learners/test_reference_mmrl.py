"""MMRL against a plain reading of the released code (yunncheng/MMRL @ 04467a7) on transformers' CLIP: all 77 tokens."""

import pytest
import torch
from comparison import images_of
from tiny_clip import tiny_clip
from torch.nn.functional import cosine_similarity, cross_entropy, normalize
from transformers_clip import image_features, text_features, token_ids, transformers_clip

from openworld.learners import MMRL, NameSets

TEMPLATE = "a photo of a {}, a type of food."
NEW = ("wild dog", "violin")


def rows_of(parameters, tower, place):
    weight, bias = parameters[f"{tower}_maps_weight"][place], parameters[f"{tower}_maps_bias"][place]
    return torch.nn.functional.linear(parameters["tokens"], weight, bias)


def run(layers, hidden, parameters, tower, first, mask):
    """All layers, with the rows put behind row 0 at layer `first` and replaced at later ones."""
    for index, layer in enumerate(layers):
        if index >= first:
            new = rows_of(parameters, tower, index - first).expand(len(hidden), -1, -1)
            behind = 1 if index == first else 1 + new.shape[1]
            hidden = torch.cat([hidden[:, :1], new, hidden[:, behind:]], dim=1)
        hidden = layer(hidden, attention_mask=mask(hidden.shape[1]))
        hidden = hidden if isinstance(hidden, torch.Tensor) else hidden[0]
    return hidden


def causal(length):
    return torch.full((1, 1, length, length), -torch.inf, dtype=torch.float64).triu(1)


def plain_text(model, ids, parameters, first):
    tower, count = model.text_model, len(parameters["tokens"])
    hidden = run(tower.encoder.layers, tower.embeddings(input_ids=ids), parameters, "text", first, causal)
    hidden = tower.final_layer_norm(hidden)
    return model.text_projection(hidden[torch.arange(len(ids)), ids.argmax(dim=1) + count])


def plain_image(model, pixels, parameters, first):
    tower, count = model.vision_model, len(parameters["tokens"])
    hidden = tower.pre_layrnorm(tower.embeddings(pixels))
    hidden = run(tower.encoder.layers, hidden, parameters, "image", first, lambda length: None)
    normed = tower.post_layernorm(hidden)
    return model.visual_projection(normed[:, 0]), normed[:, 1 : 1 + count].mean(dim=1) @ parameters["projection"]


@pytest.fixture(scope="module", params=[1, 2, 3], ids="depth {}".format)
def case(request):
    learner = MMRL(tokens=3, token_width=24, depth=request.param, weight=2.5, template=TEMPLATE)
    clip = tiny_clip(torch.float64)
    images, labels, names = images_of(clip, torch.float64)
    start = learner.start(clip, names, torch.Generator().manual_seed(3))
    generator = torch.Generator().manual_seed(4)  # no two maps alike, tokens of some size
    parameters = {
        name: (tensor.double() + 0.2 * torch.randn(tensor.shape, generator=generator, dtype=torch.float64))
        for name, tensor in start.items()
    }
    return learner, clip, transformers_clip(), images, labels, tuple(names), parameters


def leaves(parameters):
    return {name: tensor.clone().requires_grad_() for name, tensor in parameters.items()}


def close(ours, theirs, tolerance=1e-9):
    return (ours - theirs).abs().max() <= tolerance * theirs.abs().max()


def test_loss_and_gradients(case):
    learner, clip, model, images, labels, names, parameters = case
    ours, theirs = leaves(parameters), leaves(parameters)
    terms = learner.loss(clip, ours, images, labels, learner.prepare(clip, names))
    terms["total"].backward()
    ids = token_ids(clip, [TEMPLATE.format(name.replace("_", " ")) for name in names])
    text = plain_text(model, ids, theirs, 3 - learner.depth)
    whole, parts = plain_image(model, images.pixels, theirs, 3 - learner.depth)
    scale = model.logit_scale.exp()  # the released code writes 100
    total = 0.7 * cross_entropy(scale * normalize(whole) @ normalize(text).T, labels)
    total = total + 0.3 * cross_entropy(scale * normalize(parts) @ normalize(text).T, labels)
    total = total + 2.5 * (1 - cosine_similarity(whole, image_features(model, images.pixels)).mean())
    total = total + 2.5 * (1 - cosine_similarity(text, text_features(model, ids)).mean())
    total.backward()
    assert close(terms["total"].detach(), total.detach())
    for name, tensor in ours.items():
        assert close(tensor.grad, theirs[name].grad), name


def test_base_names_by_both_features_and_new_names_by_the_class_token(case):
    learner, clip, model, images, _, names, parameters = case
    bank = learner.text_bank(clip, parameters, NameSets(names, NEW))
    answer = learner.answer(clip, parameters, images, bank)
    ids = token_ids(clip, [TEMPLATE.format(name.replace("_", " ")) for name in names + NEW])
    text = normalize(plain_text(model, ids, parameters, 3 - learner.depth))
    whole, parts = plain_image(model, images.pixels, parameters, 3 - learner.depth)
    scale = model.logit_scale.exp()
    whole, parts = scale * normalize(whole) @ text.T, scale * normalize(parts) @ text.T
    assert close(answer.logits, whole)
    assert close(answer.base_logits, (0.7 * whole + 0.3 * parts)[:, : len(names)])
