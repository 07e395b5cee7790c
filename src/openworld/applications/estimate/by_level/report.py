"""What a curve estimate says: sentences, tables, the curve as a chart, and the page with all of them."""

from openworld.applications.estimate.by_level.curve_estimate import OWN_NUMBERS, CurveEstimate
from openworld.applications.estimate.by_level.results import (
    BOUND,
    CLASSES,
    NAMED_DIFFERENTLY,
    UNLABELLED,
    results_of,
)
from openworld.applications.estimate.results import DIFFERENCE, ESTIMATED, IMAGES, TARGET, TRUE
from openworld.estimators import find_estimator
from openworld.report.charts import Line, LineChart, Quantity
from openworld.report.figure import Figure
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.standalone import standalone
from openworld.report.table import Cell, Column, Row, Table
from openworld.report.text import bracketed, percent
from openworld.results import METRICS, TEXT, Results

CURVE, TRUTH = "curve.svg", "by labels"
LEVEL = Quantity("level", "level of change t", "number", 6, ends=(0, 1))
ACCURACY = Quantity("accuracy", "estimated accuracy, %")
APART = 0.05  # what is estimated of level 0, and what labels say
PREMISE = (
    "Intervals say what other images would change, of the stream and of the labelled source. They do not say whether "
    "confidences mean at every level what they mean on the source: all of this rests on it, and labels alone show it."
)


def report(estimate: CurveEstimate) -> Report:
    """Return all that is to be said of a curve estimate; its file is the chart."""
    results, styles = (
        results_of(estimate),
        series_styles([*estimate.methods, *[TRUTH] * (estimate.truth is not None)], [TRUTH]),
    )
    figure = curve_figure(estimate, styles)
    tables = (level_table(estimate, results), number_table(estimate, results))
    said, notes = sentences(estimate), tuple(f"Note: {warning}." for warning in estimate.warnings)
    page = Page(
        title=f"How does it age on {estimate.target.name}? Estimated without labels",
        subtitle=(
            f"{estimate.target.n:,} images at {counted(len(estimate.levels), 'level')}",
            f"source {estimate.source.name}",
        ),
        verdict=(*said, *notes),
        sections=(
            Section("The curve", figures=(figure,), tables=tables[:1]),
            Section("Its numbers", tables=tables[1:]),
        ),
        styles=styles,
        series="Methods",
    )
    drawing = standalone(figure.panels[0].svg, styles).encode()
    return Report(results, tables, page, text=said[1:], notes=notes, made=estimate.made, files={CURVE: drawing})


def sentences(estimate: CurveEstimate) -> tuple[str, ...]:
    """Return everything that is to be said, the area first."""
    return tuple(filter(None, (headline(estimate), worst(estimate), own_images(estimate), PREMISE, compared(estimate))))


def headline(estimate: CurveEstimate) -> str:
    """Return the area under the quoted curve, or that there is none."""
    quoted, area = estimate.quoted, estimate.numbers[estimate.quoted]["auc"]
    of = f"{estimate.target.name} ({counted(estimate.target.n, 'row')}, {counted(len(estimate.levels), 'level')})"
    if area.value is None:
        return f"The curve of {of} cannot be told: {quoted} tells nothing, {area.reason}."
    return (
        f"Estimated area under the curve of {of}: {percent(area.value)} % {bracketed(area.interval)}, by {quoted}."
    ).replace("  ", " ")


def worst(estimate: CurveEstimate) -> str:
    """Return where the curve begins and ends, and its lowest level."""
    first, last = estimate.levels[0], estimate.levels[-1]
    known = [(point.methods[estimate.quoted].value, point) for point in estimate.levels]
    if any(value is None for value, _ in known):
        return ""
    lowest, point = min(known, key=lambda pair: pair[0])
    end = f"{percent(known[-1][0])} % at level {last.name}"
    low = "" if point in (first, last) else f"; it is lowest at level {point.name}, {percent(lowest)} %"
    return (
        f"It leads from {percent(known[0][0])} % of {first.n:,} labelled images of {estimate.source.name} at level 0 "
        f"to {end}{low}."
    )


def own_images(estimate: CurveEstimate) -> str:
    """Return what is estimated of the stream's own images at level 0, where there are any."""
    first = estimate.levels[0]
    said = first.unlabelled.get(estimate.quoted)
    if said is None or estimate.source.accuracy is None:
        return ""
    gap = abs(said - estimate.source.accuracy)
    apart = " They part: the first step of the curve is that gap as much as ageing, and EVM and VS hold it." * (
        gap > APART
    )
    return (
        f"Of the stream's own images at level 0 {estimate.quoted} says {percent(said)} %, beside "
        f"{percent(estimate.source.accuracy)} % of the labelled ones that stand for that level in the curve.{apart}"
    )


