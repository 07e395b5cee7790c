"""What a plan costs: units, images, bytes on disk. Counted from specs and published counts alone.

No data set, image or weight needs to be there. How long it takes depends on the machine, and is said while it runs.
"""

from dataclasses import asdict, dataclass

from openworld._sizes import size_in_words
from openworld.evaluations import evaluation_of
from openworld.evaluations.disk_sets import DiskSet, made_first
from openworld.evaluations.learning_units import EncodedSet, LearningUnit
from openworld.evaluations.learning_units import units_of as learning_units
from openworld.evaluations.runtime import shape
from openworld.report.table import Column, Row, Table
from openworld.reproduction.plan import ReproductionPlan, in_words
from openworld.reproduction.rendered_twin import FOLDER
from openworld.reproduction.settings import PlannedRun
from openworld.results import METRICS, TEXT, Metric, Value
from openworld.runs import to_json

RECORD, ROW, SCORE, EMBEDDING = 100_000, 24, 8, 4 * 512
"""Bytes of a unit's record beside its rows (thumbnails, numbers), and of an image's row, score and embedding."""

LISTED = {"imagenet21k": 522_500 + 11_060_223, "SynIS": 320_000}
"""Images of the published lists (qqwsad5/IS-OOD @ 7b52db8): both parts of ImageNet-21K-P, and Syn-IS.

The training part is counted as Alibaba-MIIL/ImageNet21K states its winter 2021 release; its lists were not counted.
"""

TESTED = 45_000
"""In-distribution test images of the published list."""

UNITS = Metric("units", "units", "count", 0, 0, (0.0, None))
_UNIT = {"accuracy-estimation": "one checkpoint of a classifier", "ood-detection": "one classifier with every detector"}
_DRAWN = 100  # concepts of the embedded world, each drawn once in a style


@dataclass(frozen=True)
class RunCost:
    """One run of a plan.

    Args:
        name: of the run.
        tables, figures: numbers of those that are read from it.
        units: how many that no run before it has done.
        images: to be encoded or looked at, those of the runs before it left out.
        bytes: of encoded images, models' outputs and records on disk.
    """

    name: str
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    units: int
    images: int
    bytes: int


@dataclass(frozen=True)
class PlanCost:
    """A plan's runs, what a unit of them is, and the bytes that the cache may have (None for no limit)."""

    runs: tuple[RunCost, ...]
    unit: str
    limit: int | None = None

    @property
    def units(self) -> int:
        """How many units all runs have."""
        return sum(run.units for run in self.runs)

    @property
    def images(self) -> int:
        """How many images all runs encode or look at."""
        return sum(run.images for run in self.runs)

    @property
    def bytes(self) -> int:
        """Bytes on disk of all runs where the cache has no limit."""
        return sum(run.bytes for run in self.runs)

    @property
    def sentence(self) -> str:
        """All of it in words."""
        kept = "" if self.limit is None else f", with at most {size_in_words(self.limit)} of encoded images at a time"
        return (
            f"In all {self.units:,} units ({self.unit}), each counted once; {self.images:,} images; "
            f"{size_in_words(self.bytes)} of disk{kept}. What is there already is not done again."
        )

    @property
    def table(self) -> Table:
        """Its runs: units, images, disk, and what they are for."""
        columns = (Column(UNITS), Column(METRICS["images"]), Column(TEXT, "disk"), Column(TEXT, "for"))
        rows = []
        for run in self.runs:
            counts = Value(run.units), Value(run.images), size_in_words(run.bytes)
            rows.append(Row(run.name, (*counts, in_words(run.tables, run.figures))))
        return Table("plan", "", "", "run", columns, tuple(rows), best="")


def cost(plan: ReproductionPlan, workers: int = 1, limit: int | None = None) -> PlanCost:
    """Count what a plan costs.

    Args:
        plan: of `reproduction.plan`.
        workers: units that run at a time, at least 1; asked where there is a limit.
        limit: bytes that the cache may have; None for no limit.

    Raises:
        OpenworldError: a limit that is too small for some unit.
    """
    protocol = plan.runs[0].spec.protocol
    if evaluation_of(plan.runs[0].spec).tunings:
        counts, unit = _count_learners(plan, workers, limit), "one learner with one seed"
    else:
        count = _count_judged if protocol == "accuracy-estimation" else _count_shift
        counts, unit = [count(run) for run in plan.runs], _UNIT.get(protocol, "one decomposition")
    runs = zip(plan.runs, counts, strict=True)
    return PlanCost(tuple(RunCost(run.name, run.tables, run.figures, *count) for run, count in runs), unit, limit)


