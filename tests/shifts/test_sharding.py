"""Degrees over shards: the bytes of one piece, however cut, on any engine, resumed, with workers that are killed."""

import multiprocessing
import os
import signal
from collections import Counter

import numpy as np
import pytest
import torch

from openworld import OpenworldError
from openworld.runs import ENGINES
from openworld.shifts import Decomposition, Shards, random_orthogonal, sharded_degrees, shift_degrees, streamed_degrees

SLOW = {"ray": [pytest.mark.slow]}


@pytest.fixture(scope="module")
def halves():
    return Decomposition.of_matrix(random_orthogonal(24, torch.Generator().manual_seed(0)).float())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Features with many equal rows, so that which of them is nearest is a choice."""
    folder, rng = tmp_path_factory.mktemp("features"), np.random.default_rng(0)
    for name, count in (("images", 50), ("reference", 130)):
        rows = rng.normal(size=(40, 24)).astype(np.float32)
        np.save(folder / f"{name}.npy", np.concatenate([rows, rows[rng.integers(0, 40, count - 40)]]))
    return folder / "images.npy", folder / "reference.npy"


def content(degrees):
    halves = (degrees.semantic, degrees.covariate)
    return [array.tobytes() for half in halves for array in (half.distances, half.places)]


@pytest.fixture(scope="module")
def whole(halves, files):
    return content(shift_degrees(halves, *(np.load(path) for path in files)))


def test_a_row_has_the_same_halves_in_any_company(halves, files):
    centred = Decomposition(halves.semantic, halves.covariate, halves.semantic[:, 0], halves.semantic[:, 1])
    for made in (halves, centred):
        rows = np.load(files[1])
        alone = [torch.cat(one) for one in zip(*(made.halves(rows[at : at + 1]) for at in range(130)), strict=True)]
        for one, together in zip(alone, made.halves(rows), strict=True):
            assert torch.equal(one, together) and one.dtype == torch.float32


@pytest.mark.parametrize(("reference", "images"), [(1000, 1000), (64, 50), (29, 23)])
def test_the_bytes_do_not_depend_on_the_cut(halves, files, whole, tmp_path, reference, images):
    shards = Shards(reference, images)
    assert content(sharded_degrees(halves, *files, tmp_path, shards=shards)) == whole
    mapped = (np.load(path, mmap_mode="r") for path in files)
    assert content(streamed_degrees(halves, *mapped, shards=shards)) == whole


@pytest.mark.parametrize("engine", [pytest.param(name, marks=SLOW.get(name, ())) for name in ENGINES])
def test_the_bytes_depend_neither_on_the_engine_nor_on_a_killed_worker(halves, files, whole, tmp_path, engine):
    """What engines do about deaths is tested with them; here, that nothing of a dead shard is left in the degrees."""
    events, killed = [], engine == "local"

    def kill_the_first(event):
        if killed and event.state == "started" and not events:
            os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
        events.append(event)

    shards = Shards(50, 30, engine, workers=2)
    assert content(sharded_degrees(halves, *files, tmp_path, shards=shards, progress=kill_the_first)) == whole
    states = Counter(event.state for event in events)  # kept: written, and killed before it said so
    assert (states["lost"], states["finished"] + states["kept"]) == (killed, 2 * 3)
    again = []
    assert content(sharded_degrees(halves, *files, tmp_path, shards=shards, progress=again.append)) == whole
    assert {event.state for event in again} == {"kept"}


def test_no_more_than_a_piece_is_read_at_a_time(halves, files, whole):
    class Watched:
        def __init__(self, path):
            self.rows, self.most = np.load(path), 0

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, span):
            self.most = max(self.most, len(self.rows[span]))
            return self.rows[span]

    images, reference = (Watched(path) for path in files)
    assert content(streamed_degrees(halves, images, reference, shards=Shards(40, 20))) == whole
    assert (images.most, reference.most) == (20, 40)


def test_another_decomposition_is_not_mistaken_for_the_first(halves, files, tmp_path):
    first = sharded_degrees(halves, *files, tmp_path / "a new" / "folder")
    swapped = sharded_degrees(Decomposition(halves.covariate, halves.semantic), *files, tmp_path / "a new" / "folder")
    assert content(swapped) == content(first)[2:] + content(first)[:2]


def test_refusals(halves, files, tmp_path):
    images, reference = files
    none, flat, empty = (tmp_path / name for name in ("none.npy", "flat.npy", "empty.npy"))
    np.save(flat, np.ones(3))
    np.save(empty, np.ones((0, 24)))
    for words, some, known, engine in (
        (r"is no \.npy file of features", none, reference, "local"),
        (r"shape \[3\], expected \[N, D\]", flat, reference, "local"),
        ("reference_images is 0", images, empty, "local"),
        ("did you mean 'local'", images, reference, "lokal"),
    ):
        with pytest.raises(OpenworldError, match=words):
            sharded_degrees(halves, some, known, tmp_path, shards=Shards(engine=engine))
