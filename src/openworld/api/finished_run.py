"""A finished run as an object: its numbers, tests, tables, figures, sentences, and the outputs for every image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openworld import _html
from openworld._errors import unknown_name
from openworld.api.table_view import TableView
from openworld.evaluations.stories import read_story
from openworld.report.figure import Figure
from openworld.report.result_table import result_table
from openworld.report.story import Story
from openworld.results import Comparison, Results
from openworld.results.results import Place

if TYPE_CHECKING:
    import pyarrow

IMAGES = "images"


class Named(dict):
    """Things by name, where an unknown name lists the known ones."""

    def __missing__(self, name: str):
        raise unknown_name("name of this run", str(name), self)


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A finished run; at the end of a notebook's cell it shows its verdict and its main table.

    Args:
        story: what its records say.

    >>> import openworld as ow
    >>> run = ow.score({"side": ["base", "base", "new"], "score": [0.9, 0.2, 0.4], "correct": [1, 1, 1]})
    >>> [row.value.value for row in run.results.where(metric="openworld_auc")]
    [0.5]
    """

    story: Story

    @property
    def folder(self) -> Path:
        """Where the records lie."""
        return self.story.run.folder

    @property
    def spec(self) -> Mapping[str, Any]:
        """The spec with every default filled in."""
        return self.story.run.resolved

    @property
    def results(self) -> Results:
        """Every number as a row: `.where(...)`, `.value(...)`, `.to_arrow()`, `.to_pandas()`."""
        return self.story.results

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every test, corrected for their number."""
        return self.results.comparisons

    @property
    def tables(self) -> dict[str, TableView]:
        """The tables by name, the main one first: `.to_latex()`, `.to_markdown()`, `.to_csv()`."""
        return Named({table.name: TableView(table) for table in (*self.story.tables, *self.story.papers)})

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures of the page by name; `.save("figure.pdf")` and `.draw(axes)` need `pip install matplotlib`."""
        return Named(self.story.figures)

    @property
    def verdict(self) -> tuple[str, ...]:
        """What the numbers mean, in sentences."""
        return self.story.page.verdict

    @cached_property
    def images(self) -> "pyarrow.Table":
        """What was kept of every image (id, label, prediction, scores), a row per unit and image.

        Raises:
            OpenworldError: a file that is not as it was written.
        """
        import pyarrow

        tables = []
        for record in self.story.run.records:
            if IMAGES in record.tables:
                columns = {name: list(column) for name, column in record.table(IMAGES).items()}
                count = len(next(iter(columns.values()), ()))
                tables.append(pyarrow.table({"unit": [record.name] * count} | columns))
        return pyarrow.concat_tables(tables, promote_options="permissive") if tables else pyarrow.table({"unit": []})

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
            OpenworldError: another `show`, a metric that the run does not have, or no number in that place.
        """
        label = self.story.tables[0].label
        return TableView(result_table(self.results, metrics or self.main_metrics, show=show, where=where, label=label))

    @property
    def main_metrics(self) -> list[str]:
        """The scores of the main table, by key."""
        scores = [key for key, metric in self.results.metrics().items() if metric.is_score]
        shown = {column.metric.key for column in self.story.tables[0].columns}
        return [key for key in scores if key in shown] or scores[:1]

    def to_latex(self, metrics: Sequence[str] = (), **options) -> str:
        """The table of `table` for LaTeX, with booktabs; takes what that takes."""
        return self.table(metrics, **options).to_latex()

    def to_markdown(self, metrics: Sequence[str] = (), **options) -> str:
        """The table of `table` for a README or a wiki; takes what that takes."""
        return self.table(metrics, **options).to_markdown()

    def save_report(self, path: Path | str | None = None) -> Path:
        """Write the page as one file, and return its path.

        Args:
            path: of the file; None for `report.html` in the folder of the run.
        """
        return self.story.write(path)

    def save_figures(self, folder: Path | str, form: str = "pdf") -> tuple[Path, ...]:
        """Write every figure of the page as a file, and return their paths; raises as `Story.save_figures`."""
        return self.story.save_figures(form, folder)

    def export(self, form: str) -> str | bytes:
        """The numbers as "csv", "json" or "parquet", or the tables as "markdown" or "latex"."""
        return self.story.export(form)

    def __repr__(self) -> str:
        from openworld._terminal import as_text

        return as_text(self.story.show)

    def _repr_html_(self) -> str:
        return _html.block(self.verdict, *(view._repr_html_() for view in list(self.tables.values())[:1]))


def open_run(folder: Path | str) -> Run:
    """Return the finished run in a folder, every record verified.

    Raises:
        OpenworldError: there is no run, or a unit is missing or damaged.
    """
    return Run(read_story(folder))


def as_run(run: Run | Path | str) -> Run:
    """Return a run, or the one in a folder; raises as `open_run`."""
    return run if isinstance(run, Run) else open_run(run)
