"""Degrees of images against a reference in blocks: a brute-force twin, the far rule, the grid, wrong use."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from openworld import OpenworldError, backbones, datasets
from openworld.own_data.shift.decomposition import DecompositionSource, fit_or_read
from openworld.own_data.shift.images import ImageCollection, Reader
from openworld.own_data.shift.measurement import measure
from openworld.shifts import PUBLISHED_QUANTILES, Decomposition, Levels, equal_width_levels

WIDTH = 8
HALVED = Decomposition.of_matrix(torch.eye(WIDTH))  # products with it are exact, however many rows are multiplied


class Blocks:
    """A reader of features that lie in memory, `size` at a time; rows that are lost cannot be read."""

    def __init__(self, size=1000, lost=()):
        self.size, self.lost, self.largest = size, set(lost), 0
        self.clip = SimpleNamespace(name="in memory")

    def blocks(self, gathered):
        for start in range(0, len(gathered.images), self.size):
            rows = [row for row in range(start, min(start + self.size, len(gathered.images))) if row not in self.lost]
            self.largest = max(self.largest, len(rows))
            yield np.array(rows), Block(gathered.images[rows])


class Block(SimpleNamespace):
    def __init__(self, rows):
        super().__init__(embeddings=rows)

    def __len__(self):
        return len(self.embeddings)


def make_collection(name, count, seed, *, moved=0.0):
    """Features in the place of images: around a direction in each half, from which `moved` leads away in meaning."""
    rows = np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)
    rows[:, [0, WIDTH // 2]] += 4
    rows[:, 1] += np.float32(moved)
    return ImageCollection(name, rows, False)


def measured(known, *tests, reader=None, **options):
    return measure(known, tests, HALVED, reader or Blocks(), **{"k": 3, "least": 1} | options)


def by_hand(rows, known, k, half, *, without=False):
    """The k-th smallest cosine distance in a half, pair by pair; `without` leaves row i of the reference out for i."""
    part = slice(0, WIDTH // 2) if half == "semantic" else slice(WIDTH // 2, WIDTH)
    found = []
    for place, row in enumerate(rows[:, part].astype(float)):
        others = [other for own, other in enumerate(known[:, part].astype(float)) if not (without and own == place)]
        apart = [1 - row @ other / np.sqrt((row @ row) * (other @ other)) for other in others]
        found.append(sorted(apart)[k - 1])
    return np.array(found)


@pytest.fixture(scope="module")
def known():
    return make_collection("known", 60, 0)


@pytest.mark.parametrize("half", ["semantic", "covariate"])
def test_degrees_and_what_is_far_are_those_of_a_brute_force_twin(known, half):
    near, far = make_collection("near", 25, 1), make_collection("far", 15, 2, moved=8.0)
    found = measured(known, near, far)
    rows = np.concatenate([near.images, far.images])
    expected = by_hand(rows, known.images, 3, half)
    np.testing.assert_allclose(found.degrees[half], expected, atol=1e-6)
    own = by_hand(known.images, known.images, 3, half, without=True)
    np.testing.assert_allclose(np.sort(found.usual[half]), np.sort(own), atol=1e-6)
    assert found.bound(half) == pytest.approx(np.quantile(own, 0.95), abs=1e-6)
    assert found.far(half).tolist() == (expected > np.quantile(own, 0.95)).tolist()
    assert found.test.tolist() == [0] * 25 + [1] * 15 and found.row.tolist() == [*range(25), *range(15)]


def test_the_grid_counts_every_image_once(known):
    found = measured(known, make_collection("new", 40, 4), levels=5, least=3)
    cuts = found.cuts
    twin = np.zeros((5, 5), int)
    for semantic, covariate in zip(found.degrees["semantic"], found.degrees["covariate"], strict=True):
        row = sum(covariate >= cut for cut in cuts["covariate"].cuts)
        twin[row, sum(semantic >= cut for cut in cuts["semantic"].cuts)] += 1
    assert found.grid.counts.tolist() == twin.tolist() and twin.sum() == 40
    assert found.grid.present.tolist() == (twin >= 3).tolist()
    for half, degrees in found.degrees.items():
        assert cuts[half] == equal_width_levels(degrees, PUBLISHED_QUANTILES[half], 5)


def test_an_image_of_the_reference_is_measured_against_the_others(known):
    found = measured(known, known)
    assert found.shared == len(found.row) == 60
    for half in ("semantic", "covariate"):
        own = by_hand(known.images, known.images, 3, half, without=True)
        np.testing.assert_allclose(found.degrees[half], own, atol=1e-6)
        assert (found.nearest[half] != np.arange(60)).all()
    other = make_collection("other", 30, 5)
    other.images[:, : WIDTH // 2] = known.images[:30, : WIDTH // 2]
    assert measured(known, other).shared == 0  # the same in meaning alone


@pytest.mark.parametrize(("size", "count"), [(1, 12), (7, 60), (59, 60)])
def test_blocks_change_no_byte_and_bound_what_is_read_at_a_time(size, count):
    known, new = make_collection("known", count, 0), make_collection("new", 33, 6)
    whole, reader = measured(known, new), Blocks(size)
    cut = measured(known, new, reader=reader)
    for half in ("semantic", "covariate"):
        assert cut.degrees[half].tobytes() == whole.degrees[half].tobytes()
        assert cut.usual[half].tobytes() == whole.usual[half].tobytes()
        assert cut.nearest[half].tolist() == whole.nearest[half].tolist()
    assert cut.grid.counts.tolist() == whole.grid.counts.tolist() and reader.largest == size


def test_rows_are_those_of_all_images_where_some_cannot_be_read(known):
    found = measured(known, make_collection("new", 20, 7), reader=Blocks(6, lost=(0, 13)))
    assert found.known == 58 and found.row.tolist() == [row for row in range(20) if row not in (0, 13)]
    assert not {0, 13} & {*found.nearest["semantic"].tolist(), *found.nearest["covariate"].tolist()}


def test_a_large_reference_is_known_by_a_sample(monkeypatch):
    monkeypatch.setattr("openworld.own_data.shift.measurement.SAMPLE", 50)
    large, new = make_collection("large", 80, 8), make_collection("new", 5, 9)
    one, other = (measured(large, new, seed=seed).usual["semantic"] for seed in (0, 1))
    assert len(one) == len(other) == 50 and one.tolist() != other.tolist()


def test_levels_of_before_are_kept_and_let_a_single_image_be_measured(known):
    cuts = {"semantic": Levels((0.1, 0.4)), "covariate": Levels((0.2, 0.3, 0.5))}
    found = measured(known, make_collection("one", 1, 10), cuts=cuts)
    assert found.cuts is cuts and found.grid.shape == (4, 3) and found.grid.counts.sum() == 1


ALIKE = ImageCollection("alike", np.ones((6, WIDTH), np.float32), False)
NEW = make_collection("new", 9, 11)


@pytest.mark.parametrize(
    ("test", "options", "words"),
    [
        (make_collection("new", 1, 11), {}, "holds 1 image.s., expected two or more.*--levels-of"),
        (NEW, {"k": 59}, "neighbour 59 needs 61 or more"),
        (ALIKE, {}, "cannot be divided into semantic levels"),
        (NEW, {"reader": Blocks(lost=range(4, 60))}, "known holds 4 image.s. that can be read"),
    ],
)
def test_refusals(known, test, options, words):
    with pytest.raises(OpenworldError, match=words):
        measured(known, test, **options)


def test_images_that_taught_do_not_say_what_is_usual():
    """Teachers are pulled apart from one another: here the first 12, which lie far from all."""
    rows = make_collection("known", 90, 0).images
    rows[:12, :4] = np.random.default_rng(1).normal(size=(12, 4))
    rows[:12, 0] = -np.abs(rows[:12, 0])
    reference = ImageCollection("known", rows.view(type("Rows", (np.ndarray,), {"content": "these"})), True)
    taught = Decomposition.of_matrix(torch.eye(WIDTH), about={"teachers": {"content": "these", "rows": [*range(12)]}})
    sides = make_collection("same", 60, 2), make_collection("new", 60, 3, moved=4)
    plain, without = (measure(reference, sides, own, Blocks(), k=3, least=1) for own in (HALVED, taught))
    assert (plain.taught, without.taught) == (0, 12)
    own = by_hand(rows, rows, 3, "semantic", without=True)[12:]
    assert without.bound("semantic") == pytest.approx(np.quantile(own, 0.95), rel=1e-5)
    same, new = (without.far("semantic")[without.test == place].mean() for place in (0, 1))
    assert same < 0.12 and new > 0.7 and plain.far("semantic").mean() < 0.05
    few = ImageCollection("few", rows[:20].view(type(reference.images)), True)
    with pytest.raises(OpenworldError, match="what is far cannot be measured: all but 8 images of few teach LAID"):
        measure(few, sides, taught, Blocks(), k=3)


@pytest.mark.slow
def test_taught_by_images_of_the_reference_its_own_kind_is_near_and_new_classes_are_not(seed=0):
    generator, images = np.random.default_rng(seed), datasets.load("emoji-concepts", part="train")
    classes = generator.permutation(100)

    def some(name, classes, first, last):
        rows = [np.flatnonzero(images.labels == label)[first:last] for label in classes]
        return ImageCollection(name, images.subset(np.sort(np.concatenate(rows))), True)

    reference = some("reference", classes[:40], 0, 6)
    sides = some("same", classes[:40], 6, 10), some("new", classes[40:60], 0, 8)
    source = DecompositionSource(taught_by="images")
    encoder, taught = fit_or_read(source, backbones.load("embedded"), [reference], seed, lambda *_: None)
    found = measure(reference, sides, taught, Reader(encoder, 0, lambda *_: None), k=3)
    same, new = (found.far("semantic")[found.test == place].mean() for place in (0, 1))
    assert found.taught == 40 and same < 0.11 and new > 2 * same and new > 0.1
