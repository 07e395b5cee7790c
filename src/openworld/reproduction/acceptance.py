"""Does zero-shot CLIP come out as printed? Its numbers with stated tolerances, and which stage departs.

Nothing is learned, so that the numbers are deterministic, or nearly so. OpenworldAUC (Hua et al., 2025): HM, AUROC and
OpenworldAUC of Tables 8-9 and 10, which Tables 2 and 4 repeat; the accuracies of the very same halves are CoCoOp's
(Zhou et al., 2022, base-to-new tables). OpenPL: Acc(0) of Tables 10 to 20, 32 and 33, over ten orders of the classes,
because the paper's three are not published. Left out, because nobody can repeat them: OpenworldAUC's Tables 3 and 13,
OpenPL's 5.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from statistics import stdev
from typing import Any

from openworld.core.errors import OpenworldError
from openworld.metrics import harmonic_mean
from openworld.papers import METRICS, paper_table, published_numbers
from openworld.papers.misprints import COCOOP
from openworld.papers.results import PaperRun
from openworld.report.table import Column, Row, Table
from openworld.reproduction.changes import Changes
from openworld.reproduction.paper_results import read_numbers
from openworld.reproduction.plan import ReproductionPlan, choose_tables, find_table, plan, spellings
from openworld.reproduction.series import missing_data
from openworld.reproduction.settings import ReproductionSetup
from openworld.reproduction.stages import STAGES, Departure, departures
from openworld.results import TEXT, Value

METHOD = "CLIP"
COMPARED = {
    "openworldauc": dict.fromkeys(("8-9", "10"), ("BaseAcc", "NewAcc", "HM", "AUROC", "OpenworldAUC")),
    "openpl": {str(number): ("Acc(0)",) for number in (*range(10, 21), 32, 33)},
}
"""Paper -> table -> the metrics that are compared."""

SEEDS = {"openworldauc": (1,), "openpl": tuple(range(1, 11))}
ROUNDING = 0.0005  # by how much a number may differ for its own digits, half precision and the resizing filter
RENAMED = 0.002  # share of images that get another name where decoders, filters and half precision round otherwise
DEVIATIONS = 2.6  # standard deviations of what these do to an accuracy: beyond lies 1 % of a normal distribution
OUTSIDE = 0.001  # how often a mean over the paper's class orders may lie outside by chance, cell by cell
PAPERS_ORDERS = 3

REASONS = {
    "openworldauc": f"Tolerance: {100 * ROUNDING:g} points for digits and half precision, {DEVIATIONS} standard "
    f"deviations of what {1000 * RENAMED:g} in 1,000 images renamed by other decoders and filters do, and by how much "
    "the paper's and CoCoOp's harmonic means differ.",
    "openpl": f"Tolerance: {100 * (1 - OUTSIDE):g} % of means over the paper's three class orders, which are not "
    "published, lie so near a mean over ours (Student's t); and fractions of a point for decoders and filters.",
}


@dataclass(frozen=True)
class Acceptance:
    """The numbers of zero-shot CLIP against the printed ones, in the unit of data, and stages that depart."""

    rows: tuple[Mapping[str, Any], ...]
    departures: tuple[Departure, ...]

    @property
    def accepted(self) -> bool:
        return all(row["within"] for row in self.rows)

    @property
    def sentences(self) -> Iterator[str]:
        """How many numbers are within, what every stage is like, and which stages explain the numbers that depart."""
        outside = [row for row in self.rows if not row["within"]]
        within = len(self.rows) - len(outside)
        yield f"{within} of {len(self.rows)} numbers of zero-shot CLIP are within their tolerances."
        yield from (f"Departs in {departure.stage}: {departure.what}." for departure in self.departures)
        departing = {departure.stage for departure in self.departures}
        if sound := [stage for stage in STAGES if stage not in departing]:
            yield f"As they should be: {', '.join(sound)}."
        for dataset in dict.fromkeys(row["dataset"] for row in outside):
            metrics = ", ".join(row["metric"] for row in outside if row["dataset"] == dataset)
            found = [each.stage for each in self.departures if not each.datasets or dataset in each.datasets]
            stages = " and ".join(dict.fromkeys(found))
            why = f"so does {stages}" if stages else "no stage does: other images in the same number, or other settings"
            yield f"{dataset} ({metrics}): departs, and {why}."

    @property
    def table(self) -> Table:
        """The numbers with as many digits as are printed; all are of one unit."""
        metric, numbers = METRICS[self.rows[0]["metric"]], ("printed", "ours", "difference", "tolerance", "elsewhere")
        metric = replace(metric, digits=metric.digits + (metric.unit == "percent"))
        columns = (Column(TEXT, "metric"), *(Column(metric, name) for name in numbers), Column(TEXT), Column(TEXT))
        rows = []
        for row in self.rows:
            values = ("" if row[name] is None else Value(row[name]) for name in numbers)
            cells = (row["metric"], *values, "within" if row["within"] else "departs", row["source"])
            rows.append(Row(row["dataset"], cells))
        title = "Zero-shot CLIP against printed numbers"
        return Table("acceptance", title, "", "data set", columns, tuple(rows), best="")


def acceptance_plan(paper: str, setup: ReproductionSetup) -> ReproductionPlan:
    """Return the runs of zero-shot CLIP on those of the paper's data sets that are there."""
    learning = [name for name in setup.learners if name.casefold() not in (METHOD.casefold(), "zero-shot")]
    changed = setup.changes != Changes(settings=setup.changes.settings) or setup.quick > 1
    for refused, why in (
        (paper not in COMPARED, f"--accept is of {' and '.join(COMPARED)}; {paper} has no such rows."),
        (setup.embedded, "--accept needs the papers' own images, which are not embedded; give --data FOLDER."),
        (learning, f"--accept is of {METHOD}; {', '.join(learning)} learns. Leave --learners out."),
        (changed, "--accept takes no --add, --shots, --views or --quick: CLIP learns nothing."),
        (paper == "openpl" and 0 < len(setup.seeds) < 3, "--accept of openpl needs at least 3 seeds: class orders."),
    ):
        if refused:
            raise OpenworldError(why)
    changes = replace(setup.changes, shots=1, views=0)
    setup = replace(setup, learners=(METHOD,), seeds=setup.seeds or SEEDS[paper], changes=changes)
    planned = plan(paper, tuple(COMPARED[paper]), setup)
    remarks = ["Zero-shot CLIP alone, compared with printed numbers.", *setup.changes.sentences]
    missing = missing_data(planned)
    there = [name for name in planned.downloads if name not in missing]
    if missing and there:
        titles = [spellings(paper, setup)[name] for name in there]
        tables, _ = choose_tables((find_table(paper, number) for number in COMPARED[paper]), titles, named=False)
        planned = plan(paper, tuple(table.number for table in tables), replace(setup, datasets=tuple(titles)))
        remarks.append(
            f"Left out is what needs data sets that are not there: {', '.join(missing)} (openworld data check "
            f"{' '.join(missing)} --root {setup.data} says where to get them)."
        )
    return replace(planned, remarks=tuple(remarks))


