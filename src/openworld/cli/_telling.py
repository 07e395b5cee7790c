"""What the command line says of a run: the story that its evaluation tells, or its records as they are.

Both `_tell_story` and `_tell_records` hold

    load(folder)                           the run, its records verified
    build(folder, output=None, run=None)   the page; returns its path; a run that is loaded is read no second time;
                                           left out where there is no page
    say(run, out)                          what a terminal shows after a run
    TABLES                                 by form a function of (run, out): what `openworld report --table` shows
    FORMS, export(run, form)               every other form, as text, or bytes where it is none
    MORE                                   where else to look, with {folder} in the place of the run's

and, where two runs can be compared, `compare(first, second, of, out, as_json=...)`, with `of` empty where nobody asked.
"""

import io
from importlib import import_module
from pathlib import Path
from types import ModuleType

from openworld._errors import OpenworldError, unknown_name
from openworld.cli import console
from openworld.evaluations import report_of
from openworld.evaluations.stories import read_story
from openworld.report.records import protocol_of
from openworld.report.sentences import listed
from openworld.runs.atomic import write_file


def telling(protocol: str) -> ModuleType:
    """What tells of the runs of a protocol; imported late."""
    return import_module(f"openworld.cli.{'_tell_story' if report_of(protocol) else '_tell_records'}")


def telling_of(folder: Path) -> ModuleType:
    """What tells of the run in a folder; of predictions that were scored, which name no protocol, recognition."""
    return telling(_protocol(folder))


def comparing(first: Path, second: Path) -> ModuleType:
    """What compares two runs.

    Raises:
        OpenworldError: runs of two protocols, or of one whose runs are not compared; it says what to do instead.
    """
    told = [telling_of(folder) for folder in (first, second)]
    known = [one for one in told if hasattr(one, "compare")]
    if len(known) == 2 and known[0].compare is known[1].compare:
        return known[0]
    names = [_protocol(folder) for folder in (first, second)]
    if len(set(names)) > 1:
        raise OpenworldError(
            f"{first} holds a run of {names[0]} and {second} one of {names[1]}; compare two runs of one protocol."
        )
    raise OpenworldError(
        f"two runs of {names[0]} are not compared: it brings no report. Set the numbers side by side: openworld report "
        "RUN --table json."
    )


def _protocol(folder: Path) -> str:
    return protocol_of(folder) or "recognition"


def say_run(protocol: str, folder: Path, out, *, as_json: bool) -> None:
    """The page of a run that has just ended, its tables, and where things lie."""
    told = telling(protocol)
    run = told.load(folder)
    page = f"Report: {told.build(folder, run=run)}   " if hasattr(told, "build") else ""
    if as_json:
        console.write(told.export(run, "json"))
        return
    told.say(run, out)
    out.print(f"{page}Records: {folder}/   {told.MORE.format(folder=folder)}")


def report_run(folder: Path, output: Path | None, form: str, out) -> None:
    """The page of a finished run made again; or with a form its tables instead, in a file where `output` names one."""
    told = telling_of(folder)
    if not form and not hasattr(told, "build"):
        forms = listed([*told.TABLES, *told.FORMS])
        raise OpenworldError(f"runs of {_protocol(folder)} have no page; give --table with {forms}.")
    if not form:
        console.write(f"Report: {told.build(folder, output=output)}")
        return
    if form not in (*told.TABLES, *told.FORMS):
        raise unknown_name(f"table form of a run of {_protocol(folder)}", form, (*told.TABLES, *told.FORMS))
    if form == "parquet" and output is None:
        raise OpenworldError("a Parquet file is no text; say where it goes: --output results.parquet.")
    run = told.load(folder)
    if output is not None:
        content = _text(told, run, form)
        write_file(output, content if isinstance(content, bytes) else content.encode())
        console.write(f"Table: {output}")
    elif form in told.TABLES:
        told.TABLES[form](run, out)
    else:
        console.write(told.export(run, form))


def save_figures(folder: Path, output: Path | None, form: str) -> None:
    """Every figure of a finished run as a file of its own."""
    paths = read_story(folder).save_figures(form, output or folder / "figures")
    console.write(f"Figures: {listed([path.name for path in paths])} in {paths[0].parent}/" if paths else "No figures.")


def _text(told: ModuleType, run, form: str) -> str | bytes:
    """What a form shows, as the content of a file."""
    if form not in told.TABLES:
        return told.export(run, form)
    shown = console.output(file=io.StringIO())
    told.TABLES[form](run, shown)
    return shown.file.getvalue()
