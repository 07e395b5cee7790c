"""Shift degrees piece by piece: a shard of the reference and a part of the images at a time, here or on an engine.

Neither the images nor the reference need fit in memory. As units of an engine, pieces leave the k nearest rows of
their shard as records; a worker that dies costs one piece. Merging gives the bytes of `shift_degrees` on the whole,
however it was cut and whoever did it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from torch import Tensor

from openworld.core.arrays import ArrayLike, as_array, require_at_least
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import sha256_of
from openworld.core.reading import wrong
from openworld.core.types import Positive, checked
from openworld.runs import Event, RunStore, Unit, UnitResult, execute
from openworld.shifts.decomposition import HALVES, Decomposition, load_decomposition
from openworld.shifts.degrees import K, ShiftDegrees, join_degrees, merge_degrees, shift_degrees
from openworld.shifts.neighbours import Nearest

Span = tuple[int, int]  # [start, end)
Cut = tuple[Span, Span]  # of the images, of the reference

VERSION = 1
"""Raise it when the same features give other degrees."""


@checked
@dataclass(frozen=True)
class Shards:
    """How the work is cut and who does it; nothing here changes a degree.

    Args:
        reference: rows of the reference in one unit. images: images in one unit.
        engine: a name in `openworld.runs.ENGINES`. workers: units at a time.

    On one machine without a GPU one worker is best: it has all cores busy.
    """

    reference: Positive = 2**17
    images: Positive = 2**15
    engine: str = "local"
    workers: int = 1


@checked
def streamed_degrees(
    decomposition: Decomposition, images: ArrayLike, reference: ArrayLike, *, k: int = K, shards: Shards | None = None
) -> ShiftDegrees:
    """`shift_degrees` of features that are read as they are needed, in this process.

    Memory, with D numbers of float32 in a row: 8 D bytes of each image of a part and 10 D of each row of a shard (read,
    split, and one half once more), some 150 MB for products and what is wider than float32 on the way, and 32 k bytes
    of each image for the result; with the defaults and D = 512 1.0 GB.

    Args:
        decomposition: of the model that made the features.
        images, reference: float[N, D] and float[M, D]: memory maps, or what has a length and gives arrays for slices.
        k: which neighbour, from 1.
        shards: how to cut, None for `Shards()`; engine and workers are not asked.
    Returns:
        ShiftDegrees, for float32 features the same bytes as in one piece.
    Raises:
        OpenworldError: what `shift_degrees` raises.
    """
    for name, rows in (("images", images), ("reference", reference)):
        if isinstance(rows, Mapping) or not hasattr(rows, "__getitem__") or not getattr(rows, "ndim", 1):
            raise wrong(rows, "features [N, D] that give rows for a slice, such as a memory map", name)
    cuts = _cuts(len(images), len(reference), k, shards or Shards())
    return _merge(cuts, (_piece(decomposition, images, reference, k, cut) for cut in cuts))


@checked
def sharded_degrees(
    decomposition: Decomposition,
    images: Path,
    reference: Path,
    folder: Path,
    *,
    k: int = K,
    shards: Shards | None = None,
    progress: Callable[[Event], None] | None = None,
) -> ShiftDegrees:
    """`streamed_degrees` of features in files, by an engine; the same call resumes it.

    Memory of each worker and of the result as there.

    Args:
        decomposition: of the model that made the features.
        images, reference: .npy files of float[N, D] and float[M, D]; on a cluster on a disk that all nodes share.
        folder: for records, a new one or that of the same call before, on the same shared disk.
        k: which neighbour, from 1.
        shards: how to cut and who works, None for `Shards()`.
        progress: called with an `openworld.runs.Event` at every step.
    Returns:
        ShiftDegrees, for float32 features the same bytes as in one piece.
    Raises:
        OpenworldError: what `shift_degrees` and `openworld.runs.execute` raise, a file that is no such array.
    """
    shards, folder = shards or Shards(), Path(folder)
    files = {"images": Path(images).absolute(), "reference": Path(reference).absolute()}
    cuts = _cuts(*(len(_rows_of(path)) for path in files.values()), k, shards)
    folder.mkdir(parents=True, exist_ok=True)
    files["decomposition"] = (folder / "decomposition.safetensors").absolute()
    decomposition.save(files["decomposition"])
    inputs = {name: sha256_of(path) for name, path in files.items()}
    units = [
        Unit(
            function="shift-piece",
            arguments={"images": some, "reference": known, "k": k},
            inputs=inputs,
            version=VERSION,
            name=f"images {some[0]} to {some[1]}, reference {known[0]} to {known[1]}",
            resources={"files": {name: str(path) for name, path in files.items()}},
        )
        for some, known in cuts
    ]
    records = execute(units, RunStore(folder), engine=shards.engine, workers=shards.workers, progress=progress)
    pieces = (ShiftDegrees(k, *(Nearest(**record.table(half)) for half in HALVES)) for record in records)
    return _merge(cuts, pieces)


def measure_piece(
    images: Sequence[int], reference: Sequence[int], k: int, files: Mapping[str, str], inputs: Mapping[str, str]
) -> UnitResult:
    """Measure images [start, end) against reference rows [start, end); `inputs` only says what the files hold."""
    rows = [_rows_of(Path(files[name])) for name in ("images", "reference")]
    spans = (images[0], images[1]), (reference[0], reference[1])
    measured = _piece(load_decomposition(Path(files["decomposition"])), *rows, k, spans)
    nearest = {half: getattr(measured, half) for half in HALVES}
    return UnitResult({half: {"distances": near.distances, "places": near.places} for half, near in nearest.items()})


def _cuts(count: int, known: int, k: int, shards: Shards) -> list[Cut]:
    """Return all pieces, those of one part of the images together."""
    require_at_least(1, k=k, images=count, reference_images=known)
    parts, others = (
        [(start, min(start + size, n)) for start in range(0, n, size)]
        for n, size in ((count, shards.images), (known, shards.reference))
    )
    return list(product(parts, others))


def _piece(decomposition: Decomposition, images, reference, k: int, cut: Cut) -> ShiftDegrees:
    queries, known = (rows[slice(*span)] for rows, span in zip((images, reference), cut, strict=True))
    queries, known = (rows if isinstance(rows, Tensor) else as_array(rows, "rows").copy() for rows in (queries, known))
    return shift_degrees(decomposition, queries, known, k=k, first=cut[1][0])


def _merge(cuts: Sequence[Cut], pieces: Iterable[ShiftDegrees]) -> ShiftDegrees:
    """Merge shard by shard for each part of the images, so that one more piece is in memory; then the parts."""
    parts: dict[Span, ShiftDegrees] = {}
    for (images, _), piece in zip(cuts, pieces, strict=True):
        parts[images] = merge_degrees([parts[images], piece]) if images in parts else piece
    return join_degrees(list(parts.values()))


def _rows_of(path: Path) -> np.ndarray:
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise OpenworldError(f"{path} is no .npy file of features ({error}); write one with numpy.save.") from error
    if rows.ndim != 2:
        raise OpenworldError(f"{path} has shape {list(rows.shape)}, expected [N, D]: one row of features each.")
    return rows
