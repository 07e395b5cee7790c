"""The figures of a run: estimated against true accuracy, reference models (FRAP's Figures 2, 3, 4 to 7), and images.

Models are averaged into a dot only as far as a page needs. Thumbnails by condition are kept by the first record of a
run; where all would weigh too much, fewer severities are shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from openworld.label_free.benchmark.arrays import EXAMPLES, THUMBNAILS, Condition, RunArrays, value_of
from openworld.label_free.benchmark.cards import CALIBRATION, CLASSIFIERS, ERROR, FIXED, FUSED, TRUE_ACCURACY, TTC
from openworld.label_free.benchmark.results import alignment_values
from openworld.report.album import Album, AlbumImage
from openworld.report.charts import CellChart, ChartCell, Cloud, IntervalChart, Quantity, Reference, ScatterChart
from openworld.report.charts.drawing.svg import element, marker, sample
from openworld.report.charts.intervals import IntervalRow
from openworld.report.data_files import data_address
from openworld.report.figure import Figure
from openworld.report.layout import Brief
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.results import Metric, Results
from openworld.runs import Record

BUDGET = 20_000
"""Dots of a whole figure; beyond it they are averaged."""

BYTES = 250_000
"""Of the page's 1.5 MB, what images of conditions may take."""

LEVELS = (
    ("", lambda model: (model.name, model.checkpoint, model.seed)),
    (", mean over its seeds", lambda model: (model.name, model.checkpoint)),
    (", mean over its seeds and checkpoints", lambda model: (model.name,)),
    (", mean over all models", lambda model: ()),
)
"""How far models are averaged into one dot: its words, and what models of one dot have in common."""


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

STYLES = {
    "synthetic": SeriesStyle("synthetic", "#2b7fc4", "#58aef0", "", "circle"),
    "natural": SeriesStyle("natural", "#b8480b", "#ff9a52", "", "circle"),
}
"""Kind of shift -> how its dots are drawn; what is drawn last lies on top."""

SHAPES = ("circle", "triangle", "square", "diamond")

RANKS = ("1st", "2nd")
ABOUT_TEMPERATURES = (
    "Expected calibration error of a reference (15 bins), percent, with 95 % intervals where there are any: its "
    "similarities divided by a fixed τ, or by the one that FRAP finds on the unlabelled images (TTC).",
    "The smallest is ringed. A fixed τ needs labels of the targets to be chosen; TTC needs none.",
)


def estimated_and_true(brief: Brief) -> Iterator[Figure]:
    """Yield one chart per method, on one range for all: on the diagonal the estimate is right."""
    arrays = brief.source
    cloud = ModelGroups.within(arrays, len(arrays.methods))
    accuracy, estimates = cloud.mean(arrays.accuracy), [cloud.mean(each) for each in arrays.estimated]
    finite_numbers = np.concatenate([accuracy.ravel(), *(estimate.ravel() for estimate in estimates)])
    finite_numbers = finite_numbers[np.isfinite(finite_numbers)]
    covers = (float(finite_numbers.min()), float(finite_numbers.max())) if finite_numbers.size else (0.0, 1.0)
    x = Quantity("accuracy", "true accuracy, %", covers=covers)
    y = Quantity("estimate", "estimated, %", covers=covers)

    numbers, charts = dict(zip(arrays.labels, estimates, strict=True)), []
    for label, estimate in numbers.items():
        error, mark = brief.results.value(label, ERROR.key).value, brief.marks.get(label)
        note = f"off by {ERROR.write(error)}{mark.sign if mark and error is not None else ''}"
        dots = cloud.dots(accuracy, estimate)
        charts.append(ScatterChart(label, x, y, dots, "equal", note=note, small=True, learner=label))

    caption = (
        f"Every dot is one condition with one classifier{cloud.text}: its true accuracy across, what the method "
        "says of it without labels upwards; in the corner the mean absolute error (average of the lines).",
        "On the diagonal the estimate is right, above it overestimated; a cloud that lies flat tells good conditions "
        "from bad ones by too little, whatever its mean error is.",
    )
    title, rows = "Do the estimates follow the truth?", cloud.rows({"accuracy": accuracy} | numbers)
    key = cloud.key
    yield Figure("estimated", title, caption, tuple(charts), cloud.styles, key, small=True, shared=tuple(rows))


