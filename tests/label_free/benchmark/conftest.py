"""Runs of accuracy estimation from made-up units of the right shape, the same for the same seed."""

import io
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from openworld.estimators import Estimate
from openworld.evaluations.rows import rows_of_unit
from openworld.label_free.benchmark import cards, crossed_bootstrap
from openworld.label_free.benchmark.arrays import Condition, RunArrays
from openworld.label_free.benchmark.results import read_results
from openworld.label_free.benchmark.unit import condition_rows
from openworld.results import Result, RunFolder, Value
from openworld.runs import RunStore, Unit, UnitResult

NAME, CLASSIFIERS = "accuracy-estimation", cards.CLASSIFIERS
FACTS = {"protocol": NAME, "architecture": "convnet", "checkpoint": 0, "classes": 100, "references": [],
         "sources": [{"dataset": "emoji-concepts", "domain": "noto"}], "reference_models": [], "left_out": {},
         "taxonomy": {"name": None, "reason": "no tree holds these classes"}}  # fmt: skip
"""What every record says of its unit."""

CORRUPTIONS = ("fog", "snow", "gaussian_noise", "pixelate")
STYLES = ("twemoji", "<b>clay</b>", "outline")
# {label: (estimator, reference, settings, share of the drop that it sees, noise)}
METHODS = {
    "AC": ("AC", None, {}, 0.3, 0.02),
    "DoC": ("DoC", None, {}, 0.35, 0.02),
    "ATC-MC": ("ATC-MC", None, {}, 0.7, 0.03),
    "COTT": ("COTT", None, {}, 0.9, 0.03),
    "ALine-S": ("ALine-S", None, {}, 0.95, 0.02),
    "FRAP": ("FRAP", "CLIP", {}, 0.97, 0.02),
    "FRAP, no threshold": ("FRAP", "CLIP", {"rule": None}, 0.6, 0.05),
    "FRAP, τ = 0.01": ("FRAP", "CLIP", {"tau": 0.01}, 0.9, 0.03),
    "CLIP's answers": ("FRAP", "CLIP", {"reference": "pseudo-labels"}, 1.2, 0.05),
    "FRAP, random": ("FRAP", "dirichlet", {}, 0.65, 0.03),
    "RAP": ("RAP", "CLIP", {}, 0.8, 0.05),
}
METHOD = {"reference": None, "settings": {}}


@pytest.fixture(scope="module", autouse=True)
def few_replicates():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crossed_bootstrap, "REPLICATES", 200)
        yield


@pytest.fixture(scope="session")
def make_estimates():
    """A function that makes up a run of accuracy estimation, in memory."""
    return lambda **options: run_of(made_up(**options))


@pytest.fixture(scope="session")
def estimates(make_estimates):
    """Two architectures, two seeds, two checkpoints; three styles and four corruptions; a method that is silent."""
    return make_estimates()


@pytest.fixture(scope="session")
def arrays(estimates):
    """The arrays of `estimates`."""
    return RunArrays(estimates)


@pytest.fixture(scope="session")
def targets():
    """What `estimates` was made of: everything of a model under a condition, model by model."""
    return [unit.targets for unit in made_up()]


@pytest.fixture(scope="module")
def found(estimates):
    """The results of `estimates`."""
    return read_results(estimates)[0]


@pytest.fixture(scope="session")
def make_estimates_folder(tmp_path_factory):
    """A function that writes the records of a made-up run into a new folder and returns the folder."""
    return lambda **options: write_estimates(tmp_path_factory.mktemp("estimates"), **options)


@pytest.fixture(scope="session")
def estimates_folder(make_estimates_folder):
    """`estimates` as records in a folder."""
    return make_estimates_folder()


@pytest.fixture(scope="session")
def smallest(make_estimates):
    """One method, one model, one condition: nothing to compare and nothing to draw anew."""
    sizes = {"models": ("convnet",), "seeds": (0,), "epochs": (5,), "styles": ("twemoji",), "corruptions": ()}
    return make_estimates(methods={"AC": METHODS["AC"]}, references=(), **sizes)


