"""Streams for the benches of open-world quality: what three learners say of eight styles of the embedded world.

    python bench/open_world_streams.py [--out FOLDER] [--task concepts ...] [--learner NAME ...] [--seeds 1 2 3]

Zero-shot CLIP, CoOp and GMoP, with the settings published for base-to-new, learn 16 shots of each base class (the
first half) of `emoji-concepts`, `-b` and `-200` in twemoji style, with three seeds. All test images of every style and
the validation images of base classes at home (those are no training images) are then scored:

    FOLDER/<task>/<learner>-<seed>/<style>.npz        10 images of each class, base and new
    FOLDER/<task>/<learner>-<seed>/validation.npz     4 images of each base class, in twemoji style

Arrays of a file, as `openworld.tables.stream.read_stream` reads them: `score`, `logits` over all
names, `base_logits`, `new_logits`, `classnames`, `n_base`, `label`, `side`, `group` (the drawing), `id`. What is there
is not made again. Zero-shot CLIP does not depend on the seed and is made once, as seed 1. Left out, FOLDER is
~/.cache/openworld/open-world-streams. `streams(folder)` gives them to other scripts.
"""

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np

HOME = "twemoji"
TASKS = ("concepts", "concepts-b", "concepts-200")
LEARNERS = ("zero-shot", "CoOp", "GMoP")
SEEDS = (1, 2, 3)
VALIDATION = "validation"
FOLDER = Path.home() / ".cache" / "openworld" / "open-world-streams"


@dataclass(frozen=True, eq=False)
class Stream:
    """A file: arrays as above, and where it comes from; `style` is "validation" for labelled base images at home."""

    task: str
    learner: str
    seed: int
    style: str
    arrays: dict[str, np.ndarray] = field(repr=False)

    @property
    def base(self) -> np.ndarray:
        """bool[n], images of base classes."""
        return self.arrays["label"] < int(self.arrays["n_base"])

    @property
    def base_right(self) -> np.ndarray:
        """bool[n], base images whose base name is right."""
        return self.arrays["base_logits"].argmax(axis=1) == self.arrays["label"]

    @property
    def new_right(self) -> np.ndarray:
        """bool[n], new images whose new name is right."""
        return self.arrays["new_logits"].argmax(axis=1) + int(self.arrays["n_base"]) == self.arrays["label"]

    def rows(self, chosen: np.ndarray) -> "Stream":
        """The stream of some of its images, by mask or place."""
        n = len(self.arrays["label"])
        arrays = {
            name: one[chosen] if one.ndim and len(one) == n and name != "classnames" else one
            for name, one in self.arrays.items()
        }
        return Stream(self.task, self.learner, self.seed, self.style, arrays)


def streams(folder: Path = FOLDER, *, tasks=TASKS, learners=LEARNERS, seeds=SEEDS) -> Iterator[tuple[Stream, dict]]:
    """Every learner's validation images, and its streams by style."""
    for task, learner, seed in product(tasks, learners, seeds):
        files = sorted((folder / task / f"{learner}-{seed}").glob("*.npz"))
        if files:
            found = {one.stem: Stream(task, learner, seed, one.stem, dict(np.load(one))) for one in files}
            yield found.pop(VALIDATION), found


@lru_cache
def clip():
    """The embedded CLIP."""
    from openworld import backbones

    return backbones.load("embedded")


def images_of(task: str, style: str, part: str):
    from openworld import datasets

    return datasets.load(f"emoji-{task}", domain=style, part=part)


def fitted(task: str, learner: str, seed: int):
    """A learner with published settings, fitted on 16 shots of the base half."""
    from openworld import datasets
    from openworld.features import Encoding, encode
    from openworld.learners import configure, encoding_for, find_learner

    settings = configure(find_learner(learner), {}, f"emoji-{task}")
    images = datasets.load(f"emoji-{task}", domain=HOME, part="train", shots=16, seed=seed)
    base, _ = datasets.base_new_split(len(images.classnames))
    images = images.subset(np.flatnonzero(np.isin(images.labels, base)))
    views = Encoding(views=8, crop_scale=(0.5, 1.0), seed=seed)
    shots = encode(clip(), images, encoding_for(settings, views)).of_classes(base)
    return settings.fit(clip(), shots, seed=seed)


def write(path: Path, model, images) -> None:
    """What a fitted learner says of images, whole or not at all."""
    from openworld.features import encode

    features = encode(clip(), images)
    n_base = len(model.classnames)
    bank = model.text_bank(images.classnames[:n_base], images.classnames[n_base:])
    answer = model.answer(features, bank)
    logits = np.asarray(answer.logits, np.float32)
    base = logits[:, :n_base] if answer.base_logits is None else np.asarray(answer.base_logits, np.float32)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    with open(unfinished, "wb") as file:
        np.savez(
            file,
            score=np.asarray(answer.baseness, np.float64),
            logits=logits,
            base_logits=base,
            new_logits=logits[:, n_base:],
            classnames=np.asarray(images.classnames, str),
            n_base=np.int64(n_base),
            label=np.asarray(images.labels, np.int64),
            side=np.where(np.asarray(images.labels) < n_base, "base", "new"),
            group=np.asarray(images.groups, np.int64),
            id=np.arange(len(images)),
        )
    os.replace(unfinished, path)


def make(folder: Path, task: str, learner: str, seed: int) -> None:
    """Every file of a learner that is not there yet."""
    from openworld.datasets.emoji.drawings import STYLES

    home = folder / task / f"{learner}-{seed}"
    sets = {VALIDATION: (HOME, "validation")} | {style: (style, "test") for style in STYLES}
    missing = [name for name in sets if not (home / f"{name}.npz").exists()]
    if not missing:
        return
    started = time.process_time()
    model = fitted(task, learner, seed)
    trained = time.process_time() - started
    for name in missing:
        images = images_of(task, *sets[name])
        if name == VALIDATION:
            images = images.subset(np.flatnonzero(images.labels < len(model.classnames)))
        write(home / f"{name}.npz", model, images)
    print(f"{home}: {trained:.0f} s training, {time.process_time() - started:.0f} s in all", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the streams")
    parser.add_argument("--task", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--learner", nargs="+", choices=LEARNERS, default=LEARNERS)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    given = parser.parse_args()
    for task, seed, learner in product(given.task, given.seeds, given.learner):
        if learner != "zero-shot" or seed == given.seeds[0]:
            make(given.out, task, learner, seed)


if __name__ == "__main__":
    main()
