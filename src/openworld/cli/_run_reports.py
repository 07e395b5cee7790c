"""What the command line shows of finished runs: pages, tables in every form, figures, and two runs side by side.

Runs of an evaluation that brings no report, which only another package's may be, are shown as the records they are.
"""

import io
from dataclasses import replace
from pathlib import Path

from openworld._errors import OpenworldError, unknown_name
from openworld.api.finished_run import open_run
from openworld.cli import console
from openworld.evaluations import EVALUATIONS, PLUGINS, report_of
from openworld.evaluations.each import expand, read_each
from openworld.evaluations.finished_runs import compare_runs, evaluation_name, read_report
from openworld.evaluations.running import RunOptions, carry_out
from openworld.evaluations.several_runs import average_runs
from openworld.report.report import FORMS
from openworld.report.run_comparison import comparison_report
from openworld.runs import RunStore, readable_json
from openworld.runs.atomic import write_file
from openworld.runs.outputs import RUN, require_file, require_folder

HUB_FORMS = ("hub", "card")
"""What goes into a model card: evaluation entries, and a section."""


def run_and_show(spec, given, options: RunOptions, *, quiet: bool = False, as_json: bool = False) -> None:
    """Carry out a run, write its page, and show its tables."""
    out = console.output(quiet=quiet or as_json)
    with console.observer(out) as observer:
        carry_out(spec, given, replace(options, command=console.command()), observer)
    with console.working():
        show_run(options.folder, out, as_json=as_json and not quiet)


def run_each(given, options: RunOptions, *, quiet: bool = False, as_json: bool = False) -> None:
    """Carry out every run of a spec with `[[each]]` in a folder of its own, then show their means.

    All specs are checked, and their data looked for, before the first run begins.
    """
    specs, own = read_each(given), expand(given)
    require_folder("--out", options.folder, pages=(*EVALUATIONS, *PLUGINS.offered()))
    for name in specs:
        require_folder("--out", options.folder / name, own=(RUN,))
    out = console.output(quiet=quiet or as_json)
    for place, (name, spec) in enumerate(specs.items(), start=1):
        out.print(f"[{place}/{len(specs)}] {name}", markup=False)
        run = replace(options, folder=options.folder / name, command=console.command())
        with console.observer(out) as observer:
            carry_out(spec, own[name], run, observer)
        with console.working():
            read_report(run.folder).write()
    if len(specs) < 2:
        return
    report = average_runs({name: options.folder / name for name in specs})
    page = report.write(options.folder)
    if as_json and not quiet:
        console.write(report.results.to_json())
    report.show(out)
    out.print(f"Report: {page}   Runs: {options.folder}/", markup=False)


def show_run(folder: Path, out, *, as_json: bool) -> None:
    """Write the page and the results of a run that has just ended, and show its tables and where things lie."""
    if not _has_report(folder):
        _show_records(folder, out, as_json=as_json)
        return
    report = read_report(folder)
    page = report.write()
    if as_json:
        console.write(report.export("json"))
        return
    report.show(out)
    out.print(f"Report: {page}   Records: {folder}/   All numbers: {folder}/results.parquet")


def write_report(folder: Path, output: Path | None) -> None:
    """Write the page of a finished run anew, beside its records with all results, or alone as `output`."""
    console.write(f"Report: {read_report(folder).save_report(output)}")


def write_table(folder: Path, output: Path | None, form: str, of: str = "") -> None:
    """Print the numbers of a finished run in a form, or write them into a file; `of` one learner alone, for the hub."""
    require_file("--output", output, inputs=(folder,))
    forms = ("text", *FORMS, *HUB_FORMS) if _has_report(folder) else ("json",)
    if form not in forms:
        raise unknown_name(f"table form of a run of {evaluation_name(folder)}", form, forms)
    if form == "parquet" and output is None:
        raise OpenworldError("a Parquet file is no text; say where it goes: --output results.parquet.")
    if form == "text" and output is None:
        read_report(folder).show(console.output())
        return
    content = _content(folder, form, of)
    if output is None:
        console.write(content)
    else:
        write_file(output, content if isinstance(content, bytes) else content.encode())
        console.write(f"Table: {output}")


def save_figures(folder: Path, output: Path | None, form: str) -> None:
    """Save every figure of a finished run as a file of its own."""
    goal = output or folder / "figures"
    with console.observer(console.output()) as observer:
        paths = open_run(folder).save_figures(goal, form, observer.progress)
    names = ", ".join(path.name for path in paths)
    console.write(f"Figures: {names} in {goal}/" if paths else f"{folder} has no figures.")


def show_comparison(first: Path, second: Path, metric: str, *, as_json: bool) -> None:
    """Show two runs side by side; raises as `compare_runs`."""
    report = comparison_report(compare_runs(first, second, metric))
    if as_json:
        console.write(report.to_json())
    else:
        report.show(console.output())


def _content(folder: Path, form: str, of: str) -> str | bytes:
    if not _has_report(folder):
        return _records(folder)
    if form in HUB_FORMS:
        from openworld.api.exchange import model_card, model_index

        return (model_index if form == "hub" else model_card)(folder, of)
    if form != "text":
        return read_report(folder).export(form)
    screen = console.output(file=io.StringIO())
    read_report(folder).show(screen)
    return screen.file.getvalue()


def _show_records(folder: Path, out, *, as_json: bool) -> None:
    if as_json:
        console.write(_records(folder))
        return
    out.print(f"{len(RunStore(folder).records())} records; this evaluation brings no report.")
    out.print(f"Records: {folder}/   Numbers: openworld report {folder} --table json")


def _records(folder: Path) -> str:
    """The metrics of every record, as JSON text."""
    records = RunStore(folder).records()
    return readable_json([{"unit": record.name, "metrics": record.metrics} for record in records]).decode()


def _has_report(folder: Path) -> bool:
    return bool(report_of(evaluation_name(folder)))
