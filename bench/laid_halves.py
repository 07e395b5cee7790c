"""Do LAID's two halves behave in the embedded world? Accuracy of each, taught by texts or by images.

    python bench/laid_halves.py [--cache FOLDER] [--seeds 0 1 2] [--steps 2000] [--only texts]
        [--quick]

Nobody is taught by the 100 tested concepts, nor by the styles that the embedded CLIP was not trained on. Teachers are
300 other concepts: their names in 28 captions, or their clean images in 38 looks (`LOOKS` of noto, and
fluent-emoji). Tested are clean images of noto (4 trained styles but noto tell what a class looks like, where texts
cannot), the same under 19 corruptions of severity 3 and in 17 styles, and three drawing styles nobody has seen. Prints,
for every seed:

    top-1 of 100 concepts: whole feature, semantic half, covariate half
    triplets in order: held-out things in held-out looks (captions), semantic and covariate half; and, of images of
        the tested concepts, in the looks taught
    looks told apart by nearest mean among the 38, of the tested concepts: whole, semantic, covariate
    median degrees: semantic (k = 3; emojione against four other styles of 50 concepts) of the same and of other
        concepts; covariate (k = 10; against noto, 50 concepts) of other concepts in noto and in the other looks

--quick takes one seed, 50 steps and a few looks.
"""

import argparse
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch

from openworld.backbones import load
from openworld.datasets import emoji
from openworld.datasets.corruptions import CORRUPTIONS
from openworld.datasets.emoji.drawings import SOURCE_STYLES, TARGET_STYLES
from openworld.datasets.styles import STYLES
from openworld.datasets.templates import EMOJI_LOOKS
from openworld.features import encode
from openworld.shifts import (
    LAID,
    LOOKS,
    PCA,
    AppearanceEncoder,
    Decomposition,
    decomposed_zero_shot,
    in_looks,
    share_right,
    shift_degrees,
    triplet_distances,
    write_texts,
)
from openworld.shifts.triplets import draw_triplets

TESTED, TAUGHT = range(100), range(100, 400)
KNOWN = tuple(style for style in SOURCE_STYLES if style != "noto")
TEXTS, IMAGES = "texts", "images"
COLUMNS = (64, 112, 120, 124)  # semantic widths of LAID on texts, of 128
WHITENED, SEMANTIC = 192, 180  # of LAID on images
RATE = 3e-3


@dataclass(eq=False)
class World:
    """Features of the embedded world's clean images, by concepts and look, encoded when first asked for."""

    clip: object
    folder: Path

    def __post_init__(self):
        self.seeing = AppearanceEncoder(self.clip)
        self.features = cache(self._features)
        self.texts = cache(self._texts)

    def _features(self, concepts: range, look: str, kind: str) -> torch.Tensor:
        """float32[concepts, D]; look: a drawing style, or one of `in_looks` of noto."""
        style = look if look in SOURCE_STYLES + TARGET_STYLES else "noto"
        images = emoji.load("concepts-400", style, "test", clean=True).subset(concepts)
        images = images if look == style else in_looks(images, (look,))[0]
        found = torch.from_numpy(encode(self.seeing, images, cache=self.folder).embeddings[:])
        return found if kind == IMAGES else found[:, : self.clip.config.joint_dimension]

    @torch.no_grad()
    def _texts(self, concepts: range, templates: tuple[str, ...]) -> torch.Tensor:
        """float32[concepts, templates, 128]."""
        names = emoji.load("concepts-400", "noto", "test", clean=True).classnames[concepts.start : concepts.stop]
        rows = [self.clip.encode_text(write_texts([name], templates)) for name in names]
        return torch.stack(rows).float()


@dataclass(frozen=True)
class Scale:
    """How much is done."""

    steps: int
    looks: tuple[str, ...]
    corrupted: tuple[str, ...]
    restyled: tuple[str, ...]


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cache", type=Path, help="keep features in this folder")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--only", choices=(TEXTS, IMAGES), help="what teaches")
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        world = World(load("embedded"), asked.cache or Path(folder))
        scale = _scale(asked.steps, asked.quick)
        print("top-1 %, whole semantic covariate: clean | corrupted | restyled | " + " | ".join(TARGET_STYLES))
        for seed in asked.seeds[:1] if asked.quick else asked.seeds:
            for name, kind, method in _methods(scale.steps):
                if asked.only in (None, kind) and (seed == asked.seeds[0] or isinstance(method, LAID)):
                    report(f"{name}, seed {seed}", world, kind, method, seed, scale)


