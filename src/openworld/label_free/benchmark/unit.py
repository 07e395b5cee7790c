"""The work of a unit: estimators are fitted on the source of one judged model and asked about every condition."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from openworld.estimators import Outputs
from openworld.estimators.engine.temperature import probabilities, temperature_of
from openworld.evaluations.estimates import Answers, fit_all, own_temperature, seconds_alone, similarities
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.model_outputs import logits_of
from openworld.evaluations.record_images import thumbnail, with_names
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Machine
from openworld.label_free.benchmark.arrays import EXAMPLES, NAME, THUMBNAILS
from openworld.label_free.benchmark.class_similarity import taxonomy_of
from openworld.label_free.benchmark.metrics import (
    alignment_rows,
    calibration_rows,
    condition_rows,
    image_table,
    note_of,
    source_rows,
)
from openworld.label_free.benchmark.task import AccuracyTask
from openworld.runs import UnitResult, to_json

SHOWN, CLASSES = 8, 5
"""Example images, and the likeliest classes that are kept of each."""


def evaluate(task: AccuracyTask, machine: Machine) -> UnitResult:
    """Fit every estimator on the source of one judged model, and ask it about every condition."""
    source = answers(task, task.ground.source, machine, labelled=True)
    shifts = {
        images.corruption: answers(task, images, machine, labelled=True, alone=True) for images in task.labelled_shifts
    }
    fits = fit_all(task.estimators, source, shifts)
    scale, similarity = temperature_of(source.any).value, taxonomy_of(task.ground.sources[0].dataset).similarity
    model = {"model": task.models[task.model].label, "epoch": task.judged_checkpoint.epoch}
    rows, tables, notes, first = [*source_rows(source, model, task.seed)], [], {}, None
    for number, condition in enumerate(task.ground.conditions):
        target = answers(task, condition.images, machine)
        first = first or target
        estimates = fits.estimates(target, condition.corruption, task.resamples)
        place = condition.place | model | {"seed": task.seed}
        rows += condition_rows(target, estimates, place)
        rows += calibration_rows(task, target, scale, machine, place)
        rows += alignment_rows(task, target, scale, similarity, place)
        notes[condition.name] = {label: note_of(estimate) for label, estimate in estimates.items()}
        images = condition.images.load()
        tables.append(with_names(image_table(target, scale, number), images.classnames, images.path_of))

    examples = [*_reference_examples(task, first, scale, machine)] if task.is_first else []
    thumbnails = dict(_thumbnails(task, tables, examples)) if task.is_first else {}
    return UnitResult(
        outputs={"images": {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}},
        metrics=to_json(model | _facts(task, source, machine) | {"notes": notes, "examples": examples}),
        attachments=thumbnails | rows_of_unit(NAME, rows),
        timing=seconds_alone(task.estimators, source, shifts, first, machine.device),
    )


def answers(
    task: AccuracyTask, images: ImageSelection, machine: Machine, *, labelled: bool = False, alone: bool = False
) -> Answers:
    """Return what the cache holds of images; `labelled` lets estimators see the labels, as those of the source."""
    logits = logits_of(images, task.judged_checkpoint, machine)
    rows = np.flatnonzero(np.isfinite(logits[:, 0]))
    labels = images.load().labels[rows]
    # What a score is given is alone: without partners, and with no references but those that scores consult.
    partners = () if alone else tuple(logits_of(images, partner, machine)[rows] for partner in task.partners)
    known = Outputs(logits[rows], labels if labelled else None, partners=partners)
    outputs = {}
    for reference in task.score_references if alone else task.references:
        views = similarities(reference, images, rows, task.ground.sources[0].dataset, machine)
        outputs[reference.name] = Outputs(known.logits, known.labels, views, known.partners)
    return Answers(rows, labels, outputs or {"": known})


def _facts(task: AccuracyTask, source: Answers, machine: Machine) -> dict[str, Any]:
    """Return what the unit was: conditions in the order of their numbers in tables and attachments."""
    checkpoint, taxonomy = task.judged_checkpoint, taxonomy_of(task.ground.sources[0].dataset)
    history = checkpoint.load(machine).history if checkpoint.training else ()
    return {
        "protocol": NAME,
        "architecture": checkpoint.load(machine).architecture,
        "seed": task.seed,
        "checkpoint": task.checkpoint,
        "sources": [{"dataset": each.dataset, "domain": each.domain} for each in task.ground.sources],
        "classes": source.any.classes,
        "references": [reference.name for reference in task.references],
        "reference_models": [asdict(reference) for reference in task.references],
        "training": {"recipe": task.models[task.model].recipe, "history": history},
        "source_images": source.any.n,
        "source_mistakes": source.any.mistakes,
        "estimators": [estimator.facts() for estimator in task.estimators],
        "left_out": task.left_out,
        "taxonomy": {"name": taxonomy.name, "reason": taxonomy.reason},
        "conditions": [condition.facts for condition in task.ground.conditions],
    }


def _thumbnails(task: AccuracyTask, tables: list[dict], examples: list[Mapping]) -> Iterator[tuple[str, bytes]]:
    """Yield one or two of every condition, the same places of all, in folders by number, and those of examples."""
    for number, (condition, table) in enumerate(zip(task.ground.conditions, tables, strict=True)):
        images, rows = condition.images.load(), table["id"]
        for place in (1, 2) if condition.kind == "natural" else (1,):
            row = int(rows[len(rows) * place // 3])
            yield f"{THUMBNAILS}/{number}/{row}.png", thumbnail(images.image(row))
    images = task.ground.conditions[0].images.load()
    for number in sorted({example["id"] for example in examples}):
        yield f"{EXAMPLES}/{number}.png", thumbnail(images.image(number))


def _reference_examples(task: AccuracyTask, target: Answers, scale: float, machine: Machine) -> Iterator[dict]:
    """Yield what every reference that is a model says of the same images, before and after calibration (Figure 2)."""
    # Softmax of bare similarities (raw), at the reference's own temperature, and calibrated at test time.
    images = task.ground.conditions[0].images.load()
    models = [reference for reference in task.references if reference.is_model]
    places = _example_places(target.outputs[models[0].name].reference, target.labels) if models else []
    for reference in models:
        similarity = target.outputs[reference.name].reference[places]
        tau = target.tau(reference.name, scale).value
        temperatures = {"raw": 1.0, "own": own_temperature(reference, machine), "calibrated": tau}
        scaled = {name: probabilities(similarity, temperature) for name, temperature in temperatures.items()}
        for number, place in enumerate(places.tolist()):
            likeliest = np.argsort(-similarity[number], kind="stable")[:CLASSES]
            yield {
                "id": int(target.rows[place]),
                "label": images.classnames[target.labels[place]],
                "reference": reference.name,
                "classes": [images.classnames[name] for name in likeliest.tolist()],
                **{name: rows[number, likeliest].tolist() for name, rows in scaled.items()},
            }


def _example_places(similarities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return int64[n], the first image of each class that is named right, of classes spread over all."""
    # Images that are named right: even of these the softmax of bare similarities is nearly uniform.
    right = np.flatnonzero(similarities.argmax(axis=1) == labels)
    known = right if right.size else np.arange(len(labels))
    _, first = np.unique(labels[known], return_index=True)
    spread = np.unique(np.linspace(0, len(first) - 1, min(SHOWN, len(first))).round().astype(int))
    return known[first[spread]]
