"""Zero-shot figures of a model, by image style: what the training log and the model card report.

The model is seen only through two functions: pixels to features and sentences to features. Images are "clean" (on
white) or "varied" (size, angle, place and background from a fixed seed, one variation of each drawing).
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from emoji_clip.augment import background, uniform
from emoji_clip.captions import plain
from emoji_clip.recipe import MEAN, STD
from emoji_clip.world import World
from openworld.datasets.emoji.drawings import SOURCE_STYLES, TARGET_STYLES

TEMPLATE = "an icon of a {}."
STYLES = SOURCE_STYLES + TARGET_STYLES
# Seen concepts the tables use, a multiple of every number of ways.
CONCEPTS = 500


def clean(images: np.ndarray) -> Tensor:
    """Images uint8[B,H,W,4] on white, float32[B,3,H,W] in [0,1]."""
    rgba = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    return rgba[:, :3] * rgba[:, 3:] + 1 - rgba[:, 3:]


def varied(images: np.ndarray, seed: int = 0) -> Tensor:
    """The same, .9 to 1.4 times smaller, turned up to 15 degrees, shifted, half of them on light backgrounds."""
    random = Generator().manual_seed(seed)
    rgba = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    count, size = len(rgba), rgba.shape[-1]
    scale, angle = uniform((count,), 0.7, 1.1, random), uniform((count,), -0.26, 0.26, random)
    cos, sin = angle.cos() / scale, angle.sin() / scale
    matrix = torch.stack([torch.stack([cos, -sin], 1), torch.stack([sin, cos], 1)], 1)
    shift = uniform((count, 2, 1), -0.1, 0.1, random)
    grid = F.affine_grid(torch.cat([matrix, shift], 2), [count, 1, size, size], align_corners=False)
    layers = torch.cat([rgba[:, :3] * rgba[:, 3:], rgba[:, 3:]], 1)
    moved = F.grid_sample(layers, grid, align_corners=False)
    behind = background(count, size, torch.ones(count, dtype=torch.bool), random)
    return (moved[:, :3] + (1 - moved[:, 3:]) * behind).clamp(0, 1)


VIEWS = {"clean": clean, "varied": varied}


class Evaluation:
    """Figures of one model; the features of a style's images are computed once and shared by all of them.

    encode_images: normalised pixels float32[B,3,H,W] to features; encode_texts: sentences to features.
    """

    def __init__(self, world: World, encode_images: Callable, encode_texts: Callable, seed: int = 7):
        self.world, self.encode_images, self.encode_texts = world, encode_images, encode_texts
        self.random = np.random.default_rng(seed)
        withheld = np.array([concept.withheld for concept in world.concepts])
        whole = whole_concepts(world)
        self.seen = self.random.permutation(whole[~withheld[whole]])[:CONCEPTS]
        self.withheld = self.random.permutation(whole[withheld[whole]])
        self.features: dict[tuple[str, str], np.ndarray] = {}

    @cached_property
    def names(self) -> np.ndarray:
        """Unit features float32[C,D] of all names in one template."""
        sentences = [TEMPLATE.format(plain(concept.name)) for concept in self.world.concepts]
        with torch.no_grad():
            return F.normalize(self.encode_texts(sentences), dim=-1).numpy()

    def images(self, style: str, view: str, concepts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Unit features float32[M,D] and concepts int64[M] of the images of `concepts` in a style."""
        rows = np.flatnonzero(self.world.style == style)
        if (style, view) not in self.features:
            self.features[style, view] = self.encode(rows, view)
        inside = np.isin(self.world.concept[rows], concepts)
        return self.features[style, view][inside], self.world.concept[rows[inside]]

    def encode(self, rows: np.ndarray, view: str) -> np.ndarray:
        """Unit features float32[len(rows), D] of any images."""
        with torch.no_grad():
            pixels = (VIEWS[view](self.world.images[rows]) - MEAN) / STD
            return F.normalize(torch.cat([self.encode_images(part) for part in pixels.split(128)]), dim=-1).numpy()

    def accuracy(self, style: str, view: str, concepts: np.ndarray, ways: int) -> float:
        """Top-1 over disjoint sets of `ways` of the concepts; what is left over is not used."""
        right = []
        for start in range(0, len(concepts) - ways + 1, ways):
            chosen = concepts[start : start + ways]
            features, labels = self.images(style, view, chosen)
            right.append(chosen[(features @ self.names[chosen].T).argmax(1)] == labels)
        return float(np.concatenate(right).mean())

    def auroc(self, style: str, view: str) -> float:
        """How well the largest cosine over 50 base names tells base images from those of 50 new concepts."""
        values = []
        for start in range(0, len(self.seen) - 99, 100):
            base, new = self.seen[start : start + 50], self.seen[start + 50 : start + 100]
            scores = [(self.images(style, view, part)[0] @ self.names[base].T).max(1) for part in (base, new)]
            values.append((scores[0][:, None] > scores[1][None, :]).mean())
        return float(np.mean(values))

    def row(self, style: str, view: str) -> dict[str, float]:
        """All figures of one style."""
        every = np.arange(len(self.world.concepts))
        return {
            "100-way": self.accuracy(style, view, self.seen, 100),
            "20-way": self.accuracy(style, view, self.seen, 20),
            f"{len(every)}-way": self.accuracy(style, view, every, len(every)),
            "withheld 20-way": self.accuracy(style, view, self.withheld, 20),
            "AUROC": self.auroc(style, view),
        }

    def confidence_correlation(self, scale: float, view: str, smallest: int = 10) -> float:
        """Correlation of mean confidence and accuracy over style x group cells of at least `smallest` images.

        All of the evaluation's seen concepts are candidates at once.
        """
        groups, cells = np.array([concept.group for concept in self.world.concepts]), []
        for style in STYLES:
            features, labels = self.images(style, view, self.seen)
            logits = scale * features @ self.names[self.seen].T
            confidence, right = softmax(logits).max(1), self.seen[logits.argmax(1)] == labels
            for group in np.unique(groups[labels]):
                inside = groups[labels] == group
                if inside.sum() >= smallest:
                    cells.append((confidence[inside].mean(), right[inside].mean()))
        return float(np.corrcoef(np.array(cells).T)[0, 1])

    def best_scale(self, count: int = 1500) -> tuple[float, float]:
        """The logit scale with the smallest zero-shot loss on varied source images over all names, and that loss."""
        rows = self.random.choice(self.world.training_rows(), count, replace=False)
        candidates = np.unique(self.world.concept[self.world.training_rows()])
        labels = np.searchsorted(candidates, self.world.concept[rows])
        cosines = self.encode(rows, "varied") @ self.names[candidates].T
        scales = np.geomspace(5, 100, 61)
        likelihoods = [np.log(softmax(scale * cosines)[np.arange(count), labels] + 1e-30) for scale in scales]
        means = np.mean(likelihoods, axis=1)
        return float(scales[means.argmax()]), float(-means.max())


def whole_concepts(world: World) -> np.ndarray:
    """Concepts int64[C] that have no visual twin and are drawn in every style."""
    twinned = {concept.twin_of for concept in world.concepts}
    single = [concept.twin_of is None and concept.id not in twinned for concept in world.concepts]
    return np.flatnonzero(single & (np.bincount(world.concept, minlength=len(single)) == len(STYLES)))


def softmax(logits: np.ndarray) -> np.ndarray:
    """Softmax of each row."""
    exponents = np.exp(logits - logits.max(1, keepdims=True))
    return exponents / exponents.sum(1, keepdims=True)
