"""A table of a paper with our numbers beside the printed ones, in the paper's layout.

On the paper's own data every cell holds our number, the printed one and their difference, tested over our seeds. On
other data the same layout holds our numbers with the printed averages beside them: then only the orders of the methods
are compared, because numbers on different data are not to be subtracted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from openworld._arrays import require_fraction
from openworld._errors import unknown_name
from openworld.papers import (
    AVERAGE,
    METRICS,
    MODELS,
    PRINTED_SEEDS,
    PaperTable,
    PublishedNumber,
    misprints_of,
    paper_table,
    published_numbers,
)
from openworld.papers.results import PaperResult
from openworld.reproduction.comparison.cells import AXES, CellPair, PaperColumn, TableNumbers, cells
from openworld.reproduction.comparison.rank_agreement import Agreement, agreements
from openworld.results.comparison import MARGIN

SHOWS = ("interval", "deviation")
NOT_ALIKE = "times are of other machines, ranks among other methods, or averages over other data sets"

NOT_PRINTED = "the printed numbers of this table are missing from the text that is published"

ABOUT_OURS = {
    ("openworldauc", "3"): (
        "Our intervals over images are of the mean over all possible draws. Where every class keeps the same share of "
        "its images, that mean is the OpenworldAUC of all images, so these intervals equal those of Table 2."
    ),
    ("openworldauc", "7"): (
        "Two of our counts are not the printed ones. KgCoOp: the released settings tune the 4 tokens of 'a photo of "
        "a', 2,048 numbers; the printed 8,192 are those of 16 tokens. DePT-Kg: its head grows by 513 numbers with each "
        "base class, and 292,914 are those of 50 classes and of 263,168 numbers more that the released code marks as "
        "trained and never reads."
    ),
    ("openworldauc", "16"): (
        "Ours is the latency of one image alone (batch of 1), from its prepared pixels in memory to the answer: image "
        "tower included, names encoded before, the median of up to 20 repeats after 2 that do not count, the GPU "
        "awaited. The paper does not say what its seconds include, nor on which machine: compare the orders alone."
    ),
}
"""What a reader must know of our numbers of a table, by paper and table."""


@dataclass(frozen=True, eq=False)
class PaperComparison:
    """A table of a paper and our numbers of it.

    Args:
        table: what it is.
        same_data: whether ours were measured on the table's own data sets.
        rows: what the rows are called: methods, settings or data sets.
        columns: in order.
        pairs: the cells that are not empty, by (row, column).
        agreements: of the two orders of the methods, metric by metric.
        backbones: of our runs.
        datasets: that ours were measured on.
        ours, printed: the numbers that went in; of the printed ones those that our averages are compared with.
        remarks: what else a reader must know of ours, such as runs that are missing, in sentences.
        show: what stands behind ours, of `SHOWS`.
    """

    table: PaperTable
    same_data: bool
    rows: tuple[str, ...]
    columns: tuple[PaperColumn, ...]
    pairs: Mapping[tuple[str, PaperColumn], CellPair]
    agreements: tuple[Agreement, ...]
    backbones: tuple[str, ...]
    datasets: tuple[str, ...]
    ours: tuple[PaperResult, ...]
    printed: tuple[PublishedNumber, ...]
    remarks: tuple[str, ...] = ()
    show: str = "interval"

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that have a row, or, where rows are none, a number of ours."""
        return self.rows if self.table.rows == "method" else tuple(dict.fromkeys(number.method for number in self.ours))

    @property
    def verdicts(self) -> tuple[int, int, int, int, int]:
        """How many numbers are reproduced, higher than printed, lower, not told apart, and not tested."""
        ways = Counter(pair.verdict.partition(" ")[0] for pair in self.pairs.values() if pair.difference is not None)
        return ways["reproduced"], ways["higher"], ways["lower"], ways["not"], ways[""]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What comes of it."""
        overall = (self._compared if self.same_data else self._not_compared,)
        if not self.table.printed:
            overall = (f"Ours stand alone: {NOT_PRINTED}. {self._model}",)
        about = ABOUT_OURS.get((self.table.paper, self.table.number))
        return (*overall, *self.remarks, *self._orders, *([about] if about else []))

    @property
    def _orders(self) -> tuple[str, ...]:
        """On which columns the orders of the methods agree; one sentence where all lack it for the same reason."""
        reasons = {agreement.reason for agreement in self.agreements if agreement.tau is None}
        lacking = sum(agreement.tau is None for agreement in self.agreements)
        if lacking == len(self.agreements) > 1 and len(reasons) == 1:
            return (f"The orders of the methods cannot be compared in any column: {reasons.pop()}.",)
        return tuple(agreement.sentence for agreement in self.agreements)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is known to be wrong with the printed table."""
        return tuple(misprint.what for misprint in misprints_of(self.table.paper, self.table.number))

    @property
    def _model(self) -> str:
        ours, theirs = " and ".join(self.backbones) or "unknown", MODELS[self.table.paper]
        return f"Ours with backbone {ours}, the paper's with {theirs}."

    @property
    def _compared(self) -> str:
        pairs = [pair for pair in self.pairs.values() if pair.difference is not None]
        if not pairs:
            return f"{self._model} Nothing is subtracted: {NOT_ALIKE}."
        reproduced, higher, lower, alike, untested = self.verdicts
        tests = [pair.test for pair in pairs if pair.tested]
        margin = f" within {tests[0].margin_text} points (two one-sided tests)" if tests else ""
        with_deviation = sum(pair.tested and pair.deviation is not None for pair in pairs)
        seeds = PRINTED_SEEDS.get(self.table.paper)
        printed = (
            f"and over {seeds} of the paper for the {with_deviation} whose deviation it prints, the others as if exact"
            if seeds and with_deviation
            else "against the printed number as if exact"
        )
        return (
            f"{self._model} Of {len(pairs)} numbers of ours, {reproduced} are reproduced{margin}; of the others "
            f"{higher} are higher than printed, {lower} lower, {alike} not told apart at this number of seeds, and "
            f"{untested} cannot be tested (Welch's t over our seeds {printed}; Holm over {len(tests)})."
            f"{self._typical(pairs)}"
        )

    def _typical(self, pairs: Sequence[CellPair]) -> str:
        sizes = {
            METRICS[metric]: median(abs(pair.difference) for pair in pairs if pair.ours.metric == metric)
            for metric in dict.fromkeys(pair.ours.metric for pair in pairs)
        }
        parts = [f"{metric.title} {metric.write(size, 1)}" for metric, size in sizes.items()]
        return f" The median size of a difference: {', '.join(parts)}."

    @property
    def _not_compared(self) -> str:
        return (
            f"Ours are of other data ({'; '.join(self.datasets)}): printed numbers stand beside them to compare the "
            f"orders of the methods, and are not to be subtracted. {self._model}"
        )


