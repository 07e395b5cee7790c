"""The pool of judged (model, shift) pairs: a folder per world and model, a file per image set.

    POOL/<world>/<model>/source.npz             labelled, of the law that the model was trained on, not seen in training
    POOL/<world>/<model>/same--unseen.npz       as many others of the very same law
    POOL/<world>/<model>/<family>--<shift>.npz  a shifted set, labelled

Arrays of a file: `logits` float32[n, C] of the judged model; `labels` int64[n]; `reference` float32[n, C] of a model of
another kind, and where there are such `reference_weak` (knows little) and `reference_kin` (the same recipe with another
seed: not independent), float32[n, C]; `classnames` [C]; and where the model has one `embedding`, float32[n, D], its
last hidden layer. The name of a model ends in its seed: seed 0 chooses rules, the others only test them. Of the worlds
that `main` makes, no model chooses a rule.
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

Reader = Callable[[Any], NDArray]
"""Images, texts, sounds or rows of a table -> float[n, columns]."""

MILD = 0.1
"""A shift is mild while the accuracy falls by less than this."""


@dataclass(frozen=True)
class Judged:
    """A judged model, its recipe trained with another seed, and its last hidden layer."""

    logits: Reader
    kin: Reader
    embedding: Reader | None = None


@dataclass(frozen=True)
class World:
    """One seed of a world: what its models read, by name of the set and with labels, and who reads it."""

    classnames: Sequence[str]
    sets: dict[str, tuple[Any, NDArray]]
    models: dict[str, Judged]
    reference: Reader
    weak: Reader


def keep(folder: Path, name: str, **arrays: np.ndarray) -> None:
    """Write one image set, whole or not at all; `classnames`, `labels`, `logits` and any references.

    Raises:
        ValueError: arrays that are not finite, or do not have n rows and C columns.
    """
    shape = (len(arrays["labels"]), len(arrays["classnames"]))
    for key in arrays.keys() - {"labels", "classnames"}:
        arrays[key] = np.asarray(arrays[key], dtype=np.float32)
        expected = (shape[0], arrays[key].shape[-1]) if key == "embedding" else shape
        if arrays[key].shape != expected or not np.isfinite(arrays[key]).all():
            raise ValueError(f"{key} of {name!r} is not finite or is {arrays[key].shape}, expected {expected}.")
    arrays["labels"] = np.asarray(arrays["labels"], dtype=np.int64)
    arrays["classnames"] = np.asarray(arrays["classnames"], dtype=str)
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{name}.unfinished"
    with open(unfinished, "wb") as file:
        np.savez(file, **arrays)
    os.replace(unfinished, _path(folder, name))


def is_kept(folder: Path, name: str) -> bool:
    """Whether an image set was written before."""
    return _path(folder, name).exists()


def sets(folder: Path) -> dict[str, dict[str, np.ndarray]]:
    """Name -> arrays of all image sets of a model, in the order of their names."""
    return {path.stem: dict(np.load(path)) for path in sorted(folder.glob("*.npz"))}


def family(name: str) -> str:
    """The kind of shift of an image set.

    >>> family("noise--gaussian-noise-3")
    'noise'
    """
    return name.split("--")[0]


def accuracy(logits: np.ndarray, labels: np.ndarray) -> float:
    """The share of images that are named right."""
    return float(np.mean(logits.argmax(axis=1) == labels))


def summary(folder: Path) -> str:
    """Return in a line how right a judged model and its references are."""
    found = sets(folder)
    source, unseen = found.pop("source"), found.pop("same--unseen")
    shifted = sorted(accuracy(arrays["logits"], arrays["labels"]) for arrays in found.values())
    parts = [f"source {accuracy(source['logits'], source['labels']):.3f} of {len(source['labels'])}"]
    parts += [f"unseen {accuracy(unseen['logits'], unseen['labels']):.3f} of {len(unseen['labels'])}"]
    parts += [f"{len(shifted)} shifts {shifted[0]:.3f} to {shifted[-1]:.3f}"]
    parts += [f"{key} {accuracy(source[key], source['labels']):.3f}" for key in source if key.startswith("reference")]
    return f"{folder.parent.name}/{folder.name}: {', '.join(parts)}"


def write(out: Path, name: str, seed: int, world: World) -> None:
    """Write every set of every judged model of a seed."""
    for title, (inputs, labels) in world.sets.items():
        shared = {"labels": labels, "classnames": world.classnames}
        shared |= {"reference": world.reference(inputs), "reference_weak": world.weak(inputs)}
        for model, judged in world.models.items():
            arrays = shared | {"logits": judged.logits(inputs), "reference_kin": judged.kin(inputs)}
            if judged.embedding is not None:
                arrays["embedding"] = judged.embedding(inputs)
            keep(out / name / f"{model}-{seed}", title, **arrays)


def overview(folder: Path) -> list[str]:
    """Return the cells of a judged model: accuracies, confidence, and how many shifts are mild and strong."""
    found = sets(folder)
    source = found.pop("source")
    found.pop("same--unseen")
    right = accuracy(source["logits"], source["labels"])
    sure = softmax(source["logits"].astype(np.float64), axis=1).max(axis=1).mean()
    shifted = np.array([accuracy(arrays["logits"], arrays["labels"]) for arrays in found.values()])
    references = [accuracy(source[key], source["labels"]) for key in ("reference", "reference_weak")]
    mild = int((right - shifted < MILD).sum())
    ranges = f"{100 * shifted.min():.1f} to {100 * shifted.max():.1f}"
    numbers = [f"{100 * number:.1f}" for number in (right, sure, *references)]
    classes = str(source["logits"].shape[1])
    return [folder.parent.name, folder.name, classes, *numbers, str(len(shifted)), ranges, str(mild)]


def main(document: str, worlds: dict[str, Callable[[int], World]], arguments: list[str] | None = None) -> None:
    """Make worlds by their names, and print a row for each judged model; percent."""
    parser = argparse.ArgumentParser(description=document.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--world", choices=worlds, action="append", help="all by default")
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[0, 1])
    options = parser.parse_args(arguments)
    heads = ("world", "model", "classes", "source accuracy", "mean confidence", "reference", "weak reference")
    heads += ("sets", "range of true accuracy", "of them mild", "seconds")
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for name in options.world or worlds:
        for seed in options.seeds:
            start = time.perf_counter()
            world = worlds[name](seed)
            write(options.out, name, seed, world)
            seconds = f"{time.perf_counter() - start:.0f}"
            for model in world.models:
                cells = [*overview(options.out / name / f"{model}-{seed}"), seconds]
                print("| " + " | ".join(cells) + " |", flush=True)


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.npz"
