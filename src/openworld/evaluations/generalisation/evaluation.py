"""Generalisation as an evaluation: a unit fits a learner once, and answers at every target."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from openworld.datasets import DATASETS
from openworld.evaluations.class_lists import meeting, variants
from openworld.evaluations.encoding import learning
from openworld.evaluations.evaluation import ClassList, Evaluation, Tuning
from openworld.evaluations.generalisation.predictions import EncodedTarget, answer_targets, encoded_targets
from openworld.evaluations.generalisation.spec import (
    GeneralisationSpec,
    Target,
    inputs,
    kept_classes,
    require,
    summary,
    tasks,
)
from openworld.evaluations.learning import fit, learned_files, split_name, training_facts
from openworld.evaluations.recognition_metrics import image_counts, image_table, recognition_rows
from openworld.evaluations.record_images import thumbnails, with_names
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Clock, Machine, encoded_parts
from openworld.results import METRICS, Result, Value
from openworld.runs import UnitResult, to_json


def evaluate(task: GeneralisationSpec, machine: Machine) -> UnitResult:
    """Fit one learner once, score it at every target, compute every metric of each."""
    parts = encoded_parts(task, machine)
    targets, clock = list(encoded_targets(task, parts)), Clock(machine)
    shots = parts["train"].of_classes(targets[0].split.base)
    fitted = fit(task, shots, machine)
    clock.stop("fit")
    is_target = task.sentences == "target"
    answers = zip(targets, answer_targets(fitted, targets, own_sentences=is_target), strict=True)
    tables = [image_table(answer, images, len(images.split.base)) for images, answer in answers]
    clock.stop("score")
    facts = {
        **training_facts(task, fitted, shots),
        "source": task.source,
        "wordnet": task.by_wordnet,
        "targets": [_target_facts(task, images) for images in targets],
    }
    rows, shared = [], [Result(task.learner.label, METRICS["tuned_parameters"], Value(fitted.tuned_parameters))]
    named, shown = [], {}
    has_pixels = all(each.load().embeddings is None for each in task.image_sets.values())
    for number, (images, table) in enumerate(zip(targets, tables, strict=True)):
        where = {"kind": images.target.kind, "target": _title(task, images.target)}
        rows += recognition_rows(table, task.learner.label, where=where)
        shared += image_counts(table, where)
        named.append(with_names(table, images.split.names, images.path_of))
        shown |= thumbnails(table, images.image, f"images/{number}") if has_pixels else {}
    places = np.repeat(np.arange(len(named), dtype=np.int16), [len(table["id"]) for table in named])
    stacked = {"target": places} | {name: np.concatenate([table[name] for table in named]) for name in named[0]}
    rows_kept = rows_of_unit("generalisation", rows, seed=task.seed, shared=shared)
    return UnitResult(
        outputs={"images": stacked},
        metrics=to_json(facts),
        attachments=rows_kept | shown | learned_files(task, fitted),
        timing=clock.timing,
    )


def _target_facts(task: GeneralisationSpec, images: EncodedTarget) -> dict[str, Any]:
    target, source = images.target, task.source
    card = DATASETS.get(target.data.dataset)
    same = target.data.dataset == source.dataset
    split = split_name(source.dataset, same_domain=target.kind == "source") if same else "variant"
    left_out = source.left_out
    if target.kind == "other":
        split, left_out = "other classes", [overlap.name for overlap in target.left_out]
    return {
        "kind": target.kind,
        "dataset": target.data.dataset,
        "domain": target.data.domain,
        "target": _title(task, target),
        "task": source.dataset if same else f"{source.dataset} → {target.data.dataset}",
        "split": split,
        "train_domain": source.domain,
        "test_domain": target.data.domain,
        "n_base_classes": len(images.split.base),
        "n_new_classes": len(images.split.new),
        "classnames": images.split.names,
        # the image sets of its base and of its new images, among the inputs of the unit
        "parts": list(dict.fromkeys(["test" if images.moved else target.part, target.part])),
        "new_ids_from": images.moved,  # added to the numbers of new images; 0 where both sides are of one set
        "group_name": card.group_name if card else "",
        "left_out": left_out,  # classes that are on neither side; of another data set those of the source
        "overlaps": target.left_out,
    }


def _title(task: GeneralisationSpec, target: Target) -> str:
    """A short name: what sets the target apart from the source."""
    if target.kind == "source":
        return str(target.data)
    same_domain = target.data.domain == task.source.domain
    if target.data.dataset == task.source.dataset:
        return f"→ {target.data.domain}"
    return f"→ {target.data.dataset if same_domain else target.data}"


def class_lists(spec: GeneralisationSpec) -> Iterator[ClassList]:
    """Return the names of the source, and of targets that have others, without those that the run leaves out."""
    base = spec.source.split.base_names
    yield ClassList.of(spec.source)
    yield from variants(spec.variants, spec.source)
    for target in spec.targets:
        if target.kind == "other":
            names = target.data.classnames
            left = tuple(names[number] for number in kept_classes(names, target.left_out))
            yield from meeting(target.data, left, {str(spec.source): base})


EVALUATION = Evaluation(
    "generalisation",
    GeneralisationSpec,
    tasks,
    evaluate,
    version=5,
    summary=summary,
    class_lists=class_lists,
    tunings=lambda spec: [Tuning(spec.source, (spec.source, *spec.variants, *spec.others))],
    **learning(tasks, inputs=inputs, require=require),
)
