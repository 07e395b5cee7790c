"""The pool of judged (model, shift) pairs: a folder per world and model, a file per image set.

    POOL/<world>/<model>/source.npz             labelled, of the law that the model was trained on, not seen in training
    POOL/<world>/<model>/same--unseen.npz       as many others of the very same law
    POOL/<world>/<model>/<family>--<shift>.npz  a shifted set, labelled

Arrays of a file: `logits` float32[n, C] of the judged model; `labels` int64[n]; `reference` float32[n, C] of a model of
another kind, and where there are such `reference_weak` (knows little) and `reference_kin` (the same recipe with another
seed: not independent), float32[n, C]; `classnames` [C]. The name of a model ends in its seed: seed 0 chooses rules, the
others only test them.
"""

import os
from pathlib import Path

import numpy as np


def keep(folder: Path, name: str, **arrays: np.ndarray) -> None:
    """Write one image set, whole or not at all; `classnames`, `labels`, `logits` and any references.

    Raises:
        ValueError: arrays that are not finite, or do not have n rows and C columns.
    """
    shape = (len(arrays["labels"]), len(arrays["classnames"]))
    for key in arrays.keys() - {"labels", "classnames"}:
        arrays[key] = np.asarray(arrays[key], dtype=np.float32)
        if arrays[key].shape != shape or not np.isfinite(arrays[key]).all():
            raise ValueError(f"{key} of {name!r} is not finite or is {arrays[key].shape}, expected {shape}.")
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
    """The share of pictures that are named right."""
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


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.npz"
