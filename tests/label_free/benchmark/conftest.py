"""Runs of accuracy estimation from made-up records of the right shape, the same for the same seed."""

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

ECE = "expected_calibration_error"
CARDS = {metric.key: metric for metric in (cards.SOURCE_ACCURACY, cards.TEMPERATURE, cards.CALIBRATION)}
FACTS = {"architecture": "convnet", "checkpoint": 0, "sources": [{"dataset": "emoji-concepts", "domain": "noto"}],
         "classes": 100, "references": [], "reference_models": [], "left_out": {},
         "taxonomy": {"name": None, "reason": "no tree holds these classes"}}  # fmt: skip
"""What every record says of its unit."""

CONDITION = ("row", "name", "kind", "dataset", "domain", "corruption", "severity")
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


@pytest.fixture(scope="module", autouse=True)
def few_replicates():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crossed_bootstrap, "REPLICATES", 200)
        yield


@pytest.fixture(scope="session")
def make_estimates():
    """A function that makes up a run of accuracy estimation, in memory."""
    return lambda **options: _run([_as_record(*record) for record in made_up(**options)])


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
    return [[Target(**target) for target in metrics["targets"]] for _, metrics, _ in made_up()]


class Target(SimpleNamespace):
    """Numbers of a model under a condition; `estimates` by method, with `error` and `interval`."""


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

    def run_of(*models):
        named = [label for model in models for _, _, estimates in model.values() for label in estimates]
        methods = [{"label": label, "estimator": label} for label in dict.fromkeys(named)]
        return _run([_handmade(seed, model, methods) for seed, model in enumerate(models)])

    return run_of


def _handmade(seed, conditions, methods):
    targets = [
        {"row": row, "name": name, "kind": "natural", "domain": name, "n": 10, "accuracy": accuracy,
         "estimates": {label: {"error": error} for label, error in estimates.items()}}
        for name, (row, accuracy, estimates) in conditions.items()
    ]  # fmt: skip
    metrics = {"protocol": "accuracy-estimation", "model": "convnet", "seed": seed, "epoch": 5, "estimators": methods}
    return _as_record("", metrics | {"source": {"accuracy": 0.9}, "targets": targets}, {})


def _run(records):
    return RunFolder(Path("a-folder-that-is-not-there"), "accuracy-estimation", tuple(records))


def _as_record(name, metrics, timing):
    facts, rows = _facts_and_rows(metrics)
    return SimpleNamespace(name=name, metrics=facts, timing=timing, attachments=(*rows,), attachment=rows.get)


def _facts_and_rows(metrics):
    """What a record says of its unit, and its rows as an attachment."""
    facts = FACTS | {key: value for key, value in metrics.items() if key not in ("targets", "source")}
    source = metrics["source"]
    model, seed, rows = {"model": metrics["model"], "epoch": metrics["epoch"]}, metrics["seed"], []
    conditions = [{key: each.get(key) for key in CONDITION if each.get(key)} for each in metrics["targets"]]
    numbers = [("source_accuracy", {}, source["accuracy"])]
    numbers += [("temperature", {}, source["temperature"])] if "temperature" in source else []
    numbers += [(ECE, {"calibration": kind}, error) for kind, error in source.get("ece", {}).items()]
    for metric, further, number in numbers:
        rows.append(Result("", CARDS[metric], Value(number), model | further, (seed,), (number,)))
    for target, facts_of in zip(metrics["targets"], conditions, strict=True):
        place = Condition(**facts_of).place | model | {"seed": seed}
        rows += condition_rows(_answers(target), _estimates(target), place)
        for name, errors in target.get("ece", {}).items():
            entity = "classifiers" if name == "base" else name
            for kind, number in errors.items():
                metric, further = ("temperature", {}) if kind == "tau" else (ECE, {"calibration": kind})
                rows.append(Result(entity, CARDS[metric], Value(number), place | further))
        for name, number in (target.get("alignment") or {}).items():
            rows.append(Result("classifiers" if name == "base" else name, cards.ALIGNMENT, Value(number), place))
    return facts | {"conditions": conditions}, rows_of_unit("accuracy-estimation", rows)


def _answers(target):
    return SimpleNamespace(accuracy=target["accuracy"], any=SimpleNamespace(n=target["n"]))


def _estimates(target):
    known = target["estimates"].items()
    accuracies = {label: None if each["error"] is None else 1 - each["error"] for label, each in known}
    return {label: Estimate(accuracies[label], **{"raw_error": None} | each) for label, each in known}


def write_estimates(folder, **options):
    """Write a made-up run; see `made_up`."""
    store, spec = RunStore(folder), {"protocol": "accuracy-estimation", "seeds": [0, 1]}
    store.create(spec, spec, {"command": ["openworld", "run", "mine.toml"], "packages": {"numpy": np.__version__}})
    planned = [(Unit("math:sqrt", {"x": name}, name=name), *record) for name, *record in made_up(**options)]
    store.plan([unit for unit, *_ in planned])
    for place, (unit, metrics, timing) in enumerate(planned):
        facts, rows = _facts_and_rows(metrics)
        attachments = rows if place else rows | _thumbnails(metrics)
        store.write(unit, UnitResult(metrics=facts, attachments=attachments, timing=timing))
    return folder


