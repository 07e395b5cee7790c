"""A table's numbers as the dots and lines of figures need them: ours, the printed ones, and their means."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from openworld.papers import AVERAGE, PaperTable, published_numbers
from openworld.papers.results import PaperResult, PaperRun
from openworld.reproduction.paper_results import paper_results
from openworld.results import Value, mean

Key = tuple[str, str, str]
"""(data set, method, metric), as the paper calls them."""


@dataclass(frozen=True)
class FigureNumbers:
    """What a figure shows of a table.

    Args:
        table: with its data sets.
        ours: of finished runs; of other data sets than the table's where none of them was run.
    """

    table: PaperTable
    ours: Sequence[PaperResult]

    @classmethod
    def of(cls, table: PaperTable, runs: Sequence[PaperRun]) -> "FigureNumbers":
        """Return the numbers of a table."""
        return cls(table, paper_results(table.paper, table.number, runs))

    @property
    def same_data(self) -> bool:
        """Whether ours are of the table's own data sets."""
        return any(name in self.table.datasets for number in self.ours for name in number.datasets)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets of ours, in the order of the table."""
        known = dict.fromkeys(number.dataset for number in self.ours if number.dataset not in ("", AVERAGE))
        order = [name for name in self.table.datasets if name in known]
        return tuple(order or known)

    @cached_property
    def printed(self) -> Mapping[Key, float]:
        """The printed numbers as fractions, without averages."""
        numbers = published_numbers(self.table.paper, self.table.number)
        return {(n.dataset, n.method, n.metric): n.in_data for n in numbers if n.dataset != AVERAGE}

    @cached_property
    def _values(self) -> Mapping[Key, Value]:
        return {(number.dataset, number.method, number.metric): number.value for number in self.ours}

    def value(self, dataset: str, method: str, metric: str) -> Value | None:
        """Return a number of ours; None where there is none."""
        value = self._values.get((dataset, method, metric))
        return None if value is None or value.value is None else value

    def methods(self, *, printed: bool = False) -> tuple[str, ...]:
        """Return the methods of ours, or of the printed ones."""
        names = (method for _, method, _ in self.printed) if printed else (number.method for number in self.ours)
        return tuple(dict.fromkeys(names))

    def printed_mean(self, method: str, metric: str, datasets: Iterable[str]) -> float | None:
        """Return the mean of the printed numbers over data sets; None where one of them is missing."""
        return mean([self.printed.get((dataset, method, metric)) for dataset in datasets])
