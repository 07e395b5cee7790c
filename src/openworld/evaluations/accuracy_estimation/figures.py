"""The figures of accuracy estimation: estimates against the truth, errors by severity and by time, alignment."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.accuracy_estimation.alignment import Alignment, alignments
from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, Errors, ErrorTable
from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.evaluations.accuracy_estimation.times import spent
from openworld.evaluations.accuracy_estimation.wording import starred
from openworld.report.charts import Cloud, Dots, DotsChart, Line, LineChart, Quantity, Reference, ScatterChart
from openworld.report.charts.dots import dots_key
from openworld.report.charts.quantity import CROWDED
from openworld.report.figure import Figure
from openworld.report.series_style import Look
from openworld.report.text import milliseconds, percent

BUDGET = 30_000  # dots of a whole figure; beyond it they are averaged
TEXT = 8  # what a dot of alignment weighs against one of many methods: its row of the download is its own
LEVELS = (
    ("", lambda model: (model.name, model.checkpoint, model.seed)),
    (", mean over its seeds", lambda model: (model.name, model.checkpoint)),
    (", mean over its seeds and checkpoints", lambda model: (model.name,)),
    (", mean over all models", lambda model: ()),
)
"""How far models are averaged into one dot: what is said of it, and what models of one dot have in common."""
SEVERITY = Quantity("severity", "severity", "number", 6, at_values=True)


@dataclass(frozen=True, eq=False)
class Cells:
    """What is drawn: models averaged into G groups; accuracy float[G, C], estimates float[K, G, C], NaN = none."""

    text: str
    groups: tuple[tuple[int, ...], ...]
    accuracy: np.ndarray
    estimates: np.ndarray


def severity(table: ErrorTable, styles: dict[str, Look]) -> Figure | None:
    """Return two charts: mean absolute error and bias, one line per method; None where there are no two severities."""
    run = table.run
    steps = sorted({one.severity for one in run.conditions if one.severity is not None})
    if len(steps) < 2:
        return None
    at = [np.array([one.severity == step for one in run.conditions]) for step in steps]
    kept = tuple(filter(None, (run.yardstick, table.leader)))

    truth = [_mean(run.accuracy[:, own]) for own in at]

    def line(off: np.ndarray) -> Line:
        counts = [int(np.isfinite(off[:, own]).sum()) for own in at]
        return Line(steps, [_mean(off[:, own]) for own in at], further={"estimates": counts, "true_accuracy": truth})

    def chart(title: str, y: Quantity, off: np.ndarray, references=()) -> LineChart:
        lines = {label: line(off[place]) for place, label in enumerate(run.labels)}
        whole = {label: line for label, line in lines.items() if None not in line.y}
        return LineChart(title, SEVERITY, y, whole, kept, references=references)

    size = Quantity("mean_absolute_error", "mean absolute error, points", covers=(0.0,))
    bias = Quantity("bias", "estimated − true accuracy, points", "points")
    charts = (chart("How far off", size, np.abs(run.off)), chart("Which way", bias, run.off, (Reference(0.0),)))
    if not charts[0].series:
        return None
    crowded = " Point at a name above to bring its line forward." * (len(charts[0].series) > CROWDED)
    caption = (
        "Means over all corruptions and judged models at every severity; true accuracy goes from "
        f"{percent(truth[0])} to {percent(truth[-1])} % on the way.",
        "Left the mean absolute error; right estimated minus true accuracy, where above 0 is too hopeful. A method "
        f"that sees the shift stays level in both.{crowded}",
    )
    return Figure("severity", "What happens as the shift grows?", caption, charts, styles, names=("panel", "method"))


def _mean(values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None


def error_time(table: ErrorTable, styles: dict[str, Look]) -> Figure | None:
    """Return one chart, one dot per method; None where fewer than two have a time and an error."""
    times = {label: one.estimate for label, one in spent(table.run).items()}
    cells = {label: table.cells[AVERAGE][label] for label in times}
    clouds = {
        label: _timed(times[label], one) for label, one in cells.items() if one.mean is not None and times[label] > 0
    }
    if len(clouds) < 2:
        return None
    x = Quantity("milliseconds_per_condition", "milliseconds for one condition", "number", 6, log=True)
    y = Quantity("mean_absolute_error", "mean absolute error, points")
    caption = (
        "Mean absolute error, average of the lines, against the time that a method takes to estimate one condition, "
        "images and models being read already, on a logarithmic scale; thin lines are 95 % intervals of the mean.",
        "Lower left is better: little time, little error.",
    )
    chart = ScatterChart("", x, y, clouds)
    return Figure("error-time", "What does a smaller error cost?", caption, (chart,), styles, names=("panel", "method"))


def _timed(seconds: float, errors: Errors) -> Cloud:
    time, ends = 1000 * seconds, errors.interval
    text = f"off by {percent(errors.mean)} in {milliseconds(seconds)} ms"
    low, high = ends or (None, None)
    spread = ((time, low), (time, high)) if ends else ()
    return Cloud(((time, errors.mean),), spread, text, {"low": (low,), "high": (high,)})


def estimated(table: ErrorTable) -> Figure:
    """Return one chart per method, on one range for all: on the diagonal the estimate is right."""
    run = table.run
    cells, shapes = averaged(run), shape_names(run)
    known = np.concatenate([cells.accuracy.ravel(), cells.estimates.ravel()])
    known = known[np.isfinite(known)]
    covers = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    x, y = (Quantity(key, title, covers=covers) for key, title in
            (("accuracy", "true accuracy, %"), ("estimate", "estimated, %")))  # fmt: skip

    def chart(place: int, label: str) -> DotsChart:
        dots = tuple(_groups(run, cells.groups, shapes, cells.accuracy, cells.estimates[place]))
        note = f"off by {starred(table.cells[AVERAGE][label])}"
        return DotsChart(label, x, y, dots, tuple(shapes), label, "equal", note=note, small=True)

    charts = tuple(chart(place, label) for place, label in enumerate(run.labels))
    caption = (
        f"Every dot is one condition with one judged model{cells.text}: its true accuracy across, what the method says "
        "of it without labels upwards; in the corner the mean absolute error (average of the lines).",
        "On the diagonal the estimate is right, above it too hopeful; a cloud that lies flat tells good conditions "
        "from bad ones by too little, whatever its mean error is.",
    )
    key, shared = dots_key([one.kind for one in run.conditions], shapes), tuple(_rows(run, cells))
    title = "Do the estimates follow the truth?"
    return Figure("estimated", title, caption, charts, key=key, small=True, shared=shared)


def alignment_gap(run: EstimateRun) -> Figure | None:
    """Return one chart per reference, the gap to the judged model against the gap to the reference (FRAP, Figure 4)."""
    found = alignments(run)
    if not found:
        return None
    cells, shapes = averaged(run, TEXT * len(found)), shape_names(run)
    charts = tuple(_alignment(run, one, cells.groups, shapes) for one in found)
    caption = (
        f"Every dot is one condition with one judged model{cells.text}: how much higher the Semantic Alignment Score "
        "of the fused prediction is than the judged model's (across) and than the reference's own (upwards), points.",
        "In the upper right corner fusing beats both; on the dashed lines it changes nothing.",
    )
    key, shared = dots_key([one.kind for one in run.conditions], shapes), tuple(_gaps(run, found, cells.groups))
    title = "Does fusing bring predictions nearer in meaning?"
    return Figure("alignment-gap", title, caption, charts, key=key, shared=shared)


def _alignment(run: EstimateRun, one: Alignment, groups, shapes: list[str]) -> DotsChart:
    x, y = (Quantity(key, f"over {name}, points", "points", covers=(0.0,)) for key, name in
            (("over_judged_model", "the judged model"), ("over_reference", one.reference)))  # fmt: skip
    dots = tuple(_groups(run, groups, shapes, *(_of_groups(gap, groups) for gap in one.gaps.values())))
    zero = (Reference(0.0, axis="x"), Reference(0.0))
    return DotsChart(f"fused with {one.reference}", x, y, dots, tuple(shapes), references=zero)


def averaged(run: EstimateRun, dots: int | None = None) -> Cells:
    """Return models averaged as far as the budget demands; `dots` a case, as many as there are methods if None."""
    dots = dots or len(run.methods)
    levels = [(text, _grouped(run, common)) for text, common in LEVELS]
    fitting = [level for level in levels if len(level[1]) * len(run.conditions) * dots <= BUDGET]
    text, places = (fitting or levels[-1:])[0]
    text = text if len(places) < len(run.models) else ""
    estimates = np.stack([(1 - run.error[:, list(group)]).mean(axis=1) for group in places], axis=1)
    return Cells(text, places, _of_groups(run.accuracy, places), estimates)


def _grouped(run: EstimateRun, common: Callable) -> tuple[tuple[int, ...], ...]:
    """Places of the models that have something in common."""
    groups: dict[tuple, list[int]] = {}
    for place, model in enumerate(run.models):
        groups.setdefault(common(model), []).append(place)
    return tuple(map(tuple, groups.values()))


def shape_names(run: EstimateRun) -> list[str]:
    """Return what shapes tell apart: models, or the checkpoints of a single one."""
    models = list(dict.fromkeys(model.name for model in run.models))
    return models if len(models) > 1 else list(dict.fromkeys(model.title for model in run.models))


def _shape_of(run: EstimateRun, group: tuple[int, ...], shapes: list[str]) -> str:
    """The shape of a group of models; the first where it joins several."""
    found = {next(name for name in (model.name, model.title) if name in shapes)
             for model in (run.models[place] for place in group)}  # fmt: skip
    return found.pop() if len(found) == 1 else shapes[0]


def _groups(run: EstimateRun, groups, shapes: list[str], x: np.ndarray, y: np.ndarray) -> Iterator[Dots]:
    """By kind of shift and shape; what has no number is not drawn."""
    kinds = np.array([one.kind for one in run.conditions])
    shape = np.array([_shape_of(run, group, shapes) for group in groups])
    known = np.isfinite(x) & np.isfinite(y)
    for kind in dict.fromkeys(kinds.tolist()):
        for name in dict.fromkeys(shape.tolist()):
            chosen = known & (kinds == kind)[None, :] & (shape == name)[:, None]
            if chosen.any():
                yield Dots(kind, name, list(zip(x[chosen].tolist(), y[chosen].tolist(), strict=True)))


def _of_groups(values: np.ndarray, groups) -> np.ndarray:
    return np.stack([values[list(group)].mean(axis=0) for group in groups])


def _rows(run: EstimateRun, cells: Cells) -> Iterator[dict]:
    """A row per dot, a column per method, fractions with four decimals."""
    for g, group in enumerate(cells.groups):
        models = [run.models[place] for place in group]
        model = {key: _shared(models, name) for key, name in (("model", "name"), ("epoch", "epoch"), ("seed", "seed"))}
        for c, condition in enumerate(run.conditions):
            values = {"accuracy": cells.accuracy[g, c]} | dict(zip(run.labels, cells.estimates[:, g, c], strict=True))
            where = {"line": condition.row, "condition": condition.name, "kind": condition.kind}
            yield where | model | {name: f"{value:.4f}" if np.isfinite(value) else "" for name, value in values.items()}


def _shared(models: Sequence, name: str):
    """What all models of a dot have in common, or nothing."""
    values = {getattr(model, name) for model in models}
    return values.pop() if len(values) == 1 else ""


def _gaps(run: EstimateRun, found: Sequence[Alignment], groups) -> Iterator[dict]:
    for one in found:
        gaps = [_of_groups(gap, groups) for gap in one.gaps.values()]
        for g, group in enumerate(groups):
            model = _shared([run.models[place] for place in group], "title")
            for c, condition in enumerate(run.conditions):
                if all(np.isfinite(gap[g, c]) for gap in gaps):
                    where = {"line": condition.row, "condition": condition.name, "kind": condition.kind}
                    where = {"reference": one.reference} | where | {"model": model}
                    keys = ("over_judged_model", "over_reference")
                    yield where | {key: f"{gap[g, c]:.4f}" for key, gap in zip(keys, gaps, strict=True)}
