"""What the papers' columns are called, their units and digits as printed, and which way is better."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PublishedMetric:
    """A column of the papers' tables.

    Args:
        symbol: what a column head says.
        unit: "percent", "fraction", "parameters", "thousand parameters", "seconds", "rank", "correlation" or "points
            per level".
        digits: decimals as printed.
        larger_is_better: which way is better; None where neither is.
        per_one: by how much a number of ours is multiplied to be in that unit.
        bounds: the least and the largest that it can be, in its unit; None where there is no end.
    """

    symbol: str
    unit: str
    digits: int
    larger_is_better: bool | None = True
    per_one: float = 1.0
    bounds: tuple[float | None, float | None] = (0.0, None)


def _percent(symbol: str) -> PublishedMetric:
    return PublishedMetric(symbol, "percent", 2, True, 100.0, (0.0, 100.0))


def _share(symbol: str, *, larger_is_better: bool = True) -> PublishedMetric:
    return PublishedMetric(symbol, "fraction", 3, larger_is_better, 1.0, (0.0, 1.0))


def _gain(symbol: str) -> PublishedMetric:
    return PublishedMetric(symbol, "fraction", 3, True, 1.0, (-1.0, 1.0))


def _correlation(of: str) -> PublishedMetric:
    """Which way is better depends on the axis: with semantic shift a detector should improve, with covariate not."""
    return PublishedMetric(f"correlation of {of}", "correlation", 2, None, 1.0, (-1.0, 1.0))


def _sensitivity(of: str) -> PublishedMetric:
    return PublishedMetric(f"sensitivity of {of}", "points per level", 2, None, 100.0, (0.0, 100.0))


_ALONG_LEVELS = {
    f"{name}({of})": make(of)
    for of in ("AUROC", "FPR@95", "AUPR")
    for name, make in (("correlation", _correlation), ("sensitivity", _sensitivity))
}

METRICS: dict[str, PublishedMetric] = {
    "OpenworldAUC": _percent("OpenworldAUC"),
    "HM": _percent("HM"),
    "AUROC": _percent("AUROC"),
    "BaseAcc": _percent("BaseAcc"),
    "NewAcc": _percent("NewAcc"),
    "OverallAcc": _percent("OverallAcc"),
    "MAE": PublishedMetric("MAE", "percent", 2, False, 100.0, (0.0, 100.0)),
    "ECE": _share("ECE", larger_is_better=False),
    "n_params": PublishedMetric("parameters", "parameters", 0, None),
    "n_params_thousand": PublishedMetric("parameters (k)", "thousand parameters", 1, None, 1e-3),
    "inference_time_s": PublishedMetric("seconds", "seconds", 5, False),
    "Acc(0)": _share("Acc(0)"),
    "AUC": _share("AUC"),
    "WA": _share("WA"),
    "EVM": PublishedMetric("EVM", "fraction", 3, False),
    "VS": PublishedMetric("VS", "fraction", 3, False),
    "PosArea": _share("PA"),
    "NegArea": _share("NA", larger_is_better=False),
    "delta_AUC": _gain("ΔAUC"),
    "delta_PN": _gain("ΔPN"),
    "Friedman_rank": PublishedMetric("Friedman rank", "rank", 3, False),
    "Final_rank": PublishedMetric("final rank", "rank", 0, False),
    "Acc@1": _percent("Acc@1"),
    "Acc@5": _percent("Acc@5"),
    **_ALONG_LEVELS,
}