@pytest.fixture(scope="session")
def handmade():
    """A function that makes a run of given numbers: {condition: (row, true accuracy, {method: error or None})}."""

    def handmade_run(*models):
        labels = dict.fromkeys(label for model in models for _, _, errors in model.values() for label in errors)
        facts = {
            "model": "convnet",
            "epoch": 5,
            "estimators": [METHOD | {"label": name, "estimator": name} for name in labels],
        }
        units = []
        for seed, model in enumerate(models):
            targets = []
            for name, (row, accuracy, errors) in model.items():
                condition = Condition(row, name, "natural", domain=name)
                targets.append(target_of(condition, accuracy, {each: Estimate.of(e) for each, e in errors.items()}, 10))
            units.append(unit_of("", facts | {"seed": seed}, {cards.SOURCE_ACCURACY: 0.9}, targets))
        return run_of(units)

    return handmade_run


def target_of(condition, accuracy, estimates, n=1000, ece=None, tau=None, alignment=None):
    """Everything of a model under a condition; calibration errors, temperatures and alignment by whose they are."""
    numbers = {"ece": ece or {}, "tau": tau or {}, "alignment": alignment or {}}
    return SimpleNamespace(condition=condition, accuracy=accuracy, estimates=estimates, n=n, **numbers)


def unit_of(name, facts, source, targets, timing=None):
    """A record in memory: what it says of its unit, and rows; `source` has numbers of the source by their metrics."""
    facts = FACTS | facts | {"conditions": [target.condition.facts for target in targets]}
    model, rows = {"model": facts["model"], "epoch": facts["epoch"]}, []
    for metric, numbers in source.items():
        for kind, number in numbers.items() if isinstance(numbers, dict) else [("", numbers)]:
            where = model | ({"calibration": kind} if kind else {})
            rows.append(Result("", metric, Value(number), where, (facts["seed"],), (number,)))
    for target in targets:
        place = target.condition.place | model | {"seed": facts["seed"]}
        answers = SimpleNamespace(accuracy=target.accuracy, any=SimpleNamespace(n=target.n))
        rows += condition_rows(answers, target.estimates, place)
        for entity, errors in target.ece.items():
            for kind, number in errors.items():
                rows.append(Result(entity, cards.CALIBRATION, Value(number), place | {"calibration": kind}))
        for metric, numbers in ((cards.TEMPERATURE, target.tau), (cards.ALIGNMENT, target.alignment)):
            rows += [Result(entity, metric, Value(number), place) for entity, number in numbers.items()]
    files = rows_of_unit(NAME, rows)
    return SimpleNamespace(
        name=name, metrics=facts, targets=targets, timing=timing or {}, attachments=files, attachment=files.get
    )


def run_of(units):
    return RunFolder(Path("a-folder-that-is-not-there"), NAME, tuple(units))


def write_estimates(folder, **options):
    """Write a made-up run; see `made_up`. The first record keeps a grey square for every condition and example."""
    store, spec = RunStore(folder), {"protocol": NAME, "seeds": [0, 1]}
    store.create(spec, spec, {"command": ["openworld", "run", "mine.toml"], "packages": {"numpy": np.__version__}})
    units = {Unit("math:sqrt", {"x": unit.name}, name=unit.name): unit for unit in made_up(**options)}
    store.plan(list(units))
    square = io.BytesIO()
    Image.new("L", (8, 8), 128).save(square, "PNG")
    for place, (planned, unit) in enumerate(units.items()):
        names = [f"images/{number}/7.png" for number in range(len(unit.targets))]
        names += [f"examples/{each['id']}.png" for each in unit.metrics.get("examples", ())]
        images = {} if place else dict.fromkeys(names, square.getvalue())
        store.write(
            planned, UnitResult(metrics=unit.metrics, attachments=unit.attachments | images, timing=unit.timing)
        )
    return folder


