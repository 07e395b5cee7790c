"""The nearest rows: a brute-force twin, shards, arithmetic, ties, bounded memory, refusals."""

import sys
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from openworld import OpenworldError
from openworld.shifts import _search as search
from openworld.shifts import merge_nearest, nearest


def plain(queries, reference, k):
    """Distances float64[N, k] by a full sort."""
    one, two = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in map(np.float64, (queries, reference)))
    return np.sort(1 - one @ two.T, axis=1)[:, :k]


def drawn(n, m, width, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)).astype(dtype), rng.normal(size=(m, width)).astype(dtype)


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles so small that a toy reference takes many of them."""
    monkeypatch.setattr(search, "TILE", 64)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("n", "m", "k"), [(7, 1, 1), (7, 3, 10), (5, 63, 10), (1, 4100, 40), (2500, 700, 10)])
def test_equals_a_full_sort(small_tiles, n, m, k, dtype):
    queries, reference = drawn(n, m, 12, dtype=dtype)
    found = nearest(queries, reference, k)
    assert found.distances == pytest.approx(plain(queries, reference, k), abs=1e-13)
    assert found.places.shape == (n, min(k, m))
    odd = reference.astype(reference.dtype.newbyteorder(">"))[::-1].copy()[::-1]  # which torch cannot read as it is
    assert nearest(queries, odd, k).distances.tobytes() == found.distances.tobytes()
    assert nearest(queries[:0], reference, k).distances.shape == (0, min(k, m))


@pytest.mark.parametrize("half", [False, True])
def test_the_first_tile_tells_by_its_groups_what_to_look_for(half):
    queries, reference = drawn(5, 3000, 12)
    assert nearest(queries, reference, half=half).distances == pytest.approx(plain(queries, reference, 10), abs=1e-13)


def test_finds_of_a_single_query_overflow_the_waiting_room(small_tiles):
    """One query of many finds new neighbours in every tile, the others in none; the worst order, and the best."""
    rng = np.random.default_rng(0)
    queries = np.eye(2, 8)[[0] + [1] * 99] + 0.01 * rng.normal(size=(100, 8))
    reference = np.concatenate([np.eye(2, 8)[[1]] + 0.01 * rng.normal(size=(64, 8)), rng.normal(size=(1500, 8))])
    reference[64:] += np.linspace(0, 20, 1500)[:, None] * np.eye(8)[0]
    for rows in (reference, reference[::-1]):
        assert nearest(queries, rows).distances == pytest.approx(plain(queries, rows, 10), abs=1e-13)


@given(st.integers(0, 1000), st.integers(1, 200), st.integers(1, 12), st.lists(st.integers(1, 199), max_size=4))
def test_shards_give_the_same_bytes(seed, m, k, cuts):
    queries, reference = drawn(5, m, 6, seed)
    edges = pairwise([0, *sorted({cut for cut in cuts if cut < m}), m])
    shards = [nearest(queries, reference[start:stop], k, first=start) for start, stop in edges]
    whole, merged = nearest(queries, reference, k), merge_nearest(shards, k)
    assert whole.distances.tobytes() == merged.distances.tobytes()
    assert whole.places.tolist() == merged.places.tolist()


@pytest.mark.parametrize("half", [False, True])
def test_near_duplicates_beyond_the_arithmetic_are_told_apart(half):
    """300 rows within 1e-4 of one another, nearer than float16 or the products' float32 can tell."""
    rng = np.random.default_rng(0)
    queries = rng.normal(size=(3, 16))
    reference = np.repeat(queries, 100, axis=0) + 1e-5 * rng.normal(size=(300, 16))
    found = nearest(queries, reference, 10, half=half)
    apart = reference / np.linalg.norm(reference, axis=1, keepdims=True)
    ours = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    exact = np.sort(((ours[:, None] - apart[None]) ** 2).sum(axis=2) / 2, axis=1)[:, :10]
    assert found.distances == pytest.approx(exact, rel=1e-6)


def distinct(order):
    """Rows of few directions many times over, in some order: most distances are equal."""
    rng = np.random.default_rng(3)
    return rng.normal(size=(20, 7)).astype(np.float32)[rng.integers(0, 20, 600)][order]


@pytest.mark.parametrize("half", [False, True])
def test_of_equally_near_rows_the_first_are_taken(half):
    """More equal rows than candidates: the k-th is as near as the next, in any arithmetic."""
    queries, reference = drawn(5, 1, 7)[0], distinct(np.arange(600))
    found = nearest(queries, reference, 10, half=half)
    for row, distances in zip(found.places, all_distances(queries, reference), strict=True):
        assert row.tolist() == np.lexsort((np.arange(600), distances))[:10].tolist()


def all_distances(queries, reference):
    """The very distances that are measured, float64[N, M], pair by pair."""
    rows, places = np.unique(reference, axis=0, return_inverse=True)
    return np.concatenate([nearest(queries, [row], 1).distances for row in rows], axis=1)[:, places]


