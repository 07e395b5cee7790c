"""Sections of any page: text, tables, figures, albums and folded parts, all of it escaped and whole by itself."""

from dataclasses import replace

import pytest

from openworld.report.album import Album, AlbumImage
from openworld.report.charts import Line, LineChart, Quantity
from openworld.report.figure import Figure
from openworld.report.page import Page, Section, render, within_budget
from openworld.report.report import Report
from openworld.report.series_style import series_styles
from openworld.report.table import Column, Row, Table
from openworld.results import METRICS, Result, Results, Value

AUROC = METRICS["auroc"]
STYLES = series_styles(["<GMoP>"])


def table(name):
    return Table(name, f"title of {name}", "caption <i>", "learner", (Column(AUROC),), (Row("<GMoP>", (Value(0.5),)),))


def page(*sections):
    return Page("What <b>?", ("a & b",), ("So <i>.",), sections, STYLES, "Methods", (("seeds", "1 2"),))


def numbers(count=1):
    return Results("demo", tuple(Result("a", AUROC, Value(0.5), {"level": level}) for level in range(count)))


def test_everything_is_shown_in_order_and_escaped():
    album = Album("album", "of <u>", (("wrong <s>", (AlbumImage(None, "owl", "seen as <q>"),)),))
    folded = Section("Every other number", tables=(table("folded"),))
    text = render(
        page(Section("The numbers", ("First.",), (table("main"),), albums=(album,), folded=(folded,))), numbers()
    )
    order = ["What &lt;b&gt;?", "So &lt;i&gt;.", "The numbers", "First.", 'id="main"', "seen as &lt;q&gt;",
             "<details><summary>Every other number", 'id="folded"']  # fmt: skip
    places = [text.index(part) for part in order]
    assert places == sorted(places) and not any(tag in text for tag in ("<b>?", "<i>.", "<q>", "<GMoP>"))
    assert text.count("This table (CSV)") == 2 and text.count("Every number (CSV)") == 1


@pytest.mark.parametrize("count", [1, 2])
def test_figures_of_a_section_have_titles_where_there_are_several(count):
    lines = {"<GMoP>": Line((0.0, 1.0), (0.5, 0.7))}
    charts = (LineChart("", Quantity("level", "level", "number"), Quantity("auroc", "AUROC, %"), lines),)
    figures = tuple(Figure(f"figure-{place}", f"Figure {place}?", ("Two.",), charts, STYLES) for place in range(count))
    text = render(page(Section("Curves", figures=figures)), numbers())
    assert text.count("Data of this figure") == count and ("<h3>Figure 0?</h3>" in text) == (count > 1)


def test_very_many_results_are_left_to_their_file():
    assert "Every number (CSV)" not in render(page(Section("The numbers")), numbers(6000))


def test_images_with_tags_can_be_picked_and_others_offer_nothing():
    tags = ({"side": "base", "class": "<i>owl"}, {"side": "new", "class": "<i>owl"})
    images = [AlbumImage(None, "owl", "", tag, score) for tag, score in zip(tags, (0.25, 0.5), strict=True)]
    album = Album("album", "", (("wrong", tuple(images)), ("right", ())))
    assert album.choices == {"side": ["base", "new"]} and album.scores == (0.25, 0.5), "one class is no choice"
    text = render(page(Section("Images", albums=(album,))), numbers())
    assert 'data-tag="side"' in text and "<option>new</option>" in text and 'data-score="0.25"' in text
    assert "<i>owl" not in text and text.count("data-tags=") == 2
    plain = Album("album", "", (("wrong", (AlbumImage(None, "owl", ""),)),))
    assert 'class="filter' not in render(page(Section("Images", albums=(plain,))), numbers())


def test_what_is_folded_has_the_room_that_what_stands_open_leaves():
    first, second, third = (Section(f"part {place}", tables=(table(f"t-{place}"),) * place) for place in (1, 2, 1))
    shown = within_budget([Section("The numbers", tables=(table("open"),) * 3, folded=(first, second, third))], most=5)
    kept = [[len(part.tables), len(part.text)] for part in shown[0].folded]
    assert len(shown[0].tables) == 3 and kept == [[1, 0], [0, 1], [1, 0]]
    assert shown[0].folded[1].text[0].startswith("2 numbers") and "results.parquet" in shown[0].folded[1].text[0]
    assert "t-1" in render(page(*shown), numbers()) and "t-2" not in render(page(*shown), numbers())


def test_how_a_report_was_made_is_told_once_and_only_where_something_is_known():
    known, nothing = page(Section("The numbers")), replace(page(Section("The numbers")), facts=())
    for shown, made, times in ((known, {}, 1), (nothing, {"source": "a.npz"}, 1), (nothing, {}, 0)):
        text = Report(numbers(), (), shown, made=made).html()
        assert text.count("How it was made") == times and text.count("<h3></h3>") == 0
        assert ("<dt>source</dt><dd>a.npz</dd>" in text) == bool(made)
