"""What a training step costs on the embedded world, and how much of it is matrix products.

    python bench/steps.py [--methods CoOp,GMoP] [--repeats 9]

Every learner takes steps of its published schedule on random features, 50 names and one thread, with the settings of
the runs that stand in for a paper's. Beside each, in the same run and alternating: the same step where sentences of
every length are a bucket of their own. Printed for each learner:

    ms        median processor time of a step
    by length the same with a bucket for each length, and the ratio
    products  share of a step's operations that are matrix products, by time
    steps     of the published schedule, all stages, with 16 shots of 50 classes
    seconds   of one seed: steps times ms (of DeCoOp, all steps are taken for as dear as those of its first stage)
"""

import argparse
import statistics
import time
from collections.abc import Callable
from unittest.mock import patch

import torch

from openworld import backbones, datasets
from openworld.backbones import packed_sentences
from openworld.learners import LEARNERS, Images, configure
from openworld.learners.engine.fitted import schedules_of
from openworld.learners.engine.training import PLAIN
from openworld.reproduction.settings import embedded_settings

SHOTS = 800
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")


def step_of(clip, learner, names: tuple[str, ...]) -> Callable[[], object]:
    """One step: the loss of a batch and its gradients."""
    random, count = torch.Generator().manual_seed(0), learner.schedule.batch_size
    start = learner.start(clip, names, random)
    parameters = {name: tensor.detach().requires_grad_() for name, tensor in start.items()}
    prepared, loop = learner.prepare(clip, names), getattr(learner, "loop", PLAIN)
    size = clip.config.image.image_size
    pixels = torch.randn(count, 3, size, size, generator=random)
    with torch.no_grad():
        embeddings, patches = clip.encode_patches(pixels)
    images = Images(embeddings, patches, pixels, next(loop.draws(random)) if loop.draws else None)
    labels = torch.randint(len(names), (count,), generator=random)
    loss = getattr(learner, "detector_loss", learner.loss)

    def step() -> object:
        terms = loss(clip, parameters, images, labels, prepared)
        if loop.gradient is not None:
            return loop.gradient(terms, parameters)
        return torch.autograd.grad(terms["total"], list(parameters.values()), allow_unused=True)

    return step


def compare(ways: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median processor seconds of each way, alternating; the first round warms up."""
    taken = {name: [] for name in ways}
    for _ in range(repeats + 1):
        for name, step in ways.items():
            started = time.process_time()
            step()
            taken[name].append(time.process_time() - started)
    return {name: statistics.median(seconds[1:]) for name, seconds in taken.items()}


def share_of_products(step: Callable[[], object]) -> float:
    """Of the time in operations, that in matrix products."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        step()
    seconds = {event.key: event.self_cpu_time_total for event in profile.key_averages()}
    return sum(seconds.get(name, 0) for name in PRODUCTS) / sum(seconds.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=",".join(LEARNERS))
    parser.add_argument("--repeats", type=int, default=9)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    clip, settings = backbones.load("embedded"), embedded_settings()["base-to-new"]["learners"]
    names = datasets.load("emoji-concepts", domain="twemoji", part="test").classnames[:50]
    print("learner     batch      ms  by length  ratio  products   steps  seconds")
    for name in asked.methods.split(","):
        learner = configure(LEARNERS[name], settings.get(name, {}), "emoji-concepts")
        if not schedules_of(learner):
            continue
        ways = {"package": step_of(clip, learner, names)}
        with patch.object(packed_sentences, "SPARE", 0):
            ways["by length"] = step_of(clip, learner, names)
        found, share = compare(ways, asked.repeats), share_of_products(ways["package"])
        steps = sum(one.epochs * one.steps(SHOTS) for one in schedules_of(learner))
        ours, theirs = 1000 * found["package"], 1000 * found["by length"]
        row = f"{name:<11}{learner.schedule.batch_size:>6}{ours:>8.1f}{theirs:>11.1f}{theirs / ours:>7.2f}"
        print(f"{row}{share:>10.0%}{steps:>8,}{steps * ours / 1000:>9.0f}", flush=True)


if __name__ == "__main__":
    main()
