"""Plans that several tests ask for, each made once; and made-up runs of a paper, whose numbers are known by hand."""

from functools import cache
from pathlib import Path

import numpy as np
from made_units import dynamic_unit, recognition_outcome

from openworld.evaluations.recognition.outcome import load
from openworld.papers.results import PaperRun
from openworld.reproduction.plan import plan
from openworld.reproduction.settings import ReproductionSetup
from openworld.runs import RunStore, Unit

METHODS = {"zero-shot": "CLIP"}
NAMES = {"dtd": "DTD", "oxford_flowers": "Flowers102", "imagenet": "ImageNet", "food101": "Food101"}
LEVELS = (0.0, 0.5, 1.0)
ACCURACIES = {"zero-shot": [[0.5, 0.5, 0.5]] * 2, "CoOp": [[0.9, 0.6, 0.3], [0.7, 0.6, 0.5]]}


@cache
def plan_of(paper, tables=(), figures=(), data="data", **setup):
    return plan(paper, tables, ReproductionSetup(data, **setup), figures=figures)


def outcome_of(images, learner, seed, rows=lambda _: (), **facts):
    """The outcome of images by columns (side, correct, score), each a group of its own."""
    number, sides = np.arange(len(images["side"])), np.array(images["side"])
    images = {"id": number, "label": np.where(sides == "base", 0, 1), "group": number} | images | {"side": sides}
    facts = {"learner": learner, "seed": seed, "n_base_classes": 2, "n_new_classes": 2} | facts
    return recognition_outcome(images, rows(learner), seconds={"score": 0.12, "latency": 0.02}, **facts)


def scores(seed, dataset):
    """Random scores of thirty base and twenty new images, the same for the same seed and data set."""
    generator = np.random.default_rng([seed, *dataset.encode()])
    sides = np.array(["base"] * 30 + ["new"] * 20)
    correct = generator.random(50) < 0.7
    return {"side": sides, "correct": correct, "score": np.round(generator.normal(np.where(sides == "base", 1, 0)), 1)}


def outcome(learner, seed, dataset, **facts):
    usual = {"task": dataset, "method": learner.partition(",")[0], "shots": 16}
    usual |= {"tuned_parameters": 0 if learner == "zero-shot" else 512}
    usual |= {"detail": {"chosen": {"detectors": 3, "alpha": 0.5}}}
    return outcome_of(scores(seed, dataset), learner, seed, **usual | facts)


def run(name, *outcomes, datasets=NAMES, methods=METHODS):
    """A run that nobody wrote."""
    made = PaperRun(Path(name), datasets, methods)
    made.__dict__.update(_loaded={load: outcomes}, backbone="embedded")
    return made


def recognised(datasets=("dtd", "oxford_flowers"), learners=("zero-shot", "CoOp", "GMoP")):
    return [
        run(f"recognition-{data}", *(outcome(name, seed, data) for name in learners for seed in (1, 2)))
        for data in datasets
    ]


def varied(name, settings, dataset="oxford_flowers", **facts):
    return [outcome(name, seed, dataset, detail={"chosen": settings}, **facts) for seed in (1, 2)]


def played(folder):
    """Write two data sets under emerging new classes and a shift, two learners, two seeds; without predictions."""
    store = RunStore(folder)
    store.create({}, {"protocol": "dynamic", "backbone": "embedded"}, {"command": ["openworld", "run"]})
    units = [
        (Unit("math:sqrt", {"x": [data, name, seed]}, name=f"{data} {name} {seed}"), data, name, seed)
        for data in ("food101", "dtd")
        for name in ACCURACIES
        for seed in (1, 2)
    ]
    store.plan([unit for unit, *_ in units])
    parts = {"base_accuracy": 0.5, "new_accuracy": None, "auroc": None}
    for unit, data, name, seed in units:
        accuracies = zip(LEVELS, ACCURACIES[name][seed - 1], strict=True)
        views = {level: {"accuracy": value, **parts} for level, value in accuracies}
        courses = [("emerging-classes", None, views), ("distribution-shift", f"{data}-r, sketch", views)]
        store.write(unit, dynamic_unit(name, seed, courses, dataset=data))
    return store.folder
