"""Make the images of a plan, file by file; start it again after a crash, and it resumes.

FOLDER/order.json says what is being made and by what; a folder of another order is refused. FOLDER/journal.jsonl gets a
line per finished image, with the hash of its file, and a line counts only while that file has that hash. When all are
there, FOLDER/images.parquet and FOLDER/manifest.json are written, and only then `read_generated` reads the set.
"""

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PIL import Image

from openworld.core.arrays import require_at_least
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json
from openworld.core.types import Positive, checked
from openworld.runs import read_spec
from openworld.runs.atomic import write_file
from openworld.runs.canonical import readable_json, to_json
from openworld.runs.outputs import GENERATED, require_folder
from openworld.shifts.synthesis.generated_set import MANIFEST, TABLE, VERSION, GeneratedSet, read_generated
from openworld.shifts.synthesis.planning import Commission, SynthesisPlan
from openworld.tables.parquet import encode_table

ORDER, JOURNAL = "order.json", "journal.jsonl"
DIVISION = "division"
"""A folder that may be there before the order: what the plan was drawn from."""


class Painter(Protocol):
    """What makes images."""

    @property
    def about(self) -> Mapping[str, Any]: ...  # as JSON; a folder is continued only by a painter that says the same

    def fitting(self) -> int:
        """Return how many images it can paint at a time, at least 1."""

    def paint(self, commissions: Sequence[Commission]) -> list[Image.Image]:
        """Return an image for each, which depends on its own commission alone."""


@checked
@dataclass(frozen=True)
class Screen:
    """A check that every image must pass, such as a safety checker."""

    name: str  # for the manifest
    allows: Callable[[list[Image.Image]], Sequence[bool]]  # of n images n times True, or False to try another seed
    attempts: Positive = 3  # seeds; after that the image is refused, and the manifest says so


def generate(
    plan: SynthesisPlan,
    painter: Painter,
    folder: str | Path,
    *,
    screen: Screen | None = None,
    batch: int | None = None,  # images at a time; None asks the painter
    progress: Callable[[int, int], None] | None = None,  # called with (images done, images in all) after each batch
) -> GeneratedSet:
    """Make all images of a plan that are not yet there, one process at a time, and read the set back."""
    import torch

    folder = begin(plan, painter, folder, screen)
    done = read_journal(folder, len(plan))
    waiting = [number for number in range(len(plan)) if number not in done]
    if waiting:
        size = painter.fitting() if batch is None else batch
        require_at_least(1, batch=size)
    while waiting:
        try:
            lines = _make(plan, waiting[:size], painter, screen, folder)
        except torch.OutOfMemoryError as error:
            if size == 1:
                raise OpenworldError("one image does not fit the memory; paint smaller ones, or elsewhere.") from error
            size //= 2  # and the smaller batch is painted again
            continue
        with open(folder / JOURNAL, "ab") as file:
            file.write(_written(lines))
            file.flush()
            os.fsync(file.fileno())
        done |= {line.number: line for line in lines}
        waiting = waiting[len(lines) :]
        if progress is not None:
            progress(len(done), len(plan))
    _finish(folder, plan, [done[number] for number in range(len(plan))])
    return read_generated(folder)


def begin(plan: SynthesisPlan, painter: Painter, folder: str | Path, screen: Screen | None = None) -> Path:
    """Return a folder that is ready for a plan; refuse one of another order, or of something else."""
    folder, checked = Path(folder), None if screen is None else {"name": screen.name, "attempts": screen.attempts}
    order = to_json({"plan": plan.fingerprint, "painter": dict(painter.about), "screen": checked})
    require_own(folder)
    wanted, path = readable_json(order), folder / ORDER
    if not path.exists():
        write_file(path, wanted)
    elif path.read_bytes() != wanted:
        old = _read_order(path)
        parts = [part for part in order if old.get(part) != order[part]]
        raise OpenworldError(f"{folder} was begun with another {' and '.join(parts) or 'layout'}; give a new folder.")
    return folder


def require_own(folder: Path | None, inputs: Sequence[Any] = ()) -> None:
    """Refuse a folder that holds something else than a set, whole or begun, or is one of the inputs."""
    require_folder("--out", folder, own=(GENERATED,), alone=(DIVISION,), inputs=inputs)


