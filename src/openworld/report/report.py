"""What a run or a command says, in every form: numbers as data, tables for a terminal and for papers, and a page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openworld.core import representation
from openworld.core.console import Ending
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.terminal import as_text
from openworld.core.types import checked
from openworld.report.data_files import json_text
from openworld.report.figure import FORMATS, Figure
from openworld.report.page import Page, figures_of, render
from openworld.report.provenance import parts_of
from openworld.report.render import latex_table, markdown_table, plain_html_table, terminal_table
from openworld.report.result_table import result_table
from openworld.report.table import Table
from openworld.results import Comparison, Results, RunFolder
from openworld.results.results import Place
from openworld.runs.atomic import write_file
from openworld.runs.outputs import GENERATED, MARKS, RUN, require_file, require_folder

if TYPE_CHECKING:
    import pyarrow
    from rich.console import Console

FORMS = ("csv", "json", "parquet", "markdown", "latex")
"""CSV, JSON and Parquet hold all results, a row per number; Markdown and LaTeX the tables."""

IMAGES = "images"  # the table of a record with a row per image


class Named(dict):
    """Things by name, where an unknown name lists the known ones."""

    def __missing__(self, name: str):
        raise unknown_name("name in this report", str(name), self)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What every function of `openworld` returns: a finished run, or what a command found.

    A notebook shows its verdict and its main table.

    Args:
        results: every number, and every test.
        terminal_tables: what a terminal shows, the main one first.
        page: everything; its verdict begins with the answer in one sentence.
        text: sentences of a terminal below the main table; None for those of the verdict behind the first.
        notes: what speaks against the answer, fainter, at the end.
        made: facts about how it was made, by name.
        found: what the command found, as its own type.
        json: the same as JSON text, of a command that writes its own; "" for what `to_dict` says.
        files: {name: content} of what is kept beside the page; None of a file that this report does not have.
        scores: files, or columns, of the scores that it is about, for `openworld.label_plan`; of images those that
            `out` keeps.
        papers: the tables of Markdown and LaTeX, where a terminal shows fewer or shorter ones.
        run_folder: what it was read from; None of a command that keeps no records.
        title: what sentences call it; "" for its folder.
        facts: what JSON says beside the sentences and the numbers, by name, as plain values.
        headline: key of the metric by which entities are compared; "" where none is.
        ending: how the command that makes it ends.

    >>> import openworld as ow
    >>> run = ow.score({"side": ["base", "base", "new"], "score": [0.9, 0.2, 0.4], "correct": [1, 1, 1]})
    >>> [row.value.value for row in run.results.where(metric="openworld_auc")]
    [0.5]
    """

    results: Results
    terminal_tables: tuple[Table, ...]
    page: Page
    text: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)
    found: Any = None
    json: str = ""
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    scores: tuple[Any, ...] = ()
    papers: tuple[Table, ...] = ()
    run_folder: RunFolder | None = None
    title: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    headline: str = ""
    ending: Ending = Ending()

    @property
    def verdict(self) -> tuple[str, ...]:
        """What the numbers mean, in sentences, the main one first."""
        return self.page.verdict

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every test, corrected for their number."""
        return self.results.comparisons

    @property
    def tables(self) -> dict[str, Table]:
        """The tables by name, the main one first: `.to_latex()`, `.to_markdown()`, `.to_csv()`."""
        return Named({table.name: table for table in (*self.terminal_tables, *self.papers)})

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures by name; `.save("figure.pdf")` and `.draw(axes)` need `pip install matplotlib`."""
        return Named({figure.name: figure for figure in figures_of(self.page.sections) if figure.charts})

    @property
    def _main_table(self) -> tuple[Table, ...]:
        """The main table, where there is one."""
        return (*self.terminal_tables, *self.papers)[:1]

    @property
    def main_metrics(self) -> list[str]:
        """The scores of the main table, by key."""
        scores = [key for key, metric in self.results.metrics().items() if metric.is_score]
        shown = {column.metric.key for table in self._main_table for column in table.columns}
        return [key for key in scores if key in shown] or scores[:1]

    @checked
    def table(
        self, metrics: Sequence[str] = (), *, show: str = "interval", where: Mapping[str, Place] | None = None
    ) -> Table:
        """A table of chosen numbers: learners, detectors or methods in rows, metrics in columns.

        Args:
            metrics: keys such as "openworld_auc"; none for those of the main table.
            show: what stands behind a number: "interval" (95 %), "deviation" (± over seeds) or "".
            where: only numbers of this place, such as {"shots": 4}; without it those of the run as a whole.

        Raises:
            OpenworldError: another `show`, a metric that is not among the results, or no number in that place.
        """
        metrics = metrics or self.main_metrics
        if not metrics and self.tables:  # of numbers that are no scores, such as estimates
            return next(iter(self.tables.values()))
        label = next((table.label for table in self._main_table), "")
        return result_table(self.results, metrics, show=show, where=where, label=label)

    @checked
    def to_latex(self, metrics: Sequence[str] = (), **options: Any) -> str:
        """The table of `table` for LaTeX, with booktabs; takes what that takes."""
        return self.table(metrics, **options).to_latex()

    @checked
    def to_markdown(self, metrics: Sequence[str] = (), **options: Any) -> str:
        """The table of `table` for a README or a wiki; takes what that takes."""
        return self.table(metrics, **options).to_markdown()

    @checked
    def save_figures(
        self, folder: Path | str, form: str = "pdf", progress: Callable[[str, int, int], None] = lambda *_: None
    ) -> tuple[Path, ...]:
        """Write every figure for a paper, `<name>.<form>`, and return their paths.

        Args:
            folder: where they go; made where it is missing.
            form: "pdf", "svg" or "png".
            progress: called before each figure with its name, how many are saved, and how many there are.

        Raises:
            OpenworldError: for another form, or without matplotlib.
        """
        forms = [suffix.removeprefix(".") for suffix in FORMATS]
        if form not in forms:
            raise unknown_name("figure form", form, forms)
        if not self.figures:
            raise OpenworldError("there is no figure in this report.")
        require_folder("--out", Path(folder), own=(RUN,))
        paths = []
        for name, figure in self.figures.items():
            progress(f"saving {name}", len(paths), len(self.figures))
            paths.append(figure.save(Path(folder) / f"{name}.{form}"))
        return tuple(paths)

    @property
    def records(self) -> RunFolder:
        """The records of the run.

        Raises:
            OpenworldError: a report without a run.
        """
        if self.run_folder is None:
            raise OpenworldError(f"this report of {self.results.evaluation} is not of a run, so it has no folder.")
        return self.run_folder

    @property
    def folder(self) -> Path:
        """Where the records of the run lie; raises as `records`."""
        return self.records.folder

    @property
    def spec(self) -> Mapping[str, Any]:
        """The spec of the run with every default filled in; raises as `records`."""
        return self.records.resolved

    @cached_property
    def images(self) -> "pyarrow.Table":
        """What was kept of every image (id, label, prediction, scores), a row per unit and image.

        Raises:
            OpenworldError: a report without a run, or a file that is not as it was written.
        """
        import pyarrow

        tables = []
        for record in self.records.records:
            if IMAGES in record.tables:
                columns = {name: list(column) for name, column in record.table(IMAGES).items()}
                count = len(next(iter(columns.values()), ()))
                tables.append(pyarrow.table({"unit": [record.name] * count} | columns))
        return pyarrow.concat_tables(tables, promote_options="permissive") if tables else pyarrow.table({"unit": []})

    def show(self, out: "Console") -> None:
        """Print the answer, the tables and the sentences on a rich console."""
        if self.verdict:
            out.print(self.verdict[0], style="bold", markup=False)
        text = self.verdict[1:] if self.text is None else self.text
        for place, table in enumerate(self.terminal_tables):
            out.print()
            out.print(terminal_table(table))
            if not place:
                out.print()
                for sentence in text:
                    out.print(sentence, markup=False)
        if not self.terminal_tables:
            for sentence in text:
                out.print(sentence, markup=False)
        if self.notes:
            out.print()
        for note in self.notes:
            out.print(note, style="dim", markup=False)

    def to_dict(self) -> dict[str, Any]:
        """The sentences, the facts, the tests and the rows as plain lists and dicts; fractions, not rounded."""
        return {"verdict": list(self.verdict), **self.facts, **self.results.to_dict()}

    def to_json(self) -> str:
        """What a command prints with `--json`: `to_dict` as JSON text."""
        return self.json or json_text(self.to_dict())

    @checked
    def export(self, form: str) -> str | bytes:
        """The numbers as "csv", "json" or "parquet", or the tables as "markdown" or "latex".

        Raises:
            OpenworldError: for another form.
        """
        if form not in FORMS:
            raise unknown_name("table form", form, FORMS)
        if form in ("markdown", "latex"):
            write = markdown_table if form == "markdown" else latex_table
            return "\n".join(map(write, self.papers or self.terminal_tables))
        return {"csv": self.results.to_csv, "json": self.results.to_json, "parquet": self.results.to_parquet}[form]()

    def html(self, folder: Path | None = None) -> str:
        """Return the page; the same bytes for the same report and audit of class names in the folder."""
        from openworld.report.class_names import read_audits

        if self.run_folder is not None:
            run = self.run_folder
            made, folder = parts_of(run.given, run.resolved, run.provenance, self.page.facts), run.folder
        else:
            facts = (*self.made.items(), *self.page.facts)
            made = [("", facts)] if facts else []
        return render(self.page, self.results, audits=read_audits(folder) if folder else (), made=made)

    def write(self, folder: Path | None = None) -> Path:
        """Write `report.html`, all results and the files; return the page's path.

        Of a run, `results.parquet` is the same bytes however often it is made; what tells how long something took is in
        `times.parquet`. Files of an earlier report that this one does not have are removed. Commands look before their
        work whether the folder is another's; the records of a run are never written over.

        Args:
            folder: where it goes; None for that of the run.
        """
        if folder is None or self.run_folder is not None:
            folder = self.folder
            results, times = self.results.apart_from_times()
        else:
            require_folder("folder", folder, own=set(MARKS) - {RUN, GENERATED}, pages=None)
            folder.mkdir(parents=True, exist_ok=True)
            results, times = self.results, None
        for name, content in self.files.items():
            if content is None:
                (folder / name).unlink(missing_ok=True)
            else:
                write_file(folder / name, content)
        write_file(folder / "results.parquet", results.to_parquet())
        if times:
            write_file(folder / "times.parquet", times.to_parquet())
        page = folder / "report.html"
        write_file(page, self.html(folder).encode())
        return page

    @checked
    def save_report(self, path: Path | str | None = None) -> Path:
        """Write the page as one file, and return its path.

        Args:
            path: of the file; None for `report.html` in the folder of the run, with all results beside it.
        """
        if path is None:
            return self.write()
        path, own = Path(path), None if self.run_folder is None else self.folder / "report.html"
        inputs = () if self.run_folder is None else (self.folder,)
        require_file("path" if own is None else "--out", path, inputs=inputs, own=own)
        write_file(path, self.html().encode())
        return path

    def __repr__(self) -> str:
        return as_text(self.show)

    def _repr_html_(self) -> str:
        sentences = (*self.verdict[:1], *(self.verdict[1:] if self.text is None else self.text), *self.notes)
        return representation.block(sentences, *map(plain_html_table, self.terminal_tables[:1]))
