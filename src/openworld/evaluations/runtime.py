"""What a unit works with on this machine: backbones and encoded image sets by name, each loaded once per process."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openworld import backbones
from openworld.backbones.devices import Precision, allow_tf32, require_device
from openworld.backbones.loading import load_once as backbone
from openworld.core.arrays import require_at_least
from openworld.core.errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.features import Encoding, Features, encode, is_encoded, stream

PLAIN = Encoding()  # embeddings of images as they are


@dataclass(frozen=True)
class Machine:
    """Where a run computes and keeps features; but for the precision, nothing here may change a result."""

    device: str = "cpu"  # "cpu", "cuda", "cuda:1", "mps"
    cache: str | None = None  # folder of encoded image sets; None for the default one
    allow_corrupt: int = 0  # how many unreadable images each image set may lack
    precision: Precision = "float32"  # of the frozen towers, as the spec of the run says; part of every key
    cache_limit: int | None = None  # bytes that the cache may have; None for no limit

    def __post_init__(self):
        require_at_least(0, allow_corrupt=self.allow_corrupt)
        require_device(self.device)

    @property
    def folder(self) -> Path | None:
        return None if self.cache is None else Path(self.cache)

    @property
    def storage(self) -> dict:
        """How `encode` and its like are to keep what they make."""
        return {"cache": self.folder, "allow_corrupt": self.allow_corrupt, "limit": self.cache_limit}

    def backbone(self, name: str):
        """The frozen backbone `name` on the device, ready to compute in the precision."""
        allow_tf32(self.precision == "tf32")
        return backbone(name, self.device, self.precision)


def shape(name: str) -> backbones.TwoTowerConfig:
    """The configuration of a backbone, without its weights where it is one of `SHAPES`."""
    return backbones.SHAPES[name] if name in backbones.SHAPES else backbone(name).config


def encoded(images: ImageSet, backbone_name: str, machine: Machine, encoding: Encoding = PLAIN) -> Features:
    """Return the features of an image set, encoded here where the cache does not have them."""
    return encode(machine.backbone(backbone_name), images, encoding, **machine.storage)


def encoded_part(task, part: str, machine: Machine) -> Features:
    """Return the features of an image set that a task reads; streamed where the cache has no room for them."""
    images, encoding, clip = task.image_sets[part].load(), task.encoding(part), machine.backbone(task.backbone)
    # Patch rows and pixels of test images are read in order; those of training images, with their views, at random.
    in_order = not encoding.views and (encoding.patches or encoding.pixels)
    if machine.cache_limit is not None and in_order and not is_encoded(clip, images, encoding, cache=machine.folder):
        return stream(clip, images, encoding, **machine.storage)
    return encoded(images, task.backbone, machine, encoding)


def encoded_parts(task, machine: Machine) -> dict[str, Features]:
    return {part: encoded_part(task, part, machine) for part in task.image_sets}


class Clock:
    """Times the stages of a unit, one after the other; what it shows lies beside the record."""

    def __init__(self, machine: Machine):
        self._device, self._stopped, self._seconds = machine.device, time.perf_counter(), {}

    def stop(self, stage: str) -> None:
        now = time.perf_counter()
        self._seconds[stage], self._stopped = now - self._stopped, now

    @property
    def timing(self) -> dict[str, Any]:
        """What the clocks of a record hold: seconds by stage, and the device."""
        return {"seconds": self._seconds, "device": self._device}


def require_same(actual: Mapping[str, str], expected: Mapping[str, str]) -> None:
    """Refuse to compute when fingerprints are not those that the unit was planned for."""
    changed = sorted(name for name in expected if expected[name] != actual.get(name))
    if changed:
        raise OpenworldError(
            f"{', '.join(changed)} changed since this run was planned (fingerprints differ); "
            "start the run in a new folder."
        )
