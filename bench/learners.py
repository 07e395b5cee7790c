"""One training step of every prompt learner against its plain form, and what an image costs at test time.

The package's step is `learner.loss` and its gradients, on image features encoded beforehand where the method allows
it. The plain form (`plain_forms`, `plain_towers`) reads every name in all 77 positions of the text tower and every
image of the batch in the image tower, in this process, alternating. Published settings for ImageNet, random weights,
class names as long as ImageNet's. Printed for each method and number of classes:

    ratio     median seconds of the plain form over those of the package (processor time on a CPU)
    ceiling   the same ratio of multiply-adds, if every exact shortcut cost nothing else (`multiply_adds`)
    GB        most bytes of tensors alive in a step, beyond weights and inputs
    gradient  largest difference of a gradient's entries, relative to the largest entry of its tensor

A plain form's time and memory are linear in the number of classes, as its sentences know nothing of each other. Beyond
`--sample-classes` its figures are therefore those of that many classes, plus the slope between them and 5 classes (with
one image, whose own cost then adds little noise) times what is missing, and are marked "~"; memory then leaves out
what checkpointing would save. Gradients are compared on the sample.

    python bench/learners.py [--methods CoOp,RPO] [--classes 50,500] [--model ViT-B/16] [--device cpu] [--no-plain]
    python bench/learners.py --memory          one step with 1,000 classes: GalLoP and ProDA
    python bench/learners.py --layers 2        a quick look, not at the published size
"""

import argparse
import resource
import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from measuring import peak_bytes, seconds
from plain_forms import PLAIN_FORMS, Batch
from plain_towers import PlainTowers
from stand_in import MODELS, build, class_names
from torch import Tensor

from openworld.learners import LEARNERS, Images, NameSets
from openworld.learners.engine.training import PLAIN

HEADER = (
    f"{'method':<10}{'images':>7}{'classes':>8}{'package s':>11}{'plain s':>12}{'ratio':>9}{'ceiling':>9}"
    f"{'c / r':>9}{'GB':>9}{'plain GB':>10}{'gradient':>10}"
)
FEW = 5  # the smaller number of classes of a straight line
PUBLISHED = {"CoOp": 1.17, "DePT": 1.67, "GalLoP": 1.48, "DeCoOp": 2.73, "GMoP": 1.80}
"""Milliseconds in table 16 of OpenworldAUC (Hua et al., 2025), which does not say of what work."""


@dataclass(frozen=True)
class Pool:
    """Random images and what the frozen image tower makes of them; every step takes the first ones."""

    pixels: Tensor
    embeddings: Tensor
    patches: Tensor

    def images(self, learner, count: int, draw: Tensor | None = None) -> Images:
        """What a learner is shown of the first `count` images."""
        return Images(
            embeddings=self.embeddings[:count],
            patches=self.patches[:count] if learner.consumes == "patches" else None,
            pixels=self.pixels[:count] if learner.consumes == "pixels" else None,
            draw=draw,
        )


@dataclass(frozen=True)
class Step:
    """One training step, ready to be run in either form."""

    clip: object
    learner: object
    parameters: dict[str, Tensor]
    prepared: object
    images: Images
    batch: Batch

    def package(self) -> dict[str, Tensor]:
        """The package's gradients; of DeCoOp those of its first stage."""
        loss = getattr(self.learner, "detector_loss", self.learner.loss)
        return self._gradients(loss(self.clip, self.parameters, self.images, self.batch.labels, self.prepared))

    def plain(self, keep: int) -> dict[str, Tensor]:
        """The plain form's gradients."""
        towers = PlainTowers(self.clip, keep)
        return self._gradients(PLAIN_FORMS[self.learner.name](towers, self.learner, self.parameters, self.batch))

    @torch.no_grad()
    def multiply_adds(self) -> tuple[int, int]:
        """Of the plain form, and of the same with every exact shortcut."""
        towers = PlainTowers(self.clip, keep=0, dry=True)
        PLAIN_FORMS[self.learner.name](towers, self.learner, self.parameters, self.batch)
        return towers.full, towers.short

    def with_one_image(self) -> "Step":
        """The same step on its first image alone, for the plain form."""
        return replace(self, batch=replace(self.batch, labels=self.batch.labels[:1], pixels=self.batch.pixels[:1]))

    def _gradients(self, terms: dict[str, Tensor]) -> dict[str, Tensor]:
        gradient = getattr(self.learner, "loop", PLAIN).gradient
        if gradient is not None:
            return gradient(terms, self.parameters)
        tensors = list(self.parameters.values())
        found = torch.autograd.grad(terms["total"], tensors, allow_unused=True, materialize_grads=True)
        return dict(zip(self.parameters, found, strict=True))


