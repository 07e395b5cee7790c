"""The page of a run of decomposed zero-shot accuracy, in the template of every page, from its records alone."""

from pathlib import Path

from openworld import __version__
from openworld.evaluations.decomposed_zero_shot.run import DecomposedRun, load_decomposed
from openworld.evaluations.decomposed_zero_shot.tables import decomposed_grid, decomposed_verdict, export_decomposed
from openworld.report.class_names import names_section, read_audits
from openworld.report.data_files import csv_address
from openworld.report.page import fill, write_page
from openworld.report.provenance import parts_of
from openworld.report.series_style import looks


def build_decomposed(folder: Path | str, *, output: Path | str | None = None, run: DecomposedRun | None = None) -> Path:
    """Write the page; as `build` does. `run`, of `load_decomposed`, spares reading the records again."""
    return write_page(folder, output, render_decomposed(folder, run))


def render_decomposed(folder: Path | str, run: DecomposedRun | None = None) -> str:
    """The page as HTML text; the same bytes for the same records."""
    run = run or load_decomposed(folder)
    chosen, seeds = looks(run.methods, []), " ".join(map(str, run.seeds))
    return fill(
        chosen,
        title="What do the halves of a feature know?",
        subtitle=f"{' + '.join(run.rows)} · seeds {seeds} · {run.any['backbone']} · openworld {__version__}",
        legend_of="Methods",
        verdict=decomposed_verdict(run),
        overview=None,
        tables=[decomposed_grid(run, chosen)],
        further=[],
        numbers=csv_address(export_decomposed(run, "csv")),
        figures=[],
        class_names=names_section(read_audits(folder)),
        made=parts_of(run.given, run.resolved, run.provenance, (("seeds", seeds),)),
    )
