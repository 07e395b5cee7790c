"""The page: everything a run says, in one HTML file that loads nothing.

Jinja2 escapes every text that comes from a run; a Content-Security-Policy forbids every request and any script or
style but the page's own, named by hash, so that even an escape gone wrong could not act.
"""

import base64
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from openworld import __version__
from openworld._errors import naming
from openworld.report.data_files import csv_address
from openworld.report.exports import export
from openworld.report.figures import FIGURES
from openworld.report.figures.forest import key, loss_key
from openworld.report.figures.points_lost import LOSSES
from openworld.report.grids import further_grid, main_grid, overview
from openworld.report.made import made
from openworld.report.mix_tables import imbalance_grid, mixes_csv, variation_csv, variation_grid
from openworld.report.names_audit import names_section
from openworld.report.operating import all_run_at, preferred, sentence, why_none
from openworld.report.operating_tables import operating_grid
from openworld.report.outcome import RunFolder, load
from openworld.report.palette import Look, looks, style_sheet
from openworld.report.pictures import KINDS, Shown, show
from openworld.report.reach import reaches
from openworld.report.reach_tables import reach_grid, reach_title, reach_verdict
from openworld.report.summary import Summary, Table
from openworld.report.svg import shapes
from openworld.report.verdict import listed, verdict

_BEST = "Best by what validation pictures say, and then on test pictures: "
_ABSENT = {  # what a page says where it is not told otherwise
    **dict.fromkeys(("albums", "reached", "mixes", "operating", "chapters"), ()),
    "class_names": None,
    "legend_of": "Learners",
}
TOLD_BY_DOMAINS = ("as given", "same domain", "other domain")  # splits that need no words of their own
PICTURE_BYTES = 500_000  # of the page's 1.5 MB; thumbnails beyond it are left out, and the page says so


def build(folder: Path | str, *, output: Path | str | None = None, run: RunFolder | None = None) -> Path:
    """Write the report page of a run, from its records alone.

    Args:
        folder: of a finished run.
        output: where to write; `report.html` in the run's folder by default. Replaced in one step.
        run: of `load`; spares reading the records again.

    Returns:
        The path of the page.

    Raises:
        OpenworldError: when the folder holds no run, or a unit is missing or damaged.
    """
    return write_page(folder, output, render(run or load(folder)))


def write_page(folder: Path | str, output: Path | str | None, page: str) -> Path:
    """Put the text of a page where `build` says, in one step; returns its path."""
    path = Path(output) if output is not None else Path(folder) / "report.html"
    scratch = path.with_name(f".{path.name}.writing")
    with naming(path):
        scratch.write_bytes(page.encode())
        os.replace(scratch, path)
    return path


def render(run: RunFolder) -> str:
    """The page of a run as HTML text; the same bytes for the same records."""
    summary = run.summary
    chosen = looks(summary.learners, summary.yardsticks)
    many = len(summary.tables) > 1
    numbered = list(enumerate(summary.tables, 1))
    figures = [figure(summary.tables, chosen) for figure in FIGURES]
    reached = reaches(summary)
    return fill(
        chosen,
        title=reach_title(reached) if reached else _title(summary),
        subtitle=_subtitle(summary),
        verdict=reach_verdict(summary, reached) if reached else verdict(summary),
        reached=[reach_grid(reach, chosen) for reach in reached],
        overview=overview(summary, chosen) if many and not reached else None,
        tables=[main_grid(table, chosen, f"table-{place}") for place, table in numbered],
        further=[further_grid(table, chosen, f"further-{place}") for place, table in numbered],
        numbers=csv_address(export(summary, "csv")),
        figures=[figure for figure in figures if figure is not None],
        operating=[_operating(table, chosen, f"operating-{place}") for place, table in numbered if all_run_at(table)],
        mixes=list(_mixes(summary, chosen)),
        albums=_albums(summary),
        class_names=names_section(run.audits),
        made=made(run, summary),
    )


def _operating(table: Table, looks: dict[str, Look], name: str) -> dict:
    """A table of operating points, and in a sentence what the learner does that validation pictures prefer."""
    best = preferred(all_run_at(table))
    told = why_none(all_run_at(table)) if best is None else f"{_BEST}{sentence(best)}"
    return {"grid": operating_grid(table, looks, name), "told": told}


def _mixes(summary: Summary, looks: dict[str, Look]) -> Iterator[dict]:
    """The tables of other mixes of base and new images, each with its numbers, where the records hold them."""
    for place, table in enumerate(summary.tables, 1):
        for name, grid, csv in (
            ("imbalance", imbalance_grid, mixes_csv),
            ("all-ratios", variation_grid, variation_csv),
        ):
            found = grid(table, looks, f"{name}-{place}")
            if found:
                yield {"grid": found, "csv": csv_address(csv([table]))}


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
        **_ABSENT | parts,
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
        f"{setting.split} split": setting.split not in TOLD_BY_DOMAINS,
        f"{counts['base_classes']} base + {counts['new_classes']} new classes": counts["base_classes"] > 1,
        table.shots: bool(table.shots),
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
