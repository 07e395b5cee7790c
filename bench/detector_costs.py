"""What every detector costs: per image with activations at hand, and with the pass, beside its plain form.

    python bench/detector_costs.py [--quick] [--detectors MDS,KNN] [--images 64] [--rounds 5] [--device cpu]

The classifier is OpenOOD's of ImageNet-200, a ResNet-18 of images of 224 x 224 with 200 classes (of `transformers`,
random weights, a dropout layer before its head); training features are drawn, 25 a class. The two-tower model is a CLIP
of the size of ViT-B/16 with 200 class names and 10,000 names of what the classes are not. A table in Markdown, a row
for each detector:

- cached: milliseconds per image to score what one pass gave, alone, and the plain form's (`plain_postprocessors`),
  which computes the same; the ratio is plain / ours.
- with the pass: that and the pass that the detector needs by itself, in forward passes of the model without gradients;
  plain forms run the passes as OpenOOD does, a backward pass into all weights included.
- fit: seconds to learn from cached training activations, 5,000 images, of several layers 256, once.
- keeps: megabytes of what was learned. peak: of tensors that live at a time while all images are scored, beyond those.

Processor time on one thread, medians over rounds in which both sides take turns; on a GPU, elapsed. Below the table:
the largest difference of the scores from those of the plain forms, as a share of the largest score.
"""

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from statistics import median

import plain_postprocessors as plain
import torch
from measuring import peak_bytes, seconds
from stand_in import build
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from openworld.detectors import (
    DETECTORS,
    Activations,
    FittedDetector,
    Layer,
    Maps,
    NNGuide,
    OODDetector,
    Texts,
    WatchedModel,
    fit_together,
    watch,
)
from openworld.detectors.own_score import OWN_SCORE

CLASSES, PER_CLASS, WIDTH, NAMES = 200, 25, 512, 10_000
STD = (0.229, 0.224, 0.225)
SETTINGS = {"NNGuide": NNGuide(share=0.1)}  # the default, a share of 0.01, is of a million training images
LONG_ENOUGH = 0.02  # seconds; what takes less is run several times and their mean counts
COLUMNS = "detector", "ms, cached", "plain", "ratio", "passes", "plain", "ratio", "fit, s", "keeps, MB", "peak, MB"
TOWERS = ("tower", "patches")
LAYERED = 256  # training images of which several layers are looked at


class Net(nn.Module):
    """A ResNet-18, dropout, and a head."""

    def __init__(self):
        super().__init__()
        from transformers import ResNetConfig, ResNetModel

        sizes = {"hidden_sizes": [64, 128, 256, 512], "depths": [2, 2, 2, 2], "layer_type": "basic"}
        self.body = ResNetModel(ResNetConfig(**sizes))
        self.drop, self.head = nn.Dropout(0.5), nn.Linear(WIDTH, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.drop(self.body(images).pooler_output.flatten(1)))


@dataclass(frozen=True, eq=False)
class World:
    """The watched classifier, a CLIP, images for the passes, training activations, and those to be scored."""

    model: WatchedModel
    clip: nn.Module
    images: Tensor
    training: Activations
    layered: Activations
    seen: Activations
    named: Activations

    @property
    def layer(self) -> nn.Linear:
        return self.model.module.head


