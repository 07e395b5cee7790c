"""2SFS against a plain reading of the released code (FarinaMatteo/rethinking_fewshot_vlms) on transformers' CLIP.

Both stages run both towers whole in every step; PyTorch's own AdamW and CosineAnnealingLR move norms and classifier.
"""

from itertools import chain, count, islice

import pytest
import torch
from comparison import images_of
from tiny_clip import tiny_clip
from torch.nn.functional import cross_entropy, normalize
from transformers_clip import gradient_of, image_features, text_features, token_ids, transformers_clip, weight_of

from openworld.learners import Schedule, TwoSFS
from openworld.learners.engine.fitting import batches_of
from openworld.learners.two_sfs import CLASSIFIER, norm_weights

TEMPLATE = "{} texture."


def logits(model, image, text):
    return model.logit_scale.exp() * normalize(image) @ normalize(text).T


def norms_of(model):
    return [p for module in model.modules() if isinstance(module, torch.nn.LayerNorm) for p in module.parameters()]


def test_loss_and_gradients():
    clip, model = tiny_clip(torch.float64), transformers_clip()
    learner = TwoSFS(template=TEMPLATE)
    images, labels, names = images_of(clip, torch.float64)
    start = learner.start(clip, names, torch.Generator())
    ours = {name: tensor.double().requires_grad_() for name, tensor in start.items()}
    terms = learner.loss(clip, ours, images, labels, learner.prepare(clip, names))
    terms["total"].backward()
    ids = token_ids(clip, [TEMPLATE.format(name.replace("_", " ")) for name in names])
    classifier = normalize(text_features(model, ids)).requires_grad_()
    for norm in norms_of(model):
        norm.requires_grad_()
    image = image_features(model, images.pixels)
    first = cross_entropy(logits(model, image, text_features(model, ids)), labels)
    second = cross_entropy(logits(model, image.detach(), classifier), labels)
    (first + second).backward()
    for name, theirs in {"cross_entropy": first, "classifier_cross_entropy": second, "total": first + second}.items():
        assert terms[name].item() == pytest.approx(theirs.item(), rel=1e-9)
    for name, tensor in ours.items():
        expected = classifier.grad if name == CLASSIFIER else gradient_of(model, name)
        assert (tensor.grad - expected).abs().max() <= 1e-9 * expected.abs().max(), name
    assert len(ours) - 1 == 2 * len([m for m in model.modules() if isinstance(m, torch.nn.LayerNorm)])


def learn(parameters, steps, loss, schedule):
    """As the released code does: AdamW, one cosine to a millionth over the steps."""
    optimizer = torch.optim.AdamW(parameters, lr=schedule.learning_rate, weight_decay=1e-2, betas=(0.9, 0.999))
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, len(steps), eta_min=1e-6)
    for images, labels in steps:
        optimizer.zero_grad()
        loss(images, labels).backward()
        optimizer.step()
        cosine.step()


def test_both_stages(shots):
    clip, model = tiny_clip(torch.float64), transformers_clip()
    learner = TwoSFS(template=TEMPLATE)
    schedule = learner.schedule.__class__(**vars(learner.schedule) | {"epochs": 3, "learning_rate": 3e-3})
    learner = TwoSFS(template=TEMPLATE, schedule=schedule)
    fitted = learner.fit(clip, shots, seed=1)
    names = [TEMPLATE.format(name.replace("_", " ")) for name in shots.classnames]
    ids, generator = token_ids(clip, names), torch.Generator().manual_seed(1)

    def drawn(steps):  # four shots: four steps an epoch, whose images come from shuffle after shuffle
        return list(islice(chain.from_iterable(map(batches_of(learner, clip, shots, generator), count())), steps))

    norms = [norm.requires_grad_() for norm in norms_of(model)]

    def first(images, labels):
        return cross_entropy(logits(model, image_features(model, images.pixels), text_features(model, ids)), labels)

    learn(norms, drawn(2 * 4), first, schedule)
    model.requires_grad_(False)
    classifier = normalize(text_features(model, ids)).requires_grad_()

    def second(images, labels):
        return cross_entropy(logits(model, image_features(model, images.pixels), classifier), labels)

    learn([classifier], drawn(4), second, schedule)
    for name in norm_weights(clip):
        moved = (fitted.parameters[name] - clip.get_parameter(name)).abs().max()
        assert moved > 1e-3
        assert (fitted.parameters[name] - weight_of(model, name)).abs().max() < 1e-4 * moved, name
    assert (fitted.parameters[CLASSIFIER] - classifier).abs().max() < 1e-4 * classifier.abs().max()
    assert [set(terms) for terms in fitted.history] == 2 * [{"cross_entropy", "total"}] + [
        {"classifier_cross_entropy", "total"}
    ]
    # Base names by the classifier, whatever their order and side; other names by the tuned text tower.
    bank = fitted.text_bank((shots.classnames[3], shots.classnames[0]), ("wild dog", shots.classnames[5]))
    new = text_features(model, token_ids(clip, [TEMPLATE.format("wild dog")]))
    text = torch.cat([classifier[[3]], classifier[[0]], new, classifier[[5]]])
    image = image_features(model, clip.preprocess.scale(torch.from_numpy(shots.pixels)).double())
    expected = logits(model, image, text).detach()
    assert (torch.from_numpy(fitted.logits(shots, bank)) - expected).abs().max() < 1e-4 * expected.abs().max()


def test_the_length_is_that_of_the_shots_and_not_of_the_classes(shots):
    schedule = Schedule(epochs=3, batch_size=7, warmup=False, decay="per step", optimizer="AdamW", drop_last=False)
    steps = []

    class Counting(TwoSFS):
        def norm_loss(self, *given):
            steps.append("norms")
            return super().norm_loss(*given)

        def classifier_loss(self, *given):
            steps.append("classifier")
            return super().classifier_loss(*given)

    for classes in (range(7), range(2)):
        steps.clear()
        Counting(schedule=schedule).fit(tiny_clip(), shots.of_classes(classes), seed=1)
        assert steps == ["norms"] * 8 + ["classifier"] * 4
