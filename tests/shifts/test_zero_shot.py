"""The decomposed zero-shot table: ranks, top 5 and groups by hand."""

import numpy as np
import pytest
import torch

from openworld.metrics import accuracy
from openworld.shifts import Decomposition, decomposed_zero_shot, zero_shot

FALLING = torch.arange(8.0, 0, -1).repeat(8, 1)  # image i names its own class i-th


@pytest.mark.parametrize("chunk", [0, zero_shot.CHUNK])
def test_ranks_count_the_classes_before_the_true_one(chunk, monkeypatch):
    monkeypatch.setattr(zero_shot, "CHUNK", chunk)
    for images in (FALLING, torch.ones(8, 8)):  # of equal ones the first comes first
        assert zero_shot.ranks(images, torch.eye(8), np.arange(8)).tolist() == [*range(8)]
    rng = np.random.default_rng(0)
    images, classes = (torch.from_numpy(rng.integers(-2, 3, size=(n, 3)) + 0.5) for n in (40, 9))
    truth = rng.integers(0, 9, 40)
    cosines = torch.nn.functional.normalize(images) @ torch.nn.functional.normalize(classes).T
    order = np.argsort(-cosines.numpy(), axis=1, kind="stable")
    expected = [row.tolist().index(label) for row, label in zip(order, truth, strict=True)]
    assert zero_shot.ranks(images, classes, truth).tolist() == expected


def test_the_table_by_hand():
    labels, groups = np.arange(8), np.arange(8) // 2
    table = decomposed_zero_shot(
        Decomposition.of_matrix(torch.eye(8)), FALLING, labels, torch.eye(8) + 1e-6, groups=groups
    )
    assert table[0].top1 == accuracy(labels < 1, groups=groups)
    assert table[0].top5 == accuracy(labels < 5, groups=groups)


@pytest.mark.parametrize(("classes", "there"), [(5, False), (6, True)])
def test_five_classes_have_no_top_five(classes, there):
    halves = Decomposition.of_matrix(torch.eye(8))
    table = decomposed_zero_shot(halves, FALLING[:1], [0], FALLING[:classes])
    assert [row.top5 is not None for row in table] == [there] * 3
