"""openworld: how a vision-language model or an image classifier will do outside the closed world it was built in.

What the commands do, as functions that return objects; each is imported when it is first asked for:

run, reproduce         carry out a spec; make a paper's tables again
score                  predictions of your own
label_plan, label_read    a few labels: which images, and what is then known
estimate, shift        a model and data of your own, without labels; how far data is from other data
fit_watch, watch       the same as a daily job
detect                 which detector sees what is out of distribution
predict, decide        a fitted learner on images; the threshold to run it with
open_run, compare      finished runs
average                several runs, a data set each
check                  whether one is good enough
metrics_of, cite       a run's numbers for trackers; BibTeX of what it used
hub_entries, model_card    the same for the Hugging Face hub

The methods are in the packages `metrics`, `learners`, `detectors`, `estimators`, `labels`, `shifts`, `backbones`,
`datasets`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from openworld._errors import OpenworldError

if TYPE_CHECKING:
    from openworld.api.averaging import average
    from openworld.api.checking import check
    from openworld.api.citing import cite
    from openworld.api.deciding import decide
    from openworld.api.detecting import detect
    from openworld.api.estimating import estimate
    from openworld.api.exchange import hub_entries, metrics_of, model_card
    from openworld.api.finished_run import open_run
    from openworld.api.labelling import label_plan, label_read
    from openworld.api.predicting import predict
    from openworld.api.predictions import compare, score
    from openworld.api.reproducing import reproduce
    from openworld.api.running import run
    from openworld.api.shifting import shift
    from openworld.api.watching import fit_watch, watch
    from openworld.report.report import Report

__version__ = "0.1.0"

_LIES_IN = {
    "average": "averaging",
    "check": "checking",
    "cite": "citing",
    "compare": "predictions",
    "decide": "deciding",
    "detect": "detecting",
    "estimate": "estimating",
    "fit_watch": "watching",
    "hub_entries": "exchange",
    "label_plan": "labelling",
    "label_read": "labelling",
    "metrics_of": "exchange",
    "model_card": "exchange",
    "open_run": "finished_run",
    "predict": "predicting",
    "reproduce": "reproducing",
    "run": "running",
    "score": "predictions",
    "shift": "shifting",
    "watch": "watching",
}
_PACKAGES = (
    "backbones",
    "datasets",
    "detectors",
    "estimators",
    "labels",
    "learners",
    "metrics",
    "results",
    "shifts",
    "testing",
)

__all__ = [
    "OpenworldError",
    "Report",
    "__version__",
    "average",
    "check",
    "cite",
    "compare",
    "decide",
    "detect",
    "estimate",
    "fit_watch",
    "hub_entries",
    "label_plan",
    "label_read",
    "metrics_of",
    "model_card",
    "open_run",
    "predict",
    "reproduce",
    "run",
    "score",
    "shift",
    "watch",
]


def __getattr__(name: str):
    if name == "Report":
        return import_module("openworld.report.report").Report
    if name in _LIES_IN:
        return getattr(import_module(f"openworld.api.{_LIES_IN[name]}"), name)
    if name in _PACKAGES:
        return import_module(f"openworld.{name}")
    raise AttributeError(f"module 'openworld' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})
