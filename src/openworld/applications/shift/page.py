"""The page of a measured shift in the template of every page: sentences, groups, heat map, pictures."""

from collections.abc import Iterator
from pathlib import Path

from openworld import __version__
from openworld.applications.shift.results import Found, Group
from openworld.applications.shift.shift_map import shift_examples, shift_map
from openworld.applications.shift.wording import cells, ranked, shift_sentences
from openworld.report.data_files import csv_address, csv_text
from openworld.report.grid import Cell, Column, Grid, Line
from openworld.report.page import Album, Kind, fill, write_page
from openworld.report.pictures import Shown
from openworld.report.provenance import Part
from openworld.report.shift_axes import AXES
from openworld.report.text import percent

KINDS = {
    "semantic": "Farthest in meaning",
    "covariate": "Farthest in looks",
    "near": "Nearest in both",
    "reference": "The reference",
}
GROUPS = ("pictures", "meaning: median degree", "far in meaning", "looks: median degree", "far in looks")
SHOWN = 20  # groups in sight; all are among the other numbers


def build_shift(folder: Path | str, found: Found, *, output: Path | str | None = None) -> Path:
    """Write the page, `report.html` in the folder unless `output` says otherwise; returns its path."""
    return write_page(folder, output, render_shift(found))


def render_shift(found: Found) -> str:
    """The page as HTML text; the same bytes for the same result."""
    return fill(
        {},
        title=f"How far from {found.reference.name}?",
        subtitle=_subtitle(found),
        legend_of="",
        verdict=list(_verdict(found)),
        overview=None,
        tables=[_axes_grid(found)],
        further=[_levels_grid(found), *(_groups_grid(f"all-{name}", *rest) for name, *rest in _long(found))],
        numbers=csv_address(csv_text(("name", "kind", *GROUPS), list(_csv_rows(found)))),
        figures=[shift_map(found), shift_examples(found)],
        chapters=list(_chapters(found)),
        albums=_albums(found),
        made=[Part("To do it again", facts=tuple(found.made.items()))],
    )


def _verdict(found: Found) -> Iterator[str]:
    """The answer, what speaks against it, all else."""
    first, *rest = shift_sentences(found)
    yield first
    yield from (f"Note: {warning}." for warning in found.warnings)
    yield from rest


def _subtitle(found: Found) -> str:
    tests = ", ".join(one.name for one in found.tests)
    parts = (f"{found.n:,} pictures of {tests}", f"{found.reference.n:,} of reference", found.backbone)
    return " · ".join((*parts, f"openworld {__version__}"))


def _axes_grid(found: Found) -> Grid:
    titles = ("median degree", "median of the reference's own", "95 % of these below", "far", "far in it alone")
    told = (
        "Degrees are cosine distances. Far: the share of pictures above what 95 % of the reference's own stay below, "
        f"each measured against the others. {found.far['both']:,} of {found.n:,} pictures are far in both."
    )
    rows = tuple(Line("", tuple(map(Cell, _axis_cells(found, half)))) for half in found.axes)
    return Grid("axes", "Degrees", told, (Column("shift in", words=True), *map(Column, titles)), rows)


def _axis_cells(found: Found, half: str) -> tuple[str, ...]:
    axis, alone = found.axes[half], found.far[half] / found.n
    degrees = (f"{degree:.3f}" for degree in (axis.median, axis.own_median, axis.usual))
    return AXES[half], *degrees, f"{percent(axis.beyond)} %", f"{percent(alone)} %"


def _levels_grid(found: Found) -> Grid:
    """Where levels begin, and how many pictures each has."""
    columns = (Column("level", words=True), *(Column(f"{word}: {what}") for word in AXES.values() for what in _TOLD))
    count = max(len(axis.counts) for axis in found.axes.values())
    rows = tuple(Line("", (Cell(str(level)), *_level_cells(found, level))) for level in range(count))
    return Grid("levels", "Levels", "Level 0 is open below, the last one above.", columns, rows)


_TOLD = ("from", "pictures")


def _level_cells(found: Found, level: int) -> Iterator[Cell]:
    for axis in found.axes.values():
        held = level < len(axis.counts)
        start = (0.0, *axis.cuts)[level] if held else None
        yield from (Cell(f"{start:.4f}"), Cell(f"{axis.counts[level]:,}")) if held else (Cell("–"), Cell("–"))


def _chapters(found: Found) -> Iterator[dict]:
    for name, groups, half in _groups(found):
        if groups:
            grid = _groups_grid(name, groups, half, SHOWN)
            yield _chapter(name, f"Which {name} are far", grids=[{"grid": grid, "csv": ""}])
    yield _chapter("limits", "What this cannot tell", told=found.limits)


def _chapter(name: str, heading: str, **parts) -> dict:
    return {"name": name, "heading": heading, "told": (), "figures": (), "grids": ()} | parts


def _groups(found: Found) -> tuple[tuple[str, tuple[Group, ...], str], ...]:
    return ("looks", found.looks, "covariate"), ("concepts", found.concepts, "semantic")


def _long(found: Found) -> list[tuple]:
    return [one for one in _groups(found) if len(one[1]) > SHOWN]


def _groups_grid(name: str, groups: tuple[Group, ...], half: str, most: int | None = None) -> Grid:
    word = name.removeprefix("all-")
    columns = (Column(word[:-1], words=True), *map(Column, GROUPS))
    told = f"By median degree in {AXES[half]}. Far: share of pictures farther away than 95 % of the reference's own."
    if most is not None and len(groups) > most:
        told += f" The {most} farthest of {len(groups)}; all are under “Every other number”."
    rows = tuple(Line("", tuple(map(Cell, cells(one)))) for one in ranked(groups, half)[:most])
    return Grid(name, f"{word} by distance", told, columns, rows)


def _csv_rows(found: Found) -> Iterator[tuple]:
    for kind, groups in (("concept", found.concepts), ("look", found.looks)):
        for one in groups:
            halves = (one.semantic, one.semantic_beyond, one.covariate, one.covariate_beyond)
            yield one.name, kind, one.n, *halves


def _albums(found: Found) -> list[Album]:
    kinds = tuple(
        Kind(heading, tuple(_shown(found, kind))) for kind, heading in KINDS.items() if any(_shown(found, kind))
    )
    told = (
        "Under each picture its degrees in meaning and in looks; of the reference some pictures at random. "
        "Every picture's degrees are in degrees.csv."
    )
    return [Album("Pictures", told, kinds)] if kinds else []


def _shown(found: Found, kind: str) -> Iterator[Shown]:
    for one in found.examples:
        if one.kind == kind:
            told = "" if kind == "reference" else f"{one.semantic:.3f} · {one.covariate:.3f}"
            yield Shown(one.address or None, one.name, told)
