"""A figure joins the rows of its charts, draws them for a page, and is saved at column width with matplotlib."""

import csv
import io
import struct
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from urllib.parse import unquote

import pytest
from matplotlib.figure import Figure as Sheet

from openworld.core.errors import OpenworldError
from openworld.report.charts import Line, LineChart, Quantity
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles

NAMES = [f"learner {n}" for n in range(9)] + ['<b>&" $x$']


def chart(title, key, names):
    lines = {name: Line((1, 2), (0.5, 0.6123456789 + n / 100)) for n, name in enumerate(names)}
    shots = Quantity("shots", "shots", "number", 6, at_values=True)
    return LineChart(title, shots, Quantity(key, "accuracy, %"), lines)


def figure(count=1, names=NAMES):
    charts = tuple(chart(title, key, names) for title, key in [("left", "accuracy"), ("right", "bias")][:count])
    return Figure("shots", "What do more images buy?", ("A caption.",), charts, series_styles(NAMES))


def test_the_download_is_the_rows():
    rows = list(csv.DictReader(io.StringIO(unquote(figure().download.partition(",")[2]))))
    assert rows[1] == {"series": "learner 0", "shots": "2", "accuracy": "0.612346"}
    assert figure().rows()[1]["accuracy"] == 0.6123456789


def test_rows_of_several_charts_name_their_panel():
    rows = list(csv.DictReader(io.StringIO(figure(2).csv)))
    assert len(rows) == 40 and [rows[0]["panel"], rows[-1]["panel"]] == ["left", "right"]
    assert rows[0]["bias"] == "" and rows[-1]["accuracy"] == ""
    shared = ({"dot": 1, "left": 0.5, "right": 0.25},)
    assert replace(figure(2), shared=shared).csv.splitlines() == ["dot,left,right", "1,0.5,0.25"]


def test_panels_are_larger_and_named_where_there_is_one():
    ((_, alone),), ((_, left), _) = figure().panels, figure(2).panels
    sizes = [float(ElementTree.fromstring(svg).get("width")) for svg in (alone, left)]
    assert sizes == [470.0, 400.0] and ">learner 3</text>" in alone and ">learner 3</text>" not in left


@pytest.mark.parametrize("form", ["pdf", "svg"])
def test_a_saved_figure_is_the_same_bytes_each_time(tmp_path, form):
    few = figure(names=NAMES[:2])
    first, second = (few.save(tmp_path / f"{name}.{form}").read_bytes() for name in "ab")
    assert first == second and first.startswith({"pdf": b"%PDF", "svg": b"<?xml"}[form])


@pytest.mark.parametrize(("count", "inches"), [(1, 3.25), (2, 6.5)])
def test_a_saved_figure_is_as_wide_as_its_columns(tmp_path, count, inches):
    saved = figure(count, NAMES[:2]).save(tmp_path / "figure.png")
    width, _ = struct.unpack(">II", saved.read_bytes()[16:24])
    assert width == round(300 * inches)


def test_no_text_is_smaller_than_seven_points_and_none_overlaps_the_legend(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(Sheet, "savefig", lambda sheet, *_, **__: seen.append(sheet))
    figure(2).save(tmp_path / "figure.pdf")
    (sheet,) = seen
    sheet.draw_without_rendering()
    assert min(text.get_fontsize() for text in sheet.findobj(lambda own: hasattr(own, "get_fontsize"))) >= 7
    (legend,) = sheet.legends
    assert [text.get_text() for text in legend.get_texts()] == [name.replace("$", r"\$") for name in NAMES]
    box = legend.get_window_extent()
    assert box.width <= sheet.bbox.width and all(box.y1 <= axes.get_tightbbox().y0 + 1 for axes in sheet.axes)


def test_without_matplotlib_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(OpenworldError, match=r"openworld\[plots\]"):
        figure().save(tmp_path / "figure.pdf")


@pytest.mark.parametrize("count", [1, 2])
def test_a_figure_draws_on_axes_of_a_sheet_of_your_own(count):
    sheet = Sheet()
    axes = sheet.subplots(1, count)
    figure(count).draw(axes)
    assert [len(own.lines) for own in sheet.axes] == [len(NAMES)] * count
    assert [own.get_title(loc="left") or own.get_title() for own in sheet.axes] == ["left", "right"][:count]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda folder: figure().save(folder / "figure.gif"), r"figure\.gif.*\.pdf"),
        (lambda folder: Figure("ranks", "", (), ()).save(folder / "figure.pdf"), "nothing to draw"),
        (lambda folder: figure(2).draw(Sheet().subplots()), "came with 1 axes"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path, call, words):
    with pytest.raises(OpenworldError, match=words):
        call(tmp_path)
