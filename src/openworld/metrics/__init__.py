"""Metrics: functions of arrays, NumPy only. Larger scores mean more base-like; fractions are in [0, 1].

An undefined number is a result whose `value` is None with a `reason`. METRICS holds a card for every metric.
"""

from typing import TYPE_CHECKING

from openworld.core.lazy import lazily

if TYPE_CHECKING:
    from openworld.metrics._accuracy import Accuracy, accuracy, harmonic_mean
    from openworld.metrics._accuracy import wilson_interval as wilson_interval
    from openworld.metrics._auroc import auroc
    from openworld.metrics._curve_intervals import (
        LEVEL_NUMBERS,
        ImageInterval,
        LevelErrors,
        area_test,
        curve_intervals,
        level_errors,
    )
    from openworld.metrics._openworld_auc import (
        CLOSED_SET,
        QUANTITIES,
        OpenworldAUC,
        open_auc,
        openworld_auc,
        overall_accuracy,
    )
    from openworld.metrics._operating_point import (
        Costs,
        MissHitCurve,
        OperatingPoint,
        Threshold,
        choose_threshold,
        miss_hit_curve,
        operating_point,
    )
    from openworld.metrics._robustness import LIMITS as LIMITS
    from openworld.metrics._robustness import Robustness, SeedSpread, robustness, seed_spread
    from openworld.metrics._robustness import area_weights as area_weights
    from openworld.metrics._soft_openworld_auc import (
        SOFT_QUANTITIES,
        Outcomes,
        SoftOpenworldAUC,
        outcomes,
        soft_openworld_auc,
    )
    from openworld.metrics._soft_openworld_auc import Ranking as Ranking
    from openworld.metrics._soft_openworld_auc import of_outcomes as of_outcomes
    from openworld.metrics._trend import ShiftTrend, Trend, shift_trend, shift_weights, trend
    from openworld.metrics.averaging import SeedAverage, average, mean_over_sets
    from openworld.metrics.by_cell import CellDetection, detection_by_cell
    from openworld.metrics.calibration import (
        CalibrationBin,
        CalibrationError,
        aurc,
        expected_calibration_error,
        semantic_alignment,
    )
    from openworld.metrics.cards import METRICS, MetricCard
    from openworld.metrics.cell_combinations import CellSums, RankedSides, rank_sides
    from openworld.metrics.detection import (
        DetectionMetrics,
        aupr_in,
        aupr_out,
        average_precision_in,
        average_precision_out,
        detection_metrics,
        fpr_in_positive,
        fpr_out_positive,
    )
    from openworld.metrics.estimate import MetricEstimate
    from openworld.metrics.paired import PairedTest, holm, paired_test, seeds_test, seeds_test_against_summary
    from openworld.metrics.ranks import (
        CriticalDifference,
        FriedmanTest,
        final_ranks,
        friedman_ranks,
        friedman_test,
        level_ranks,
        nemenyi,
    )

__getattr__, __dir__ = lazily(__name__, __file__)

__all__ = [
    "CLOSED_SET",
    "LEVEL_NUMBERS",
    "METRICS",
    "QUANTITIES",
    "SOFT_QUANTITIES",
    "Accuracy",
    "CalibrationBin",
    "CalibrationError",
    "CellDetection",
    "CellSums",
    "Costs",
    "CriticalDifference",
    "DetectionMetrics",
    "MetricEstimate",
    "FriedmanTest",
    "ImageInterval",
    "LevelErrors",
    "MetricCard",
    "MissHitCurve",
    "OpenworldAUC",
    "OperatingPoint",
    "Outcomes",
    "PairedTest",
    "RankedSides",
    "Robustness",
    "SeedAverage",
    "SeedSpread",
    "ShiftTrend",
    "SoftOpenworldAUC",
    "Threshold",
    "Trend",
    "accuracy",
    "area_test",
    "aurc",
    "aupr_in",
    "aupr_out",
    "auroc",
    "average",
    "average_precision_in",
    "average_precision_out",
    "choose_threshold",
    "curve_intervals",
    "detection_by_cell",
    "detection_metrics",
    "expected_calibration_error",
    "final_ranks",
    "fpr_in_positive",
    "fpr_out_positive",
    "friedman_ranks",
    "friedman_test",
    "harmonic_mean",
    "holm",
    "level_errors",
    "level_ranks",
    "mean_over_sets",
    "miss_hit_curve",
    "nemenyi",
    "open_auc",
    "openworld_auc",
    "operating_point",
    "outcomes",
    "overall_accuracy",
    "paired_test",
    "rank_sides",
    "robustness",
    "seed_spread",
    "seeds_test",
    "seeds_test_against_summary",
    "semantic_alignment",
    "shift_trend",
    "shift_weights",
    "soft_openworld_auc",
    "trend",
]
