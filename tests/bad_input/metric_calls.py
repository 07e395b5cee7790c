"""Every public function of `openworld.metrics`, with good values of all its arguments."""

from inspect import signature

import numpy as np
from judging import Call
from metric_cases import CONTRACT

from openworld import metrics

RNG = np.random.default_rng(0)
IN, OUT = RNG.integers(0, 12, 8) / 4, RNG.integers(-8, 8, 6) / 4
RIGHT, NEW_RIGHT = np.array([1, 1, 0, 1, 1, 0, 1, 1], bool), np.array([1, 0, 1, 1, 0, 1], bool)
WEIGHTS, NEW_WEIGHTS = np.array([1, 2, 1, 1, 0.5, 1, 1, 3]), np.array([1, 1, 2, 1, 1, 1.0])
GROUPS, NEW_GROUPS = np.arange(8) // 2, np.arange(4, 10)
CELLS = np.array([0, 0, 1, 1, -1, 1])
LABELS, PREDICTED = np.array([0, 1, 2, 2, 1, 0, 1, 2]), np.array([0, 1, 2, 1, 1, 0, 2, 2])
PROBABILITIES = RNG.integers(1, 8, (8, 4)) / 8
PROBABILITIES = PROBABILITIES / PROBABILITIES.sum(axis=1, keepdims=True)
LEVELS, CURVE = np.array([0, 0.25, 0.5, 1]), np.array([[0.75, 0.5, 0.5, 0.25], [0.5, 0.75, 0.25, 0.25]])
TABLE = RNG.integers(0, 16, (4, 3)) / 16
PRESENT = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1], [1, 1, 0]], bool)
LOGITS = RNG.integers(-8, 8, (8, 5)) / 4
RATES = np.array([0.25, 0.5])
SHARES = np.array([0.5, 0.75, 0.625, 0.25])
VIEWS = [[np.arange(4), np.arange(4)], [np.arange(4), np.arange(1, 5)]]
ANSWERS = [[RNG.integers(0, 2, (2, 4)) for _ in range(2)] for _ in range(2)]


def result(seed=0):
    right = np.random.default_rng(seed).integers(0, 2, 8)
    return metrics.openworld_auc(IN, right, OUT, NEW_RIGHT)


AUC = result()
AVERAGE = metrics.average([result(seed) for seed in range(3)])
ERRORS = metrics.level_errors(VIEWS, ANSWERS)
ROBUSTNESS = metrics.robustness(LEVELS, CURVE, CURVE[0])
POINT = metrics.operating_point(IN, RIGHT, OUT, NEW_RIGHT, 0.5)
COSTS = metrics.Costs(new_share=0.25)
SIDES = metrics.rank_sides(np.stack([IN, IN[::-1]]), np.stack([OUT, OUT[::-1]]))
EIGHTHS = np.arange(8) / 8
SOFT_OUTCOMES = {"base_right": EIGHTHS / 2, "new_right": (1 - EIGHTHS) / 2, "base": EIGHTHS}
SOFT_OUTCOMES |= {"new": 1 - EIGHTHS, "right": SOFT_OUTCOMES["base_right"]}
SOFT = metrics.soft_openworld_auc(IN, **SOFT_OUTCOMES)
SCORES = {"in_scores": IN, "out_scores": OUT}
BASE_NEW = {"base_scores": IN, "base_correct": RIGHT, "new_scores": OUT, "new_correct": NEW_RIGHT}
SIDE_GROUPS = {"base_groups": GROUPS, "new_groups": NEW_GROUPS}
SIDE_WEIGHTS = {"base_weights": WEIGHTS, "new_weights": NEW_WEIGHTS}


def numbers_too(*arguments):
    """Arguments that may be one number as well as an array."""
    return frozenset((argument, kind) for argument in arguments for kind in ("number", "bool"))


def level(function):
    """A method that takes a confidence alone."""
    return Call(function, {"level": 0.9})


def level_errors_of(groups, correct):
    """One view of each of two levels."""
    return metrics.level_errors([[groups, groups]], [[correct, correct]])


def over_sets(results, base_groups, new_groups, of):
    return metrics.mean_over_sets(results, [(base_groups, new_groups)] * 2, of)


def ranked(in_scores, out_scores, in_groups, out_groups):
    return metrics.rank_sides(in_scores, out_scores, groups=(in_groups, out_groups)).sums(CELLS, np.ones((1, 2)))


