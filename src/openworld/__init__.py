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

from typing import TYPE_CHECKING

from openworld.core.errors import OpenworldError
from openworld.core.lazy import lazily

if TYPE_CHECKING:
    from openworld import (  # noqa: F401  names of the package, which `import *` need not bring
        backbones,
        datasets,
        detectors,
        estimators,
        labels,
        learners,
        metrics,
        results,
        shifts,
        testing,
    )
    from openworld.api.citing import cite
    from openworld.api.detecting import detect
    from openworld.api.estimating import estimate, fit_watch, watch
    from openworld.api.exchange import hub_entries, metrics_of, model_card
    from openworld.api.finished_runs import average, check, compare, decide, open_run
    from openworld.api.labelling import label_plan, label_read
    from openworld.api.predicting import predict
    from openworld.api.reproducing import reproduce
    from openworld.api.running import run
    from openworld.api.scoring import score
    from openworld.api.shifting import shift
    from openworld.report.report import Report

__version__ = "0.2.0"

__getattr__, __dir__ = lazily(__name__, __file__)

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
