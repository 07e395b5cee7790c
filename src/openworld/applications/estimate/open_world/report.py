"""The open-world quality of a stream: its tables, its figures, and the page with all of them."""

from collections.abc import Iterator

from openworld.applications.estimate.open_world.premises import NOTHING
from openworld.applications.estimate.open_world.results import CARDS, TARGET, bias_metric, error_metric, results_of
from openworld.applications.estimate.open_world.stream_quality import QUANTITIES, StreamQuality
from openworld.applications.estimate.open_world.verdict import premise_warnings, sentences
from openworld.estimators.open_world import CAUTION
from openworld.report.charts import Line, LineChart, Quantity, Reference
from openworld.report.charts.quantity import Spot
from openworld.report.command_report import CommandReport
from openworld.report.figure import Figure
from openworld.report.page import Page, Section
from openworld.report.sentences import listed
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.standalone import standalone
from openworld.report.table import Cell, Column, Row, Table
from openworld.report.text import percent
from openworld.results import TEXT, Metric, Results, Value

TRUTH = "labels"
PARTS = ("openworld_auc", "base_accuracy", "new_accuracy", "auroc")
SHARE = Metric("new_share_made_up", "share of new", better=0)
STREAMS = Metric("streams", "streams", "count", 0, 0, (0.0, None))


def report(quality: StreamQuality) -> CommandReport:
    """Return all that is to be said of the open-world quality of a stream; its files are the plots."""
    results, target = results_of(quality), quality.target
    names = [own.estimator for own in quality.premises if own.estimator != NOTHING]
    styles = series_styles([*names, *[TRUTH] * bool(target.truth)], [TRUTH])
    figures = {
        "against-new-share.svg": against_figure(quality, styles),
        "parts.svg": parts_figure(quality, styles),
    }
    ladder, verdict = ladder_table(quality, results), sentences(quality)
    tables = [ladder, *([made_up_table(quality, results)] if quality.made_up else [])]
    notes = tuple(f"Note: {warning}." for warning in quality.warnings)
    premises = (f"{own.estimator}: if {own.premise}." for own in quality.premises)  # a narrow terminal has no room
    page = Page(
        title=f"Open-world quality on {quality.target.name}, estimated without labels",
        subtitle=(
            f"{target.images:,} images, {target.base_names} base and {target.new_names} new names",
            f"source {quality.source.name}, {quality.source.images:,} labelled base images",
        ),
        verdict=(*verdict, *notes),
        sections=tuple(_sections(quality, tables, figures)),
        styles=styles,
        series="Estimators",
    )
    return CommandReport(
        results,
        tuple(tables),
        page,
        text=tuple(verdict[1:]),
        notes=(*premises, *premise_warnings(quality), *notes),
        made=quality.made,
        files={name: figure and standalone(figure.panels[0].svg, styles).encode() for name, figure in figures.items()},
    )


def _sections(quality: StreamQuality, tables: list[Table], figures: dict[str, Figure | None]) -> Iterator[Section]:
    ladder, *made_up = tables
    folded = (Section("What is not given, and why", tables=(reason_table(quality),)),)
    yield Section("The ladder of premises", tables=(ladder,), text=premise_warnings(quality), folded=folded)
    for figure in filter(None, figures.values()):
        yield Section(figure.title, figures=(figure,))
    if made_up:
        yield Section("On made-up streams", text=(MADE_UP,), tables=tuple(made_up))


MADE_UP = (
    "The source's base classes are cut in two, and one part plays new classes whose names the learner has. Its images "
    "are easier than real new ones, since the learner was tuned on their classes: a small error here is needed, and "
    "promises nothing. "
) + CAUTION


def ladder_table(quality: StreamQuality, results: Results) -> Table:
    """Return a row per premise, from none to the strongest, with every part; what is told first is in bold."""
    values = {(row.entity, row.metric.key): row.value for row in results if row.where == TARGET}
    columns = [
        Column(CARDS[quantity], priority=3 if quantity == "openworld_auc" else 2, headline=quantity == "openworld_auc")
        for quantity in QUANTITIES
    ]
    columns[-1] = Column(CARDS["overall_accuracy"], priority=0)
    columns.append(Column(TEXT, "if", 1))
    rows = []
    for own in quality.premises:
        cells = [Cell(values[own.estimator, CARDS[quantity].key], bold=False) for quantity in QUANTITIES]
        if own.estimator == quality.quoted:
            cells[0] = Cell(cells[0].content, bold=True)
        rows.append(Row(own.estimator, (*cells, own.premise), own.estimator * (own.estimator != NOTHING)))
    if quality.target.truth:
        cells = [Cell(values["truth", CARDS[quantity].key], bold=False) for quantity in QUANTITIES]
        rows.append(Row(TRUTH, (*cells, "what labels of the stream say"), rule=True))
    given = "" if quality.new_share is None else f" The share of new images, {percent(quality.new_share)} %, was given."
    caption = (
        f"Percent, by every estimator, if its premise holds.{given} No interval is given: none would hold the premise. "
        "Bold: what is told first."
    )
    return Table("premises", "The ladder of premises", caption, "estimator", tuple(columns), tuple(rows), best="")


