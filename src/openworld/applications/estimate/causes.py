"""The likely cause of what moved in each period, with the images that carry it.

Features are used where source and target hold `embeddings` beside their scores; else logits alone speak.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from openworld.applications.estimate.score_tables import ScoreTable
from openworld.estimators import Outputs
from openworld.estimators.quote.causes import NONE, Cause, CauseReader
from openworld.report.data_files import thumbnail_address

NAMES, IMAGES = ("id", "ids"), ("image", "path")  # columns that say which image a row is, and where it lies
EXAMPLES = 8  # images a period
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")


@dataclass(frozen=True)
class PeriodImage:
    """An image that carries a cause. row: of the target, from 0; id, image: as its columns say, or ""."""

    row: int
    id: str = ""
    image: str = ""

    @property
    def name(self) -> str:
        """What it is called where no picture of it is shown."""
        return self.id or Path(self.image).name or f"row {self.row:,}"


@dataclass(frozen=True)
class PeriodCause:
    """The likely cause of what moved in a period, and images that carry it, those first that do most."""

    likely: Cause
    images: tuple[PeriodImage, ...] = ()

    @property
    def text(self) -> str:
        """Return the cause, or the causes that are not told apart; "" where nothing is seen."""
        cause = self.likely
        if cause.cause == NONE:
            return ""
        return f"{', '.join(cause.among[:-1])} or {cause.among[-1]}" if cause.among else cause.cause


@dataclass(frozen=True)
class Episode:
    """Chunks that follow each other and have one likely cause. first, last: their places, the last one included."""

    cause: str
    first: int
    last: int

    def __len__(self) -> int:
        return self.last + 1 - self.first

    def name(self, labels: Sequence[str]) -> str:
        """Return from when to when it lasted."""
        first, last = labels[self.first], labels[self.last]
        return first if self.first == self.last else f"{first} to {last}"


def episodes(causes: Sequence[PeriodCause]) -> dict[str, list[Episode]]:
    """Return, by cause, the episodes in order of time; the causes of most chunks first."""
    found: dict[str, list[Episode]] = {}
    for place, cause in enumerate(causes):
        if not cause.text:
            continue
        own = found.setdefault(cause.text, [])
        if own and own[-1].last == place - 1:
            own[-1] = replace(own[-1], last=place)
        else:
            own.append(Episode(cause.text, place, place))
    return dict(sorted(found.items(), key=lambda item: -sum(map(len, item[1]))))


def cause_of(reader: CauseReader, period: Outputs, rows: Sequence[int]) -> PeriodCause:
    """Return the likely cause of a period; `rows`: which row of the target each of its images is."""
    likely = reader.read(period, count=EXAMPLES)
    return PeriodCause(likely, tuple(PeriodImage(int(rows[row])) for row in likely.rows))


def named(causes: Iterable[PeriodCause], table: ScoreTable) -> list[PeriodCause]:
    """Return causes whose images have the ids and paths that columns of the target give them."""
    causes = list(causes)
    columns = table.files[0].columns
    kinds = [next((name for name in names if name in columns), "") for names in (NAMES, IMAGES)]
    wanted = sorted({image.row for cause in causes for image in cause.images})
    found = [_entries(table, kind, wanted) for kind in kinds]
    return [
        replace(
            cause,
            images=tuple(
                replace(image, id=found[0].get(image.row, ""), image=found[1].get(image.row, ""))
                for image in cause.images
            ),
        )
        for cause in causes
    ]


def _entries(table: ScoreTable, column: str, rows: Sequence[int]) -> dict[int, str]:
    """Return the entries of a column at some rows of files that follow each other, as text."""
    entries: dict[int, str] = {}
    if not column or not rows:
        return entries
    wanted, first = np.asarray(rows), 0
    for file in table.files:
        if column not in file.columns:
            return {}
        for block in file.blocks([column]):
            values = block[column]
            inside = wanted[np.searchsorted(wanted, first) : np.searchsorted(wanted, first + len(values))]
            entries |= {int(row): str(values[row - first]) for row in inside}
            first += len(values)
    return entries


def thumbnails(causes: Iterable[PeriodCause], beside: Path) -> Mapping[str, str]:
    """Return small pictures of the images of causes, by their paths, as addresses that a page can hold."""
    from PIL import Image

    found: dict[str, str] = {}
    for path in dict.fromkeys(image.image for cause in causes for image in cause.images if image.image):
        place = next((place for place in (Path(path), beside / path) if place.is_file()), None)
        if place is None:
            continue
        try:
            with Image.open(place, formats=FORMATS) as opened:
                found[path] = thumbnail_address(opened)
        except OSError:  # no image, or a damaged one: its name is shown
            continue
    return found
