"""The figures of reference models: probabilities on example images, calibration by temperature, nearness in meaning.

They are FRAP's Figures 2, 3 and 4 to 7.
"""

from collections.abc import Iterator, Mapping, Sequence

from openworld.label_free.benchmark.arrays import EXAMPLES, RunArrays
from openworld.label_free.benchmark.cards import CALIBRATION, CLASSIFIERS, FIXED, FUSED, TTC
from openworld.label_free.benchmark.figures import ModelGroups
from openworld.label_free.benchmark.results import alignment_values
from openworld.report.charts import CellChart, CellImage, ChartCell, DotsChart, IntervalChart, Quantity, Reference
from openworld.report.charts.dots import KINDS
from openworld.report.charts.intervals import IntervalRow
from openworld.report.data_files import data_address
from openworld.report.figure import Figure
from openworld.report.layout import Brief
from openworld.report.series_style import series_styles
from openworld.results import Metric, Results
from openworld.runs import Record

ROW = 8
"""What a dot of alignment weighs against one of many methods: its row of the download is its own."""

MOST_LINES = 12  # charts of calibration that a page has room for
GAPS = ("over_judged_model", "over_reference")
TEMPERATURES = (*FIXED, TTC)
"""Kinds of calibration that FRAP's Figure 3 holds beside one another."""

SIDE = 76.0  # of an example image
PROBABILITY = Metric("probability", "probability", "percent", 1, 0, (0.0, 1.0))
SCALES = {
    "raw": "raw: the softmax of bare similarities",
    "own": "own: at the temperature that the model was trained with",
    "calibrated": "TTC: calibrated on the unlabelled images",
}
"""Probabilities of an example -> what they are."""

RANKS = ("1st", "2nd")
ABOUT_TEMPERATURES = (
    "Expected calibration error of a reference (15 bins), percent, with 95 % intervals where there are any: its "
    "similarities divided by a fixed τ, or by the one that FRAP finds on the unlabelled images (TTC).",
    "The smallest is ringed. A fixed τ needs labels of the targets to be chosen; TTC needs none.",
)


def temperature_chart(results: Results, reference: str, place: Mapping[str, str], title: str) -> IntervalChart | None:
    """Return calibration errors of a reference by temperature; None where no record has those at fixed ones."""
    errors = {tuple(row.where.items()): row.value for row in results.where(entity=reference, metric=CALIBRATION.key)}
    places = {kind: (*place.items(), ("calibration", kind)) for kind in TEMPERATURES}
    values = {kind: errors[place] for kind, place in places.items() if place in errors}
    if len(values) < len(TEMPERATURES) or any(value.value is None for value in values.values()):
        return None
    smallest, rows = min(value.value for value in values.values()), {}
    for kind, value in values.items():
        interval = value.over()
        ends = (interval.low, interval.high) if interval else None
        rows[kind] = IntervalRow(value.value, ends, ringed=value.value == smallest)
    return IntervalChart(title, Quantity.of(CALIBRATION, covers=(0.0,)), rows)


def temperatures_figure(brief: Brief) -> Iterator[Figure]:
    """Yield a chart per reference and line: calibration error at three fixed temperatures and at that of TTC."""
    arrays, charts = brief.source, []
    for name in arrays.references:
        for line in arrays.lines:
            title = f"{name}, {line}" if len(arrays.references) > 1 else line
            charts.append(temperature_chart(brief.results, name, arrays.place(line), title))
    drawn = tuple(chart for chart in charts if chart is not None)[:MOST_LINES]
    if drawn:
        title, names = "Which temperature calibrates a reference?", ("line", "temperature")
        yield Figure("temperatures", title, ABOUT_TEMPERATURES, drawn, series_styles(TEMPERATURES), names=names)


def examples_figure(brief: Brief) -> Iterator[Figure]:
    """Yield a chart per reference: example images with their probabilities, raw and calibrated."""
    figure = example_probabilities(brief.source)
    if figure is not None:
        yield figure


