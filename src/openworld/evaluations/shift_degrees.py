"""Shift degrees of a run's pictures: fitting the decomposition on texts, and measuring every image set, in the cache.

Each is a folder beside encoded image sets, named by a hash of all that it depends on, and whole with its manifest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file, save

from openworld.datasets import templates
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.classifiers import MANIFEST, cache_of
from openworld.evaluations.decomposition_training import THINGS, encoder, features_of, look_grid, text_grid
from openworld.evaluations.image_selection import Pictures
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_entries import DecompositionSpec
from openworld.evaluations.units import stage_unit
from openworld.features.checksums import is_intact, require_intact, write_with_checksum
from openworld.runs import Unit, UnitResult, digest, read_spec, readable_json
from openworld.runs.atomic import write_file
from openworld.shift import Decomposition, load_decomposition, streamed_degrees

VERSION = 2
"""Raise it when the same texts or pictures give other numbers."""

_DECOMPOSITION, _DEGREES = "decomposition.safetensors", "degrees.safetensors"


@dataclass(frozen=True)
class Split:
    """A decomposition to be fitted: on names in sentences (`templates`) or pictures in looks (`templates` then)."""

    how: DecompositionSpec
    names: tuple[str, ...]
    templates: tuple[str, ...]
    threads: int
    pictures: Pictures | None = None

    @property
    def key(self) -> str:
        """Says what comes of it."""
        shown = self.pictures and self.pictures.load().fingerprint
        weights = encoder(self.how.backbone, self.how.taught_by).fingerprint
        told = asdict(self) | {"pictures": shown, "weights": weights, "version": VERSION}
        return digest({"decomposition": told})[:32]


@dataclass(frozen=True)
class Measure:
    """Degrees to be measured: those of `pictures` against the training pictures `known`, with the k-th neighbour."""

    name: str
    split: Split
    known: Pictures
    pictures: Pictures
    k: int

    @property
    def key(self) -> str:
        """Says what comes of it."""
        sets = [one.load().fingerprint for one in (self.known, self.pictures)]
        return digest({"degrees": [self.split.key, *sets, self.k, VERSION]})[:32]


@dataclass(frozen=True, eq=False)
class Degrees:
    """Of the n pictures that could be read: rows int64[n] among all; semantic, covariate float64[n] in [0, 2]."""

    rows: np.ndarray
    semantic: np.ndarray
    covariate: np.ndarray


def split_of(how: DecompositionSpec, datasets: Iterable[str], names: Iterable[str], threads: int) -> Split:
    """A decomposition by the names of all pictures, each once, in the looks that suit the data sets."""
    distinct = tuple({normalise_class_name(name): name for name in names}.values())
    ours = all(name.startswith("emoji-") for name in datasets)
    return Split(how, distinct, how.templates or (templates.EMOJI_LOOKS if ours else templates.CLIP_80), threads)


def unfitted(split: Split, machine: Machine) -> dict[Unit, int]:
    """A unit where the decomposition is not in the cache, and how many sentences or pictures it reads."""
    if _is_kept(cache_of(machine) / split.key / _DECOMPOSITION):
        return {}
    arguments = {"split": asdict(split)}
    things = split.names if split.pictures is None else range(min(THINGS, len(split.pictures.load())))
    return {stage_unit(fit_one, arguments, split.how.method, machine): len(things) * len(split.templates)}


def unmeasured(measures: Iterable[Measure], machine: Machine) -> dict[Unit, int]:
    """A unit per image set whose degrees are not in the cache, and how many pictures it has."""
    missing = {one.key: one for one in measures if not _is_kept(cache_of(machine) / one.key / _DEGREES)}
    return {
        stage_unit(measure_one, {"measure": asdict(one)}, one.name, machine): len(one.pictures.load())
        for one in missing.values()
    }


def fit_one(split: Mapping, machine: Mapping) -> UnitResult:
    """The unit: one decomposition, into the cache."""
    split, machine = read_spec(split, Split), read_spec(machine, Machine)
    torch.set_num_threads(split.threads)
    made = split.how.build()
    grid = _grid(split, machine)
    # On the CPU, so that cells do not depend on the device.
    fitted = made.fit(grid, seed=split.how.seed) if split.how.method == "LAID" else made.fit(grid)
    folder = cache_of(machine) / split.key
    write_with_checksum(folder / _DECOMPOSITION, fitted.to_bytes())
    told = {"name": split.how.method, "domain": split.how.backbone, "count": len(split.names)}
    write_file(folder / MANIFEST, readable_json(told | {"templates": list(split.templates)}))
    return UnitResult()


def measure_one(measure: Mapping, machine: Mapping) -> UnitResult:
    """The unit: the degrees of one image set, into the cache."""
    measure, machine = read_spec(measure, Measure), read_spec(machine, Machine)
    torch.set_num_threads(measure.split.threads)
    how = measure.split.how
    sets = (measure.known, measure.pictures)
    known, asked = (features_of(one, how.backbone, how.taught_by, machine) for one in sets)
    split = decomposition_of(measure.split, machine)
    found = streamed_degrees(split, asked.embeddings, known.embeddings, k=measure.k)
    arrays = {"rows": asked.rows[:], "semantic": found.semantic_degree, "covariate": found.covariate_degree}
    folder, shown = cache_of(machine) / measure.key, measure.pictures.load()
    write_with_checksum(folder / _DEGREES, save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))
    told = {"name": shown.name, "domain": shown.domain, "count": len(shown), "images": shown.fingerprint}
    write_file(folder / MANIFEST, readable_json(told))
    return UnitResult()


def decomposition_of(split: Split, machine: Machine) -> Decomposition:
    """The fitted decomposition, from the cache."""
    return _decomposition(require_intact(cache_of(machine) / split.key / _DECOMPOSITION))


def degrees_of(measure: Measure, machine: Machine) -> Degrees:
    """The degrees of an image set, from the cache.

    Raises:
        OpenworldError: they are not in the cache any more, or damaged.
    """
    path = require_intact(cache_of(machine) / measure.key / _DEGREES)
    return Degrees(**load_file(path))


@lru_cache(maxsize=4)
def _decomposition(path) -> Decomposition:
    return load_decomposition(path)


def _is_kept(path: Path) -> bool:
    """Whether what a unit makes is there, with its manifest and as it was written."""
    return path.with_name(MANIFEST).exists() and is_intact(path)


def _grid(split: Split, machine: Machine) -> torch.Tensor:
    """What teaches, float32[S, C, D]."""
    if split.pictures is None:
        return text_grid(split.how.backbone, split.names, split.templates, machine)
    return look_grid(split.how, split.pictures, split.templates, machine)
