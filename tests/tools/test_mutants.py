"""Mutants: which places of a file are changed, and that each change is one, and shows."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import mutants

TEXT = """
LEAST: int = 2

def share(hits: list[int], n: int) -> float:
    if n < LEAST or not hits:
        raise ValueError(f"n is {n + 1}")
    return len(hits) / n if "a" + "b" else 0.5
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "share.py"
    path.write_text(TEXT)
    return path


def test_operators_comparisons_constants_and_conditions_are_changed_and_messages_are_not(file):
    changes = {change for _, _, change in mutants.sites(file)}
    assert {
        "2 -> 3",
        "n < LEAST -> n <= LEAST",
        "not hits -> not not hits",
        "len(hits) / n -> len(hits) * n",
    } <= changes
    assert {
        "len(hits) / n -> len(hits) * n",
        "0.5 -> 1.5",
        "n < LEAST or not hits -> n < LEAST and (not hits)",
    } <= changes
    assert not {"n + 1", "1", "'a' + 'b'"} & {change.partition(" -> ")[0] for change in changes}


def test_a_mutant_is_one_change_of_the_file(file):
    plain = ast.unparse(ast.parse(TEXT)).splitlines()
    for line, number, _ in mutants.sites(file):
        other = mutants.mutated(TEXT, number).splitlines()
        (changed,) = [place for place, pair in enumerate(zip(plain, other, strict=True)) if pair[0] != pair[1]]
        assert ast.parse("\n".join(other)) and 0 < line <= len(TEXT.splitlines()) and changed < len(plain)


def test_a_line_belongs_to_the_innermost_statement(file):
    first = mutants.statement_lines(file)
    assert first[5] == 5 and first[6] == 6 and first[2] == 2