def make_step(clip, learner, pool: Pool, classes: int) -> Step:
    """A step of the learner's own batch size with so many classes."""
    random, names = torch.Generator().manual_seed(0), class_names(classes)
    draws, count = getattr(learner, "loop", PLAIN).draws, learner.schedule.batch_size
    draw = next(draws(random)) if draws else None
    parameters = {name: tensor.requires_grad_(True) for name, tensor in start(clip, learner, names, random).items()}
    prepared = learner.prepare(clip, names)
    labels = torch.randint(classes, (count,), generator=random).to(clip.device)
    batch = Batch(names, labels, pool.pixels[:count], draw, frozen_text(prepared))
    return Step(clip, learner, parameters, prepared, pool.images(learner, count, draw), batch)


def start(clip, learner, names: tuple[str, ...], generator: torch.Generator) -> dict[str, Tensor]:
    """A learner's fresh parameters, in double precision where the backbone is."""
    wide = torch.promote_types(clip.dtype, torch.float32)
    return {name: one.detach().to(wide) for name, one in learner.start(clip, names, generator).items()}


def frozen_text(prepared) -> Tensor | None:
    """The teacher's text features in what a learner has prepared, or None."""
    parts = prepared if isinstance(prepared, tuple) else (prepared,)
    return next((one for one in parts if isinstance(one, Tensor)), getattr(prepared, "zero_shot", None))


@torch.no_grad()
def make_pool(clip, count: int) -> Pool:
    """Encoded in small batches."""
    size, wide = clip.config.image.image_size, torch.promote_types(clip.dtype, torch.float32)
    pixels = torch.randn(count, 3, size, size, generator=torch.Generator().manual_seed(1)).to(clip.device, clip.dtype)
    embeddings, patches = zip(*(clip.encode_patches(part) for part in pixels.split(8)), strict=True)
    return Pool(pixels, torch.cat(embeddings).to(wide), torch.cat(patches).to(wide))


@dataclass(frozen=True)
class Measured:
    """Median seconds, peak bytes and gradients of one kind of step."""

    seconds: float
    peak: int
    gradients: dict[str, Tensor]


def measure(runs: dict[tuple, Callable], repeats: int, device: str) -> dict[tuple, Measured]:
    """Every run in turn; the first round, which warms up, gives gradients and memory."""
    first = {key: peak_bytes(run, device) for key, run in runs.items()}
    times = {key: [] for key in runs}
    for _ in range(repeats):
        for key, run in runs.items():
            times[key].append(seconds(run, device))
    return {key: Measured(statistics.median(times[key]), peak, found) for key, (found, peak) in first.items()}


def compare(clip, name: str, pool: Pool, options) -> None:
    """Print one method's rows, one for each number of classes."""
    learner = LEARNERS[name].published("imagenet")
    sample = min(options.sample_classes or max(options.classes), max(options.classes))
    measured = {min(classes, sample) for classes in options.classes} if options.plain else set()
    steps = {classes: make_step(clip, learner, pool, classes) for classes in {FEW, *options.classes, *measured}}
    runs = {("package", classes): steps[classes].package for classes in sorted({*options.classes, *measured})}
    plain = {("plain", classes): steps[classes] for classes in sorted(measured)}
    if measured and sample < max(options.classes):
        plain |= {("line", classes): steps[classes].with_one_image() for classes in (FEW, sample)}
    runs |= {key: lambda step=step: step.plain(options.keep) for key, step in plain.items()}
    found = measure(runs, options.repeats, options.device)
    for classes in options.classes:
        full, short = steps[classes].multiply_adds()
        row = f"{name:<10}{learner.schedule.batch_size:>7}{classes:>8}"
        print(row + _row(found, classes, min(classes, sample), full / short), flush=True)


def _row(found: dict[tuple, Measured], classes: int, sample: int, ceiling: float) -> str:
    ours = found["package", classes]
    if ("plain", sample) not in found:
        return f"{ours.seconds:>11.3f}{'':>12}{'':>9}{ceiling:>9.1f}{'':>9}{ours.peak / 1e9:>9.2f}"
    theirs, mark = found["plain", sample], "" if classes == sample else "~"
    took, peak = theirs.seconds, theirs.peak
    if mark:
        few, many = found["line", FEW], found["line", sample]
        missing = (classes - sample) / (sample - FEW)
        took += missing * (many.seconds - few.seconds)
        # Frozen images are let go before the names are read: the larger of the two counts, not their sum.
        peak = max(peak, many.peak + missing * (many.peak - few.peak))
    gap, ratio = difference(found["package", sample].gradients, theirs.gradients), took / ours.seconds
    return (
        f"{ours.seconds:>11.3f}{f'{mark}{took:.3f}':>12}{f'{mark}{ratio:.1f}':>9}{ceiling:>9.1f}{ceiling / ratio:>9.2f}"
        f"{ours.peak / 1e9:>9.2f}{f'{mark}{peak / 1e9:.2f}':>10}{gap:>10.1e}"
    )


