"""The likely cause of what moved in each period, with the images that carry it.

Features are used where source and target hold `embeddings` beside their scores; else logits alone speak.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from openworld.label_free.estimate.period import Period, PeriodCause, PeriodImage
from openworld.label_free.estimate.score_tables import ScoreTable
from openworld.report.data_files import thumbnail_address

NAMES, IMAGES = ("id", "ids"), ("image", "path")  # columns that say which image a row is, and where it lies
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")


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


def named(periods: Sequence[Period], table: ScoreTable) -> tuple[Period, ...]:
    """Return periods whose causes name their images as columns of the target do, by ids and paths."""
    rows = np.array(sorted({image.row for period in periods for image in period.cause.images}), int)
    names = (next((name for name in own if name in table.table.present), "") for own in (NAMES, IMAGES))
    said = (dict(zip(rows.tolist(), table.entries(name, rows), strict=True)) if name else {} for name in names)
    ids, paths = said

    def images(period: Period) -> tuple[PeriodImage, ...]:
        places = [image.row for image in period.cause.images]
        return tuple(PeriodImage(row, ids.get(row, ""), paths.get(row, "")) for row in places)

    return tuple(replace(period, cause=replace(period.cause, images=images(period))) for period in periods)


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
