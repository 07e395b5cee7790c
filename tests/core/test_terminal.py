"""Tables for a terminal: literal text, whole numbers in a terminal of any width, and one place that draws them."""

import io

import pytest
from rich.console import Console

from openworld.core import terminal as terminal
from openworld.core.terminal import FirstThatFits, Head, TerminalTable

MARKUP = ("crane [/bird]", "crane [bird]", "[red]", "[link=file:///x]here[/link]", ":bird:")


def shown(table, width=120):
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(table)
    return console.file.getvalue()


def table_of(names=MARKUP, **changes):
    heads = (terminal.name("learner"), Head("OpenworldAUC"), Head("base"), terminal.words("against zero-shot"))
    rows = [(name, "56.2 [48.2 63.9]", "78.7", "does not differ from zero-shot (p .31)") for name in names]
    return TerminalTable(changes.get("heads", heads), rows, changes.get("caption", ""), changes.get("title", ""))


@pytest.mark.parametrize("markup", MARKUP)
def test_heads_cells_captions_and_titles_are_literal_text(markup):
    heads = (terminal.name(markup), Head(markup), Head(markup), terminal.words(markup))
    text = shown(table_of((markup,), heads=heads, caption=markup, title=markup), 200)
    assert text.count(markup) == 7


def test_a_line_break_in_a_name_makes_no_second_row():
    text = shown(table_of(("crane\nbird", "owl")), 200)
    assert "crane␊bird" in text and len(text.splitlines()) == len(shown(table_of(("crane", "owl")), 200).splitlines())


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 160])
def test_no_number_is_cut_or_broken_in_a_narrow_terminal(width):
    text = shown(table_of(caption="Percent; means of 3 seeds."), width)
    assert max(map(len, text.splitlines())) <= width and "…" not in text
    assert text.count("[48.2 63.9]") == text.count("78.7") == len(MARKUP)
    assert "Percent;" in text


def test_every_block_of_a_table_that_is_too_wide_begins_with_the_first_column():
    text = shown(table_of(("zero-shot", "CoOp")), 40)
    assert text.count("CoOp") == 2 and text.count("learner") == 2


def test_a_wide_character_takes_the_room_of_two():
    text = shown(table_of(("漢字漢字漢字",)), 120)
    assert "漢字漢字漢字  56.2" in text


def test_the_fullest_version_that_fits_is_shown():
    full, lean = table_of(caption="full"), TerminalTable((terminal.name("learner"),), [("CoOp",)], "lean")
    versions = FirstThatFits([full, lean])
    assert "full" in shown(versions, 120) and "lean" in shown(versions, 60)
    assert "lean" in shown(versions, 3).replace("\n", "")


def test_nothing_else_draws_tables(repository):
    source = repository / "src" / "openworld"
    others = [path for path in source.rglob("*.py") if "rich.table" in path.read_text(encoding="utf-8")]
    assert others == [source / "core" / "terminal.py"]


def test_text_for_a_prompt_is_not_displayed_in_a_notebook_instead(monkeypatch):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert terminal.as_text(lambda out: out.print("a table")) == "a table"
