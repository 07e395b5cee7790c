"""What lies in the cells: how many images, and some of them as a record keeps them."""

import io
import re

import numpy as np
from PIL import Image

from openworld.evaluations.ood_detection.facts import ShiftFacts
from openworld.report.charts import CellImage, ChartCell
from openworld.report.charts.cells import count_cell
from openworld.report.data_files import data_address
from openworld.report.figure import Figure
from openworld.report.shift_axes import NEAR, Place, level_map, place_text

IMAGES_OF_A_CELL = 4
IMAGE_BYTES = 300_000  # of the page's 1.5 MB
SMALL = 40  # pixels of an image of which a cell has several
SIDE = 76.0  # of a cell with several images
_IMAGE = re.compile(r"pictures/(\d+)-(\d+)/[^/]+")


def cell_counts(facts: ShiftFacts) -> Figure:
    """Return a map of how many images every cell has: the darker, the more."""
    counts, present, cells = facts.counts(), facts.present(), {}
    for place, count in np.ndenumerate(counts):
        row = {"images": int(count), "present": bool(present[place])}
        cells[place] = count_cell(int(count), int(counts.max()) if present[place] else None, row)
    caption = (f"{NEAR}. Hatched: fewer than {facts.least} images, N/A; they count nowhere.",)
    return Figure("counts", "How many images?", caption, (level_map("Images per cell", cells, counts.shape),))


def cell_images(facts: ShiftFacts, room: int = IMAGE_BYTES, *, small: bool = True) -> Figure | None:
    """Return a map with up to four images of every cell; None where no record keeps any; arguments as below."""
    present, shown = facts.present(), example_images(facts, room, small=small)
    if not shown:
        return None
    several = max(map(len, shown.values())) > 1
    cells = {
        place: ChartCell(
            images=tuple(CellImage(address, place_text(place)) for address in addresses), faint=not present[place]
        )
        for place, addresses in shown.items()
    }
    caption = (
        f"{NEAR}. {'Up to four images' if several else 'One image'} of every cell.",
        "From left to right images should mean other things, from bottom to top their appearance should change; faint "
        "ones are of cells that are N/A. If that is not what you see, do not trust the levels.",
    )
    chart = level_map("Images of every cell", cells, facts.shape, SIDE if several else None)
    return Figure("cell-images", "Images of the cells", caption, (chart,))


def example_images(facts: ShiftFacts, room: int, *, small: bool = True) -> dict[Place, list[str]]:
    """Return the addresses of up to four images of every cell: thumbnails of the first record that keeps any.

    Where they have no room together, every cell keeps its first image before any has its second, the lightest first.

    Args:
        facts: of a run.
        room: bytes that all may take together.
        small: whether they are shrunk to what a cell of a page shows of one among four.
    """
    found: dict[Place, list[str]] = {}
    for outputs in facts.outputs:
        for name in sorted(outputs.attachments):
            if place := _IMAGE.fullmatch(name):
                address = _address(outputs.attachment(name), small=small)
                found.setdefault((int(place[1]), int(place[2])), []).append(address)
        if found:
            break
    turns = sorted(
        ((turn, len(address), place) for place, of_cell in found.items() for turn, address in enumerate(of_cell))
    )
    kept: dict[Place, list[str]] = {}
    for turn, size, place in turns:
        if turn < IMAGES_OF_A_CELL and size <= room and len(kept.get(place, ())) == turn:
            room -= size
            kept.setdefault(place, []).append(found[place][turn])
    return kept


def _address(image: bytes, *, small: bool) -> str:
    """A thumbnail as it is kept, or shrunk."""
    if not small:
        return data_address("image/png", image)
    file = io.BytesIO()
    picture = Image.open(io.BytesIO(image), formats=("PNG",)).convert("RGB")
    picture.thumbnail((SMALL, SMALL))
    picture.save(file, "JPEG", quality=80)
    return data_address("image/jpeg", file.getvalue())
