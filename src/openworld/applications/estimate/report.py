"""What an accuracy estimate says: its tables, its plots, and the page with all of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, ChunkEstimate
from openworld.applications.estimate.causes import episodes, thumbnails
from openworld.applications.estimate.figures import methods_figure, over_time_figure
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
    SIGN_ADJUSTED,
    SIGN_DISTANCE,
    SIGN_P,
    SOURCE_ACCURACY,
    SOURCE_LIKE,
    TARGET,
    TRUE,
    is_number,
    number,
    results_of,
)
from openworld.applications.estimate.verdict import sentences
from openworld.estimators.quote.shift_signs import ALONE, LEVEL, ShiftSign
from openworld.report.album import Album, AlbumImage, AlbumPart
from openworld.report.figure import Figure
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.series_style import series_styles
from openworld.report.standalone import standalone
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import METRICS, TEXT, Metric, Results, Value

MOST = 15  # chunks, and classes, that a terminal shows; the page has all
PICTURED = 12  # episodes whose images a page shows
BUT = "but"
CANNOT_TELL = (
    "A likely cause is what the change resembles. Whether a thing never seen is a new class or a new kind of an old "
    "one is a matter of names; two causes at once show as one; labels settle it."
)


def report(estimate: AccuracyEstimate, beside: Path = Path()) -> Report:
    """Return all that is to be said of an accuracy estimate; its files are the plots.

    Args:
        beside: the folder of the target, where images of relative paths are looked for.
    """
    results, styles = results_of(estimate), series_styles([method.name for method in estimate.methods])
    figures = {"methods.svg": methods_figure(estimate, styles), "over-time.svg": over_time_figure(estimate, styles)}
    every = method_table(estimate, results)
    tables = [every.only([at for at, column in enumerate(every.columns) if column.title != BUT])]
    tables += [sign_table(estimate, results)] if estimate.quote.signs else []
    tables += [chunk_table(estimate, results, MOST)] if estimate.chunks else []
    tables += [class_table(estimate, results, MOST)] if estimate.classes else []
    verdict, notes = sentences(estimate), tuple(f"Note: {warning}." for warning in estimate.warnings)
    page = Page(
        title=f"Accuracy on {estimate.target.name}, estimated without labels",
        subtitle=(
            f"{estimate.target.n:,} images, {estimate.target.classes} classes",
            f"source {estimate.source.name}",
        ),
        verdict=(*verdict, *notes),
        sections=tuple(_sections(estimate, results, every, beside, *figures.values())),
        styles=styles,
        series="Methods",
    )
    return Report(
        results,
        tuple(tables),
        page,
        text=tuple(verdict[1:]),
        notes=(*method_warnings(estimate), *notes),
        made=estimate.made,
        files={name: figure and standalone(figure.panels[0].svg, styles).encode() for name, figure in figures.items()},
    )


def _sections(
    estimate: AccuracyEstimate,
    results: Results,
    every: Table,
    beside: Path,
    methods: Figure | None,
    over_time: Figure | None,
) -> Iterator[Section]:
    details = Section("Every other number", tables=(detail_table(estimate),))
    yield Section("The numbers", tables=(every,), folded=(details,))
    if estimate.quote.signs:
        yield Section("Signs of a shift", tables=(sign_table(estimate, results),))
    if methods:
        yield Section(methods.title, figures=(methods,))
    if over_time:
        every = chunk_table(estimate, results)
        if len(estimate.chunks) <= MOST:
            yield Section(over_time.title, tables=(every,), figures=(over_time,))
        else:
            folded = (Section("Every chunk", tables=(every,)),)
            yield Section(over_time.title, figures=(over_time,), folded=folded)
        yield from cause_sections(estimate.chunks, beside)
    if estimate.classes:
        yield Section("Class by class", tables=(class_table(estimate, results),))
    if estimate.learned is not None:
        yield Section("Labelled shifts", tables=(labelled_table(estimate, results),))


def cause_sections(chunks: Sequence[ChunkEstimate], beside: Path) -> Iterator[Section]:
    """Return the likely causes, with the images that carry the lowest chunk of each of the longest episodes."""
    if any(chunk.cause is None for chunk in chunks):
        return
    found, labels = episodes([chunk.cause for chunk in chunks]), [chunk.label for chunk in chunks]
    every = [episode for own in found.values() for episode in own]
    if not every:
        return
    first = [max(own, key=len) for own in found.values()]  # of each cause, then the longest of all
    longest = [*first, *sorted((one for one in every if one not in first), key=len, reverse=True)][:PICTURED]
    lowest = {one: min(chunks[one.first : one.last + 1], key=_height) for one in longest}
    addresses = thumbnails([chunk.cause for chunk in lowest.values()], beside)
    parts = []
    for episode in sorted(longest, key=lambda one: one.first):
        cause = lowest[episode].cause
        images = tuple(AlbumImage(addresses.get(image.image), image.name, "") for image in cause.images)
        of = f", images of {lowest[episode].label}" * (len(episode) > 1)
        parts.append(AlbumPart(f"{episode.name(labels)}: {episode.cause}{of}", images))
    about = (
        f"Images that carry what moved, of {len(longest)} of {len(every)} episodes, and of the lowest chunk of each: "
        "under new classes and meaning those least like the source, under appearance those farthest the way all went, "
        "under class shares those named as the classes that grew."
    )
    why = (f"{one.cause.capitalize()}, as in {lowest[one].label}: {lowest[one].cause.likely.why}." for one in first)
    yield Section("What moved", text=(*why, CANNOT_TELL), albums=(Album("Images", about, tuple(parts)),))


def _height(chunk: ChunkEstimate) -> float:
    """Return what is quoted of a chunk; where it cannot be told, the lower bound."""
    return chunk.quote.low if chunk.quote.accuracy is None else chunk.quote.accuracy


def method_warnings(estimate: AccuracyEstimate) -> tuple[str, ...]:
    """Return what speaks against each method, a line each; methods with the same warning share a line."""
    names: dict[str, list[str]] = {}
    for method in estimate.methods:
        for warning in method.warnings:
            names.setdefault(warning, []).append(method.name)
    return tuple(f"{', '.join(own)}: {warning}." for warning, own in names.items())


def method_table(estimate: AccuracyEstimate, results: Results) -> Table:
    """Return a row per method; what is quoted is in bold."""
    values = {(row.entity, row.metric): row.value for row in results if row.where == TARGET}
    further = [metric for metric in (SOURCE_LIKE, DIFFERENCE) if any(metric == own for _, own in values)]
    doubts = any(method.warnings for method in estimate.methods)
    columns = [Column(ESTIMATED, "says", 2, headline=True), *(Column(metric, priority=2) for metric in further)]
    columns += [Column(TEXT, "what it is"), *[Column(TEXT, BUT)] * doubts]
    rows = []
    for method in estimate.methods:
        says = Cell(values[method.name, ESTIMATED], bold=method.name == estimate.quote.method)
        numbers = (values.get((method.name, metric)) for metric in further)
        rows.append(
            Row(method.name, (says, *numbers, method.summary, *["; ".join(method.warnings)] * doubts), method.name)
        )
    caption = (
        "Percent: what each method says [95 % of what it says of resampled images]; and what it says of as many images "
        "like the source, on average [in 95 % of such sets]. Bold: what is quoted."
    )
    return Table("methods-table", "Every method", caption, "method", tuple(columns), tuple(rows))


def sign_table(estimate: AccuracyEstimate, results: Results) -> Table:
    """Return a row per sign of a shift; those that speak of one are in bold."""
    values = {(row.entity, row.metric): row.value for row in results if row.where == TARGET}
    signs, speaking = estimate.quote.signs, {sign.name for sign in estimate.quote.signs.speaking}
    rows = []
    for sign in signs.signs:
        p = Cell(values[sign.name, SIGN_P], bold=sign.name in speaking)
        cells = (p, values[sign.name, SIGN_ADJUSTED], values[sign.name, SIGN_DISTANCE], _way(sign))
        rows.append(Row(sign.name, cells))
    columns = (Column(SIGN_P), Column(SIGN_ADJUSTED), Column(SIGN_DISTANCE, priority=1), Column(TEXT, "here", 1))
    hidden = "any fall might hide"
    if signs.unseen < 1:
        hidden = f"a fall of less than {100 * signs.unseen:.0f} points would not be seen"
    caption = (
        "How likely so large a difference from the source is by chance (p), corrected for all signs (Holm); and the "
        "energy distance beyond chance, from 0 to 1 (methods: by how much DoC lies above COT). Bold: speaks of a "
        f"shift, for p is below {LEVEL:g} corrected, or below {ALONE:g}. With so many images {hidden}."
    )
    return Table("signs", "Signs of a shift", caption, "sign", columns, tuple(rows), best="")


def _way(sign: ShiftSign) -> str:
    if sign.change is None:
        return ""
    return f"{'higher' if sign.change > 0 else 'lower'} by {100 * abs(sign.change):.1f} points"


def detail_table(estimate: AccuracyEstimate) -> Table:
    """Return everything else that the methods say, such as thresholds and temperatures."""
    names = list(dict.fromkeys(name for method in estimate.methods for name in method.details))
    rows = (
        Row(method.name, tuple(_detail(method.details.get(name)) for name in names), method.name)
        for method in estimate.methods
    )
    columns = tuple(Column(number(name)) for name in names)
    caption = "What each method rests on, and what its interval draws anew (resampled); fractions."
    return Table("details", "Every other number", caption, "method", columns, tuple(rows), best="")


def _detail(detail: object) -> Value | str | None:
    if detail is None or is_number(detail):
        return None if detail is None else Value(detail)
    return ", ".join(f"{entry:.3g}" for entry in detail) if isinstance(detail, list) else str(detail)


def chunk_table(estimate: AccuracyEstimate, results: Results, most: int | None = None) -> Table:
    """Return a row per chunk, in order; of many the `most` lowest."""
    chunks, values = estimate.chunks, _values(results, "chunk")
    truth, remarks = estimate.target.accuracy is not None, any(map(remark, chunks))
    causes = any(chunk.cause is not None and chunk.cause.text for chunk in chunks)
    columns = [
        Column(IMAGES, priority=2),
        Column(ESTIMATED, "accuracy", 2, headline=True),
        *[Column(TEXT, "likely cause", 2)] * causes,
        Column(TEXT, "all methods", 1),
        *[Column(TRUE, priority=1)] * truth,
        *[Column(TEXT, "remark", 2)] * remarks,
        *(Column(ESTIMATED, method.name, intervals=0) for method in estimate.methods),
    ]
    heights = [_height(chunk) for chunk in chunks]
    lowest = sorted(sorted(range(len(chunks)), key=heights.__getitem__)[:most])
    rows = []
    for at in lowest:
        chunk, own = chunks[at], values[at + 1]
        known = [accuracy for accuracy in chunk.methods.values() if accuracy is not None]
        cells = [
            own["", IMAGES],
            Cell(own[QUOTED, ESTIMATED], bold=chunk.alarming),
            *[chunk.cause.text if causes and chunk.cause else ""] * causes,
            f"{ESTIMATED.write(min(known))} to {ESTIMATED.write(max(known))}" if known else "",
            *([own["", TRUE]] if truth else ()),
            *[remark(chunk)] * remarks,
            *(own[method.name, ESTIMATED] for method in estimate.methods),
        ]
        rows.append(Row(chunk.label, tuple(cells)))
    caption = "Percent, chunk by chunk: what is quoted [with its interval or bounds], and what the methods say."
    caption += " Likely cause: of what moved against the source." * causes
    sampled = max((chunk.sampled or 0 for chunk in chunks), default=0)
    if sampled:
        caption += f" A chunk of more than {sampled:,} images is represented by a uniform sample of so many."
    if len(lowest) < len(chunks):
        caption = f"The {len(lowest)} lowest of {len(chunks)} chunks; --out keeps a page with all. {caption}"
    return Table("over-time-table", "Over time", caption, "chunk", tuple(columns), tuple(rows))


def remark(chunk: ChunkEstimate) -> str:
    """Return whether the accuracy cannot be told, what counts then, and which alarms stand."""
    unknown = chunk.quote.accuracy is None
    parts = ["alarm"] * chunk.alarming + ["shift alarm"] * chunk.shifted + ["cannot be told"] * unknown
    if unknown and chunk.alarm is not None:
        counted = chunk.alarm.counted
        parts.append(f"counts as {'nothing' if counted is None else ESTIMATED.write(counted)}")
    labelled = chunk.labelled
    if labelled is not None and labelled.accuracy is not None:
        parts.append(f"{labelled.n} labels")
    elif labelled is not None:
        parts.append(f"{labelled.n} labels, {labelled.reason}")
    return ", ".join(parts)


def _values(results: Results, name: str) -> dict[int, dict[tuple[str, Metric], Value]]:
    """Return the values of every chunk or class, by its number; each by entity and metric."""
    values: dict[int, dict[tuple[str, Metric], Value]] = {}
    for row in results:
        if name in row.where:
            values.setdefault(row.where[name], {})[row.entity, row.metric] = row.value
    return values


def class_table(estimate: AccuracyEstimate, results: Results, most: int | None = None) -> Table:
    """Return a row per class, those that lost most first; of many the first `most`."""
    metrics = {PREDICTED: QUOTED, CLASS_ACCURACY: QUOTED, SOURCE_ACCURACY: "", LOST: QUOTED}
    metrics |= {EXPECTED: QUOTED, RECALL: QUOTED}
    columns = [Column(metric, priority=2 - (metric is LOST)) for metric in metrics]
    values, classes = _values(results, "class"), estimate.classes
    changes = {label: own[QUOTED, LOST].value for label, own in values.items()}
    order = sorted(changes, key=lambda label: 1.0 if changes[label] is None else changes[label])[:most]
    rows = []
    for label in order:
        cells = (values[label][entity, metric] for metric, entity in metrics.items())
        rather = ", ".join(f"{name} ({count:.0f})" for name, count in classes[label].taken_for)
        rows.append(Row(classes[label].name, (*cells, rather)))
    sample = "" if estimate.class_images == estimate.target.n else f" of a sample of {estimate.class_images:,}"
    few = f"The {most} that lost most. " if most and len(classes) > most else ""
    caption = (
        f"{few}By {estimate.quote.method}: images{sample} that are named so, and percent of them that are right; the "
        "same on the source; images expected to be of the class, and percent of them that are named so. Percent; the "
        "intervals speak of the images of a class alone."
    )
    columns.append(Column(TEXT, "may rather be", 2))
    return Table("classes-table", "Class by class", caption, "class", tuple(columns), tuple(rows))


def labelled_table(estimate: AccuracyEstimate, results: Results) -> Table:
    """Return a row per labelled shift: what the other families make of it."""
    learned, values = estimate.learned, _values(results, "shift")
    metrics = {IMAGES: "", TRUE: "", ESTIMATED: "learned", DIFFERENCE: "learned"}
    rows = tuple(
        Row(shift.name, (shift.family, *(values[at][entity, metric] for metric, entity in metrics.items())))
        for at, shift in enumerate(learned.left_out, 1)
    )
    powers = ", ".join(f"{name} {power:g}" for name, power in learned.powers.items())
    error = METRICS["absolute_error"].write(learned.mean_error)
    caption = (
        "Percent. Each family in turn is left out, method and power are learned on the others. On all of them: "
        f"{learned.estimator}, power {learned.power:g} (of all candidates: {powers}); off by {error} points on average "
        "where left out."
    )
    titles = {ESTIMATED: "left out, it reads"}
    columns = (Column(TEXT, "family"), *(Column(metric, titles.get(metric, "")) for metric in metrics))
    return Table("labelled-table", "Labelled shifts", caption, "labelled shift", columns, rows)
