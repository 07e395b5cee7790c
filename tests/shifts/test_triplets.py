"""Triplets change one thing each, uniformly; texts are written label by label."""

from itertools import islice

import pytest
import torch

from openworld import OpenworldError
from openworld.shifts import write_texts
from openworld.shifts.triplets import draw_triplets, triplets


@pytest.fixture
def coded():
    """float[5, 4, 2]: a text says its own label and template."""
    labels, templates = torch.meshgrid(torch.arange(5.0), torch.arange(4.0), indexing="ij")
    return torch.stack([labels, templates], dim=2)


def test_every_pair_is_as_likely(coded):
    """And each other text changes one thing."""
    batch = draw_triplets(coded, torch.arange(5), torch.arange(4), 20_000, seed=1)
    semantic, covariate = (batch.standard == other for other in (batch.semantic_shift, batch.covariate_shift))
    assert not semantic[:, 0].any() and semantic[:, 1].all() and covariate[:, 0].all() and not covariate[:, 1].any()
    pairs = torch.bincount((5 * batch.standard[:, 0] + batch.semantic_shift[:, 0]).long(), minlength=25).reshape(5, 5)
    assert pairs.diagonal().sum() == 0
    assert pairs[~torch.eye(5, dtype=bool)].float().div(1000).sub(1).abs().max() < 0.15


def test_only_what_is_allowed_is_drawn(coded):
    batches = triplets(coded, torch.tensor([1, 4]), torch.tensor([0, 2]), 50, torch.Generator().manual_seed(0))
    for batch in islice(batches, 3):
        for rows in (batch.standard, batch.semantic_shift, batch.covariate_shift):
            assert set(rows[:, 0].tolist()) <= {1, 4} and set(rows[:, 1].tolist()) <= {0, 2}


@pytest.mark.parametrize(
    ("labels", "templates", "message"),
    [
        (["sea_lion", "sea lion"], ["a {}."], "'sea lion' comes 2 times"),
        (["cat"], ["a {}.", "a {}."], "comes 2 times"),
        (["cat"], ["a cat."], "once"),
    ],
)
def test_refusals(labels, templates, message):
    with pytest.raises(OpenworldError, match=message):
        write_texts(labels, templates)
