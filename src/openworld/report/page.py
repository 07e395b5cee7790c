"""The page: everything a run says, in one HTML file that loads nothing.

Jinja2 escapes every text that comes from a run; a Content-Security-Policy forbids every request and any script or
style but the page's own, named by hash, so that even an escape gone wrong could not act.
"""

import base64
import hashlib
import os
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from openworld import __version__
from openworld.report.exports import export
from openworld.report.figures import FIGURES
from openworld.report.figures.figure import csv_address
from openworld.report.figures.forest import key, loss_key
from openworld.report.figures.points_lost import LOSSES
from openworld.report.grids import further_grid, main_grid, overview
from openworld.report.made import made
from openworld.report.outcome import RunFolder, load
from openworld.report.palette import Look, looks, style_sheet
from openworld.report.pictures import KINDS, Shown, show
from openworld.report.summary import Summary, Table, summarise
from openworld.report.svg import shapes
from openworld.report.verdict import listed, verdict

PICTURE_BYTES = 500_000  # of the page's 1.5 MB; thumbnails beyond it are left out, and the page says so


def build(folder: Path | str, *, output: Path | str | None = None) -> Path:
    """Write the report page of a run, from its records alone.

    Args:
        folder: of a finished run.
        output: where to write; `report.html` in the run's folder by default. Replaced in one step.

    Returns:
        The path of the page.

    Raises:
        OpenworldError: when the folder holds no run, or a unit is missing or damaged.
    """
    return write_page(folder, output, render(load(folder)))


def write_page(folder: Path | str, output: Path | str | None, page: str) -> Path:
    """Put the text of a page where `build` says, in one step; returns its path."""
    path = Path(output) if output is not None else Path(folder) / "report.html"
    scratch = path.with_name(f".{path.name}.writing")
    scratch.write_bytes(page.encode())
    os.replace(scratch, path)
    return path


def render(run: RunFolder) -> str:
    """The page of a run as HTML text; the same bytes for the same records."""
    summary = summarise(run.outcomes)
    chosen = looks(summary.learners, summary.yardsticks)
    many = len(summary.tables) > 1
    numbered = list(enumerate(summary.tables, 1))
    figures = [figure(summary.tables, chosen) for figure in FIGURES]
    return fill(
        chosen,
        title=_title(summary),
        subtitle=_subtitle(summary),
        verdict=verdict(summary),
        overview=overview(summary, chosen) if many else None,
        tables=[main_grid(table, chosen, f"table-{place}") for place, table in numbered],
        further=[further_grid(table, chosen, f"further-{place}") for place, table in numbered],
        numbers=csv_address(export(summary, "csv")),
        figures=[figure for figure in figures if figure is not None],
        albums=_albums(summary),
        made=made(run, summary),
    )


def fill(chosen: dict[str, Look], **parts) -> str:
    """The template with the `parts` of one page, and with what all pages share; `chosen` are the learners' looks."""
    style, script = _asset("page.css") + style_sheet(chosen), _asset("page.js")
    losses = ["OpenworldAUC, in the learner's colour", *LOSSES.values()]
    return _template().render(
        version=__version__,
        shapes=shapes(),
        style=Markup(style),
        script=Markup(script),
        style_hash=Markup(_hash(style)),
        script_hash=Markup(_hash(script)),
        legend=[{"learner": learner, "key": key(look)} for learner, look in chosen.items()],
        losses=[{"key": loss_key(place), "text": text} for place, text in enumerate(losses)],
        **{"albums": []} | parts,
    )


@dataclass(frozen=True)
class Kind:
    """The pictures of one kind under their heading."""

    heading: str
    pictures: tuple[Shown, ...]


@dataclass(frozen=True)
class Album:
    """The pictures of one table: of its best learner, first seed."""

    title: str
    told: str
    kinds: tuple[Kind, ...]


def _albums(summary: Summary) -> list[Album]:
    count = {1: 8, 2: 6}.get(len(summary.tables), 4)
    left, albums = PICTURE_BYTES, []
    for table in summary.tables:
        kinds = []
        for name, pictures in show(table.best.outcomes[0], count).items():
            kept = []
            for picture in pictures:
                left -= len(picture.address or "")
                kept.append(picture if left >= 0 else replace(picture, address=None))
            kinds.append(Kind(KINDS[name], tuple(kept)))
        if kinds:
            albums.append(Album(table.title, _told(table), tuple(kinds)))
    return albums


def _told(table: Table) -> str:
    best, group = table.best, table.group_name
    once = f"; of one {group} only the most telling picture is shown" if group else ""
    return (
        f"Of {best.learner}, seed {best.seeds[0]}. Confidence is its softmax among the names of the picture's own half"
        f"{once}."
    )


def _title(summary: Summary) -> str:
    tasks = list(dict.fromkeys(table.setting.task for table in summary.tables))
    return f"{listed(tasks)} in the open world" if len(tasks) <= 3 else f"{len(tasks)} tasks in the open world"


def _subtitle(summary: Summary) -> str:
    """What, on what, with what: all that the tables have in common."""
    told = [_described(table) for table in summary.tables]
    shared = [part for part in told[0] if all(part in other for other in told)]
    return " · ".join([*shared, f"openworld {__version__}"])


def _described(table: Table) -> list[str]:
    setting, counts = table.setting, table.counts
    seeds = max((row.seeds for row in table.rows), key=len)
    parts = {
        setting.domains: bool(setting.domains),
        f"{setting.split} split": setting.split != "as given",
        f"{counts['base_classes']} base + {counts['new_classes']} new classes": counts["base_classes"] > 1,
        f"{setting.shots} shots": bool(setting.shots),
        f"seed{'s' * (len(seeds) > 1)} {' '.join(map(str, seeds))}": True,
        setting.backbone: True,
    }
    return [part for part, holds in parts.items() if holds]


def _template():
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=False)
    return environment.from_string(_asset("page.html.j2"))


def _asset(name: str) -> str:
    return files("openworld.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The source expression by which the policy knows an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
