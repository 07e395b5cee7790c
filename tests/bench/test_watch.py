"""The bench of a watch: its parts run small, and say what they promise."""

import numpy as np
import pytest
import watch

from openworld.estimators.quote.shift_alarm import fit_shift_test
from openworld.estimators.quote.shift_signs import shift_signs


@pytest.fixture(scope="module")
def years():
    rng = np.random.default_rng(0)
    return watch.Years(watch.made_up("embeddings", 400, False, rng), watch.made_up("embeddings", 200, True, rng))


def test_statistics_from_shared_distances_are_those_of_signs_day_by_day(years):
    rng = np.random.default_rng(1)
    source, days = rng.integers(0, years.n, 150), years.days(3, 60, rng, fallen=True)
    known, last = years.source(source), 0.0
    test = fit_shift_test(known, 60)
    for rows, found in zip(days, years.statistics(source, days, test), strict=True):
        signs = shift_signs(known, years.images.take(rows), deals=199)
        last = test.statistic(last, test.score(signs, 60)[0])
        assert found == pytest.approx(last, abs=1e-3)


def test_fallen_days_are_twenty_points_below(years):
    rows = years.days(200, 100, np.random.default_rng(2), fallen=True)
    assert 1 - years.images.wrong[rows].mean() == pytest.approx(years.accuracy - 0.2, abs=0.02)


def test_each_alarm_has_a_line(years):
    first, *rest = watch.shifts("made up", years, 100, 40, 1, 3, quoted=True)
    assert "1 years of 3 days" in first and [line.split()[0] for line in rest] == ["shift", "accuracy", "either"]


def test_mixed_days_are_counted_for_every_choice_of_sizes():
    lines = list(watch.mixed(1, 20, years=5))
    assert len(lines) == 4 and all("%" in line for line in lines[1:])