@dataclass(frozen=True)
class _Line:
    """A line of the journal; one without a file is an image that was refused."""

    number: int
    file: str | None = None
    attempt: int | None = None
    sha256: str | None = None


def read_journal(folder: Path, count: int) -> dict[int, _Line]:
    """Return finished images by number: lines whose file is there with its hash."""
    for scratch in folder.rglob(".*.writing"):  # of a killed process: one at a time makes a set
        scratch.unlink()
    path = folder / JOURNAL
    whole: dict[int, _Line] = {}
    for text in path.read_bytes().split(b"\n") if path.exists() else ():
        try:
            line = read_spec(parse_json(text), _Line)
        except ValueError:  # cut short by a crash
            continue
        if 0 <= line.number < count:
            whole[line.number] = line
    for number, line in list(whole.items()):
        file = None if line.sha256 is None or line.file is None else folder / line.file
        if file and not (file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == line.sha256):
            del whole[number]
    write_file(path, _written(whole.values()))
    return whole


def _written(lines: Iterable[_Line]) -> bytes:
    return b"".join(json.dumps(asdict(line), sort_keys=True).encode() + b"\n" for line in lines)


def _make(
    plan: SynthesisPlan, numbers: list[int], painter: Painter, screen: Screen | None, folder: Path
) -> list[_Line]:
    """Paint, screen and write images; return a line of the journal for each, in order."""
    lines, missing = {}, numbers
    for attempt in range(screen.attempts if screen else 1):
        orders = [plan.commission(number, attempt) for number in missing]
        images = list(painter.paint(orders))
        if len(images) != len(orders):
            raise OpenworldError(f"the painter gave {len(images)} images for {len(orders)} commissions.")
        mask = [True] * len(images) if screen is None else list(map(bool, screen.allows(images)))
        if screen is not None and len(mask) != len(images):
            raise OpenworldError(f"the screen {screen.name!r} gave {len(mask)} answers for {len(images)} images.")
        for order, image, keep in zip(orders, images, mask, strict=True):
            if keep:
                buffer = io.BytesIO()
                image.convert("RGB").save(buffer, "PNG")
                write_file(folder / order.file, buffer.getvalue())
                sha256 = hashlib.sha256(buffer.getvalue()).hexdigest()
                lines[order.number] = _Line(order.number, order.file, attempt, sha256)
        missing = [number for number in missing if number not in lines]
        if not missing:
            break
    return [lines.get(number) or _Line(number) for number in numbers]


def _finish(folder: Path, plan: SynthesisPlan, lines: list[_Line]) -> None:
    """Write the table of all images and, last, the manifest: the same bytes however often it was interrupted."""
    styles = len(plan.prompts.styles)
    orders = [plan.commission(line.number, line.attempt or 0) for line in lines]
    table = encode_table(
        "images",
        {
            "file": [order.file for order in orders],
            "label": plan.prompt // styles,
            "style": plan.prompt % styles,
            "covariate": plan.covariate,
            "semantic": plan.semantic,
            "repeat": plan.repeat,
            "seed": np.array([order.seed for order in orders], np.int64),
            "kept": np.array([line.sha256 is not None for line in lines]),
            "sha256": [line.sha256 or "" for line in lines],
        },
    )
    write_file(folder / TABLE, table)
    about = {
        "version": VERSION,
        "order": _read_order(folder / ORDER),
        "labels": plan.prompts.labels,
        "styles": plan.prompts.styles,
        "shape": plan.shape,
        "seed": plan.seed,
        "report": plan.report(),
        "origin": plan.origin,
        "refused": sum(line.sha256 is None for line in lines),
        "table_sha256": hashlib.sha256(table).hexdigest(),
    }
    write_file(folder / MANIFEST, readable_json(about))


def _read_order(path: Path) -> dict:
    try:
        order = parse_json(path.read_bytes())
        if isinstance(order, dict):
            return order
        raise ValueError("it is no table of keys")
    except ValueError as error:
        raise OpenworldError(f"{path} is not JSON ({error}); remove the folder and begin anew.") from error
