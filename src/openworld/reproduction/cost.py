"""What a plan costs: units, images, bytes on disk. Counted from specs and published counts alone.

No data set, image or weight needs to be there. How long it takes depends on the machine, and is said while it runs.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from openworld._sizes import size_in_words as size
from openworld.evaluations import evaluation_of
from openworld.evaluations.learning_units import LearningUnit
from openworld.evaluations.learning_units import units_of as learning_units
from openworld.evaluations.runtime import shape
from openworld.report.table import Column, Row, Table
from openworld.reproduction.cache_use import CacheUse, Ledger
from openworld.reproduction.plan import ReproductionPlan, in_words
from openworld.reproduction.rendered_twin import FOLDER
from openworld.reproduction.settings import PlannedRun
from openworld.results import METRICS, TEXT, Metric, Value
from openworld.runs import to_json

RECORD_BYTES, JUDGED_RECORD_BYTES = 100_000, 400_000
"""Of a unit's record beside its rows: thumbnails and numbers; of a judged classifier's."""

ROW_BYTES, JUDGED_ROW_BYTES, SCORE_BYTES = 24, 16, 8
"""Of an image in it; of one that a classifier was judged on; of every detector's score."""

WIDTH_BYTES = 4 * 512
"""Of an image's embedding, by which shift degrees are measured."""

LISTED = {"imagenet21k": 522_500 + 11_060_223, "SynIS": 320_000}
"""Images of the published lists (qqwsad5/IS-OOD @ 7b52db8): both parts of ImageNet-21K-P, and Syn-IS.

The training part is counted as Alibaba-MIIL/ImageNet21K states its winter 2021 release; its lists were not counted.
"""

UNITS = Metric("units", "units", "count", 0, 0, (0.0, None))
TESTED = 45_000
"""In-distribution test images of the published list."""

_DRAWN = 100  # concepts of the embedded world, each drawn once in a style
_DONE = "What is there already is not done again."


@dataclass(frozen=True)
class RunCost:
    """One run of a plan.

    Args:
        name: of the run.
        tables: numbers of the tables that are read from it.
        units: how many that no run before it has done.
        images: to be encoded or looked at, those of the runs before it left out.
        figures: numbers of the figures that are drawn from it.
    """

    name: str
    tables: tuple[str, ...]
    units: int
    images: int
    figures: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanCost:
    """A plan.

    Args:
        runs: one by one.
        cache_bytes: of encoded images and of models' outputs, at most.
        record_bytes: of the units' records.
        sentences: all of it in words.
        passes: through the image tower: images and their augmented views.
        trainings: of classifiers that are judged.
        limited: what becomes of encoded images where the cache has a limit; None where it has none.
    """

    runs: tuple[RunCost, ...]
    cache_bytes: int
    record_bytes: int
    sentences: tuple[str, ...]
    passes: int
    trainings: int = 0
    limited: CacheUse | None = None

    @property
    def units(self) -> int:
        """How many units all runs have."""
        return _units(self.runs)

    @property
    def images(self) -> int:
        """How many images all runs encode or look at."""
        return _images(self.runs)

    @property
    def table(self) -> Table:
        """Its runs: units, images, and what they are for."""
        columns = (Column(UNITS), Column(METRICS["images"]), Column(TEXT, "for"))
        cells = [(Value(run.units), Value(run.images), in_words(run.tables, run.figures)) for run in self.runs]
        rows = tuple(Row(run.name, counts) for run, counts in zip(self.runs, cells, strict=True))
        return Table("plan", "", "", "run", columns, rows, best="")


def cost(plan: ReproductionPlan, workers: int = 1, limit: int | None = None) -> PlanCost:
    """What a plan costs.

    Args:
        plan: of `reproduction.plan`.
        workers: units that run at a time, at least 1; asked where there is a limit.
        limit: bytes that the cache may have; None for no limit.

    Raises:
        OpenworldError: a limit that is too small for some unit.
    """
    spec = plan.runs[0].spec
    if evaluation_of(spec).tunings:
        return _of_learners(plan, workers, limit)
    return _of_estimates(plan) if spec.protocol == "accuracy-estimation" else _of_shift(plan)


def plain_plan(plan: ReproductionPlan, cost: PlanCost) -> dict:
    """Return the runs with their specs, and the cost, as plain values for JSON."""
    runs = [
        {"name": run.name, "tables": run.tables, "figures": run.figures, "datasets": run.datasets}
        | {"methods": run.methods, "spec": run.spec}
        for run in plan.runs
    ]
    tables = {"paper": plan.paper, "tables": plan.tables, "left_out": plan.left_out, "remarks": plan.remarks}
    tables |= {"figures": plan.figures, "figures_left_out": plan.figures_left_out}
    counts = {"units": cost.units, "images": cost.images} | asdict(cost)
    return to_json(tables | {"runs": runs, "cost": counts}, "plan")


def _units(runs: Iterable[RunCost]) -> int:
    return sum(run.units for run in runs)


def _images(runs: Iterable[RunCost]) -> int:
    return sum(run.images for run in runs)


# --- learners ------------------------------------------------------------------------------------------------


def _of_learners(plan: ReproductionPlan, workers: int, limit: int | None) -> PlanCost:
    ledger = Ledger(shape(plan.setup.backbone), limit, workers)
    known: dict[LearningUnit, None] = {}
    runs, passes = [], 0
    for run in plan.runs:
        units = [unit for unit in dict.fromkeys(learning_units(run.spec)) if unit not in known]
        known |= dict.fromkeys(units)
        images, repeated = ledger.add(units)
        passes += repeated
        runs.append(RunCost(run.name, run.tables, len(units), images, run.figures))
    records = sum(RECORD_BYTES + ROW_BYTES * unit.answers for unit in known)
    sentence = (
        f"In all {_units(runs):,} units (one learner with one seed), each counted once; {_images(runs):,} images to "
        f"encode, with their augmented views {passes:,} passes through the image tower; {size(ledger.use.most)} of "
        f"disk for them and {size(records)} for the records. {_DONE}"
    )
    sentences, use = (sentence,), None if limit is None else ledger.use
    if use:
        sentences += (_limited(use),)
    return PlanCost(tuple(runs), ledger.use.most, records, sentences, passes, limited=use)


