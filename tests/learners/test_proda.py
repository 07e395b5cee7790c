"""ProDA's variance against the covariances it stands for, its draws, and names of all lengths."""

from itertools import islice

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import normalize

from openworld.learners import ProDA
from openworld.learners.proda import mean_absolute_cosine, upper_bound_logits, variances_to_label

SMALL = ProDA(contexts=8, context_length=4)


def features(contexts, classes, images, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = (contexts, classes, 6), (images, 6)
    drawn = [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]
    text, embeddings = (normalize(one, dim=-1) for one in drawn)
    return text, embeddings, torch.randint(classes, (images,), generator=generator)


@given(contexts=st.integers(1, 5), classes=st.integers(1, 6), images=st.integers(1, 4), seed=st.integers(0, 99))
def test_variances_are_the_quadratic_forms_of_the_covariances(contexts, classes, images, seed):
    text, embeddings, labels = features(contexts, classes, images, seed)
    deviations = text - text.mean(dim=0)
    covariances = torch.einsum("bid,bjd->dij", deviations, deviations) / (contexts + 1)
    expected = torch.zeros(images, classes, dtype=torch.float64)
    for row, (image, label) in enumerate(zip(embeddings, labels.tolist(), strict=True)):
        for k in range(classes):
            forms = covariances[:, label, label] + covariances[:, k, k] - 2 * covariances[:, label, k]
            expected[row, k] = (image.square() * forms).sum()
    ours = variances_to_label(embeddings, deviations, labels)
    torch.testing.assert_close(ours, expected, rtol=0, atol=1e-14)
    assert (ours >= -1e-15).all()
    assert ours.gather(1, labels[:, None]).abs().max() < 1e-15


def test_the_bound_by_hand():
    # Two contexts, two classes: the new class moves by +-0.6 around its mean along the image.
    text = torch.tensor([[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [-0.6, 0.8]]])
    image, label, scale = torch.tensor([[2.0, 0.0]]), torch.tensor([0]), torch.tensor(10.0)
    variance = 2 * 0.6**2 / 3
    expected = torch.tensor([[10.0, 0.5 * 100 * variance]])
    torch.testing.assert_close(upper_bound_logits(image, text, label, scale), expected)


def test_orthogonality_by_hand():
    rows = torch.tensor([[2.0, 0.0], [0.0, 1.0], [-3.0, 0.0]])
    assert float(mean_absolute_cosine(rows)) == pytest.approx(1 / 3)


def test_every_context_is_drawn_once_before_any_is_drawn_again():
    draws = SMALL.loop.draws(torch.Generator().manual_seed(0))
    for _ in range(3):
        both = list(islice(draws, 2))
        assert [len(one) for one in both] == [4, 4]
        assert torch.cat(both).sort().values.tolist() == list(range(8))


@pytest.mark.parametrize(("contexts", "counts"), [(32, [8, 8, 16]), (8, [2, 2, 4]), (6, [1, 1, 4]), (2, [0, 0, 2])])
def test_positions_by_quarters(contexts, counts):
    places = [ProDA(contexts=contexts)._position(context) for context in range(contexts)]
    assert [places.count(position) for position in ("front", "middle", "end")] == counts
