"""Every renderer says the same numbers; names are text, never markup; narrow terminals lose columns, not numbers."""

import csv
import io
import shutil
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from openworld import OpenworldError
from openworld.report.render import csv_table, latex_table, markdown_table, terminal_table, texts
from openworld.report.render.html import html_table
from openworld.report.series_style import series_styles
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import METRICS, TEXT, Comparison, Interval, Value
from openworld.testing import check_table

AUC, ERROR, TUNED = METRICS["openworld_auc"], METRICS["absolute_error"], METRICS["tuned_parameters"]
NAMES = ("crane [/bird]", "[red]", "ΔAUC → τ", "a_b & 5 % | <i>", "漢字")


def value(number, *, deviation=None):
    return Value(
        number,
        (Interval(number - 0.03, number + 0.03, "images", 80), Interval(number - 0.1, number + 0.1, "seeds", 3)),
        deviation=deviation,
    )


def table_of(names=NAMES, **changes):
    columns = (
        Column(TUNED, priority=1),
        Column(AUC, headline=True, priority=2),
        Column(AUC, "95 % over seeds", show="interval", over="seeds"),
        Column(ERROR, "error", show="deviation", priority=1),
        Column(TEXT, "against zero-shot", priority=2),
    )
    rows = []
    for place, name in enumerate(names):
        auc, error = value(0.4 + place / 10), value(0.2 + place / 100, deviation=0.01)
        printed = Cell(auc, mark="*", printed=0.41, difference=place / 10 - 0.01)
        test = Comparison(name, "zero-shot", AUC, place / 10, 0.01, where={})
        rows.append(Row(name, (Value(512 * place), printed, auc, error, test), name))
    caption = "Percent; [95 % over images]; ± ≤ – − ’ " + names[0]
    return replace(Table("main", "A [table] & τ", caption, "learner", columns, tuple(rows)), **changes)


def shown(table, width=400):
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(terminal_table(table))
    return console.file.getvalue()


def cells(row):
    return next(list(found) for place, (_, found) in enumerate(texts(table_of())) if place == row)


def test_every_renderer_says_the_same():
    for table in (table_of(), table_of(block=2), table_of(best="rows")):
        check_table(table)


NUMBER = st.floats(-1, 1).map(Value) | st.just(Value(None, reason="too few"))
WORD = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), max_size=8)


@given(st.data())
@settings(max_examples=40)
def test_every_renderer_says_the_same_of_any_table(data):
    kinds = st.sampled_from([Column(AUC), Column(ERROR, "e"), Column(TEXT, "w")])
    columns = tuple(data.draw(st.lists(kinds, max_size=4)))
    cell = {"text": WORD | st.none(), "percent": NUMBER | st.builds(Cell, NUMBER, WORD, WORD, WORD) | st.none()}
    cells = st.tuples(*(cell[column.metric.unit] for column in columns))
    row = st.builds(Row, WORD, cells, WORD, WORD, st.booleans())
    rows = data.draw(st.lists(row, min_size=1, max_size=4, unique_by=lambda row: (row.label, row.remark)))
    check_table(Table("t", "t", "", "row", columns, tuple(rows), data.draw(st.sampled_from(["columns", "rows", ""]))))


def test_a_cell_says_number_interval_mark_and_what_was_printed():
    tuned, auc, seeds, error, test = cells(1)
    assert (tuned.text, auc.text) == ("512", "50.0*")
    assert auc.faint == "[47.0 53.0]\nprinted 41.0, +9.0"
    assert "[40.0 60.0] over seeds (n = 3)" in auc.note
    assert (seeds.text, round(seeds.sort, 3)) == ("[40.0 60.0]", 0.2)
    assert (error.text, error.faint) == ("21.0", "±\u00a01.0")
    assert (test.text, test.faint) == ("+10.0", "better, p\u00a0.01")


def test_where_intervals_are_over_several_things_each_says_over_what():
    values = [Value(0.5, (Interval(0.4, 0.6, over, 3),)) for over in ("images", "seeds")]
    rows = tuple(Row(str(place), (value,)) for place, value in enumerate(values))
    mixed, alike = (Table("t", "t", "", "row", (Column(AUC),), some) for some in (rows, rows[:1]))
    assert [found[0].note for _, found in texts(mixed)] == [
        "[40.0 60.0] over images (n = 3)",
        "[40.0 60.0] over seeds (n = 3)",
    ]
    assert [found[0].note for _, found in texts(alike)] == [""]


def test_papers_print_a_decimal_more():
    assert "**80.00\\*** \\[77.00 83.00\\]" in markdown_table(table_of())
    assert r"\textbf{80.00*} [77.00 83.00]" in latex_table(table_of())


def test_the_best_is_bold_where_there_is_a_choice():
    table = table_of()
    assert {place for place, column in table.bold if column == 1} == {4}
    assert {place for place, column in table.bold if column == 3} == {0}
    assert not {column for _, column in table.bold} & {0, 2, 4}
    assert not table_of(NAMES[:1]).bold and not table_of(best="").bold


