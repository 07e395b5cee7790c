"""What is said of a judgement: sentences, tables, page and plots, of every kind of finding."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from openworld.report.judgement import ClassLine, Judgement, Method, Shift, Side, Stretch
from openworld.report.judgement_grids import stretches_grid
from openworld.report.judgement_page import build_judgement, plots, render_judgement
from openworld.report.judgement_tables import (
    method_warnings,
    terminal_classes,
    terminal_methods,
    terminal_stretches,
)
from openworld.report.judgement_words import sentences

HOSTILE = "</script><script>alert(1)</script>"


def method(name, accuracy, *warnings):
    interval = None if accuracy is None else (accuracy - 0.02, accuracy + 0.03)
    return Method(name, "what it is", accuracy, interval, warnings, details={"temperature": 1.25, "n_target": 900})


def judged(*accuracies, **changes):
    names = ("COTT", "ATC-MC", "AC", "DoC", "IM")
    methods = tuple(method(name, accuracy) for name, accuracy in zip(names, accuracies, strict=False))
    found = Judgement(Side("val.npz", 500, 3, 0.9), Side("live.npz", 900, 3), "COTT", "it errs least", methods)
    return replace(found, **changes)


def stretches(*accuracies):
    return tuple(
        Stretch(
            f"2024-01-{day:02}",
            100 * day,
            100,
            None,
            {"COTT": (one, one - 0.05, one + 0.05), "AC": (one + 0.1, None, None)},
        )
        for day, one in enumerate(accuracies, 1)
    )


CLASSES = (
    ClassLine("cat", 60, 50.0, 0.75, (0.6, 0.85), 0.9, 0.8, 0.3, (("dog", 12.0),)),
    ClassLine(HOSTILE, 40, 50.0, 0.5, (0.3, 0.6), 0.4, 0.9, 0.3, (("cat", 20.0),)),
    ClassLine("owl", 0, 0.0, None, None, None, None, 0.4),
)


def test_the_number_comes_first():
    first, second, *_ = sentences(judged(0.8, 0.81))
    assert first == "Estimated accuracy on live.npz (900 images): 80.0 % [78.0 83.0], by COTT: it errs least."
    assert second == "On the source it is 90.0 % of 500 labelled images: −10.0 points here."


@pytest.mark.parametrize(
    ("accuracies", "words"),
    [
        ((0.8, 0.81, 0.82), "3 methods say 80.0 % (COTT) to 82.0 % (AC): they agree (2.0 points apart)."),
        ((0.8, 0.85), "they differ by some points (5.0 points apart), which is the least doubt to have."),
        ((0.8, 0.95), "they disagree (15.0 points apart), so rely on none without some labels."),
        ((0.8, 0.81, 0.82, 0.4), "without DoC 80.0 to 82.0 %."),
    ],
)
def test_how_far_the_methods_agree(accuracies, words):
    assert any(one.endswith(words) for one in sentences(judged(*accuracies)))


def test_one_method_agrees_with_nobody():
    assert not any("methods say" in one for one in sentences(judged(0.8)))


def test_what_would_settle_it():
    assert "246 labels of images drawn at random would tell the accuracy to 5 points" in sentences(judged(0.8))[-1]
    few = judged(0.8, target=Side("live.npz", 100, 3))
    assert sentences(few)[-1] == "So few images are best labelled, all of them."


def test_labels_of_the_target():
    found = sentences(judged(0.8, 0.7, target=Side("live.npz", 900, 3, 0.72)))
    assert found[-1].endswith("72.0 %, so that COTT is off by +8.0 points; nearest is ATC-MC (−2.0).")


def test_shares_that_moved_and_models_that_part():
    moved = judged(0.4, 0.8, shift=Shift(0.5, 0.1), agreement=(0.8, 0.2))
    told = " ".join(sentences(moved))
    assert "(total variation 0.50; chance makes 0.10)" in told and "COTT (40.0 %) sees what that costs" in told
    assert "name 20.0 % of the images alike, on the source 80.0 %: at least one of the two fails" in told
    still = " ".join(sentences(judged(0.4, 0.8, shift=Shift(0.12, 0.1), agreement=(0.8, 0.7))))
    assert "other shares" not in still and "on the source 80.0 %." in still


def test_over_time_and_the_alert():
    found = judged(0.7, stretches=stretches(0.8, 0.6, 0.7), alert=0.65)
    assert found.alerts == ("2024-01-02",)
    told = " ".join(sentences(found))
    assert "Over 3 chunks COTT runs from 60.0 % (2024-01-02) to 80.0 % (2024-01-01). Alert: 1 below 65.0 %" in told
    assert "none is below 10.0 %" in " ".join(sentences(replace(found, alert=0.1)))
    assert "Alert: that is below 80.0 %." in sentences(judged(0.7, alert=0.8))


def test_nothing_could_be_told():
    found = judged(None, headline=None, why="no method could tell an accuracy", stretches=stretches(0.5))
    assert sentences(found)[0].startswith("The accuracy on live.npz (900 images) cannot be told")
    assert found.quoted is None and found.spread is None and found.alerts == ()
    assert "<html" in render_judgement(found)


def shown(table):
    from rich.console import Console

    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(table)
    console.file.close()
    return console.export_text()


def test_tables_of_the_terminal():
    found = judged(0.8, 0.7, target=Side("live.npz", 900, 3, 0.72), stretches=stretches(*[0.5] * 20), classes=CLASSES)
    found = replace(found, class_method="COTT", class_images=900)
    assert re.search(r"COTT +80\.0 +\[78\.0 83\.0\] +\+8\.0", shown(terminal_methods(found)))
    assert "The 15 lowest of 20 chunks" in shown(terminal_stretches(found))
    told = shown(terminal_classes(found))
    assert told.index("script") < told.index("cat ") and "dog (12)" in told  # what lost most comes first
    assert terminal_stretches(judged(0.8)) is None and terminal_classes(judged(0.8)) is None


def test_warnings_of_several_methods_are_one_line():
    found = replace(judged(), methods=(method("A", 0.5, "few images"), method("B", 0.5, "few images", "ties")))
    assert method_warnings(found) == ["A, B: few images.", "B: ties."]


@pytest.fixture
def full():
    found = judged(0.8, 0.7, None, 0.75, target=Side(HOSTILE, 900, 3, 0.72), stretches=stretches(0.8, 0.6), alert=0.7)
    return replace(
        found, classes=CLASSES, class_method="COTT", class_images=500, warnings=("odd",), made={"command": HOSTILE}
    )


def test_the_page_says_all_and_lets_nothing_in(full, tmp_path):
    page = build_judgement(tmp_path, full).read_text(encoding="utf-8")
    assert "<script>alert" not in page and page.count('role="img"') == 2
    for words in (
        "Note: odd.",
        "below the alert",
        "may rather be",
        "of a sample of 500",
        "temperature",
        "Alert: 1 below",
    ):
        assert words in page
    assert len(page) < 300_000 and page == render_judgement(full)


def test_plots_are_files_of_their_own(full):
    found = plots(full)
    assert set(found) == {"methods.svg", "over-time.svg"}
    for text in found.values():
        tree = ElementTree.fromstring(text)
        assert tree.tag == "{http://www.w3.org/2000/svg}svg" and "var(" not in text
        marks = {use.attrib["href"] for use in tree.iter("{http://www.w3.org/2000/svg}use")}
        assert marks <= {f"#{path.attrib['id']}" for path in tree.iter("{http://www.w3.org/2000/svg}path")}
    assert set(plots(judged(0.8))) == {"methods.svg"}
    assert plots(judged(None, headline=None)) == {}


@pytest.mark.parametrize("name", ["crane [/bird]", "crane [bird]", "[red]"])
def test_names_that_look_like_markup_are_text_in_the_terminal(name):
    (chunk,), (own, *_) = stretches(0.5), CLASSES
    found = judged(
        classes=(replace(own, name=name, taken_for=((name, 3.0),)),),
        stretches=(replace(chunk, label=name),),
        methods=(method(name, 0.7),),
    )
    assert all(name in shown(drawn(found)) for drawn in (terminal_classes, terminal_methods, terminal_stretches))


def test_where_nothing_is_quoted_nothing_is_called_none():
    found = judged(0.8, stretches=stretches(*np.linspace(0.3, 0.9, 20)), headline=None)
    text = shown(terminal_stretches(found))
    assert "None" not in text and "2024-01-01" in text and "2024-01-20" not in text and "15 lowest" in text
    grid = stretches_grid(found)
    assert "None" not in grid.caption and "95 %" not in [column.title for column in grid.columns]
    assert all(len(row.cells) == len(grid.columns) for row in grid.rows)