def plain_plan(plan: ReproductionPlan, cost: PlanCost) -> dict:
    """Return the runs with their specs, and the cost, as plain values for JSON."""
    kept = ("name", "tables", "figures", "datasets", "methods", "spec")
    runs = [{key: getattr(run, key) for key in kept} for run in plan.runs]
    parts = ("paper", "tables", "left_out", "remarks", "figures", "figures_left_out")
    counts = {"units": cost.units, "images": cost.images, "bytes": cost.bytes} | asdict(cost)
    return to_json({key: getattr(plan, key) for key in parts} | {"runs": runs, "cost": counts}, "plan")


def _count_learners(plan: ReproductionPlan, workers: int, limit: int | None) -> list[tuple[int, int, int]]:
    """Units, images and bytes of each run, without the units and the encoded images of the runs before it."""
    config = shape(plan.setup.backbone)
    units_before: dict[LearningUnit, None] = {}
    sets_before: dict[EncodedSet, None] = {}
    counts = []
    for run in plan.runs:
        units = [unit for unit in dict.fromkeys(learning_units(run.spec)) if unit not in units_before]
        needed = dict.fromkeys(entry for unit in units for entry in unit.sets)
        made_first([DiskSet(entry.source, entry.encoding, entry.size(config)) for entry in needed], limit, workers)
        new = [entry for entry in needed if entry not in sets_before]
        images = {entry.source: entry.count for entry in new}  # encoded in all their ways together
        records = sum(RECORD + ROW * unit.answers for unit in units)
        counts.append((len(units), sum(images.values()), records + sum(entry.size(config) for entry in new)))
        units_before |= dict.fromkeys(units)
        sets_before |= needed
    return counts


def _count_judged(run: PlannedRun) -> tuple[int, int, int]:
    """Units, images and bytes of a run of accuracy estimation: checkpoints' logits, references' embeddings."""
    spec, images = run.spec, judged_images(run.spec)
    embedded = sum(bool(reference.backbone) for reference in spec.references)
    outputs = images * (4 * run.units * spec.sources[0].count_classes() + EMBEDDING * embedded)
    return run.units, images, outputs + run.units * (4 * RECORD + 2 * SCORE * images)


def _count_shift(run: PlannedRun) -> tuple[int, int, int]:
    """Units, images and bytes of a run of OOD detection; of a twin yet to be made, as many images as it may have."""
    spec, twin = run.spec, run.twin.most_images if run.twin else 0
    images = twin + shown_images(spec)
    detectors = max((len(model.detectors) for model in getattr(spec, "models", ())), default=0)
    embeddings = 0 if getattr(spec, "cells", None) else EMBEDDING * images  # published cells need none
    return run.units, images, embeddings + run.units * (RECORD + 2 * SCORE * images * detectors)  # kept, and recorded


def judged_images(spec) -> int:
    """Count images of the source set and of all conditions of a run of accuracy estimation."""
    home = sum(source.count_images(spec.corrupted_part) for source in spec.sources)
    held = spec.held_out or sum(source.count_images(spec.source_part) for source in spec.sources)
    counts = [_few(target, spec.images) for target in spec.targets]
    rows = zip(counts, spec.targets, strict=True)
    corrupted = [min(home, spec.images or home), *(count for count, target in rows if target.corrupted_row)]
    return held + sum(counts) + len(spec.corruptions) * len(spec.severities) * sum(corrupted)


def shown_images(spec) -> int:
    """Count what every judged model sees: in-distribution test images and those of the pool; or all that are split."""
    if spec.protocol == "decomposed-zero-shot":
        return sum(len(entry.looks) * _few(entry, spec.images) for entry in spec.sets)
    if spec.cells and spec.cells.pictures:  # a twin's cells name no folder
        return TESTED + LISTED[spec.cells.pictures.rpartition("/")[2]]
    tested = sum(source.count_images(spec.id_part) for source in spec.sources)
    pool = sum(
        _few(target, spec.images) for target in spec.pool if target.dataset != FOLDER
    )  # a twin is yet to be made
    return pool + (tested if spec.classes == "all" else tested // 2)


def _few(target, limit: int | None) -> int:
    count = _DRAWN if getattr(target, "as_drawn", False) else target.count_images(target.part)
    return min(count, limit or count)
