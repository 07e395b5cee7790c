"""The metrics of accuracy estimation: how every number is called and written."""

from openworld.results import METRICS, Metric

CLASSIFIERS = "classifiers"
"""The judged models, beside whom references have names of their own."""

FUSED = "fused with "
"""Before the name of a reference: its prediction fused with the judged model's."""

RAW, SCALED, UNSCALED, TTC = "raw", "scaled", "unscaled", "TTC"
FIXED = {f"τ = {tau:g}": tau for tau in (0.1, 0.05, 0.01)}
"""Kinds of calibration: as the model says it, with the temperature of the source, of bare similarities, calibrated at
test time; and at fixed temperatures of a reference's similarities (FRAP, Figure 3)."""

_UP, _GAIN = (0.0, None), (-1.0, 1.0)

ERROR, BIAS, ESTIMATED = (METRICS[key] for key in ("absolute_error", "bias", "estimated_accuracy"))
MEDIAN = Metric("median_absolute_error", "median", better=-1)
WORST = Metric("largest_absolute_error", "worst", better=-1)
GIVEN = Metric("estimates", "estimates", "count", 0, 0, _UP)
EXPECTED = Metric("estimates_expected", "expected", "count", 0, 0, _UP)
WARNINGS = Metric("warnings", "warnings", "count", 0, 0, _UP)
LINES_WON = Metric("lines_won", "best in", "count", 0, 0, _UP)
COVERAGE = Metric("interval_coverage", "intervals that hold the truth, %", digits=0, better=0)
WIDTH = Metric("interval_width", "their width", better=0)
TRUE_ACCURACY = Metric("true_accuracy", "true accuracy", better=0)
SOURCE_ACCURACY = Metric("source_accuracy", "source accuracy", better=0)

SHIFT_ERROR = Metric("absolute_error_of_shift", "mean absolute error", better=-1)
SEVERITY_ERROR = Metric("absolute_error_at_severity", "mean absolute error", better=-1)
SEVERITY_BIAS = Metric("bias_at_severity", "bias", "points", better=0, bounds=_GAIN)
THRESHOLD_COST = Metric("threshold_cost", "without − with", "points", better=0, bounds=_GAIN)

CALIBRATION, ALIGNMENT = METRICS["expected_calibration_error"], METRICS["semantic_alignment"]
TEMPERATURE = Metric("temperature", "temperature", "number", 3, 0, _UP)
ALIGNMENT_GAIN = Metric("semantic_alignment_gain", "gain", "points", better=0, bounds=_GAIN)
GAINS = Metric("share_of_gains", "share above 0", digits=0, better=0)

FIT = Metric("fit_seconds", "fit, ms", "milliseconds", 1, 0, _UP)
ESTIMATE = Metric("estimate_seconds", "one condition, ms", "milliseconds", 1, 0, _UP)
TIMES_FASTEST = Metric("times_fastest", "× fastest", "fraction", 1, 0, _UP)
