"""Make the images of a plan, file by file; start it again after a crash, and it goes on where it was.

FOLDER/order.json says what is being made and by what; a folder of another order is refused. FOLDER/journal.jsonl gets a
line per finished image, with the hash of its file, and a line counts only while that file has that hash. When all are
there, FOLDER/images.parquet and FOLDER/manifest.json are written, and only then `read_generated` reads the set.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from PIL import Image

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError
from openworld.runs.canonical import to_json
from openworld.shifts.synthesis import set_files
from openworld.shifts.synthesis.generated_set import GeneratedSet, read_generated
from openworld.shifts.synthesis.planning import Commission, SynthesisPlan


class Painter(Protocol):
    """What makes pictures.

    about: what it is, as JSON knows it; a folder is continued only by a painter that says the same.
    """

    about: Mapping[str, Any]

    def fitting(self) -> int:
        """How many pictures it can paint at a time, at least 1."""

    def paint(self, commissions: Sequence[Commission]) -> list[Image.Image]:
        """A picture for each; what a picture is depends on its own commission alone."""


@dataclass(frozen=True)
class Screen:
    """A check that every picture must pass, such as a safety checker.

    Args:
        name: of the check, for the manifest.
        allows: list of n pictures -> n times True (keep) or False (throw away, and try another seed).
        attempts: how many seeds to try; after that the image is refused, and the manifest says so.
    """

    name: str
    allows: Callable[[list[Image.Image]], Sequence[bool]]
    attempts: int = 3

    def __post_init__(self):
        require_at_least(1, attempts=self.attempts)


def generate(
    plan: SynthesisPlan,
    painter: Painter,
    folder: str | Path,
    *,
    screen: Screen | None = None,
    batch: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GeneratedSet:
    """Make all images of a plan that are not yet there, and read the set back.

    One process at a time. Where memory runs out, the batch is halved and painted again.

    Args:
        plan: what to make. painter: what makes it. folder: where to, made if missing.
        screen: None to keep every picture. batch: pictures at a time; None asks the painter.
        progress: called with (images done, images in all) after each batch.

    Returns:
        The finished set.

    Raises:
        OpenworldError: a folder of another order, a painter that gives another number of pictures, memory too small
            for one picture.
    """
    import torch

    folder = begin(plan, painter, folder, screen)
    done = set_files.read_journal(folder, len(plan))
    waiting = [number for number in range(len(plan)) if number not in done]
    if waiting:
        size = painter.fitting() if batch is None else batch
        require_at_least(1, batch=size)
    while waiting:
        try:
            rows = _make(plan, waiting[:size], painter, screen, folder)
        except torch.OutOfMemoryError as error:
            if size == 1:
                raise OpenworldError("one image does not fit the memory; paint smaller ones, or elsewhere.") from error
            size //= 2
            continue
        set_files.append(folder, rows)
        done |= {row["number"]: row for row in rows}
        waiting = waiting[len(rows) :]
        if progress is not None:
            progress(len(done), len(plan))
    set_files.finish(folder, plan, [done[number] for number in range(len(plan))])
    return read_generated(folder)


def begin(plan: SynthesisPlan, painter: Painter, folder: str | Path, screen: Screen | None = None) -> Path:
    """Make a folder ready for a plan, without painting; the folder.

    Raises:
        OpenworldError: a folder of another order, or of something else.
    """
    checked = None if screen is None else {"name": screen.name, "attempts": screen.attempts}
    order = to_json({"plan": plan.fingerprint, "painter": dict(painter.about), "screen": checked})
    set_files.open_folder(Path(folder), order)
    return Path(folder)


def _make(plan: SynthesisPlan, numbers: list[int], painter: Painter, screen: Screen | None, folder: Path) -> list[dict]:
    """Paint, screen and write images; return a row of the journal for each, in order."""
    rows, missing = {}, numbers
    for attempt in range(screen.attempts if screen else 1):
        orders = [plan.commission(number, attempt) for number in missing]
        images = list(painter.paint(orders))
        if len(images) != len(orders):
            raise OpenworldError(f"the painter gave {len(images)} images for {len(orders)} commissions.")
        kept = _allowed(screen, images)
        for order, picture, keep in zip(orders, images, kept, strict=True):
            if keep:
                sha = set_files.write_picture(folder / order.file, picture)
                rows[order.number] = set_files.row(order.number, order.file, attempt, sha)
        missing = [number for number in missing if number not in rows]
        if not missing:
            break
    refused = {number: set_files.row(number, None, None, None) for number in missing}
    return [(rows | refused)[number] for number in numbers]


def _allowed(screen: Screen | None, images: list[Image.Image]) -> list[bool]:
    if screen is None:
        return [True] * len(images)
    kept = [bool(keep) for keep in screen.allows(images)]
    if len(kept) != len(images):
        raise OpenworldError(f"the screen {screen.name!r} gave {len(kept)} answers for {len(images)} images.")
    return kept
