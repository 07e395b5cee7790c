"""The page: everything a run says, in one HTML file that loads nothing.

Jinja2 escapes every text that comes from a run; a Content-Security-Policy forbids every request and any script or
style but the page's own, named by hash, so that even an escape gone wrong could not act.
"""

from collections.abc import Iterator
from pathlib import Path

from openworld import __version__
from openworld.evaluations.recognition.album import albums
from openworld.evaluations.recognition.exports import export
from openworld.evaluations.recognition.figures import FIGURES
from openworld.evaluations.recognition.grids import further_grid, main_grid, overview
from openworld.evaluations.recognition.imbalance_tables import imbalance_grid, mixes_csv, variation_csv, variation_grid
from openworld.evaluations.recognition.operating_summary import all_run_at, preferred, sentence, why_none
from openworld.evaluations.recognition.operating_tables import operating_grid
from openworld.evaluations.recognition.outcome import RunFolder, load
from openworld.evaluations.recognition.provenance import made
from openworld.evaluations.recognition.summary import Summary, Table
from openworld.evaluations.recognition.verdict import verdict
from openworld.report.class_names import names_section
from openworld.report.data_files import csv_address
from openworld.report.page import fill, write_page
from openworld.report.sentences import listed
from openworld.report.series_style import Look, looks

_BEST = "Best by what validation pictures say, and then on test pictures: "
TOLD_BY_DOMAINS = ("as given", "same domain", "other domain")  # splits that need no words of their own


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


def render(run: RunFolder, **parts) -> str:
    """The page of a run as HTML text; the same bytes for the same records.

    Args:
        run: of `load`.
        parts: of the page that another evaluation of the same records fills in its own way.
    """
    summary = run.summary
    chosen = styles(summary)
    many = len(summary.tables) > 1
    numbered = list(enumerate(summary.tables, 1))
    figures = [figure(summary.tables, chosen) for figure in FIGURES]
    own = {
        "title": _title(summary),
        "subtitle": _subtitle(summary),
        "verdict": verdict(summary),
        "overview": overview(summary, chosen) if many else None,
        "tables": [main_grid(table, chosen, f"table-{place}") for place, table in numbered],
        "further": [further_grid(table, chosen, f"further-{place}") for place, table in numbered],
        "numbers": csv_address(export(summary, "csv")),
        "figures": [figure for figure in figures if figure is not None],
        "operating": [
            _operating(table, chosen, f"operating-{place}") for place, table in numbered if all_run_at(table)
        ],
        "mixes": list(_mixes(summary, chosen)),
        "albums": albums(summary),
        "class_names": names_section(run.audits),
        "made": made(run, summary),
    }
    return fill(chosen, **own | parts)


def styles(summary: Summary) -> dict[str, Look]:
    """The style of every learner, on the whole page."""
    return looks(summary.learners, summary.yardsticks)


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