def test_of_a_bold_cell_the_number_alone_is_bold():
    rows = tuple(Row(name, (Cell(Value(number), under="printed 52.3"),)) for name, number in (("a", 0.9), ("b", 0.5)))
    table, screen = Table("t", "t", "", "row", (Column(AUC),), rows), io.StringIO()
    Console(file=screen, force_terminal=True, color_system="standard", width=80).print(terminal_table(table))
    assert "\x1b[1m90.0\x1b[0m (52.3)" in screen.getvalue() and "\x1b[1m50" not in screen.getvalue()
    assert "**90.00** (52.3)" in markdown_table(table)


def test_a_cell_says_itself_whether_it_is_bold_and_takes_part():
    rows = tuple(
        Row(str(number), (Cell(Value(number), bold=bold),)) for number, bold in ((0.9, False), (0.5, None), (0.4, None))
    )
    table = Table("t", "t", "", "row", (Column(AUC),), (*rows, Row("x", (Cell("said", bold=True),))))
    assert table.bold == {(1, 0), (3, 0)}


def test_the_best_of_a_row():
    rows = (Row("a", (Value(0.2), Value(0.1))), Row("b", (Value(0.1), Value(0.3))))
    table = Table("t", "t", "", "row", (Column(ERROR, "x"), Column(ERROR, "y")), rows, best="rows")
    assert table.bold == {(0, 1), (1, 0)}


def test_what_does_not_exist_is_a_dash_and_says_why():
    table = Table(
        "t", "t", "", "row", (Column(AUC),), (Row("a", (Value(None, reason="no new image"),)), Row("b", (None,)))
    )
    (_, (first,)), (_, (second,)) = texts(table)
    assert (first.text, first.note, second.text) == ("–", "no new image", "–")
    assert 'title="no new image"' in html_table(table) and csv_table(table) == "row,OpenworldAUC\na,\nb,\n"


@pytest.mark.parametrize("width", [60, 80, 100, 130, 160])
def test_a_narrow_terminal_loses_columns_of_least_priority_and_says_so(width):
    text = shown(table_of(), width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert all(name in text for name in NAMES) and "80.0*" in text and "+40.0" in text
    assert ("95 % over seeds" in text.split("Percent;")[0]) or "Too wide to show: " in " ".join(text.split())


def test_the_page_escapes_names_marks_series_and_offers_the_numbers():
    table = table_of()
    page = html_table(table, series_styles(NAMES), download="data:text/csv,x")
    assert "<i>" not in page and "a_b &amp; 5 % | &lt;i&gt;" in page
    assert page.count('class="swatch') == page.count('class="forest') == len(NAMES)
    assert 'download="main.csv"' in page and 'data-value="0.5"' in page and "Copy as text" in page
    assert "download=" not in html_table(table)


def test_a_rule_stands_above_a_row_in_latex_and_on_the_page():
    table = table_of()
    ruled = replace(table, rows=(*table.rows[:-1], replace(table.rows[-1], rule=True)))
    assert latex_table(ruled).count(r"\midrule") == 2 and html_table(ruled).count('class="ruled"') == 1


def test_csv_is_not_rounded_and_has_ends_tests_and_printed_numbers():
    header, *rows = csv.reader(io.StringIO(csv_table(table_of())))
    row = dict(zip(header, rows[1], strict=True))
    assert float(row["OpenworldAUC"]) == 0.5 and float(row["OpenworldAUC low"]) == 0.47
    assert float(row["95 % over seeds high"]) == 0.6 and float(row["OpenworldAUC printed"]) == 0.41
    assert float(row["against zero-shot"]) == 0.1 and float(row["against zero-shot p"]) == 0.01
    assert float(row["error deviation"]) == 0.01


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_pdflatex_takes_it(tmp_path):
    head = r"\documentclass{article}\let\toprule\hline\let\midrule\hline\let\bottomrule\hline\begin{document}"
    text = f"{head}\n{latex_table(table_of())}{latex_table(table_of(block=2))}\\end{{document}}\n"
    (tmp_path / "table.tex").write_text(text, encoding="ascii")
    call = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "table.tex"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-1500:]


@pytest.mark.parametrize(
    ("make", "fact"),
    [
        (lambda: Table("t", "t", "", "row", (Column(AUC),), (Row("a", ()),)), "one for each of 1"),
        (lambda: Table("t", "t", "", "row", (), (), best="row"), "'columns', 'rows'"),
        (lambda: Column(AUC, show="median"), "value, interval, deviation"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(make, fact):
    with pytest.raises(OpenworldError, match=fact):
        make()


def test_no_text_form_of_a_table_obeys_a_name(foreign="a\x1b[31m\x07\x9bb"):
    for write in (csv_table, markdown_table, latex_table):
        text = write(table_of((foreign, *NAMES[1:])))
        assert "[31m" in text and not {"\x1b", "\x07", "\x9b"} & set(text), write.__name__
