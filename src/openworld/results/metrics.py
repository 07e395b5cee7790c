"""Every metric of ours by key: its title, unit, digits and direction."""

from collections.abc import Iterable
from difflib import get_close_matches

from openworld._errors import OpenworldError, unknown_name
from openworld.metrics import LIMITS
from openworld.results.value import Metric

_ANY = (None, None)
_UP = (0.0, None)
_GAIN = (-1.0, 1.0)


def _percent(key: str, title: str, better: int = 1) -> Metric:
    return Metric(key, title, better=better)


def _curve(key: str, title: str, unit: str = "percent", better: int = 1, digits: int = 1) -> Metric:
    low, high = LIMITS[key]
    return Metric(key, title, unit, digits, better, (low, None if high == float("inf") else high))


_ALL = (
    _percent("openworld_auc", "OpenworldAUC"),
    _percent("overall_accuracy", "overall accuracy"),
    _percent("open_auc", "OpenAUC"),
    _percent("auroc", "AUROC"),
    _percent("aupr_in", "AUPR, in positive"),
    _percent("aupr_out", "AUPR, out positive"),
    _percent("average_precision_in", "AP, in positive"),
    _percent("average_precision_out", "AP, out positive"),
    _percent("fpr_in_positive", "FPR@95, in positive", -1),
    _percent("fpr_out_positive", "FPR@95, out positive", -1),
    _percent("accuracy", "accuracy"),
    _percent("macro_f1", "macro F1"),
    _percent("harmonic_mean", "HM"),
    _percent("expected_calibration_error", "calibration error", -1),
    _percent("aurc", "AURC", -1),
    _percent("semantic_alignment", "semantic alignment"),
    _percent("base_accuracy", "base"),
    _percent("new_accuracy", "new"),
    _percent("harmonic_mean_of_means", "HM"),
    _percent("correct_auroc", "AUROC among the correctly named"),
    _percent("fpr95_in_positive", "FPR95, base positive", -1),
    _percent("fpr95_out_positive", "FPR95, new positive", -1),
    _percent("top1", "top-1"),
    _percent("top5", "top-5"),
    _percent("miss", "missed", -1),
    _percent("hit", "hit"),
    _percent("false_alarm", "base flagged", -1),
    _percent("detected", "new flagged"),
    _curve("initial_accuracy", "Acc(0)"),
    _curve("auc", "AUC"),
    _curve("worst_accuracy", "WA"),
    _curve("variation", "EVM", better=-1),
    _curve("slope_variance", "VS", better=-1, digits=2),
    _curve("positive_area", "PA"),
    _curve("negative_area", "NA", better=-1),
    _curve("delta_auc", "ΔAUC", "points"),
    _curve("delta_pn", "ΔPN", "points"),
    Metric("friedman_rank", "Friedman rank", "fraction", 2, -1, (1.0, None)),
    Metric("final_rank", "final rank", "number", 3, -1, (1.0, None)),
    Metric("estimated_accuracy", "estimated accuracy", better=0),
    Metric("absolute_error", "mean absolute error", better=-1),
    Metric("bias", "bias", "points", better=0, bounds=_GAIN),
    Metric("slope", "slope", "points", better=0, bounds=_ANY),
    Metric("correlation", "r", "difference", 2, 0, _GAIN),
    Metric("tuned_parameters", "tuned", "count", 0, 0, _UP),
    Metric("fit_seconds", "fit", "seconds", 1, -1, _UP),
    Metric("score_seconds", "ms an image", "milliseconds", 1, -1, _UP),
    Metric("latency", "ms, one image alone", "milliseconds", 1, -1, _UP),
    Metric("images", "images", "count", 0, 0, _UP),
    Metric("classes", "classes", "count", 0, 0, _UP),
)

METRICS: dict[str, Metric] = {metric.key: metric for metric in _ALL}
"""By key. An evaluation that measures something else makes a `Metric` of its own."""


def unknown_metric(owner: str, name: str, known: Iterable[str]) -> OpenworldError:
    """Return the error for a metric that `owner` does not have, though others may."""
    known = list(known)
    meant = next(iter(get_close_matches(name.casefold(), sorted({*METRICS, *known}), n=1)), "")
    if not meant or meant in known:
        return unknown_name(f"metric of {owner}", name, known)
    near = sorted(key for key in known if meant in key) or get_close_matches(meant, known, n=3)
    hint = f"; near are {', '.join(near)}" if near else ""
    other = "" if meant == name else f" nor {meant!r}"
    return OpenworldError(f"{owner} has no metric {name!r}{other}{hint}. Known: {', '.join(known)}.")
