"""Three worlds of emoji for the pool of (model, shift) pairs: small networks on drawings, under styles and corruptions.

    python bench/quoted/emoji.py --out POOL [--world NAME] [--model NAME] [--seed S] [--quick]

All comes with the package. `emoji-one-style`: 100 concepts as twemoji draws them; `emoji-three-styles`: the same
concepts in three styles at once; `emoji-subgroups`: 49 subgroups in noto, concepts of training and test disjoint. The
shifts are the other drawing styles (black and white ones apart, and each of several source styles alone), corruptions
in two or three severities, and images redrawn in tones, lines, pieces and paint. The reference is what the embedded
CLIP says of the class names; the kin is the same model with another seed. `clip-tuned` (CoOp) and `clip-gmop` (GMoP)
are the embedded CLIP itself behind learned prompts: the reference is no stranger to them. All takes an hour on a core,
the networks half of it; --quick takes a few images and shifts. Encoded images are kept in the package's cache.
"""

import argparse
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pool
import torch
from torch.nn.functional import normalize

from openworld import backbones, classifiers
from openworld.datasets import ImageSet, emoji, templates
from openworld.datasets.corruptions import corrupted
from openworld.datasets.emoji.drawings import STYLES
from openworld.datasets.pooling import few, pooled, remembered
from openworld.datasets.styles import styled
from openworld.features import Encoding, encode
from openworld.learners import CoOp, FittedLearner, GMoP, Schedule, encoding_for, plugin_api

MONOCHROME = ("fluent-emoji-high-contrast", "emojione-monotone")

CORRUPTIONS = {
    "noise": {"gaussian_noise": (1, 3, 5), "shot_noise": (2, 4), "impulse_noise": (2, 4)},
    "blur": {"defocus_blur": (1, 3, 5), "motion_blur": (2, 4), "zoom_blur": (2, 4), "glass_blur": (2, 4)},
    "weather": {"snow": (1, 3, 5), "fog": (1, 2, 4), "frost": (2, 4), "brightness": (1, 3, 5), "spatter": (3, 5)},
    "digital": {"contrast": (1, 3, 5), "pixelate": (2, 4), "jpeg_compression": (2, 4), "elastic_transform": (2, 4)},
}
"""Family -> corruption -> severities."""

REDRAWN = {
    "tones": ("posterise", "monochrome", "pop art"),
    "lines": ("comic book", "sketch"),
    "pieces": ("pixel art", "cross stitch", "papercut"),
    "paint": ("pointillism", "oil paint", "watercolour"),
}
"""Family -> looks."""

NETWORKS = {"resnet": "resnet-8", "convnet": "convnet"}
LEARNERS = {
    "clip-tuned": CoOp(context_length=4, schedule=Schedule(epochs=10)),
    "clip-gmop": GMoP(schedule=Schedule(epochs=10)),
}
SHOTS = 1600
"""Images that a learner is tuned on, of those that a network is trained on."""

SEEDS = (0, 1)
KIN = 2
"""Seed of the model that is no stranger to the others."""


@dataclass(frozen=True)
class World:
    """What is learned, and how many images there are of everything; `looks`: of a family of shifts, at most."""

    task: str
    styles: tuple[str, ...]
    training: int
    epochs: int = 12
    labelled: int = 1200
    shifted: int = 500
    looks: int = 99

    def part(self, name: str, styles: tuple[str, ...]) -> ImageSet:
        """All images of a part in some styles."""
        return pooled([emoji.load(self.task, style, name, shots=None) for style in styles])


WORLDS = {
    "emoji-one-style": World("concepts", ("twemoji",), training=3200),
    "emoji-three-styles": World("concepts", ("noto", "fluent-emoji-flat", "emojione"), training=4800),
    "emoji-subgroups": World("subgroups", ("noto",), training=6400),
}


def quick(world: World) -> World:
    """The same in small."""
    return replace(world, training=200, epochs=1, labelled=100, shifted=20, looks=1)


@lru_cache
def image_sets(world: World) -> dict[str, ImageSet]:
    """Name -> images: "training", the two sets of its law, and the shifted ones. Each image is made once."""
    whole, test = world.part("train", world.styles), world.part("test", world.styles)
    training, *others = disjoint(whole, world.training, world.labelled, world.labelled)
    if emoji.TASKS[world.task].disjoint:  # other concepts than in training, and so under every shift
        others = disjoint(test, world.labelled, world.labelled)
    found = {"training": training} | dict(zip(("source", "same--unseen"), others, strict=True))
    shifted = drawn(test, world.shifted)
    found |= of_styles(world) | of_corruptions(world, shifted) | redrawn(world, shifted)
    return {name: remembered(images, len(images)) for name, images in found.items()}


