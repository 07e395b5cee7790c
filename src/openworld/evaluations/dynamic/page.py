"""The page of a run of dynamic scenarios: curves and their tables, in the template of every page."""

from collections.abc import Iterator
from pathlib import Path

from openworld import __version__
from openworld.evaluations.dynamic.courses import CourseRun, CourseTable, load_course_run
from openworld.evaluations.dynamic.exports import robustness_csv
from openworld.evaluations.dynamic.figures import critical_difference, curves, split
from openworld.evaluations.dynamic.grids import accuracy_grid, overview_grid, robustness_grid
from openworld.evaluations.dynamic.numbers import scenario_tables
from openworld.evaluations.dynamic.terminal import of_course, of_scenario
from openworld.evaluations.dynamic.verdict import course_verdict
from openworld.report.class_names import names_section, read_audits
from openworld.report.data_files import csv_address
from openworld.report.figure import Figure
from openworld.report.grid import Grid
from openworld.report.page import fill, write_page
from openworld.report.provenance import parts_of, spent
from openworld.report.sentences import listed
from openworld.report.series_style import Look, looks


def build_courses(folder: Path | str, *, output: Path | str | None = None, run: CourseRun | None = None) -> Path:
    """Write the page of a run of dynamic scenarios, from its records alone; as `build` does."""
    return write_page(folder, output, render_courses(folder, run))


def render_courses(folder: Path | str, run: CourseRun | None = None) -> str:
    """The page as HTML text; the same bytes for the same records. `run`, of `load_course_run`, spares reading them."""
    run = run or load_course_run(folder)
    tables, means = run.tables, scenario_tables(run.tables)
    names = list(dict.fromkeys(learner for table in tables for learner in table.learners))
    chosen = looks(names, [tables[0].yardstick])
    shown = [of_scenario(mean) for mean in means]
    return fill(
        chosen,
        title=_title(tables),
        subtitle=_subtitle(tables),
        verdict=course_verdict(tables, means),
        overview=overview_grid(shown, chosen) if len(tables) > 1 else None,
        tables=_grids(run, shown, chosen),
        further=[accuracy_grid(table, chosen, f"further-{place}") for place, table in enumerate(tables, 1)],
        numbers=csv_address(robustness_csv(tables)),
        figures=list(_figures(tables, means, chosen)),
        class_names=names_section(read_audits(folder)),
        made=parts_of(run.given, run.resolved, run.provenance, tuple(_durations(run, names))),
    )


def _grids(run: CourseRun, means, chosen: dict[str, Look]) -> list[Grid]:
    """Means by scenario where there are several courses, then every course."""
    shown = [mean for mean in means if mean.courses > 1] + [of_course(table) for table in run.tables]
    return [robustness_grid(table, chosen, f"table-{place}") for place, table in enumerate(shown, 1)]


def _figures(tables: tuple[CourseTable, ...], means, chosen: dict[str, Look]) -> Iterator[Figure]:
    for mean in means:
        yield curves(mean.courses, chosen)
    taken_apart = split(tables, chosen)
    if taken_apart is not None:
        yield taken_apart
    yield critical_difference([mean.ranking for mean in means], chosen)


def _title(tables: tuple[CourseTable, ...]) -> str:
    return f"{listed(list(dict.fromkeys(table.key.dataset for table in tables)))} while the world changes"


def _subtitle(tables: tuple[CourseTable, ...]) -> str:
    seeds, courses = tables[0].curves[0].seeds, len(tables)
    told = f"seed{'s' * (len(seeds) > 1)} {' '.join(map(str, seeds))}"
    courses = f"{courses} course{'s' * (courses > 1)}"
    return f"{courses} · {len(tables[0].curves)} learners · {told} · openworld {__version__}"


def _durations(run: CourseRun, names: list[str]) -> Iterator[tuple[str, str]]:
    seeds = sorted({record.metrics["seed"] for record in run.records})
    yield "seeds", " ".join(map(str, seeds))
    yield "records", str(len(run.records))
    for learner in names:
        told = spent([record for record in run.records if record.metrics["learner"] == learner])
        if told:
            yield learner, told
