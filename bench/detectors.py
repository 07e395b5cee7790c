"""Speed of the detectors against the plain forms of OpenOOD, and the cost of eight detectors in forward passes.

    python bench/detectors.py [--quick] [--device cuda]

First on what one forward pass gives, features and logits: 1,000 classes, 2,048 features, a head and class means drawn
at random. The plain forms of GradNorm, DICE and ASH run the head again, as OpenOOD does. Prints milliseconds per image,
the ratio, and the largest difference of the scores as a share of the largest score. Then IS-OOD's eight detectors from
images: a randomly initialised ResNet-50 (of `transformers`), one plan for all against each with passes of its own, both
in units of one forward pass without gradients. Processor time on a CPU, elapsed on a GPU; all sides run in every round,
the first of which only warms up, and medians of the rounds' ratios are printed. Three minutes on one core.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median

import plain_detectors as plain
import torch
from measuring import seconds
from torch import Tensor, nn

from openworld.detectors import (
    ASH,
    DICE,
    KNN,
    MDS,
    Activations,
    FittedDetector,
    GradNorm,
    Head,
    WatchedModel,
    fit_together,
    plan,
    profile,
    score_together,
    watch,
)
from openworld.detectors.engine.perturbation import AffineBatchNorm, input_gradients
from openworld.detectors.rankfeat import without_largest

CLASSES, WIDTH, BANK = 1000, 2048, 5000
OPENOOD_BATCH = 200  # its evaluator's default
MAPS = ((7, 2048), (14, 1024))  # side and channels of the maps that a ResNet-50 ends in
SLOWEST = {"MDS": 64}  # images for plain forms that would take minutes for a whole batch
IMAGENET_STD = (0.229, 0.224, 0.225)


def in_rounds(runs: dict[str, Callable], rounds: int, device: str) -> dict[str, list[float]]:
    """Seconds of each in every round but the first. What takes less than a second runs twice, and the second counts:
    else what a backward pass leaves behind would be counted with the millisecond of the side that follows it."""
    times = {name: [] for name in runs}
    for _ in range(rounds + 1):
        for name, run in runs.items():
            found = seconds(run, device)
            times[name].append(found if found > 1 else seconds(run, device))
    return {name: found[1:] for name, found in times.items()}


def ratio(times: dict[str, list[float]], over: str, under: str) -> float:
    """Median over rounds."""
    return median(a / b for a, b in zip(times[over], times[under], strict=True))


def drawn(device: str) -> tuple[nn.Linear, Tensor, Tensor]:
    """A head, training features that are not negative, and their labels: every class has five."""
    torch.manual_seed(0)
    layer = nn.Linear(WIDTH, CLASSES).to(device)
    labels = torch.arange(BANK, device=device) % CLASSES
    centres = torch.randn(CLASSES, WIDTH, device=device)
    return layer, (centres[labels] + 0.7 * torch.randn(BANK, WIDTH, device=device)).relu(), labels


def plain_state(fitted: dict, bank: Tensor, labels: Tensor, layer: nn.Linear) -> dict[str, tuple]:
    """What the plain forms keep of the same training features."""
    means = torch.stack([bank[labels == label].mean(dim=0) for label in range(CLASSES)])
    precision = (fitted["MDS"].state.whitening @ fitted["MDS"].state.whitening.mT).float()
    unit = bank / bank.norm(dim=1, keepdim=True) + 1e-10
    return {
        "MDS": (means, precision),
        "KNN": (unit, 50),
        "DICE": (fitted["DICE"].state.weight, layer.bias.detach()),
        "ASH": (layer, 90),
        "GradNorm": (layer,),
    }


def on_features(images: int, rounds: int, device: str) -> None:
    layer, bank, labels = drawn(device)
    detectors = {one.name: one for one in (MDS(), GradNorm(), KNN(), DICE(), ASH())}
    fitted = fit_together(detectors, [Activations(bank, Head.of(layer), labels=labels)])
    state = plain_state(fitted, bank, labels, layer)
    features = bank[:images] + 0.1
    whole = Activations(features, Head.of(layer), layer(features))
    forms = {"MDS": plain.mds, "GradNorm": plain.gradnorm, "KNN": plain.knn, "DICE": plain.dice, "ASH": plain.ash}
    print(
        f"\nOn features: {images} images, MDS at most {SLOWEST['MDS']}; {CLASSES} classes, {WIDTH} features, bank of "
        f"{BANK}; ms per image"
    )
    for name, form in forms.items():
        form = form if name == "GradNorm" else torch.no_grad()(form)
        seen = whole.take(slice(SLOWEST.get(name, images)))
        runs = {"ours": partial(_score, fitted[name], seen), "plain": partial(form, seen.features, *state[name])}
        show(name, in_rounds(runs, rounds, device), len(seen), runs["ours"](), runs["plain"]())
    for positions, channels in MAPS:
        maps = torch.randn(min(images, 16), channels, positions, positions, device=device).relu()
        runs = {"ours": lambda m=maps: without_largest(m), "plain": lambda m=maps: plain.without_largest(m)}
        name = f"rank 1 of {channels} x {positions**2}"
        show(name, in_rounds(runs, rounds, device), len(maps), runs["ours"](), runs["plain"]())


def _score(fitted: FittedDetector, seen: Activations) -> Tensor:
    return fitted.score(replace(seen))  # a copy: what earlier runs derived from features and logits is not there


def show(name: str, times: dict[str, list[float]], images: int, ours: Tensor, theirs: Tensor) -> None:
    apart = float((ours.double() - theirs.detach().to(ours).double()).abs().max() / theirs.abs().max())
    fast, slow = (1000 * median(times[side]) / images for side in ("ours", "plain"))
    faster = ratio(times, "plain", "ours")
    print(f"  {name:<22} openworld {fast:9.4f}   plain {slow:9.3f}   {faster:7.1f}x   differ by {apart:.1e}")


def from_images(batch: int, size: int, rounds: int, device: str) -> None:
    from transformers import ResNetConfig, ResNetForImageClassification

    torch.manual_seed(0)
    net = ResNetForImageClassification(ResNetConfig(num_labels=CLASSES)).to(device).eval()
    images = torch.randn(batch, 3, size, size, device=device)
    model = watch(net, images[:1], pixel_std=IMAGENET_STD)
    _, bank, labels = drawn(device)
    fitted = fit_together(profile("is-ood"), [Activations(bank, model.head, labels=labels)])
    route = plan(profile("is-ood"), model)
    layer = net.classifier[1]
    state = plain_state(fitted, bank, labels, layer)
    std = torch.tensor(IMAGENET_STD, device=device).view(-1, 1, 1)
    forms = plain.with_passes(net, images, layer, state, std)

    def forward():
        with torch.no_grad():
            net(images)

    parts = split(net, model, fitted, images)
    each = {f"{name}, plain": form for name, form in forms.items()}
    runs = {"forward": forward, "ours": lambda: route.score(fitted, [images])} | parts | each
    times = in_rounds(runs, rounds, device)
    times["plain"] = [sum(parts) for parts in zip(*(times[name] for name in each), strict=True)]
    print(f"\nFrom images: IS-OOD's eight, ResNet-50, {batch} images of {size} x {size}")
    print(f"  one forward pass {1000 * median(times['forward']) / batch:.1f} ms per image")
    laid = f"{ratio(times, 'ours', 'forward of moved images'):.2f} of its own, channels last where the model takes them"
    print(f"  one plan   {ratio(times, 'ours', 'forward'):5.2f} forward passes, {laid}")
    print("  of these   " + ", ".join(f"{name} {ratio(times, name, 'forward'):.2f}" for name in parts))
    print(f"  plain      {ratio(times, 'plain', 'forward'):5.2f} forward passes   {ratio(times, 'plain', 'ours'):.1f}x")
    print("  of these   " + ", ".join(f"{name} {ratio(times, name, 'forward'):.2f}" for name in each))


def split(
    net: nn.Module, model: WatchedModel, fitted: dict[str, FittedDetector], images: Tensor
) -> dict[str, Callable]:
    """What one plan spends its time on. The first is part of the second; the others add up to the plan."""
    last = model.channels_last and images.device.type == "cpu"
    pixels = images.contiguous(memory_format=torch.channels_last) if last else images
    moved = fitted["ODIN"].detector.perturbation
    seen = model.see(images, maps=True, perturbations=[moved])
    others = {name: one for name, one in fitted.items() if name != "RankFeat"}

    def forward() -> tuple[Tensor, Tensor]:
        moving = pixels.clone().requires_grad_()
        with AffineBatchNorm():
            return net(moving).logits, moving

    return {
        "forward that keeps what backward needs": forward,
        "forward and backward": lambda: input_gradients(*forward(), [moved]),
        "forward of moved images": torch.no_grad()(lambda: net(pixels)),
        "RankFeat": partial(_score, fitted["RankFeat"], seen),
        "scores of the rest": lambda: score_together(others, replace(seen)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer images and rounds")
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    if asked.device == "cpu":
        torch.set_num_threads(1)
    rounds = 1 if asked.quick else 3
    on_features(16 if asked.quick else OPENOOD_BATCH, rounds, asked.device)
    from_images(*((2, 128) if asked.quick else (4, 224)), rounds, asked.device)


if __name__ == "__main__":
    main()