def disjoint(images: ImageSet, *counts: int) -> list[ImageSet]:
    """Draws without repetition, in which classes keep their shares."""
    left, parts = np.arange(len(images)), []
    for count in counts:
        chosen = left[few(images.subset(left), count)]
        parts.append(images.subset(chosen))
        left = np.setdiff1d(left, chosen)
    return parts


def drawn(images: ImageSet, count: int) -> ImageSet:
    return images.subset(few(images, count))


def of_styles(world: World) -> dict[str, ImageSet]:
    """Test images of every style that differs from what was learned."""
    found = {}
    for style in STYLES:
        family = "monochrome" if style in MONOCHROME else "mixture" if style in world.styles else "style"
        if (style,) != world.styles:
            found[f"{family}--{style}"] = drawn(world.part("test", (style,)), world.shifted)
    return found


def of_corruptions(world: World, images: ImageSet) -> dict[str, ImageSet]:
    """The same images under every corruption."""
    return {
        f"{family}--{name.replace('_', '-')}-{severity}": corrupted(images, name, severity)
        for family, own in CORRUPTIONS.items()
        for name, severities in list(own.items())[: world.looks]
        for severity in severities[: world.looks]
    }


def redrawn(world: World, images: ImageSet) -> dict[str, ImageSet]:
    """The same images in every look."""
    return {
        f"{family}--{name.replace(' ', '-')}": styled(images, name)
        for family, names in REDRAWN.items()
        for name in names[: world.looks]
    }


@lru_cache
def clip():
    """The embedded CLIP."""
    return backbones.load("embedded")


@lru_cache
def network(world: World, name: str, seed: int) -> classifiers.Classifier:
    """A trained network."""
    recipe = classifiers.Recipe(epochs=world.epochs)
    return classifiers.train(NETWORKS[name], image_sets(world)["training"], recipe, seed=seed)[world.epochs]


@lru_cache
def tuned(world: World, name: str, seed: int) -> FittedLearner:
    """The embedded CLIP behind prompts that were learned."""
    shots, learner = drawn(image_sets(world)["training"], SHOTS), LEARNERS[name]
    encoding = encoding_for(learner, Encoding(views=2 if learner.consumes == "views" else 0))
    return learner.fit(clip(), encode(clip(), shots, encoding), seed=seed)


def cosines(images: ImageSet) -> np.ndarray:
    """float32[n, C]: what the embedded CLIP says of images and class names."""
    text = plugin_api.encode_names(clip(), images.classnames, (templates.TEMPLATES[images.name],))
    embeddings = torch.from_numpy(np.asarray(encode(clip(), images).embeddings))
    return (normalize(embeddings, dim=-1) @ text.mT).numpy()


def answers(world: World, name: str, seed: int, images: ImageSet) -> np.ndarray:
    """Logits float32[n, C] of a judged model."""
    if name in NETWORKS:
        return network(world, name, seed).logits(images)
    fitted = tuned(world, name, seed)
    return fitted.answer(encode(clip(), images), fitted.text_bank(images.classnames)).logits


def judge(folder: Path, world: World, name: str, seed: int) -> None:
    """Write every image set that is not there yet."""
    started = time.monotonic()
    missing = {
        key: one for key, one in image_sets(world).items() if key != "training" and not pool.is_kept(folder, key)
    }
    for key, images in missing.items():
        arrays = {"logits": answers(world, name, seed, images), "reference_kin": answers(world, name, KIN, images)}
        arrays |= {"reference": cosines(images), "labels": images.labels}
        pool.keep(folder, key, classnames=images.classnames, **arrays)
        right = [pool.accuracy(arrays[one], images.labels) for one in ("logits", "reference", "reference_kin")]
        seconds = f"{time.monotonic() - started:5.0f} s"
        print(folder, f"{key:32}", *(f"{100 * one:5.1f} %" for one in right), seconds, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the pool")
    parser.add_argument("--world", choices=WORLDS, help="one of them alone")
    parser.add_argument("--model", choices=[*NETWORKS, *LEARNERS], help="one of them alone")
    parser.add_argument("--seed", type=int, choices=SEEDS, help="one of them alone")
    parser.add_argument("--quick", action="store_true", help="a few images and shifts")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    worlds, seeds = ([one] if one is not None else known for one, known in ((asked.world, WORLDS), (asked.seed, SEEDS)))
    for kind in (NETWORKS, LEARNERS):
        models = [name for name in kind if asked.model in (None, name)]
        for seed, name, world in product(seeds, models, worlds):
            chosen = quick(WORLDS[world]) if asked.quick else WORLDS[world]
            judge(asked.out / world / f"{name}-{seed}", chosen, name, seed)


if __name__ == "__main__":
    main()
