"""No chart draws a text over another, on paper and on a page, however long its names are."""

import base64
import io
import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import numpy as np
import pytest
from PIL import Image

from openworld.report.charts import (
    BarChart,
    CellChart,
    CellImage,
    ChartCell,
    Cloud,
    Dots,
    DotsChart,
    IntervalChart,
    IntervalRow,
    Line,
    LineChart,
    Quantity,
    RankChart,
    Reference,
    ScatterChart,
)
from openworld.report.charts.drawing.lettering import LINE, text_width
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles

NAMES = (
    "African bush elephant",
    "soft-coated wheaten terrier",
    "electrocardiograph",
    "Sagittarius",
    "Greater Swiss Mountain Dog",
    "top hat",
    "Chesapeake Bay retriever",
    "dragon",
    "great white shark",
    "ruffed grouse",
    "vending machine",
    "half-track (military vehicle)",
)
TITLE = "A data set whose name is as long as those of ImageNet's variants are, printed"
STYLES = series_styles(NAMES, NAMES[:1])
PERCENT = Quantity("accuracy", "accuracy, %")
LINES = (
    *(Reference(at, name, "x") for at, name in ((0.61, "printed TTC"), (0.612, "printed raw"))),
    Reference(0.205, "at the edge", "x"),
    Reference(0.9, "a"),
)


def values(count, seed=0):
    return np.random.default_rng(seed).uniform(0.3, 0.95, count).tolist()


def lines(x, **options):
    series = {name: Line(tuple(range(len(NAMES))), values(len(NAMES), place)) for place, name in enumerate(NAMES)}
    return LineChart(TITLE, x, PERCENT, series, **options)


def parts():
    axis = Quantity("part", "", "number", labels=("base accuracy", "new accuracy", "AUROC"))
    return LineChart(TITLE, axis, PERCENT, {name: Line((0, 1, 2), values(3, n)) for n, name in enumerate(NAMES)})


def dots():
    group = Dots("natural", NAMES[0], list(zip(values(9), values(9, 1), strict=True)))
    return DotsChart(TITLE, PERCENT, PERCENT, (group,), NAMES[:1], NAMES[0], references=LINES[:3], note="a few words")


def scatter(guide="products"):
    clouds = {name: Cloud(((x, y),)) for name, x, y in zip(NAMES, values(12), values(12, 1), strict=True)}
    return ScatterChart(TITLE, PERCENT, PERCENT, clouds, guide)


def intervals():
    rows = {
        name: IntervalRow(value, (value - 0.1, value + 0.05)) for name, value in zip(NAMES, values(12), strict=True)
    }
    return IntervalChart(TITLE, PERCENT, rows, LINES[:3])


def bars():
    kinds = tuple(Quantity(name, name) for name in ("right", "wrong base names", "wrong new names", "mixed up"))
    return BarChart(TITLE, kinds, dict.fromkeys(NAMES, (0.58, 0.12, 0.13, 0.17)))


def ranks():
    return RankChart(TITLE, {name: 1 + 0.9 * place for place, name in enumerate(NAMES)}, 1.2)


def numbers(rows=8, columns=8):
    cells = {(row, column): ChartCell("100.0", 0.5) for row in range(rows) for column in range(columns)}
    labels = [str(place) for place in range(max(rows, columns))]
    return CellChart(TITLE, "covariate level", "semantic level", labels[:rows], labels[:columns], cells)


def images():
    content = io.BytesIO()
    Image.new("RGB", (4, 4), "teal").save(content, "PNG")
    image = CellImage("data:image/png;base64," + base64.b64encode(content.getvalue()).decode(), "one")
    cells = {(0, column): ChartCell("100.0", 0.9) for column in range(8)}
    cells |= {(1, column): ChartCell(images=(image,)) for column in range(8)}
    return CellChart(TITLE, "", "class", ("MSP, %", "other class"), NAMES[:8], cells, side=76.0)


CHARTS = {
    "lines": lambda: lines(Quantity("level", "level", "number", 6, at_values=True), references=LINES[3:]),
    "lines over chunks": lambda: lines(Quantity("chunk", "", labels=NAMES)),
    "parts": parts,
    "dots": dots,
    "scatter": scatter,
    "scatter without a guide": lambda: scatter(""),
    "intervals": intervals,
    "bars": bars,
    "ranks": ranks,
    "numbers in cells": numbers,
    "images in cells": images,
}


def meet(boxes, room=0.5):
    return [
        (one, other)
        for (one, (a, b, c, d)), (other, (e, f, g, h)) in combinations(boxes, 2)
        if min(c, g) - max(a, e) > room and min(d, h) - max(b, f) > room
    ]


@pytest.mark.parametrize(("kind", "count"), [*((kind, 1) for kind in CHARTS), ("lines", 2), ("ranks", 2), ("dots", 8)])
def test_no_text_on_paper_meets_another_or_leaves_the_sheet(kind, count, tmp_path, monkeypatch):
    from matplotlib.figure import Figure as Sheet
    from matplotlib.text import Text

    seen = []
    monkeypatch.setattr(Sheet, "savefig", lambda sheet, *_, **__: seen.append(sheet))
    Figure("figure", "", (), (CHARTS[kind](),) * count, STYLES).save(tmp_path / "a.svg")
    (sheet,) = seen
    sheet.draw_without_rendering()
    off = [axis for axes in sheet.axes if not axes.axison for axis in (axes.xaxis, axes.yaxis)]
    hidden = {text for axis in off for text in axis.findobj(Text)}
    texts = [text for text in sheet.findobj(Text) if text.get_visible() and text not in hidden]
    boxes = [(text.get_text(), text.get_window_extent().extents) for text in texts if text.get_text().strip()]
    met = meet(boxes)
    assert len(boxes) > 3 * count and met == []
    width, height = sheet.bbox.size
    assert [name for name, (a, b, c, d) in boxes if a < -1 or b < -1 or c > width + 1 or d > height + 1] == []


def drawn_texts(svg):
    """The boxes of a drawing's texts, as the page sets them: 12 units high, anchored and turned."""
    for node in ElementTree.fromstring(svg).iter("text"):
        css, size, words = (node.get("class") or "").split(), 12.0, "".join(node.itertext())
        x, y, turned = float(node.get("x", 0)), float(node.get("y", 0)), "rotate(-90" in (node.get("transform") or "")
        if move := re.match(r"translate\((\S+) (\S+)\)", node.get("transform") or ""):
            x, y = map(float, move.groups())
        width = text_width(words, size)
        start = width * {"mid": 0.5, "earned-number": 0.5, "loss-number": 0.5, "end": 1.0}.get(css[-1], 0.0)
        high = 0.75 * LINE * size  # without what hangs below the line
        box = (x - high, y - width + start, x, y + start) if turned else (x - start, y - high, x - start + width, y)
        yield words, box


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("kind", CHARTS)
def test_no_text_on_a_page_meets_another(kind, alone):
    met = meet(list(drawn_texts(CHARTS[kind]().svg(STYLES, alone=alone))), 1.0)
    assert met == []


def test_charts_that_belong_together_stand_in_one_row(tmp_path, monkeypatch):
    from matplotlib.figure import Figure as Sheet

    seen = []
    monkeypatch.setattr(Sheet, "savefig", lambda sheet, *_, **__: seen.append(sheet))
    for together in (1, 2):
        Figure("figure", "", (), (numbers(2, 2),) * 8, STYLES, together=together).save(tmp_path / "a.svg")
    assert [sheet.axes[0].get_gridspec().ncols for sheet in seen] == [3, 2]
