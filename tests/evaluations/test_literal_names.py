"""Names that look like markup come out letter by letter in every table for the terminal, and in Markdown and LaTeX."""

import io

import pytest
from rich.console import Console

from openworld.applications.shift.results import Group
from openworld.applications.shift.wording import terminal_groups
from openworld.evaluations.recognition.exports import export
from openworld.evaluations.recognition.imbalance_tables import terminal_mixes
from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.summary import summarise
from openworld.evaluations.recognition.terminal import terminal_table
from openworld.report.text_tables import as_tex, plain

NAMES = ("crane [/bird]", "crane [bird]", "[red]")
LEARNERS = {"zero-shot": (0.5, 0.5, 1.0, 0), **dict.fromkeys(NAMES, (1.2, 0.25, 1.05, 512))}


def shown(table):
    console = Console(width=400, file=io.StringIO(), color_system=None)
    console.print(table)
    return console.file.getvalue()


def whole(text, names=NAMES):
    return all(name in text for name in names)


@pytest.fixture(scope="module")
def recognised(make_run):
    folder = make_run(learners=LEARNERS, seeds=(1,), names=["a", "b", "c", "d"], per_class=4)
    return summarise(load(folder).outcomes)


def test_recognition(recognised):
    (table,) = recognised.tables
    assert whole(shown(terminal_table(table))) and terminal_mixes(table) is None


@pytest.mark.parametrize(("form", "escape"), [("markdown", plain), ("latex", as_tex)])
def test_exports_escape_what_is_markup_to_them(recognised, form, escape):
    assert whole(export(recognised, form), map(escape, NAMES))


def test_concepts_of_a_measured_shift():
    groups = tuple(Group(name, 5, 0.3, 0.1, 0.6, 0.2) for name in NAMES)
    assert whole(shown(terminal_groups(groups, "concept [/x]", "semantic")), (*NAMES, "concept [/x]"))