def _thumbnails(metrics):
    """A grey square for every condition, in a folder by its number."""
    file = io.BytesIO()
    Image.new("L", (8, 8), 128).save(file, "PNG")
    conditions = {f"images/{number}/7.png": file.getvalue() for number in range(len(metrics["targets"]))}
    examples = {f"examples/{one['id']}.png": file.getvalue() for one in metrics["examples"]}
    return conditions | examples


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
    """Name, metrics and timing of every record; methods in `silent` give no estimate of the worst conditions."""
    conditions = _conditions(styles, corruptions, severities)
    estimators = [
        {"label": label, "estimator": method[0], "reference": method[1], "settings": method[2]}
        for label, method in methods.items()
    ]
    seconds = {
        "fit": {label: 0.01 + 0.2 * (method[1] is not None) for label, method in methods.items()},
        "estimate": {label: 0.05 * (1 + len(label)) for label in methods},
    }
    for name, epoch, seed in product(models, epochs, seeds):
        luck = np.random.default_rng([seed, epoch, *name.encode()])
        source = 0.6 + 0.1 * models.index(name) / len(models) + 0.25 * epochs.index(epoch) / max(len(epochs), 2)
        metrics = {
            "protocol": "accuracy-estimation", "model": name, "architecture": name, "seed": seed, "epoch": epoch,
            "checkpoint": epochs.index(epoch), "references": [*references], "taxonomy": _taxonomy(aligned),
            "estimators": estimators,
            "source": {"n": 1000, "mistakes": round(1000 * (1 - source)), "accuracy": source, "temperature": 1.4,
                       "ece": {"raw": 0.12, "scaled": 0.02}},
            "targets": [
                _target(each, source, luck, methods, references, aligned, silent, intervals) for each in conditions
            ],
        }  # fmt: skip
        if (name, epoch, seed) == (models[0], epochs[0], seeds[0]):
            metrics |= {"examples": [_example(one, number) for one in references[:1] for number in (3, 8)]}
        yield f"{name} {epoch} {seed}", metrics, {"seconds": seconds}


def _example(reference, number):
    names, raw = ["<i>crane</i>", "heron", "stork"], [0.34, 0.335, 0.325]
    return {"id": number, "label": names[0], "reference": reference, "classes": names, "raw": raw,
            "own": [0.6, 0.3, 0.1], "calibrated": [0.8, 0.15, 0.05]}  # fmt: skip


def _taxonomy(known):
    return {"name": "a tree" if known else None, "reason": None if known else "no tree holds these classes"}


def _conditions(styles, corruptions, severities):
    natural = [("Emoji, natural", style, "natural", style, None, None, 0.1 + 0.1 * place)
               for place, style in enumerate(styles)]  # fmt: skip
    return natural + [
        ("Emoji, synthetic", f"{name} {severity}", "synthetic", None, name, severity, 0.02 * place + 0.09 * severity)
        for place, name in enumerate(corruptions)
        for severity in severities
    ]


def _target(condition, source, luck, methods, references, aligned, silent, intervals):
    row, name, kind, domain, corruption, severity, drop = condition
    accuracy = float(np.clip(source - drop + luck.normal(0, 0.02), 0.02, 1))
    estimates = {}
    for label, (_, _, _, seen, noise) in methods.items():
        raw = 1 - source + seen * (source - accuracy) + luck.normal(0, noise)
        estimates[label] = _estimate(None if label in silent and drop > 0.4 else float(raw), intervals)
    ece = {"base": {"raw": 0.1 + drop / 2, "scaled": 0.02 + drop / 3}}
    fixed = {"τ = 0.1": 0.3 + drop / 5, "τ = 0.05": 0.2, "τ = 0.01": 0.04 + drop / 2}
    ece |= {one: {"raw": 0.4, "unscaled": 0.6, "TTC": 0.1 + drop / 4, "tau": 0.02} | fixed for one in references}
    alignment = {"base": 0.5 + accuracy / 3}
    for one in references:
        alignment |= {one: 0.6, f"fused with {one}": 0.58 + accuracy / 4}
    return {
        "row": row, "name": name, "kind": kind, "dataset": "emoji-concepts", "domain": domain,
        "corruption": corruption, "severity": severity, "n": 1000, "accuracy": accuracy, "estimates": estimates,
        "ece": ece, "alignment": alignment if aligned else None,
    }  # fmt: skip


def _estimate(raw, intervals):
    if raw is None:
        return {"error": None, "raw_error": None, "interval": None, "warnings": ["no line: R² 0.41"], "details": {}}
    error = min(1.0, max(0.0, raw))
    interval = [max(0.0, 0.97 - error), min(1.0, 1.03 - error)] if intervals else None
    return {"error": error, "raw_error": raw, "interval": interval, "warnings": [], "details": {"temperature": 1.4}}
