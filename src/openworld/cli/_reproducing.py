"""Carry out the plan of a reproduction: say its cost, do its runs, put its tables beside the printed ones."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.cli import console
from openworld.cli._run_reports import show_run
from openworld.cli._running import RunOptions, SeriesProgress, count_workers, perform

MANY = 13
"""Tables beyond which the screen shows a line of each, and the page the tables themselves."""


def carry_out_plan(plan, options: RunOptions, *, only_plan: bool = False, accept: bool = False) -> None:
    """Everything, in the order in which a reader sees it; the plan alone, or the numbers of zero-shot CLIP alone."""
    from openworld import datasets
    from openworld.cli import _plan_words as words
    from openworld.cli._accepting import DEPARTS, say_missing_runs, show_acceptance
    from openworld.datasets.checking import require_places

    out = console.output(quiet=options.quiet or options.as_json)
    if plan.downloads and Path(plan.setup.data).is_dir():
        datasets.use_root(plan.setup.data)
    if accept and not only_plan:
        plan = say_missing_runs(plan, out)
    if not only_plan:
        require_places(plan.downloads, plan.setup.data)
    cost = _cost(plan, options)
    if only_plan and options.as_json:
        console.write(json.dumps(words.plan_as_json(plan, cost), indent=1))
        return
    words.say_plan(plan, cost, out)
    if only_plan:
        words.say_missing(plan, out)
        return
    failures = _perform_all(plan, options, out)
    accepted = True
    if len(failures) < len(plan.runs):
        with console.working():
            show = show_acceptance if accept else _show_tables
            accepted = show(plan, options, out, failures)
    if failures:
        _fail(failures, plan)
    if accepted is False:
        sys.exit(DEPARTS)


def _cost(plan, options: RunOptions):
    from openworld.reproduction.cost import cost

    if options.cache_limit is None:
        return cost(plan)
    return cost(plan, count_workers(options, [run.spec for run in plan.runs]), options.cache_limit)


def _perform_all(plan, options: RunOptions, out) -> dict[str, str]:
    """Every run in turn; one that fails does not keep the others from being done. Returns {failed run: why}."""

    silent, failures, before = console.output(quiet=True), {}, 0
    for place, run in enumerate(plan.runs, start=1):
        title = f"[{place}/{len(plan.runs)}] {run.name}"
        series = SeriesProgress(f"{title}: ", before, plan.units, _siblings(options, run))
        started = time.perf_counter()
        try:
            perform(run.spec, run.spec, replace(options, folder=options.folder / run.name, series=series), silent)
            show_run(options.folder / run.name, silent, as_json=False)
        except OpenworldError as error:
            failures[run.name] = str(error)
            out.print(f"{title}: failed", style="red", markup=False)
        else:
            out.print(f"{title}: done in {console.duration(time.perf_counter() - started)}", markup=False)
        before += run.units
    return failures


def _siblings(options: RunOptions, run) -> tuple[Path, ...]:
    """Every other run that lies in the folder, whichever plan it was made for."""
    found = sorted(options.folder.glob("*/run.json"))
    return tuple(path.parent for path in found if path.parent.name != run.name)


def _fail(failures: Mapping[str, str], plan) -> None:
    """Say which runs failed, and which tables lack them; what is done is kept."""
    from openworld.cli._plan_words import tables_in_words

    failed = [run for run in plan.runs if run.name in failures]
    listed = "".join(f"\n- {run.name} (for {tables_in_words(run.tables)}): {failures[run.name]}" for run in failed)
    error = OpenworldError(
        f"{len(failed)} of {len(plan.runs)} runs failed, and {_lacking(failures, plan)}; what is done is kept, and the "
        f"same command goes on from there.{listed}"
    )
    error.exit_code = 1
    raise error


def _lacking(failures: Mapping[str, str], plan) -> str:
    """Which tables are not made, and that others lack what failed."""
    from openworld.cli._plan_words import tables_in_words

    without = _without_runs(plan, failures)
    if len(without) == len(plan.tables):
        return "no table is made"
    return f"{tables_in_words(without)} cannot be made" if without else "the tables that need them were made without"


def _without_runs(plan, failures: Mapping[str, str]) -> tuple[str, ...]:
    """The tables none of whose runs succeeded."""
    made = {number for run in plan.runs if run.name not in failures for number in run.tables}
    return tuple(number for number in plan.tables if number not in made)


def _show_tables(plan, options: RunOptions, out, failures: Mapping[str, str]) -> None:
    """On screen, as files, and on a page."""
    from openworld.report.render import terminal_table
    from openworld.reproduction.comparison.compared_results import compared_results
    from openworld.reproduction.comparison.page import write_comparison_page
    from openworld.reproduction.comparison.table import sentences, table_of

    found = comparisons(plan, options.folder, failures)
    _write_tables(plan, options.folder, found)
    page = write_comparison_page(options.folder, found)
    if options.as_json and not options.quiet:
        console.write(json.dumps([_as_json(one, compared_results([one]).records()) for one in found], indent=1))
    for one in found:
        out.print()
        if len(found) > MANY:
            out.print(f"{one.table.heading}\n  {one.sentences[0]}", markup=False)
            continue
        out.print(terminal_table(table_of(one)))
        for sentence in sentences(one):
            out.print(sentence, markup=False, style="dim")
    out.print(f"\nTables: {options.folder / 'tables'}/   Page: {page}   Runs: {options.folder}/", markup=False)


def _write_tables(plan, folder: Path, found: Sequence) -> None:
    """Every table in every form, and none of an earlier call whose runs failed this time."""
    from openworld.reproduction.comparison.table import WRITERS

    made = {one.table.number: one for one in found}
    for number, (form, write) in product(plan.tables, WRITERS.items()):
        path = folder / "tables" / f"table-{number}.{form}"
        if number in made:
            _write(path, write(made[number]))
        else:
            path.unlink(missing_ok=True)


def comparisons(plan, folder: Path, failures: Mapping[str, str] | None = None) -> list:
    """Every table of a plan whose runs lie in a folder, beside the printed one.

    Runs that failed are left out, and named under every table that lacks them; a table of which no run is left is
    not made.
    """
    from openworld.papers.results import PaperRun
    from openworld.reproduction.comparison.compare import compare_with_paper
    from openworld.reproduction.paper_results import paper_results

    failed, changed, found = failures or {}, plan.setup.sentences, []
    read = {run.name: PaperRun(folder / run.name, run.datasets, run.methods) for run in plan.runs}
    for number in plan.tables:
        names = [run.name for run in plan.runs if number in run.tables]
        missing = [name for name in names if name in failed]
        remarks = [f"Missing here, because their runs failed: {', '.join(missing)}."] if missing else []
        if len(missing) < len(names):
            ours = paper_results(plan.paper, number, [read[name] for name in names if name not in failed])
            found.append(compare_with_paper(plan.paper, number, ours, remarks=(*changed, *remarks)))
    return found


def _as_json(one, numbers: Sequence[Mapping]) -> dict:
    return {"table": one.table.number, "title": one.table.heading, "says": list(one.sentences), "numbers": numbers}


def _write(path: Path, text: str) -> None:
    from openworld.runs.atomic import write_file

    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, text.encode())