@pytest.mark.parametrize("cuts", [(1,), (17, 40, 333)])
def test_shards_and_blocks_decide_as_one_among_equals(cuts, monkeypatch):
    queries, reference = np.repeat(drawn(5, 1, 7)[0], 3, axis=0), distinct(np.arange(600))
    whole = nearest(queries, reference)
    edges = zip([0, *cuts], [*cuts, 600], strict=True)
    monkeypatch.setattr(sys.modules["openworld.shifts.neighbours"], "QUERIES", 2)
    merged = merge_nearest([nearest(queries, reference[start:stop], first=start) for start, stop in edges])
    assert whole.distances.tobytes() == merged.distances.tobytes() and (whole.places == merged.places).all()


@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize("half", [False, True])
def test_tiny_and_huge_rows(scale, half):
    queries, reference = drawn(9, 200, 6)
    scaled = (reference * np.where(np.arange(200) % 2, scale, 1)[:, None]).astype(np.float32)
    found = nearest((queries * scale).astype(np.float32), scaled, half=half)
    assert found.distances == pytest.approx(plain(queries, reference, 10), abs=1e-6)


def test_a_kth_and_a_next_that_differ_by_next_to_nothing():
    """Distances that float32 products cannot tell apart, in an order that misleads who takes the first."""
    angles = 0.5 + 1e-9 * np.arange(400)[::-1]
    reference = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found = nearest([[1.0, 0.0]], reference, 10)
    assert found.places[0].tolist() == list(range(399, 389, -1))


def test_an_image_finds_itself_at_exactly_nothing():
    _, reference = drawn(1, 400, 24)
    found = nearest(reference, reference, 1)
    assert (found.distances == 0).all() and found.places[:, 0].tolist() == list(range(400)) and len(found) == 400
    assert nearest(reference, reference, 2).kth(2).min() > 0
    with pytest.raises(OpenworldError, match="only 1 are known"):
        found.kth(2)


def test_the_arithmetic_is_trusted_no_further_than_it_goes(monkeypatch):
    """Products that are wrong by all that is allowed change nothing."""
    queries, reference = drawn(30, 500, 16)
    expected, rng = nearest(queries, reference, half=True), np.random.default_rng(1)

    def spoiled(asked, rows, out):
        noise = torch.from_numpy(rng.uniform(-1, 1, size=tuple(out.shape))) * 2**-10 * (rows.dtype == torch.float16)
        out.copy_(asked.double() @ rows.double().T + noise)

    monkeypatch.setattr(search, "_multiply", spoiled)
    found = nearest(queries, reference, half=True)
    assert found.distances.tobytes() == expected.distances.tobytes()


@pytest.mark.parametrize("coarse", [False, True])
def test_another_librarys_products_give_the_same_bytes(monkeypatch, coarse):
    """Products of oneDNN are taken where it has them, and left where they are coarser than float32."""
    queries, reference = drawn(40, 20 * search.GROUP, 16)
    monkeypatch.setattr(search, "_has_onednn", lambda asked: False)
    expected, calls = nearest(queries, reference), []

    def product(asked, rows, bias, *rest):
        calls.append(len(rows))
        dtype = torch.bfloat16 if coarse else torch.float64
        return (asked.to(dtype) @ rows.to(dtype).T).float()

    monkeypatch.setattr(search, "TILE", 4 * search.GROUP)
    monkeypatch.setattr(search, "_has_onednn", lambda asked: True)
    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", product, raising=False)
    found = nearest(queries, reference)
    assert found.distances.tobytes() == expected.distances.tobytes() and (found.places == expected.places).all()
    assert len(calls) == (1 if coarse else 5)


def test_memory_is_of_tiles_not_of_all_products(monkeypatch):
    """No tensor as large as queries x reference is made."""
    largest, real = [0], torch.Tensor.new_empty

    def new_empty(self, *size, **options):
        made = real(self, *size, **options)
        largest[0] = max(largest[0], made.numel())
        return made

    monkeypatch.setattr(torch.Tensor, "new_empty", new_empty)
    monkeypatch.setattr(search, "TILE", 64)
    nearest(*drawn(40, 5000, 4))
    assert largest[0] <= max(40 * 64, 5000 * 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nearest([[1.0]], np.zeros((0, 1))), "reference is empty"),
        (lambda: nearest([[1.0, 2.0]], [[1.0]]), "queries has 2 features a row, expected 1"),
        (lambda: nearest([[0.0, 0.0]], [[1.0, 0.0]]), "row 0 of queries is all zeros"),
        (lambda: nearest([[1.0, 0.0]], [[1.0, 0.0], [1.0, np.nan]]), "row 1 of reference holds NaN"),
        (lambda: nearest([[1.0, np.inf]], [[1.0, 0.0]]), "row 0 of queries holds NaN or infinity"),
        (lambda: nearest([1.0, 0.0], [[1.0, 0.0]]), r"expected \[N, D\]"),
        (lambda: merge_nearest([]), "expected the same"),
        (lambda: merge_nearest([nearest([[1.0]], [[1.0]]), nearest([[1.0]] * 2, [[1.0]])]), "expected the same"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(OpenworldError, match=message):
        call()
