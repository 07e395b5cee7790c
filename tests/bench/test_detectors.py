"""What bench/detectors.py compares is the same score: plain forms and ours, on a small size."""

import sys

import pytest
import torch


@pytest.fixture
def bench(repository, monkeypatch):
    for name in ("detectors", "plain_detectors"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import detectors

    monkeypatch.setattr(detectors, "CLASSES", 6)
    monkeypatch.setattr(detectors, "WIDTH", 12)
    monkeypatch.setattr(detectors, "BANK", 60)
    monkeypatch.setattr(detectors, "MAPS", ((3, 20),))
    return detectors


def test_both_sides_give_one_score(bench, monkeypatch):
    apart = {}

    def show(name, times, images, ours, theirs):
        apart[name] = float((ours - theirs.detach()).abs().max() / theirs.abs().max())

    monkeypatch.setattr(bench, "show", show)
    bench.on_features(8, 1, "cpu")
    assert {"MDS", "GradNorm", "KNN", "DICE", "ASH"} < set(apart) and max(apart.values()) < 1e-5


def test_the_eight_from_images(bench, capsys):
    pytest.importorskip("transformers")
    from transformers import ResNetConfig, ResNetForImageClassification

    from openworld.detectors import Activations, Head, fit_together, plan, profile, watch

    torch.manual_seed(0)
    sizes = {"embedding_size": 8, "hidden_sizes": [8, 12], "depths": [1, 1], "layer_type": "basic", "num_labels": 6}
    net = ResNetForImageClassification(ResNetConfig(**sizes)).eval()
    images, layer = torch.randn(3, 3, 64, 64), net.classifier[1]
    model = watch(net, images[:1], pixel_std=bench.IMAGENET_STD)
    _, bank, labels = bench.drawn("cpu")
    fitted = fit_together(profile("is-ood"), [Activations(bank, Head.of(layer), labels=labels)])
    ours = plan(profile("is-ood"), model).score(fitted, [images])
    state = bench.plain_state(fitted, bank, labels, layer)
    std = torch.tensor(bench.IMAGENET_STD).view(-1, 1, 1)
    forms = bench.plain.with_passes(net, images, layer, state, std)
    assert set(forms) == set(ours)
    for name, form in forms.items():
        torch.testing.assert_close(ours[name].float(), form().detach().float(), rtol=1e-4, atol=1e-4)
