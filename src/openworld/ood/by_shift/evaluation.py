"""Detection of what is out of distribution as an evaluation: what is refused before it begins, and the work of a unit.

Detectors score the test images and the pool, and every cell is held against the test. A unit keeps of every image its
class, style, group, degrees, levels, and the scores of all detectors.

Marginal images (IS-OOD, Figures 2 and 20) are of other classes and taken for known ones: out of distribution by label,
near in meaning by measurement. Among those of the nearest semantic level the ones are kept that a detector accepts most
surely, with what the model names them and how confident it is, and beside each the test image of that class of which
the detector is surest.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from openworld.core.errors import OpenworldError, present
from openworld.datasets import ImageSet
from openworld.detectors import is_sequential
from openworld.evaluations.evaluation import Evaluation
from openworld.evaluations.rows import rows_of_unit, thumbnail, with_names
from openworld.evaluations.runtime import Clock, Machine
from openworld.evaluations.shift_cells import DividedPool, divide_pool
from openworld.metrics import fpr_in_positive
from openworld.ood.by_shift.errors import TABLE, errors_table
from openworld.ood.by_shift.measurement import ScoredPool, measure
from openworld.ood.by_shift.metrics import CONFIDENCE, MARGINAL, PASSED, SCORE, THUMBNAILS
from openworld.ood.by_shift.spec import OODDetectionSpec, inputs, preparations
from openworld.ood.judged_models import class_lists, require_models
from openworld.ood.model_entries import JudgedSpec
from openworld.ood.scored_sets import SCORE_COLUMN
from openworld.ood.scoring import ModelScores, score
from openworld.results import METRICS, Result, Value
from openworld.runs import UnitResult
from openworld.shifts import HALVES

SHOWN = 8  # marginal images
CHOSEN_BY = "MSP"  # the detector that chooses them, where the model has it

Columns = Mapping[str, np.ndarray]
CLASSES = 2


def evaluate(task: OODDetectionSpec, machine: Machine) -> UnitResult:
    """Score the test images and the pool with all detectors of one model, and hold every cell against the test."""
    clock, divided = Clock(machine), divide_pool(task, machine)
    test, rows = task.test.load(machine)
    # The places of given cells are those of lists, so that no image may be left out.
    scores = score(task, replace(machine, allow_corrupt=0) if task.cells else machine)
    clock.stop("scores")

    # Numbers of two image sets mean nothing together, so that groups of the pool are numbered behind those of the test.
    groups = test.groups[rows]
    beyond = divided.pool.images.groups[divided.rows] + int(groups.max(initial=-1)) + 1
    made = np.isin(divided.pool.styles, divided.pool.generated)[divided.pool.style[divided.rows]]
    generated = made if divided.pool.generated else None
    pool = ScoredPool(scores.test.scores, scores.sets[0].scores, groups, beyond, divided, divided.known, generated)
    measured = measure(pool, id_kept=task.id_kept, least=task.least)
    model = task.model
    right = float(np.mean(scores.test.prediction == test.labels[rows]))
    marginal = [*_marginal_rows(model, test, divided, scores)]
    results = (*measured.rows, Result(model.label, METRICS["accuracy"], Value(right)), *marginal)

    attachments = rows_of_unit("ood-detection", results, seed=task.seed, shared=measured.shared)
    attachments |= dict(divided.thumbnails())
    places = [row.where for row in marginal if row.metric == CONFIDENCE]
    for images, key, name in ((divided.pool.images, "image", ""), (test, "known", "known-")):
        if divided.pool.images.embeddings is None and images.embeddings is None:
            for number in sorted({int(place[key]) for place in places if key in place}):
                attachments[f"{THUMBNAILS}/{name}{number}.png"] = thumbnail(images.image(number))
    facts = {
        "id_kept": task.id_kept,
        "detectors": [entry.label for entry in model.detectors],
        "sequential": [label for label, detector in model.build().items() if is_sequential(detector)],
        "training": task.training.count(machine),
        "styles": divided.pool.styles,
        "left_out": len(task.ground.left_out),
    }
    of_test = {"group": groups.astype(np.int64)}
    of_test |= {"prediction": present(scores.test.prediction, "the prediction").astype(np.int32)}
    if task.measures:  # none where cells are given
        degrees = task.measures[0].load(machine)
        of_test |= {half: degrees[half] for half in HALVES}
    of_pool = {"group": beyond.astype(np.int64)}
    of_pool |= {"style": divided.pool.style[divided.rows].astype(np.int16), "known": pool.known}
    of_pool |= divided.degrees or {}
    of_pool |= {f"{half}_level": divided.levels[half].astype(np.int16) for half in HALVES}
    tables = {
        "images": _table(divided.pool.images, divided.rows, pool.pool, of_pool),
        "test": _table(test, rows, pool.test, of_test),
    }
    return UnitResult(
        outputs=tables | {TABLE: errors_table(measured.errors)},
        metrics=scores.facts(task, len(test.classnames)) | facts,
        attachments=attachments,
        timing=clock.timing,
    )


def _marginal_rows(model: JudgedSpec, test: ImageSet, divided: DividedPool, scores: ModelScores) -> Iterator[Result]:
    """Yield the numbers of the marginal images of a pool; none where it has no image of another class."""
    others, level = ~divided.known, divided.levels["semantic"]
    if not others.any():
        return
    nearest = int(level[others].min())
    near = np.flatnonzero(others & (level == nearest))
    label = next((own.label for own in model.detectors if own.detector == CHOSEN_BY), model.detectors[0].label)
    answers, pool = scores.sets[0], divided.pool.images
    score, inside, rows = answers.scores[label], scores.test.scores[label], scores.test.rows
    place = {"semantic_level": nearest, "detector": label}
    yield Result(model.label, MARGINAL, Value(len(near)), place)
    yield Result(model.label, PASSED, Value(fpr_in_positive(inside, score[near]).value), place)

    surest = near[np.argsort(-score[near], kind="stable")]
    _, first = np.unique(pool.groups[divided.rows[surest]], return_index=True)
    chosen = surest[np.sort(first)[:SHOWN]]
    prediction, confidence = present(answers.prediction, "the prediction"), present(answers.confidence, "confidence")
    for spot in chosen.tolist():
        image, taken = int(divided.rows[spot]), int(prediction[spot])
        name = test.classnames[taken]
        place = {"class": pool.classnames[pool.labels[image]], "taken_for": name, "image": image}
        place["taken_for_name"] = f"taken for {name}"
        of_class = np.flatnonzero(test.labels[rows] == taken)
        if of_class.size:
            place["known"] = int(rows[of_class[inside[of_class].argmax()]])
        yield Result(model.label, CONFIDENCE, Value(float(confidence[spot])), place)
        yield Result(model.label, SCORE, Value(float(score[spot])), place)


def _table(images: ImageSet, rows: np.ndarray, scores: Mapping[str, np.ndarray], further: Columns) -> Columns:
    """Return per image its place, class, what is known `further`, and the scores of all detectors."""
    table = {"id": rows.astype(np.int32), "label": images.labels[rows].astype(np.int32), **further}
    table = with_names(table, images.classnames, images.path_of)
    return table | {SCORE_COLUMN + label: values for label, values in scores.items()}


def summary(spec: OODDetectionSpec) -> list[str]:
    classes, left_out = f"{spec.classes} classes", len(spec.ground.left_out)
    if spec.says_classes:
        classes = f"{len(spec.ground.names)} classes" + (f", {left_out} left out" if left_out else "")
    return spec.compared(classes, f"{len(spec.pool)} image set(s)" if spec.pool else "given cells")


def fingerprints(spec: OODDetectionSpec) -> dict[str, str]:
    ground = spec.ground
    sets = {"training": ground.training, "in-distribution test": ground.test}
    fingerprints = {name: images.load().fingerprint for name, images in sets.items()}
    return fingerprints | {"pool": ground.load_pool().images.fingerprint}


def backbones(spec: OODDetectionSpec) -> tuple[str, ...]:
    split = (spec.decomposition.backbone,) if spec.pool else ()
    return tuple(dict.fromkeys([*split, *(model.backbone for model in spec.models if model.backbone)]))


def require(planned: Sequence[OODDetectionSpec], machine: Machine) -> None:
    """Refuse too few classes or images, and what `require_models` refuses."""
    task = planned[0]
    if len(task.ground.names) < CLASSES:
        raise OpenworldError(
            f"{len(task.ground.names)} class is in distribution, expected {CLASSES} or more; give a data set of more, "
            "or classes = 'all'."
        )
    images = len(task.ground.training.load())
    if not task.cells and images < task.k:
        raise OpenworldError(
            f"shift degrees are distances to training image number {task.k}, and there are {images}; give more shots, "
            "or a smaller k."
        )
    require_models(planned, machine)


EVALUATION = Evaluation(
    "ood-detection",
    OODDetectionSpec,
    lambda spec: spec.tasks,
    evaluate,
    version=7,
    inputs=inputs,
    artifacts=preparations,
    require=require,
    summary=summary,
    fingerprints=fingerprints,
    class_lists=class_lists,
    backbones=backbones,
)