def _limited(use: CacheUse) -> str:
    """What is kept and what is made again, where the cache has a limit."""
    return (
        f"Of encoded images {size(use.most)} are kept at a time, of {size(use.whole)}: embeddings, the training set "
        "that a unit is at, and what else there is room for; what was used longest ago goes first. Training sets made "
        f"more than once: {use.made_again:,}. Patch rows computed again by units and not kept: of {use.streamed:,} "
        "images; pixels that are not kept are read from the images' files."
    )


# --- accuracy estimation -------------------------------------------------------------------------------------


def _of_estimates(plan: ReproductionPlan) -> PlanCost:
    runs = tuple(RunCost(run.name, run.tables, run.units, judged_images(run.spec), run.figures) for run in plan.runs)
    specs = [run.spec for run in plan.runs]
    cache = sum(4 * run.images * _columns(spec, run.units) for run, spec in zip(runs, specs, strict=True))
    records = sum(run.units * (JUDGED_RECORD_BYTES + JUDGED_ROW_BYTES * run.images) for run in runs)
    trainings = sum(len(spec.seeds) * sum(not model.weights for model in spec.models) for spec in specs)
    sentence = (
        f"In all {trainings} trainings, of which {_units(runs):,} checkpoints are evaluated; {_images(runs):,} images, "
        f"each looked at by every checkpoint of its run and by the references; {size(cache)} of disk for their outputs "
        f"and {size(records)} for the records. {_DONE}"
    )
    return PlanCost(runs, cache, records, (sentence,), _images(runs), trainings)


def judged_images(spec) -> int:
    """Images of the source set and of all conditions of a run of accuracy estimation."""
    sources, targets, limit = spec.sources, spec.targets, spec.images
    home = sum(source.count_images(spec.corrupted_part) for source in sources)
    held = spec.held_out or sum(source.count_images(spec.source_part) for source in sources)
    counts = [_few(target.count_images(target.part), limit) for target in targets]
    corrupted = [_few(home, limit), *(n for n, target in zip(counts, targets, strict=True) if target.corrupted_row)]
    return held + sum(counts) + len(spec.corruptions) * len(spec.severities) * sum(corrupted)


def _columns(spec, images: int) -> int:
    """Numbers that are kept of every image: logits of all judged classifiers, embeddings of the references."""
    embedded = sum(bool(reference.backbone) for reference in spec.references)
    return images * spec.sources[0].count_classes() + 512 * embedded


def _few(count: int, limit: int | None) -> int:
    return min(count, limit or count)


# --- measured shift ------------------------------------------------------------------------------------------


def _of_shift(plan: ReproductionPlan) -> PlanCost:
    runs = tuple(RunCost(run.name, run.tables, run.units, _shown_by(run), run.figures) for run in plan.runs)
    embeddings = scores = 0
    for run, spec in zip(runs, (planned.spec for planned in plan.runs), strict=True):
        embeddings += 0 if getattr(spec, "cells", None) else WIDTH_BYTES * run.images  # published cells need none
        detectors = max((len(model.detectors) for model in getattr(spec, "models", ())), default=0)
        scores += run.units * run.images * detectors
    kept, records = embeddings + SCORE_BYTES * scores, RECORD_BYTES * _units(runs) + SCORE_BYTES * scores
    of_halves = [run.units for run, planned in zip(runs, plan.runs, strict=True) if not hasattr(planned.spec, "models")]
    judged, split = _units(runs) - sum(of_halves), sum(of_halves)
    kinds = [f"{judged:,} classifiers, each with every detector"] * bool(judged)
    kinds += [f"{split:,} decompositions"] * bool(split)
    sentence = (
        f"In all {' and '.join(kinds)}; "
        f"{_images(runs):,} images, beside those that are learned from; {size(kept)} of disk for embeddings "
        f"and scores, and {size(records)} for the records. {_DONE}"
    )
    return PlanCost(runs, kept, records, (sentence,), _images(runs))


def _shown_by(run: PlannedRun) -> int:
    """What every judged model of a run sees; of a set that is yet to be made, as many images as it may have."""
    if run.twin is None:
        return shown_images(run.spec)
    spec = replace(run.spec, pool=tuple(entry for entry in run.spec.pool if entry.dataset != FOLDER))
    return run.twin.most_images + _pool_and_tested(spec)


def shown_images(spec) -> int:
    """What every judged model sees: in-distribution test images and those of the pool; or all that are split."""
    if spec.protocol == "decomposed-zero-shot":
        return sum(len(entry.looks) * _shown(entry, spec.images) for entry in spec.sets)
    if spec.cells:
        return TESTED + LISTED[spec.cells.pictures.rpartition("/")[2]]
    return _pool_and_tested(spec)


def _pool_and_tested(spec) -> int:
    tested = sum(source.count_images(spec.id_part) for source in spec.sources)
    tested = tested if spec.classes == "all" else tested // 2
    return tested + sum(_few(target.count_images(target.part), spec.images) for target in spec.pool)


def _shown(entry, limit: int | None) -> int:
    """Images of an entry in one look; drawings as drawn are shown once each, other test drawings several times."""
    return _few(_DRAWN if entry.as_drawn else entry.count_images(entry.part), limit)