def drawn_world(count: int, passed: int, device: str) -> World:
    """Training features around class centres, which are the head's rows; maps and layers are the network's own."""
    torch.manual_seed(0)
    net, other = (Net().to(device).eval() for _ in range(2))
    labels = torch.arange(CLASSES * PER_CLASS, device=device) % CLASSES
    centres = torch.randn(CLASSES, WIDTH, device=device)
    bank = (centres[labels] + 0.7 * torch.randn(len(labels), WIDTH, device=device)).relu()
    with torch.no_grad():
        net.head.weight.copy_(0.03 * centres)
    images = torch.randn(passed, 3, 224, 224, device=device)
    model = watch(net, images[:1], pixel_std=STD, members=[other] * 4)
    looked = model.see(images, maps=True, layers=model.layers, layer_gradients=True)
    pixels = torch.arange(count, device=device) % passed
    layers = {name: layer.take(pixels) for name, layer in looked.layers.items()}
    layers = {name: Layer(part.maps.contiguous(), part.gradient.contiguous()) for name, part in layers.items()}
    maps = Maps(looked.maps.early[pixels], looked.maps.late[pixels], looked.maps.last_stage)
    features = 0.7 * bank[:count] + 0.3 * bank[:count].roll(1, dims=0)
    seen = Activations(features, model.head, net.head(features).detach(), None, maps, layers=layers)
    training = Activations(bank, model.head, net.head(bank).detach(), labels)
    some = torch.arange(LAYERED, device=device)
    many = {name: layer.take(some % count) for name, layer in layers.items()}
    layered = replace(training.take(some), layers=many)
    clip = build("ViT-B/16", None, device, torch.float32)
    return World(model, clip, images, training, layered, seen, _named(clip.config.joint_dimension, count, device))


def _named(width: int, count: int, device: str) -> Activations:
    """Unit embeddings between class names and other names, and patches of 14 x 14."""
    rows = normalize(torch.randn(CLASSES + 2 * NAMES, width, device=device), dim=1)
    own, negative, more = rows.split([CLASSES, NAMES, NAMES])
    toward = torch.where(torch.arange(count, device=device)[:, None] % 2 > 0, own[:count], negative[:count])
    features = normalize(toward + 0.03 * torch.randn(count, width, device=device), dim=1)
    patches = torch.randn(count, 196, width, device=device)
    return Activations(features, texts=Texts(own, negative, conjugated=more), patches=patches)


def fitted_alone(name: str, detector: OODDetector, world: World, device: str) -> tuple[FittedDetector, float | None]:
    """The fitted detector, and the seconds that took; None where nothing is learned."""
    if {"texts", "patches"} & set(detector.needs):
        return detector.fit(world.named), None
    training = world.layered if "layers" in detector.needs else world.training
    if "gradient" in detector.needs:
        shaken = training.features + 0.05 * torch.randn_like(training.features)
        training = replace(training, perturbed={detector.perturbation: shaken.relu()})
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        took = seconds(lambda: found.append(fit_together({name: detector}, [training])), device)
    return found[0][name], took if detector.gathers else None


def parts_of(detector: OODDetector, world: World) -> Activations:
    """What the detector looks at, and no more: activations are checked when they are made."""
    needs = set(detector.needs)
    if {"texts", "patches"} & needs:
        return world.named
    more = {"features": world.seen.features, "head": world.seen.head, "outputs": world.seen.outputs}
    if "maps" in needs:
        more["maps"] = world.seen.maps
    if "layers" in needs:
        more["layers"] = world.seen.layers
    if "gradient" in needs:
        shaken = world.seen.features + 0.05 * torch.randn_like(world.seen.features)
        more["perturbed"] = {detector.perturbation: shaken.relu()}
    if "samples" in needs:
        repeats = len(world.model.members) if detector.sampling.source == "members" else detector.sampling.repeats
        noise = torch.randn(len(world.seen), repeats, CLASSES, device=world.seen.outputs.device)
        more["sampled"] = {detector.sampling: world.seen.outputs[:, None] + noise}
    return Activations(**more)


