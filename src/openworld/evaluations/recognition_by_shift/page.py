"""The page of a run of open-world quality by shift, in the template of every page, from its records alone."""

from collections.abc import Iterator
from pathlib import Path

from openworld import __version__
from openworld.evaluations.recognition_by_shift.exports import export_open_world_shifts
from openworld.evaluations.recognition_by_shift.figures import (
    TRUTH,
    estimates_by_level,
    open_world_cells,
    open_world_levels,
)
from openworld.evaluations.recognition_by_shift.grids import error_grid, home_grid, level_grid, trend_grid
from openworld.evaluations.recognition_by_shift.numbers import TOLD, Levels
from openworld.evaluations.recognition_by_shift.run import PARTS, VIEWS, OpenWorldShiftRun, load_open_world_shifts
from openworld.evaluations.recognition_by_shift.verdict import open_world_shift_verdict
from openworld.evaluations.recognition_by_shift.wording import warned
from openworld.evaluations.shots import shots_in_words, training_images
from openworld.report.class_names import names_section, read_audits
from openworld.report.data_files import csv_address
from openworld.report.grid import Grid
from openworld.report.page import fill, write_page
from openworld.report.provenance import parts_of
from openworld.report.series_style import Look, looks
from openworld.report.shift_axes import AXES


def build_open_world_shifts(
    folder: Path | str, *, output: Path | str | None = None, run: OpenWorldShiftRun | None = None
) -> Path:
    """Write the page; as `build` does. `run`, of `load_open_world_shifts`, spares reading the records again."""
    return write_page(folder, output, render_open_world_shifts(folder, run))


def render_open_world_shifts(folder: Path | str, run: OpenWorldShiftRun | None = None) -> str:
    """The page as HTML text; the same bytes for the same records."""
    run = run or load_open_world_shifts(folder)
    levels = Levels(run)
    told = [TRUTH, *run.estimators] if run.estimators else []
    chosen = looks([*run.learners, *told], list(filter(None, [run.yardstick, *told[:1]])))
    return fill(
        chosen,
        title="How far off until it fails?",
        subtitle=_subtitle(run),
        legend_of="Learners and estimators" if told else "Learners",
        verdict=open_world_shift_verdict(levels),
        overview=None,
        tables=[level_grid(levels, view, axis, chosen) for view, axis in TOLD],
        further=list(_further(levels, chosen)),
        numbers=csv_address(export_open_world_shifts(run, "csv")),
        figures=[
            *(open_world_levels(levels, view, axis, chosen) for view, axis in TOLD),
            *(open_world_cells(run, view) for view in VIEWS),
        ],
        chapters=list(_estimates(run, chosen)),
        class_names=names_section(read_audits(folder)),
        made=parts_of(run.given, run.resolved, run.provenance, tuple(_facts(run))),
    )


def _further(levels: Levels, chosen: dict[str, Look]) -> Iterator[Grid]:
    yield trend_grid(levels.run, chosen)
    for view, axis in TOLD:
        for part in PARTS:
            if part != "openworld_auc" and (part != "base_accuracy" or view != "near"):
                yield level_grid(levels, view, axis, chosen, part)


def _estimates(run: OpenWorldShiftRun, chosen: dict[str, Look]) -> Iterator[dict]:
    if run.estimators:
        csv = csv_address(export_open_world_shifts(run, "estimates"))
        grids = [{"grid": error_grid(run, axis), "csv": ""} for axis in AXES]
        grids.append({"grid": home_grid(run, chosen), "csv": csv})
        yield {
            "name": "estimates",
            "heading": "How accurate, without labels?",
            "told": list(warned(run)),
            "grids": grids,
            "figures": [estimates_by_level(run, chosen)],
        }


def _subtitle(run: OpenWorldShiftRun) -> str:
    told = run.any
    sources = " + ".join(", ".join(str(part) for part in one.values() if part) for one in told["sources"])
    parts = (
        f"tuned on {sources}",
        f"{told['n_base_classes']} base + {told['n_new_classes']} new classes",
        shots_in_words(told["shots"], training_images(run.metrics)) or "all pictures",
        f"seed{'s' * (len(run.seeds) > 1)} {' '.join(map(str, run.seeds))}",
        told["backbone"],
        f"openworld {__version__}",
    )
    return " · ".join(parts)


def _facts(run: OpenWorldShiftRun) -> Iterator[tuple[str, str]]:
    yield "seeds", " ".join(map(str, run.seeds))
    yield "records", str(sum(map(len, run.records.values())))
    yield "looks in the pool", ", ".join(run.any["pool"]["styles"])
