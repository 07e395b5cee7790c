"""The bench of alarms, on a law so small that it is made up in the test: what a year tells, and how it is counted."""

from pathlib import Path

import numpy as np
import pytest

from openworld.estimators import Outputs

QUOTED = Path(__file__).resolve().parents[2] / "bench" / "quoted"


@pytest.fixture
def alarms(monkeypatch):
    monkeypatch.syspath_prepend(str(QUOTED))
    import alarms

    monkeypatch.setattr(alarms, "CHUNKS", 30)
    monkeypatch.setattr(alarms, "SOURCE", (120, 160))
    return alarms


def images(strength, seed, n=400):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    return Outputs(strength * np.eye(4)[labels] + rng.normal(size=(n, 4)), labels)


def test_chunks_of_a_fall_are_as_accurate_as_wanted(alarms):
    law = alarms.Law(images(3.0, 0), (images(0.0, 1),))
    outputs, rows = law.fallen(0.6, 2000, np.random.default_rng(2))
    right = outputs.predictions == np.concatenate([law.unshifted.labels, law.shifted[0].labels])
    assert rows.shape == (alarms.AFTER, 2000) and right[rows].mean() == pytest.approx(0.6, abs=0.01)
    assert law.fallen(0.1, 50, np.random.default_rng(2)) is None  # no shifted set is so low


@pytest.mark.slow
def test_a_year_counts_false_alarms_and_delays(alarms):
    law = alarms.Law(images(3.0, 0), (images(0.0, 1),))
    found = list(alarms.year(law, 60, [0, 0, 0], rules=True))
    names = {name for name, _, _ in found}
    assert names == set(alarms.NAMES) - {alarms.APART}
    columns = {column for name, column, _ in found if name == alarms.RULES}
    assert {"at years", "above chunks", "fall 0.2"} <= columns
    delay = {name: value for name, column, value in found if column == "fall 0.2"}
    assert 1 <= delay[alarms.BARE] <= delay[alarms.DOC]  # whoever takes each dip for a fall is never late
    years = {name: value for name, column, value in found if column == "at years"}
    assert years[alarms.BARE] == 1 and set(years.values()) <= {0, 1}


def test_figures_of_a_line(alarms):
    found = {"at years": [1, 0], "at chunks": [4.0, 0.0], "above years": [0, 0], "above chunks": [0.0, 0.0]}
    line = alarms.line("a test", found | {"fall 0.1": [2.0, np.inf]})
    assert "50.0 %    2.0" in line and " 0.0 %    0.0" in line and "50 %" in line.split("|")[-1]
