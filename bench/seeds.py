"""What do three seeds cost when they are fitted together, against one after the other?

Fits CoOp, KgCoOp, GMoP and TCP on the embedded world (50 names, 16 shots) for a few epochs, with three seeds in one
batched pass and one by one, in this process, alternating. Prints the ratio of the medians and how far the learned
tensors are apart.

    python bench/seeds.py [--repeats 3] [--epochs 2] [--threads 1] [--device cpu]
"""

import argparse
import statistics
import time
from dataclasses import replace

import numpy as np
import torch

from openworld import backbones, datasets
from openworld.features import Encoding, encode
from openworld.learners import LEARNERS, fit_together

SEEDS = (1, 2, 3)
METHODS = ("CoOp", "KgCoOp", "GMoP", "TCP")


def shots(clip, seed: int):
    """Encoded training images of the base half."""
    images = datasets.load("emoji-concepts", domain="twemoji", part="train", shots=16, seed=seed)
    base, _ = datasets.base_new_split(len(images.classnames))
    images = images.subset(np.flatnonzero(np.isin(images.labels, base)))
    return encode(clip, images, Encoding(views=2, crop_scale=(0.5, 1.0), seed=seed)).of_classes(base)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    clip = backbones.load("embedded", device=options.device)
    trains = [shots(clip, seed) for seed in SEEDS]
    print("method    one by one   together   ratio   difference of the learned tensors")
    for name in METHODS:
        learner = LEARNERS[name]()
        learner = replace(learner, schedule=replace(learner.schedule, epochs=options.epochs))
        report(name, *compare(learner, clip, trains, options.repeats))


def compare(learner, clip, trains, repeats: int):
    """Seconds of both ways, and what they learned."""
    ways = {
        "one by one": lambda: [learner.fit(clip, train, seed=seed) for train, seed in zip(trains, SEEDS, strict=True)],
        "together": lambda: fit_together(learner, clip, trains, seeds=SEEDS),
    }
    # Processor time on a CPU: a busy machine then slows neither side's figure more than the other's.
    clock = time.perf_counter if clip.device.type == "cuda" else time.process_time
    seconds, fitted = {name: [] for name in ways}, {}
    for _ in range(repeats):
        for name, fit in ways.items():
            started = clock()
            fitted[name] = fit()
            seconds[name].append(clock() - started)
    return {name: statistics.median(times) for name, times in seconds.items()}, fitted


def report(name: str, seconds: dict[str, float], fitted: dict) -> None:
    """One line of the table."""
    apart, together = (
        torch.cat([tensor.flatten() for one in fitted[way] for tensor in one.parameters.values()]) for way in seconds
    )
    alone, batched = seconds.values()
    gap = (apart - together).abs().max() / apart.abs().max()
    print(f"{name:8} {alone:9.2f} s {batched:9.2f} s {alone / batched:7.2f}   {gap:.1e} of the largest entry")


if __name__ == "__main__":
    main()
