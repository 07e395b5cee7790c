"""The work of a unit: fit a learner once, answer at every target, and compute every number of each."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from openworld.datasets import DATASETS
from openworld.evaluations.generalisation.predictions import EncodedTarget, answer_targets, encoded_targets
from openworld.evaluations.generalisation.task import GeneralisationTask, Target
from openworld.evaluations.learning import fit, split_name, training_facts
from openworld.evaluations.recognition_metrics import image_counts, image_table, recognition_rows
from openworld.evaluations.record_images import thumbnails, with_names
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Clock, Machine, encoded_parts
from openworld.results import METRICS, Result, Value
from openworld.runs import UnitResult, to_json


def evaluate(task: GeneralisationTask, machine: Machine) -> UnitResult:
    """Fit one learner once, score it at every target, compute every metric of each."""
    parts = encoded_parts(task, machine)
    targets, clock = list(encoded_targets(task, parts)), Clock(machine)
    shots = parts["train"].of_classes(targets[0].split.base)
    fitted = fit(task, shots, machine)
    clock.stop("fit")
    own = task.sentences == "target"
    answers = zip(targets, answer_targets(fitted, targets, own_sentences=own), strict=True)
    tables = [image_table(answer, images, len(images.split.base)) for images, answer in answers]
    clock.stop("score")
    facts = {
        **training_facts(task, fitted, shots),
        "protocol": "generalisation",
        "source": task.source,
        "wordnet": task.wordnet,
        "shots": task.shots,
        "training_classnames": fitted.classnames,
        "detail": {"settings": task.learner.settings, "history": fitted.history},
        "targets": [_target_facts(task, images) for images in targets],
    }
    rows, shared = [], [Result(task.learner.label, METRICS["tuned_parameters"], Value(fitted.tuned_parameters))]
    for images, table in zip(targets, tables, strict=True):
        where = {"kind": images.target.kind, "target": _title(task, images.target)}
        rows += recognition_rows(table, task.learner.label, where=where)
        shared += image_counts(table, where)
    learned = {f"learner/{name}": content for name, content in fitted.files().items()} if task.keep_learners else {}
    named = [_named(task, images, table) for images, table in zip(targets, tables, strict=True)]
    places = np.repeat(np.arange(len(named), dtype=np.int16), [len(table["id"]) for table in named])
    stacked = {"target": places} | {name: np.concatenate([table[name] for table in named]) for name in named[0]}
    return UnitResult(
        outputs={"images": stacked},
        metrics=to_json(facts),
        attachments=rows_of_unit("generalisation", rows, seed=task.seed, shared=shared)
        | dict(_images(task, targets, tables))
        | learned,
        timing=clock.timing,
    )


def _named(task: GeneralisationTask, images: EncodedTarget, table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """With paths, and names of classes."""

    def path_of(number: int) -> str:
        part, row = images.locate(number)
        return task.sources[part].load().path_of(row)

    return with_names(table, images.split.names, path_of)


def _images(task: GeneralisationTask, targets: list[EncodedTarget], tables: list[dict]) -> Iterator[tuple[str, bytes]]:
    """Thumbnails of every target, in a folder by its number."""
    if any(source.load().embeddings is not None for source in task.sources.values()):
        return
    for number, (images, table) in enumerate(zip(targets, tables, strict=True)):
        yield from thumbnails(table, partial(_image, task, images), f"pictures/{number}").items()


def _image(task: GeneralisationTask, images: EncodedTarget, number: int):
    """The image of an id at a target."""
    part, row = images.locate(number)
    return task.sources[part].load().image(row)


def _target_facts(task: GeneralisationTask, images: EncodedTarget) -> dict[str, Any]:
    """Return what a record says of a target."""
    target, source = images.target, task.source
    known = DATASETS.get(target.data.dataset)
    same = target.data.dataset == source.dataset
    return {
        "kind": target.kind,
        "dataset": target.data.dataset,
        "domain": target.data.domain,
        "target": _title(task, target),
        "task": source.dataset if same else f"{source.dataset} → {target.data.dataset}",
        "split": _split(task, target),
        "train_domain": source.domain,
        "test_domain": target.data.domain,
        "n_base_classes": len(images.split.base),
        "n_new_classes": len(images.split.new),
        "classnames": images.split.names,
        # the image sets of its base and of its new images, among the inputs of the unit
        "parts": list(dict.fromkeys(["test" if images.moved else target.part, target.part])),
        "new_ids_from": images.moved,  # added to the numbers of new images; 0 where both sides are of one set
        "group_name": known.group_name if known else "",
        "left_out": _left_out(task, images),
        "overlaps": target.left_out,
    }


def _left_out(task: GeneralisationTask, images: EncodedTarget) -> tuple[str, ...]:
    """Classes of another data set that are no new ones; of the source and its variants, those on neither side."""
    if images.target.kind == "other":
        return tuple(overlap.name for overlap in images.target.left_out)
    return task.source.left_out


def _title(task: GeneralisationTask, target: Target) -> str:
    """A short name: what sets the target apart from the source."""
    if target.kind == "source":
        return str(target.data)
    same_domain = target.data.domain == task.source.domain
    if target.data.dataset == task.source.dataset:
        return f"→ {target.data.domain}"
    return f"→ {target.data.dataset if same_domain else target.data}"


def _split(task: GeneralisationTask, target: Target) -> str:
    if target.kind == "source":
        return split_name(task.source.dataset, same_domain=True)
    if target.kind == "other":
        return "other classes"
    if target.data.dataset == task.source.dataset:
        return split_name(task.source.dataset, same_domain=False)
    return "variant"
