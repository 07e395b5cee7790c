"""MC dropout and deep ensembles against plain loops; what is switched on, and what stays as it was."""

import pytest
import torch
from seen_images import make_images
from torch import nn
from torch.nn.functional import dropout

from openworld import OpenworldError
from openworld.detectors import DeepEnsemble, MCDropout, Sampling, plan, watch
from openworld.testing import small_classifier
from openworld.testing._classifier import ColourNet


def read(mean, reading):
    return mean.amax(dim=1) if reading == "confidence" else (mean * mean.log()).sum(dim=1)


@pytest.mark.parametrize("reading", ["confidence", "entropy"])
def test_mc_dropout_is_the_loop_over_passes(reading):
    model, images = small_classifier(), make_images(0, 6)
    route = plan([MCDropout(7, reading, seed=5)], model)
    scores = route.score(route.fit([]), [images])["MCDropout"]
    features = model.module.features(images)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        passes = [model.module.head(dropout(features, 0.2)).softmax(dim=1) for _ in range(7)]
    torch.testing.assert_close(scores, read(sum(passes) / 7, reading))


@pytest.mark.parametrize("reading", ["confidence", "entropy"])
def test_a_deep_ensemble_is_the_mean_over_classifiers(reading):
    torch.manual_seed(0)
    nets, images = [ColourNet().eval() for _ in range(3)], make_images(0, 6)
    route = plan([DeepEnsemble(reading)], watch(nets[0], images[:1], members=nets[1:]))
    scores = route.score(route.fit([]), images.split(4))["DeepEnsemble"]
    mean = sum(net(images).softmax(dim=1) for net in nets).detach() / 3
    torch.testing.assert_close(scores, read(mean, reading))


def test_nothing_else_is_switched_on_and_chance_is_left_alone():
    body = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.Dropout2d(0.5), nn.Dropout(0.0))
    net = nn.Sequential(body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)).eval()
    watched, images = watch(net, make_images(0, 1)), make_images(0, 5)
    before, state = torch.random.get_rng_state(), {name: part.clone() for name, part in net.state_dict().items()}
    how = Sampling(repeats=4)
    first, second = (watched.see(images, samplings=[how]).sampled[how] for _ in range(2))
    assert torch.equal(first, second) and len(first[0].unique(dim=0)) > 1
    assert torch.equal(torch.random.get_rng_state(), before) and not any(part.training for part in net.modules())
    assert all(torch.equal(state[name], part) for name, part in net.state_dict().items())


def test_what_is_not_there_is_refused_at_once():
    plain = watch(nn.Sequential(nn.Flatten(), nn.Linear(192, 3)).eval(), make_images(0, 1))
    other = nn.Sequential(nn.Flatten(), nn.Linear(192, 4)).eval()
    for call, said in (
        (lambda: plan([MCDropout()], plain), "MCDropout needs dropout, and the model has no layer that drops"),
        (lambda: plan([DeepEnsemble()], plain), r"DeepEnsemble needs several classifiers; .*members=\[...\]"),
        (lambda: watch(plain.module, make_images(0, 1), members=[other]), r"the classifiers name \[3, 4\] classes"),
        (lambda: watch(plain.module, make_images(0, 1), members=[ColourNet()]), "in training mode"),
    ):
        with pytest.raises(OpenworldError, match=said):
            call()
