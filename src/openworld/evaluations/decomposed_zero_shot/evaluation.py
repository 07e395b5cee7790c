"""Decomposed zero-shot accuracy as an evaluation: a unit names all images with whole features and both halves."""

from collections.abc import Iterator, Mapping
from itertools import product

from openworld.evaluations.decomposed_zero_shot.report import ANY, FEW_CLASSES, PARTS, RANKS
from openworld.evaluations.decomposed_zero_shot.spec import DecomposedZeroShotSpec
from openworld.evaluations.evaluation import Evaluation
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Clock, Machine, backbone, encoded
from openworld.learners.engine.text_features import encode_names
from openworld.results import METRICS, Result, Value, interval_of, mean
from openworld.runs import UnitResult
from openworld.shifts import decomposed_zero_shot
from openworld.shifts.zero_shot import DecomposedAccuracy


def evaluate(task: DecomposedZeroShotSpec, machine: Machine) -> UnitResult:
    """Name all images with whole features and with the halves of one decomposition."""
    clock = Clock(machine)
    halves, names = task.split.load(machine), task.names_of.load().classnames
    texts = encode_names(backbone(task.backbone, machine.device), names, task.class_sentences).cpu()
    by_set = {}
    for name, images in task.image_sets.items():
        features = encoded(images.load(), task.backbone, machine)
        table = decomposed_zero_shot(halves, features.embeddings[:], features.labels, texts, groups=features.groups)
        by_set[name] = {row.part: row for row in table}
    clock.stop("naming")
    by_row: dict[str, dict[str, dict[str, DecomposedAccuracy]]] = {}
    for entry in task.sets:
        own = by_row.setdefault(entry.row, {})
        own |= {entry.title(appearance): by_set[entry.title(appearance)] for appearance in entry.looks}

    count = sum(table["whole"].top1.n for table in by_row[task.sets[0].row].values())
    about = ((METRICS["images"], count), (METRICS["classes"], len(names)))
    shared = [*accuracies(by_row, "whole", ANY), *(Result("", metric, Value(number)) for metric, number in about)]
    rows = [row for part in ("semantic", "covariate") for row in accuracies(by_row, part, task.method.label)]
    return UnitResult(
        metrics={
            "protocol": task.protocol,
            "method": task.method.label,
            "seed": task.seed,
            "backbone": task.backbone,
            "taught_by": {"names": len(task.split.names), "sentences": len(task.split.templates)},
            "widths": {"semantic": halves.semantic.shape[1], "covariate": halves.covariate.shape[1]},
            "decomposition": halves.about,
        },
        attachments=rows_of_unit("decomposed-zero-shot", rows, seed=task.seed, shared=shared),
        timing=clock.timing,
    )


def accuracies(
    by_row: Mapping[str, Mapping[str, Mapping[str, DecomposedAccuracy]]], part: str, entity: str
) -> Iterator[Result]:
    """Yield the accuracies of a part of the features by row of images: the mean of its sets, and each of several."""
    for (row, tables), rank in product(by_row.items(), RANKS):
        where, metric, values = {"part": PARTS[part], "images": row}, METRICS[rank], {}
        for name, table in tables.items():
            share, values[name] = getattr(table[part], rank), Value(None, reason=FEW_CLASSES)
            if share is not None:
                values[name] = Value(share.value, interval_of(share.interval, "images", share.n))
        if len(values) == 1:  # several sets show the same images: nothing simple can be said of their mean's chance
            yield Result(entity, metric, next(iter(values.values())), where)
            continue
        yield Result(entity, metric, Value(mean([own.value for own in values.values()]), reason=FEW_CLASSES), where)
        for name, value in values.items():
            yield Result(entity, metric, value, {**where, "set": name})


EVALUATION = Evaluation(
    "decomposed-zero-shot",
    DecomposedZeroShotSpec,
    DecomposedZeroShotSpec.tasks,
    evaluate,
    version=3,
    data=lambda spec: dict.fromkeys([*(entry.data for entry in spec.sets), *map(DatasetSpec, spec.names)]),
)
