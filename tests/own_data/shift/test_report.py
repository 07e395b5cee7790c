"""What a measured shift says, of six images that are far in known ways: its sentences, its map, its page."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from openworld.own_data.shift.command import report
from openworld.own_data.shift.measurement import SURE, ImageDegrees, results_of
from openworld.own_data.shift.shift_map import ExampleImage, shift_examples, shift_map
from openworld.own_data.shift.verdict import headline, sentences
from openworld.shifts import Levels, ShiftGrid
from openworld.testing._reports import _shows_every_number_once

NASTY = "<script>alert(1)</script>"
DOT = "data:image/png;base64,iVBORw0KGgo="
USUAL = {"semantic": 0.25, "covariate": 0.3}


def images(name, concepts):
    classnames = tuple(dict.fromkeys(filter(None, concepts)))
    return SimpleNamespace(name=name, classnames=classnames, concept=lambda row: concepts[row], path=str)


def measured(semantic, covariate, usual=USUAL, concepts=("owl", "owl", NASTY, "cat", "cat", "cat"), right=None):
    """The first half of the images in one set, the others in another; those of one set alone where there is one."""
    degrees = {"semantic": np.array(semantic), "covariate": np.array(covariate)}
    cuts = {"semantic": Levels((0.2, 0.3, 0.4)), "covariate": Levels((0.1, 0.2))}
    grid = ShiftGrid(cuts["semantic"].of(semantic), cuts["covariate"].of(covariate), (3, 4), 2)
    own = {half: np.full(1000, bound) for half, bound in (USUAL | usual).items()}
    count = len(semantic)
    test = np.arange(count) * 2 // count
    sets = [concepts[: count - count // 2], concepts[count - count // 2 : count]] if count > 1 else [concepts[:1]]
    tests = [images(name, part) for name, part in zip(("new", "grey"), sets, strict=False)]
    row = np.concatenate([np.arange(len(part)) for part in sets])
    known, about = images("known", ("owl", "cat")), {"validation": right or {}}
    numbers = {"known": 1200, "shared": 0, "k": 10, "backbone": "small", "about": about}
    return ImageDegrees(known, tests, test, row, degrees, {}, own, grid, cuts, **numbers)


FOUND = measured((0.6, 0.5, 0.3, 0.1, 0.1, 0.2), (0.1, 0.0, 0.05, 0.4, 0.1, 0.1))
EXAMPLES = (
    *(ExampleImage("cell", "owl, new", (1, 3), 0.6, 0.1, DOT) for _ in range(2)),
    ExampleImage("cell", "cat, grey", (2, 0), 0.1, 0.4, DOT),
    ExampleImage("semantic", NASTY, (0, 2), 0.3, 0.05, DOT),
    ExampleImage("reference", "owl", (0, 0), 0.0, 0.0, DOT),
)


def rows(compared):
    return results_of(compared, SimpleNamespace(unreadable=lambda name: int(name == "grey")))


def said(compared):
    return " ".join(sentences(rows(compared), compared))


def page(compared=FOUND, examples=EXAMPLES):
    return report(compared, rows(compared), examples, ("something is odd",), ("It sees little.",), {"command": "shift"})


def test_the_rows_are_those_of_the_images():
    found = rows(FOUND)
    assert found.value("meaning", "far").value == 0.5 and found.value("appearance", "far_in_it_alone").value == 1 / 6
    assert [found.value("", "images", far_in=kind).value for kind in found.places("far_in")] == [2, 3, 1, 0]
    assert found.value("meaning", "median_degree", group="concept", name="owl").value == pytest.approx(0.55)
    assert found.value("", "images", covariate_level=2, semantic_level=0).value == 1
    assert found.value("appearance", "level_start", level=2).value == 0.2
    assert found.value("", "unreadable_images", set=2).value == 1 and found.value("", "images", set=0).value == 1200
    assert found.value("appearance", "held_out_triplets").reason
    names = [row.where["name"] for row in found.where(metric="images", group="concept")]
    assert names == ["owl", NASTY, "cat"]


@pytest.mark.parametrize(("far", "word"), [(6, "Mostly far"), (5, "Partly far"), (1, "Partly far"), (0, "Near")])
def test_the_first_sentence_is_the_answer(far, word):
    compared = measured([0.3] * far + [0.1] * (10 - far), np.linspace(0, 0.1, 10), concepts=("",) * 10)
    said = f"{word} in meaning and near in appearance: of 10 images, {10 * far}.0 % in meaning and 0.0 % in appearance"
    assert headline(rows(compared), compared).startswith(said)


def test_one_image_has_degrees_and_no_shares():
    one = measured((0.7,), (0.08,))
    assert headline(rows(one), one).startswith("Far in meaning and near in appearance: the image lies 0.700 in meaning")


NEAR, STYLED = (0.1, 0.1, 0.1, 0.2), (0.4, 0.0, 0.4, 0.0)


@pytest.mark.parametrize(
    ("semantic", "covariate", "right", "facts"),
    [
        ((0.6, 0.5, 0.3, 0.1), NEAR, 1.0, ("detector",)),
        (NEAR, STYLED, 1.0, ("openworld estimate",)),
        (NEAR, STYLED, SURE - 0.01, ("(as far as appearance can", "Judge appearance by")),
        (NEAR, NEAR, 1.0, ("look elsewhere",)),
    ],
)
def test_what_is_said_follows_from_the_degrees(semantic, covariate, right, facts):
    text = said(measured(semantic, covariate, right={"semantic": 1.0, "covariate": right}))
    assert [fact for fact in facts if fact not in text] == []


@pytest.mark.parametrize(("usual", "cells"), [(0.25, 1.5), (0.1, 0.5), (0.2, 1.0), (0.4, 3.5), (1.7, 3.5)])
def test_the_bound_stands_where_its_degree_lies(usual, cells):
    (chart,) = shift_map(replace(FOUND, usual={"semantic": np.full(3, usual), "covariate": np.full(3, 0.15)})).charts
    assert chart.bounds == pytest.approx((1.5, cells))


def test_examples_lie_in_their_cells():
    figure = shift_examples(FOUND, EXAMPLES)
    assert "cat, grey: meaning 0.100, appearance 0.400" in str(figure.panels[0][1])
    assert [tuple(row.values())[:3] for row in figure.rows()] == [(1, 3, "owl, new")] * 2 + [(2, 0, "cat, grey")]
    (chart,) = figure.charts
    assert [len(cell.images) for cell in chart.cells.values()] == [2, 1] and chart.cells[2, 0].faint


def test_every_number_stands_once_and_without_names_there_are_no_groups_and_no_images():
    bare = page(measured((0.1, 0.2), (0.1, 0.0), concepts=("", "")), ())
    assert not {"Which concepts are far", "The images"} & {section.heading for section in bare.page.sections}
    for answer in (bare, page()):
        _shows_every_number_once(answer)
    assert "Note: something is odd." in page().verdict and page().to_dict()["examples"][0].keys() >= {"cell", "kind"}
    assert NASTY not in page().html()
