"""What a unit works with on this machine: backbones and encoded image sets by name, each loaded once per process."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from pathlib import Path

import numpy as np

from openworld import backbones, datasets
from openworld._arrays import require_at_least
from openworld._errors import OpenworldError
from openworld.backbones.precision import DTYPES, Precision, allow_tf32
from openworld.evaluations.devices import require_device
from openworld.evaluations.disk_sets import streams
from openworld.features import Encoding, Features, encode_together, is_encoded, stream


@dataclass(frozen=True)
class Machine:
    """Where a run computes and keeps features; but for the precision, nothing here may change a result.

    Args:
        device: "cpu", "cuda", "cuda:1", "mps".
        cache: folder of encoded image sets; None for the default one.
        allow_corrupt: how many unreadable images each image set may lack.
        precision: of the frozen towers, as the spec of the run says; part of every key.
        cache_limit: bytes that the cache may have; None for no limit.

    Raises:
        OpenworldError: a device that torch does not know or this machine does not have.
    """

    device: str = "cpu"
    cache: str | None = None
    allow_corrupt: int = 0
    precision: Precision = "float32"
    cache_limit: int | None = None

    def __post_init__(self):
        require_at_least(0, allow_corrupt=self.allow_corrupt)
        require_device(self.device)

    @property
    def folder(self) -> Path | None:
        """The cache as a path."""
        return None if self.cache is None else Path(self.cache)

    @property
    def storage(self) -> dict:
        """How `encode` and its like are to keep what they make."""
        return {"cache": self.folder, "allow_corrupt": self.allow_corrupt, "limit": self.cache_limit}

    def backbone(self, name: str):
        """The frozen backbone `name` on the device, ready to compute in the precision."""
        allow_tf32(self.precision == "tf32")
        return backbone(name, self.device, self.precision)


@dataclass(frozen=True)
class Source:
    """An image set by name: one part of a data set in one domain.

    A training part is drawn by `seed` and `shots`, over all classes; `base_only` then keeps the base half, `classes`
    keeps those, so that runs on base classes and on all of them share their pictures.
    """

    dataset: str
    domain: str | None
    part: str
    seed: int = 0
    shots: int | None = None
    base_only: bool = False
    classes: tuple[int, ...] | None = None

    def __str__(self) -> str:
        drawn = f"{self.shots} shots, seed {self.seed}" if self.part == "train" else ""
        chosen = f"{len(self.classes)} classes" if self.classes is not None else ""
        return ", ".join(filter(None, (self.dataset, self.domain, self.part, drawn, chosen)))

    def load(self):
        """The image set itself."""
        return _load(self)


def cached_here(maxsize: int) -> Callable[[Callable], Callable]:
    """Keep results as `functools.lru_cache` does, apart for every current folder and place of the data sets.

    For functions of image sets in words: one relative path names other images in another folder.
    """

    def keep(function: Callable) -> Callable:
        kept = lru_cache(maxsize)(lambda place, *arguments: function(*arguments))

        @wraps(function)
        def look_up(*arguments):
            return kept((os.getcwd(), os.environ.get(datasets.downloaded.VARIABLE)), *arguments)

        return look_up

    return keep


@cached_here(maxsize=64)
def _load(source: Source):
    drawn = {"seed": source.seed, "shots": source.shots} if source.part == "train" else {}
    images = datasets.load(source.dataset, domain=source.domain, part=source.part, **drawn)
    if source.base_only or source.classes is not None:
        return images.subset(np.flatnonzero(np.isin(images.labels, _asked(source, len(images.classnames)))))
    return images


def _asked(source: Source, classes: int) -> np.ndarray:
    """The classes whose pictures are wanted."""
    asked = np.arange(classes) if source.classes is None else np.array(source.classes)
    return np.intersect1d(asked, datasets.base_new_split(classes)[0]) if source.base_only else asked


@lru_cache(maxsize=2)
def backbone(name: str, device: str = "cpu", precision: Precision = "float32"):
    """The frozen backbone `name` on `device`."""
    return backbones.load(name, device=device, dtype=DTYPES[precision])


def shape(name: str) -> backbones.TwoTowerConfig:
    """The configuration of a backbone, without its weights where it is one of `SHAPES`."""
    return backbones.SHAPES[name] if name in backbones.SHAPES else backbone(name).config


def encode_source(
    source: Source,
    encodings: Sequence[Encoding],
    backbone_name: str,
    machine: Machine,
    progress: Callable[[int, int], None] | None = None,
) -> list[Features]:
    """The features of an image set in every encoding, from disk where they are known."""
    return encode_together(
        machine.backbone(backbone_name),
        source.load(),
        encodings,
        progress=progress,
        **machine.storage,
    )


def encoded_parts(task, machine: Machine) -> dict[str, Features]:
    """The features of every image set that a task reads, by the part that it plays."""
    return {part: encoded_part(task, part, machine) for part in task.sources}


def encoded_part(task, part: str, machine: Machine) -> Features:
    """The features of one of them: from disk, made now, or streamed where the cache has no room for them."""
    source, encoding = task.sources[part], task.encoding(part)
    if streams(encoding, machine.cache_limit) and not on_disk(source, encoding, task.backbone, machine):
        return stream(machine.backbone(task.backbone), source.load(), encoding, **machine.storage)
    return encode_source(source, [encoding], task.backbone, machine)[0]


def on_disk(source: Source, encoding: Encoding, backbone_name: str, machine: Machine) -> bool:
    """Whether `encode_source` would encode nothing."""
    return is_encoded(machine.backbone(backbone_name), source.load(), encoding, cache=machine.folder)


def require_pictures(source: Source) -> None:
    """Refuse an image set in which a class that is asked for has no picture: no accuracy could be told for it."""
    images = source.load()
    without = np.setdiff1d(_asked(source, len(images.classnames)), images.labels)
    if without.size:
        raise OpenworldError(
            f"{without.size} class(es) of {source.dataset!r} have no picture in part {source.part!r}, first "
            f"{images.classnames[without[0]]!r}; add pictures or leave the class out."
        )


def require_inputs(clip, sources: Mapping[str, Source], expected: Mapping[str, str], others: Mapping[str, str]) -> None:
    """Refuse to compute when weights, pictures or `others` are no longer those that the unit was planned for."""
    pictures = {part: source.load().fingerprint for part, source in sources.items()}
    require_same({"weights": clip.fingerprint, **pictures, **others}, expected)


def require_same(found: Mapping[str, str], expected: Mapping[str, str]) -> None:
    """Refuse to compute when fingerprints are not those that the unit was planned for."""
    changed = sorted(name for name in expected if expected[name] != found.get(name))
    if changed:
        raise OpenworldError(
            f"{', '.join(changed)} changed since this run was planned (fingerprints differ); "
            "start the run in a new folder."
        )
