"""The metrics of OOD detection over cells of shift, and what the places are called where they stand.

Cells are rows of covariate and columns of semantic levels from 0, the nearest.
"""

from openworld.results import METRICS, Metric

KEPT, REMOVED = "kept", "removed"
"""What becomes of the pool's images of in-distribution classes."""

SUBSETS = {
    "all": "all images",
    "unknown": "other classes",
    "far": "far in meaning",
    "far and unknown": "far, other classes",
}
"""A subset of the pool -> what tables call it."""

ALL, COMMON = CELLS = ("all cells", "common cells")
"""Over which cells a curve is: all that are present, or those of the levels that all share."""

SHARED = "cells with both"
KINDS = {"real": "real, in cells with both", "generated": "generated, in cells with both"}
"""Images of the pool -> how results call those of them that lie in cells with both."""

NO_SLOPE = "no slope"
"""What a slope is tested against."""

AUROC = METRICS["auroc"]
CELL_METRICS = {
    "auroc": AUROC,
    "fpr_in_positive": METRICS["fpr_in_positive"],
    "fpr_out_positive": METRICS["fpr_out_positive"],
    "aupr_in": METRICS["aupr_in"],
    "aupr_out": METRICS["aupr_out"],
    "aupr_in_fixed": Metric("aupr_in_at_half", "AUPR, in positive, half in"),
}
"""What `metrics.detection_by_cell` says of a cell -> the metric that it is."""

AGAINST = Metric("auroc_generated", "AUROC, real against generated", "percent", 1, 0, (0.0, 1.0))
PRESENT = Metric("present_cells", "cells", "count", 0, 0, (0.0, None))
DEGREE = Metric("degree_from", "from", "fraction", 4, 0, (0.0, 2.0))
DIFFERENCE = Metric("difference", "difference of AUROCs", "points", 0, 0, (-1.0, 1.0))

CONFIDENCE = Metric("confidence", "largest softmax probability", "percent", 1, 0, (0.0, 1.0))
SCORE = Metric("marginal_score", "score", "fraction", 4, 0, (None, None))
PASSED = Metric("marginal_passed", "pass", "percent", 1, 0, (0.0, 1.0))
MARGINAL = Metric("marginal_images", "images", "count", 0, 0, (0.0, None))
OF_MARGINAL = (CONFIDENCE, SCORE, PASSED, MARGINAL)
"""Of images of other classes that pass for known ones (IS-OOD's marginal images)."""

THUMBNAILS = "images/marginal"
"""The folder of attachments with marginal images, by their `image`; of known ones by "known-" and their place."""

_COUNTS = {"best_cells": "best in", "blind_cells": "blind in", "cells_below_chance": "below chance in"}
COUNTS = {key: Metric(key, title, "count", 0, 0, (0.0, None)) for key, title in _COUNTS.items()}
"""In how many cells a detector has the largest AUROC, is not shown to be above chance, or is shown to be below it."""


def slope_of(metric: Metric) -> Metric:
    """The slope of a metric along an axis: its change per level."""
    return Metric(f"{metric.key}_slope", f"slope of {metric.title}", "points", 1, 0, (None, None))


def correlation_of(metric: Metric) -> Metric:
    """Pearson's correlation of a metric with the level."""
    return Metric(
        f"{metric.key}_correlation", f"correlation of {metric.title} with the level", "difference", 2, 0, (-1.0, 1.0)
    )
