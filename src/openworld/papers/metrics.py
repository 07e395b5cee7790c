"""The metrics of the papers' tables: ours, with the titles, units and digits that the papers print."""

from dataclasses import replace

from openworld.results import METRICS as OURS
from openworld.results import Metric


def _ours(key: str, title: str, unit: str = "percent", digits: int = 1) -> Metric:
    """Percentages are printed with one decimal more than on screen."""
    return replace(OURS[key], title=title, unit=unit, digits=digits)


def _along_levels(of: str, key: str) -> dict[str, Metric]:
    """Which way is better depends on the axis: with semantic shift a detector should improve, with covariate not."""
    return {
        f"correlation({of})": Metric(f"{key}_correlation", f"correlation of {of}", "fraction", 2, 0, (-1.0, 1.0)),
        f"sensitivity({of})": Metric(f"{key}_slope", f"sensitivity of {of}", "points per level", 2, 0),
    }


METRICS: dict[str, Metric] = {
    "OpenworldAUC": OURS["openworld_auc"],
    "HM": OURS["harmonic_mean"],
    "AUROC": OURS["auroc"],
    "BaseAcc": _ours("base_accuracy", "BaseAcc"),
    "NewAcc": _ours("new_accuracy", "NewAcc"),
    "OverallAcc": _ours("overall_accuracy", "OverallAcc"),
    "MAE": _ours("absolute_error", "MAE"),
    "ECE": _ours("expected_calibration_error", "ECE", "fraction", 3),
    "n_params": _ours("tuned_parameters", "parameters", "count", 0),
    "n_params_thousand": _ours("tuned_parameters", "parameters (k)", "thousands"),
    "inference_time_s": _ours("latency", "seconds", "number", 4),
    "Acc(0)": _ours("initial_accuracy", "Acc(0)", "fraction", 3),
    "AUC": _ours("auc", "AUC", "fraction", 3),
    "WA": _ours("worst_accuracy", "WA", "fraction", 3),
    "EVM": _ours("variation", "EVM", "fraction", 3),
    "VS": _ours("slope_variance", "VS", "fraction", 3),
    "PosArea": _ours("positive_area", "PA", "fraction", 3),
    "NegArea": _ours("negative_area", "NA", "fraction", 3),
    "delta_AUC": _ours("delta_auc", "ΔAUC", "fraction", 3),
    "delta_PN": _ours("delta_pn", "ΔPN", "fraction", 3),
    "Friedman_rank": _ours("friedman_rank", "Friedman rank", "fraction", 3),
    "Final_rank": OURS["final_rank"],
    "Acc@1": _ours("top1", "Acc@1"),
    "Acc@5": _ours("top5", "Acc@5"),
    **_along_levels("AUROC", "auroc"),
    **_along_levels("FPR@95", "fpr_out_positive"),
    **_along_levels("AUPR", "aupr_in"),
}
"""What a paper calls a number -> its metric. Values are in the unit of data, as everywhere: shares are fractions."""
