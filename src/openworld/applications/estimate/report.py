"""What an accuracy estimate says: its tables, and the page with all of them."""

from collections.abc import Iterator

from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, ChunkEstimate, ClassEstimate
from openworld.applications.estimate.figures import methods, over_time
from openworld.applications.estimate.results import (
    CLASS_ACCURACY,
    DIFFERENCE,
    ESTIMATED,
    EXPECTED,
    IMAGES,
    LOST,
    PREDICTED,
    QUOTED,
    RECALL,
    SOURCE_ACCURACY,
    SOURCE_LIKE,
    TARGET,
    TRUE,
    chunk_place,
    detail_metric,
    is_number,
    results_of,
)
from openworld.applications.estimate.verdict import sentences
from openworld.report.command_report import CommandReport
from openworld.report.page import Page, Section
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.standalone import standalone
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import METRICS, TEXT, Results, Value

MOST = 15  # chunks, and classes, that a terminal shows; the page has all
BUT = "but"


def report(found: AccuracyEstimate) -> CommandReport:
    """Return everything that is to be said of an accuracy estimate."""
    results, styles = results_of(found), series_styles([method.name for method in found.methods])
    every = method_table(found, results)
    terminal = every.only([at for at, column in enumerate(every.columns) if column.title != BUT])
    further = [chunk_table(found, results, MOST)] if found.chunks else []
    further += [class_table(found, results, MOST)] if found.classes else []
    said, notes = sentences(found), tuple(f"Note: {warning}." for warning in found.warnings)
    page = Page(
        title=f"Accuracy on {found.target.name}, estimated without labels",
        subtitle=(f"{found.target.n:,} images, {found.target.classes} classes", f"source {found.source.name}"),
        verdict=(*said, *notes),
        sections=tuple(_sections(found, results, every, styles)),
        styles=styles,
        series="Methods",
    )
    shown = (*method_warnings(found), *notes)
    return CommandReport(results, (terminal, *further), page, tuple(said[1:]), shown, found.made)


def plots(found: AccuracyEstimate) -> dict[str, bytes | None]:
    """Return the figures as SVG files by name; None of one that this estimate does not have."""
    styles = series_styles([method.name for method in found.methods])
    figures = {"methods.svg": methods(found, styles), "over-time.svg": over_time(found, styles)}
    return {
        name: standalone(figure.panels[0].svg, styles).encode() if figure else None for name, figure in figures.items()
    }


def _sections(
    found: AccuracyEstimate, results: Results, every: Table, styles: dict[str, SeriesStyle]
) -> Iterator[Section]:
    yield Section(
        "The numbers", tables=(every,), folded=(Section("Every other number", tables=(detail_table(found),)),)
    )
    for figure in filter(None, [methods(found, styles)]):
        yield Section(figure.title, figures=(figure,))
    if found.chunks:
        figures = tuple(filter(None, [over_time(found, styles)]))
        yield Section("Over time", tables=(chunk_table(found, results),), figures=figures)
    if found.classes:
        yield Section("Class by class", tables=(class_table(found, results),))
    if found.learned is not None:
        yield Section("Labelled shifts", tables=(labelled_table(found, results),))


def method_warnings(found: AccuracyEstimate) -> tuple[str, ...]:
    """Return what speaks against each method, a line each; methods with the same warning share a line."""
    names: dict[str, list[str]] = {}
    for method in found.methods:
        for warning in method.warnings:
            names.setdefault(warning, []).append(method.name)
    return tuple(f"{', '.join(own)}: {warning}." for warning, own in names.items())


