"""Statistics of training images against plain forms over all of them; banks; percentiles."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from openworld import OpenworldError
from openworld.detectors import Activations
from openworld.detectors.engine.bank import Bank
from openworld.detectors.engine.statistics import ClassSums, Mean, Products, percentile


def rows(count=50, width=4, seed=0):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def gathered(statistic, seen, size):
    total = None
    for part in seen.split(size):
        total = statistic.add(total, part)
    return total


def test_sums():
    features, labels, size = (
        rows(),
        torch.arange(50) // 25 * 2,
        7,
    )  # later batches bring classes that the first have not
    seen = Activations(features, labels=labels)
    classes, moments = gathered(ClassSums(), seen, size), gathered(Products(), seen, size)
    assert classes.counts.tolist() == [25, 0, 25]
    for label in (0, 2):
        torch.testing.assert_close(classes.means[label], features[labels == label].double().mean(dim=0))
    covariance = torch.from_numpy(np.cov(features.double().numpy().T, bias=True))
    torch.testing.assert_close(moments.about(moments.mean), covariance)
    torch.testing.assert_close(gathered(Mean(), seen, size).mean, moments.mean)


def test_a_bank_is_balanced_over_classes():
    labels = torch.tensor([0] * 40 + [1] * 7 + [2] * 3)
    bank = gathered(Bank(9), Activations(rows(), labels=labels), 8)
    assert torch.bincount(bank.labels).tolist() == [3, 3, 3] and bank.offered == 50
    assert len(gathered(Bank(9), Activations(rows()), 8).features) == 9
    assert 5 < len(gathered(Bank(share=0.5), Activations(rows()), 8).features) < 45


def test_labels_with_some_batches_only():
    total = Bank().add(None, Activations(rows(3)))
    with pytest.raises(OpenworldError, match="some have none"):
        Bank().add(total, Activations(rows(3), labels=torch.zeros(3, dtype=torch.int64)))
    with pytest.raises(OpenworldError, match="expected rows of 1 or more"):
        Bank(rows=0)


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=40), st.floats(0, 100))
def test_percentiles_are_numpys(values, percent):
    ours = percentile(torch.tensor(values, dtype=torch.float64), percent)
    assert float(ours) == pytest.approx(np.percentile(values, percent), rel=1e-9, abs=1e-6)
