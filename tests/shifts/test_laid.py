"""LAID and PCA find the halves of texts made of two: triplets, orthogonal matrices, seeds, saving, refusals."""

from itertools import islice

import numpy as np
import pytest
import torch

from openworld import OpenworldError
from openworld.shifts import (
    LAID,
    PCA,
    Decomposition,
    decomposed_zero_shot,
    deviation,
    load_decomposition,
    nearest_orthogonal,
    random_orthogonal,
    write_texts,
)
from openworld.shifts.matrices import turned
from openworld.shifts.triplets import draw_triplets, hold_out, triplets

SHORT = {"steps": 300, "batch_size": 64, "learning_rate": 1e-2}


@pytest.fixture(scope="module", params=["penalty", "construction"])
def fitted(texts, request):
    return LAID(orthogonality=request.param, **SHORT).fit(texts, seed=0)


def test_held_out_triplets_stand_in_order(fitted):
    assert min(fitted.about["validation"].values()) > 0.95 and not fitted.about["warnings"]
    history = fitted.about["history"]
    assert len(history) == 20 and history[-1]["step"] == 300
    assert history[-1]["total"] < history[0]["total"]


def test_the_halves_are_those_the_texts_were_made_of(fitted, texts):
    labels, templates = texts.mean(axis=1), texts.mean(axis=0)
    for rows, mine, other in ((labels, 0, 1), (templates, 1, 0)):
        sizes = [float(half.square().sum()) for half in fitted.halves(rows - rows.mean(axis=0))]
        varied = [half.var(dim=0).sum() for half in fitted.halves(rows)]
        assert varied[mine] > 5 * varied[other], sizes


def test_the_matrix_is_orthogonal(fitted):
    matrix = torch.cat([fitted.semantic, fitted.covariate], dim=1)
    torch.testing.assert_close(matrix.T @ matrix, torch.eye(16), atol=1e-5, rtol=0)
    constructed = fitted.about["settings"]["orthogonality"] == "construction"
    assert fitted.about["deviation"] < 0.5 and (fitted.about["deviation"] < 1e-6) == constructed


def test_the_seed_decides_the_start_may_be_the_identity_and_lengths_of_texts_do_not_matter(texts):
    short, stretch = LAID(steps=5), np.random.default_rng(0).uniform(0.5, 2, texts.shape[:2])[:, :, None]
    first, again, other = (short.fit(texts, seed=seed) for seed in (3, 3, 4))
    assert first.to_bytes() == again.to_bytes() and not torch.allclose(first.semantic, other.semantic)
    stretched = short.fit(texts * stretch.astype(np.float32), seed=3)
    torch.testing.assert_close(first.semantic, stretched.semantic, atol=1e-5, rtol=0)
    still = LAID(steps=1, learning_rate=1e-12, start="identity", held_out=(0, 0)).fit(texts)
    torch.testing.assert_close(still.semantic, torch.eye(16)[:, :8], atol=1e-6, rtol=0)
    assert still.about["validation"] is None


def test_a_half_that_the_texts_do_not_teach_is_warned_of(texts):
    of_labels = np.repeat(texts.mean(axis=1, keepdims=True), 8, axis=1)
    hardly = of_labels + 1e-4 * np.random.default_rng(0).normal(size=texts.shape)
    sentence = LAID(steps=20).fit(hardly).about["warnings"]
    assert len(sentence) == 1 and sentence[0].startswith("in the covariate part 0% of")


def test_the_covariate_part_may_be_narrow(texts):
    narrow = LAID(semantic_width=12, **SHORT).fit(texts)
    assert narrow.semantic.shape == (16, 12) and narrow.covariate.shape == (16, 4)
    assert narrow.about["validation"]["covariate"] > 0.9


@pytest.mark.parametrize("method", [LAID(steps=2), LAID(steps=2, whitened=8), PCA()])
def test_saved_and_loaded(method, texts, tmp_path):
    made = method.fit(texts)
    made.save(tmp_path / "halves.safetensors")
    back = load_decomposition(tmp_path / "halves.safetensors")
    for one, two in zip(made.halves(texts[0]), back.halves(texts[0]), strict=True):
        assert torch.equal(one, two)
    assert back.about["method"] == method.name and back.to_bytes() == made.to_bytes()


def test_held_out_texts_are_not_trained_on():
    some, kept = hold_out("labels", 20, 0.1, torch.Generator().manual_seed(0))
    assert sorted([*some.tolist(), *kept.tolist()]) == list(range(20))
    assert len(kept) == 2


@pytest.mark.parametrize("whitened", [None, 8])
def test_held_out_texts_teach_nothing(texts, whitened):
    generator, other = torch.Generator().manual_seed(0), texts.copy()
    labels, templates = (hold_out(*held, generator)[1] for held in (("labels", 12, 0.1), ("templates", 8, 0.2)))
    other[labels.numpy()] = other[:, templates.numpy()] = 1
    one, two = (LAID(steps=5, whitened=whitened).fit(values, seed=0) for values in (texts, other))
    assert torch.equal(one.semantic, two.semantic) and one.about["training"] == two.about["training"]
    assert one.about["validation"] != two.about["validation"]