def method_table(found: AccuracyEstimate, results: Results) -> Table:
    """Return a row per method; what is quoted is in bold."""
    values = {(row.entity, row.metric): row.value for row in results if row.where == TARGET}
    metrics = [metric for metric in (ESTIMATED, SOURCE_LIKE, DIFFERENCE) if metric in {key[1] for key in values}]
    says = Column(ESTIMATED, "says", 2, headline=True)
    columns = (says, *(Column(metric, priority=2) for metric in metrics[1:]))
    rows, doubts = [], any(method.warnings for method in found.methods)
    for method in found.methods:
        main = Cell(values[method.name, ESTIMATED], bold=method.name == found.quote.method)
        numbers = [main, *(values.get((method.name, metric)) for metric in metrics[1:])]
        but = ["; ".join(method.warnings)] * doubts
        rows.append(Row(method.name, (*numbers, method.summary, *but), method.name))
    caption = (
        "Percent: what each method says [95 % of what it says of resampled images]; and what it says of as many images "
        "like the source, on average [in 95 % of such sets]. Bold: what is quoted."
    )
    heads = (*columns, Column(TEXT, "what it is"), *[Column(TEXT, BUT)] * doubts)
    return Table("methods-table", "Every method", caption, "method", heads, tuple(rows))


def detail_table(found: AccuracyEstimate) -> Table:
    """Return everything else that the methods tell, such as thresholds and temperatures."""
    names = list(dict.fromkeys(name for method in found.methods for name in method.details))
    rows = (
        Row(method.name, tuple(_detail(method.details.get(name)) for name in names), method.name)
        for method in found.methods
    )
    columns = tuple(Column(detail_metric(name)) for name in names)
    caption = "What each method rests on, and what its interval draws anew (resampled); fractions."
    return Table("details", "Every other number", caption, "method", columns, tuple(rows), best="")


def _detail(detail: object) -> Value | str | None:
    if detail is None or is_number(detail):
        return None if detail is None else Value(detail)
    return ", ".join(f"{number:.3g}" for number in detail) if isinstance(detail, list) else str(detail)


def chunk_table(found: AccuracyEstimate, results: Results, most: int | None = None) -> Table:
    """Return a row per chunk, in order; of many the `most` lowest."""
    chunks, names = _lowest(found, most), [method.name for method in found.methods]
    columns = [
        Column(IMAGES, priority=2),
        Column(ESTIMATED, "accuracy", 2, headline=True),
        Column(TEXT, "all methods", 1),
    ]
    columns += [Column(TRUE, priority=1)] * (found.target.accuracy is not None)
    columns += [Column(TEXT, "remark", 2)] * any(map(remark, found.chunks))
    columns += [Column(ESTIMATED, name, intervals=0) for name in names]
    rows = tuple(Row(found.chunks[at].label, tuple(_chunk_cells(found, results, at, columns))) for at in chunks)
    caption = "Percent, chunk by chunk: what is quoted [with its interval or bounds], and what the methods say."
    sampled = {chunk.sampled for chunk in found.chunks if chunk.sampled}
    if sampled:
        caption += f" A chunk of more than {max(sampled):,} images is represented by a uniform sample of so many."
    if len(chunks) < len(found.chunks):
        caption = f"The {len(chunks)} lowest of {len(found.chunks)} chunks; --out keeps a page with all. {caption}"
    return Table("over-time-table", "Over time", caption, "chunk", tuple(columns), rows)


def _chunk_cells(
    found: AccuracyEstimate, results: Results, at: int, columns: list[Column]
) -> Iterator[Cell | Value | str]:
    chunk = found.chunks[at]
    place = chunk_place(at + 1, chunk)
    yield results.value("", IMAGES.key, **place)
    yield Cell(results.value(QUOTED, ESTIMATED.key, **place), bold=chunk.alarming)
    known = [accuracy for accuracy in chunk.methods.values() if accuracy is not None]
    yield f"{ESTIMATED.write(min(known))} to {ESTIMATED.write(max(known))}" if known else ""
    for column in columns[3:]:
        if column.metric is TRUE:
            yield results.value("", TRUE.key, **place)
        elif column.words:
            yield remark(chunk)
        else:
            yield results.value(column.title, ESTIMATED.key, **place)


