"""Scores that public code computes from images, maps, patches or draws, on the same inputs."""

import pytest
import torch
from stored import IMAGENET_STD, assert_close, judged, small_net, stored, tensor, training
from torch import nn

from openworld.detectors import GLMCM, MCM, MSP, ODIN, Activations, CoP, CoRP, Head, Maps, RankFeat, Texts, plan, watch
from openworld.detectors import corp as corp_module
from openworld.detectors.ash import binarise, scaled
from openworld.detectors.rankfeat import without_largest

SIDES = ("id", "ood")
FROM_IMAGES = {
    "odin_T1000_eps0.0014": ODIN(),
    "odin_T1_eps0.0028": ODIN(1, 0.0028),
    "odin_T10_eps0.0014": ODIN(10),
    "odin_T1000_eps0.0": ODIN(1000, 0.0),
    "rankfeat_svd": RankFeat(),
    "rankfeat_power20": RankFeat(),
    "rankfeat_block4_only_svd": RankFeat("last"),
    "rankfeat_block3_only_svd": RankFeat("before"),
    "msp": MSP(),
}
ON_MAPS = {"ash_b_map_p65": (binarise, 65), "ash_b_map_p90": (binarise, 90), "ash_s_map_p65": (scaled, 65)}
ON_MAPS |= {"ash_s_map_p90": (scaled, 90)}


@pytest.fixture(scope="module")
def scored():
    """All of them in one plan: the detectors share a forward pass and three backward passes."""
    images = {side: tensor(stored()["images"][side]) for side in SIDES}
    route = plan(FROM_IMAGES, watch(small_net(), images["id"][:2], pixel_std=IMAGENET_STD))
    fitted = route.fit([])
    return {side: route.score(fitted, images[side].split(12)) for side in SIDES}


@pytest.mark.parametrize("label", FROM_IMAGES)
def test_openood_from_images(scored, label):
    for side in SIDES:
        assert_close(scored[side][label], stored()["images"]["openood"][label][side])


def test_pytorch_ood_from_images(scored):
    theirs = stored()["images"]["pytorch_ood"]
    pairs = {"ODIN_T1000_eps0.0014": "odin_T1000_eps0.0014", "ODIN_T1_eps0.0028": "odin_T1_eps0.0028"}
    pairs["RankFeat_block4"] = "rankfeat_block4_only_svd"
    assert set(pairs) == set(theirs)
    for name, label in pairs.items():
        for side in SIDES:
            assert_close(-scored[side][label], theirs[name][side])


def test_every_stored_image_score_is_compared():
    assert set(stored()["images"]["openood"]) == {*FROM_IMAGES, *ON_MAPS}


@pytest.mark.parametrize("label", ON_MAPS)
def test_ash_on_maps_before_pooling(label):
    """Another method than ASH on pooled features; the shaping is the same function."""
    shape, percent = ON_MAPS[label]
    model = watch(small_net(), tensor(stored()["images"]["id"])[:1])
    for side in SIDES:
        late = model.see(tensor(stored()["images"][side]), maps=True).maps.late
        pooled = shape(late.flatten(1), percent).view_as(late).mean(dim=(2, 3))
        assert_close(model.head.logits(pooled).logsumexp(1), stored()["images"]["openood"][label][side])


def test_the_largest_singular_values():
    theirs = stored()["images"]["openood"]["rankfeat_block4_only_svd"]
    model = watch(small_net(), tensor(stored()["images"]["id"])[:1])
    for side in SIDES:
        late = model.see(tensor(stored()["images"][side]), maps=True).maps.late
        taken = (late - without_largest(late)).flatten(1).norm(dim=1)
        assert_close(taken, theirs[f"sigma1_{side}"])


def test_is_ood_odin():
    case = stored()["is_ood"]["odin_linear"]
    images = tensor(case["inputs"]["images_normalised_nchw"])
    net = nn.Sequential(nn.Flatten(), nn.Linear(48, 5)).eval()
    net[1].weight.data, net[1].bias.data = tensor(case["inputs"]["weight"]), tensor(case["inputs"]["bias"])
    route = plan({"T1000": ODIN(), "T1": ODIN(1)}, watch(net, images[:1], pixel_std=IMAGENET_STD))
    scores = route.score(route.fit([]), [images])
    for label, theirs in (("T1000", "T1000_eps0_0014"), ("T1", "T1_eps0_0014")):
        assert_close(scores[label], case["reference"][theirs])


def test_is_ood_rankfeat():
    case = stored()["is_ood"]["rankfeat_toy"]
    inputs = {name: tensor(values) for name, values in case["inputs"].items() if name != "note"}
    kernel = inputs["layer4_1x1_conv"].view(6, 4, 1, 1)

    def last_stage(maps):
        return nn.functional.conv2d(maps, kernel).relu()

    early = inputs["block3_feature"]
    head = Head(inputs["fc_weight"], inputs["fc_bias"])
    seen = Activations(last_stage(early).mean((2, 3)), head, maps=Maps(early, last_stage(early), last_stage))
    assert_close(RankFeat().fit().score(seen), case["reference"]["confidence"])


def test_cop():
    theirs = stored()["kernel_pca"]["scores"]["cop_r0.9"]
    fitted = CoP(0.9).fit(training())
    assert fitted.state.basis.shape[1] == theirs["params"]["q"]
    for side in SIDES:
        assert_close(fitted.score(judged(side)), theirs[side])


def test_corp_with_the_released_draws(monkeypatch):
    case = stored()["kernel_pca"]
    drawn = tensor(case["rff_w"]).double(), tensor(case["rff_u"]).double()
    monkeypatch.setattr(corp_module, "_drawn", lambda lift, width: drawn)
    theirs = case["scores"]["corp_r0.5_g3_M48"]
    fitted = CoRP(0.5, 3.0, 48).fit(training())
    assert fitted.state.basis.shape[1] == theirs["params"]["q"]
    for side in SIDES:
        assert_close(fitted.score(judged(side)), theirs[side])


@pytest.mark.parametrize("temperature", [1, 0.01])
def test_two_tower_scores(temperature):
    case = stored()["vlm"]
    theirs = case["scores"][f"T{temperature}"]
    patches = tensor(case["local_embed"]).flatten(1, 2)
    seen = Activations(tensor(case["image_embed"]), texts=Texts(tensor(case["text_embed"])), patches=patches)
    assert_close(MCM(temperature).fit().score(seen), theirs["mcm"])
    for name, weight in (("gl_mcm_lambda1", 1.0), ("gl_mcm_lambda0_5", 0.5)):
        assert_close(GLMCM(temperature, weight).fit().score(seen), theirs[name])
    local = GLMCM(temperature).fit().score(seen) - MCM(temperature).fit().score(seen)
    assert_close(local, theirs["l_mcm"])


def test_slow_power_iterations_are_decomposed_instead():
    """Two singular values that are nearly equal: twenty steps are far from enough."""
    generator = torch.Generator().manual_seed(0)
    u = torch.linalg.qr(torch.randn(3, 30, 5, generator=generator)).Q
    v = torch.linalg.qr(torch.randn(3, 9, 5, generator=generator)).Q
    values = torch.tensor([[2.0, 1.99, 1.0, 0.5, 0.1]]).expand(3, -1)
    maps = (u * values[:, None]) @ v.mT
    rest = (u[..., 1:] * values[:, None, 1:]) @ v[..., 1:].mT
    for given, expected in ((maps, rest), (maps.mT, rest.mT)):
        found = without_largest(given.unflatten(2, (-1, 1)))
        torch.testing.assert_close(found.flatten(2), expected, atol=1e-4, rtol=0)
