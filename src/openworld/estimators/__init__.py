"""Accuracy without labels: estimators, functions of arrays. One file each, siblings alike.

An estimator is a frozen dataclass of its settings. It offers

    fit(source)                                            a fitted estimator, from `Outputs` with labels
    fitted.estimate(target, interval=..., seed=...)        an `Estimate` of the accuracy on `Outputs` without labels

and says in `name`, `paper`, `summary` and `needs` what it is and what `Outputs` must hold: "labels" (of the source
only), "reference", "partners" (of source and target). Errors and accuracies are fractions in [0, 1].

NuclearNorm, MaNo, SoftmaxCorr and MDE are scores: they offer `score(outputs)` instead, which orders sets by accuracy,
and become estimators as `ScoreRegression(MaNo()).fit(labelled_sets)`.

Those that answer from a target image by image are written as `read(known, state, target) -> RawEstimate`, and
`FittedEstimator` does the rest.
"""

from openworld.core.plugins import Plugins
from openworld.estimators.agreement_on_the_line import ALineD, ALineS
from openworld.estimators.average_confidence import AC
from openworld.estimators.calibrated_confidence import CBPE
from openworld.estimators.difference_of_confidences import DoC
from openworld.estimators.disagreement import GDE
from openworld.estimators.engine.checks import ConfidenceCheck, ReferenceCheck, check_confidence, check_reference
from openworld.estimators.engine.fitted import Estimate, Estimator, FittedEstimator
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.reference_calibration import ReferenceTemperature, reference_temperature
from openworld.estimators.frap import FRAP, base_weights, dirichlet_reference, fuse, uniform_reference
from openworld.estimators.importance import IM
from openworld.estimators.mano import MaNo
from openworld.estimators.meta_distribution_energy import MDE
from openworld.estimators.nuclear_norm import NuclearNorm
from openworld.estimators.optimal_transport import COT
from openworld.estimators.pseudo_label_shift import PseudoLabelShift
from openworld.estimators.quote.alarm import AlarmLimit, alarm_limit
from openworld.estimators.quote.learned_shifts import LabelledShift, LearnedShifts, LeftOut, learn_from_shifts
from openworld.estimators.quote.null import Null, measure_null
from openworld.estimators.quote.source_check import SourceCheck, check_source
from openworld.estimators.rap import RAP
from openworld.estimators.score_regression import ScoreRegression
from openworld.estimators.softmax_corr import SoftmaxCorr
from openworld.estimators.thresholded_confidence import ATCMaxConfidence, ATCNegativeEntropy
from openworld.estimators.transport_threshold import COTT
from openworld.estimators.two_views import TwoViews

ESTIMATORS: dict[str, type] = {
    estimator.name: estimator
    for estimator in (
        AC,
        DoC,
        IM,
        GDE,
        ATCMaxConfidence,
        ATCNegativeEntropy,
        COT,
        COTT,
        CBPE,
        FRAP,
        RAP,
        TwoViews,
        PseudoLabelShift,
        ALineS,
        ALineD,
        NuclearNorm,
        MaNo,
        SoftmaxCorr,
        MDE,
    )
}
"""Name -> class of every estimator of this package."""

PLUGINS = Plugins("estimator", ("name", "paper", "summary", "needs"), lambda: ESTIMATORS)
find_estimator, all_estimators = PLUGINS.find, PLUGINS.all
broken_plugins, origin = PLUGINS.broken, PLUGINS.origin

__all__ = [
    "AC",
    "ATCMaxConfidence",
    "ATCNegativeEntropy",
    "CBPE",
    "COT",
    "COTT",
    "DoC",
    "GDE",
    "IM",
    "LabelledShift",
    "LearnedShifts",
    "LeftOut",
    "ALineD",
    "ALineS",
    "AlarmLimit",
    "ConfidenceCheck",
    "ESTIMATORS",
    "Estimate",
    "Estimator",
    "FRAP",
    "FittedEstimator",
    "MDE",
    "MaNo",
    "NuclearNorm",
    "Null",
    "Outputs",
    "PseudoLabelShift",
    "RAP",
    "ReferenceCheck",
    "ReferenceTemperature",
    "ScoreRegression",
    "TwoViews",
    "SoftmaxCorr",
    "SourceCheck",
    "alarm_limit",
    "base_weights",
    "check_confidence",
    "check_reference",
    "check_source",
    "dirichlet_reference",
    "fuse",
    "learn_from_shifts",
    "measure_null",
    "reference_temperature",
    "uniform_reference",
]
