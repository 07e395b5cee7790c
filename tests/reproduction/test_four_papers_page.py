"""docs/four-papers.md: every table and figure of a paper has one row, with one of four states."""

import re

import pytest

from openworld.papers import PAPERS, TABLES
from openworld.reproduction.claims import needed
from openworld.reproduction.figures import ABSENT, FIGURES
from openworld.reproduction.plan import PAPERS as PLANS

STATES = ("real data", "embedded", "plan only", "refused: ")
HEADINGS = {"openworldauc": "OpenworldAUC", "openpl": "OpenPL", "frap": "FRAP", "is-ood": "IS-OOD"}
WRITTEN = [paper for paper in PAPERS if FIGURES[paper]]


def rows(repository, paper):
    """(kind, number, state, claims) of every row of a paper, ranges and pairs apart; ours by the name of its option."""
    page = (repository / "docs" / "four-papers.md").read_text(encoding="utf-8")
    part = page.partition(f"\n## {HEADINGS[paper]}\n")[2].partition("\n## ")[0]
    for cells in re.findall(r"^\| ((?:Table|Figure|Section)s? .*?) ?\|?$", part, re.MULTILINE):
        what, _, state, claims = (cell.strip() for cell in cells.split("|"))
        kind, _, numbers = what.partition(" ")
        first, _, last = numbers.partition(" to ")
        every = map(str, range(int(first), int(last) + 1)) if last else re.split(", | and ", numbers)
        if kind == "Section":
            kind, every = "Figure", re.findall(r"--figure (\w+)", what)
        yield from ((kind.removesuffix("s"), number, state, claims) for number in every)


@pytest.mark.parametrize("paper", WRITTEN)
def test_every_table_and_figure_has_one_row(repository, paper):
    found = [row[:2] for row in rows(repository, paper)]
    tables = {("Table", number) for number in (*TABLES[paper], *PLANS[paper].ABSENT)}
    figures = {("Figure", number) for number in (*FIGURES[paper], *ABSENT[paper])}
    assert len(found) == len(set(found)) and set(found) == tables | figures


@pytest.mark.parametrize("paper", WRITTEN)
def test_every_row_has_a_state_and_what_cannot_be_made_is_refused(repository, paper):
    absent = {("Table", number) for number in PLANS[paper].ABSENT} | {("Figure", number) for number in ABSENT[paper]}
    for kind, number, state, _ in rows(repository, paper):
        assert state.startswith(STATES), (kind, number)
        assert ((kind, number) in absent) == state.startswith("refused: "), (kind, number)


@pytest.mark.parametrize("paper", WRITTEN)
def test_what_the_drawings_show_is_said_of_tables_and_figures_that_claims_are_about(repository, paper):
    about = {("Table", number) for number in needed(paper)[0]} | {("Figure", number) for number in needed(paper)[1]}
    said = {}  # what the drawings show -> the tables and figures of which it is said
    for kind, number, _, claims in rows(repository, paper):
        said.setdefault(claims, set()).add((kind, number))
    assert len(said) > 1 and all(numbers & about for claims, numbers in said.items() if claims)