def test_a_half_can_be_measured_alone(fitted, texts):
    classes, images = texts[:, 0], texts.reshape(-1, 16)
    labels = np.repeat(np.arange(12), 8)
    table = decomposed_zero_shot(fitted, images, labels, classes, groups=labels)
    whole, semantic, covariate = (row.top1.value for row in table)
    assert min(whole, semantic) > 0.95 and covariate < 0.4
    assert table[2].top5.value > covariate


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda texts: LAID(held_out=(1.0, 0)).fit(texts), r"held_out\[0\] is 1.0"),
        (lambda texts: LAID(held_out=(0.9, 0)).fit(texts), "leave 1 to train on"),
        (lambda texts: LAID().fit(texts[:, :1]), "1 templates"),
        (lambda texts: LAID().fit(texts[0]), r"expected \[labels, templates, D\]"),
        (lambda texts: LAID().fit(texts[:, :, :15]), "cannot be halved"),
        (lambda texts: LAID(semantic_width=16).fit(texts), "expected 1 to 15"),
        (lambda texts: LAID(steps=3, learning_rate=1e30).fit(texts), "diverged"),
        (lambda texts: Decomposition.of_matrix(torch.ones(3, 3)), r"expected \[D, D\]|halved"),
        (lambda texts: Decomposition(torch.ones(3, 3), torch.ones(4, 2)), "expected"),
        (lambda texts: load_decomposition("nowhere.safetensors"), "there is no file"),
        (lambda texts: load_decomposition(__file__), "holds no decomposition"),
        (lambda texts: PCA().fit(np.ones((3, 2, 4))), "labels do not differ"),
        (lambda texts: PCA().fit(np.repeat(texts[:, :1], 3, axis=1)), "templates do not differ"),
        (lambda texts: decomposed_zero_shot(PCA().fit(texts), texts[0], [12] * 8, texts[:, 0]), "up to 12"),
        (lambda texts: decomposed_zero_shot(PCA().fit(texts), texts[0, :, :4], [1], texts[:, 0]), "expected 16"),
        (lambda texts: write_texts(["sea_lion", "sea lion"], ["a {}."]), "'sea lion' comes 2 times"),
        (lambda texts: write_texts(["cat"], ["a {}.", "a {}."]), "comes 2 times"),
        (lambda texts: write_texts(["cat"], ["a cat."]), "once"),
    ],
)
def test_refusals(texts, call, message):
    with pytest.raises(OpenworldError, match=message):
        call(texts)


@pytest.mark.parametrize("variance", [0.5, 0.9, 1.0])
def test_equals_scikit_learn(texts, variance):
    from sklearn.decomposition import PCA as Peer

    units = texts / np.linalg.norm(texts, axis=2, keepdims=True)
    found = PCA(variance=variance).fit(texts)
    for basis, rows in ((found.semantic, units.mean(axis=1)), (found.covariate, units.mean(axis=0))):
        peer = Peer(n_components=None if variance == 1 else variance).fit(rows.astype(np.float64))
        held = peer.components_[: basis.shape[1]]
        assert basis.shape[1] in (len(peer.components_), len(rows) - 1)
        cosines = torch.linalg.svdvals(torch.from_numpy(held).float() @ basis)  # of the angles between the subspaces
        torch.testing.assert_close(cosines, torch.ones(len(held)), atol=1e-6, rtol=0)


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("width", [1, 2, 9])
def test_random(generator, width):
    drawn = [random_orthogonal(width, generator) for _ in range(20)]
    assert max(float(deviation(one)) for one in drawn) < 1e-20
    assert {round(float(torch.linalg.det(one))) for one in drawn} == {-1, 1}  # both orientations
    torch.testing.assert_close(nearest_orthogonal(drawn[0]), drawn[0])


def test_no_orthogonal_matrix_is_nearer(generator):
    matrix = torch.randn(5, 5, generator=generator, dtype=torch.float64)
    best = nearest_orthogonal(matrix)
    assert float(deviation(best)) < 1e-20
    others = [random_orthogonal(5, generator) for _ in range(50)]
    others += [turned(best, 1e-3 * torch.randn(5, 5, generator=generator, dtype=torch.float64)) for _ in range(50)]
    assert all((matrix - best).norm() <= (matrix - other).norm() for other in others)


def test_turned_stays_orthogonal(generator):
    start = random_orthogonal(6, generator)
    free = torch.randn(6, 6, generator=generator, dtype=torch.float64)
    assert float(deviation(turned(start, free))) < 1e-20
    torch.testing.assert_close(turned(start, torch.zeros(6, 6, dtype=torch.float64)), start)


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
