"""What tasks of learners read is encoded before one is run.

An artifact is a shard of an image set, with the bytes that encoding the whole would write; a set becomes whole when
`encode_tasks` has looked at it afterwards. A task has `backbone`, `image_sets` and `encoding(part)`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openworld.core.errors import OpenworldError
from openworld.core.sizes import size_in_words
from openworld.evaluations.artifacts import Progress, Stage
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.running import RunOptions
from openworld.evaluations.runtime import Machine
from openworld.features import (
    Encoding,
    encode_shard,
    encode_together,
    encoded_size,
    hold_set,
    is_encoded,
    missing_shards,
)
from openworld.features.encoding import rows_of_shards
from openworld.runs import digest


def encode_tasks(
    tasks: Sequence[Any],
    machine: Machine,
    progress: Callable[[int, int], None] | None = None,  # called with (images done, images to be encoded)
    workers: int = 1,  # whose training sets must have room, where the cache has a limit
) -> int:
    """Encode what the tasks need and is not on disk, each image set in one pass; return how many images that were."""
    missing = not_encoded(tasks, machine, workers)
    limited = _made_first(tasks, machine, workers) if machine.cache_limit is not None else ()
    # Held, so that no set makes room for another.
    held = [hold_set(*_of_set(entry, machine), cache=machine.folder) for entry in limited]
    total, before = sum(len(source.load()) for source, _ in missing), 0
    for (source, name), encodings in missing.items():
        report = progress and (lambda done, _, before=before: progress(before + done, total))
        encode_together(machine.backbone(name), source.load(), encodings, progress=report, **machine.storage)
        before += len(source.load())
    del held
    return total


def not_encoded(
    tasks: Sequence[Any], machine: Machine, workers: int = 1
) -> dict[tuple[ImageSelection, str], list[Encoding]]:
    """Return {(image set, backbone): the encodings to make before the tasks begin}, for what is not on disk."""
    missing: dict[tuple[ImageSelection, str], list[Encoding]] = {}
    for entry in _made_first(tasks, machine, workers):
        if not is_encoded(*_of_set(entry, machine), cache=machine.folder):
            source, name, encoding = entry
            missing.setdefault((source, name), []).append(encoding)
    return missing


EncodedSet = tuple[ImageSelection, str, Encoding]  # an image set, the name of a backbone, and how it is encoded


def _made_first(tasks: Sequence[Any], machine: Machine, workers: int) -> list[EncodedSet]:
    """Return what, of all that the tasks read, is encoded before they begin."""
    needed = dict.fromkeys(
        (source, task.backbone, task.encoding(part))
        for task in in_order(tasks, machine)
        for part, source in task.image_sets.items()
    )
    if machine.cache_limit is None:
        return list(needed)
    sizes = {entry: encoded_size(machine.backbone(entry[1]).config, entry[2], len(entry[0].load())) for entry in needed}
    return with_room(sizes, machine.cache_limit, workers)


def with_room(sizes: Mapping[EncodedSet, int], limit: int, workers: int) -> list[EncodedSet]:
    """Return the sets that a cache with a limit has room for, of {set: bytes} in the order in which units need them."""
    # Patch rows and pixels of training images are read at random in every step, so each of the workers must have room
    # for the largest such set. Beside them the smallest sets come first, which are embeddings. What has no room is made
    # by the unit that needs it, or streamed (`runtime.encoded_part`).
    drawn = [entry for entry in sizes if entry[2].views and (entry[2].patches or entry[2].pixels)]
    largest = max((sizes[entry] for entry in drawn), default=0)
    if largest > limit:
        raise OpenworldError(
            f"the cache may have {size_in_words(limit)}, and the largest training set takes {size_in_words(largest)}; "
            f"give a --cache-limit of {size_in_words(largest, at_least=True)} or more."
        )
    first, room = [], limit - workers * largest
    for entry in sorted(sizes, key=lambda entry: sizes[entry]):
        if entry not in drawn and sizes[entry] <= room:
            first.append(entry)
            room -= sizes[entry]
    room += workers * largest
    for entry in drawn:  # up to the first that does not fit: one made beyond it would go when that is made
        room -= sizes[entry]
        if room < 0:
            break
        first.append(entry)
    return first


def _of_set(entry: EncodedSet, machine: Machine) -> tuple:
    """(backbone, images, encoding), as functions of encoded image sets take them."""
    source, name, encoding = entry
    return machine.backbone(name), source.load(), encoding


def in_order(tasks: Sequence[Any], machine: Machine) -> list[Any]:
    """Return the tasks as they come; where the cache has a limit, those of one training set follow each other."""
    if machine.cache_limit is None:
        return list(tasks)
    of_training_set: dict[EncodedSet, list[Any]] = {}
    for task in tasks:
        of_training_set.setdefault((task.image_sets["train"], task.backbone, task.encoding("train")), []).append(task)
    return [task for same in of_training_set.values() for task in same]


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

    tasks: Sequence[Any]
    machine: Machine
    doing: str = "encoding"
    done: str = "encoded"
    counted: str = "images"

    def work(self, options: RunOptions, progress: Progress | None = None) -> int:
        # On a CPU one process has all cores busy already; where the cache has a limit, one process makes room.
        spread = options.engine != "local" or (options.workers > 1 and self.machine.device != "cpu")
        if spread and self.machine.cache_limit is None:
            self.encode_shards(options, progress)
        return encode_tasks(self.tasks, self.machine, progress, options.workers)

    def encode_shards(self, options: RunOptions, progress: Progress | None = None) -> int:
        """Encode every shard that is missing, a unit each; return how many images these have."""
        return Stage(self.doing, self.done, self.counted, self.machine, self._shards).work(options, progress)

    def _shards(self) -> Iterator[EncodedShard]:
        for number, ((images, name), encodings) in enumerate(not_encoded(self.tasks, self.machine).items(), 1):
            clip = self.machine.backbone(name)
            for shard in missing_shards(clip, images.load(), encodings, cache=self.machine.folder):
                title = f"{images}, image set {number}, shard {shard + 1}"
                yield EncodedShard(title, images, tuple(encodings), name, shard)
