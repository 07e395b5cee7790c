"""Encode what tasks read. An artifact is a shard of an image set, with the bytes that encoding the whole would write.

A set becomes whole when `encode_tasks` has looked at it afterwards.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from openworld.evaluations.artifacts import Crew, Progress, Stage
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.runtime import Machine
from openworld.evaluations.tasks import (
    EncodingTask,
    effort,
    encode_tasks,
    fingerprints_of,
    in_order,
    inputs_of,
    not_encoded,
    require_learnable,
)
from openworld.features import Encoding, encode_shard, missing_shards
from openworld.features.encoding import rows_of_shards
from openworld.runs import digest


@dataclass(frozen=True)
class EncodedShard:
    """One shard of an image set, in every encoding that lacks some; `name` is what people call it."""

    name: str
    images: ImageSelection
    encodings: tuple[Encoding, ...]
    backbone: str
    shard: int

    @property
    def key(self) -> str:
        return digest(self)

    def size(self) -> int:
        return len(rows_of_shards(self.images.load())[self.shard])

    def is_kept(self, machine: Machine) -> bool:
        clip, images = machine.backbone(self.backbone), self.images.load()
        return not missing_shards(clip, images, self.encodings, cache=machine.folder, among=[self.shard])

    def build(self, machine: Machine) -> None:
        encode_shard(
            machine.backbone(self.backbone),
            self.images.load(),
            self.encodings,
            self.shard,
            cache=machine.folder,
            allow_corrupt=machine.allow_corrupt,
            cores=1 if machine.device == "cpu" else None,  # the engine counts cores; a GPU is fed by all there are
        )


@dataclass(frozen=True)
class EncodingStage:
    """The stage that encodes what tasks read; see `openworld.evaluations.artifacts.Stage`."""

    tasks: Sequence[EncodingTask]
    machine: Machine
    doing: str = "encoding"
    done: str = "encoded"
    counted: str = "images"

    def work(self, crew: Crew, progress: Progress | None = None) -> int:
        """Encode what is missing; return how many images that was."""
        # On a CPU one process has all cores busy already; where the cache has a limit, one process makes room.
        spread = crew.engine != "local" or (crew.workers > 1 and self.machine.device != "cpu")
        if spread and self.machine.cache_limit is None:
            self.encode_shards(crew, progress)
        return encode_tasks(self.tasks, self.machine, progress, crew.workers)

    def encode_shards(self, crew: Crew, progress: Progress | None = None) -> int:
        """Encode every shard that is missing, a unit each; return how many images these have."""
        return Stage(self.doing, self.done, self.counted, self.machine, self._shards).work(crew, progress)

    def _shards(self) -> Iterator[EncodedShard]:
        """Those that are not on disk."""
        for number, ((images, name), encodings) in enumerate(not_encoded(self.tasks, self.machine).items(), 1):
            clip = self.machine.backbone(name)
            for shard in missing_shards(clip, images.load(), encodings, cache=self.machine.folder):
                title = f"{images}, image set {number}, shard {shard + 1}"
                yield EncodedShard(title, images, tuple(encodings), name, shard)


def learning(tasks: Callable) -> dict[str, Callable]:
    """Return the parts that evaluations of learners share, by the fields of `Evaluation`; `tasks`: spec -> tasks."""
    return {
        "tasks": tasks,
        "inputs": inputs_of,
        "require": require_learnable,
        "order": in_order,
        "effort": effort,
        "artifacts": lambda spec, machine: (EncodingStage(tasks(spec), machine),),
        "fingerprints": lambda spec: fingerprints_of(tasks(spec)),
        "backbones": lambda spec: (spec.backbone,),
        "count": lambda spec: len(spec.learners) * len(spec.seeds),
    }