def compare_with_paper(
    paper: str,
    table: str,
    ours: Sequence[PaperResult],
    *,
    remarks: Sequence[str] = (),
    margin: float = MARGIN,
    show: str = "interval",
) -> PaperComparison:
    """Put our numbers of a table beside the printed ones.

    Args:
        paper, table: as for `measured`.
        ours: its numbers.
        remarks: sentences that stand under the table.
        margin: a share that is shown to be no further from the printed one than this fraction is reproduced.
        show: what stands behind ours: the 95 % "interval", or the "deviation" over seeds with ±, as papers print it.

    Raises:
        OpenworldError: an unknown paper or table, another `show`, a margin outside (0, 1).
    """
    if show not in SHOWS:
        raise unknown_name("show", show, SHOWS)
    require_fraction(margin=margin)
    wanted, printed = paper_table(paper, table), published_numbers(paper, table)
    same = any(name in wanted.datasets for number in ours for name in number.datasets)
    numbers = TableNumbers(wanted, _axes(wanted, ours), ours, printed, same, margin)
    pairs, alike = cells(numbers), tuple(_alike(printed, ours) if same else printed)
    names = dict.fromkeys(getattr(number, wanted.rows) for number in (*printed, *ours))
    filled = {row for row, _ in pairs}
    return PaperComparison(
        table=wanted,
        same_data=same,
        rows=tuple(sorted((row for row in names if row in filled), key=lambda row: row == AVERAGE)),
        columns=_order(wanted, pairs, [numbers.key(number)[1] for number in printed]),
        pairs=pairs,
        agreements=agreements(wanted, ours, alike),
        backbones=tuple(dict.fromkeys(number.backbone for number in ours if number.backbone)),
        datasets=tuple(dict.fromkeys(name for number in ours for name in number.datasets)),
        ours=tuple(ours),
        printed=alike,
        remarks=tuple(remarks),
        show=show,
    )


def _alike(printed: Sequence[PublishedNumber], ours: Sequence[PaperResult]) -> list[PublishedNumber]:
    """The printed numbers of the data sets that ours are on; all where the table names none of them."""
    known = {name for number in ours for name in number.datasets}
    every = {number.dataset for number in printed} - {"", AVERAGE}
    return list(printed) if known >= every else [number for number in printed if number.dataset in known]


def _axes(wanted: PaperTable, ours: Sequence[PaperResult]) -> tuple[str, ...]:
    """What the columns differ in: as printed, and what else differs among ours, which may be on more data sets."""
    also = {axis for axis in ("dataset", "method") if len({getattr(number, axis) for number in ours}) > 1}
    return tuple(axis for axis in AXES if axis != wanted.rows and axis in {*wanted.columns, *also})


def _order(wanted: PaperTable, pairs: Mapping, printed: Sequence[PaperColumn]) -> tuple[PaperColumn, ...]:
    """Columns in the order printed, then ours in the order measured, averages and printed ones last."""
    places = {column: place for place, column in enumerate(dict.fromkeys(printed))}
    columns = dict.fromkeys(column for _, column in pairs)
    metrics = {metric: place for place, metric in enumerate(wanted.metrics)}

    def place(column: PaperColumn) -> tuple:
        last = column.printed_only + (column.dataset == AVERAGE and not column.task)
        return last, places.get(column, len(places)), metrics[column.metric] if column.printed_only else 0

    return tuple(sorted(columns, key=place))