def accept(planned: ReproductionPlan, folder: Path, failed: Collection[str], device: str) -> Acceptance:
    """Compare the finished runs of an acceptance plan with the printed numbers."""
    parts = planned.finished("tables", folder, failed)
    rows = tuple(row for number, runs, _ in parts for row in _rows(planned.paper, number, runs))
    done = [run for run in planned.runs if run.name not in failed]
    return Acceptance(rows, departures(done, folder, planned.setup.backbone, device))


def tolerance_of(images: int) -> float:
    """Return by how much a number of so many test images, half of them base, may differ with nothing being wrong."""
    # Of either half's images `RENAMED` may be named otherwise, for better or worse alike: the accuracy of a half then
    # moves with a standard deviation of sqrt(RENAMED / (images / 2)).
    return ROUNDING + DEVIATIONS * sqrt(2 * RENAMED / images)


def _rows(paper: str, table: str, runs: Sequence[PaperRun]) -> Iterator[dict[str, Any]]:
    """The numbers of a table that the paper, or CoCoOp, prints."""
    wanted = replace(paper_table(paper, table), metrics=COMPARED[paper][table])
    numbers = [number for number in published_numbers(paper, table) if number.method == METHOD]
    printed = {(number.dataset, number.metric): (number.in_data, f"Table {table}") for number in numbers}
    for dataset, (base, new) in COCOOP.items():
        printed |= {(dataset, "BaseAcc"): (base / 100, "CoCoOp"), (dataset, "NewAcc"): (new / 100, "CoCoOp")}
    ours = [number for number in read_numbers(wanted, runs) if number.method == METHOD]
    intervals = [(number.dataset, number.value.over("images")) for number in ours]
    images = {dataset: each.n for dataset, each in intervals if each is not None and each.n is not None}
    for number in ours:
        dataset, metric = number.dataset, number.metric
        if dataset not in wanted.datasets or (dataset, metric) not in printed:
            continue
        (value, source), cocoop = printed[dataset, metric], COCOOP.get(dataset)
        tolerance, elsewhere = tolerance_of(images[dataset]) if dataset in images else 0.0, None
        if paper == "openpl":
            tolerance += _over_orders(number.per_seed)
        elif cocoop and source != "CoCoOp":
            mean = harmonic_mean(*cocoop) / 100
            tolerance += abs(printed[dataset, "HM"][0] - mean)  # no run can be nearer to both
            elsewhere = mean if metric == "HM" else None
        difference = None if number.number is None else number.number - value
        yield {
            "dataset": dataset,
            "metric": metric,
            "printed": value,
            "source": source,
            "ours": number.number,
            "tolerance": tolerance,
            "elsewhere": elsewhere,
            "difference": difference,
            "within": difference is not None and abs(difference) <= tolerance,
            "unit": METRICS[metric].stored_unit,
        }


def _over_orders(values: Sequence[float]) -> float:
    """How far a mean over the paper's class orders, which are not published, may lie from a mean over ours."""
    # Orders are drawn alike, so that the two means differ by chance with deviation s sqrt(1/3 + 1/k) (Student's t over
    # our k orders).
    from scipy.special import stdtrit

    if len(values) < 2:
        return 0.0
    spread = stdev(values) * sqrt(1 / PAPERS_ORDERS + 1 / len(values))
    return float(stdtrit(len(values) - 1, 1 - OUTSIDE / 2)) * spread
