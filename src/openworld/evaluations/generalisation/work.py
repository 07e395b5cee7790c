"""The work of a unit: fit a learner once, answer at every target, and compute every number of each."""

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial

import numpy as np

from openworld.datasets import DATASETS
from openworld.evaluations.generalisation.predictions import answer_stages
from openworld.evaluations.generalisation.record import GeneralisationRecord, ScoredTarget
from openworld.evaluations.generalisation.stages import Stage, stages
from openworld.evaluations.generalisation.task import Target, Task
from openworld.evaluations.learning import fit, split_name, training_facts
from openworld.evaluations.recognition.record import numbers_of
from openworld.evaluations.recognition_metrics import image_table
from openworld.evaluations.record_images import thumbnails, with_names
from openworld.evaluations.runtime import Clock, Machine, encoded_parts
from openworld.runs import UnitResult


def evaluate(task: Task, machine: Machine) -> UnitResult:
    """Fit one learner once, score it at every target, compute every metric of each."""
    parts = encoded_parts(task, machine)
    staged, clock = list(stages(task, parts)), Clock(machine)
    shots = parts["train"].of_classes(staged[0].split.base)
    fitted = fit(task, shots, machine)
    clock.stop("fit")
    answers = answer_stages(fitted, staged)
    tables = [image_table(answer, stage, len(stage.split.base)) for stage, answer in zip(staged, answers, strict=True)]
    clock.stop("score")
    record = GeneralisationRecord(
        **training_facts(task, fitted, shots),
        source=task.source,
        wordnet=task.wordnet,
        shots=task.shots,
        training_classnames=fitted.classnames,
        detail={"settings": task.learner.settings, "history": fitted.history},
        targets=tuple(_target(task, stage, table) for stage, table in zip(staged, tables, strict=True)),
    )
    learned = {f"learner/{name}": content for name, content in fitted.files().items()} if task.keep_learners else {}
    return UnitResult(
        outputs={"images": _stacked(list(map(partial(_named, task), staged, tables)))},
        metrics=asdict(record),
        attachments=dict(_images(task, staged, tables)) | learned,
        timing=clock.timing,
    )


def _named(task: Task, stage: Stage, table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """With paths, and names of classes."""

    def path_of(number: int) -> str:
        part, own = stage.image(number)
        return task.sources[part].load().path_of(own)

    return with_names(table, stage.split.names, path_of)


def _stacked(tables: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """All tables one behind the other, with the number of the target in a further column."""
    target = np.repeat(np.arange(len(tables), dtype=np.int16), [len(table["id"]) for table in tables])
    return {"target": target} | {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def _images(task: Task, staged: list[Stage], tables: list[dict]) -> Iterator[tuple[str, bytes]]:
    """Thumbnails of every target, in a folder by its number."""
    for number, (stage, table) in enumerate(zip(staged, tables, strict=True)):
        yield from thumbnails(table, partial(_image, task, stage), f"pictures/{number}").items()


def _image(task: Task, stage: Stage, number: int):
    """The image of an id of a stage."""
    part, own = stage.image(number)
    return task.sources[part].load().image(own)


def _target(task: Task, stage: Stage, table: dict[str, np.ndarray]) -> ScoredTarget:
    """Return what a record says of a target."""
    target, source = stage.target, task.source
    known = DATASETS.get(target.data.dataset)
    same = target.data.dataset == source.dataset
    return ScoredTarget(
        kind=target.kind,
        dataset=target.data.dataset,
        domain=target.data.domain,
        target=_title(task, target),
        task=source.dataset if same else f"{source.dataset} → {target.data.dataset}",
        split=_split(task, target),
        train_domain=source.domain,
        test_domain=target.data.domain,
        n_base_classes=len(stage.split.base),
        n_new_classes=len(stage.split.new),
        classnames=stage.split.names,
        parts=tuple(dict.fromkeys(["test" if stage.moved else target.part, target.part])),
        new_ids_from=stage.moved,
        group_name=known.group_name if known else "",
        left_out=tuple(overlap.name for overlap in target.left_out),
        overlaps=target.left_out,
        **numbers_of(table),
    )


def _title(task: Task, target: Target) -> str:
    """A short name: what sets the target apart from the source."""
    if target.kind == "source":
        return str(target.data)
    same_domain = target.data.domain == task.source.domain
    if target.data.dataset == task.source.dataset:
        return f"→ {target.data.domain}"
    return f"→ {target.data.dataset if same_domain else target.data}"


def _split(task: Task, target: Target) -> str:
    if target.kind == "source":
        return split_name(task.source.dataset, same_domain=True)
    if target.kind == "other":
        return "other classes"
    if target.data.dataset == task.source.dataset:
        return split_name(task.source.dataset, same_domain=False)
    return "variant"