def compared(estimate: CurveEstimate) -> str:
    """Return why no difference to zero-shot is quoted, what bounds it, and what settles it."""
    zero_shot = estimate.zero_shot
    if zero_shot is None:
        return ""
    return (
        f"No difference to zero-shot is quoted (PA, NA, ΔAUC, ΔPN): {zero_shot.why}. What is sure: the two name "
        f"{percent(zero_shot.differ)} % of the rows differently, so that ΔAUC lies between "
        f"{BOUND.write(-zero_shot.bound)} and {BOUND.write(zero_shot.bound)} points. Labels settle it, and only of the "
        f"{zero_shot.images:,} images that the two name differently at some level: labels.plan_curve draws them."
    )


def curve_figure(estimate: CurveEstimate, styles: dict[str, SeriesStyle]) -> Figure:
    """Return the curve by every method, with the quoted method's intervals as a band."""
    levels = [point.level for point in estimate.levels]
    lines = {}
    for name in estimate.methods:
        numbers = [point.methods[name] for point in estimate.levels]
        ends = [[number.interval and number.interval[end] for number in numbers] for end in (0, 1)]
        band = ends if name == estimate.quoted else ()
        lines[name] = Line(levels, [number.value for number in numbers], *band)
    if estimate.truth is not None:
        lines[TRUTH] = Line(levels, [point.accuracy for point in estimate.levels])
    caption = (
        f"Accuracy among the names of each level, estimated without labels; at level 0 that of "
        f"{estimate.levels[0].n:,} labelled images. The band: 95 % over images, of the stream and the "
        f"source. Quoted is {estimate.quoted}.",
        "Lines that part say that the methods disagree on how sure the model may be; none of them saw a label."
        + " Grey and dashed: the accuracy by the stream's labels." * (estimate.truth is not None),
    )
    chart = LineChart("", LEVEL, ACCURACY, lines, (estimate.quoted,))
    return Figure(
        "curve", "The dynamic robustness curve, without labels", caption, (chart,), styles, names=("panel", "method")
    )


def level_table(estimate: CurveEstimate, results: Results) -> Table:
    """Return a row per level."""
    columns = [Column(IMAGES, priority=1), Column(CLASSES, "names", 1)]
    columns += [Column(ESTIMATED, name, 2, headline=name == estimate.quoted) for name in estimate.methods]
    extra = {TRUE: "", DIFFERENCE: estimate.quoted, UNLABELLED: estimate.quoted, NAMED_DIFFERENTLY: "zero-shot"}
    found = {(row.entity, row.metric, row.where.get("level")): row.value for row in results}
    extra = {
        metric: entity
        for metric, entity in extra.items()
        if any((entity, metric, point.level) in found for point in estimate.levels)
    }
    titles = {DIFFERENCE: f"{estimate.quoted} off by"}
    columns += [Column(metric, titles.get(metric, ""), 1) for metric in extra]
    rows = []
    for point in estimate.levels:
        keys = [("", IMAGES), ("", CLASSES), *((name, ESTIMATED) for name in estimate.methods)]
        keys += [(entity, metric) for metric, entity in extra.items()]
        rows.append(Row(point.name, tuple(found.get((*key, point.level)) for key in keys)))
    caption = (
        "Percent, level by level: what each method says [95 % over images of the stream and the source]. Level 0: the "
        "labelled images of the source among the names of that level."
    )
    return Table("levels-table", "Level by level", caption, "level", tuple(columns), tuple(rows), best="")


def number_table(estimate: CurveEstimate, results: Results) -> Table:
    """Return a row per method with the numbers of its curve."""
    columns = [Column(METRICS[key], priority=1 + (key == "auc")) for key in OWN_NUMBERS]
    columns.append(Column(TEXT, "what it is"))
    found = {(row.entity, row.metric): row.value for row in results if row.where == TARGET}
    rows = [
        Row(
            name,
            (*(Cell(found[name, METRICS[key]]) for key in OWN_NUMBERS), find_estimator(name).summary),
            name,
        )
        for name in estimate.methods
    ]
    if estimate.truth is not None:
        rows.append(Row("truth", (*(found["truth", METRICS[key]] for key in OWN_NUMBERS), "by the stream's labels")))
    caption = (
        "AUC: area under the curve; WA: worst level; EVM: all steps up and down; VS: variance of the slope. Percent, "
        "VS in 10⁻². Noise adds to EVM and VS, and the intervals allow for steps that cannot be told from none. "
        "PA, NA, ΔAUC and ΔPN are not estimated without labels."
    )
    return Table("numbers-table", "The numbers of the curve", caption, "method", tuple(columns), tuple(rows), best="")
