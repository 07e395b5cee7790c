"""The work of a unit: estimators are fitted on the source of one judged model and asked about every condition.

A task (`AccuracyTask` of `evaluation`) says which model is judged and who its partners are; its numbers become rows.
How near classes are in meaning, for the Semantic Alignment Score, is read off WordNet, BREEDS, or Unicode's tree of
emoji.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from openworld.core.errors import present
from openworld.datasets import DATASETS, PUBLISHED, SHIFTED, emoji
from openworld.datasets.cards import is_folder
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.taxonomy import read_edges, taxonomy_similarity, wordnet_similarity
from openworld.datasets.names.wordnet import SYNSET_ID, find_wordnet
from openworld.datasets.published import breeds
from openworld.datasets.published.catalogue import find_root
from openworld.datasets.published.imagenet_variants import read_ids
from openworld.estimators import Estimate, Outputs, fuse
from openworld.estimators.engine.temperature import confidences, probabilities, temperature_of
from openworld.evaluations.estimates import Answers, estimate_all, fit_all, own_temperature, seconds_alone, similarities
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.model_outputs import logits_of
from openworld.evaluations.rows import rows_of_unit, thumbnail, with_names
from openworld.evaluations.runtime import Machine
from openworld.label_free.benchmark import cards
from openworld.label_free.benchmark.arrays import EXAMPLES, NAME, NO_ESTIMATE, THUMBNAILS
from openworld.label_free.benchmark.cards import CLASSIFIERS, FIXED, FUSED, RAW, SCALED, TTC, UNSCALED
from openworld.metrics import expected_calibration_error, semantic_alignment
from openworld.results import METRICS, Result, Value, interval_of
from openworld.results.results import Place
from openworld.runs import UnitResult, to_json

SHOWN, CLASSES = 8, 5
"""Example images, and the likeliest classes that are kept of each."""

OF_THE_SOURCE = {"n_source", "n_target", "mistakes", "temperature", "resampled", "resamples"}
EMOJI = "emoji-"
NAMED_LIKE = {"imagenet-200": "imagenet-r"}
"""A data set -> the published one whose classes it has, in the same order."""


def evaluate(task, machine: Machine) -> UnitResult:
    """Fit every estimator on the source of one judged model, and ask it about every condition."""
    spec = task.spec
    source = answers(task, spec.source, machine, labelled=True)
    shifts = {
        images.corruption: answers(task, images, machine, labelled=True, alone=True) for images in spec.labelled_shifts
    }
    fits = fit_all(spec.estimators, source, shifts)
    scale, similarity = temperature_of(source.any).value, taxonomy_of(spec.sources[0].dataset)[0]
    model = {"model": spec.models[task.model].label, "epoch": task.judged.epoch}
    numbers = [(cards.SOURCE_ACCURACY, {}, source.accuracy), (cards.TEMPERATURE, {}, scale)]
    numbers += [(cards.CALIBRATION, {"calibration": kind}, error) for kind, error in _own_errors(source, scale).items()]
    rows = [Result("", metric, Value(n), model | further, (task.seed,), (n,)) for metric, further, n in numbers]
    tables, notes, first = [], {}, None
    for number, condition in enumerate(spec.conditions):
        target = answers(task, condition.images, machine)
        first = first or target
        estimates = estimate_all(fits, target, condition.corruption, spec.resamples)
        place = condition.place | model | {"seed": task.seed}
        rows += condition_rows(target, estimates, place)
        rows += _calibration_rows(task, target, scale, machine, place)
        rows += () if similarity is None else _alignment_rows(task, target, scale, similarity, place)
        notes[condition.name] = {label: note_of(estimate) for label, estimate in estimates.items()}
        images = condition.images.load()
        tables.append(with_names(_image_table(target, scale, number), images.classnames, images.path_of))

    examples = [*_reference_examples(task, present(first, "a condition"), scale, machine)] if task.is_first else []
    thumbnails = dict(_thumbnails(task, tables, examples)) if task.is_first else {}
    return UnitResult(
        outputs={"images": {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}},
        metrics=to_json(model | _facts(task, source, machine) | {"notes": notes, "examples": examples}),
        attachments=thumbnails | rows_of_unit(NAME, rows),
        timing=seconds_alone(spec.estimators, source, shifts, present(first, "a condition"), machine.device),
    )


def answers(task, images: ImageSelection, machine: Machine, *, labelled: bool = False, alone: bool = False) -> Answers:
    """Return what the cache holds of images; `labelled` lets estimators see the labels, as those of the source."""
    logits = logits_of(images, task.judged, machine)
    rows = np.flatnonzero(np.isfinite(logits[:, 0]))
    labels = images.load().labels[rows]
    # What a score is given is alone: without partners, and with no references but those that scores consult.
    partners = () if alone else tuple(logits_of(images, partner, machine)[rows] for partner in task.partners)
    plain = Outputs(logits[rows], labels if labelled else None, partners=partners)
    outputs = {}
    for reference in task.score_references if alone else task.spec.references:
        views = similarities(reference, images, rows, task.spec.sources[0].dataset, machine)
        outputs[reference.name] = Outputs(plain.logits, plain.labels, views, plain.partners)
    return Answers(rows, labels, outputs or {"": plain})


def condition_rows(target: Answers, estimates: Mapping[str, Estimate], place: Mapping[str, Place]) -> Iterator[Result]:
    """Yield the true accuracy under a condition, what every estimator says of it, and how often it warns."""
    yield Result("", cards.TRUE_ACCURACY, Value(target.accuracy), place)
    yield Result("", METRICS["images"], Value(float(target.any.n)), place)
    for label, estimate in estimates.items():
        value = Value(None, reason=NO_ESTIMATE)
        if estimate.error is not None:
            value = Value(estimate.accuracy, interval_of(estimate.interval, "images", target.any.n))
        yield Result(label, cards.ESTIMATED, value, place)
        if estimate.warnings:
            yield Result(label, cards.WARNINGS, Value(float(len(estimate.warnings))), place)


def note_of(estimate: Estimate) -> dict[str, Any]:
    """Return what an estimator says beside its number: no lists, and nothing that is known of the source anyway."""
    details = {
        name: value
        for name, value in estimate.details.items()
        if name not in OF_THE_SOURCE and isinstance(value, bool | int | float | str | None)
    }
    return {"warnings": estimate.warnings, "details": details}


def _calibration_rows(
    task, target: Answers, scale: float, machine: Machine, place: Mapping[str, Place]
) -> Iterator[Result]:
    """Yield expected calibration errors of the judged model, raw and with T, and of each reference, with its tau."""
    for kind, error in _own_errors(target, scale).items():
        yield Result(CLASSIFIERS, cards.CALIBRATION, Value(error), {**place, "calibration": kind})
    for reference in _models_among(task.spec.references):
        tau = target.tau(reference.name, scale).value
        views = present(target.outputs[reference.name].reference, "similarities")
        yield Result(reference.name, cards.TEMPERATURE, Value(tau), place)
        # RAW is as the reference was trained; UNSCALED is what FRAP's Table 2 calls raw.
        scales = {RAW: own_temperature(reference, machine), UNSCALED: 1.0, TTC: tau, **FIXED}
        for kind, temperature in scales.items():
            error = Value(_error(views, temperature, target.labels))
            yield Result(reference.name, cards.CALIBRATION, error, {**place, "calibration": kind})


def _alignment_rows(
    task, target: Answers, scale: float, similarity: np.ndarray, place: Mapping[str, Place]
) -> Iterator[Result]:
    """Yield the Semantic Alignment Score of the judged model, of each calibrated reference, and of the two fused."""
    base = probabilities(target.any.logits, scale)
    predicted = {CLASSIFIERS: base}
    for reference in _models_among(task.spec.references):
        name = reference.name
        views = present(target.outputs[name].reference, "similarities")
        alone = probabilities(views, target.tau(name, scale).value)
        predicted |= {name: alone, f"{FUSED}{name}": fuse(base, alone)}
    for name, p in predicted.items():
        yield Result(name, cards.ALIGNMENT, Value(semantic_alignment(p, target.labels, similarity).value), place)


def _image_table(target: Answers, scale: float, number: int) -> dict[str, np.ndarray]:
    """Return what the judged model says of each image of a condition, by the condition's number."""
    outputs = target.any
    return {
        "target": np.full(outputs.n, number, np.int16),
        "id": target.rows.astype(np.int32),
        "label": target.labels.astype(np.int16),
        "prediction": outputs.predictions.astype(np.int16),
        "confidence": confidences(outputs.logits, scale).astype(np.float32),
    }


