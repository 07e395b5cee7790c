"""Every function of `openworld`, and the methods of what they return, with good values of all arguments.

Calls that would compute for long end where their work begins (`until`): what is refused, is refused before.
"""

import shutil
from functools import wraps
from pathlib import Path
from unittest import mock

import numpy as np
import pandas
import torch
from generated import generated
from judging import new_folder

import openworld as ow
from openworld.shifts import Decomposition

RNG = np.random.default_rng(0)
FOLDER = new_folder()
WRITTEN = ("out", "cache", "state", "json_lines", "prometheus", "path", "folder", "junit", "page")
COUNT = 90
SIDE = np.repeat(["base", "new"], 30)


def predictions(seed):
    score = np.random.default_rng(seed).integers(0, 9, 60) / 8 + (SIDE == "base") / 2
    return {"side": SIDE, "score": score, "correct": (score > 0.5).astype(int), "seed": np.tile([1, 2], 30)}


def scores(labelled=True):
    label = np.arange(COUNT) % 3
    logits = RNG.integers(-8, 9, (COUNT, 3)) / 4 + 2 * np.eye(3)[label]
    day = np.repeat(np.arange("2024-01-01", "2024-01-04", dtype="M8[D]"), COUNT // 3)
    return {"logits": logits, "day": day} | ({"labels": label} if labelled else {})


def until(place):
    """A decorator: the call ends where the function of that name begins."""

    class Begun(Exception):
        pass

    def decorate(function):
        @wraps(function)
        def call(**given):
            with mock.patch(place, side_effect=Begun):
                try:
                    return function(**given)
                except Begun:
                    return None

        return call

    return decorate


SOURCE, TARGET = scores(), scores(labelled=False)
RUN = ow.score(predictions(0), FOLDER / "run")
OTHER = ow.score(predictions(1), FOLDER / "other")
STREAM = {
    "logits": RNG.integers(-8, 9, (60, 6)) / 4,
    "classnames": [f"class {place}" for place in range(6)],
    "n_base": 3,
}
SETS = {"group": np.repeat(["id", "far"], 15), "MSP": RNG.integers(0, 9, 30) / 8}
ow.label_plan(STREAM, FOLDER / "plan", n=40, quiet=True)
SHEET = pandas.read_csv(FOLDER / "plan" / "worksheet.csv", dtype=str)
ANSWERS = np.resize(["base right", "base wrong", "new right", "new wrong"], len(SHEET))
SHEET.assign(answer=ANSWERS).to_csv(FOLDER / "sheet.csv", index=False)
Decomposition.of_matrix(torch.eye(128)).save(FOLDER / "halves")
WATCH = FOLDER / "watch.safetensors"
ow.fit_watch(SOURCE, WATCH, timestamps="day", period="1d", images=[30], estimator=["AC"], quiet=True)
SPEC = {"dataset": "emoji-groups", "learners": [{"learner": "zero-shot"}], "seeds": [1], "shots": 1}
EMBEDDED = {"embeddings": RNG.normal(size=(30, 128)).astype(np.float32)}
DETECTED = ow.detect(scores=SETS, replicates=0, quiet=True)
QUIET = {"quiet": True}


def front(function, given, **how):
    how["free"] = (*WRITTEN, *how.get("free", ()))
    return generated(function, given | (QUIET if "quiet" in function.__annotations__ else {}), **how)


def cite(run):
    return ow.cite(run)


cite.__annotations__ = {"run": ow.Report | Path | str}


@wraps(ow.label_plan)
def plan_anew(**given):
    shutil.rmtree(FOLDER / "new plan", ignore_errors=True)  # a second plan there is refused, whatever the values are
    return ow.label_plan(**given)


CALLS = {
    "Report.export": generated(RUN.export, {"form": "csv"}),
    "Report.save_report": front(RUN.save_report, {"path": FOLDER / "page.html"}),
    "Report.table": front(RUN.table, {"metrics": ["openworld_auc"], "where": {}}, free=("show",)),
    "Report.save_figures": front(RUN.save_figures, {"folder": FOLDER / "figures", "form": "svg"}),
    "average": front(ow.average, {"runs": [RUN, OTHER]}),
    "check": front(ow.check, {"run": RUN, "require": "openworld_auc >= 0.5", "against": OTHER, "metric": "auroc"}),
    "cite": generated(cite, {"run": RUN}),
    "compare": front(ow.compare, {"first": RUN, "second": OTHER, "metric": "auroc"}),
    "decide": front(
        until("openworld.evaluations.recognition.report.outcomes")(ow.decide),
        {"run": RUN, "miss_rate": 0.25},
        free=("learner",),
    ),
    "detect": front(ow.detect, {"scores": SETS, "replicates": 0}, free=("template", "root")),
    "estimate": front(ow.estimate, {"source": SOURCE, "target": TARGET, "estimator": ["AC"]}, free=("template",)),
    "fit_watch": front(
        until("openworld.label_free.estimate.quotes.fit_shift_test")(ow.fit_watch),
        {"source": SOURCE, "out": FOLDER / "other.safetensors", "timestamps": "day", "period": "1d", "images": [30]}
        | {"estimator": ["AC"]},
        free=("timestamps",),
    ),
    "hub_entries": generated(ow.hub_entries, {"run": RUN}),
    "label_plan": front(plan_anew, {"stream": STREAM, "out": FOLDER / "new plan", "n": 40}),
    "label_read": front(ow.label_read, {"folder": FOLDER / "plan", "answers": FOLDER / "sheet.csv"}),
    "metrics_of": generated(ow.metrics_of, {"run": RUN}),
    "model_card": generated(ow.model_card, {"run": RUN}),
    "open_run": generated(ow.open_run, {"folder": FOLDER / "run"}),
    "predict": front(
        until("openworld.own_data.predict.find_saved")(ow.predict),
        {"model": RUN, "images": FOLDER},
        free=("images", "unit", "template", "backbone"),
        like_taken=[("images", "unknown name"), ("model", "text")],  # the folder is looked at behind
    ),
    "reproduce": front(
        until("openworld.reproduction.series.carry_out_runs")(ow.reproduce),
        {"paper": "openworldauc", "data": "embedded", "table": ["2"], "learners": ["CoOp"]},
        free=("backbone",),
    ),
    "run": front(until("openworld.evaluations.running.carry_out")(ow.run), {"spec": SPEC, "out": FOLDER / "made"}),
    "score": front(ow.score, {"predictions": predictions(0)}, free=("name",)),
    "shift": front(ow.shift, {"reference": EMBEDDED, "test": EMBEDDED, "laid": FOLDER / "halves"}),
    "watch": front(ow.watch, {"fitted": WATCH}, like={"new": TARGET}),
}
RESULTS = frozenset({"Report"})
"""Classes that functions return; nobody makes them by hand."""
ELSEWHERE = {"OpenworldError": "what is raised"}
