"""A finished run as an object: its numbers, tests, tables, figures, sentences, and the outputs for every image."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openworld import _html
from openworld._types import checked
from openworld.evaluations.stories import read_story
from openworld.report.figure import Figure
from openworld.report.page import figures_of
from openworld.report.report import Report
from openworld.report.story import Story
from openworld.report.table import Table
from openworld.results import Results

if TYPE_CHECKING:
    import pyarrow

IMAGES = "images"


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Run(Report):
    """A finished run; at the end of a notebook's cell it shows its verdict and its main table.

    Args:
        story: what its records say.
        title: what sentences call it; "" for its folder.

    >>> import openworld as ow
    >>> run = ow.score({"side": ["base", "base", "new"], "score": [0.9, 0.2, 0.4], "correct": [1, 1, 1]})
    >>> [row.value.value for row in run.results.where(metric="openworld_auc")]
    [0.5]
    """

    story: Story
    title: str = ""

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
    def verdict(self) -> tuple[str, ...]:
        """What the numbers mean, in sentences."""
        return self.story.page.verdict

    def _all_tables(self) -> tuple[Table, ...]:
        return (*self.story.tables, *self.story.papers)

    def _all_figures(self) -> Iterator[Figure]:
        return figures_of(self.story.page.sections)

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

    @checked
    def save_report(self, path: Path | str | None = None) -> Path:
        """Write the page as one file, and return its path.

        Args:
            path: of the file; None for `report.html` in the folder of the run.
        """
        return self.story.write(path)

    @checked
    def export(self, form: str) -> str | bytes:
        """The numbers as "csv", "json" or "parquet", or the tables as "markdown" or "latex"."""
        return self.story.export(form)

    def __repr__(self) -> str:
        from openworld._terminal import as_text

        return as_text(self.story.show)

    def _repr_html_(self) -> str:
        return _html.block(self.verdict, *(view._repr_html_() for view in list(self.tables.values())[:1]))


@checked
def open_run(folder: Path | str) -> Run:
    """Return the finished run in a folder, every record verified.

    Raises:
        OpenworldError: there is no run, or a unit is missing or damaged.
    """
    return Run(read_story(folder))


def as_run(run: Run | Path | str) -> Run:
    """Return a run, or the one in a folder; raises as `open_run`."""
    return run if isinstance(run, Run) else open_run(run)