def _models_among(references) -> list:
    return [reference for reference in references if reference.is_model]


def _own_errors(answers: Answers, scale: float) -> dict[str, float]:
    return {kind: _error(answers.any.logits, each, answers.labels) for kind, each in ((RAW, 1.0), (SCALED, scale))}


def _error(logits: np.ndarray, scale: float, labels: np.ndarray) -> float:
    error = expected_calibration_error(confidences(logits, scale), logits.argmax(axis=1) == labels)
    return present(error.value, "the calibration error")


def _facts(task, source: Answers, machine: Machine) -> dict[str, Any]:
    spec, classifier = task.spec, task.judged.load(machine)
    similarity, tree = taxonomy_of(spec.sources[0].dataset)
    history = classifier.history if task.judged.training else ()
    return {
        "protocol": NAME,
        "architecture": classifier.architecture,
        "seed": task.seed,
        "checkpoint": task.checkpoint,
        "sources": [{"dataset": each.dataset, "domain": each.domain} for each in spec.sources],
        "classes": source.any.classes,
        "references": [reference.name for reference in spec.references],
        "reference_models": [asdict(reference) for reference in spec.references],
        "training": {"recipe": spec.models[task.model].recipe, "history": history},
        "source_images": source.any.n,
        "source_mistakes": source.any.mistakes,
        "estimators": [estimator.facts() for estimator in spec.estimators],
        "left_out": spec.left_out,
        "taxonomy": {"name": None, "reason": tree} if similarity is None else {"name": tree, "reason": None},
        "conditions": [condition.facts for condition in spec.conditions],
    }


