"""The page of a measured shift: the answer first, doubts after it, every group, no markup from names."""

import re
import sys
from dataclasses import replace
from pathlib import Path

from openworld.applications.shift.page import SHOWN, build_shift, render_shift
from openworld.applications.shift.wording import headline

sys.path.append(str(Path(__file__).parent))
from shift_found import FOUND, NASTY  # noqa: E402


def text(page):
    return re.sub(r"\s+", " ", re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL))


def test_the_answer_then_doubts_then_all_else():
    told = text(render_shift(FOUND))
    places = [
        told.index(part)
        for part in (
            "How far from known?",
            headline(FOUND),
            "Note: something is odd.",
            "2 of 3 concepts",
            "The numbers",
            "Where the pictures lie",
            "Pictures of every cell",
            "Which looks are far",
            "Which concepts are far",
            "What this cannot tell It sees little.",
            "Farthest in meaning",
            "openworld shift",
        )
    ]
    assert places == sorted(places)


def test_names_are_escaped_and_nothing_is_loaded():
    page = render_shift(FOUND)
    assert NASTY not in page and "&lt;script&gt;alert(1)" in page
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)


def test_long_lists_are_cut_and_whole_among_the_other_numbers():
    many = tuple(replace(FOUND.concepts[0], name=f"owl {place:02}") for place in range(SHOWN + 5))
    page = render_shift(replace(FOUND, concepts=many))
    assert page.count('<th scope="row">owl 03</th>') == 2 and page.count(f'<th scope="row">owl {SHOWN}</th>') == 1
    assert f"The {SHOWN} farthest of {SHOWN + 5}" in text(page)
    assert 'id="all-concepts"' not in render_shift(FOUND)


def test_without_names_there_are_no_groups():
    told = text(render_shift(replace(FOUND, concepts=(), looks=(), examples=())))
    assert "Which concepts" not in told and "Which looks" not in told and "The pictures" not in told


def test_the_same_result_gives_the_same_bytes(tmp_path):
    path = build_shift(tmp_path, FOUND)
    assert path == tmp_path / "report.html" and path.read_text() == render_shift(FOUND)
