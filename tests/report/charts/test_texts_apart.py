"""No chart draws a text over another, on paper and on a page, however long its names are."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import pytest
from example_charts import OF_SERIES, OTHERS, numbers
from matplotlib.figure import Figure as Sheet
from matplotlib.text import Text

from openworld.report.charts.drawing.lettering import LINE, text_width
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles

NAMES = (
    *("African bush elephant", "soft-coated wheaten terrier", "electrocardiograph", "Sagittarius", "dragon"),
    *("Greater Swiss Mountain Dog", "top hat", "Chesapeake Bay retriever", "great white shark", "ruffed grouse"),
    *("vending machine", "half-track (military vehicle)"),
)
STYLES = series_styles([*NAMES, "quoted"], NAMES[:1])
CHARTS = OF_SERIES | OTHERS


def meet(boxes, room=0.5):
    return [
        (one, other)
        for (one, (a, b, c, d)), (other, (e, f, g, h)) in combinations(boxes, 2)
        if min(c, g) - max(a, e) > room and min(d, h) - max(b, f) > room
    ]


@pytest.mark.parametrize(("kind", "count"), [*((kind, 1) for kind in CHARTS), ("lines", 2), ("ranks", 2), ("dots", 8)])
def test_no_text_on_paper_meets_another_or_leaves_the_sheet(kind, count, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(Sheet, "savefig", lambda sheet, *_, **__: seen.append(sheet))
    Figure("figure", "", (), (CHARTS[kind](NAMES),) * count, STYLES).save(tmp_path / "a.svg")
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
    met = meet(list(drawn_texts(CHARTS[kind](NAMES).svg(STYLES, alone=alone))), 1.0)
    assert met == []


def test_charts_that_belong_together_stand_in_one_row(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(Sheet, "savefig", lambda sheet, *_, **__: seen.append(sheet))
    for together in (1, 2):
        Figure("figure", "", (), (numbers(1, 1),) * 8, {}, together=together).save(tmp_path / "a.svg")
    assert [sheet.axes[0].get_gridspec().ncols for sheet in seen] == [3, 2]