@dataclass(frozen=True, eq=False)
class ModelGroups:
    """Judged models averaged into G groups, of which each is a dot in every condition."""

    arrays: RunArrays
    text: str  # over what a dot is the mean, for a caption
    places: tuple[tuple[int, ...], ...]  # of the models of every group

    @classmethod
    def within(cls, arrays: RunArrays, dots: int) -> "ModelGroups":
        """Return models averaged as far as the budget demands, where each is so many dots in a condition."""
        for text, common in LEVELS:
            groups: dict[tuple, list[int]] = {}
            for place, model in enumerate(arrays.models):
                groups.setdefault(common(model), []).append(place)
            averaged = text if len(groups) < len(arrays.models) else ""
            chosen = cls(arrays, averaged, tuple(map(tuple, groups.values())))
            if len(groups) * len(arrays.conditions) * dots <= BUDGET:
                break
        return chosen

    @cached_property
    def shapes(self) -> tuple[str, ...]:
        """What shapes stand for: models, or the checkpoints of a single one."""
        names, titles = ({getattr(model, name): None for model in self.arrays.models} for name in ("name", "title"))
        return tuple(names if len(names) > 1 else titles)

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds of shift in the order in which they are drawn."""
        present = {condition.kind for condition in self.arrays.conditions}
        return [kind for kind in STYLES if kind in present]

    @cached_property
    def styles(self) -> dict[str, SeriesStyle]:
        """A colour per kind and a marker per shape, by the name of the series."""
        return {
            f"{kind} shift · {shape}": replace(STYLES[kind], marker=SHAPES[place % len(SHAPES)])
            for kind in self.kinds
            for place, shape in enumerate(self.shapes)
        }

    @property
    def key(self) -> tuple:
        """What colours and markers mean, for the key over a figure."""
        marks = (element("g", marker(each.marker, 13.0, 7.0), class_=each.css_class) for each in self.styles.values())
        return tuple(zip(map(sample, marks), self.styles, strict=True))

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Return float[G, C], the means of values float[M, C] over the models of every group."""
        return np.stack([values[list(places)].mean(axis=0) for places in self.places])

    def dots(self, x: np.ndarray, y: np.ndarray, of: Sequence[str] = ()) -> dict[str, Cloud]:
        """Return float[G, C] against float[G, C] by kind of shift (some, or all) and shape, but what has no number."""
        kinds = np.array([condition.kind for condition in self.arrays.conditions])
        models = self.arrays.models
        possible = [{name for at in members for name in (models[at].name, models[at].title)} for members in self.places]
        drawn = [[shape for shape in self.shapes if shape in names] for names in possible]
        shapes = np.array([names[0] if len(names) == 1 else self.shapes[0] for names in drawn])
        present, clouds = np.isfinite(x) & np.isfinite(y), {}
        for kind in of or self.kinds:
            for shape in dict.fromkeys(shapes.tolist()):
                chosen = present & (kinds == kind)[None, :] & (shapes == shape)[:, None]
                if chosen.any():
                    points = list(zip(x[chosen].tolist(), y[chosen].tolist(), strict=True))
                    clouds[f"{kind} shift · {shape}"] = Cloud(points)
        return clouds

    def rows(self, numbers: Mapping[str, np.ndarray], **names: str) -> Iterator[dict]:
        """Yield a row per dot, a column per number, float[G, C], with four decimals; none where no number is known."""
        for place, members in enumerate(self.places):
            model = {}
            for key, name in (("model", "name"), ("epoch", "epoch"), ("seed", "seed")):
                values = {getattr(self.arrays.models[at], name) for at in members}
                model[key] = values.pop() if len(values) == 1 else ""  # what all models of a dot have in common
            for at, condition in enumerate(self.arrays.conditions):
                values = {name: number[place, at] for name, number in numbers.items()}
                cells = {name: f"{value:.4f}" if np.isfinite(value) else "" for name, value in values.items()}
                if any(cells.values()):
                    where = {"line": condition.row, "condition": condition.name, "kind": condition.kind}
                    yield names | where | model | cells


