"""Which images of other classes pass for known ones, beside the known ones they pass for (IS-OOD, Figures 2 and 20)."""

from collections.abc import Iterator

from openworld.evaluations.ood_detection.facts import ShiftFacts
from openworld.evaluations.ood_detection.metrics import CONFIDENCE
from openworld.evaluations.ood_detection.record import THUMBNAILS, DetectionRecord, MarginalImage
from openworld.report.charts import CellChart, CellImage, ChartCell
from openworld.report.data_files import data_address
from openworld.report.figure import Figure
from openworld.report.sentences import counted
from openworld.results import Result, Value
from openworld.runs import Record

HEADING = "Which other classes pass for known ones?"
SIDE = 76.0  # of an image
MOST_MODELS = 3
BELOW = "class of the image in the middle, and the known class that it is taken for"
ROWS = ("MSP, %", "other class", "taken for")
"""From below: how confident the model is, the marginal image, and a known image of the class that it is taken for."""


def marginal_rows(facts: ShiftFacts) -> Iterator[Result]:
    """Yield how sure each model is of the images that it takes for known ones, of its first seed."""
    for record, _ in _first_of_models(facts):
        for image in record.marginal.images:
            place = {"class": image.label, "taken_for": image.prediction, "image": image.id}
            place["taken_for_name"] = f"taken for {image.prediction}"
            yield Result(record.model, CONFIDENCE, Value(image.confidence), place)


def marginal_figure(facts: ShiftFacts) -> Figure | None:
    """Return a chart per model, marginal images above known ones of their names; None without thumbnails."""
    charts = [_chart(record, stored) for record, stored in _first_of_models(facts)]
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


def _first_of_models(facts: ShiftFacts) -> Iterator[tuple[DetectionRecord, Record]]:
    for model in facts.models:
        units = [unit for unit in facts.of(model) if unit.record.marginal is not None and unit.record.marginal.images]
        for unit in units[:1]:
            yield unit.record, unit.stored


def marginal_note(facts: ShiftFacts) -> str:
    """Return how many such images there are, and what share of them passes."""
    sentences = []
    for record, _ in _first_of_models(facts):
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
        cells[0, column] = ChartCell(
            CONFIDENCE.write(image.confidence), 0.9 * image.confidence, row=_facts_of(image) | {"row": ROWS[0]}
        )
        names = {1: f"{image.id}", 2: f"known-{image.known}"}
        texts = {1: f"{image.label}, taken for {image.prediction}", 2: f"{image.prediction}, a known class"}
        for row, name in names.items():
            if f"{THUMBNAILS}/{name}.png" in stored.attachments:
                address = data_address("image/png", stored.attachment(f"{THUMBNAILS}/{name}.png"))
                cells[row, column] = ChartCell(images=(CellImage(address, texts[row]),), row={"row": ROWS[row]})
    labels = [f"{image.label}\nas {image.prediction}" for image in images]
    return CellChart(record.model, "", BELOW, ROWS, labels, cells, ("place", "column"), side=SIDE)


def _facts_of(image: MarginalImage) -> dict[str, object]:
    return {"class": image.label, "taken_for": image.prediction, "confidence": image.confidence, "score": image.score}
