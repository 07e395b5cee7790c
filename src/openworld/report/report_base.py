"""What every function of `openworld` returns has these names: numbers, tests, tables, figures and sentences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError, unknown_name
from openworld._types import checked
from openworld.report.figure import FORMATS, Figure
from openworld.report.result_table import result_table
from openworld.report.table import Table
from openworld.report.table_view import TableView
from openworld.results import Comparison, Results
from openworld.results.results import Place
from openworld.runs.outputs import RUN, require_folder


class Named(dict):
    """Things by name, where an unknown name lists the known ones."""

    def __missing__(self, name: str):
        raise unknown_name("name in this report", str(name), self)


class ReportBase:
    """A run, or what a command found, as `ow.*` returns it.

    A subclass offers `results` and `verdict`, and may offer `_all_tables` and `_all_figures`.
    """

    results: Results
    """Every number as a row: `.where(...)`, `.value(...)`, `.to_arrow()`, `.to_pandas()`, `.to_dict()`."""
    verdict: tuple[str, ...]
    """What the numbers mean, in sentences, the main one first."""

    def _all_tables(self) -> Iterable[Table]:
        """The tables, the main one first."""
        return ()

    def _all_figures(self) -> Iterable[Figure]:
        """The figures, in the order of the page."""
        return ()

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every test, corrected for their number."""
        return self.results.comparisons

    @property
    def tables(self) -> dict[str, TableView]:
        """The tables by name, the main one first: `.to_latex()`, `.to_markdown()`, `.to_csv()`."""
        return Named({table.name: TableView(table) for table in self._all_tables()})

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures by name; `.save("figure.pdf")` and `.draw(axes)` need `pip install matplotlib`."""
        return Named({figure.name: figure for figure in self._all_figures() if figure.charts})

    @property
    def main_metrics(self) -> list[str]:
        """The scores of the main table, by key."""
        scores = [key for key, metric in self.results.metrics().items() if metric.is_score]
        shown = {column.metric.key for table in list(self._all_tables())[:1] for column in table.columns}
        return [key for key in scores if key in shown] or scores[:1]

    @checked
    def table(
        self,
        metrics: Sequence[str] = (),
        *,
        show: str = "interval",
        where: Mapping[str, Place] | None = None,
    ) -> TableView:
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
        label = next((table.label for table in self._all_tables()), "")
        return TableView(result_table(self.results, metrics, show=show, where=where, label=label))

    @checked
    def to_latex(self, metrics: Sequence[str] = (), **options: Any) -> str:
        """The table of `table` for LaTeX, with booktabs; takes what that takes."""
        return self.table(metrics, **options).to_latex()

    @checked
    def to_markdown(self, metrics: Sequence[str] = (), **options: Any) -> str:
        """The table of `table` for a README or a wiki; takes what that takes."""
        return self.table(metrics, **options).to_markdown()

    def to_dict(self) -> dict[str, Any]:
        """The sentences, the rows and the tests as plain lists and dicts; fractions, not rounded."""
        return {"verdict": list(self.verdict), **self.results.to_dict()}

    @checked
    def save_figures(
        self,
        folder: Path | str,
        form: str = "pdf",
        progress: Callable[[str, int, int], None] = lambda *_: None,
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
        require_folder("--output", Path(folder), own=(RUN,))
        paths = []
        for name, figure in self.figures.items():
            progress(f"saving {name}", len(paths), len(self.figures))
            paths.append(figure.save(Path(folder) / f"{name}.{form}"))
        return tuple(paths)
