from halfway import Halfway

from openworld.learners import Schedule
from openworld.testing import check_learner


def test_halfway_keeps_every_promise():
    check_learner(Halfway(schedule=Schedule(epochs=3)))