def example_probabilities(arrays: RunArrays) -> Figure | None:
    """Return a chart per reference of the examples of the record that keeps some; None where none does."""
    record = next((record for record in arrays.run.records if record.metrics.get("examples")), None)
    if record is None:
        return None
    by_reference: dict[str, list[Mapping]] = {}
    rows = []
    for example in record.metrics["examples"]:
        by_reference.setdefault(example["reference"], []).append(example)
        place = {"reference": example["reference"], "image": example["id"], "class": example["label"]}
        for rank, name in enumerate(example["classes"]):
            rows.append(place | {"rank": rank + 1, "named": name} | {scale: example[scale][rank] for scale in SCALES})
    charts = tuple(_examples_chart(record, name, examples) for name, examples in by_reference.items())
    caption = (
        "Images that the first reference names right, and the probabilities of the likeliest two of "
        f"{arrays.facts['classes']} classes, percent. {'; '.join(SCALES.values())}.",
        "Raw probabilities are nearly alike even where the answer is right, so that they say nothing about how sure it "
        "is (FRAP, section 4.1).",
    )
    title = "How sure is a reference of its answers?"
    return Figure("examples", title, caption, charts, names=("reference", "image"), shared=tuple(rows))


def _examples_chart(record: Record, reference: str, examples: Sequence[Mapping]) -> CellChart:
    """Return columns of images; below each the two largest probabilities on every scale."""
    scales = [(scale, rank) for scale in reversed(SCALES) for rank in reversed(range(len(RANKS)))]
    cells = {}
    for column, example in enumerate(examples):
        for row, (scale, rank) in enumerate(scales):
            if rank < len(example["classes"]):
                text = PROBABILITY.write(example[scale][rank])
                hint = f"{example['classes'][rank]}: {text}"
                cells[row, column] = ChartCell(text, example[scale][rank], hint)
        name = f"{EXAMPLES}/{example['id']}.png"
        if name in record.attachments:
            image = CellImage(data_address("image/png", record.attachment(name)), example["label"])
            cells[len(scales), column] = ChartCell(images=(image,))
    labels = [*(f"{SCALES[scale].partition(':')[0]}, {RANKS[rank]}" for scale, rank in scales), "image"]
    columns = [example["label"] for example in examples]
    return CellChart(reference, "", "its class", labels, columns, cells, side=SIDE)


def alignment_gap(arrays: RunArrays, *, by_kind: bool = False) -> Figure | None:
    """Return a chart per reference, gap to the judged model against gap to it (Figure 4); None where none is fused."""
    scores = alignment_values(arrays)
    fused = [entity for entity in scores if entity.startswith(FUSED)]
    if not fused:
        return None
    cloud = ModelGroups.within(arrays, ROW * len(fused))
    present = dict.fromkeys(condition.kind for condition in arrays.conditions)
    kinds = [(kind,) for kind in reversed(KINDS) if kind in present] if by_kind else [tuple(present)]
    charts, rows = [], []
    for entity in fused:
        reference = entity.removeprefix(FUSED)
        gaps = [cloud.mean(scores[entity] - scores[other]) for other in (CLASSIFIERS, reference)]
        x, y = (
            Quantity(key, f"over {name}, points", "points", covers=(0.0,))
            for key, name in zip(GAPS, ("the classifier", reference), strict=True)
        )
        zero = (Reference(0.0, axis="x"), Reference(0.0))
        for chosen in kinds:
            dots = tuple(group for group in cloud.dots(*gaps) if group.kind in chosen)
            title = f"{entity}, {KINDS[chosen[0]]}" if by_kind else entity
            charts.append(DotsChart(title, x, y, dots, cloud.shapes, references=zero))
        rows += cloud.rows(dict(zip(GAPS, gaps, strict=True)), reference=reference)
    caption = (
        f"Every dot is one condition with one classifier{cloud.text}: how much higher the Semantic Alignment Score "
        "of the fused prediction is than the classifier's (across) and than the reference's own (upwards), points.",
        "In the upper right corner fusing beats both; on the dashed lines it changes nothing.",
    )
    title = "Does fusing bring predictions nearer in meaning?"
    return Figure(
        "alignment-gap", title, caption, tuple(charts), key=cloud.key, shared=tuple(rows), together=len(kinds)
    )
