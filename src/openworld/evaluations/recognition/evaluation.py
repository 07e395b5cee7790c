"""Recognition as an evaluation: a unit fits a learner on shots of base classes, and scores every test image.

Is an image base or new, and which name of its side is it? Test images choose nothing: settings under `choose` are
decided on validation images of base classes, and the threshold under `operating` on validation images, once the learner
is fitted.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from openworld.datasets import DATASETS
from openworld.evaluations.evaluation import Evaluation
from openworld.evaluations.learning import fit, learned_files, split_name, training_facts
from openworld.evaluations.recognition.class_imbalance import mix_rows
from openworld.evaluations.recognition.operating_point import operating_rows
from openworld.evaluations.recognition.outcome import ImageScores
from openworld.evaluations.recognition.spec import RecognitionSpec
from openworld.evaluations.recognition_metrics import image_counts, openworld_auc_of, recognition_rows, score, sides
from openworld.evaluations.rows import rows_of_unit, thumbnails, with_names
from openworld.evaluations.runtime import Clock, Machine, encoded_parts
from openworld.features import Features
from openworld.learners import override
from openworld.learners.engine.costs import measure_latency
from openworld.results import METRICS, Result, Value
from openworld.runs import UnitResult, to_json


def evaluate(task: RecognitionSpec, machine: Machine) -> UnitResult:
    """Fit one learner on one draw of shots, score every test image, compute every metric."""
    parts = encoded_parts(task, machine)
    base = parts["test"].split.base
    shots = parts["train"].of_classes(base)
    settings, trail = task.learner.settings, []
    if task.learner.choose:
        settings, trail = choose_settings(task, machine, shots, parts["validation"].of_classes(base))
    clock = Clock(machine)
    fitted = fit(task, shots, machine, settings)
    clock.stop("fit")
    tables = {"images": score(fitted, parts["test"])}
    clock.stop("score")
    if task.scored_validation != "nothing":
        tables["validation"] = score(fitted, parts["validation"])
    images = task.image_sets["test"].load()
    examples, timing = {}, clock.timing
    if images.embeddings is None:
        examples = thumbnails(tables["images"], images.image)
        # Beside the seconds of every stage, those of one test image from its pixels to the answer.
        bank = fitted.text_bank(parts["test"].split.base_names, parts["test"].split.new_names)
        pixels = fitted.clip.preprocess.prepare(images.image(int(parts["test"].rows[0])))[None]
        latency = measure_latency(fitted, bank, pixels)
        seconds = timing["seconds"] | {"latency": latency["seconds"]}
        timing = timing | {"seconds": seconds, "latency": latency}
    names, read = parts["test"].classnames, {"images": "test", "validation": "validation"}
    facts = training_facts(task, fitted, shots)
    facts["detail"] = {"chosen": settings, "choices": trail, "history": list(fitted.history)}
    rows = _rows(task, tables, facts["tuned_parameters"])
    return UnitResult(
        outputs={
            name: with_names(columns, names, task.image_sets[read[name]].load().path_of)
            for name, columns in tables.items()
        },
        metrics=to_json(facts | _facts(task, names, len(base))),
        attachments=rows | examples | learned_files(task, fitted),
        timing=timing,
    )


def choose_settings(task, machine: Machine, shots: Features, validation: Features) -> tuple[dict, list[dict]]:
    """Return the settings that validation images of base classes choose, and what every candidate reached."""
    # The base classes are cut into a pseudo base and a pseudo new half: every candidate is fitted on the shots of the
    # former and judged by OpenworldAUC on validation images of both; the first of the best is kept.
    pseudo_base = shots.of_classes(shots.split.base)
    entry, trail = task.learner, []
    for values in product(*entry.choose.values()):
        candidate = dict(zip(entry.choose, values, strict=True))
        fitted = fit(task, pseudo_base, machine, override(entry.settings, candidate))
        value = openworld_auc_of(*sides(score(fitted, validation))).value
        trail.append({"candidate": candidate, "openworld_auc": value})
    best = max(trail, key=lambda tried: tried["openworld_auc"])
    return override(entry.settings, best["candidate"]), trail


def _facts(task: RecognitionSpec, names: Sequence[str], base_count: int) -> dict[str, Any]:
    """Return the facts of a record that say what was tested: the setting, and the names of its classes."""
    return {
        "task": task.dataset,
        "split": split_name(task.dataset, same_domain=task.train_domain == task.test_domain),
        "train_domain": task.train_domain,
        "test_domain": task.test_domain,
        "n_base_classes": base_count,
        "n_new_classes": len(names) - base_count,
        "group_name": DATASETS[task.dataset].group_name if task.dataset in DATASETS else "",
        "classnames": names,
        "left_out": task.tested.left_out,
        "imbalance_factor": task.imbalance_factor,
        "operating": task.operating and task.operating.numbers,
    }


def _rows(task: RecognitionSpec, tables: Mapping[str, Mapping], tuned_parameters: int) -> dict[str, bytes]:
    learner, images = task.learner.label, tables["images"]
    rows = [*recognition_rows(images, learner)]
    mixes = {"factor": task.imbalance_factor, "ratios": task.ratios, "resamples": task.resamples}
    rows += mix_rows(images, learner, **mixes, seed=task.seed)
    if task.operating:
        validation, test = ImageScores(tables["validation"]), ImageScores(images)
        rows += operating_rows(task.operating, validation, test, learner, probability=True)
    tuned = Result(learner, METRICS["tuned_parameters"], Value(tuned_parameters))
    return rows_of_unit("recognition", rows, seed=task.seed, shared=[*image_counts(images), tuned])


EVALUATION = Evaluation("recognition", RecognitionSpec, RecognitionSpec.tasks, evaluate, version=7)
