"""What a command on one's own data says: its numbers as data, sentences and tables for a terminal, and a page."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openworld import _html
from openworld._terminal import as_text
from openworld.report.class_names import read_audits
from openworld.report.figure import Figure
from openworld.report.page import Page, figures_of, render, write_page
from openworld.report.provenance import Part
from openworld.report.render import plain_html_table, terminal_table
from openworld.report.report import Report
from openworld.report.table import Table
from openworld.results import Results
from openworld.runs.atomic import write_file
from openworld.runs.outputs import GENERATED, MARKS, RUN, require_file, require_folder


@dataclass(frozen=True, eq=False, repr=False)
class CommandReport(Report):
    """What a command found; a `Story` without a run folder.

    Args:
        results: every number.
        terminal_tables: what a terminal shows, the main one first.
        page: everything; its verdict begins with the answer in one sentence.
        text: sentences of a terminal below the main table.
        notes: what speaks against the answer, fainter, at the end.
        made: facts about how it was made, by name.
        found: what the command found, as its own type.
        json: the same as JSON text.
        files: {name: content} of what is kept beside the page; None of a file that this report does not have.
        scores: files, or columns, of the scores that it is about, for `openworld.label_plan`; of images those that
            `out` keeps.
    """

    results: Results
    terminal_tables: tuple[Table, ...]
    page: Page
    text: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)
    found: Any = None
    json: str = ""
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    scores: tuple[Any, ...] = ()

    @property
    def verdict(self) -> tuple[str, ...]:
        return self.page.verdict

    def _all_tables(self) -> tuple[Table, ...]:
        return self.terminal_tables

    def _all_figures(self) -> Iterator[Figure]:
        return figures_of(self.page.sections)

    def show(self, out) -> None:
        """Print the answer, the tables and the sentences on a rich console."""
        out.print(self.page.verdict[0], style="bold", markup=False)
        for place, table in enumerate(self.terminal_tables):
            out.print()
            out.print(terminal_table(table))
            if not place:
                out.print()
                for sentence in self.text:
                    out.print(sentence, markup=False)
        out.print()
        for note in self.notes:
            out.print(note, style="dim", markup=False)

    def html(self, folder: Path | None = None) -> str:
        """Return the page; the same bytes for the same report and audit of class names in the folder."""
        audits = () if folder is None else read_audits(folder)
        made = (Part("To do it again", facts=tuple(self.made.items())),)
        return render(self.page, self.results, audits=audits, made=made)

    def write(self, folder: Path) -> Path:
        """Write `report.html`, all results as `results.parquet`, and the files; return the page's path.

        Files of an earlier report that this one does not have are removed. Commands look before their work whether the
        folder is another's; the records of a run are never written over.
        """
        require_folder("folder", folder, own=set(MARKS) - {RUN, GENERATED}, pages=None)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            if content is None:
                (folder / name).unlink(missing_ok=True)
            else:
                write_file(folder / name, content)
        write_file(folder / "results.parquet", self.results.to_parquet())
        return write_page(folder, None, self.html(folder))

    def save_report(self, path: Path | str) -> Path:
        """Write the page as one file, and return its path."""
        require_file("path", Path(path))
        return write_page(Path(path).parent, path, self.html())

    def __repr__(self) -> str:
        return as_text(self.show)

    def _repr_html_(self) -> str:
        sentences = (self.page.verdict[0], *self.text, *self.notes)
        return _html.block(sentences, *map(plain_html_table, self.terminal_tables[:1]))
