"""What a measured shift says: its tables, and the page with figures and examples."""

from collections.abc import Iterator

from openworld.applications.shift.results import (
    FAR,
    FAR_ALONE,
    IMAGES,
    MEDIAN,
    OWN_MEDIAN,
    START,
    USUAL,
    group_place,
    results_of,
)
from openworld.applications.shift.shift_map import shift_examples, shift_map
from openworld.applications.shift.shift_measurement import ImageGroup, ShiftMeasurement
from openworld.applications.shift.verdict import ranked, shift_sentences
from openworld.report.album import Album, AlbumImage, AlbumPart
from openworld.report.command_report import CommandReport
from openworld.report.page import Page, Section
from openworld.report.shift_axes import AXES
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import Results, Value

KINDS = {
    "semantic": "Farthest in meaning",
    "covariate": "Farthest in looks",
    "near": "Nearest in both",
    "reference": "The reference",
}
ON_PAGE, ON_TERMINAL = 20, 10  # groups in sight; all are among the other numbers of the page


def report(found: ShiftMeasurement) -> CommandReport:
    """Return everything that is to be said of a measured shift."""
    results, (first, *rest) = results_of(found), shift_sentences(found)
    said = (*(f"Note: {warning}." for warning in found.warnings), *rest)
    groups = [group_table(results, *group, ON_TERMINAL) for group in _groups(found)]
    page = Page(
        title=f"How far from {found.reference.name}?",
        subtitle=(
            f"{found.n:,} pictures of {', '.join(images.name for images in found.tests)}",
            f"{found.reference.n:,} of reference",
            found.backbone,
        ),
        verdict=(first, *said),
        sections=tuple(_sections(found, results)),
    )
    tables = (axis_table(found, results), *groups, cell_table(found, results))
    return CommandReport(results, tables, page, said, made=found.made)


def _sections(found: ShiftMeasurement, results: Results) -> Iterator[Section]:
    long = [group for group in _groups(found) if len(group[1]) > ON_PAGE]
    further = (level_table(found, results), *(group_table(results, *group) for group in long))
    numbers = (Section("Every other number", tables=further),)
    yield Section("The numbers", tables=(axis_table(found, results),), folded=numbers)
    for figure in (shift_map(found), shift_examples(found)):
        yield Section(figure.title, figures=(figure,))
    for name, groups, half in _groups(found):
        yield Section(f"Which {name} are far", tables=(group_table(results, name, groups, half, ON_PAGE),))
    yield Section("What this cannot tell", text=found.limits)
    albums = tuple(_albums(found))
    if albums:
        yield Section("The pictures", albums=albums)


def _groups(found: ShiftMeasurement) -> list[tuple[str, tuple[ImageGroup, ...], str]]:
    """Name, groups, and the axis that orders them; without kinds that no image has a name of."""
    return [one for one in (("looks", found.looks, "covariate"), ("concepts", found.concepts, "semantic")) if one[1]]


def axis_table(found: ShiftMeasurement, results: Results) -> Table:
    """Return a row per axis: typical degrees, and how many images are far."""
    metrics = (MEDIAN, OWN_MEDIAN, USUAL, FAR, FAR_ALONE)
    rows = (
        Row(AXES[half], tuple(results.value("", metric.key, axis=half) for metric in metrics)) for half in found.axes
    )
    columns = tuple(Column(metric, priority=metric in (MEDIAN, USUAL, FAR)) for metric in metrics)
    caption = (
        "Degrees are cosine distances. Far: percent of pictures above what 95 % of the reference's own stay below, "
        f"each measured against the others. {found.far['both']:,} of {found.n:,} pictures are far in both."
    )
    return Table("axes", "Degrees", caption, "shift in", columns, tuple(rows))


def level_table(found: ShiftMeasurement, results: Results) -> Table:
    """Return where levels begin, and how many images each has."""
    columns = [(half, metric) for half in found.axes for metric in (START, IMAGES)]

    def cells(level: int) -> Iterator[Value | None]:
        for half, metric in columns:
            held = level < len(found.axes[half].counts)
            yield results.value("", metric.key, axis=half, level=level) if held else None

    rows = (Row(str(level), tuple(cells(level))) for level in range(max(len(a.counts) for a in found.axes.values())))
    heads = (Column(metric, f"{AXES[half]}: {metric.title}") for half, metric in columns)
    caption = "Level 0 is open below, the last one above."
    return Table("levels", "Levels", caption, "level", tuple(heads), tuple(rows))


def group_table(
    results: Results, name: str, groups: tuple[ImageGroup, ...], half: str, most: int | None = None
) -> Table:
    """Return a row per concept or look, the farthest first; of many the first `most`."""
    kind, columns = name.removesuffix("s"), [(own, metric) for own in AXES for metric in (MEDIAN, FAR)]
    rows = []
    for group in ranked(groups, half)[:most]:
        where = group_place(kind, group)
        numbers = (results.value("", metric.key, **where, axis=own) for own, metric in columns)
        rows.append(Row(group.name, (results.value("", IMAGES.key, **where), *numbers)))
    caption = (
        f"By median degree in {AXES[half]}. Far: percent of pictures farther away than 95 % of the reference's own."
    )
    if most is not None and len(groups) > most:
        caption += f" The {most} farthest of {len(groups)}; the page of --out has all."
    titles = {MEDIAN: "{}", FAR: "far in {}"}
    heads = (Column(IMAGES), *(Column(metric, titles[metric].format(AXES[own])) for own, metric in columns))
    whole = "all-" * (most is None)
    return Table(f"{whole}{name}", f"{name.capitalize()} by distance", caption, kind, heads, tuple(rows))


def cell_table(found: ShiftMeasurement, results: Results) -> Table:
    """Return images per cell: rows are levels of appearance, columns of meaning."""
    columns = range(len(found.cells[0]))

    def cell(row: int, column: int) -> Cell | Value:
        value = results.value("", IMAGES.key, covariate_level=row, semantic_level=column)
        return value if value.value >= found.least else Cell(f"({value.value})" if value.value else "·")

    rows = (Row(str(row), tuple(cell(row, column) for column in columns)) for row in range(len(found.cells)))
    caption = f"Pictures per cell, levels from 0 (near); in brackets: fewer than {found.least}, N/A in statistics."
    heads = tuple(Column(IMAGES, str(column)) for column in columns)
    label = f"{AXES['covariate']} \\ {AXES['semantic']}"
    return Table("cells", "Where the pictures lie", caption, label, heads, tuple(rows), best="")


def _albums(found: ShiftMeasurement) -> Iterator[Album]:
    kinds = {heading: tuple(_shown(found, kind)) for kind, heading in KINDS.items()}
    told = (
        "Under each picture its degrees in meaning and in looks; of the reference some pictures at random. "
        "Every picture's degrees are in degrees.csv."
    )
    if any(kinds.values()):
        yield Album("Pictures", told, tuple(AlbumPart(heading, shown) for heading, shown in kinds.items() if shown))


def _shown(found: ShiftMeasurement, kind: str) -> Iterator[AlbumImage]:
    for example in found.examples:
        if example.kind == kind:
            degrees = "" if kind == "reference" else f"{example.semantic:.3f} · {example.covariate:.3f}"
            yield AlbumImage(example.address or None, example.name, degrees)
