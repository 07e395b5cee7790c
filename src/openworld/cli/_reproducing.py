"""Carry out the plan of a reproduction: say its cost, do its runs, put its tables and figures beside the printed."""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from openworld import OpenworldError, __version__
from openworld.cli import console
from openworld.evaluations.running import RunOptions, machine_of

DEPARTS = 3
"""Exit code where a number is farther from the printed one than its tolerance."""

MANY = 13
"""Tables beyond which the screen shows a line of each, and the page the tables themselves."""


def carry_out_plan(
    plan,
    options: RunOptions,
    *,
    quiet: bool = False,
    as_json: bool = False,
    only_plan: bool = False,
    accept: bool = False,
    **said: float | str,
) -> None:
    """Everything, in the order in which a reader sees it; the plan alone, or the numbers of zero-shot CLIP alone.

    Args:
        said: `margin` and `show` of `compare_with_paper`.
    """
    from openworld.reproduction.cost import cost, plain_plan
    from openworld.reproduction.series import carry_out_runs, failure, require_data, use_data

    out = console.output(quiet=quiet or as_json)
    if only_plan:
        use_data(plan)
    else:
        require_data(plan)
    counted = cost(plan, options.cache_bytes)
    if only_plan and as_json:
        console.write(json.dumps(plain_plan(plan, counted), indent=1))
        return
    _show_plan(plan, counted, out)
    if only_plan:
        _say_missing(plan, out)
        return
    with console.observer(out) as observer:
        failures = carry_out_runs(plan, options, observer)
    accepted = True
    if len(failures) < len(plan.runs):
        with console.working():
            if accept:
                accepted = _show_acceptance(plan, options, failures, out, as_json=as_json and not quiet)
            else:
                _show_made(plan, options, failures, out, said, as_json=as_json and not quiet)
    if failures:
        raise failure(plan, failures)
    if accepted is False:
        sys.exit(DEPARTS)


def _show_plan(plan, cost, out) -> None:
    """What runs, for which tables, and what it costs."""
    from openworld.report.render import terminal_table

    out.print(" · ".join((f"openworld {__version__}", *plan.headline)), markup=False)
    out.print(terminal_table(cost.table))
    out.print("\n".join((cost.sentence, *plan.sentences)), markup=False)


def _say_missing(plan, out) -> None:
    """Which data sets would have to be downloaded first."""
    from openworld.datasets.checking import require_places

    if plan.downloads and not Path(plan.setup.data).is_dir():
        out.print(
            f"There is no folder {plan.setup.data} yet. It must hold {len(plan.downloads)} data set(s): "
            f"{', '.join(plan.downloads)} (openworld data plan {plan.paper} says where to get each).",
            markup=False,
        )
        return
    try:
        require_places(plan.downloads, plan.setup.data)
    except OpenworldError as error:
        out.print(str(error), style="yellow", markup=False)


def _show_made(
    plan, options: RunOptions, failures: Mapping[str, str], out, said: Mapping[str, float | str], *, as_json: bool
) -> None:
    """Show tables and figures on screen, as files, and on a page."""
    from openworld.reproduction.comparison.page import write_plan

    made = write_plan(plan, options.folder, failures, **said)
    if as_json:
        console.write(json.dumps(made.plain(), indent=1))
    _show_tables(made.comparisons, out)
    for figure in made.figures:
        out.print(f"\n{figure.heading}", markup=False)
        for sentence in figure.sentences:
            out.print(sentence, markup=False, style="dim")
    if made.not_written:
        out.print(made.not_written, markup=False)
    folders = {"tables": plan.tables, "figures": plan.figures}
    places = [f"{name.capitalize()}: {options.folder / name}/" for name, numbers in folders.items() if numbers]
    out.print("\n" + "   ".join([*places, f"Page: {made.page}", f"Runs: {options.folder}/"]), markup=False)


def _show_tables(comparisons, out) -> None:
    """Show every table; of many a line of each."""
    from openworld.report.render import terminal_table
    from openworld.reproduction.comparison.table import sentences, table_of

    for comparison in comparisons:
        out.print()
        if len(comparisons) > MANY:
            out.print(f"{comparison.table.heading}\n  {comparison.sentences[0]}", markup=False)
            continue
        out.print(terminal_table(table_of(comparison)))
        for sentence in sentences(comparison):
            out.print(sentence, markup=False, style="dim")


def _show_acceptance(plan, options: RunOptions, failures: Mapping[str, str], out, *, as_json: bool) -> bool:
    """Show and write the numbers (OUT/tables/acceptance.csv); return whether each is within its tolerance."""
    from openworld._csv import csv_text
    from openworld.report.render import terminal_table
    from openworld.reproduction.acceptance import REASONS, accept
    from openworld.runs.atomic import write_file

    found = accept(plan, options.folder, failures, machine_of(options, plan.runs[0].spec).device)
    rows, path = found.rows, options.folder / "tables" / "acceptance.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, csv_text(tuple(rows[0]), [list(row.values()) for row in rows]).encode())
    if as_json:
        departures = [asdict(departure) for departure in found.departures]
        console.write(json.dumps({"accepted": found.accepted, "numbers": rows, "departures": departures}, indent=1))
    out.print(terminal_table(found.table))
    for sentence in (REASONS[plan.paper], *found.sentences):
        out.print(sentence, markup=False)
    out.print(f"\nNumbers: {path}   Runs: {options.folder}/", markup=False)
    return found.accepted
