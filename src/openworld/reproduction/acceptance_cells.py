"""Do the deterministic rows of a paper's tables come out here? Zero-shot CLIP, cell by cell, with stated tolerances.

OpenworldAUC (Hua et al., 2025): HM, AUROC and OpenworldAUC of Tables 8-9 and 10, which Tables 2 and 4 repeat. They
print no accuracies; those of the very same two halves are CoCoOp's (Zhou et al., 2022, "Conditional Prompt Learning
for Vision-Language Models", base-to-new tables, zero-shot CLIP).

OpenPL: accuracy before anything changes, Acc(0), of Tables 10 to 20 (21 to 31 repeat it), 32 and 33.

Left out, because nobody can repeat them: Table 3 (which pictures were dropped), 13 (which classes were removed),
OpenPL's 5 (which classes and pictures were drawn); and averages, which say nothing that their rows do not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import stdev

from openworld.evaluations.dynamic import paper as dynamic
from openworld.evaluations.recognition import paper as recognition
from openworld.metrics import harmonic_mean
from openworld.papers import METRICS, published_numbers
from openworld.papers.results import PaperResult, PaperRun
from openworld.report.table import Column, Row, Table
from openworld.results import TEXT, Value

METHOD = "CLIP"
COCOOP: Mapping[str, tuple[float, float]] = {
    "ImageNet": (72.43, 68.14),
    "Caltech101": (96.84, 94.00),
    "OxfordPets": (91.17, 97.26),
    "StanfordCars": (63.37, 74.89),
    "Flowers102": (72.08, 77.80),
    "Food101": (90.10, 91.22),
    "FGVCAircraft": (27.19, 36.29),
    "SUN397": (69.36, 75.35),
    "DTD": (53.24, 59.90),
    "EuroSAT": (56.48, 64.05),
    "UCF101": (70.53, 77.50),
}
"""Zero-shot CLIP ViT-B/16 as CoCoOp prints it: accuracy in percent on base classes and on new ones, among their own."""

ROUNDING = 0.0005
"""By how much a number may differ for its own digits, half precision and the resizing filter."""

RENAMED = 0.002
"""Share of images that get another name where decoders, filters and half precision round otherwise."""

DEVIATIONS = 2.6
"""Standard deviations of what renamed pictures do to an accuracy; beyond it lies 1 % of a normal distribution."""

OUTSIDE = 0.001
"""How often a mean over the paper's class orders may lie outside by chance, cell by cell."""

PAPERS_ORDERS = 3

EMERGING = tuple(map(str, range(10, 21)))
SHIFTS = ("32", "33")


@dataclass(frozen=True)
class AcceptanceCell:
    """One printed number of zero-shot CLIP, and ours; all in the unit of data.

    Args:
        dataset: as the paper calls it.
        metric: a name of `openworld.papers.METRICS`.
        printed: the number.
        source: where it stands.
        ours: None where it is not defined.
        tolerance: how far ours may be from it.
        elsewhere: what another paper prints for the same thing, where it prints another number.
    """

    dataset: str
    metric: str
    printed: float
    source: str
    ours: float | None
    tolerance: float
    elsewhere: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the printed number."""
        return None if self.ours is None else self.ours - self.printed

    @property
    def verdict(self) -> str:
        """Whether it is within its tolerance, in a word."""
        return "within" if self.within else "departs"

    @property
    def within(self) -> bool:
        """Whether ours is as near as the tolerance says."""
        return self.difference is not None and abs(self.difference) <= self.tolerance


def tolerance_of(images: int) -> float:
    """Return by how much a number of so many test images, half of them base, may differ without anything being wrong.

    Of either half's images `RENAMED` may be named otherwise, for better or worse alike: the accuracy of a half then
    moves with a standard deviation of sqrt(RENAMED / (images / 2)).

    >>> round(tolerance_of(50_000), 4), round(tolerance_of(8041), 4), round(tolerance_of(1692), 4)
    (0.0012, 0.0023, 0.0045)
    """
    return ROUNDING + DEVIATIONS * sqrt(2 * RENAMED / images)


def openworldauc_cells(runs: Sequence[PaperRun]) -> Iterator[AcceptanceCell]:
    """The cells of Tables 8-9 and 10 whose data sets the runs have, and CoCoOp's accuracies."""
    printed = {
        (row.dataset, row.metric): (row.in_data, f"Table {row.table}")
        for number in ("8-9", "10")
        for row in published_numbers("openworldauc", number)
        if row.method == METHOD
    }
    for dataset, (base, new) in COCOOP.items():
        printed |= {(dataset, "BaseAcc"): (base / 100, "CoCoOp"), (dataset, "NewAcc"): (new / 100, "CoCoOp")}
    for outcomes in _played(runs):
        images = len(outcomes.outcomes[0].test)
        for metric in ("BaseAcc", "NewAcc", "HM", "AUROC", "OpenworldAUC"):
            if (outcomes.dataset, metric) in printed:
                value, source = printed[outcomes.dataset, metric]
                ours = recognition.detection(outcomes, metric).number
                contradicted, gap = _elsewhere(outcomes.dataset, metric, printed)
                yield AcceptanceCell(
                    outcomes.dataset, metric, value, source, ours, tolerance_of(images) + gap, contradicted
                )


