"""Train the two towers with two losses that share one learned vector per concept.

The image tower is a cosine classifier over the concept vectors. The text tower, in the same step, classifies captions
against those vectors and pulls each caption towards its vector and its image's feature, all of them detached. A short
last phase is contrastive (Radford et al., 2021), with gradients in both towers and a learned temperature.

A batch is cut into parts that worker threads take in turn, each augmented and differentiated on one core: on two
shared cores this is faster than two threads inside every operation. All randomness comes from (seed, step, part), so
a run that is stopped and resumed sees the same batches.
"""

import copy
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from emoji_clip.augment import augment, informative_patches
from emoji_clip.captions import Captions, pad
from emoji_clip.export import train_with_silu
from emoji_clip.recipe import MEAN, STD, Recipe
from emoji_clip.world import World
from openworld.backbones.config import TwoTowerConfig
from openworld.backbones.two_tower import TwoTower


class Trainer:
    """The state of a run and its step; `save` and `resume` store and restore it whole."""

    def __init__(self, world: World, captions: Captions, config: TwoTowerConfig, recipe: Recipe):
        torch.manual_seed(recipe.seed)
        self.world, self.captions, self.recipe = world, captions, recipe
        self.data = TrainingData(world)
        self.model = place_patches(train_with_silu(TwoTower(config)))
        with torch.no_grad():
            self.model.log_scale.fill_(np.log(recipe.scale))
        # Of length one: the classifier normalises them, so it is their length that sets how fast they turn.
        vectors = F.normalize(torch.randn(self.data.classes, config.joint_dimension), dim=-1)
        self.class_vectors = nn.Parameter(vectors)
        self.average = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = build_optimizer(self.model, self.class_vectors, recipe)
        self.peaks = [group["peak"] for group in self.optimizer.param_groups]
        self.parameters = [parameter for group in self.optimizer.param_groups for parameter in group["params"]]
        self.pool = ThreadPoolExecutor(recipe.workers)
        self.steps = self.samples = 0
        self.seconds = 0.0

    @property
    def progress(self) -> float:
        """How much of the run is done, 0 to 1."""
        return self.recipe.progress(self.samples, self.seconds)

    def step(self) -> dict[str, float]:
        """One update of all weights; returns the mean of each loss over the parts."""
        start, recipe, progress = time.monotonic(), self.recipe, self.progress
        joint = progress >= recipe.joint_from
        batch = recipe.joint_batch if joint else recipe.batch
        count = recipe.joint_parts if joint else recipe.parts
        size = batch // count
        parts = list(self.pool.map(lambda part: self.part(part, size, progress), range(count)))
        gradients = parts[0][0]
        with torch.no_grad():
            for more, _ in parts[1:]:
                torch._foreach_add_(gradients, more)
            torch._foreach_div_(gradients, count)
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        for group in self.optimizer.param_groups:
            rate = recipe.joint_rate * recipe.joint_factor(progress) * group["joint"]
            group["lr"] = max(rate, group["peak"] * recipe.rate_factor(progress))
        self.optimizer.step()
        self.follow()
        self.steps += 1
        self.samples += size * count
        self.seconds += time.monotonic() - start
        return {name: float(np.mean([losses[name] for _, losses in parts])) for name in parts[0][1]}

    @torch.no_grad()
    def follow(self) -> None:
        """Move the averaged weights towards the current ones; fast in the first steps, then at the recipe's pace."""
        pace = 1 - min(self.recipe.average, (1 + self.steps) / (10 + self.steps))
        torch._foreach_lerp_(list(self.average.parameters()), list(self.model.parameters()), pace)

    def part(self, part: int, size: int, progress: float) -> tuple[list[Tensor], dict[str, float]]:
        """Gradients of all parameters on one part of the batch, `size` images, and the losses."""
        recipe, seed = self.recipe, np.random.SeedSequence([self.recipe.seed, self.steps, part])
        random = np.random.default_rng(seed)
        noise = torch.Generator().manual_seed(int(seed.generate_state(1)[0]))
        rows, classes = self.data.draw(size, random)
        pixels, looks = augment(
            self.data.images[rows], self.data.flippable[rows], recipe.looks_strength(progress), noise
        )
        kept = recipe.kept_patches(progress)
        keep = None if kept is None else informative_patches(pixels, kept, self.model.config.image.patch_size, noise)
        images = F.normalize(self.model.image((pixels - MEAN) / STD, keep), dim=-1)
        losses = {"image": self.image_loss(images, classes)}
        joint = progress >= recipe.joint_from
        described = np.arange(len(rows)) if joint else np.arange(int(recipe.caption_share * len(rows)))
        looks = [looks[index] or str(self.world.style[rows[index]]) for index in described]
        others = random.choice(self.data.concepts, recipe.other_captions * size // recipe.batch)
        concepts = np.concatenate([self.world.concept[rows[described]], others])
        texts, text_classes = self.texts(concepts, looks + [None] * len(others), random)
        losses["text"] = self.text_loss(texts, text_classes, classes, random)
        losses["align"] = self.align_loss(texts, text_classes)
        own, targets = texts[: len(described)], images[: len(described)]
        losses["pull"] = recipe.pull * (1 - (own * targets.detach()).sum(-1)).mean()
        if joint:
            losses["joint"] = self.joint_loss(targets, own, classes)
        gradients = torch.autograd.grad(sum(losses.values()), self.parameters, materialize_grads=True)
        return list(gradients), {name: loss.item() for name, loss in losses.items()}

    def image_loss(self, images: Tensor, classes: Tensor) -> Tensor:
        """Cross-entropy of the cosine classifier over all concept vectors."""
        logits = self.recipe.scale * images @ F.normalize(self.class_vectors, dim=-1).T
        return F.cross_entropy(logits, classes, label_smoothing=self.recipe.label_smoothing)

    def texts(self, concepts: np.ndarray, looks: list, random: np.random.Generator) -> tuple[Tensor, Tensor]:
        """One caption of each concept: unit embeddings [C,D] and classes int64[C]; a look may be None."""
        drawn = [self.captions.draw(c, look, random) for c, look in zip(concepts, looks, strict=True)]
        texts = F.normalize(self.model.text(torch.from_numpy(pad(drawn))), dim=-1)
        return texts, torch.from_numpy(self.data.class_of[concepts])

    def text_loss(self, texts: Tensor, own: Tensor, batch: Tensor, random: np.random.Generator) -> Tensor:
        """Cross-entropy of captions against the detached vectors of the classes at hand and some others."""
        others = torch.from_numpy(random.integers(self.data.classes, size=self.recipe.other_classes))
        at_hand, position = torch.cat([own, batch, others]).unique(return_inverse=True)
        logits = self.recipe.scale * texts @ F.normalize(self.class_vectors.detach()[at_hand], dim=-1).T
        return F.cross_entropy(logits, position[: len(own)], label_smoothing=self.recipe.label_smoothing)

    def align_loss(self, texts: Tensor, own: Tensor) -> Tensor:
        """Cosine distance of captions to their class vectors.

        Without it captions stop at a cosine of .3, where the classification among a hundred names is already right,
        and images then find their class vector three times as often as their name.
        """
        return self.recipe.align * (1 - (texts * F.normalize(self.class_vectors.detach()[own], dim=-1)).sum(-1)).mean()

    def joint_loss(self, images: Tensor, texts: Tensor, classes: Tensor) -> Tensor:
        """Symmetric contrastive loss within the part; images of one class count as matches of each other."""
        logits = self.model.logit_scale * images @ texts.T
        match = (classes[:, None] == classes[None, :]).float()
        match = match / match.sum(1, keepdim=True)
        return 0.5 * (F.cross_entropy(logits, match) + F.cross_entropy(logits.T, match))

    def save(self, path: Path) -> None:
        """Store the whole state at `path`, all or nothing."""
        state = {name: getattr(self, name).state_dict() for name in ("model", "average", "optimizer")}
        state |= {name: getattr(self, name) for name in ("steps", "samples", "seconds")}
        partial = path.with_suffix(".partial")
        with open(partial, "wb") as file:
            torch.save(state | {"class_vectors": self.class_vectors.data}, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)

    def resume(self, path: Path) -> None:
        """Restore the state stored at `path`."""
        state = torch.load(path, weights_only=True)
        for name in ("model", "average", "optimizer"):
            getattr(self, name).load_state_dict(state[name])
        for group, peak in zip(self.optimizer.param_groups, self.peaks, strict=True):
            group["peak"] = peak  # the recipe's, also where it differs from the interrupted run's
        self.class_vectors.data.copy_(state["class_vectors"])
        self.steps, self.samples, self.seconds = state["steps"], state["samples"], state["seconds"]


@torch.no_grad()
def place_patches(model: TwoTower, strength: float = 0.7) -> TwoTower:
    """Add sines and cosines of row and column to the patch positions.

    From CLIP's random positions, a tenth of the patches' own size, this training never came to use them: after 580 k
    images the model was a bag of patches, as good on images whose patches were shuffled.
    """
    grid, width = model.config.image.grid, model.config.image.width
    frequencies = torch.pi / grid * torch.logspace(0, 1, width // 4, base=grid)
    angles = torch.arange(grid)[:, None] * frequencies
    waves = torch.cat([angles.sin(), angles.cos()], dim=1)
    down, across = waves[:, None].expand(-1, grid, -1), waves[None].expand(grid, -1, -1)
    model.image.positions[1:] += strength * torch.cat([down, across], dim=-1).flatten(0, 1)
    return model


class TrainingData:
    """The images training may see, by class: a class is a concept with its visual twins."""

    def __init__(self, world: World):
        self.images = torch.from_numpy(world.images)
        index = {concept.id: position for position, concept in enumerate(world.concepts)}
        root = np.array([index[concept.twin_of or concept.id] for concept in world.concepts])
        rows = world.training_rows()
        roots, of_row = np.unique(root[world.concept[rows]], return_inverse=True)
        self.classes = len(roots)
        self.rows = [rows[of_row == label] for label in range(self.classes)]
        self.class_of = np.searchsorted(roots, root)  # only meaningful for the concepts below
        self.concepts = np.unique(world.concept[rows])
        symbol = np.array([concept.group == "symbols" for concept in world.concepts])
        self.flippable = torch.from_numpy(~symbol[world.concept])

    def draw(self, count: int, random: np.random.Generator) -> tuple[np.ndarray, Tensor]:
        """Rows int64[count] and classes int64[count]: classes uniformly, then one of the class's images."""
        classes = random.choice(self.classes, count, replace=count > self.classes)
        rows = np.array([random.choice(self.rows[label]) for label in classes])
        return rows, torch.from_numpy(classes)


def build_optimizer(model: TwoTower, class_vectors: nn.Parameter, recipe: Recipe) -> torch.optim.AdamW:
    """AdamW with weight decay on matrices alone; `peak` and `joint` are the rates of the two phases per group."""
    named = dict(model.named_parameters())
    named.pop("logit_bias")
    scale = named.pop("log_scale")
    decayed = [p for name, p in named.items() if p.dim() > 1 and "positions" not in name]
    plain = [p for name, p in named.items() if p.dim() <= 1 or "positions" in name]
    groups = [
        {"params": decayed, "peak": recipe.rate, "joint": 1.0},
        {"params": plain, "peak": recipe.rate, "joint": 1.0, "weight_decay": 0.0},
        {"params": [class_vectors], "peak": recipe.class_rate, "joint": 1.0},
        {"params": [scale], "peak": 0.0, "joint": 30.0, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.rate, betas=recipe.betas, weight_decay=recipe.weight_decay, fused=True)
