"""What one run says, in every form: its numbers as data, its tables for a terminal and for papers, and its page."""

from dataclasses import dataclass
from pathlib import Path

from openworld._errors import unknown_name
from openworld.report.class_names import read_audits
from openworld.report.figure import Figure
from openworld.report.page import Page, figures_of, render, write_page
from openworld.report.provenance import parts_of
from openworld.report.render import latex_table, markdown_table, terminal_table
from openworld.report.table import Table
from openworld.results import Results, RunFolder
from openworld.runs.atomic import write_file
from openworld.runs.outputs import require_file

FORMS = ("csv", "json", "parquet", "markdown", "latex")
"""CSV, JSON and Parquet hold all results, a row per number; Markdown and LaTeX the tables."""


@dataclass(frozen=True, eq=False)
class Story:
    """What one run says.

    Args:
        run: what it was read from.
        results: every number, and every test.
        tables: what a terminal shows, the main one first.
        page: everything.
        text: sentences under the tables of a terminal; None for the verdict of the page.
        papers: the tables of Markdown and LaTeX, where a terminal shows fewer or shorter ones.
    """

    run: RunFolder
    results: Results
    tables: tuple[Table, ...]
    page: Page
    text: tuple[str, ...] | None = None
    papers: tuple[Table, ...] = ()

    def show(self, out) -> None:
        """Print the tables and the sentences on a rich console."""
        for table in self.tables:
            out.print()
            out.print(terminal_table(table))
        out.print()
        for sentence in self.page.verdict if self.text is None else self.text:
            out.print(sentence, markup=False)

    def export(self, form: str) -> str | bytes:
        """The run as text, or as the bytes of a Parquet file.

        Args:
            form: of `FORMS`.

        Raises:
            OpenworldError: for another form.
        """
        if form not in FORMS:
            raise unknown_name("table form", form, FORMS)
        if form in ("markdown", "latex"):
            write = markdown_table if form == "markdown" else latex_table
            return "\n".join(map(write, self.papers or self.tables))
        return {"csv": self.results.to_csv, "json": self.results.to_json, "parquet": self.results.to_parquet}[form]()

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures of the page, by name; those with nothing to draw are left out."""
        return {figure.name: figure for figure in figures_of(self.page.sections) if figure.charts}

    def html(self) -> str:
        """The page; the same bytes for the same records."""
        run = self.run
        made = parts_of(run.given, run.resolved, run.provenance, self.page.facts)
        return render(self.page, self.results, audits=read_audits(run.folder), made=made)

    def write(self, output: Path | str | None = None) -> Path:
        """Write the page, as `report.html` beside the records, and all results; return its path.

        The results lie in `results.parquet`, the same bytes however often the run is made, and in `times.parquet`,
        which has all that tells how long something took, where there is such.

        Args:
            output: where the page goes instead; then nothing else is written.
        """
        page = self.run.folder / "report.html"
        require_file("--output", None if output is None else Path(output), inputs=(self.run.folder,), own=page)
        if output is None:
            results, times = self.results.apart_from_times()
            write_file(self.run.folder / "results.parquet", results.to_parquet())
            if times:
                write_file(self.run.folder / "times.parquet", times.to_parquet())
        return write_page(self.run.folder, output, self.html())
