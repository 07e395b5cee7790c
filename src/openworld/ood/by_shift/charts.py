"""Charts of a run of OOD detection that no layout draws: images of the cells, and marginal images.

Marginal images are those of other classes that pass for known ones, beside these (IS-OOD, Figures 2 and 20).
"""

import io
import re

import numpy as np
from PIL import Image

from openworld.core.errors import present
from openworld.ood.by_shift.metrics import CONFIDENCE, SCORE, THUMBNAILS
from openworld.ood.by_shift.results import DetectionRun
from openworld.report.charts import CellChart, ChartCell
from openworld.report.data_files import data_address, thumbnail_address
from openworld.report.figure import Figure
from openworld.report.shift_axes import NEAR, Place, level_map, place_text

IMAGES_OF_A_CELL = 4
IMAGE_BYTES = 300_000  # of the page's 1.5 MB
SMALL = 40  # pixels of an image of which a cell has several
SIDE = 76.0  # of a cell with several images, and of a marginal image
NAMED = 1_000_000
"""Images of a pool up to which the table of a record is read for what each example shows."""

_IMAGE = re.compile(r"images/(\d+)-(\d+)/(\d+)\.png")
HEADING = "Which other classes pass for known ones?"
MOST_MODELS = 3
BELOW = "class of the image in the middle, and the known class that it is taken for"
ROWS = ("MSP, %", "other class", "taken for")
"""From below: how confident the model is, the marginal image, and a known image of the class that it is taken for."""


def cell_images(run: DetectionRun, room: int = IMAGE_BYTES, *, small: bool = True) -> Figure | None:
    """Return a map with up to four images of every cell; None where no record keeps any; arguments as below."""
    present, shown = run.present, example_images(run, room, small=small)
    if not shown:
        return None
    several = max(map(len, shown.values())) > 1
    cells = {place: ChartCell(images=tuple(images), faint=not present[place]) for place, images in shown.items()}
    caption = (
        f"{NEAR}. {'Up to four images' if several else 'One image'} of every cell.",
        "From left to right images should mean other things, from bottom to top their appearance should change; faint "
        "ones are of cells that are N/A. If that is not what you see, do not trust the levels.",
    )
    chart = level_map("Images of every cell", cells, run.counts.shape, SIDE if several else None)
    return Figure("cell-images", "Images of the cells", caption, (chart,))


def example_images(run: DetectionRun, room: int, *, small: bool = True) -> dict[Place, list[tuple[str, str]]]:
    """Return up to four images of every cell, with what each shows: the thumbnails of the first unit."""
    # Where they have no room together, bytes, every cell keeps its first image before any has its second, the
    # lightest first.
    if (stored := run.units[0].stored) is None:
        return {}
    images_of: dict[Place, list[tuple[int, str]]] = {}
    for name in sorted(stored.attachments):
        if place := _IMAGE.fullmatch(name):
            png = stored.attachment(name)
            address = data_address("image/png", png)
            if small:
                address = thumbnail_address(Image.open(io.BytesIO(png), formats=("PNG",)), SMALL)
            images_of.setdefault((int(place[1]), int(place[2])), []).append((int(place[3]), address))
    shows: dict[int, str] = {}
    if images_of and run.counts.sum() <= NAMED and "images" in stored.tables:
        table, styles = stored.table("images"), run.units[0].facts["styles"]
        if {"id", "label_name", "style"} <= set(table):
            numbers = [number for of_cell in images_of.values() for number, _ in of_cell]
            rows = np.flatnonzero(np.isin(table["id"], numbers))
            named = zip(*(table[name][rows].tolist() for name in ("id", "label_name", "style")), strict=True)
            shows = {number: f"{label}, {styles[style]}" for number, label, style in named}
    turns = sorted(
        (turn, len(address), place) for place, of_cell in images_of.items() for turn, (_, address) in enumerate(of_cell)
    )
    album: dict[Place, list[tuple[str, str]]] = {}
    for turn, size, place in turns:
        if turn < IMAGES_OF_A_CELL and size <= room and len(album.get(place, ())) == turn:
            room -= size
            number, address = images_of[place][turn]
            text = "; ".join(filter(None, (shows.get(number, ""), place_text(place))))
            album.setdefault(place, []).append((address, text))
    return album


def marginal_figure(run: DetectionRun) -> Figure | None:
    """Return a chart per model, marginal images above known ones of their names; None without thumbnails."""
    charts = []
    for model, (unit, *_) in run.models.items():
        cells, labels = {}, []
        scores = {row.where["image"]: row.value.value for row in unit.rows.where(metric=SCORE.key)}
        for column, row in enumerate(unit.rows.where(metric=CONFIDENCE.key)):
            confidence, label = present(row.value.value, CONFIDENCE.title), row.where["class"]
            taken_for = row.where["taken_for"]
            known: dict[str, str | float | None] = {"class": label, "taken_for": taken_for, "confidence": confidence}
            known |= {"score": scores[row.where["image"]], "row": ROWS[0]}
            cells[0, column] = ChartCell(CONFIDENCE.write(confidence), 0.9 * confidence, row=known)
            labels.append(f"{label}\nas {taken_for}")
            names = {1: f"{row.where['image']}", 2: f"known-{row.where.get('known')}"}
            texts = {1: f"{label}, taken for {taken_for}", 2: f"{taken_for}, a known class"}
            for place, name in names.items():
                if f"{THUMBNAILS}/{name}.png" in unit.record.attachments:
                    address = data_address("image/png", unit.record.attachment(f"{THUMBNAILS}/{name}.png"))
                    images = ((address, texts[place]),)
                    cells[place, column] = ChartCell(images=images, row={"row": ROWS[place]})
        if any(cell.images for cell in cells.values()):
            charts.append(CellChart(model, "", BELOW, ROWS, labels, cells, ("place", "column"), side=SIDE))
    if not charts:
        return None
    caption = (
        "In the middle images of other classes at the nearest semantic level, those that pass most surely for known "
        "ones; below each the largest softmax probability and both classes, above it the test image of the class that "
        "it is taken for of which the detector is surest.",
        "Where both show the same thing, the label is at fault and not the detector.",
    )
    return Figure("marginal", HEADING, caption, tuple(charts[:MOST_MODELS]), names=("model", "image"))
