"""Every estimator of open-world quality keeps what it promises."""

import pytest

from openworld.estimators.open_world import OPEN_WORLD_ESTIMATORS, Hybrid, OpenWorldEstimator, PositiveUnlabelled
from openworld.testing import OPEN_WORLD_ESTIMATOR_CHECKS

OTHER_SETTINGS = (
    Hybrid(names="calibrated", bins=4),
    PositiveUnlabelled(share="best-bin", names="thresholded"),
    PositiveUnlabelled(names="calibrated"),
)
EVERY = [*(estimator() for estimator in OPEN_WORLD_ESTIMATORS.values()), *OTHER_SETTINGS]


@pytest.mark.parametrize("check", OPEN_WORLD_ESTIMATOR_CHECKS)
@pytest.mark.parametrize("estimator", EVERY, ids=str)
def test_it_keeps_what_it_promises(estimator, check):
    OPEN_WORLD_ESTIMATOR_CHECKS[check](estimator)


@pytest.mark.parametrize("name", OPEN_WORLD_ESTIMATORS)
def test_it_is_listed_under_its_name_and_follows_the_protocol(name):
    estimator = OPEN_WORLD_ESTIMATORS[name]
    assert estimator.name == name and isinstance(estimator(), OpenWorldEstimator) and ">>>" in estimator.__doc__
