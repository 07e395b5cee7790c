"""Contract suites: what every method promises, checked on a world that is made in a second. For your methods too.

    from openworld.testing import check_learner

    def test_my_learner():
        check_learner(MyLearner(schedule=Schedule(epochs=3)))

An estimator of yours: `check_estimator(MyEstimator())`, of open-world quality
`check_open_world_estimator(MyEstimator())`; a detector: `check_detector(MyDetector())`; an evaluation:
`check_evaluation("small.toml")`; what a report says of a run: `check_report(report)`; a table: `check_table(table)`. No
test framework is needed and nothing is downloaded.
"""

from typing import TYPE_CHECKING

from openworld.core.lazy import lazily

if TYPE_CHECKING:
    from openworld.testing._classifier import small_classifier, small_images, small_seen
    from openworld.testing._detectors import DETECTOR_CHECKS, check_detector
    from openworld.testing._estimators import ESTIMATOR_CHECKS, check_estimator, small_outputs
    from openworld.testing._evaluations import EVALUATION_CHECKS, EvaluationRun, check_evaluation, run_evaluation
    from openworld.testing._learners import LEARNER_CHECKS, check_learner
    from openworld.testing._open_world_estimators import (
        OPEN_WORLD_ESTIMATOR_CHECKS,
        check_open_world_estimator,
        small_open_world,
    )
    from openworld.testing._reports import REPORT_CHECKS, TABLE_CHECKS, check_report, check_table
    from openworld.testing._world import World, small_world

__getattr__, __dir__ = lazily(__name__, __file__)

__all__ = [
    "DETECTOR_CHECKS",
    "ESTIMATOR_CHECKS",
    "EVALUATION_CHECKS",
    "LEARNER_CHECKS",
    "OPEN_WORLD_ESTIMATOR_CHECKS",
    "REPORT_CHECKS",
    "TABLE_CHECKS",
    "EvaluationRun",
    "World",
    "check_detector",
    "check_estimator",
    "check_evaluation",
    "check_learner",
    "check_open_world_estimator",
    "check_report",
    "check_table",
    "run_evaluation",
    "small_classifier",
    "small_open_world",
    "small_outputs",
    "small_images",
    "small_seen",
    "small_world",
]
