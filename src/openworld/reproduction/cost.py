"""What a plan costs: units, images, bytes on disk. Counted from specs and published counts alone.

No data set, image or weight needs to be there. How long it takes depends on the machine, and is said while it runs.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from openworld._sizes import size_in_words
from openworld.datasets import PUBLISHED
from openworld.evaluations import evaluation_of
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.learning import count_views
from openworld.evaluations.runtime import shape
from openworld.evaluations.tasks import with_room
from openworld.features import Encoding, encoded_size
from openworld.learners import configure, encoding_for, find_learner
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
    """Units of a run that no run before it has done, images encoded or looked at for them, and bytes on disk."""

    name: str
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    units: int
    images: int
    bytes: int


@dataclass(frozen=True)
class PlanCost:
    """A plan's runs, and what a unit of them is."""

    runs: tuple[RunCost, ...]
    unit: str

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
        return (
            f"In all {self.units:,} units ({self.unit}), each counted once; {self.images:,} images; "
            f"{size_in_words(self.bytes)} of disk without --cache-limit. What is there already is not done again."
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


@dataclass(frozen=True)
class EncodedSet:
    """An image set in one encoding, and how many images it has."""

    source: ImageSelection
    encoding: Encoding
    count: int

    def size(self, config) -> int:
        """Bytes on disk, encoded by a backbone of that config."""
        return encoded_size(config, self.encoding, self.count)


@dataclass(frozen=True)
class LearningUnit:
    """One learner with one seed: settings resolved, and what it reads, training images first."""

    learner: object
    sets: tuple[EncodedSet, ...]


def cost(plan: ReproductionPlan, limit: int | None = None) -> PlanCost:
    """Count what a plan of `reproduction.plan` costs; a limit of the cache that is too small is refused."""
    protocol = plan.runs[0].spec.protocol
    if evaluation_of(plan.runs[0].spec).tunings:
        counts, unit = _count_learners(plan, limit), "one learner with one seed"
    else:
        count = _count_judged if protocol == "accuracy-estimation" else _count_shift
        counts, unit = [count(run) for run in plan.runs], _UNIT.get(protocol, "one decomposition")
    runs = zip(plan.runs, counts, strict=True)
    return PlanCost(tuple(RunCost(run.name, run.tables, run.figures, *count) for run, count in runs), unit)


def plain_plan(plan: ReproductionPlan, cost: PlanCost) -> dict:
    """Return the runs with their specs, and the cost, as plain values for JSON."""
    kept = ("name", "tables", "figures", "datasets", "methods", "spec")
    runs = [{key: getattr(run, key) for key in kept} for run in plan.runs]
    parts = ("paper", "tables", "left_out", "remarks", "figures", "figures_left_out")
    counts = {"units": cost.units, "images": cost.images, "bytes": cost.bytes} | asdict(cost)
    return to_json({key: getattr(plan, key) for key in parts} | {"runs": runs, "cost": counts}, "plan")


def _count_learners(plan: ReproductionPlan, limit: int | None) -> list[tuple[int, int, int]]:
    """Units, images and bytes of each run, without the units and the encoded images of the runs before it."""
    config = shape(plan.setup.backbone)
    units_before: dict[LearningUnit, None] = {}
    sets_before: dict[EncodedSet, None] = {}
    counts = []
    for run in plan.runs:
        units = [unit for unit in dict.fromkeys(learning_units(run.spec)) if unit not in units_before]
        needed = dict.fromkeys(entry for unit in units for entry in unit.sets)
        new = [entry for entry in needed if entry not in sets_before]
        images = {entry.source: entry.count for entry in new}  # encoded in all their ways together
        records = sum(RECORD + ROW * sum(entry.count for entry in unit.sets[1:]) for unit in units)
        counts.append((len(units), sum(images.values()), records + sum(entry.size(config) for entry in new)))
        units_before |= dict.fromkeys(units)
        sets_before |= needed
    if limit is not None:  # refused before the first run where it is too small for any
        sizes = {(entry.source, "", entry.encoding): entry.size(config) for entry in sets_before}
        with_room(sizes, limit, workers=1)
    return counts


def learning_units(spec) -> Iterator[LearningUnit]:
    """Every unit of a run whose evaluation has `tunings`, in its order: learners, shots, seeds."""
    every_shots = spec.shots if isinstance(spec.shots, tuple) else (spec.shots,)
    for tuning in evaluation_of(spec).tunings(spec):
        for entry in spec.learners:
            for shots in every_shots:
                yield from (_learning_unit(entry, shots, seed, spec, tuning) for seed in spec.seeds)


def _learning_unit(entry, shots: int, seed: int, spec, tuning) -> LearningUnit:
    kind, data = find_learner(entry.learner), tuning.data
    learner = configure(kind, entry.settings, data.dataset, spec.published)
    views = Encoding(count_views(spec.views, learner), seed=seed)
    source = data.images("train", seed=seed, shots=shots, draw=spec.draw, base_only=tuning.base_only)
    classes = data.count_base() if tuning.base_only else data.count_classes()
    count = classes * shots if data.dataset in PUBLISHED else len(source.load())
    training = EncodedSet(source, encoding_for(kind, views), count)
    tested = dict.fromkeys(tuning.tested)
    tests = (EncodedSet(data.images(), encoding_for(kind), data.count_images()) for data in tested)
    return LearningUnit(learner, (training, *tests))


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
