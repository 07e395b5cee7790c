"""Generalisation as an evaluation: a unit fits a learner once, and answers at every target.

Labels count in one list of names, base names first. About the source's base images a learner is asked once, for all
targets that show them beside new names of their own. Where logits do not depend on the other names, one answer among
all new names holds the answer at each target as a slice; detection scores that are not the default ones are asked for
again with the names of the target. New names of another data set may stand in the sentence that is published for it:
such answers are not shared, since a name may stand in two sentences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from openworld.datasets import DATASETS, ClassSplit, ImageSet
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.evaluation import Evaluation
from openworld.evaluations.generalisation.spec import GeneralisationSpec, Target, kept_classes, split_as
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.learning import fit, learned_files, split_name, training_facts
from openworld.evaluations.recognition_metrics import image_counts, image_table, recognition_rows
from openworld.evaluations.rows import rows_of_unit, thumbnails, with_names
from openworld.evaluations.runtime import Clock, Machine, encoded_parts
from openworld.evaluations.views import ImagePool, SharedAnswer, distinct_pairs, joined_answers, numbers_among
from openworld.features import Features, View
from openworld.learners import Answer, FittedLearner
from openworld.learners.engine.settings import with_sentences_of
from openworld.results import METRICS, Result, Value
from openworld.runs import UnitResult, to_json


@dataclass(frozen=True, eq=False)
class EncodedTarget:
    """The encoded images of a target, those of base and of new classes."""

    target: Target
    base: Features
    new: Features
    sets: Mapping[str, ImageSelection]  # of the task, by part
    moved: int = 0  # added to the numbers of new images of another set, so that ids differ; 0 where both are of one

    @cached_property
    def split(self) -> ClassSplit:
        return ClassSplit.joined(self.base.classnames, self.new.classnames)

    @property
    def labels(self) -> np.ndarray:
        """int64[N], the class of every image among `names`, in `order`."""
        return np.concatenate([self.base.labels, self.new.labels + len(self.split.base)])[self.order]

    @property
    def rows(self) -> np.ndarray:
        """int64[N], increasing: the id of every image."""
        return self._ids[self.order]

    @property
    def groups(self) -> np.ndarray:
        """int64[N], equal for images of one image set that are not independent."""
        # Base images of another data set are the source's: two sets, each of which numbers its groups from 0.
        side = np.repeat([0, int(self.moved > 0)], [len(self.base), len(self.new)])
        return distinct_pairs(side, np.concatenate([self.base.groups, self.new.groups]))[self.order]

    @cached_property
    def order(self) -> np.ndarray:
        """int64[N]: the base images' places, then the new ones', sorted by id."""
        return np.argsort(self._ids, kind="stable")

    def path_of(self, number: int) -> str:
        images, row = self._locate(number)
        return images.path_of(row)

    def image(self, number: int):
        images, row = self._locate(number)
        return images.image(row)

    def _locate(self, number: int) -> tuple[ImageSet, int]:
        at_home = self.moved and number < self.moved
        return self.sets["test" if at_home else self.target.part].load(), number if at_home else number - self.moved

    @cached_property
    def _ids(self) -> np.ndarray:
        return np.concatenate([self.base.rows, self.new.rows + self.moved])


def encoded_targets(task: GeneralisationSpec, parts: Mapping[str, Features]) -> Iterator[EncodedTarget]:
    """Yield every target of a task, in order, of the encoded image sets of its sources."""
    source, beyond = parts["test"].split, len(task.image_sets["test"].load())
    at_home = parts["test"].of_classes(source.base)
    for target in task.targets:
        images = parts[target.part]
        if target.kind == "other":
            chosen = images.of_classes(kept_classes(images.classnames, target.left_out))
            yield EncodedTarget(target, at_home, chosen, task.image_sets, beyond)
        else:
            split = split_as(source, images.classnames, task.source.left_out)
            base = at_home if target.kind == "source" else images.of_classes(split.base)
            yield EncodedTarget(target, base, images.of_classes(split.new), task.image_sets)


def answer_targets(
    fitted: FittedLearner, targets: Sequence[EncodedTarget], *, own_sentences: bool = False
) -> Iterator[Answer]:
    """Yield the answers at each target, that of the source first; by slices of one answer where that is exact."""
    source = targets[0].target.data.dataset
    names = {target.target.data.dataset for target in targets} if own_sentences else set()
    away = {name: replace(fitted, learner=with_sentences_of(fitted.learner, source, name)) for name in names}
    moved = [away.get(target.target.data.dataset, fitted).learner != fitted.learner for target in targets]
    at_home = [
        target for target, other in zip(targets, moved, strict=True) if target.base is targets[0].base and not other
    ]
    shared = None if fitted.learner.depends_on_other_names else _shared(fitted, at_home)
    for target, other in zip(targets, moved, strict=True):
        new_side = away[target.target.data.dataset] if other else None
        yield answer_target(fitted, target, shared if target in at_home else None, new_side)


def _shared(fitted: FittedLearner, targets: Sequence[EncodedTarget]) -> SharedAnswer:
    """The answer about the base images of all targets among base names and every new name that some target has."""
    base, base_names = targets[0].base, targets[0].split.base_names
    names = {normalise_class_name(name): name for target in targets for name in target.split.new_names}
    pool = ImagePool((base,), (*base_names, *names.values()))
    sides = np.split(np.arange(len(pool.names)), [len(base_names)])
    return SharedAnswer(fitted, pool, np.arange(len(base)), *sides)


def answer_target(
    fitted: FittedLearner,
    target: EncodedTarget,
    shared: SharedAnswer | None = None,
    new_side: FittedLearner | None = None,
) -> Answer:
    """Return the answer at one target; without `shared` nothing is sliced, and `answer_targets` must equal it."""
    bank = fitted.text_bank(target.split.base_names, target.split.new_names)
    if new_side is not None:
        away = new_side.text_bank(target.split.base_names, target.split.new_names)
        bank = replace(bank, text=torch.cat([bank.text[: bank.base_count], away.text[bank.base_count :]]))
    if shared is None:
        base = fitted.answer(target.base, bank)
    else:
        new = numbers_among(shared.pool.names, target.split.new_names)
        base = shared.of(View(shared.images, np.concatenate([shared.base, new])))
    both = joined_answers((base, fitted.answer(target.new, bank)))
    return Answer(*(None if part is None else part[target.order] for part in vars(both).values()))


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


EVALUATION = Evaluation("generalisation", GeneralisationSpec, GeneralisationSpec.tasks, evaluate, version=5)