CALLS = {
    "Costs": Call(
        metrics.Costs,
        {"base_kept": 0.0, "base_missed": 1.0, "new_hit": 0.0, "new_unhit": 1.0, "new_share": 0.5},
        optional=frozenset({"new_share"}),
    ),
    "Costs.mean": Call(
        COSTS.mean,
        {"miss_rate": np.array([0.25, 0.5]), "hit_rate": np.array([0.5, 0.5]), "new_share": 0.25},
        allowed=numbers_too("miss_rate", "hit_rate"),
    ),
    "CellSums.spread": Call(
        SIDES.sums(CELLS, np.ones((1, 2))).spread, {"number": 0, "detectors": np.array([1.0, -1.0])}
    ),
    "MetricEstimate.interval": level(metrics.auroc(IN, OUT).interval),
    "LevelErrors.spread": Call(ERRORS.spread, {"weights": np.ones(ERRORS.accuracy.shape)}),
    "OpenworldAUC.interval": level(AUC.interval),
    "OpenworldAUC.estimate": Call(AUC.estimate, {"of": "base_accuracy"}),
    "OperatingPoint.cost": Call(POINT.cost, {"costs": COSTS}),
    "OperatingPoint.cost_interval": Call(POINT.cost_interval, {"costs": COSTS}),
    "PairedTest.interval": level(metrics.seeds_test(SHARES, SHARES[::-1]).interval),
    "RankedSides.of": Call(SIDES.of, {"detector": 0}),
    "RankedSides.sums": Call(SIDES.sums, {"cells": CELLS, "weights": np.ones((1, 2))}),
    "Robustness.spread": Call(ROBUSTNESS.spread, {"metric": "auc"}),
    "SeedAverage.interval": level(AVERAGE.interval),
    "SeedAverage.estimate": Call(AVERAGE.estimate, {"of": "base_accuracy"}),
    "SeedAverage.seed_values": Call(AVERAGE.seed_values, {"of": "base_accuracy"}),
    "SeedSpread.interval": level(ROBUSTNESS.spread("auc").interval),
    "accuracy": Call(metrics.accuracy, {"correct": RIGHT, "weights": WEIGHTS, "groups": GROUPS, "level": 0.95}),
    "area_test": Call(metrics.area_test, {"errors": ERRORS, "levels": np.array([0, 1.0]), "first": 0, "second": 1}),
    **{
        name: Call(getattr(metrics, name), SCORES | {"prevalence": 0.5})
        for name in ("aupr_in", "aupr_out", "average_precision_in", "average_precision_out")
    },
    "auroc": Call(
        metrics.auroc,
        SCORES | {"in_weights": WEIGHTS, "out_weights": NEW_WEIGHTS, "in_groups": GROUPS, "out_groups": NEW_GROUPS},
    ),
    "average": Call(metrics.average, {"results": [result(0), result(1)]}),
    "choose_threshold": Call(metrics.choose_threshold, BASE_NEW | {"miss_rate": None, "hit_rate": 0.5, "costs": None}),
    "choose_threshold by misses": Call(
        metrics.choose_threshold, BASE_NEW | {"miss_rate": 0.25, "hit_rate": None, "costs": None}
    ),
    "choose_threshold by costs": Call(
        metrics.choose_threshold, BASE_NEW | {"miss_rate": None, "hit_rate": None, "costs": COSTS}
    ),
    "curve_intervals": Call(
        metrics.curve_intervals,
        {"errors": ERRORS, "levels": np.array([0, 1.0]), "method": 0, "zero_shot": 1, "level": 0.95},
    ),
    "detection_by_cell": Call(metrics.detection_by_cell, SCORES | {"cells": CELLS, "count": 2, "least": 1}),
    "detection_metrics": Call(metrics.detection_metrics, SCORES | {"recall": 0.95}),
    "aurc": Call(metrics.aurc, {"scores": np.arange(8) / 8, "correct": RIGHT}),
    "expected_calibration_error": Call(
        metrics.expected_calibration_error,
        {"confidence": np.arange(8) / 8, "correct": RIGHT, "bins": 4, "equal_mass": False},
    ),
    "final_ranks": Call(metrics.final_ranks, {"mean_ranks": np.array([1.5, 2.0, 2.5])}),
    "fpr_in_positive": Call(metrics.fpr_in_positive, SCORES | {"recall": 0.95}),
    "fpr_out_positive": Call(metrics.fpr_out_positive, SCORES | {"recall": 0.95}),
    "friedman_ranks": Call(metrics.friedman_ranks, {"accuracy": TABLE[None]}),
    "friedman_test": Call(metrics.friedman_test, {"scores": TABLE}),
    "harmonic_mean": Call(metrics.harmonic_mean, {"first": 0.5, "second": 0.25}),
    "holm": Call(
        metrics.holm, {"p_values": np.array([0.125, 0.5, 0.25])}, allowed=frozenset({("p_values", "None within")})
    ),
    "level_errors": Call(level_errors_of, {"groups": np.arange(4), "correct": ANSWERS[0][0].astype(bool)}),
    "level_errors nested": Call(metrics.level_errors, {"groups": VIEWS, "correct": ANSWERS, "expected": False}),
    "level_ranks": Call(metrics.level_ranks, {"accuracy": TABLE[None]}),
    "SoftOpenworldAUC.influence": Call(
        SOFT.influence, {"of": "auroc", "others": SOFT.outcomes, "images": np.arange(8)}
    ),
    "SoftOpenworldAUC.value_of": Call(SOFT.value_of, {"of": "base_share"}),
    "outcomes": Call(metrics.outcomes, SOFT_OUTCOMES),
    "soft_openworld_auc": Call(metrics.soft_openworld_auc, {"scores": IN} | SOFT_OUTCOMES),
    "mean_over_sets": Call(
        over_sets, {"results": [AUC, AUC], "base_groups": GROUPS, "new_groups": NEW_GROUPS, "of": "openworld_auc"}
    ),
    "miss_hit_curve": Call(metrics.miss_hit_curve, BASE_NEW, infinite=True),
    "nemenyi": Call(metrics.nemenyi, {"scores": TABLE, "significance": 0.05}),
    "open_auc": Call(
        metrics.open_auc,
        {"base_scores": IN, "base_correct": RIGHT, "new_scores": OUT} | SIDE_WEIGHTS | SIDE_GROUPS,
        optional=frozenset({*SIDE_WEIGHTS, *SIDE_GROUPS}),
    ),
    "openworld_auc": Call(
        metrics.openworld_auc,
        BASE_NEW | SIDE_WEIGHTS | SIDE_GROUPS,
        optional=frozenset({"new_correct", *SIDE_WEIGHTS, *SIDE_GROUPS}),
    ),
    "operating_point": Call(metrics.operating_point, BASE_NEW | SIDE_GROUPS | {"threshold": 0.5, "level": 0.95}),
    "overall_accuracy": Call(
        metrics.overall_accuracy,
        {
            "base_logits": LOGITS,
            "new_logits": LOGITS[:, :2],
            "labels": LABELS,
            "groups": GROUPS,
        },
    ),
    "paired_test": Call(metrics.paired_test, {"first": AUC, "second": result(3), "of": "openworld_auc"}),
    "rank_sides": Call(
        ranked,
        {"in_scores": np.stack([IN, IN[::-1]]), "out_scores": np.stack([OUT, OUT[::-1]])}
        | {"in_groups": GROUPS, "out_groups": NEW_GROUPS},
    ),
    "robustness": Call(metrics.robustness, {"levels": LEVELS, "accuracy": CURVE, "zero_shot": CURVE[0]}),
    "seed_spread": Call(metrics.seed_spread, {"values": SHARES, "limits": (0.0, 1.0)}),
    "seeds_test": Call(metrics.seeds_test, {"first": SHARES, "second": SHARES[::-1].copy()}),
    "seeds_test_against_summary": Call(
        metrics.seeds_test_against_summary, {"values": SHARES, "mean": 0.5, "deviation": 0.1, "count": 3}
    ),
    "semantic_alignment": Call(
        metrics.semantic_alignment,
        {"probabilities": PROBABILITIES, "labels": PREDICTED, "similarity": np.eye(4)},
    ),
    "shift_trend": Call(metrics.shift_trend, {"table": TABLE, "present": PRESENT, "common": False}),
    "shift_weights": Call(metrics.shift_weights, {"present": PRESENT, "common": False}),
    "trend": Call(metrics.trend, {"levels": LEVELS, "values": CURVE[0]}),
}


def as_in_contract(name):
    """A metric called as in its contract."""
    function = metrics.METRICS[name].function
    arguments = CONTRACT[name].arguments(RNG, 8)
    return Call(function, dict(zip(signature(function).parameters, arguments, strict=False)))


CALLED = {name.split(" ")[0] for name in CALLS}
CALLS |= {name: as_in_contract(name) for name in CONTRACT if name not in CALLED}
RESULTS = frozenset(
    """
    Accuracy CalibrationBin CalibrationError CellDetection CellSums CriticalDifference DetectionMetrics
    MetricEstimate FriedmanTest ImageInterval LevelErrors MetricCard MissHitCurve OpenworldAUC OperatingPoint Outcomes
    PairedTest RankedSides Robustness SeedAverage SeedSpread ShiftTrend SoftOpenworldAUC Threshold Trend
    """.split()  # noqa: SIM905
)
"""Classes that functions return; nobody makes them by hand."""
