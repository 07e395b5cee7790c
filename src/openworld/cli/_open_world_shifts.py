"""What the command line says of open-world quality by measured shift: after a run, and of a finished one."""

from pathlib import Path


def say_open_world_shifts(folder: Path, out, *, as_json: bool) -> None:
    """The page, and learners and estimators by levels."""
    from openworld import report

    run = report.load_open_world_shifts(folder)
    page = report.build_open_world_shifts(folder, run=run)
    if as_json:
        print(report.export_open_world_shifts(run, "json"), end="")
        return
    _say_tables(run, out)
    out.print(f"Report: {page}   Records: {folder}/   Cell by cell: openworld report {folder} --table cells")


def report_open_world_shifts(folder: Path, output: Path | None, table: str) -> None:
    """The page made again, or the tables in another form."""
    from openworld import report
    from openworld.cli import console

    if not table:
        print(f"Report: {report.build_open_world_shifts(folder, output=output)}")
        return
    run = report.load_open_world_shifts(folder)
    if table == "text":
        _say_tables(run, console.output())
        return
    print(report.export_open_world_shifts(run, table), end="")


def _say_tables(run, out) -> None:
    from openworld.report.open_world_shifts import Levels, open_world_shift_verdict, terminal_open_world_shifts

    levels = Levels(run)
    for heading, table in terminal_open_world_shifts(levels):
        out.print(f"\n{heading}", style="bold", markup=False)
        out.print(table)
    out.print()
    for sentence in open_world_shift_verdict(levels):
        out.print(sentence, markup=False)