def reason_table(quality: StreamQuality) -> Table:
    """Return a row per estimator and reason: what it does not give."""
    rows = []
    for own in quality.premises:
        for reason in dict.fromkeys(own.reasons.values()):
            missing = [CARDS[quantity].title for quantity, why in own.reasons.items() if why == reason]
            rows.append(Row(own.estimator, ("all" if len(missing) == len(QUANTITIES) else ", ".join(missing), reason)))
    columns = (Column(TEXT, "not given"), Column(TEXT, "why"))
    return Table("reasons", "What is not given, and why", "", "estimator", columns, tuple(rows), best="")


def made_up_table(quality: StreamQuality, results: Results) -> Table:
    """Return a row per estimator and share of new: how far it was off on streams made of base images."""
    values = {
        (row.entity, row.metric.key, row.where["new_share_made_up"]): row.value
        for row in results
        if row.where.get("images") == "made-up streams"
    }
    shown = [
        quantity for quantity in QUANTITIES if any(row.mean_absolute[quantity] is not None for row in quality.made_up)
    ]
    columns = [Column(SHARE, priority=2), Column(STREAMS)]
    columns += [Column(error_metric(quantity), priority=2) for quantity in shown]
    columns.append(Column(bias_metric("openworld_auc"), "bias", 1))
    rows = []
    for row in quality.made_up:
        own = [values[row.estimator, error_metric(quantity).key, row.new_share] for quantity in shown]
        bias = values[row.estimator, bias_metric("openworld_auc").key, row.new_share]
        cells = (Value(row.new_share), Value(row.streams), *(Cell(value, bold=False) for value in own), bias)
        rows.append(Row(row.estimator, cells, row.estimator))
    caption = (
        "Mean absolute error in points, and the bias of OpenworldAUC, over streams made of the labelled base images, "
        "some of whose classes play new ones."
    )
    return Table("made-up", "On made-up streams", caption, "estimator", tuple(columns), tuple(rows), best="")


def against_figure(quality: StreamQuality, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return OpenworldAUC by every estimator against the share of new images; rings are the shares that it finds."""
    if not quality.against_new_share:
        return None
    own = {row.estimator: row for row in quality.premises}
    lines = {}
    for line in quality.against_new_share:
        row = own[line.estimator]
        share = row.numbers.get("new_share")
        rings = () if share is None else (Spot(share, row.openworld_auc, "the share that it finds"),)
        lines[line.estimator] = Line(line.shares, line.openworld_auc, rings=rings)
    marks = {"by probabilities": quality.shares.probabilities, "by scores": quality.shares.scores}
    marks = {name: share for name, share in marks.items() if share is not None}
    references = [Reference(share, "", "x") for share in marks.values()]
    true = quality.target.truth.get("new_share")
    references += [Reference(true, "", "x", "known")] if true is not None else []
    upright = [f"{name} {percent(share)} %" for name, share in marks.items()]
    upright += [f"by labels {percent(true)} % (solid)"] if true is not None else []
    chart = LineChart(
        "",
        Quantity("new_share", "share of new images, %", ends=(0.0, 1.0)),
        Quantity("openworld_auc", "OpenworldAUC, %"),
        lines,
        references=tuple(references),
    )
    caption = (
        "What every estimator would say if the share of new images were another. Rings: where the estimator itself "
        "puts that share.",
        *([f"Upright lines: the share of new images {listed(upright)}."] if upright else []),
    )
    return Figure(
        "against-new-share",
        "OpenworldAUC against the share of new images",
        caption,
        (chart,),
        styles,
        names=("", "estimator"),
    )


def parts_figure(quality: StreamQuality, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return every part by every estimator, side by side, beside what labels say where there are any."""
    numbers = {own.estimator: own.numbers for own in quality.premises if own.estimator != NOTHING}
    numbers |= {TRUTH: quality.target.truth} if quality.target.truth else {}
    lines = {
        name: Line(range(len(PARTS)), [own.get(quantity) for quantity in PARTS])
        for name, own in numbers.items()
        if any(own.get(quantity) is not None for quantity in PARTS)
    }
    if not lines:
        return None
    x = Quantity("quantity", "", labels=tuple(CARDS[quantity].title for quantity in PARTS))
    chart = LineChart("", x, Quantity("value", "percent"), lines)
    caption = (
        "A line per estimator, through all that its premise gives: estimators that agree on OpenworldAUC may part in "
        "what it is made of.",
        *(["Grey: what labels of the stream say."] if TRUTH in lines else []),
    )
    return Figure("parts", "Every part by every premise", caption, (chart,), styles, names=("", "estimator"))
