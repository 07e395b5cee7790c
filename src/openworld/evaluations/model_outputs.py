"""What models say of the pictures of a condition: all look at once, and it is kept in the cache.

A picture is read, and corrupted, once; every classifier of the run answers it, and every backbone embeds it. Answers of
classifiers lie in a folder of the pictures, embeddings where encoded image sets lie.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save

from openworld._errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.datasets.pooling import remembered
from openworld.evaluations.classifiers import MANIFEST, Judged, cache_of
from openworld.evaluations.image_selection import Pictures
from openworld.evaluations.runtime import Machine, backbone, cached_here
from openworld.evaluations.units import stage_unit
from openworld.features import Encoding, Features, encode, encode_shard, is_encoded, missing_shards
from openworld.features.checksums import is_intact, require_intact, write_with_checksum
from openworld.features.store import memory_map
from openworld.runs import Unit, UnitResult, digest, read_spec
from openworld.runs.atomic import write_file

VERSION = 1
"""Raise it when the same classifier says something else of the same pictures."""

_TOGETHER = 1024  # pictures in memory at a time: those of a shard of an encoded set


@dataclass(frozen=True)
class Look:
    """Pictures, who is to look at them, and how many threads one picture's sums may take."""

    name: str
    pictures: Pictures
    judged: tuple[Judged, ...]
    backbones: tuple[str, ...]
    threads: int


def unseen(looks: Iterable[Look], machine: Machine) -> dict[Unit, int]:
    """A unit per look that lacks something in the cache, and how many pictures it has."""
    return {_unit(one, machine): len(one.pictures.load()) for one in looks if _lacks(one, machine)}


def look_one(look: Mapping, machine: Mapping) -> UnitResult:
    """The unit: whatever is missing of one look, into the cache."""
    look, machine = read_spec(look, Look), read_spec(machine, Machine)
    torch.set_num_threads(look.threads)
    images = remembered(look.pictures.load(), _TOGETHER)
    judged = [one for one in look.judged if not is_intact(_path(look.pictures, one, machine))]
    answers: dict[Judged, list[np.ndarray]] = {one: [] for one in judged}
    for shard, start in enumerate(range(0, len(images), _TOGETHER)):
        _embed(look, images, shard, machine)
        batch = _Batch(images, range(start, min(start + _TOGETHER, len(images))), machine.allow_corrupt)
        for one in judged:
            answers[one].append(batch.answers(one.load(machine), machine.device))
    for name in look.backbones:  # all shards are there: this makes the set whole
        encode(backbone(name, machine.device), images, **machine.storage)
    for one, parts in answers.items():
        write_with_checksum(_path(look.pictures, one, machine), save({"logits": np.concatenate(parts)}))
    _describe(images, _folder(look.pictures, machine))
    return UnitResult()


def answers_of(pictures: Pictures, judged: Judged, machine: Machine) -> np.ndarray:
    """Logits float32[N, C] of a classifier on all pictures, on disk; rows of NaN for those that could not be read.

    Raises:
        OpenworldError: they are not in the cache any more, or damaged.
    """
    return memory_map(require_intact(_path(pictures, judged, machine)), "logits")


def embeddings_of(pictures: Pictures, name: str, machine: Machine) -> Features:
    """What a backbone makes of the pictures, from the cache."""
    return encode(backbone(name, machine.device), pictures.load(), **machine.storage)


class _Batch:
    """Pictures in memory, prepared once for all classifiers of one view."""

    def __init__(self, images: ImageSet, rows: range, allowed: int):
        self._images, self._rows, self._allowed = images, rows, allowed
        self._prepared: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}

    def answers(self, classifier, device: str) -> np.ndarray:
        """float32[n, C]; rows of NaN for pictures that cannot be read."""
        if classifier.classnames != self._images.classnames:
            raise OpenworldError(
                f"{classifier.architecture!r} was trained on other class names than those of {self._images.name!r}, or "
                "in another order; the pictures must show the model's classes."
            )
        if classifier.view not in self._prepared:
            self._prepared[classifier.view] = self._prepare(classifier)
        pixels, unreadable = self._prepared[classifier.view]
        found = classifier.logits_of_pixels(pixels, device=device)
        found[unreadable] = np.nan
        return found

    def _prepare(self, classifier) -> tuple[np.ndarray, np.ndarray]:
        pixels = np.zeros((len(self._rows), 3, classifier.side, classifier.side), np.uint8)
        unreadable = np.zeros(len(self._rows), bool)
        for place, row in enumerate(self._rows):
            try:
                pixels[place] = classifier.prepare(self._images.image(row))
            except OpenworldError:
                unreadable[place] = True
                if unreadable.sum() > self._allowed:
                    raise
        return pixels, unreadable


def _embed(look: Look, images: ImageSet, shard: int, machine: Machine) -> None:
    """The missing shards of that number."""
    cores = look.threads if machine.device == "cpu" else None
    for name in look.backbones:
        clip = backbone(name, machine.device)
        if shard in missing_shards(clip, images, [Encoding()], cache=machine.folder):
            options = {"cache": machine.folder, "allow_corrupt": machine.allow_corrupt, "cores": cores}
            encode_shard(clip, images, [Encoding()], shard, **options)


def _lacks(look: Look, machine: Machine) -> bool:
    if not all(is_intact(_path(look.pictures, one, machine)) for one in look.judged):
        return True
    clips = (backbone(name, machine.device) for name in look.backbones)
    return not all(is_encoded(clip, look.pictures.load(), cache=machine.folder) for clip in clips)


def _unit(look: Look, machine: Machine) -> Unit:
    return stage_unit(look_one, {"look": asdict(look)}, look.name, machine)


def _folder(pictures: Pictures, machine: Machine) -> Path:
    return cache_of(machine) / _key(pictures)


def _path(pictures: Pictures, judged: Judged, machine: Machine) -> Path:
    return _folder(pictures, machine) / f"answers-{judged.key}.safetensors"


@cached_here(maxsize=1024)
def _key(pictures: Pictures) -> str:
    return digest({"pictures": pictures.load().fingerprint, "version": VERSION})[:32]


def _describe(images: ImageSet, folder: Path) -> None:
    """A manifest, as encoded image sets have one: what the pictures are."""
    told = {"name": images.name, "domain": images.domain, "count": len(images), "images": images.fingerprint}
    write_file(folder / MANIFEST, json.dumps(told, indent=1, sort_keys=True).encode())
