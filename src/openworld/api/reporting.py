"""The report of a finished run written again: `openworld report`."""

import io
from pathlib import Path

from openworld.api.arguments import OutputFile
from openworld.api.finished_runs import plain_records
from openworld.core.console import observing
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import checked

HUB_FORMS = ("hub", "card")
"""What goes into a model card: evaluation entries, and a section."""


@checked
def report(
    folder: Path | str, out: Path | str | None = None, *, table: str = "", of: str = "", figures: str = ""
) -> str:
    """Write the report of a finished run again from its records: one HTML file, or tables, or figures for a paper.

    ```
    openworld report runs/demo --table latex --out tables.tex
    openworld report runs/demo --figures pdf
    openworld report runs/demo --table card --of GMoP
    ```

    Args:
        folder: that of a run; it holds run.json.
        out: where to write the page (default report.html in the folder), the tables of `table`, or the folder of
            `figures` (default the folder figures of the run).
        table: print the numbers instead, as: text, csv, markdown, latex or json; as parquet into `out`; as hub
            (evaluation entries for the head of a model card) or card (a section of one).
        of: beside `table` hub or card: only this learner, detector or method.
        figures: save every figure for a paper instead, as: pdf, svg or png, at column width. Needs matplotlib: pip
            install 'openworld[plots]'.

    Returns:
        The table, or where what was written lies.

    Raises:
        OpenworldError: no run there, a form that it does not have, a place that must not be written over.
    """
    from openworld.evaluations.finished_runs import read_report

    if table and figures:
        raise OpenworldError("--table and --figures were both given; ask for one, and then for the other.")
    if of and table not in HUB_FORMS:
        raise OpenworldError("--of goes with --table hub or --table card; leave it out, or ask for one of them.")
    if table:
        return _table(Path(folder), None if out is None else Path(out), table, of)
    if not figures:
        return f"Report: {read_report(folder).save_report(out)}"
    goal = Path(out or Path(folder, "figures"))
    with observing() as observer:
        paths = read_report(folder).save_figures(goal, figures, observer.progress)
    return f"Figures: {', '.join(path.name for path in paths)} in {goal}/"


def _table(folder: Path, out: Path | None, form: str, of: str) -> str:
    """Return the numbers of a finished run in a form, or where they were written."""
    from openworld.evaluations import report_of
    from openworld.evaluations.finished_runs import evaluation_name
    from openworld.report.report import FORMS
    from openworld.runs import readable_json
    from openworld.runs.atomic import write_file

    if out is not None:
        OutputFile().admit(out, "out", {"folder": folder})
    has_report = bool(report_of(evaluation_name(folder)))
    forms = ("text", *FORMS, *HUB_FORMS) if has_report else ("json",)
    if form not in forms:
        raise unknown_name(f"table form of a run of {evaluation_name(folder)}", form, forms)
    if form == "parquet" and out is None:
        raise OpenworldError("a Parquet file is no text; say where it goes: --out results.parquet.")
    content = _content(folder, form, of) if has_report else readable_json(plain_records(folder))
    if out is None:
        return content if isinstance(content, str) else content.decode()
    write_file(out, content if isinstance(content, bytes) else content.encode())
    return f"Table: {out}"


def _content(folder: Path, form: str, of: str) -> str | bytes:
    from openworld.core.console import output
    from openworld.evaluations.finished_runs import read_report

    if form in HUB_FORMS:
        from openworld.api.exchange import model_card, model_index

        return (model_index if form == "hub" else model_card)(folder, of)
    if form != "text":
        return read_report(folder).export(form)
    screen = output(file=io.StringIO())
    read_report(folder).show(screen)
    return screen.file.getvalue()