def _thumbnails(task, tables: Sequence[Mapping], examples: Sequence[Mapping]) -> Iterator[tuple[str, bytes]]:
    """Yield one or two of every condition, the same places of all, in folders by number, and those of examples."""
    conditions = task.spec.conditions
    for number, (condition, table) in enumerate(zip(conditions, tables, strict=True)):
        images, rows = condition.images.load(), table["id"]
        for place in (1, 2) if condition.kind == "natural" else (1,):
            row = int(rows[len(rows) * place // 3])
            yield f"{THUMBNAILS}/{number}/{row}.png", thumbnail(images.image(row))
    images = conditions[0].images.load()
    for number in sorted({example["id"] for example in examples}):
        yield f"{EXAMPLES}/{number}.png", thumbnail(images.image(number))


def _reference_examples(task, target: Answers, scale: float, machine: Machine) -> Iterator[dict]:
    """Yield what every reference that is a model says of the same images, before and after calibration (Figure 2)."""
    models = _models_among(task.spec.references)
    if not models:
        return
    # The first image of each class that is named right, of classes spread over all: even of these the softmax of bare
    # similarities is nearly uniform.
    first_views = present(target.outputs[models[0].name].reference, "similarities")
    right = np.flatnonzero(first_views.argmax(axis=1) == target.labels)
    candidates = right if right.size else np.arange(len(target.labels))
    _, first = np.unique(target.labels[candidates], return_index=True)
    spread = np.unique(np.linspace(0, len(first) - 1, min(SHOWN, len(first))).round().astype(int))
    places = candidates[first[spread]]
    images = task.spec.conditions[0].images.load()
    for reference in models:
        similarity = present(target.outputs[reference.name].reference, "similarities")[places]
        tau = target.tau(reference.name, scale).value
        # Softmax of bare similarities (raw), at the reference's own temperature, and calibrated at test time.
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


@lru_cache(maxsize=4)
def taxonomy_of(dataset: str) -> tuple[np.ndarray | None, str]:
    """Return the similarity float64[C, C] of a data set's classes and whose tree it is; or None and the reason."""
    if dataset.startswith(EMOJI):
        return _of_emoji(dataset.removeprefix(EMOJI)), "Unicode's groups and subgroups of emoji"
    if dataset in breeds.TASKS:
        folder = find_root(None) / SHIFTED[dataset].folder
        above, hierarchy = read_edges(folder / "class_hierarchy.txt"), breeds.Hierarchy(folder)
        nodes = [superclass.node for superclass in breeds.superclasses(breeds.TASKS[dataset], hierarchy)]
        return taxonomy_similarity(nodes, lambda node: above.get(node, ())), "the hierarchy of BREEDS"
    ids = _wordnet_ids(NAMED_LIKE.get(dataset, dataset))
    if not ids:
        return None, f"the classes of {dataset} stand in no taxonomy that is known here"
    nouns = find_wordnet()
    if nouns is None:
        return None, "WordNet 3.0 was not found: install Debian's wordnet-base, or set WNSEARCHDIR"
    return wordnet_similarity(ids, nouns), "WordNet 3.0"


def _wordnet_ids(dataset: str) -> tuple[str, ...]:
    """Return ids of its classes: as published, or the names of folders that are called by them, as ImageNet's are."""
    if dataset in PUBLISHED:
        return class_names(dataset).wordnet_ids
    if dataset == "tiny-imagenet":
        return read_ids(SHIFTED[dataset].folder_in(find_root(None)))
    if dataset in DATASETS or not is_folder(dataset):
        return ()
    names = class_names(dataset).names
    return names if all(map(SYNSET_ID.fullmatch, names)) else ()


def _of_emoji(task: str) -> np.ndarray:
    """Return similarities with a concept under its subgroup, a subgroup under its group, and all under one root."""
    nodes, above = [], {}
    for number, concepts in enumerate(emoji.TASKS[task].classes().values()):
        groups, subgroups = ({getattr(concept, level) for concept in concepts} for level in ("group", "subgroup"))
        within = [*subgroups] if len(concepts) == 1 else []
        within += [*groups] if len(subgroups) == 1 else []
        way = (("class", number), *((*groups, level) for level in within), "emoji")
        above |= {node: (parent,) for node, parent in pairwise(way)}
        nodes.append(way[0])
    return taxonomy_similarity(nodes, lambda node: above.get(node, ()))
