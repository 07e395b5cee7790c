"""The page of a run of incremental shift: answers in words, tables, curves, heat maps, in the usual template."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from openworld import __version__
from openworld.evaluations.ood_detection.exports import detectors_csv
from openworld.evaluations.ood_detection.figures import cell_counts, cell_differences, heat_maps, level_curves
from openworld.evaluations.ood_detection.grids import (
    TRENDS,
    kept_grid,
    labelling_grid,
    levels_grid,
    metrics_grid,
    models_grid,
    overview_grid,
    trends_grid,
)
from openworld.evaluations.ood_detection.run import ShiftRun, load_shifts
from openworld.evaluations.ood_detection.verdict import axis_sentence, shift_verdict
from openworld.evaluations.ood_detection.wording import seeds_told
from openworld.report.class_names import names_section, read_audits
from openworld.report.data_files import csv_address
from openworld.report.figure import Figure
from openworld.report.grid import Grid
from openworld.report.page import fill, write_page
from openworld.report.provenance import parts_of
from openworld.report.series_style import Look, looks
from openworld.report.shift_axes import AXES


def build_shifts(folder: Path | str, *, output: Path | str | None = None, run: ShiftRun | None = None) -> Path:
    """Write the page of a run of incremental shift, from its records alone; as `build` does.

    `run`, of `load_shifts`, spares reading the records again.
    """
    return write_page(folder, output, render_shifts(folder, run))


def render_shifts(folder: Path | str, run: ShiftRun | None = None) -> str:
    """The page as HTML text; the same bytes for the same records."""
    run = run or load_shifts(folder)
    chosen = looks(run.detectors)
    return fill(
        chosen,
        title="How far off, and is it seen?",
        subtitle=_subtitle(run),
        legend_of="Detectors",
        verdict=shift_verdict(run),
        overview=overview_grid(run, chosen),
        tables=[trends_grid(run, chosen, metric) for metric in TRENDS],
        further=[levels_grid(run), models_grid(run)],
        numbers=csv_address(detectors_csv(run)),
        figures=[],
        chapters=list(_chapters(run, chosen)),
        class_names=names_section(read_audits(folder)),
        made=parts_of(run.given, run.resolved, run.provenance, tuple(_facts(run))),
    )


def _chapters(run: ShiftRun, chosen: dict[str, Look]) -> Iterator[dict]:
    """Figures and tables under the questions that they answer."""
    for axis in AXES:
        found = level_curves(run, axis, chosen)
        yield _chapter(f"{axis}-shift", f"Does {axis} shift raise the AUROC?", [axis_sentence(run, axis)], found)
    for figure in (heat_maps(run), cell_differences(run), cell_counts(run)):
        if figure is not None:
            yield _chapter(f"of-{figure.name}", figure.title, (), [figure])
    yield _chapter("all-metrics", "False alarms and precision", (), (), metrics_grid(run, chosen))
    known, pool = run.told[0]["pool"]["known"], run.told[0]["pool"]["n"]
    told = (
        f"{known:,} of the pool's {pool:,} pictures are of in-distribution classes: out of distribution by their place "
        "in the pool, not by their label. With them a detector that sees classes looks worse than it is; without them "
        "nothing tells what shift alone does to known classes."
    )
    if known:
        grid = kept_grid(run, chosen)
        yield _chapter("id-classes", "With and without in-distribution classes", [told], (), grid)
    yield _chapter("labelling-issue", "How much is labelling?", (), (), labelling_grid(run, chosen))


def _chapter(name: str, heading: str, told: Sequence[str], figures: Sequence[Figure], *grids: Grid) -> dict:
    drawn = [{"grid": grid, "csv": ""} for grid in grids]
    return {"name": name, "heading": heading, "told": told, "grids": drawn, "figures": figures}


def _subtitle(run: ShiftRun) -> str:
    told, cells = run.told[0], run.cells
    sources = [one["dataset"] for one in told["source"].get("sources") or ()]
    detectors = f"{len(run.detectors)} detector{'s' * (len(run.detectors) > 1)}"
    models = f"{len(run.models)} model{'s' * (len(run.models) > 1)}"
    parts = (", ".join(dict.fromkeys(sources)), f"{told['source']['classes']} classes known", models, detectors)
    shape = f"{cells.present.shape[0]} × {cells.present.shape[1]} cells of {told['pool']['n']:,} pictures"
    return " · ".join(part for part in (*parts, shape, seeds_told(run), f"openworld {__version__}") if part)


def _facts(run: ShiftRun) -> Iterator[tuple[str, str]]:
    """What records tell of how the run was made, beside its spec."""
    told = run.told[0]
    yield "seeds", seeds_told(run)
    yield "records", str(len(run.told))
    if told.get("decomposition"):
        split = told["decomposition"]
        yield "meaning and looks", f"{split['method']} on {split['backbone']}, seed {split['seed']}"
        yield "shift degree", f"distance to the nearest training picture number {told['neighbour']}"
    for model in run.models:
        for warning in dict.fromkeys(text for one in run.of(model) for text in one["warnings"]):
            yield f"warning, {model}", warning
