"""The pool's worlds of drawn characters are whole with matplotlib's fonts alone, and families do not mix."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "quoted"))

import fonts  # noqa: E402
import glyphs  # noqa: E402
import pool  # noqa: E402

COLUMNS = {"logits", "labels", "reference", "reference_weak", "reference_kin", "classnames"}


@pytest.fixture(scope="module")
def found():
    return glyphs.faces([], fonts.WORLDS["characters"].characters)


def test_matplotlib_has_every_plain_kind(found):
    assert {face.kind for face in found if face.style == "plain"} == set(glyphs.PLAIN_KINDS)
    assert {"heavy", "slanted"} <= {face.style for face in found}


def test_families_serve_one_part_each(found):
    parts = fonts.dealt(found, 0)
    assert all(parts.values()) and sum(map(len, parts.values())) == len(set().union(*parts.values()))
    assert parts != fonts.dealt(found, 1)


def test_source_and_unshifted_target_share_no_character_of_a_font(found, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        fonts, "draw", lambda face, character, draws: drawn.append((face, character)) or np.zeros((32, 32))
    )
    face = next(face for face in found if face.style == "plain")
    fonts.every_character(fonts.WORLDS["letters"], [face], None, [0])
    assert len(drawn) == 52 == len(set(drawn))


def test_a_picture(found):
    face = next(face for face in found if face.family == "DejaVu Sans" and face.style == "plain")
    steady = glyphs.Jitter(degrees=0, shear=0, pixels=0, size=(20, 20))
    picture = glyphs.draw(face, "I", np.random.default_rng(0), steady)
    rows, columns = np.nonzero(picture > 0.5)
    assert picture.shape == (32, 32) and picture.dtype == np.float32 and picture.max() == 1
    assert 19 <= np.ptp(rows) + 1 <= 21 and np.ptp(columns) + 1 <= 4
    assert abs(rows.mean() - 15.5) <= 1 and abs(columns.mean() - 15.5) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", fonts.WORLDS)
def test_a_world_in_small(name, tmp_path, monkeypatch, found, capsys):
    small = replace(fonts.WORLDS[name], source=20, shifted=6)
    monkeypatch.setitem(fonts.WORLDS, name, small)
    monkeypatch.setattr(fonts, "RECIPES", {key: replace(recipe, epochs=1) for key, recipe in fonts.RECIPES.items()})
    fonts.main(
        ["--out", str(tmp_path), "--world", name, "--fonts", str(tmp_path / "none"), "--seeds", "0", "--each", "2"]
    )
    assert f"{len(found)} faces" in capsys.readouterr().out
    for model in fonts.MODELS:
        sets = pool.sets(tmp_path / name / f"{model}-0")
        families = {pool.family(title) for title in sets}
        assert families == {
            "source",
            "same",
            "noise",
            "blur",
            "weather",
            "digital",
            "geometry",
            "occlusion",
            "inversion",
            "mixture",
            "style",
        }
        assert len(sets["source"]["labels"]) == len(sets["same--unseen"]["labels"]) == 20
        assert all(arrays.keys() == COLUMNS for arrays in sets.values())
        assert not np.array_equal(sets["source"]["logits"], sets["source"]["reference_kin"])


def test_what_is_there_is_not_made_again(tmp_path, monkeypatch, found):
    arrays = {"logits": np.eye(2), "labels": [0, 1], "classnames": ["a", "b"]}
    for model in fonts.MODELS:
        pool.keep(tmp_path / "letters" / f"{model}-0", "source", **arrays)
    monkeypatch.setattr(fonts, "readers", None)
    fonts.make(tmp_path, "letters", found, 0)
