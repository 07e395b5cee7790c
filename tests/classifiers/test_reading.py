"""Images that are read ahead: in order, by several threads, never more than a few batches, errors where due."""

import threading
import time

import numpy as np
import pytest
import torch

from openworld import OpenworldError
from openworld.classifiers.classifier import AHEAD, read_ahead


def numbered(row):
    return np.full((2, 2), row % 251, np.uint8)


@pytest.mark.parametrize("readers", [1, 3])
@pytest.mark.parametrize(("count", "size"), [(0, 4), (4, 4), (103, 40)])
def test_batches_are_those_of_a_loop(readers, count, size):
    rows = np.random.default_rng(0).permutation(1000)[:count]
    found = [*read_ahead(numbered, rows, (2, 2), batch_size=size, readers=readers)]
    expected = [np.stack([numbered(row) for row in rows[at : at + size]]) for at in range(0, count, size)]
    assert [batch.tolist() for batch in found] == [batch.tolist() for batch in expected]
    assert all(batch.dtype == torch.uint8 for batch in found)


def test_no_more_than_a_few_batches_are_read_before_they_are_wanted():
    read = []
    batches = read_ahead(
        lambda row: read.append(row) or numbered(row), np.arange(100), (2, 2), batch_size=10, readers=4
    )
    for taken in range(1, 6):
        next(batches)
        time.sleep(0.02)
        assert len(read) <= 10 * (taken + AHEAD)
    batches.close()
    assert len(read) <= 10 * (5 + AHEAD)


def test_an_image_that_cannot_be_read_stops_at_its_batch():
    def reading(row):
        if row == 5:
            raise OpenworldError("image 5 is damaged")
        return numbered(row)

    batches, seen = read_ahead(reading, np.arange(8), (2, 2), batch_size=2, readers=2), []
    with pytest.raises(OpenworldError, match="image 5"):
        seen.extend(batches)
    assert [batch[0, 0, 0].item() for batch in seen] == [0, 2] and threading.active_count() < 50
