"""Images of the cells, as a record keeps some of them."""

import io
import re
from collections.abc import Sequence

import numpy as np
from PIL import Image

from openworld.evaluations.ood_detection.facts import ShiftFacts
from openworld.report.charts import CellImage, ChartCell
from openworld.report.data_files import data_address
from openworld.report.figure import Figure
from openworld.report.shift_axes import NEAR, Place, level_map, place_text
from openworld.runs import Record

IMAGES_OF_A_CELL = 4
IMAGE_BYTES = 300_000  # of the page's 1.5 MB
SMALL = 40  # pixels of an image of which a cell has several
SIDE = 76.0  # of a cell with several images
NAMED = 1_000_000
"""Images of a pool up to which the table of a record is read for what each example shows."""

_IMAGE = re.compile(r"pictures/(\d+)-(\d+)/(\d+)\.png")


def cell_images(facts: ShiftFacts, room: int = IMAGE_BYTES, *, small: bool = True) -> Figure | None:
    """Return a map with up to four images of every cell; None where no record keeps any; arguments as below."""
    present, shown = facts.present, example_images(facts, room, small=small)
    if not shown:
        return None
    several = max(map(len, shown.values())) > 1
    cells = {place: ChartCell(images=tuple(images), faint=not present[place]) for place, images in shown.items()}
    caption = (
        f"{NEAR}. {'Up to four images' if several else 'One image'} of every cell.",
        "From left to right images should mean other things, from bottom to top their appearance should change; faint "
        "ones are of cells that are N/A. If that is not what you see, do not trust the levels.",
    )
    chart = level_map("Images of every cell", cells, facts.counts.shape, SIDE if several else None)
    return Figure("cell-images", "Images of the cells", caption, (chart,))


def example_images(facts: ShiftFacts, room: int, *, small: bool = True) -> dict[Place, list[CellImage]]:
    """Return up to four images of every cell, with what each shows: thumbnails of the first unit that keeps any."""
    # Where they have no room together, bytes, every cell keeps its first image before any has its second, the
    # lightest first.
    found: dict[Place, list[tuple[int, str]]] = {}
    for unit in facts.units:
        for name in sorted(unit.stored.attachments):
            if place := _IMAGE.fullmatch(name):
                address = _address(unit.stored.attachment(name), small=small)
                found.setdefault((int(place[1]), int(place[2])), []).append((int(place[3]), address))
        if found:
            break
    shows = _shows(facts, unit.stored, [number for of_cell in found.values() for number, _ in of_cell])
    turns = sorted(
        (turn, len(address), place) for place, of_cell in found.items() for turn, (_, address) in enumerate(of_cell)
    )
    kept: dict[Place, list[CellImage]] = {}
    for turn, size, place in turns:
        if turn < IMAGES_OF_A_CELL and size <= room and len(kept.get(place, ())) == turn:
            room -= size
            number, address = found[place][turn]
            text = "; ".join(filter(None, (shows.get(number, ""), place_text(place))))
            kept.setdefault(place, []).append(CellImage(address, text))
    return kept


def _shows(facts: ShiftFacts, outputs: Record, numbers: Sequence[int]) -> dict[int, str]:
    """Class and style of images of the pool; of a pool that is too large to be read, or of records without, nothing."""
    if facts.counts.sum() > NAMED or "images" not in outputs.tables:
        return {}
    table, styles = outputs.table("images"), facts.first.styles
    if not {"id", "label_name", "style"} <= set(table):
        return {}
    rows = np.flatnonzero(np.isin(table["id"], numbers))
    named = zip(*(table[name][rows].tolist() for name in ("id", "label_name", "style")), strict=True)
    return {number: f"{label}, {styles[style]}" for number, label, style in named}


def _address(image: bytes, *, small: bool) -> str:
    """A thumbnail as it is kept, or shrunk."""
    if not small:
        return data_address("image/png", image)
    file = io.BytesIO()
    picture = Image.open(io.BytesIO(image), formats=("PNG",)).convert("RGB")
    picture.thumbnail((SMALL, SMALL))
    picture.save(file, "JPEG", quality=80)
    return data_address("image/jpeg", file.getvalue())
