"""The bench of a watch: its parts run small, and say what they promise."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from watch import mixed, rate  # noqa: E402


@pytest.mark.slow
def test_a_short_year_cut_into_files_has_the_alarms_of_the_year_read_at_once():
    first, *rest = rate(1, 13, 60)
    assert first.startswith("1 years of 13 days") and rest[-1].endswith("1 of 1")


def test_mixed_days_are_counted_for_every_choice_of_sizes():
    lines = list(mixed(1, 20, years=5))
    assert len(lines) == 4 and all("%" in line for line in lines[1:])
