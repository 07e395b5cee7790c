"""Every public function and every estimator of `openworld.estimators`, with good values of all arguments."""

from dataclasses import fields
from functools import cache

import numpy as np
from judging import Call

from openworld import estimators
from openworld.estimators import ESTIMATORS, Outputs, ScoreRegression

CLASSES, RESAMPLES, N = 3, 20, 24
SETTINGS = {
    "ATC-MC": {"rule": "midpoint"},
    "GDE": {"partner": 0},
    "COT": {"marginal": "source_labels"},
    "FRAP": {"tau": "dynamic", "rule": "midpoint"},
    "RAP": {"rule": "midpoint"},
    "IM": {"bins": 4},
}
LOOK_AT_ALL = ("FRAP", "GDE", "IM")
"""Between them they look at every array of `Outputs`, which all estimators get alike."""


def drawn(seed, n=N):
    """Arrays of all that outputs hold, in quarters, which half precision holds exactly."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % CLASSES
    logits = (np.eye(CLASSES)[labels] * 2 + rng.integers(-8, 9, (n, CLASSES)) / 4).astype(float)
    partner = (np.eye(CLASSES)[labels] * 2 + rng.integers(-8, 9, (n, CLASSES)) / 4).astype(float)
    return {
        "logits": logits,
        "labels": labels,
        "reference": rng.integers(0, 9, (n, CLASSES)) / 8 + np.eye(CLASSES)[labels] / 4,
        "partner": partner,
        "slices": rng.integers(0, 2, (n, 2)),
    }


@cache
def other_partners(n):
    return [drawn(seed, n)["partner"] for seed in (7, 8)]


def outputs(logits, labels, reference, partner, slices):
    others = other_partners(len(logits) if getattr(logits, "ndim", 0) == 2 else N)
    return Outputs(logits, labels, reference, (partner, *others), slices)


SOURCE, TARGET = drawn(0), drawn(1)
WHOLE = {name: outputs(**drawn(number, 60)) for number, name in enumerate(("source", "target", "other", "last"))}


def made(estimator):
    return ScoreRegression(estimator) if hasattr(estimator, "score") else estimator


def learned(estimator, source, target):
    """FittedEstimator on the source (a score: on several sets), with an estimate of the target."""
    sets = [source, *list(WHOLE.values())[2:], WHOLE["target"]] if hasattr(estimator, "score") else source
    return made(estimator).fit(sets).estimate(target, resamples=RESAMPLES)


def with_settings(name):
    """An estimator made of settings, at work."""

    def run(**settings):
        return learned(ESTIMATORS[name](**settings), WHOLE["source"], WHOLE["target"])

    given = {one.name: SETTINGS.get(name, {}).get(one.name, one.default) for one in fields(ESTIMATORS[name])}
    none = {one.name for one in fields(ESTIMATORS[name]) if "None" in str(one.type)}
    return Call(run, given, optional=frozenset(none), allowed=frozenset({("tau", "number")}))


def on_outputs(name):
    """An estimator with settings of its own on arrays of source and target."""
    slices = {"slices": "given"} if name == "IM" else {}

    def run(target_logits, target_reference, target_slices, **source):
        target = TARGET | {"logits": target_logits, "reference": target_reference, "slices": target_slices}
        return learned(ESTIMATORS[name](**slices), outputs(**source), outputs(**target))

    target = {f"target_{part}": TARGET[part] for part in ("logits", "reference", "slices")}
    optional = frozenset({"labels", "reference", "slices", *target}) - {"target_logits"}
    return Call(run, SOURCE | target, optional=optional, odd=name in LOOK_AT_ALL)


def null(source, n, seed):
    return estimators.measure_null({"AC": ESTIMATORS["AC"]()}, source, n, seed=seed)["AC"].estimates


NULL = estimators.measure_null({"AC": ESTIMATORS["AC"]()}, WHOLE["source"], 20)["AC"]


def learned_from(source, shifts, seed):
    asked = {"AC": ESTIMATORS["AC"]()}
    return estimators.learn_from_shifts(asked, source, shifts, NULLS, seed=seed).powers["AC"]


NULLS = estimators.measure_null({"AC": ESTIMATORS["AC"]()}, WHOLE["source"], 20)
SHIFTS = [estimators.LabelledShift(family, family, outputs(**drawn(10 + seed))) for seed, family in enumerate("abcde")]
LEARNED = estimators.learn_from_shifts({"AC": ESTIMATORS["AC"]()}, WHOLE["source"], SHIFTS, NULLS)
FITTED = made(ESTIMATORS["AC"]()).fit(WHOLE["source"])
BASE, OTHER = np.array([[0.75, 0.25], [0.5, 0.5], [0.125, 0.875]]), np.array([[0.25, 0.75], [0.875, 0.125], [0.5, 0.5]])
PAIR = {"base": BASE, "reference": OTHER}
PARTS = ("fit", "estimate", "settings")

CALLS = {
    **{
        ESTIMATORS[name].__name__ + " of settings": with_settings(name)
        for name in ESTIMATORS
        if fields(ESTIMATORS[name])
    },
    **{ESTIMATORS[name].__name__ + " on outputs": on_outputs(name) for name in ESTIMATORS},
    **{
        ESTIMATORS[name].__name__ + " fit": Call(made(ESTIMATORS[name]()).fit, {argument: value})
        for name in ESTIMATORS
        for argument, value in (
            [("sets", list(WHOLE.values()))] if hasattr(ESTIMATORS[name], "score") else [("source", WHOLE["source"])]
        )
    },
    **{
        ESTIMATORS[name].__name__ + " score": Call(ESTIMATORS[name]().score, {"outputs": WHOLE["source"]})
        for name in ESTIMATORS
        if hasattr(ESTIMATORS[name], "score")
    },
    "FittedEstimator.estimate": Call(
        FITTED.estimate, {"target": WHOLE["target"], "interval": True, "seed": 0, "resamples": RESAMPLES}
    ),
    "Outputs": Call(
        Outputs,
        {part: SOURCE[part] for part in ("logits", "labels", "reference", "slices")}
        | {"partners": (SOURCE["partner"],), "features": 1 + SOURCE["reference"], "appearance": SOURCE["reference"]},
    ),
    "ScoreRegression": Call(ScoreRegression, {"of": estimators.MaNo()}),
    "base_weights": Call(estimators.base_weights, PAIR | {"weighting": "linear"}),
    "fuse": Call(estimators.fuse, PAIR | {"weighting": "linear", "fusion": "arithmetic"}),
    "fuse geometric": Call(estimators.fuse, PAIR | {"weighting": "softmax", "fusion": "geometric"}),
    "reference_temperature": Call(estimators.reference_temperature, {"base": BASE, "similarities": OTHER}),
    "uniform_reference": Call(estimators.uniform_reference, {"n": 4, "classes": 3}),
    "dirichlet_reference": Call(estimators.dirichlet_reference, {"n": 4, "classes": 3, "seed": 0}),
    "check_confidence": Call(estimators.check_confidence, {"source": WHOLE["source"]}),
    "check_reference": Call(estimators.check_reference, {"source": WHOLE["source"]}),
    "check_source": Call(estimators.check_source, {"source": WHOLE["source"], "target": WHOLE["target"]}),
    "alarm_limit": Call(
        estimators.alarm_limit, {"null": NULL, "n": 20, "rate": 0.0625, "over": 3, "jumps": True, "seed": 0}
    ),
    "measure_null": Call(null, {"source": WHOLE["source"], "n": 20, "seed": 0}),
    "LabelledShift": Call(
        estimators.LabelledShift,
        {"name": "night", "family": "light", "outputs": WHOLE["source"], "artificial": False},
        allowed=frozenset({("name", "unknown name"), ("family", "unknown name")}),
    ),
    "learn_from_shifts": Call(learned_from, {"source": WHOLE["source"], "shifts": SHIFTS, "seed": 0}),
    "LearnedShifts.quote": Call(LEARNED.quote, {"estimates": {"AC": estimators.Estimate.of(0.25)}}),
}
RESULTS = frozenset(
    {"AlarmLimit", "Estimate", "FittedEstimator", "LearnedShifts", "LeftOut", "Null"}
    | {"ConfidenceCheck", "ReferenceCheck", "ReferenceTemperature", "SourceCheck"}
)
"""Classes that functions return; nobody makes them by hand."""
