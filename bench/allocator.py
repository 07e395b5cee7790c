"""What does a worker save that keeps the memory which it frees?

Encodes images of the embedded world with views and fits GMoP for some epochs, each time in a process of its own: with
the C library as it is, and as `openworld.runs` sets it up in its workers. Prints processor seconds (own and the
system's), pages that the system handed out, the peak of memory, and the ratios of the medians.

    python bench/allocator.py [--repeats 3] [--images 800] [--epochs 6]
"""

import argparse
import dataclasses
import json
import resource
import statistics
import subprocess
import sys
import tempfile


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--images", type=int, default=800)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--as-worker", choices=["kept", "given back"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_worker:
        print(json.dumps(work(options.as_worker == "kept", options.images, options.epochs)))
        return
    runs = {"given back": [], "kept": []}
    for _ in range(options.repeats):
        for way in runs:
            command = [sys.executable, *sys.argv, "--as-worker", way]
            runs[way].append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    report({way: {name: statistics.median(run[name] for run in own) for name in own[0]} for way, own in runs.items()})


def work(kept: bool, images: int, epochs: int) -> dict[str, float]:
    """Figures of one process."""
    import torch

    from openworld import backbones, datasets
    from openworld.features import Encoding, encode
    from openworld.learners import LEARNERS
    from openworld.runs.allocator import keep_freed_memory

    if kept:
        keep_freed_memory()
    torch.set_num_threads(1)
    clip = backbones.load("embedded")
    train = datasets.load("emoji-concepts", domain="twemoji", part="train", shots=16, seed=1)
    learner = LEARNERS["GMoP"]()
    learner = dataclasses.replace(learner, schedule=dataclasses.replace(learner.schedule, epochs=epochs))
    before = resource.getrusage(resource.RUSAGE_SELF)
    with tempfile.TemporaryDirectory() as cache:
        features = encode(clip, train.subset(range(min(images, len(train)))), Encoding(views=2), cache=cache)
        learner.fit(clip, features, seed=1)
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "own": after.ru_utime - before.ru_utime,
        "system": after.ru_stime - before.ru_stime,
        "pages": after.ru_minflt - before.ru_minflt,
        "peak": after.ru_maxrss / 1024,
    }


def report(found: dict[str, dict[str, float]]) -> None:
    """The table."""
    print("memory      own s  system s      pages  peak MiB")
    for way, run in found.items():
        print(f"{way:10}{run['own']:7.1f}{run['system']:10.2f}{run['pages']:11,.0f}{run['peak']:10,.0f}")
    given, kept = (found[way]["own"] + found[way]["system"] for way in ("given back", "kept"))
    print(f"given back takes {given / kept:.2f} times the processor time of kept")


if __name__ == "__main__":
    main()