def report(title: str, world: World, kind: str, method, seed: int, scale: Scale) -> None:
    """Fit one decomposition, and print what there is to say of it."""
    taught = _taught(world, kind, scale.looks)
    halves = method.fit(taught, seed=seed) if isinstance(method, LAID) else method.fit(taught)
    shown = (("plain",), scale.corrupted, scale.restyled, *((style,) for style in TARGET_STYLES))
    accuracies = [np.mean([_accuracy(world, halves, kind, look) for look in looks], axis=0) for looks in shown]
    print(f"{title:28}", " | ".join(" ".join(f"{100 * one:4.1f}" for one in row) for row in accuracies), flush=True)
    told = (halves.about.get("validation") or {}).values()
    of_images = _triplets(world, halves, kind, scale.looks, halves.semantic.shape[1])
    print(f"    triplets held out {_shares(told)}; of tested concepts' images {_shares(of_images)}")
    print(f"    looks told apart {_shares(_looks_told(world, halves, kind, scale.looks))}")
    print("    degrees, same and other:", " | ".join(f"{a:.2f} {b:.2f}" for a, b in _degrees(world, halves, kind)))


def _scale(steps: int, quick: bool) -> Scale:
    looks = ("noto", *LOOKS[1:], "fluent-emoji")
    corrupted, restyled = tuple(f"{name} 3" for name in CORRUPTIONS), tuple(STYLES)
    return Scale(50, looks[:8], corrupted[:1], restyled[:1]) if quick else Scale(steps, looks, corrupted, restyled)


def _methods(steps: int):
    common = {"steps": steps, "learning_rate": RATE}
    for width in COLUMNS:
        yield f"LAID, texts, {width}", TEXTS, LAID(semantic_width=width, **common)
    yield "PCA, texts", TEXTS, PCA()
    yield f"LAID, images, {SEMANTIC}", IMAGES, LAID(semantic_width=SEMANTIC, whitened=WHITENED, **common)
    yield "PCA, images", IMAGES, PCA(centred=True)


def _taught(world: World, kind: str, looks: tuple[str, ...]) -> torch.Tensor:
    if kind == TEXTS:
        return world.texts(TAUGHT, EMOJI_LOOKS)
    return torch.stack([world.features(TAUGHT, look, kind) for look in looks], dim=1)


def _accuracy(world: World, halves: Decomposition, kind: str, look: str) -> list[float]:
    """Top-1 by part: by class texts, or by means of the known styles."""
    images, labels = world.features(TESTED, look, kind), np.arange(len(TESTED))
    if kind == TEXTS:
        classes = world.texts(TESTED, ("an icon of a {}.",))[:, 0]
        return [row.top1.value for row in decomposed_zero_shot(halves, images, labels, classes)]
    reference = torch.cat([world.features(TESTED, style, kind) for style in KNOWN])
    return _nearest_mean(halves, images, labels, reference, np.tile(labels, len(KNOWN)))


def _nearest_mean(halves: Decomposition, images, labels, reference, known) -> list[float]:
    """Accuracy of whole features and of both halves, by cosine with the mean unit row of each class."""
    of_parts = ((rows, *halves.halves(rows)) for rows in (images, reference))
    accuracies = []
    for rows, others in zip(*of_parts, strict=True):
        units = torch.nn.functional.normalize(others)
        means = torch.stack([units[known == label].mean(dim=0) for label in range(int(known.max()) + 1)])
        cosines = torch.nn.functional.normalize(rows) @ torch.nn.functional.normalize(means).T
        accuracies.append(float((cosines.argmax(dim=1).numpy() == labels).mean()))
    return accuracies


def _triplets(world: World, halves: Decomposition, kind: str, looks: tuple[str, ...], width: int) -> tuple[float, ...]:
    grid = torch.stack([world.features(TESTED, look, kind) for look in looks], dim=1)
    turned = torch.cat(halves.halves(grid.flatten(0, 1)), dim=1).unflatten(0, grid.shape[:2])
    batch = draw_triplets(turned, torch.arange(len(TESTED)), torch.arange(len(looks)), 4096, 0)
    return share_right(triplet_distances(torch.eye(turned.shape[2]), batch, width))


def _looks_told(world: World, halves: Decomposition, kind: str, looks: tuple[str, ...]) -> list[float]:
    tested, taught = (torch.cat([world.features(own, look, kind) for look in looks]) for own in (TESTED, TAUGHT))
    labels, known = (np.repeat(np.arange(len(looks)), len(own)) for own in (TESTED, TAUGHT))
    return _nearest_mean(halves, tested, labels, taught, known)


def _degrees(world: World, halves: Decomposition, kind: str) -> tuple[tuple[float, float], ...]:
    """Medians (same, other): of meaning, then of looks."""
    known = torch.cat([world.features(TESTED, style, kind)[:50] for style in SOURCE_STYLES[:4]])
    meaning = shift_degrees(halves, world.features(TESTED, "emojione", kind), known, k=3).semantic_degree
    reference = world.features(TESTED, "noto", kind)[:50]
    same, other = (
        np.concatenate(
            [shift_degrees(halves, world.features(TESTED, look, kind)[50:], reference).covariate_degree for look in own]
        )
        for own in (("noto",), LOOKS[1:])
    )
    return (np.median(meaning[:50]), np.median(meaning[50:])), (np.median(same), np.median(other))


def _shares(values) -> str:
    return " ".join(f"{100 * value:.1f}" for value in values) or "-"


if __name__ == "__main__":
    main()
