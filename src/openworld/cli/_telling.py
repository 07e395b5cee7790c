"""What is told of the records of a run, protocol by protocol: a line of a table and a file each.

A file of this kind holds

    load(folder)                           the run, its records verified
    build(folder, output=None, run=None)   the page; returns its path; a run that is loaded may be read no second time
    say(run, out)                          what a terminal shows after a run
    TABLES                                 by form a function of (run, out): what `openworld report --table` shows
    export(run, form)                      every other form, as text
    MORE                                   where else to look, with {folder} in the place of the run's

and, where two runs can be compared, `compare(first, second, of, out, as_json=...)`.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from openworld.cli import console

TOLD_BY = {
    "recognition": "_tell_recognition",
    "generalisation": "_tell_generalisation",
    "dynamic": "_tell_dynamic",
    "accuracy-estimation": "_tell_accuracy_estimation",
    "incremental-shift": "_tell_incremental_shift",
    "open-world-by-shift": "_tell_open_world_by_shift",
    "decomposed-zero-shot": "_tell_decomposed_zero_shot",
}


def telling(protocol: str) -> ModuleType:
    """What tells of the runs of a protocol; imported late."""
    return import_module(f"openworld.cli.{TOLD_BY[protocol]}")


def telling_of(folder: Path) -> ModuleType:
    """What tells of the run in a folder; of a run of no known protocol recognition, which says what it misses."""
    from openworld.report import protocol_of

    protocol = protocol_of(folder)
    return telling(protocol if protocol in TOLD_BY else "recognition")


def comparing(first: Path, second: Path) -> ModuleType:
    """What compares two runs: that of their protocol, if it is one and can; else recognition."""
    one = telling_of(first)
    return one if hasattr(one, "compare") and telling_of(second) is one else telling("recognition")


def say_run(protocol: str, folder: Path, out, *, as_json: bool) -> None:
    """The page of a run that has just ended, its tables, and where things lie."""
    told = telling(protocol)
    run = told.load(folder)
    page = told.build(folder, run=run)
    if as_json:
        console.write(told.export(run, "json"))
        return
    told.say(run, out)
    out.print(f"Report: {page}   Records: {folder}/   {told.MORE.format(folder=folder)}")


def report_run(folder: Path, output: Path | None, form: str, out) -> None:
    """The page of a finished run made again; or with a form its tables instead."""
    told = telling_of(folder)
    if not form:
        console.write(f"Report: {told.build(folder, output=output)}")
        return
    run = told.load(folder)
    if form in told.TABLES:
        told.TABLES[form](run, out)
        return
    console.write(told.export(run, form))
