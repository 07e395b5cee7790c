"""The page of a run of accuracy estimation: errors, scatter, calibration, ablations, costs, in the usual template."""

from collections.abc import Iterator
from pathlib import Path

from openworld import __version__
from openworld.evaluations.accuracy_estimation.ablations import reference_grid, threshold_grid, threshold_verdict
from openworld.evaluations.accuracy_estimation.album import albums
from openworld.evaluations.accuracy_estimation.alignment import alignment_csv, alignment_grid, alignment_verdict
from openworld.evaluations.accuracy_estimation.calibration import calibration_csv, calibration_grid, calibration_verdict
from openworld.evaluations.accuracy_estimation.exports import errors_csv
from openworld.evaluations.accuracy_estimation.figures import alignment_gap, error_time, estimated, severity
from openworld.evaluations.accuracy_estimation.grids import (
    bias_grid,
    models_grid,
    overview_grid,
    paper_grid,
    shifts_grid,
)
from openworld.evaluations.accuracy_estimation.numbers import ErrorTable
from openworld.evaluations.accuracy_estimation.run import EstimateRun, load_estimates
from openworld.evaluations.accuracy_estimation.times import times_grid
from openworld.evaluations.accuracy_estimation.verdict import estimate_verdict
from openworld.evaluations.accuracy_estimation.wording import counts
from openworld.report.class_names import names_section, read_audits
from openworld.report.data_files import csv_address
from openworld.report.grid import Grid
from openworld.report.page import fill, write_page
from openworld.report.provenance import parts_of
from openworld.report.series_style import looks


def build_estimates(folder: Path | str, *, output: Path | str | None = None, run: EstimateRun | None = None) -> Path:
    """Write the page of a run of accuracy estimation, from its records alone; as `build` does.

    `run`, of `load_estimates`, spares reading the records again.
    """
    return write_page(folder, output, render_estimates(folder, run))


def render_estimates(folder: Path | str, run: EstimateRun | None = None) -> str:
    """The page as HTML text; the same bytes for the same records."""
    run = run or load_estimates(folder)
    table = ErrorTable(run)
    chosen = looks(run.labels, [run.yardstick])
    figures = [estimated(table), severity(table, chosen), error_time(table, chosen)]
    return fill(
        chosen,
        title="How accurate, without labels?",
        subtitle=_subtitle(run),
        legend_of="Methods",
        verdict=estimate_verdict(table),
        overview=overview_grid(table, chosen),
        tables=_laid_out_otherwise(table),
        further=[bias_grid(table, chosen), shifts_grid(table), models_grid(table)],
        numbers=csv_address(errors_csv(table)),
        figures=[figure for figure in figures if figure is not None],
        chapters=list(_chapters(table)),
        albums=albums(run),
        class_names=names_section(read_audits(folder)),
        made=parts_of(run.given, run.resolved, run.provenance, tuple(_facts(run))),
    )


def _laid_out_otherwise(table: ErrorTable) -> list[Grid]:
    return [paper_grid(table)] if len(table.labels) > 1 else []


def _chapters(table: ErrorTable) -> Iterator[dict]:
    """Sections of what a run has records of."""
    run = table.run
    parts = (
        ("calibration", "Is their confidence right?", calibration_verdict(run), calibration_grid(run), calibration_csv),
        ("threshold", "What is the threshold good for?", threshold_verdict(table), threshold_grid(table), None),
        ("references", "Which reference, and used how?", (), reference_grid(table), None),
        ("alignment", "Near in meaning", alignment_verdict(run), alignment_grid(run), alignment_csv),
        ("times", "What the methods cost", (), times_grid(table), None),
    )
    for name, heading, told, grid, csv in parts:
        if grid is None and not told:
            continue
        figure = alignment_gap(run) if name == "alignment" else None
        grids = [{"grid": grid, "csv": csv_address(csv(run)) if csv else ""}] if grid else []
        yield {"name": name, "heading": heading, "told": told, "grids": grids, "figures": [figure] if figure else []}


def _subtitle(run: EstimateRun) -> str:
    told = run.told[0]
    sources = told.get("sources") or []
    parts = [
        f"{len(run.methods)} method{'s' * (len(run.methods) > 1)}",
        f"{len(run.conditions)} condition{'s' * (len(run.conditions) > 1)}",
        counts(run.models),
        f"trained on {_named(sources)}" if sources else "",
        f"{told['classes']} classes" if told.get("classes") else "",
        f"seed{'s' * (len(run.seeds) > 1)} {' '.join(map(str, run.seeds))}",
        f"openworld {__version__}",
    ]
    return " · ".join(part for part in parts if part)


def _named(sources) -> str:
    """Sources as a list of names, whatever a record calls them."""
    names = [one if isinstance(one, str) else ", ".join(str(part) for part in one.values() if part) for one in sources]
    return names[0] if len(names) == 1 else f"{len(names)} sources ({'; '.join(names[:3])}{'; …' * (len(names) > 3)})"


def _facts(run: EstimateRun) -> Iterator[tuple[str, str]]:
    """What records tell of how the run was made, beside its spec."""
    yield "seeds", " ".join(map(str, run.seeds))
    yield "records", str(len(run.records))
    told = run.told[0]
    for one in told.get("reference_models") or ():
        parts = [one.get("backbone") or one.get("classifier") or "knows nothing"]
        templates = one.get("templates") if one.get("backbone") else None
        parts += [f"templates: {templates if isinstance(templates, str) else ' '.join(templates)}"] if templates else []
        yield f"reference {one['name']}", ", ".join(parts)
    for name, reason in (told.get("left_out") or {}).items():
        yield f"left out: {name}", reason