def temperature_chart(results: Results, reference: str, place: Mapping[str, str], title: str) -> IntervalChart | None:
    """Return calibration errors of a reference by temperature; None where no record has those at fixed ones."""
    errors = {tuple(row.where.items()): row.value for row in results.where(entity=reference, metric=CALIBRATION.key)}
    places = {kind: (*place.items(), ("calibration", kind)) for kind in TEMPERATURES}
    values = {kind: errors[place] for kind, place in places.items() if place in errors}
    numbers = {kind: value.value for kind, value in values.items() if value.value is not None}
    if len(numbers) < len(TEMPERATURES):
        return None
    smallest, rows = min(numbers.values()), {}
    for kind, value in values.items():
        interval = value.over()
        ends = (interval.low, interval.high) if interval else None
        rows[kind] = IntervalRow(numbers[kind], ends, ringed=numbers[kind] == smallest)
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
            image = (data_address("image/png", record.attachment(name)), example["label"])
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
    kinds = [(kind,) for kind in reversed(cloud.kinds)] if by_kind else [tuple(cloud.kinds)]
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
            title = f"{entity}, {chosen[0]} shift" if by_kind else entity
            charts.append(ScatterChart(title, x, y, cloud.dots(*gaps, chosen), named=None, references=zero))
        rows += cloud.rows(dict(zip(GAPS, gaps, strict=True)), reference=reference)
    caption = (
        f"Every dot is one condition with one classifier{cloud.text}: how much higher the Semantic Alignment Score "
        "of the fused prediction is than the classifier's (across) and than the reference's own (upwards), points.",
        "In the upper right corner fusing beats both; on the dashed lines it changes nothing.",
    )
    title = "Does fusing bring predictions nearer in meaning?"
    drawn = tuple(charts), cloud.styles, cloud.key
    return Figure("alignment-gap", title, caption, *drawn, shared=tuple(rows), together=len(kinds))


def albums(brief: Brief) -> tuple[Album, ...]:
    """Return one album with the lines of the table as its parts; none where no record keeps images."""
    arrays = brief.source
    thumbnails = _thumbnails(arrays)
    if not thumbnails:
        return ()
    severities = sorted({each.severity for each in thumbnails if each.severity is not None})
    ends = sorted({severities[0], severities[len(severities) // 2], severities[-1]}) if severities else []
    for chosen in (severities, ends, severities[-1:], []):
        visible = [condition for condition in thumbnails if condition.severity in (None, *chosen)]
        if sum(len(address) for condition in visible for address in thumbnails[condition]) <= BYTES:
            break

    parts: dict[str, list[AlbumImage]] = {row: [] for row in arrays.rows}
    for condition in visible:
        accuracy = value_of(np.mean, arrays.accuracy[:, arrays.conditions.index(condition)]).value
        text = f"{TRUE_ACCURACY.write(accuracy)}\u00a0% right"
        parts[condition.row] += [AlbumImage(address, condition.name, text) for address in thumbnails[condition]]
    severity = f"severity {' and '.join(map(str, chosen))}" if chosen else "none"
    fewer = f" Of corruptions {severity} is shown." if len(chosen) < len(severities) else ""
    text = f"An image or two of every condition, and the mean true accuracy of the classifiers there.{fewer}"
    return (Album("The conditions", text, tuple((row, tuple(of)) for row, of in parts.items() if of)),)


def _thumbnails(arrays: RunArrays) -> dict[Condition, list[str]]:
    """Return the addresses of images of every condition, of the record that keeps some."""
    for record in arrays.run.records:
        names = [name for name in record.attachments if name.startswith(f"{THUMBNAILS}/")]
        if names:
            addresses: dict[str, list[str]] = {}
            for name in names:
                file = data_address("image/png", record.attachment(name))
                addresses.setdefault(name.split("/")[1], []).append(file)
            conditions = (Condition(**facts) for facts in record.metrics["conditions"])
            return {condition: addresses.get(str(number), []) for number, condition in enumerate(conditions)}
    return {}
