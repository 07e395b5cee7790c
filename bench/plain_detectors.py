"""Detectors in the plain form of OpenOOD @ 3c35632: a loop over classes, a product of three axes, a backward pass.

`on_features` are what OpenOOD computes once features are there; `with_passes` its eight detectors of IS-OOD as it runs
them, each with passes of its own over the images.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def mds(features: Tensor, means: Tensor, precision: Tensor) -> Tensor:
    scores = torch.zeros(len(features), len(means))
    for label, mean in enumerate(means):
        apart = features - mean
        scores[:, label] = -torch.matmul(torch.matmul(apart, precision), apart.t()).diag()
    return scores.amax(dim=1)


def gradnorm(features: Tensor, layer: nn.Linear) -> Tensor:
    scores = []
    for row in features:
        layer.zero_grad()
        loss = -layer(row[None]).log_softmax(dim=1).sum()
        loss.backward()
        scores.append(layer.weight.grad.abs().sum())
    return torch.stack(scores)


def dice(features: Tensor, masked: Tensor, bias: Tensor) -> Tensor:
    votes = features[:, None, :] * masked
    return (votes.sum(dim=2) + bias).logsumexp(dim=1)


def knn(features: Tensor, bank: Tensor, k: int) -> Tensor:
    unit = features / features.norm(dim=1, keepdim=True) + 1e-10
    return -torch.cdist(unit, bank).square().kthvalue(k, dim=1).values


def ash(features: Tensor, layer: nn.Linear, percent: float) -> Tensor:
    maps = features.clone()
    total, left = maps.sum(dim=1, keepdim=True), features.shape[1] - round(features.shape[1] * percent / 100)
    places = maps.topk(left, dim=1).indices
    maps.zero_().scatter_(1, places, (total / left).expand(-1, left))
    return layer(maps).logsumexp(dim=1)


def without_largest(maps: Tensor) -> Tensor:
    rows = maps.flatten(2)
    u, s, v = torch.linalg.svd(rows, full_matrices=False)
    return (rows - s[:, :1, None] * u[:, :, :1] @ v[:, :1]).view_as(maps)


def odin(net: nn.Module, images: Tensor, layer: nn.Linear, pixel_std: Tensor) -> Tensor:
    moving = images.clone().requires_grad_()
    logits = net(moving).logits
    nn.functional.cross_entropy(logits / 1000, logits.argmax(dim=1)).backward()  # into all weights too
    signs = (moving.grad >= 0).float() * 2 - 1
    with torch.no_grad():
        return (net(images - 0.0014 * signs / pixel_std).logits / 1000).softmax(dim=1).amax(dim=1)


def rankfeat(net: nn.Module, images: Tensor, layer: nn.Linear) -> Tensor:
    stages = net.resnet.encoder.stages
    maps = net.resnet.embedder(images)
    for stage in stages[:-1]:
        maps = stage(maps)
    late = without_largest(stages[-1](maps)).mean(dim=(2, 3))
    early = stages[-1](without_largest(maps)).mean(dim=(2, 3))
    return ((layer(late) + layer(early)) / 2).logsumexp(dim=1)


def with_passes(net: nn.Module, images: Tensor, layer: nn.Linear, fitted: dict, std: Tensor) -> dict[str, Callable]:
    """The eight, each from images; `fitted`: what the features' forms take beside features."""

    @torch.no_grad()
    def features() -> Tensor:
        caught = []
        handle = layer.register_forward_pre_hook(lambda _, entered: caught.append(entered[0]))
        net(images)
        handle.remove()
        return caught[0]

    plain = {
        "MSP": lambda: torch.no_grad()(lambda: net(images).logits.softmax(dim=1).amax(dim=1))(),
        "ODIN": lambda: odin(net, images, layer, std),
        "RankFeat": lambda: torch.no_grad()(rankfeat)(net, images, layer),
        "GradNorm": lambda: gradnorm(features(), layer),
    }
    forms = {"MDS": mds, "KNN": knn, "DICE": dice, "ASH": ash}
    return plain | {name: _of(torch.no_grad()(form), features, fitted[name]) for name, form in forms.items()}


def _of(form: Callable, features: Callable, more: tuple) -> Callable:
    return lambda: form(features(), *more)