def _played(runs: Sequence[PaperRun]) -> Iterator[recognition.MethodOutcomes]:
    """CLIP once on every data set; on a source as in a recognition record where there are both."""
    methods = [method for method in recognition.methods_of(runs) if method.method == METHOD and method.kind != "other"]
    yield from {method.dataset: method for method in sorted(methods, key=lambda method: method.kind is None)}.values()


def _elsewhere(dataset: str, metric: str, printed: Mapping) -> tuple[float | None, float]:
    """CoCoOp's harmonic mean, and by how much the paper's differs from it: no run can be nearer to both."""
    if metric in ("BaseAcc", "NewAcc") or dataset not in COCOOP:
        return None, 0.0
    cocoop = harmonic_mean(*COCOOP[dataset]) / 100
    gap = abs(printed[dataset, "HM"][0] - cocoop)
    return (cocoop if metric == "HM" else None), gap


def openpl_cells(runs: Sequence[PaperRun]) -> Iterator[AcceptanceCell]:
    """The cells of Tables 10 to 20, 32 and 33 whose data sets the runs have."""
    numbers = [row for number in (*EMERGING, *SHIFTS) for row in published_numbers("openpl", number)]
    printed = {
        (row.dataset, row.table): row.in_data for row in numbers if row.method == METHOD and row.metric == "Acc(0)"
    }
    for scenario, tables in (("emerging-classes", EMERGING), ("distribution-shift", SHIFTS)):
        for placed in dynamic.scenario_runs(runs, scenario):
            dataset, numbers = placed[0], dynamic.numbers_of(placed, ("Acc(0)",))
            ours = next((result for result in numbers if result.method == METHOD), None)
            for table in tables:
                if (value := printed.get((dataset, table))) is not None:
                    our_number = None if ours is None else ours.number
                    yield AcceptanceCell(dataset, "Acc(0)", value, f"Table {table}", our_number, _over_orders(ours))


def _over_orders(ours: PaperResult | None) -> float:
    """How far a mean over the paper's class orders, which are not published, may lie from a mean over ours.

    Orders are drawn alike, so that the two means differ by chance with deviation s sqrt(1/3 + 1/k) (Student's t over
    our k orders), and by `tolerance_of` for the pictures.
    """
    from scipy.special import stdtrit

    values = () if ours is None else ours.per_seed
    if len(values) < 2:
        return 0.0
    spread = stdev(values) * sqrt(1 / PAPERS_ORDERS + 1 / len(values))
    images = ours.value.over("images")
    return float(stdtrit(len(values) - 1, 1 - OUTSIDE / 2)) * spread + (tolerance_of(images.n) if images else 0)


CELLS = {"openworldauc": openworldauc_cells, "openpl": openpl_cells}
"""Paper -> its cells."""

REASONS = {
    "openworldauc": (
        f"Tolerance: {100 * ROUNDING:g} points for digits and half precision, and what {1000 * RENAMED:g} in 1,000 "
        f"images renamed by other decoders and filters do to an accuracy ({DEVIATIONS} standard deviations). The "
        "paper's and CoCoOp's harmonic means differ by up to a point, so that no run is near both: the gap is added."
    ),
    "openpl": (
        "Tolerance: the paper's number is a mean over three class orders that are not published, ours a mean over the "
        f"seeds' orders, and {100 * (1 - OUTSIDE):g} % of such means lie so near each other (Student's t over our "
        "orders; of few classes, as EuroSAT's, that is far). Fractions of a point for decoders and filters are added."
    ),
}
"""Paper -> why the tolerances are what they are."""


NUMBERS = ("printed", "ours", "difference", "tolerance", "elsewhere")


def acceptance_table(cells: Sequence[AcceptanceCell]) -> Table:
    """Return the cells with as many digits as are printed; all are of one unit."""
    printed = METRICS[cells[0].metric]
    metric = replace(printed, digits=printed.digits + (printed.unit == "percent"))
    columns = (
        Column(TEXT, "metric"),
        *(Column(metric, name) for name in NUMBERS),
        Column(TEXT),
        Column(TEXT, "source"),
    )
    rows = tuple(
        Row(cell.dataset, (cell.metric, *(_value(getattr(cell, name)) for name in NUMBERS), cell.verdict, cell.source))
        for cell in cells
    )
    return Table("acceptance", "Zero-shot CLIP against printed numbers", "", "data set", columns, rows, best="")


def _value(number: float | None) -> Value | str:
    return "" if number is None else Value(number)


def acceptance_rows(cells: Sequence[AcceptanceCell]) -> list[dict]:
    """Plain values for JSON and CSV."""
    return [
        {name: getattr(cell, name) for name in AcceptanceCell.__dataclass_fields__}
        | {"difference": cell.difference, "within": cell.within, "unit": METRICS[cell.metric].stored_unit}
        for cell in cells
    ]