def remark(chunk: ChunkEstimate) -> str:
    """Return whether the accuracy cannot be told, what counts then, and whether an alarm stands."""
    unknown = chunk.quote.accuracy is None
    parts = ["alarm"] * chunk.alarming + ["cannot be told"] * unknown
    if unknown and chunk.alarm is not None:
        counted = chunk.alarm.counted
        parts.append(f"counts as {'nothing' if counted is None else ESTIMATED.write(counted)}")
    return ", ".join(parts)


def _lowest(found: AccuracyEstimate, most: int | None) -> list[int]:
    """Places of all chunks, or of the lowest, in order; of those that cannot be told the lower bound counts."""
    quotes = [chunk.quote for chunk in found.chunks]
    heights = [quote.low if quote.accuracy is None else quote.accuracy for quote in quotes]
    return sorted(sorted(range(len(heights)), key=heights.__getitem__)[: most or len(heights)])


def class_table(found: AccuracyEstimate, results: Results, most: int | None = None) -> Table:
    """Return a row per class, those that lost most first; of many the first `most`."""
    metrics = {
        PREDICTED: QUOTED,
        CLASS_ACCURACY: QUOTED,
        SOURCE_ACCURACY: "",
        LOST: QUOTED,
        EXPECTED: QUOTED,
        RECALL: QUOTED,
    }
    columns = [Column(metric, priority=2 - (metric is LOST)) for metric in metrics]
    order = sorted(range(len(found.classes)), key=lambda number: _change(found.classes[number]))[: most or None]
    rows = []
    for number in order:
        own = found.classes[number]
        place = {**TARGET, "class": number, "class_name": own.name}
        cells = [results.value(entity, metric.key, **place) for metric, entity in metrics.items()]
        rows.append(Row(own.name, (*cells, ", ".join(f"{name} ({count:.0f})" for name, count in own.taken_for))))
    sample = "" if found.class_images == found.target.n else f" of a sample of {found.class_images:,}"
    few = f"The {most} that lost most. " if most and len(found.classes) > most else ""
    caption = (
        f"{few}By {found.quote.method}: images{sample} that are named so, and percent of them that are right; the same "
        "on the source; images expected to be of the class, and percent of them that are named so. Percent; the "
        "intervals speak of the images of a class alone."
    )
    heads = (*columns, Column(TEXT, "may rather be", 2))
    return Table("classes-table", "Class by class", caption, "class", heads, tuple(rows))


def _change(own: ClassEstimate) -> float:
    if own.accuracy is None or own.source_accuracy is None:
        return 1.0
    return own.accuracy - own.source_accuracy


def labelled_table(found: AccuracyEstimate, results: Results) -> Table:
    """Return a row per labelled shift: what the other families make of it."""
    learned, own = found.learned, results.where(images="labelled shift")
    metrics = {IMAGES: "", TRUE: "", ESTIMATED: "learned", DIFFERENCE: "learned"}
    titles = {ESTIMATED: "left out, it reads"}
    rows = []
    for number, left_out in enumerate(learned.left_out, 1):
        values = {row.metric: row.value for row in own.where(shift=number)}
        rows.append(Row(left_out.name, (left_out.family, *(values[metric] for metric in metrics))))
    powers = ", ".join(f"{name} {power:g}" for name, power in learned.powers.items())
    error = METRICS["absolute_error"].write(learned.mean_error)
    caption = (
        "Percent. Each family in turn is left out, method and power are learned on the others. On all of them: "
        f"{learned.estimator}, power {learned.power:g} (of all candidates: {powers}); off by {error} points on average "
        "where left out."
    )
    heads = (Column(TEXT, "family"), *(Column(metric, titles.get(metric, "")) for metric in metrics))
    return Table("labelled-table", "Labelled shifts", caption, "labelled shift", heads, tuple(rows))