def passes(world: World) -> dict[str, tuple[Callable, Callable]]:
    """Ways to see images, by what is needed: ours, and as OpenOOD runs them."""
    net, model, images = world.model.module, world.model, world.images
    plain_net = torch.no_grad()(lambda: net(images))
    odin, adascale = (DETECTORS[name]().perturbation for name in ("ODIN", "AdaSCALE"))
    dropout, members = (DETECTORS[name]().sampling for name in ("MCDropout", "DeepEnsemble"))

    def moved(into_loss):
        pixels = images.clone().requires_grad_()
        logits = net(pixels)
        into_loss(logits).backward()
        net.zero_grad()
        with torch.no_grad():
            net(images + 0.01 * pixels.grad.sign())

    def with_layers(gradients: bool):
        left, handles = [], []
        for name in model.layers:
            part = net.get_submodule(name)
            handles.append(part.register_forward_hook(lambda _, entered, out: left.append(_tensor(out))))
        with torch.set_grad_enabled(gradients):
            logits = net(images)
            if gradients:
                torch.autograd.grad(-logits.log_softmax(dim=1).mean(dim=1).sum(), left)
        for handle in handles:
            handle.remove()

    def often(nets):
        with torch.no_grad():
            for one in nets:
                one(images)

    both = {"layers": model.layers, "layer_gradients": True}
    confident = lambda z: cross_entropy(z / 1000, z.argmax(dim=1))  # noqa: E731
    return {
        "forward": (lambda: model.see(images), plain_net),
        "maps": (lambda: model.see(images, maps=True), plain_net),
        "ODIN": (lambda: model.see(images, perturbations=[odin]), lambda: moved(confident)),
        "AdaSCALE": (lambda: model.see(images, perturbations=[adascale]), lambda: moved(lambda z: z.amax(1).sum())),
        "layers": (lambda: model.see(images, layers=model.layers), lambda: with_layers(False)),
        "layer gradients": (lambda: model.see(images, **both), lambda: with_layers(True)),
        "MCDropout": (lambda: model.see(images, samplings=[dropout]), lambda: often([net] * dropout.repeats)),
        "DeepEnsemble": (lambda: model.see(images, samplings=[members]), lambda: often(model.members)),
    }


def towers(world: World) -> dict[str, tuple[Callable, Callable]]:
    """The image tower, with patches or without; there is but one way to run it."""
    embedded, local = (
        torch.no_grad()(lambda: world.clip.encode_image(world.images)),
        torch.no_grad()(lambda: world.clip.project_patches(world.clip.encode_patches(world.images)[1])),
    )
    return {"tower": (embedded, embedded), "patches": (local, local)}


def _tensor(out) -> Tensor:
    return out if isinstance(out, Tensor) else next(iter(out.values()))


def pass_of(name: str, detector: OODDetector) -> str:
    """Which of the passes a detector needs."""
    for need, way in {
        "patches": "patches",
        "texts": "tower",
        "maps": "maps",
        "layer gradients": "layer gradients",
    }.items():
        if need in detector.needs:
            return way
    if {"gradient", "samples"} & set(detector.needs):
        return name
    return "layers" if "layers" in detector.needs else "forward"


def mean_seconds(run: Callable[[Activations], object], seen: Activations, device: str, calls: int) -> float:
    """Seconds of a call on activations from which nothing was derived yet."""
    copies = [replace(seen) for _ in range(calls)]
    with torch.no_grad():
        return seconds(lambda: [run(one) for one in copies], device) / calls


@dataclass(frozen=True)
class Cost:
    """Seconds per image by round of both sides, with activations at hand; the rest as in the table."""

    name: str
    ours: list[float]
    plain: list[float]
    fit: float | None
    keeps: float
    peak: float
    apart: float


def measured(name: str, detector: OODDetector, world: World, rounds: int, device: str) -> Cost:
    fitted, took = fitted_alone(name, detector, world, device)
    training, seen = world.training, parts_of(detector, world)
    kept = plain.Kept({name: fitted}, world.layer, training.features, training.outputs, training.labels)
    form = plain.forms(kept)[name]
    calls, times, found = {}, {"ours": [], "plain": []}, {}
    runs = {"ours": fitted.score, "plain": form}
    for side, run in runs.items():
        with torch.no_grad():
            found[side] = run(replace(seen)).detach().double().cpu()
        calls[side] = min(200, 1 + int(LONG_ENOUGH / max(1e-6, mean_seconds(run, seen, device, 1))))
    for _ in range(rounds):
        for side, run in runs.items():
            times[side].append(mean_seconds(run, seen, device, calls[side]) / len(seen))
    peak = peak_bytes(lambda: fitted.score(replace(seen)), device)[1]
    apart = float((found["ours"] - found["plain"]).abs().max() / found["plain"].abs().max())
    return Cost(name, times["ours"], times["plain"], took, _bytes(fitted.state) / 1e6, peak / 1e6, apart)


