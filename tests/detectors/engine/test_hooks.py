"""Heads and last stages of all kinds of classifiers, and what cannot be watched."""

import pytest
import torch
from seen_images import make_images
from torch import nn

from openworld import OpenworldError
from openworld.detectors import ODIN, Gram, RankFeat, plan, watch
from openworld.testing import small_classifier, small_world
from openworld.testing._classifier import COLOURS, ColourNet


class Layouts(nn.Module):
    """Notes how the maps lie in memory; `rigid`: it takes them apart with `view`, which needs channels apart."""

    def __init__(self, rigid: bool):
        super().__init__()
        self.maps, self.head, self.rigid, self.seen = nn.Conv2d(3, 6, 3), nn.Linear(6, 4), rigid, []

    def forward(self, images):
        maps = self.maps(images)
        self.seen.append(maps.is_contiguous(memory_format=torch.channels_last))
        rows = maps.view(len(maps), -1) if self.rigid else maps.flatten(1)
        return self.head(rows.unflatten(1, (6, -1)).mean(dim=2))


@pytest.mark.parametrize("rigid", [False, True])
def test_channels_lie_beside_one_another_where_the_model_takes_them_so(rigid):
    torch.manual_seed(0)
    net = Layouts(rigid).eval()
    watched = watch(net, make_images(0, 2), pixel_std=(1, 1, 1))
    expected = net(make_images(0, 5)).detach()
    net.seen.clear()
    seen = watched.see(make_images(0, 5), perturbations=[ODIN().perturbation])
    assert watched.channels_last is not rigid and net.seen == [not rigid] * 2  # the images, and moved ones
    torch.testing.assert_close(seen.logits, expected)


@pytest.mark.parametrize("family", ["convolutional", "transformer"])
def test_models_of_another_library(family):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    if family == "convolutional":
        sizes = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 2], "num_labels": 4}
        net = transformers.ResNetForImageClassification(transformers.ResNetConfig(**sizes, layer_type="basic"))
        head, stage = "classifier.1", "resnet.encoder.stages.1"
    else:
        sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
        config = transformers.ViTConfig(**sizes, image_size=32, patch_size=8, num_labels=4)
        net, head, stage = transformers.ViTForImageClassification(config), "classifier", None
    images = torch.randn(3, 3, 32, 32)
    watched = watch(net.eval(), images[:1])
    assert (watched.head_name, watched.last_stage, watched.family) == (head, stage, family)
    torch.testing.assert_close(watched.see(images).logits, net(images).logits.detach())


def test_nothing_stays_behind():
    watched = watch(ColourNet().eval(), make_images(0, 2), pixel_std=(1, 1, 1))
    before = {name: parameter.clone() for name, parameter in watched.module.state_dict().items()}
    watched.see(make_images(0, 3), maps=True, perturbations=[ODIN().perturbation])
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in watched.module.modules())
    assert all(torch.equal(before[name], value) for name, value in watched.module.state_dict().items())
    assert all(parameter.grad is None and parameter.requires_grad for parameter in watched.module.parameters())


class TwoHeads(nn.Module):
    """The second head is called last; `added`: both make the logits."""

    def __init__(self, added: bool):
        super().__init__()
        self.one, self.other, self.added = nn.Linear(4, 2), nn.Linear(4, 3), added

    def forward(self, images):
        one, other = self.one(images), self.other(images)
        return one + other[:, :2] if self.added else one


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 5, 2, stride=2)

    def forward(self, images):
        return self.second(self.first(images))


def test_the_stages_are_the_last_modules_at_each_size():
    assert small_classifier().layers == ("stem.1", "last")
    deep = nn.Sequential(
        nn.Conv2d(3, 4, 1),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Sequential(nn.Conv2d(4, 6, 1), nn.ReLU()),
        nn.Conv2d(6, 8, 2, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, COLOURS),
    )
    found = watch(deep.eval(), make_images(0, 1))
    assert found.layers == ("1", "3", "4") and found.last_stage == "4"
    whole = nn.Sequential(Body(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(5, COLOURS)).eval()
    assert watch(whole, make_images(0, 1)).layers == ("0.first", "0"), "a module that holds all maps is opened"


def test_layers_by_name_and_their_gradients():
    """The gradient is that of a backward pass written out; the pixels' own gradients are not changed by it."""
    net, images = ColourNet().eval(), make_images(0, 4)
    watched = watch(net, images, layers=["stem", "head"], pixel_std=(1, 1, 1))
    assert watched.layers == ("stem", "head")
    seen = watched.see(images, layers=("stem", "head"), layer_gradients=True, perturbations=[ODIN().perturbation])
    maps = net.stem(images).detach().requires_grad_()
    logits = net.head(net.last(maps).mean((2, 3)))
    p = logits.softmax(dim=1)
    (COLOURS**-1 * (COLOURS**-1 / p).log()).sum().backward()
    torch.testing.assert_close(seen.layers["stem"].maps, maps)
    torch.testing.assert_close(seen.layers["stem"].gradient, maps.grad)
    torch.testing.assert_close(seen.layers["head"].gradient, (p - 1 / COLOURS).detach())
    alone = watched.see(images, perturbations=[ODIN().perturbation])
    torch.testing.assert_close(seen.perturbed[ODIN().perturbation], alone.perturbed[ODIN().perturbation])


def flat(*layers):
    return watch(nn.Sequential(*layers, nn.Flatten(), nn.Linear(192, COLOURS)).eval(), make_images(0, 1))


def colours(**given):
    return watch(ColourNet().eval(), make_images(0, 1), **given)


MOVED = {"perturbations": [ODIN().perturbation]}
REFUSED = [
    (lambda: colours(head="haed"), "unknown linear layer 'haed'; did you mean 'head'"),
    (lambda: colours(last_stage="stem"), "'stem' is no last stage.*could be: .*last"),
    (lambda: watch(TwoHeads(added=False).eval(), torch.ones(1, 4)), r"'other' gives \[1, 3\], but it is not what the"),
    (lambda: watch(TwoHeads(added=True).eval(), torch.ones(1, 4), head="one"), "something follows it, or there are"),
    (lambda: watch(nn.Linear(8, 4).eval(), make_images(0, 1)), r"returns \[1, 3, 8, 4\], expected logits"),
    (lambda: watch(small_world().clip, make_images(0, 1)), "has two towers and no head; use `activations_of"),
    (lambda: plan([ODIN()], colours()), "ODIN moves pixels.*pixel_std"),
    (lambda: colours(pixel_std=[1]).see(make_images(0, 1), **MOVED), "pixel_std has 1 channels, but the images"),
    (lambda: plan([RankFeat()], flat()), "RankFeat: maps are needed.*leave the detector out"),
    (lambda: plan([Gram(layers=("stm",))], small_classifier()), "unknown layer 'stm'; did you mean 'stem'"),
    (lambda: plan([Gram()], flat()), "Gram: maps of several layers are needed.*leave the detector out"),
    (lambda: flat(nn.Flatten(2)).see(make_images(0, 1), layers=["0"]), r"layer '0' gives \[1, 3, 64\], expected maps"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_what_cannot_be_watched_is_refused(call, said):
    with pytest.raises(OpenworldError, match=said):
        call()


def test_a_head_and_a_last_stage_may_be_named():
    assert colours(head="head", last_stage="last").last_stage == "last"
    assert watch(TwoHeads(added=False).eval(), torch.ones(1, 4), head="one").head.classes == 2
    assert flat().layers == ()
