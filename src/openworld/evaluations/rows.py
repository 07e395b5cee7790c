"""The rows of units: every number of a unit as Parquet beside its tables, read again when the run is told.

A unit writes what it measured as results, with its seed where that decides them; a record's JSON keeps what the unit
was: learner, seed, training, counts. The rows of a run are those of its units, joined over seeds
(`openworld.results.join_seeds`), and what tables of images say beyond that.
"""

from collections.abc import Iterable
from dataclasses import replace

from openworld.core.errors import OpenworldError
from openworld.results import Result, Results, RunFolder
from openworld.runs import Record

ROWS = "rows.parquet"  # the attachment of a record with its rows


def results_of_unit(
    evaluation: str, rows: Iterable[Result], *, seed: int | None = None, shared: Iterable[Result] = ()
) -> Results:
    """Return the rows of a unit; `shared` is what every unit of the run says alike, without a seed."""
    of_seed = rows
    if seed is not None:
        of_seed = (replace(row, seeds=(seed,), per_seed=(row.value.value,)) for row in rows)
    return Results(evaluation, (*shared, *of_seed))


def rows_of_unit(
    evaluation: str, rows: Iterable[Result], *, seed: int | None = None, shared: Iterable[Result] = ()
) -> dict[str, bytes]:
    """Return the attachment with the rows of a unit; arguments as for `results_of_unit`."""
    return {ROWS: results_of_unit(evaluation, rows, seed=seed, shared=shared).to_parquet()}


def read_rows(record: Record) -> Results:
    if ROWS not in record.attachments:
        raise OpenworldError(
            f"record {record.name!r} has no rows of results: another version of openworld wrote it, or another "
            "evaluation; run its spec again in an empty folder."
        )
    return Results.from_parquet(record.attachment(ROWS))


def rows_of_run(run: RunFolder) -> tuple[Results, ...]:
    return tuple(map(read_rows, run.records))
