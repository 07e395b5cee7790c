"""The bench of a large pool: its files are read as given cells, and its pace is read."""

import pytest
import score_pool

from openworld.evaluations.entries import CellsSpec
from openworld.evaluations.published_cells import given_cells


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(score_pool, "IN_A_FOLDER", 20)
    monkeypatch.setattr(score_pool, "DRAWN", 3)


def test_the_pool_lies_as_released(few, tmp_path):
    for kind in range(9):
        score_pool.draw_class(tmp_path / "pool" / "val" / f"n{kind:08d}", kind, 0, 20 if kind < 8 else 10)
    (tmp_path / "imglist").mkdir()
    for covariate in range(8):
        for semantic in range(8):
            text = "".join(score_pool.lines(170, covariate, semantic))
            (tmp_path / "imglist" / f"cov_{covariate}_sem_{semantic}.txt").write_text(text)
    cells = given_cells(CellsSpec((str(tmp_path / "imglist"),), str(tmp_path / "pool")))
    assert len(cells.images) == 170 and cells.shape == (8, 8) and len(cells.images.classnames) == 9
    assert cells.images.image(0).size == (32, 32)
    contents = {(tmp_path / "pool" / cells.images.path_of(place)).read_bytes() for place in range(170)}
    assert len(contents) == 170, "every file has bytes of its own"


def test_the_pace_is_read_from_what_a_run_says():
    said = "fitted 7 detectors in 0 s, 20.0/s (kept)\nscored 1,005,000 images in 1,210 s, 830.5/s (kept: the next)\n"
    assert score_pool.scored(said) == [(1_005_000, 1210, 830.5)]