def _bytes(state) -> int:
    """Bytes of the tensors in what a detector learned."""
    if isinstance(state, Tensor):
        return state.numel() * state.element_size()
    if isinstance(state, (tuple, list)):
        return sum(map(_bytes, state))
    if is_dataclass(state):
        return sum(_bytes(getattr(state, part.name)) for part in fields(state))
    return 0


def pass_seconds(ways: dict, rounds: int, device: str, images: int) -> dict[str, tuple[list[float], list[float]]]:
    """Seconds per image by round, of both sides; the first round warms up."""
    times = {name: ([], []) for name in ways}
    for number in range(rounds + 1):
        for name, sides in ways.items():
            for side, run in enumerate(sides):
                if number or name not in ("MCDropout", "DeepEnsemble"):
                    took = seconds(run, device)
                    times[name][side].extend([took / images] * bool(number))
    return times


def show(row: Cost, seen: tuple, forward: tuple) -> None:
    """A row of the table; `seen` and `forward` are seconds of the pass it needs and of a forward pass, both sides."""
    unit, ours, other = median(forward[1]), median(row.ours), median(row.plain)
    ratio = median(b / a for a, b in zip(row.ours, row.plain, strict=True))
    whole, plain_whole = (ours + median(seen[0])) / unit, (other + median(seen[1])) / unit
    fit = "" if row.fit is None else f"{row.fit:.2f}"
    keeps = f"{row.keeps:.1f}" if row.keeps else ""
    print(
        f"| {row.name} | {1000 * ours:.3f} | {1000 * other:.3f} | {ratio:.1f} | {whole:.2f} | {plain_whole:.2f} | "
        f"{plain_whole / whole:.1f} | {fit} | {keeps} | {row.peak:.1f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="8 images, one round")
    parser.add_argument("--detectors", help="names, comma separated; all by default")
    parser.add_argument("--images", type=int, default=64, help="that are scored in one call")
    parser.add_argument("--passed", type=int, default=4, help="images in a batch of a pass")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    if asked.device == "cpu":
        torch.set_num_threads(1)
    rounds, count = (1, 8) if asked.quick else (asked.rounds, asked.images)
    world = drawn_world(count, 1 if asked.quick else asked.passed, asked.device)
    names = asked.detectors.split(",") if asked.detectors else [name for name in DETECTORS if name != OWN_SCORE]
    detectors = {name: SETTINGS.get(name) or DETECTORS[name]() for name in names}
    ways = {pass_of(name, detector) for name, detector in detectors.items()} | {"forward", "tower"}
    ways = {name: sides for name, sides in (passes(world) | towers(world)).items() if name in ways}
    seen = pass_seconds(ways, min(rounds, 2), asked.device, len(world.images))
    for name in ("forward", "tower"):
        print(f"one {name} pass: {1000 * median(seen[name][1]):.1f} ms per image, {len(world.images)} in a batch")
    print("passes alone, ours / plain:", _listing(seen))
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    apart = []
    for name, detector in detectors.items():
        row = measured(name, detector, world, rounds, asked.device)
        show(row, seen[(way := pass_of(name, detector))], seen["tower" if way in TOWERS else "forward"])
        apart.append(f"{name} {row.apart:.0e}")
    print("differ by", ", ".join(apart))


def _listing(seen: dict[str, tuple]) -> str:
    parts = []
    for name, (ours, other) in seen.items():
        unit = median(seen["tower" if name in TOWERS else "forward"][1])
        parts.append(f"{name} {median(ours) / unit:.2f} / {median(other) / unit:.2f}")
    return ", ".join(parts)


if __name__ == "__main__":
    main()
