"""The bench of dynamic scenarios compares like with like: the peer finds the same numbers."""

import numpy as np
import pytest
from scenarios import largest_difference, learners, ours, peer, stages

IMAGES, CLASSES = 120, 11


def test_sliced_views_and_a_run_per_view_agree_for_every_kind_of_learner():
    played, names, text = stages(IMAGES, CLASSES)
    assert sum(len(run.views) for _, _, runs in played for run in runs) == 24
    fitted = list(learners(names, text, 3, np.random.default_rng(0)))
    assert [one.learner.kind for one in fitted] == ["plain", "dependent", "own scores"]
    for one in fitted:
        assert largest_difference(ours(one, played), peer(one, played)) == pytest.approx(0, abs=1e-3)
