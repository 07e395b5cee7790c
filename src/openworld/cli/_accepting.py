"""Show how zero-shot CLIP compares with printed numbers: cell by cell, and which stage departs."""

import json
from collections.abc import Mapping, Sequence

from openworld.cli import console

DEPARTS = 3
"""Exit code where a number is farther from the printed one than its tolerance."""


def say_missing_runs(plan, out):
    """The plan of what is there; what is not there is told."""
    from openworld.reproduction.acceptance import without_missing

    found, missing = without_missing(plan)
    if missing:
        out.print(
            f"Left out is what needs data sets that are not there: {', '.join(missing)} (openworld data check "
            f"{' '.join(missing)} --root {plan.setup.data} says where to get them).",
            style="yellow",
            markup=False,
        )
    return found


def show_acceptance(plan, options, out, failures: Mapping[str, str]) -> bool:
    """On screen and as OUT/tables/acceptance.csv; whether every number is within its tolerance."""
    from openworld.cli._running import machine_of
    from openworld.papers.results import PaperRun
    from openworld.report.render import terminal_table
    from openworld.reproduction.acceptance_cells import CELLS, REASONS, acceptance_table
    from openworld.reproduction.acceptance_sentences import other_sentences
    from openworld.reproduction.acceptance_stages import departures

    runs = [run for run in plan.runs if run.name not in failures]
    stand = [PaperRun(options.folder / run.name, run.datasets, run.methods) for run in runs]
    cells = tuple(CELLS[plan.paper](stand))
    found = departures(runs, options.folder, plan.setup.backbone, options.devices[0])
    others = tuple(other_sentences(runs, cells, machine_of(options, plan.runs[0].spec)))
    path = _keep(options.folder, cells)
    accepted = all(one.within for one in cells)
    if options.as_json and not options.quiet:
        console.write(json.dumps(_as_json(cells, found, others, accepted=accepted), indent=1))
    out.print(terminal_table(acceptance_table(cells)))
    out.print(REASONS[plan.paper], markup=False)
    for sentence in verdict(cells, found):
        out.print(sentence, markup=False)
    for dataset, what in others:
        out.print(f"{dataset}: {what}.", markup=False)
    out.print(f"\nNumbers: {path}   Runs: {options.folder}/", markup=False)
    return accepted


def verdict(cells: Sequence, found: Sequence) -> list[str]:
    """How many numbers are within, what every stage is like, and which stages explain the numbers that depart."""
    from openworld.reproduction.acceptance import STAGES

    departing = [one for one in cells if not one.within]
    told = [f"{len(cells) - len(departing)} of {len(cells)} numbers of zero-shot CLIP are within their tolerances."]
    sound = [stage for stage in STAGES if all(one.stage != stage for one in found)]
    told += [f"Departs in {one.stage}: {one.what}." for one in found]
    told += [f"As they should be: {', '.join(sound)}."] if sound else []
    return told + [_explained(dataset, departing, found) for dataset in dict.fromkeys(one.dataset for one in departing)]


def _explained(dataset: str, departing: Sequence, found: Sequence) -> str:
    metrics = ", ".join(one.metric for one in departing if one.dataset == dataset)
    stages = dict.fromkeys(one.stage for one in found if one.concerns(dataset))
    if stages:
        return f"{dataset} ({metrics}): departs, and so does {' and '.join(stages)}."
    return (
        f"{dataset} ({metrics}): departs, and no stage does: pictures of the same number may be others, or the paper's "
        "sentences, names or weights may not be those it states."
    )


def _keep(folder, cells: Sequence):
    from openworld.report.data_files import csv_text
    from openworld.reproduction.acceptance_cells import acceptance_rows
    from openworld.runs.atomic import write_file

    rows = acceptance_rows(cells)
    path = folder / "tables" / "acceptance.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, csv_text(tuple(rows[0]), [list(row.values()) for row in rows]).encode())
    return path


def _as_json(cells: Sequence, found: Sequence, others: Sequence, *, accepted: bool) -> dict:
    from dataclasses import asdict

    from openworld.reproduction.acceptance_cells import acceptance_rows

    told = {"accepted": accepted, "numbers": acceptance_rows(cells)}
    return told | {"departures": [asdict(one) for one in found], "other_sentences": others}
