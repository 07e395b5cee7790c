"""A figure as a file of its own has the rules of the page's style sheet, and nothing that a viewer must resolve."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from markupsafe import Markup

from openworld.report.figure import standalone
from openworld.report.series_style import series_styles

DRAWN = Markup(
    '<svg viewBox="0 0 9 9"><g class="c0"><path class="line" d="M0 0"/><text class="label">GMoP</text></g>'
    '<line class="axis"/><text class="tick mid">0</text></svg>'
)


@pytest.fixture
def chosen():
    return series_styles(["GMoP"])


def test_a_rule_of_the_page_is_a_rule_of_the_file(chosen, repository):
    text = standalone(DRAWN, chosen)
    sheet = (repository / "src/openworld/report/page.css").read_text()
    width = re.search(r"svg \.line \{[^}]*stroke-width: ([\d.]+)", sheet)[1]
    colour = chosen["GMoP"].light
    assert re.search(rf"\.c0 \.line, \.line\.c0 \{{[^}}]*stroke: {colour};[^}}]*stroke-width: {width}", text)
    assert ".mid { text-anchor: middle }" in text


def test_nothing_is_left_to_resolve_and_nothing_is_there_that_is_not_drawn(chosen):
    text = standalone(DRAWN, chosen)
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert not re.search(r"var\(|color-mix|@media|\.cell|\.band", text)


def test_every_series_has_its_own_colour():
    both = series_styles(["GMoP", "CoOp"])
    drawn = DRAWN + Markup('<g class="c1"><path class="line"/></g>')
    text = standalone(Markup(str(drawn).replace("</svg>", "", 1) + "</svg>"), both)
    assert all(f".{style.css_class} .line" in text and style.light in text for style in both.values())


def test_marks_that_bear_their_colour_themselves_keep_it(chosen):
    drawn = str(DRAWN).replace("</svg>", '<rect class="earned c0"/><path class="natural dots"/></svg>')
    text = standalone(Markup(drawn), chosen)
    assert re.search(rf"\.earned\.c0 \{{ fill: {chosen['GMoP'].light} \}}", text)
    assert re.search(r"\.dots\.natural \{ [^}]*stroke: #", text)


def test_hatches_are_there_where_they_are_drawn(chosen):
    drawn = str(DRAWN).replace("</svg>", '<rect class="loss loss1"/></svg>')
    assert 'id="hatch1"' in standalone(Markup(drawn), chosen) and 'id="hatch1"' not in standalone(DRAWN, chosen)
