"""docs/four-papers.md: every table and figure of a paper has one row, with one of four states."""

import re

import pytest

from openworld.papers import PAPERS, TABLES
from openworld.reproduction.claims import CLAIMS, needed
from openworld.reproduction.figures import ABSENT, FIGURES
from openworld.reproduction.plan import PAPERS as PLANS

STATES = ("real data", "embedded", "plan only", "refused: ")
HEADINGS = {"openworldauc": "OpenworldAUC", "openpl": "OpenPL", "frap": "FRAP", "is-ood": "IS-OOD"}
WRITTEN = [paper for paper in PAPERS if FIGURES[paper]]


def rows(repository, paper):
    """(kind, number, state, claims, first cell) of rows of a paper, ranges apart; ours by the name of its option."""
    page = (repository / "docs" / "four-papers.md").read_text(encoding="utf-8")
    part = page.partition(f"\n## {HEADINGS[paper]}\n")[2].partition("\n## ")[0]
    for cells in re.findall(r"^\| ((?:Table|Figure|Section)s? .*?) ?\|?$", part, re.MULTILINE):
        what, _, state, claims = (cell.strip() for cell in cells.split("|"))
        kind, _, numbers = what.partition(" ")
        first, _, last = numbers.partition(" to ")
        every = map(str, range(int(first), int(last) + 1)) if last else re.split(", | and ", numbers)
        if kind == "Section":
            kind, every = "Figure", re.findall(r"--figure (\w+)", what)
        yield from ((kind.removesuffix("s"), number, state, claims, what) for number in every)


@pytest.mark.parametrize("paper", WRITTEN)
def test_every_table_and_figure_has_one_row(repository, paper):
    found = [row[:2] for row in rows(repository, paper)]
    tables = {("Table", number) for number in (*TABLES[paper], *PLANS[paper].ABSENT)}
    figures = {("Figure", number) for number in (*FIGURES[paper], *ABSENT[paper])}
    assert len(found) == len(set(found)) and set(found) == tables | figures


@pytest.mark.parametrize("paper", WRITTEN)
def test_every_row_has_a_state_and_what_cannot_be_made_is_refused(repository, paper):
    absent = {("Table", number) for number in PLANS[paper].ABSENT} | {("Figure", number) for number in ABSENT[paper]}
    for kind, number, state, *_ in rows(repository, paper):
        assert state.startswith(STATES), (kind, number)
        assert ((kind, number) in absent) == state.startswith("refused: "), (kind, number)


@pytest.mark.parametrize("paper", WRITTEN)
def test_what_the_drawings_show_is_said_of_tables_and_figures_that_claims_are_about(repository, paper):
    about = {("Table", number) for number in needed(paper)[0]} | {("Figure", number) for number in needed(paper)[1]}
    said = {}  # the claims' cell of a row, and the row -> what the row is about
    for kind, number, _, claims, what in rows(repository, paper):
        said.setdefault((claims, what), set()).add((kind, number))
    told = [numbers for (claims, _), numbers in said.items() if claims]
    assert told and all(numbers & about for numbers in told)


def test_the_page_of_claims_has_every_claim_and_counts_them_rightly(repository):
    page = (repository / "docs" / "evidence" / "claims.md").read_text(encoding="utf-8")
    for paper, claims in CLAIMS.items():
        part = page.partition(f"\n## {HEADINGS[paper]}\n")[2].partition("\n## ")[0]
        states = re.findall(
            r"^\| .*?\| (shown|in part|contradicted|undecided|no number|not run)\*? \|", part, re.MULTILINE
        )
        together = sum(int(number) - 1 for number in re.findall(r"\((\d+) claims\)", part))
        assert len(states) + together == len(claims), paper
    total, shown, contradicted = map(
        int, re.match(r"# Of (\d+) claims.* show (\d+) and contradict (\d+)", page).groups()
    )
    found = [len(re.findall(rf"\| {state}\*? \|", page)) for state in ("shown", "contradicted")]
    assert [total, shown, contradicted] == [sum(map(len, CLAIMS.values())), *found]
