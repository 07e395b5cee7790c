"""A table of a run as an object: for a notebook, a paper, a text."""

from dataclasses import dataclass

from openworld._terminal import as_text
from openworld.report.render import csv_table, latex_table, markdown_table, plain_html_table, terminal_table
from openworld.report.table import Table


@dataclass(frozen=True, repr=False)
class TableView:
    """A table; `table` is its data, of columns that know their metric and rows of values.

    >>> from openworld.report.table import Column, Row
    >>> from openworld.results import METRICS, Value
    >>> view = TableView(Table("t", "Two", "", "learner", (Column(METRICS["auroc"]),), (Row("CoOp", (Value(0.871),)),)))
    >>> print(view.to_markdown().splitlines()[-1])
    | CoOp | 87.10 |
    """

    table: Table

    def to_latex(self) -> str:
        """With booktabs, the best in bold; intervals and ± as the table shows them."""
        return latex_table(self.table)

    def to_markdown(self) -> str:
        """For a README or a wiki."""
        return markdown_table(self.table)

    def to_csv(self) -> str:
        """Numbers in full, fractions."""
        return csv_table(self.table)

    def __repr__(self) -> str:
        return as_text(lambda out: out.print(terminal_table(self.table)))

    def _repr_html_(self) -> str:
        return plain_html_table(self.table)
