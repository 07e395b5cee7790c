"""An example of every cell: the thumbnails that the first record of a run keeps, as many as the page has room for."""

import re

from openworld.evaluations.ood_detection.run import ShiftRun
from openworld.report.data_files import data_address

BYTES = 300_000  # of the page's 1.5 MB
_NAME = re.compile(r"pictures/(\d+)-(\d+)/[^/]+")


def examples(run: ShiftRun) -> dict[tuple[int, int], str]:
    """(covariate, semantic) level -> address of a picture; empty where no record keeps any, or all weigh too much."""
    for record in run.records:
        found: dict[tuple[int, int], str] = {}
        for name in sorted(getattr(record, "attachments", ())):
            place = _NAME.fullmatch(name)
            if place:
                found.setdefault((int(place[1]), int(place[2])), name)
        if found:
            return _within({cell: data_address("image/png", record.attachment(name)) for cell, name in found.items()})
    return {}


def _within(found: dict[tuple[int, int], str]) -> dict[tuple[int, int], str]:
    """The lightest pictures that fit together."""
    left, kept = BYTES, {}
    for cell in sorted(found, key=lambda cell: (len(found[cell]), cell)):
        left -= len(found[cell])
        if left >= 0:
            kept[cell] = found[cell]
    return kept
