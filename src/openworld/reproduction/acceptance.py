"""Does zero-shot CLIP come out as printed? Its numbers with stated tolerances, and which stage departs.

Nothing is learned, so that the numbers are deterministic, or nearly so. OpenworldAUC (Hua et al., 2025): HM, AUROC and
OpenworldAUC of Tables 8-9 and 10, which Tables 2 and 4 repeat; the accuracies of the very same halves are CoCoOp's
(Zhou et al., 2022, base-to-new tables). OpenPL: Acc(0) of Tables 10 to 20, 32 and 33, over ten orders of the classes,
because the paper's three are not published. Left out, because nobody can repeat them: OpenworldAUC's Tables 3 and 13,
OpenPL's 5. Images, names, sentences, preprocessing and weights are each looked at by themselves; the metrics behind
them are the same everywhere and tested with the package.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from math import sqrt
from pathlib import Path
from statistics import stdev
from typing import Any

import numpy as np

from openworld.backbones import ImageConfig, TextConfig
from openworld.backbones.preprocess import openai_preprocess
from openworld.core.errors import OpenworldError
from openworld.datasets import PUBLISHED
from openworld.datasets.names.class_names import listed_names
from openworld.datasets.published.class_folders import MENDED
from openworld.datasets.templates import PHOTO, TEMPLATES
from openworld.evaluations import read_protocol
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.runtime import backbone
from openworld.metrics import harmonic_mean
from openworld.own_data.doctor import check_backbone
from openworld.papers import METRICS, paper_table, published_numbers
from openworld.papers.numbers import COCOOP
from openworld.papers.results import PaperRun, read_numbers
from openworld.report.table import Column, Row, Table
from openworld.reproduction.plan import ReproductionPlan, choose_tables, find_table, plan, spellings
from openworld.reproduction.planned_runs import PlannedRun
from openworld.reproduction.series import missing_data
from openworld.reproduction.settings import ReproductionSetup
from openworld.results import TEXT, Value
from openworld.runs import RunStore

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
    departures: tuple[Mapping[str, Any], ...]  # each with its stage, data sets (none: all), and what departs

    @property
    def accepted(self) -> bool:
        return all(row["within"] for row in self.rows)

    @property
    def sentences(self) -> Iterator[str]:
        """How many numbers are within, what every stage is like, and which stages explain the numbers that depart."""
        outside = [row for row in self.rows if not row["within"]]
        within = len(self.rows) - len(outside)
        yield f"{within} of {len(self.rows)} numbers of zero-shot CLIP are within their tolerances."
        yield from (f"Departs in {each['stage']}: {each['what']}." for each in self.departures)
        departing = {each["stage"] for each in self.departures}
        if sound := [stage for stage in STAGES if stage not in departing]:
            yield f"As they should be: {', '.join(sound)}."
        for dataset in dict.fromkeys(row["dataset"] for row in outside):
            metrics = ", ".join(row["metric"] for row in outside if row["dataset"] == dataset)
            those = [each for each in self.departures if not each["datasets"] or dataset in each["datasets"]]
            stages = " and ".join(dict.fromkeys(each["stage"] for each in those))
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
    changed = setup.added or set(setup.changes) - {"settings"} or setup.quick > 1
    for refused, why in (
        (paper not in COMPARED, f"--accept is of {' and '.join(COMPARED)}; {paper} has no such rows."),
        (setup.embedded, "--accept needs the papers' own images, which are not embedded; give --data FOLDER."),
        (learning, f"--accept is of {METHOD}; {', '.join(learning)} learns. Leave --learners out."),
        (changed, "--accept takes no --add, --shots, --views or --quick: CLIP learns nothing."),
        (paper == "openpl" and 0 < len(setup.seeds) < 3, "--accept of openpl needs at least 3 seeds: class orders."),
    ):
        if refused:
            raise OpenworldError(why)
    remarks = ["Zero-shot CLIP alone, compared with printed numbers.", *setup.sentences]
    setup = replace(setup, learners=(METHOD,), seeds=setup.seeds or SEEDS[paper], shots=1, views=0)
    planned = plan(paper, tuple(COMPARED[paper]), setup)
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


STAGES = ("images", "names", "sentences", "preprocessing", "weights")
SHARED_LISTS = ("imagenetv2", "imagenet-sketch", "imagenet-a", "imagenet-r")
"""Data sets whose classes are ImageNet's, or some of them."""

PREPROCESS = openai_preprocess(224)
LOOKED_AT, ALIKE = 3, 1e-3  # images of a data set that are prepared again, and how near their pixels must be

