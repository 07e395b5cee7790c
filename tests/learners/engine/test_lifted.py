"""Lifted views: each is computed once while there is room, and the rows are the same with and without it."""

import pytest
import torch

from openworld.learners.engine import images
from openworld.learners.engine.images import lifting


class Doubling:
    def __init__(self):
        self.seen = []

    def lift(self, clip, pixels):
        self.seen += pixels.flatten().tolist()
        return 2 * pixels


def run(most, monkeypatch):
    monkeypatch.setattr(images, "MOST", most)
    learner, pixels = Doubling(), torch.arange(4.0)[:, None]
    views = lifting(learner, None)
    for some in ([0, 1], [1, 2], [3, 0], [2, 2]):
        assert views([(0, place) for place in some], pixels[some]).flatten().tolist() == [2.0 * n for n in some]
    return learner.seen


@pytest.mark.parametrize(
    ("most", "seen"), [(1000, [0, 1, 2, 3]), (0, [0, 1, 1, 2, 3, 0, 2, 2]), (8, [0, 1, 2, 3, 2, 2])], ids=str
)
def test_views_are_lifted_once_while_there_is_room(most, seen, monkeypatch):
    assert run(most, monkeypatch) == seen
