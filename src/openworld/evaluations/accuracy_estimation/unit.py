"""The work of a unit: estimators are fitted on the source of one judged model and asked about every condition."""

from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np

from openworld.estimators import Outputs
from openworld.evaluations.accuracy_estimation.class_similarity import taxonomy_of
from openworld.evaluations.accuracy_estimation.examples import example_thumbnails, reference_examples
from openworld.evaluations.accuracy_estimation.metrics import (
    alignment_rows,
    calibration_rows,
    condition_rows,
    image_table,
    note_of,
    source_rows,
    temperature_of,
)
from openworld.evaluations.accuracy_estimation.record import (
    THUMBNAILS,
    AccuracyRecord,
    Condition,
    MethodRecord,
    ReferenceRecord,
    SourceSet,
    TaxonomyRecord,
)
from openworld.evaluations.accuracy_estimation.task import AccuracyTask
from openworld.evaluations.estimates import Answers, fit_all, seconds_alone
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.model_outputs import logits_of
from openworld.evaluations.record_images import thumbnail, with_names
from openworld.evaluations.references import similarities
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Machine
from openworld.runs import UnitResult, to_json


def evaluate(task: AccuracyTask, machine: Machine) -> UnitResult:
    """Fit every estimator on the source of one judged model, and ask it about every condition."""
    source = answers(task, task.ground.source, machine, labelled=True)
    shifts = {
        images.corruption: answers(task, images, machine, labelled=True, alone=True) for images in task.labelled_shifts
    }
    fits = fit_all(task.estimators, source, shifts)
    scale, similarity = temperature_of(source), taxonomy_of(task.ground.sources[0].dataset).similarity
    checkpoint = task.judged_checkpoint
    model = {"model": task.models[task.model].label, "epoch": checkpoint.epoch}
    rows, tables, notes, first = [*source_rows(source, model, task.seed)], [], {}, None
    for number, condition in enumerate(task.ground.conditions):
        target = answers(task, condition.images, machine)
        first = first or target
        estimates = fits.estimates(target, condition.corruption, task.resamples)
        place = Condition(**condition.facts()).place | model | {"seed": task.seed}
        rows += condition_rows(target, estimates, place)
        rows += calibration_rows(task, target, scale, machine, place)
        rows += alignment_rows(task, target, scale, similarity, place)
        notes[condition.name] = {label: note_of(estimate) for label, estimate in estimates.items()}
        images = condition.images.load()
        tables.append(with_names(image_table(target, scale, number), images.classnames, images.path_of))
    examples = reference_examples(task, first, scale, machine) if task.is_first else ()
    attachments = (*_thumbnails(task, tables), *example_thumbnails(task, examples)) if task.is_first else ()
    return UnitResult(
        outputs={"images": {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}},
        metrics=to_json(replace(_record(task, source, machine), notes=notes, examples=examples)),
        attachments=dict(attachments) | rows_of_unit("accuracy-estimation", rows),
        timing=seconds_alone(task.estimators, source, shifts, first, machine.device).timing,
    )


def answers(
    task: AccuracyTask, images: ImageSelection, machine: Machine, *, labelled: bool = False, alone: bool = False
) -> Answers:
    """Return what the cache holds of images.

    Args:
        task: says who is judged, its partners and the references.
        labelled: let estimators see the labels: the source.
        alone: without partners and without references but the first: what a score is given.
    """
    logits = logits_of(images, task.judged_checkpoint, machine)
    rows = np.flatnonzero(np.isfinite(logits[:, 0]))
    labels = images.load().labels[rows]
    partners = () if alone else tuple(logits_of(images, partner, machine)[rows] for partner in task.partners)
    known = Outputs(logits[rows], labels if labelled else None, partners=partners)
    references = task.score_references if alone else task.references
    outputs = {}
    for reference in references:
        views = similarities(reference, images, rows, task.ground.sources[0].dataset, machine)
        outputs[reference.name] = Outputs(known.logits, known.labels, views, known.partners)
    return Answers(rows, labels, outputs or {"": known})


def _record(task: AccuracyTask, source: Answers, machine: Machine) -> AccuracyRecord:
    checkpoint, taxonomy = task.judged_checkpoint, taxonomy_of(task.ground.sources[0].dataset)
    model = task.models[task.model]
    return AccuracyRecord(
        protocol="accuracy-estimation",
        model=model.label,
        architecture=checkpoint.load(machine).architecture,
        seed=task.seed,
        epoch=checkpoint.epoch,
        checkpoint=task.checkpoint,
        sources=tuple(SourceSet(source.dataset, source.domain) for source in task.ground.sources),
        classes=source.any.classes,
        references=tuple(reference.name for reference in task.references),
        reference_models=tuple(ReferenceRecord(**asdict(reference)) for reference in task.references),
        training={"recipe": model.recipe, "history": checkpoint.load(machine).history if checkpoint.training else ()},
        source_images=source.any.n,
        source_mistakes=source.any.mistakes,
        estimators=tuple(MethodRecord(**estimator.facts()) for estimator in task.estimators),
        left_out=task.left_out,
        taxonomy=TaxonomyRecord(taxonomy.name, taxonomy.reason),
        conditions=tuple(Condition(**condition.facts()) for condition in task.ground.conditions),
    )


def _thumbnails(task: AccuracyTask, tables: list[dict]) -> Iterator[tuple[str, bytes]]:
    """A thumbnail or two of every condition, in a folder by its number; the same places of all."""
    for number, (condition, table) in enumerate(zip(task.ground.conditions, tables, strict=True)):
        images, rows = condition.images.load(), table["id"]
        for place in (1, 2) if condition.kind == "natural" else (1,):
            row = int(rows[len(rows) * place // 3])
            yield f"{THUMBNAILS}/{number}/{row}.png", thumbnail(images.image(row))
