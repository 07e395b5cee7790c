"""Skip Tuning against a plain reading of the released code (anonymity-007/SkipT @ c675f2d) on transformers' CLIP.

Every step runs both towers whole, with the names that it keeps; PyTorch's own SGD and cosine move the weights.
"""

import math

import pytest
import torch
from comparison import images_of
from tiny_clip import tiny_clip
from torch.nn.functional import cross_entropy, normalize
from transformers_clip import gradient_of, image_features, text_features, token_ids, transformers_clip, weight_of

from openworld.backbones.layouts import source_names
from openworld.learners import Schedule, SkipTuning
from openworld.learners.engine.fitting import batches_of
from openworld.learners.skip_tuning import kept_ranks, tuned_weights

TEMPLATE = "itap of a {}."
SEED = 5


def names_kept(image, prototypes, labels, learner, seed):
    """As the released code sorts and masks them, with our draw."""
    count = len(prototypes)
    sure = min(math.ceil(learner.top * count), learner.most)
    similarity = normalize(image) @ normalize(prototypes).T
    similarity[torch.arange(len(labels)), labels] = 1e4
    order = similarity.max(dim=0).values.sort(descending=True).indices
    points = torch.linspace(0.0, 5.0, steps=count - sure, dtype=torch.float64)
    density = (
        torch.distributions.Exponential(1 / torch.tensor(learner.spread, dtype=torch.float64)).log_prob(points).exp()
    )
    density = (density - density.min()) / (density.max() - density.min())
    ratios = torch.cat([torch.ones(sure, dtype=torch.float64), density])
    drawn = torch.rand(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return order[drawn < ratios].sort().values


def plain_loss(model, learner, ids, prototypes, pixels, labels, seed):
    image = image_features(model, pixels)
    kept = names_kept(image.detach(), prototypes, labels, learner, seed)
    text = text_features(model, ids[kept])
    places = torch.nn.functional.one_hot(labels, len(ids))[:, kept].argmax(dim=1)
    return cross_entropy(model.logit_scale.exp() * normalize(image) @ normalize(text).T, places)


@pytest.mark.parametrize(("depth", "top"), [(1, 0.5), (2, 0.3), (3, 0.5)])
def test_loss_and_gradients(depth, top):
    clip, model = tiny_clip(torch.float64), transformers_clip()
    learner = SkipTuning(depth=depth, top=top, spread=2.0, template=TEMPLATE)
    images, labels, names = images_of(clip, torch.float64)
    start = learner.start(clip, names, torch.Generator())
    ours = {name: tensor.double().requires_grad_() for name, tensor in start.items()}
    drawn = next(learner.loop.draws(torch.Generator().manual_seed(SEED)))
    given = type(images)(images.embeddings, pixels=images.pixels, draw=drawn)
    total = learner.loss(clip, ours, given, labels, learner.prepare(clip, names))["total"]
    total.backward()
    ids = token_ids(clip, [TEMPLATE.format(name.replace("_", " ")) for name in names])
    prototypes = text_features(model, ids)
    model.requires_grad_(True)
    theirs = plain_loss(model, learner, ids, prototypes, images.pixels, labels, int(drawn))
    theirs.backward()
    assert abs(total - theirs) < 1e-9 * abs(theirs)
    for name, tensor in ours.items():
        expected = gradient_of(model, name)
        assert (tensor.grad - expected).abs().max() <= 1e-9 * expected.abs().max(), name


def test_training(shots):
    clip, model = tiny_clip(torch.float64), transformers_clip()
    schedule = Schedule(epochs=3, batch_size=4, learning_rate=2e-2)
    learner = SkipTuning(depth=2, template=TEMPLATE, warmup_rate=5e-3, image_factor=0.25, schedule=schedule)
    fitted = learner.fit(clip, shots, seed=1)
    names = [TEMPLATE.format(name.replace("_", " ")) for name in shots.classnames]
    ids = token_ids(clip, names)
    prototypes = text_features(model, ids)
    groups = {"image": [], "text": []}
    for name in tuned_weights(clip, 2):
        for theirs in source_names(name, "hugging_face"):
            groups[name.partition(".")[0]].append(model.get_parameter(theirs).requires_grad_())
    rates = {"image": 5e-3, "text": 2e-2}
    parts = [{"params": tensors, "lr": rates[side]} for side, tensors in groups.items()]
    optimizer = torch.optim.SGD(parts, momentum=0.9, weight_decay=5e-4)
    batches = batches_of(learner, clip, shots, torch.Generator().manual_seed(1), learner.loop)
    for epoch in range(3):
        cosine = 0.5 * (1 + math.cos(math.pi * (epoch - 1) / 3))
        for group, side in zip(optimizer.param_groups, groups, strict=True):
            group["lr"] = 5e-3 if epoch == 0 else rates[side] * cosine
        steps = 0
        for images, labels in batches(epoch):
            assert len(set(labels.tolist())) == 1 and len(labels) == 4  # of one class
            optimizer.zero_grad()
            plain_loss(model, learner, ids, prototypes, images.pixels, labels, int(images.draw)).backward()
            optimizer.step()
            steps += 1
        assert steps == 7  # one for each class of four shots
    for name, tensor in fitted.parameters.items():
        frozen = clip.get_parameter(name)
        moved = (tensor - frozen).abs().max()
        assert moved > 1e-3
        assert (tensor - weight_of(model, name)).abs().max() < 1e-4 * moved, name
    bank = fitted.text_bank(shots.classnames, ("wild dog",))
    image = normalize(image_features(model, clip.preprocess.scale(torch.from_numpy(shots.pixels)).double()))
    text = normalize(text_features(model, token_ids(clip, [*names, TEMPLATE.format("wild dog")])))
    expected = (model.logit_scale.exp() * image @ text.T).detach()
    assert (torch.from_numpy(fitted.logits(shots, bank)) - expected).abs().max() < 1e-4 * expected.abs().max()


def test_ranks_are_kept_as_often_as_the_density_says():
    drawn = torch.stack([kept_ranks(12, 0.5, 4, 2.0, seed) for seed in range(4000)]).double().mean(dim=0)
    points = torch.linspace(0, 5, 8, dtype=torch.float64)
    expected = (torch.exp(-points / 2) - math.exp(-2.5)) / (1 - math.exp(-2.5))
    assert drawn[:4].eq(1).all() and drawn[4] == 1 and drawn[-1] == 0
    assert (drawn[4:] - expected).abs().max() < 0.03
