"""What a measured shift says: its tables, and the page with figures and examples."""

from collections.abc import Iterator

from openworld.applications.shift.results import (
    FAR,
    FAR_ALONE,
    GROUPS,
    IMAGES,
    MEDIAN,
    OWN_MEDIAN,
    START,
    USUAL,
    results_of,
)
from openworld.applications.shift.shift_map import shift_examples, shift_map
from openworld.applications.shift.shift_measurement import ShiftMeasurement
from openworld.applications.shift.verdict import ORDERED_BY, ranked, shift_sentences
from openworld.report.album import Album, AlbumImage, AlbumPart
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.shift_axes import AXES
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import Results, Value

KINDS = {
    "semantic": "Farthest in meaning",
    "covariate": "Farthest in appearance",
    "near": "Nearest in both",
    "reference": "The reference",
}
ON_PAGE, ON_TERMINAL = 20, 10  # groups in sight; all are among the other numbers of the page


def report(measurement: ShiftMeasurement) -> Report:
    """Return everything that is to be said of a measured shift."""
    results, (first, *rest) = results_of(measurement), shift_sentences(measurement)
    sentences = (*(f"Note: {warning}." for warning in measurement.warnings), *rest)
    groups = [groups for groups in GROUPS if getattr(measurement, groups)]
    page = Page(
        title=f"How far from {measurement.reference.name}?",
        subtitle=(
            f"{measurement.n:,} images of {', '.join(images.name for images in measurement.tests)}",
            f"{measurement.reference.n:,} of reference",
            measurement.backbone,
        ),
        verdict=(first, *sentences),
        sections=tuple(_sections(measurement, results, groups)),
    )
    short = (group_table(measurement, results, name, ON_TERMINAL) for name in groups)
    tables = (axis_table(measurement, results), *short, cell_table(measurement, results))
    return Report(results, tables, page, sentences, made=measurement.made)


def _sections(measurement: ShiftMeasurement, results: Results, groups: list[str]) -> Iterator[Section]:
    long = [name for name in groups if len(getattr(measurement, name)) > ON_PAGE]
    further = (level_table(measurement, results), *(group_table(measurement, results, name) for name in long))
    folded = (Section("Every other number", tables=further),)
    yield Section("The numbers", tables=(axis_table(measurement, results),), folded=folded)
    for figure in (shift_map(measurement), shift_examples(measurement)):
        yield Section(figure.title, figures=(figure,))
    for name in groups:
        table = group_table(measurement, results, name, ON_PAGE)
        yield Section(f"Which {GROUPS[name]}s are far", tables=(table,))
    yield Section("What this cannot tell", text=measurement.limits)
    shown = {heading: tuple(_shown(measurement, kind)) for kind, heading in KINDS.items()}
    kinds = tuple(AlbumPart(heading, images) for heading, images in shown.items() if images)
    if kinds:
        about = (
            "Under each image its degrees in meaning and in appearance; of the reference some images at random. "
            "Every image's degrees are in degrees.csv."
        )
        yield Section("The images", albums=(Album("Images", about, kinds),))


def axis_table(measurement: ShiftMeasurement, results: Results) -> Table:
    """Return a row per axis: typical degrees, and how many images are far."""
    metrics = (MEDIAN, OWN_MEDIAN, USUAL, FAR, FAR_ALONE)
    rows = (Row(word, tuple(results.value("", metric.key, axis=half) for metric in metrics))
            for half, word in AXES.items())  # fmt: skip
    columns = tuple(Column(metric, priority=metric in (MEDIAN, USUAL, FAR)) for metric in metrics)
    caption = (
        "Degrees are cosine distances. Far: percent of images above what 95 % of the reference's own stay below, "
        f"each measured against the others. {measurement.far['both']:,} of {measurement.n:,} images are far in both."
    )
    return Table("axes", "Degrees", caption, "shift in", columns, tuple(rows))


def level_table(measurement: ShiftMeasurement, results: Results) -> Table:
    """Return where levels begin, and how many images each has."""
    columns = [(half, metric) for half in AXES for metric in (START, IMAGES)]
    counts = {half: len(axis.counts) for half, axis in measurement.axes.items()}
    rows = []
    for level in range(max(counts.values())):
        cells = (results.value("", metric.key, axis=half, level=level) if level < counts[half] else None
                 for half, metric in columns)  # fmt: skip
        rows.append(Row(str(level), tuple(cells)))
    heads = (Column(metric, f"{AXES[half]}: {metric.title}") for half, metric in columns)
    return Table("levels", "Levels", "Level 0 is open below, the last one above.", "level", tuple(heads), tuple(rows))


def group_table(measurement: ShiftMeasurement, results: Results, name: str, most: int | None = None) -> Table:
    """Return a row per group, the farthest first; of many the first `most`.

    Args:
        name: a key of `GROUPS`.
    """
    groups, kind, half = getattr(measurement, name), GROUPS[name], ORDERED_BY[name]
    columns = [(own, metric) for own in AXES for metric in (MEDIAN, FAR)]
    rows = []
    for group in ranked(groups, half)[:most]:
        where = {"group": kind, "name": group.name}
        numbers = (results.value("", metric.key, **where, axis=own) for own, metric in columns)
        rows.append(Row(group.name, (results.value("", IMAGES.key, **where), *numbers)))
    caption = f"By median degree in {AXES[half]}. Far: percent of images farther than 95 % of the reference's own."
    if most is not None and len(groups) > most:
        caption += f" The {most} farthest of {len(groups)}; the page of --out has all."
    heads = (Column(metric, f"{'far in ' * (metric is FAR)}{AXES[own]}") for own, metric in columns)
    title, whole = f"{kind.capitalize()}s by distance", "all-" * (most is None)
    return Table(f"{whole}{kind}s", title, caption, kind, (Column(IMAGES), *heads), tuple(rows))


def cell_table(measurement: ShiftMeasurement, results: Results) -> Table:
    """Return images per cell: rows are levels of appearance, columns of meaning."""
    levels = range(len(measurement.cells[0]))

    def cell(row: int, column: int) -> Cell | Value:
        value = results.value("", IMAGES.key, covariate_level=row, semantic_level=column)
        return value if value.value >= measurement.least else Cell(f"({value.value})" if value.value else "·")

    rows = (Row(str(row), tuple(cell(row, column) for column in levels)) for row in range(len(measurement.cells)))
    caption = f"Images per cell, levels from 0 (near); in brackets: fewer than {measurement.least}, N/A in statistics."
    heads, label = tuple(Column(IMAGES, str(level)) for level in levels), f"{AXES['covariate']} \\ {AXES['semantic']}"
    return Table("cells", "Where the images lie", caption, label, heads, tuple(rows), best="")


def _shown(measurement: ShiftMeasurement, kind: str) -> Iterator[AlbumImage]:
    for example in measurement.examples:
        if example.kind == kind:
            degrees = "" if kind == "reference" else f"{example.semantic:.3f} · {example.covariate:.3f}"
            yield AlbumImage(example.address or None, example.name, degrees)
