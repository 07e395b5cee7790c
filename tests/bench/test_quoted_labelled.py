"""The bench of labelled shifts answers every set of every family, with what was learned on others."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "quoted"))

import digits  # noqa: E402
import labelled  # noqa: E402


def test_every_family_is_the_target_and_none_of_its_own_labelled_shifts():
    families = ["blur", "digital", "noise", "style", "weather"]
    chosen = list(labelled.choices(families, labelled.np.random.default_rng(0)))
    assert [family for family, kind, _ in chosen if kind == "four families"] == sorted(2 * families)
    assert all(family not in others for family, _, others in chosen)
    assert [family for family, kind, _ in chosen if kind == "corruptions"] == ["style"]


@pytest.mark.slow
def test_the_table(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(labelled, "IMAGES", 60)
    monkeypatch.setattr(labelled, "REPEATS", 1)
    digits.make(tmp_path / "digits" / "logreg-1", "logreg", 1)
    labelled.main(["--pool", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"digits/logreg-1: {4 * len(digits.SHIFTS)} answers"
    (row,) = [line for line in lines if line.startswith("no reference, drawn, four families")]
    n, learned, cott, _, told, *_ = map(float, row.removeprefix("no reference, drawn, four families").split())
    assert n == len(digits.SHIFTS) and 0 < learned < 100 and 0 < cott < 100 and 0 <= told <= 100


@pytest.mark.parametrize("families", [["a", "b", "c"], []])
def test_worlds_of_few_families_are_left_out(families):
    assert list(labelled.choices(families, labelled.np.random.default_rng(0))) == []
