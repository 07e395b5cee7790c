"""What evaluations are tested on: a folder of coloured shapes to run them on, and records that nobody computed.

Records are made by a few lines of arithmetic, the same for the same seed.
"""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.results import join
from openworld.evaluations.recognition_metrics import image_counts, recognition_rows
from openworld.evaluations.rows import rows_of_unit
from openworld.report.album import choose
from openworld.results import METRICS, Result, Value
from openworld.runs import RunStore, Unit, UnitResult

FOUR = {"zero-shot": (0.5, 0.5, 1.0, 0), "CoOp": (1.4, 0.0, 1.05, 512), "KgCoOp": (1.2, 0.25, 1.05, 512)}
FOUR |= {"GMoP": (1.4, 0.5, 1.35, 6656)}
NASTY = "<script>alert(1)</script>"
RATIOS = ((5, 1), (2, 1), (1, 1), (1, 2), (1, 5))


@pytest.fixture(scope="session")
def make_run(tmp_path_factory):
    """A function that writes a run into a new folder and returns the folder."""
    return lambda **options: write_run(tmp_path_factory.mktemp("run"), **options)


@pytest.fixture(scope="session")
def small_run(make_run):
    """Four learners, two seeds, 12 + 12 classes of 8 images; one class has markup for a name."""
    return make_run(seeds=(1, 2), names=[NASTY, *(f"thing {number}" for number in range(23))], per_class=8)


@pytest.fixture(scope="session")
def small_results(small_run):
    return join(load(small_run))


def write_run(
    folder,
    *,
    learners=FOUR,
    seeds=(1, 2, 3),
    tasks=("emoji-concepts",),
    names=None,
    per_class=10,
    draw=None,
    sides=("base", "new"),
):
    """Write a run of `learners` = {label: (base ability, new ability, detection, tuned parameters)}."""
    store = RunStore(folder)
    names = list(names or [f"thing {number}" for number in range(100)])
    spec = {"protocol": "recognition", "shots": 16}
    made_by = {"command": ["openworld", "demo"], "packages": {"numpy": "2.0"}, "weights": {"embedded": "9f" * 32}}
    store.create(spec, spec | {"seeds": [*seeds]}, made_by)
    units = [_unit(task, learner, seed) for task in tasks for learner in learners for seed in seeds]
    store.plan(units)
    for unit in units:
        task, learner, seed = (unit.arguments[name] for name in ("task", "learner", "seed"))
        images = _images(task, learner, learners[learner], seed, len(names), per_class)
        kept = np.isin(images["side"], sides)
        images = {name: column[kept] for name, column in images.items()}
        result = _result(unit.arguments, learners[learner][3], images, names, draw or square)
        store.write(unit, result, {"host": "nowhere"})
    return folder


def square(name, number):
    """A 64-pixel image: a square whose colour follows from the number."""
    colour = tuple(60 + (number * step) % 180 for step in (37, 101, 17))
    image, file = Image.new("RGB", (64, 64), "white"), io.BytesIO()
    image.paste(colour, (12, 12, 52, 52))
    image.save(file, "PNG")
    return file.getvalue()


def _unit(task, learner, seed):
    arguments = {"task": task, "learner": learner, "seed": seed}
    return Unit("openworld.evaluations.recognition.evaluation:EVALUATION", arguments, name=f"{task} {learner} {seed}")


def _result(arguments, tuned_parameters, images, names, draw):
    learner, seed = arguments["learner"], arguments["seed"]
    facts = {
        "protocol": "recognition",
        **arguments,
        "split": "same-drawing",
        "train_domain": "twemoji",
        "test_domain": "twemoji",
        "backbone": "embedded",
        "group_name": "drawing",
        "shots": 16,
        "epochs": None if tuned_parameters == 0 else 20,
        "tuned_parameters": tuned_parameters,
        "classnames": names,
        "n_base_classes": -(-len(names) // 2),
        "n_new_classes": len(names) // 2,
    }
    shown = {place for picked in choose(images).values() for place, *_ in picked}
    labels = {int(images["id"][place]): int(images["label"][place]) for place in shown}
    thumbnails = {f"images/{number}.png": draw(names[label], label) for number, label in labels.items()}
    seconds = {"fit": 0.001 * tuned_parameters**1.1, "score": 0.2}
    shared = [*image_counts(images), Result(learner, METRICS["tuned_parameters"], Value(tuned_parameters))]
    rows = rows_of_unit("recognition", _rows(images, learner), seed=seed, shared=shared)
    return UnitResult({"images": images}, facts, thumbnails | rows, {"seconds": seconds})


def _rows(images, learner):
    """What a unit measures, and of the sweep over ratios two numbers, by arithmetic."""
    rows = [*recognition_rows(images, learner)]
    area = next(row for row in rows if row.metric.key == "openworld_auc")
    for m, n in RATIOS:
        where = {"ratio": m / n, "new_share": m / (m + n)}
        overall = Value(0.9 * (n + 0.7 * m) / (n + m))
        rows.append(replace(area, where=where, value=replace(area.value, intervals=())))
        rows.append(Result(learner, METRICS["overall_accuracy"], overall, where))
    return rows


def _images(task, learner, abilities, seed, classes, per_class):
    shared = np.random.default_rng([7, *task.encode()])
    label = np.repeat(np.arange(classes), per_class)
    base = label < -(-classes // 2)
    ease = shared.normal(0, 1.0, classes)[label] + shared.normal(0, 0.7, label.size)
    looks = shared.normal(0, 0.6, classes)[label] + shared.normal(0, 0.7, label.size)
    own = np.random.default_rng([seed if abilities[3] else 0, *learner.encode(), *task.encode()])
    ability = np.where(base, abilities[0], abilities[1]) + own.normal(0, 0.08)
    margin = ability + ease + own.normal(0, 0.35, label.size)
    correct = margin > 0
    half = np.where(base, -(-classes // 2), classes // 2)
    start = np.where(base, 0, -(-classes // 2))
    prediction = np.where(correct, label, start + (label - start + own.integers(1, np.maximum(half, 2))) % half)
    score = abilities[2] * np.where(base, 0.75, -0.75) + looks + 0.25 * margin + own.normal(0, 0.3, label.size)
    confidence = 1 / (1 + np.exp(-np.abs(margin) * 1.3))
    return {
        "id": np.arange(label.size),
        "side": np.where(base, "base", "new"),
        "label": label,
        "prediction": prediction,
        "joint_prediction": prediction,
        "correct": correct,
        "score": score,
        "confidence": confidence,
        "group": label,
    }
