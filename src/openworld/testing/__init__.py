"""Contract suites: what every method promises, checked on a world that is made in a second. For your methods too.

    from openworld.testing import check_learner

    def test_my_learner():
        check_learner(MyLearner(schedule=Schedule(epochs=3)))

No test framework is needed and nothing is downloaded.
"""

from openworld.testing._learners import LEARNER_CHECKS, check_learner
from openworld.testing._world import World, small_world

__all__ = ["LEARNER_CHECKS", "World", "check_learner", "small_world"]