TOKENS = ("end_token", "pad_token")
VIT_B_16 = {
    **{f"image {name}": value for name, value in asdict(ImageConfig()).items()},
    **{f"text {name}": value for name, value in asdict(TextConfig()).items()},
    "parameters": 149_620_737 + 1,
    "logit scale": 100.0,  # and a bias, which CLIP has none of
}
"""What is known of OpenAI's CLIP ViT-B/16."""

LEAST_NAMED = 0.1  # weights that learned anything name embedded drawings better than one in 100


def departures(runs: Sequence[PlannedRun], folder: Path, name: str, device: str) -> tuple[dict[str, Any], ...]:
    """Return every stage of finished runs that departs, in the order of STAGES, with its data sets (none: all)."""
    clip = backbone(name, device)
    departing: list[tuple[str, tuple[str, ...], str]] = [
        ("weights", (), what) for what in wrong_weights(check_backbone(name, device=device))
    ]
    for run in runs:
        titles = []
        for entry in run.data:
            title, images = run.datasets[str(entry)], DatasetSpec(entry.dataset, entry.domain).images().load()
            titles.append(title)
            for stage, wrong in (
                ("images", wrong_counts(entry.dataset, images)),
                ("names", wrong_names(entry.dataset, images.classnames)),
                ("preprocessing", wrong_pixels(clip.preprocess, images)),
            ):
                departing += [(stage, (title,), f"{title}: {what}") for what in wrong]
        for record in RunStore(folder / run.name).records():
            task = read_protocol(record.unit.arguments["task"])
            dataset = task.image_sets["train"].sources[0].dataset
            ours, expected = tuple(task.learner.settings["templates"]), (TEMPLATES.get(dataset, PHOTO),)
            if ours != expected:
                what = f"names of {dataset} stand in {list(ours)}, CoOp's in {list(expected)}"
                departing.append(("sentences", tuple(titles), what))
    ordered = sorted(dict.fromkeys(departing), key=lambda each: STAGES.index(each[0]))
    return tuple(dict(zip(("stage", "datasets", "what"), each, strict=True)) for each in ordered)


def wrong_counts(dataset: str, images) -> Iterator[str]:
    """Yield counts of classes and of test images that are not the published ones."""
    card = PUBLISHED[dataset]
    pairs = {"classes": (len(images.classnames), card.classes), "test images": (len(images), card.counts["test"])}
    for what, (count, expected) in pairs.items():
        if count != expected:
            yield f"{count:,} {what}, published are {expected:,}"


def wrong_names(dataset: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the first class name that is not the published one; nothing where no list is at hand."""
    shared = dataset in SHARED_LISTS
    known = listed_names("imagenet" if shared else dataset)
    original = {ours: theirs for theirs, ours in MENDED.values()}
    ours, expected = ([original.get(name, name) for name in side] for side in (names, known.names if known else ()))
    if shared and len(ours) < len(expected):
        expected = [name for name in expected if name in set(ours)]
    for place, (name, published) in enumerate(zip_longest(ours, expected, fillvalue="nothing") if known else ()):
        if name != published:
            yield f"class {place} is {name!r}, published is {published!r}"
            return


def wrong_pixels(preprocess, images) -> Iterator[str]:
    """Yield the first image that does not become what CLIP's own preprocessing makes of it."""
    for number in np.linspace(0, len(images) - 1, min(LOOKED_AT, len(images))).astype(int):
        ours, expected = (np.asarray(each(images.image(int(number)))) for each in (preprocess, PREPROCESS))
        if ours.shape != expected.shape:
            yield f"images become {ours.shape}, CLIP's are {expected.shape}"
            return
        if (apart := float(np.abs(ours - expected).max())) > ALIKE:
            yield f"pixels of image {number} differ by {apart:.3g} from those of CLIP's preprocessing"
            return


def wrong_weights(model: Mapping[str, Any]) -> Iterator[str]:
    """Yield shapes, a count and a temperature that are not those of OpenAI's ViT-B/16; weights that know nothing."""
    if not model["image"]:
        yield f"{model['name']} is read by another library, and cannot be compared with OpenAI's ViT-B/16"
        return
    ours = {"parameters": model["parameters"], "logit scale": round(model["logit_scale"], 1)}
    for part in ("image", "text"):
        ours |= {f"{part} {name}": value for name, value in model[part].items() if name not in TOKENS}
    for what, value in ours.items():
        if value != VIT_B_16[what]:
            yield f"{what} is {value}, that of OpenAI's ViT-B/16 is {VIT_B_16[what]}"
    share = model["zero_shot"]["right"] / model["zero_shot"]["images"]
    if share < LEAST_NAMED:
        yield f"{100 * share:.0f} % of embedded drawings are named right: these weights are not trained"
