"""Mahalanobis distances and neighbours against plain forms, and where there are few images."""

import pytest
import torch

from openworld import OpenworldError
from openworld.detectors import KNN, MDS, RMDS, Head, NNGuide, ViM
from openworld.detectors.engine import bank as nearest_module


def cloud(count, width, seed=0):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_mds_that_is_shrunk_to_one_variance_is_the_plain_distance():
    features, labels, judged = cloud(80, 6), torch.arange(80) % 4, cloud(9, 6, 1)
    means = torch.stack([features[labels == label].mean(dim=0) for label in range(4)])
    centred = features - means[labels]
    shrunk = -torch.cdist(judged, means).square().amin(dim=1) / centred.square().mean()
    torch.testing.assert_close(MDS(shrinkage=1.0).fit(features, labels).score(judged), shrunk)


def test_fewer_images_than_features():
    features, labels = cloud(12, 30).float(), torch.arange(12) % 2
    fitted = MDS().fit(features, labels)
    assert "12 images of 30 features" in fitted.warnings[0] and fitted.state.whitening.shape[1] == 10
    assert fitted.score(cloud(3, 30, 1).float()).isfinite().all()
    assert MDS(shrinkage=0.1).fit(features, labels).state.whitening.shape[1] == 30


@pytest.mark.parametrize("products", [1, 40])
def test_neighbours_in_chunks(monkeypatch, products):
    monkeypatch.setattr(nearest_module, "PRODUCTS", products)
    bank, queries = cloud(30, 4), cloud(7, 4, 1)
    values, places = nearest_module.largest_products(queries, bank, 5)
    expected = (queries @ bank.mT).sort(dim=1, descending=True)
    torch.testing.assert_close(values, expected.values[:, :5])
    assert torch.equal(places, expected.indices[:, :5])


def test_some_of_the_classes_without_images_are_numbered():
    features, labels = cloud(40, 3).float(), torch.arange(40) % 2 * 3
    fitted = RMDS().fit(features, labels, Head(torch.rand(9, 3)))
    assert "leaves out 7 of 9 classes" in fitted.warnings[0] and "1, 2, 4, 5, 6 and 2 more," in fitted.warnings[0]
    torch.testing.assert_close(fitted.score(features), RMDS().fit(features, labels // 3).score(features))


def test_a_near_duplicate_keeps_its_digits():
    bank = torch.nn.functional.normalize(cloud(20, 8), dim=1).float()
    moved = bank + 1e-4 * cloud(20, 8, 1).float()
    exact = torch.nn.functional.normalize(moved.double(), dim=1) - torch.nn.functional.normalize(bank.double(), dim=1)
    score = KNN(1).fit(bank).score(moved)
    torch.testing.assert_close(score.double(), -exact.square().sum(dim=1), rtol=1e-2, atol=0)


REFUSED = [
    (MDS(), torch.ones(4, 3), "equal within their classes"),
    (KNN(), torch.rand(3, 4), "asks for 50 neighbour\\(s\\), but its bank holds 3 of 3"),
    (NNGuide(), torch.rand(300, 4), "asks for 100 neighbour.* but its bank holds .* of 300 training image"),
    (ViM(), torch.rand(30, 4), "leaves out 256 dimensions, but there are 4 features"),
    (ViM(2), torch.eye(4)[:2], "finds nothing outside the first 2 dimensions"),
]


@pytest.mark.parametrize(("detector", "features", "said"), REFUSED)
def test_images_that_do_not_suffice(detector, features, said):
    with pytest.raises(OpenworldError, match=said):
        detector.fit(features, torch.zeros(len(features), dtype=torch.int64), Head(torch.eye(2, features.shape[1])))
