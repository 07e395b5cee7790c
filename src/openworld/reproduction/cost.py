"""What a plan costs: units, images, bytes on disk. Counted from specs and published counts alone.

No data set, image or weight needs to be there. How long it takes depends on the machine, and is said while it runs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from openworld.core.sizes import size_in_words
from openworld.datasets import PUBLISHED, SHIFTED
from openworld.evaluations import evaluation_of
from openworld.evaluations.encoding import EncodedSet, with_room
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.learning import count_views
from openworld.evaluations.runtime import shape
from openworld.features import Encoding, encoded_size
from openworld.learners import configure, encoding_for, find_learner
from openworld.report.table import Column, Row, Table
from openworld.reproduction.plan import ReproductionPlan, in_words
from openworld.reproduction.planned_runs import TWIN_FOLDER, PlannedRun
from openworld.results import METRICS, TEXT, Metric, Value
from openworld.runs import to_json

RECORD, ROW, SCORE, EMBEDDING = 100_000, 24, 8, 4 * 512
"""Bytes of a unit's record beside its rows (thumbnails, numbers), and of an image's row, score and embedding."""

# Images of the published lists (qqwsad5/IS-OOD @ 7b52db8): both parts of ImageNet-21K-P, Syn-IS, and the test images.
# The training part is counted as Alibaba-MIIL/ImageNet21K states its winter 2021 release; its lists were not counted.
LISTED = {"imagenet21k": 522_500 + 11_060_223, "SynIS": 320_000}
TESTED = 45_000

UNITS = Metric("units", "units", "count", 0, 0, (0.0, None))
_UNIT = {"accuracy-estimation": "one checkpoint of a classifier", "ood-detection": "one classifier with every detector"}


def cost(plan: ReproductionPlan, limit: int | None = None) -> dict[str, Any]:
    """Count what a plan of `reproduction.plan` costs, plain values; a limit of the cache that is too small is refused.

    Units, images and bytes of the whole plan, bytes where the cache has no limit; and of each run: its name, tables and
    figures, units that no run before it has done, images encoded or looked at for them, bytes on disk.
    """
    spec, kinds = plan.runs[0].spec, ("units", "images", "bytes")
    if evaluation_of(spec).tunings:
        counts, unit = _count_learners(plan, limit), "one learner with one seed"
    else:
        counts, unit = [_count_models(run) for run in plan.runs], _UNIT.get(spec.protocol, "one decomposition")
    runs: list[dict[str, Any]] = [
        {"name": run.name, "tables": run.tables, "figures": run.figures} | dict(zip(kinds, count, strict=True))
        for run, count in zip(plan.runs, counts, strict=True)
    ]
    return {kind: sum(run[kind] for run in runs) for kind in kinds} | {"runs": runs, "unit": unit}


def cost_in_words(cost: Mapping[str, Any]) -> str:
    return (
        f"In all {cost['units']:,} units ({cost['unit']}), each counted once; {cost['images']:,} images; "
        f"{size_in_words(cost['bytes'])} of disk without --cache-limit. What is there already is not done again."
    )


def cost_table(cost: Mapping[str, Any]) -> Table:
    """Return the runs of a plan: units, images, disk, and what they are for."""
    columns = (Column(UNITS), Column(METRICS["images"]), Column(TEXT, "disk"), Column(TEXT, "for"))
    rows = []
    for run in cost["runs"]:
        counts = Value(run["units"]), Value(run["images"]), size_in_words(run["bytes"])
        rows.append(Row(run["name"], (*counts, in_words(run["tables"], run["figures"]))))
    return Table("plan", "", "", "run", columns, tuple(rows), best="")


def plain_plan(plan: ReproductionPlan, cost: Mapping[str, Any]) -> dict:
    """Return the runs with their specs, and the cost, as plain values for JSON."""
    keys = ("name", "tables", "figures", "datasets", "methods", "spec")
    runs = [{key: getattr(run, key) for key in keys} for run in plan.runs]
    parts = ("paper", "tables", "left_out", "remarks", "figures", "figures_left_out")
    return to_json({key: getattr(plan, key) for key in parts} | {"runs": runs, "cost": dict(cost)}, "plan")


def _count_learners(plan: ReproductionPlan, limit: int | None) -> list[tuple[int, int, int]]:
    """Units, images and bytes of each run, without the units and the encoded images of the runs before it."""
    config = shape(plan.setup.backbone)
    units_before: set[tuple] = set()
    sizes: dict[EncodedSet, int] = {}
    counts = []
    for run in plan.runs:
        units = [unit for unit in dict.fromkeys(learning_units(run.spec)) if unit not in units_before]
        needed = dict.fromkeys(entry for _, sets in units for entry in sets)
        new = {entry: encoded_size(config, entry[2], count_images(entry[0])) for entry in needed if entry not in sizes}
        images = sum(map(count_images, {source for source, *_ in new}))  # encoded in all their ways together
        rows = sum(count_images(source) for _, sets in units for source, *_ in sets[1:])
        counts.append((len(units), images, RECORD * len(units) + ROW * rows + sum(new.values())))
        units_before |= set(units)
        sizes |= new
    if limit is not None:  # refused before the first run where it is too small for any
        with_room(sizes, limit, workers=1)
    return counts


def learning_units(spec) -> Iterator[tuple[Any, tuple[EncodedSet, ...]]]:
    """Yield (learner, settings resolved; what it reads, training images first) of every unit of a run of learners."""
    every_shots = spec.shots if isinstance(spec.shots, tuple) else (spec.shots,)
    tunings = evaluation_of(spec).tunings
    for data, tested, base_only in tunings(spec) if tunings else ():
        for entry in spec.compared:
            learner = configure(find_learner(entry.learner), entry.settings, data.dataset, spec.published)
            plain = encoding_for(learner)
            tests = tuple((each.images(), spec.backbone, plain) for each in dict.fromkeys(tested))
            for shots in every_shots:
                for seed in spec.seeds:
                    how = {"seed": seed, "shots": shots, "draw": spec.draw, "base_only": base_only}
                    views = encoding_for(learner, Encoding(count_views(spec.views, learner), seed=seed))
                    yield learner, ((data.images("train", **how), spec.backbone, views), *tests)


def _count_models(run: PlannedRun) -> tuple[int, int, int]:
    """Units, images and bytes of a run of judged models; of a twin yet to be made, as many images as it may have."""
    spec = run.spec
    images = seen_images(spec) + (run.twin.most_images if run.twin else 0)
    if spec.protocol == "accuracy-estimation":  # logits of the checkpoints, embeddings of the references
        embedded = sum(bool(reference.backbone) for reference in spec.references)
        outputs = images * (4 * run.units * spec.sources[0].count_classes() + EMBEDDING * embedded)
        return run.units, images, outputs + run.units * (4 * RECORD + 2 * SCORE * images)
    detectors = max((len(model.detectors) for model in getattr(spec, "models", ())), default=0)
    embeddings = 0 if getattr(spec, "cells", None) else EMBEDDING * images  # published cells need none
    return run.units, images, embeddings + run.units * (RECORD + 2 * SCORE * images * detectors)  # kept, and recorded


def seen_images(spec) -> int:
    """Count the images that every judged model of a run sees, without those of a twin, which is yet to be made."""
    if spec.protocol == "decomposed-zero-shot":
        return sum(map(count_images, spec.image_sets.values()))
    if spec.protocol == "accuracy-estimation":
        sets = [spec.source, *(condition.images for condition in spec.conditions)]
    elif spec.cells and spec.cells.images:  # a twin's cells name no folder
        return TESTED + LISTED[spec.cells.images.rpartition("/")[2]]
    else:
        ground = spec.ground
        pool = zip(spec.pool, ground.tested, strict=True)
        sets = [ground.test, *(images for entry, images in pool if entry.dataset != TWIN_FOLDER)]
    return sum(map(count_images, sets))


def count_images(images: ImageSelection) -> int:
    """Return how many images a set of a plan has: by published counts where there are any, so that none is read."""
    if not all(source.dataset in PUBLISHED or source.dataset in SHIFTED for source in images.sources):
        return len(replace(images, names_of=None, corruption=None, severity=None, cut=None, appearance="").load())
    if images.shots is None:
        count = sum(source.count_images(images.part) for source in images.sources)
    else:
        classes = (source.count_base() if images.base_only else source.count_classes() for source in images.sources)
        count = images.shots * sum(classes)
    return min(count, images.limit or count)