def made_up(
    *,
    methods=METHODS,
    models=("convnet", "resnet-8"),
    seeds=(0, 1),
    epochs=(5, 10),
    styles=STYLES,
    corruptions=CORRUPTIONS,
    severities=(1, 3, 5),
    references=("CLIP", "dirichlet"),
    aligned=True,
    silent=("ALine-S",),
    intervals=False,
):
    """Every unit of a run; methods in `silent` give no estimate of the worst conditions."""
    dataset = "emoji-concepts"
    conditions = {
        Condition("Emoji, natural", style, "natural", dataset, style): 0.1 + 0.1 * place
        for place, style in enumerate(styles)
    }
    for (place, name), severity in product(enumerate(corruptions), severities):
        corrupted = Condition("Emoji, synthetic", f"{name} {severity}", "synthetic", dataset, None, name, severity)
        conditions[corrupted] = 0.02 * place + 0.09 * severity
    tree = {"name": "a tree" if aligned else None, "reason": None if aligned else "no tree holds these classes"}
    estimators = [
        {"label": label, "estimator": estimator, "reference": reference, "settings": settings}
        for label, (estimator, reference, settings, _, _) in methods.items()
    ]
    seconds = {
        "fit": {label: 0.01 + 0.2 * (method[1] is not None) for label, method in methods.items()},
        "estimate": {label: 0.05 * (1 + len(label)) for label in methods},
    }

    def made_target(condition, drop, source, luck):
        accuracy, estimates = float(np.clip(source - drop + luck.normal(0, 0.02), 0.02, 1)), {}
        for label, (_, _, _, seen, noise) in methods.items():
            error = float(1 - source + seen * (source - accuracy) + luck.normal(0, noise))
            held = min(1.0, max(0.0, error))
            ends = (max(0.0, 0.97 - held), min(1.0, 1.03 - held)) if intervals else None
            estimates[label] = Estimate.of(error, interval=ends, details={"temperature": 1.4})
            if label in silent and drop > 0.4:
                estimates[label] = Estimate.of(None, warnings=["no line: R² 0.41"])
        fixed = {"τ = 0.1": 0.3 + drop / 5, "τ = 0.05": 0.2, "τ = 0.01": 0.04 + drop / 2}
        ece = {CLASSIFIERS: {"raw": 0.1 + drop / 2, "scaled": 0.02 + drop / 3}}
        ece |= {name: {"raw": 0.4, "unscaled": 0.6, "TTC": 0.1 + drop / 4} | fixed for name in references}
        near = {CLASSIFIERS: 0.5 + accuracy / 3}
        for name in references:
            near |= {name: 0.6, f"fused with {name}": 0.58 + accuracy / 4}
        tau = dict.fromkeys(references, 0.02)
        return target_of(condition, accuracy, estimates, 1000, ece, tau, near if aligned else None)

    for name, epoch, seed in product(models, epochs, seeds):
        luck = np.random.default_rng([seed, epoch, *name.encode()])
        source = 0.6 + 0.1 * models.index(name) / len(models) + 0.25 * epochs.index(epoch) / max(len(epochs), 2)
        facts = {"model": name, "architecture": name, "seed": seed, "epoch": epoch, "checkpoint": epochs.index(epoch)}
        facts |= {"references": [*references], "taxonomy": tree, "estimators": estimators}
        if (name, epoch, seed) == (models[0], epochs[0], seeds[0]):
            scales = {"raw": [0.34, 0.335, 0.325], "own": [0.6, 0.3, 0.1], "calibrated": [0.8, 0.15, 0.05]}
            example = {"label": "<i>crane</i>", "classes": ["<i>crane</i>", "heron", "stork"]} | scales
            facts["examples"] = [example | {"id": id, "reference": each} for each in references[:1] for id in (3, 8)]
        numbers = {cards.SOURCE_ACCURACY: source, cards.TEMPERATURE: 1.4}
        numbers[cards.CALIBRATION] = {"raw": 0.12, "scaled": 0.02}
        targets = [made_target(condition, drop, source, luck) for condition, drop in conditions.items()]
        yield unit_of(f"{name} {epoch} {seed}", facts, numbers, targets, {"seconds": seconds})
