"""Which images of other classes pass for known ones, beside the known ones they pass for (IS-OOD, Figures 2 and 20)."""

from collections.abc import Iterator

from openworld.evaluations.ood_detection.facts import ShiftFacts
from openworld.evaluations.ood_detection.record import THUMBNAILS, DetectionRecord, MarginalImage
from openworld.report.charts import CellChart, CellImage, ChartCell
from openworld.report.data_files import data_address
from openworld.report.figure import Figure
from openworld.report.page import Section
from openworld.report.table import Column, Row, Table
from openworld.results import TEXT, Metric, Value
from openworld.runs import Record

HEADING = "Which other classes pass for known ones?"
CONFIDENCE = Metric("confidence", "MSP", "percent", 1, 0, (0.0, 1.0))
SIDE = 76.0  # of an image
MOST_MODELS = 3
BELOW = "class of the image in the middle, and the known class that it is taken for"
ROWS = ("MSP, %", "other class", "taken for")
"""From below: how confident the model is, the marginal image, and a known image of the class that it is taken for."""


def marginal_section(facts: ShiftFacts) -> Section | None:
    """Return the images with their predictions, of the first seed of every model; None where no record has any."""
    pairs = list(_first_of_models(facts))
    if not pairs:
        return None
    figure, several = marginal_figure(facts), len(facts.models) > 1
    tables = tuple(_table(record, several) for record, _ in pairs)
    return Section(HEADING, tuple(_sentence(record, several) for record, _ in pairs), tables, (figure,) * bool(figure))


def marginal_figure(facts: ShiftFacts) -> Figure | None:
    """Return a chart per model: marginal images, above each a known one of the class that it is taken for.

    None where no record keeps thumbnails of them.
    """
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
    seen = set()
    for record, stored in zip(facts.records, facts.outputs, strict=True):
        if record.model not in seen and record.marginal is not None and record.marginal.images:
            seen.add(record.model)
            yield record, stored


def _sentence(record: DetectionRecord, several: bool) -> str:
    marginal = record.marginal
    who = f"of {record.model}" if several else "here"
    return (
        f"{marginal.n:,} images of other classes are at semantic level {marginal.semantic_level}, the nearest that has "
        f"any; {100 * marginal.accepted:.1f}\u00a0% of them pass {marginal.detector} {who} where 95\u00a0% of the "
        "in-distribution test images do."
    )


def _table(record: DetectionRecord, several: bool) -> Table:
    columns = (Column(TEXT, "taken for"), Column(CONFIDENCE, headline=True), Column(TEXT, "covariate level"))
    rows = tuple(
        Row(image.label, (image.prediction, Value(image.confidence), str(image.covariate_level)))
        for image in record.marginal.images
    )
    title = "Most confidently accepted images of other classes" + f", {record.model}" * several
    caption = (
        f"Images of other classes at semantic level {record.marginal.semantic_level}, seed {record.seed}, ranked by "
        f"{record.marginal.detector}. MSP: the largest softmax probability of the model, percent."
    )
    return Table(f"marginal-{record.model}" if several else "marginal", title, caption, "class", columns, rows, best="")


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
