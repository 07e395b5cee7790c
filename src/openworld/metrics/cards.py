"""A card for every metric."""

from collections.abc import Callable
from dataclasses import dataclass

from openworld.metrics._accuracy import accuracy, harmonic_mean
from openworld.metrics._auroc import auroc
from openworld.metrics._openworld_auc import open_auc, openworld_auc, overall_accuracy
from openworld.metrics._operating_point import miss_hit_curve, operating_point
from openworld.metrics._robustness import robustness
from openworld.metrics._soft_openworld_auc import soft_openworld_auc
from openworld.metrics._trend import shift_trend, trend
from openworld.metrics.calibration import aurc, expected_calibration_error, semantic_alignment
from openworld.metrics.detection import (
    aupr_in,
    aupr_out,
    average_precision_in,
    average_precision_out,
    fpr_in_positive,
    fpr_out_positive,
)
from openworld.metrics.ranks import final_ranks, friedman_ranks, friedman_test, nemenyi


@dataclass(frozen=True)
class MetricCard:
    """A metric's function, what it tells in one line, its range (low, high), None where open, and its source."""

    function: Callable
    summary: str
    range: tuple[float | None, float | None]
    paper: str


_SHARE = (0.0, 1.0)
_HUA = "OpenworldAUC (Hua et al., 2025)"
_OPENOOD = "OpenOOD v1.5 (Zhang et al., 2023)"
_MCM = "MCM (Ming et al., 2022)"
_OPENPL = "OpenPL, section 4"
_DEMSAR = "Demsar (2006)"
_ISOOD = "IS-OOD, Tables 1 and 2"
_FRAP = "FRAP, section 5.3"

METRICS: dict[str, MetricCard] = {
    "openworld_auc": MetricCard(openworld_auc, "named right and ranked right, over base-new pairs", _SHARE, _HUA),
    "soft_openworld_auc": MetricCard(soft_openworld_auc, "OpenworldAUC of real-valued outcomes", (None, None), _HUA),
    "overall_accuracy": MetricCard(overall_accuracy, "accuracy over base and new names at once", _SHARE, _HUA),
    "miss_hit_curve": MetricCard(miss_hit_curve, "new images hit against base images missed", _SHARE, _HUA),
    "operating_point": MetricCard(operating_point, "miss and hit rate at a threshold, Wilson intervals", _SHARE, _HUA),
    "open_auc": MetricCard(open_auc, "base named right and ranked above new", _SHARE, "OpenAUC (Wang et al., 2022)"),
    "auroc": MetricCard(auroc, "in outscores out, over pairs", _SHARE, "Hanley and McNeil (1982)"),
    "aupr_in": MetricCard(aupr_in, "precision-recall area, in positive, trapezoids", _SHARE, _OPENOOD),
    "aupr_out": MetricCard(aupr_out, "precision-recall area, out positive, trapezoids", _SHARE, _OPENOOD),
    "average_precision_in": MetricCard(average_precision_in, "average precision, in positive", _SHARE, _MCM),
    "average_precision_out": MetricCard(average_precision_out, "average precision, out positive", _SHARE, _MCM),
    "fpr_in_positive": MetricCard(fpr_in_positive, "FPR@95: out accepted when 95 % of in are", _SHARE, _MCM),
    "fpr_out_positive": MetricCard(fpr_out_positive, "FPR@95: in flagged when 95 % of out are", _SHARE, _OPENOOD),
    "accuracy": MetricCard(accuracy, "share of correct samples, Wilson interval", _SHARE, "Wilson (1927)"),
    "harmonic_mean": MetricCard(harmonic_mean, "HM of base and new accuracy", _SHARE, "Xian et al. (2017)"),
    "expected_calibration_error": MetricCard(
        expected_calibration_error, "mean distance of accuracy and confidence", _SHARE, "Guo et al. (2017)"
    ),
    "aurc": MetricCard(aurc, "risk of the answered images, mean over coverages", _SHARE, "Geifman et al. (2019)"),
    "semantic_alignment": MetricCard(semantic_alignment, "similarity of predictions to the true class", _SHARE, _FRAP),
    "robustness": MetricCard(robustness, "Dynamic Robustness Curve: AUC, WA, EVM, VS, PA, NA", (None, None), _OPENPL),
    "friedman_ranks": MetricCard(friedman_ranks, "mean rank over data sets and levels", (1.0, None), _OPENPL),
    "final_ranks": MetricCard(final_ranks, "rank of the Friedman ranks", (1.0, None), _OPENPL),
    "friedman_test": MetricCard(friedman_test, "whether methods differ at all", (0.0, None), "Friedman (1937)"),
    "nemenyi": MetricCard(nemenyi, "critical difference of mean ranks", (0.0, None), _DEMSAR),
    "trend": MetricCard(trend, "correlation and slope of a metric along levels", (None, None), _ISOOD),
    "shift_trend": MetricCard(shift_trend, "the same for a semantic x covariate table", (None, None), _ISOOD),
}
"""Name -> card of every metric."""