def difference(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> float:
    """The largest over all parameters, each relative to its own largest entry."""
    gaps = [float((ours[name] - theirs[name]).abs().max() / theirs[name].abs().max().clamp(1e-30)) for name in ours]
    return max(gaps)


@torch.no_grad()
def answer_times(clip, methods: list[str], pool: Pool, options) -> None:
    """Print milliseconds per image at test time, with cached features and with the pass through the image tower."""
    print(f"\ntest time: {options.names} names, batches of {options.test_batch}, milliseconds per image")
    print(f"{'method':<10}{'names once, s':>14}{'answer':>10}{'and tower':>11}{'times CoOp':>12}{'table 16':>15}")
    coop = None
    for name in methods:
        once, answer, tower = answer_time(clip, LEARNERS[name].published("imagenet"), pool, options)
        both = answer + tower
        coop = both if name == "CoOp" else coop
        relative, published = f"{both / coop:.2f}" if coop else "", PUBLISHED.get(name)
        printed = f"{published:.2f} ({published / PUBLISHED['CoOp']:.2f})" if published else ""
        print(f"{name:<10}{once:>14.3f}{answer:>10.3f}{both:>11.3f}{relative:>12}{printed:>15}", flush=True)


def answer_time(clip, learner, pool: Pool, options) -> tuple[float, float, float]:
    """Seconds to prepare the names, and milliseconds per image of the answer and of encoding what it needs."""
    names, count = class_names(options.names), options.test_batch
    base, new = names[: len(names) // 2], names[len(names) // 2 :]
    parameters = start(clip, learner, base, torch.Generator().manual_seed(0))
    parameters["threshold"] = torch.tensor(0.5, device=clip.device)  # DeCoOp's; no other reads it
    asked, images = NameSets(base, new), pool.images(learner, count)
    bank = learner.text_bank(clip, parameters, asked)
    runs = (
        lambda: learner.text_bank(clip, parameters, asked),
        lambda: learner.answer(clip, parameters, images, bank),
        lambda: encode(clip, learner, pool.pixels[:count]),
    )
    runs[1]()
    rounds = [[seconds(run, options.device) for run in runs] for _ in range(options.repeats)]
    once, answer, tower = (statistics.median(times) for times in zip(*rounds, strict=True))
    return once, 1000 * answer / count, 1000 * tower / count


def encode(clip, learner, pixels: Tensor) -> None:
    """What a learner needs of new images besides its own pass through the image tower."""
    if learner.consumes == "patches":
        clip.encode_patches(pixels)
    elif learner.consumes != "pixels":
        clip.encode_image(pixels)


def show_memory(clip, pool: Pool, options) -> None:
    """Print the memory of one step with 1,000 classes: on a CPU that of the whole process, on a GPU that of tensors."""
    for name in options.methods or ["GalLoP", "ProDA"]:
        step = make_step(clip, LEARNERS[name].published("imagenet"), pool, 1000)
        if options.device == "cpu":  # the profiler, which counts tensors there, fills more memory than the step
            step.package()
            found = f"process at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9:.2f} GB so far"
        else:
            found = f"tensors at most {peak_bytes(step.package, options.device)[1] / 1e9:.2f} GB"
        print(f"{name:<8} 1,000 classes, {step.learner.schedule.batch_size:>3} images: {found}", flush=True)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", type=lambda text: text.split(","), help="all, in the order of the table")
    parser.add_argument("--classes", type=lambda text: [int(one) for one in text.split(",")], default=[50, 500])
    parser.add_argument("--sample-classes", type=int, default=50, help="most classes of a plain form; 0: no limit")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", choices=["float64", "float32", "float16", "bfloat16"], default="float32")
    parser.add_argument("--model", choices=MODELS, default="ViT-B/16")
    parser.add_argument("--layers", type=int, help="cut both towers to so many blocks")
    parser.add_argument("--plain", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--keep", type=int, default=600, help="sentences of a plain form without checkpointing")
    parser.add_argument("--steps", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--answers", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--names", type=int, default=100, help="at test time")
    parser.add_argument("--test-batch", type=int, default=32)
    parser.add_argument("--memory", action="store_true", help="nothing but a step with 1,000 classes")
    options = parser.parse_args()
    if 0 < options.sample_classes <= FEW:
        parser.error(f"--sample-classes must be more than {FEW}, or 0")
    return options


def main() -> None:
    options = read_options()
    torch.set_num_threads(options.threads)
    clip = build(options.model, options.layers, options.device, getattr(torch, options.dtype))
    size = f"{options.model}, {options.dtype}, {options.device}, {options.threads} thread(s)"
    print(size + (f"; CUT TO {options.layers} BLOCKS, not the published size" if options.layers else ""))
    methods = options.methods or list(PLAIN_FORMS)
    learners = [LEARNERS[name].published("imagenet") for name in methods]
    batch = max(learner.schedule.batch_size for learner in learners)
    pool = make_pool(clip, max(batch, options.test_batch if options.answers else 0))
    if options.memory:
        show_memory(clip, pool, options)
    if options.steps and not options.memory:
        print(HEADER)
        for name in methods:
            compare(clip, name, pool, options)
        print(f"~ not run: {options.sample_classes} classes and the slope from {FEW} to {options.sample_classes}")
    if options.answers and not options.memory:
        answer_times(clip, methods, pool, options)


if __name__ == "__main__":
    main()
