"""Charts of a run of OOD detection that no layout draws: model against model, images of the cells, marginal images.

Marginal images are those of other classes that pass for known ones, beside these (IS-OOD, Figures 2 and 20).
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from PIL import Image

from openworld.evaluations.ood_detection.facts import ShiftFacts
from openworld.evaluations.ood_detection.leads import DIFFERENCE
from openworld.evaluations.ood_detection.metrics import CONFIDENCE
from openworld.evaluations.ood_detection.record import THUMBNAILS, DetectionRecord
from openworld.evaluations.ood_detection.results import areas_of_cells, first_of_models
from openworld.report.charts import CellChart, CellImage, ChartCell
from openworld.report.charts.cells import count_cell
from openworld.report.data_files import data_address
from openworld.report.figure import Figure
from openworld.report.layout import Brief
from openworld.report.sentences import counted
from openworld.report.shift_axes import NEAR, Place, level_map, place_text
from openworld.results import Result
from openworld.runs import Record

MOST_PAIRS = 12  # maps that a page has room for
WHOLE_POINTS = replace(DIFFERENCE, digits=0)
IMAGES_OF_A_CELL = 4
IMAGE_BYTES = 300_000  # of the page's 1.5 MB
SMALL = 40  # pixels of an image of which a cell has several
SIDE = 76.0  # of a cell with several images, and of a marginal image
NAMED = 1_000_000
"""Images of a pool up to which the table of a record is read for what each example shows."""

_IMAGE = re.compile(r"pictures/(\d+)-(\d+)/(\d+)\.png")
HEADING = "Which other classes pass for known ones?"
MOST_MODELS = 3
BELOW = "class of the image in the middle, and the known class that it is taken for"
ROWS = ("MSP, %", "other class", "taken for")
"""From below: how confident the model is, the marginal image, and a known image of the class that it is taken for."""


def cell_differences(brief: Brief) -> Iterator[Figure]:
    """Yield maps of each other model's AUROC minus the first one's, of detectors that both have."""
    facts, areas = brief.source, areas_of_cells(brief.results, brief.source)
    first = {each.label: each for each in facts.detectors if each.model == facts.models[0]}
    others = [each for each in facts.detectors if each.model != facts.models[0] and each.label in first]
    apart = {
        f"{other.label}: {other.model} − {facts.models[0]}": _differences(areas[first[other.label].title],
                                                                         areas[other.title])
        for other in others[:MOST_PAIRS]
    }  # fmt: skip
    if not apart:
        return
    sizes = [abs(value) for cells in apart.values() for value in cells.values() if value is not None]
    largest, counts = max(sizes, default=0.0) or 1.0, facts.counts
    charts = []
    for title, values in apart.items():
        cells = {
            place: count_cell(int(counts[place]))
            if value is None
            else ChartCell(WHOLE_POINTS.write(value), value / largest, row={"difference": value})
            for place, value in values.items()
        }
        charts.append(level_map(title, cells, counts.shape))
    beyond = f" {len(others) - MOST_PAIRS} more pairs are not shown." if len(others) > MOST_PAIRS else ""
    caption = (
        f"Difference of the AUROCs, whole points, means over the seeds. {NEAR}.{beyond}",
        f"Blue where the other model is better, orange where {facts.models[0]} is; nothing is tested here.",
    )
    yield Figure("differences", "Model against model", caption, tuple(charts))


def _differences(first: list[Result], second: list[Result]) -> Mapping[tuple[int, int], float | None]:
    """The differences by cell; None where a cell is N/A."""
    return {
        (before.where["covariate_level"], before.where["semantic_level"]): None
        if before.value.value is None
        else after.value.value - before.value.value
        for before, after in zip(first, second, strict=True)
    }


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


def marginal_figure(facts: ShiftFacts) -> Figure | None:
    """Return a chart per model, marginal images above known ones of their names; None without thumbnails."""
    charts = [_chart(record, stored) for record, stored in first_of_models(facts)]
    charts = [chart for chart in charts if any(cell.images for cell in chart.cells.values())][:MOST_MODELS]
    if not charts:
        return None
    caption = (
        "In the middle images of other classes at the nearest semantic level, those that pass most surely for known "
        "ones; below each the largest softmax probability and both classes, above it the test image of the class that "
        "it is taken for of which the detector is surest.",
        "Where both show the same thing, the label is at fault and not the detector.",
    )
    return Figure("marginal", HEADING, caption, tuple(charts), names=("model", "image"))


def marginal_note(facts: ShiftFacts) -> str:
    """Return how many such images there are, and what share of them passes."""
    sentences = []
    for record, _ in first_of_models(facts):
        marginal = record.marginal
        sentences.append(
            f"{record.model}: of {counted(marginal.n, 'image')} of other classes at semantic level "
            f"{marginal.semantic_level}, the nearest that has any, {100 * marginal.accepted:.1f}\u00a0% pass "
            f"{marginal.detector} where 95\u00a0% of the in-distribution test images do; shown are the surest."
        )
    return " ".join(sentences)


def _chart(record: DetectionRecord, stored: Record) -> CellChart:
    images, cells = record.marginal.images, {}
    for column, image in enumerate(images):
        known = {"class": image.label, "taken_for": image.prediction}
        known |= {"confidence": image.confidence, "score": image.score, "row": ROWS[0]}
        cells[0, column] = ChartCell(CONFIDENCE.write(image.confidence), 0.9 * image.confidence, row=known)
        names = {1: f"{image.id}", 2: f"known-{image.known}"}
        texts = {1: f"{image.label}, taken for {image.prediction}", 2: f"{image.prediction}, a known class"}
        for row, name in names.items():
            if f"{THUMBNAILS}/{name}.png" in stored.attachments:
                address = data_address("image/png", stored.attachment(f"{THUMBNAILS}/{name}.png"))
                cells[row, column] = ChartCell(images=(CellImage(address, texts[row]),), row={"row": ROWS[row]})
    labels = [f"{image.label}\nas {image.prediction}" for image in images]
    return CellChart(record.model, "", BELOW, ROWS, labels, cells, ("place", "column"), side=SIDE)
