"""What the page on draws of labels says of its table is what the table says."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.base

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "evidence" / "label-draws.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("| world |")[2].splitlines()
    if line.startswith("| ") and not line.startswith("| world")
]
WORLDS, MEANS = ROWS[:-4], {row[0]: row for row in ROWS[-4:]}
DEFAULT, PILOT, STRATA, HELD, BEST, CAME, WORST, WITHIN = range(2, 10)


def mean(cell: str) -> float:
    return float(cell.split()[0])


def highest(cell: str) -> float:
    return float(re.search(r"\((.+)\)", cell)[1])


def test_what_the_page_says_is_what_its_table_says():
    most = max(highest(row[DEFAULT]) for row in ROWS)
    assert most == 1.03 and "more than 3 % wider" in TEXT
    assert max(highest(row[STRATA]) for row in WORLDS[:7]) == 1.54 and "up to 1.5 times as wide" in TEXT
    assert max(highest(row[STRATA]) for row in WORLDS[7:]) == 1.73 and "1.7 times on texts" in TEXT
    right = MEANS["expectations that are right"]
    for place, said in ((STRATA, "strata give 0.83"), (DEFAULT, "the default 0.89"), (PILOT, "a pilot 0.87")):
        assert f"{mean(right[place]):.2f}" in said and said in TEXT
    assert f"promises {right[BEST]} points at best, and gives {right[CAME]}" in TEXT
    assert MEANS["one half of everything"][BEST] == "none"
    for row in ROWS:
        assert float(row[CAME]) < float(row[WORST]) and mean(row[WITHIN]) >= 99
        assert all(93 <= float(share) <= 98 for share in row[HELD].split(","))
