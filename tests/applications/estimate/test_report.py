"""What is said of a judgement: sentences, tables, page and plots, of every kind of finding."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from openworld.applications.estimate.grids import stretches_grid
from openworld.applications.estimate.page import build_judgement, plots, render_judgement
from openworld.applications.estimate.results import Alarm, ClassLine, Judgement, Method, Shift, Side, Stretch
from openworld.applications.estimate.terminal import (
    method_warnings,
    terminal_classes,
    terminal_methods,
    terminal_stretches,
)
from openworld.applications.estimate.wording import sentences
from openworld.estimators.quote import Quote
from openworld.estimators.quote.shift_signs import ShiftSigns

HOSTILE = "</script><script>alert(1)</script>"


def method(name, accuracy, *warnings):
    interval = None if accuracy is None else (accuracy - 0.02, accuracy + 0.03)
    details = {"temperature": 1.25, "n_target": 900}
    return Method(name, "what it is", accuracy, interval, warnings, details=details, on_source=(0.88, 0.85, 0.91))


def told(accuracy, method="COTT"):
    return Quote(method, accuracy, accuracy - 0.02, accuracy + 0.03, "it errs least")


UNTOLD = Quote(None, None, 0.2, 0.9, "the methods part")


def judged(*accuracies, **changes):
    names = ("COTT", "ATC-MC", "AC", "DoC", "IM")
    methods = tuple(method(name, accuracy) for name, accuracy in zip(names, accuracies, strict=False))
    quote = told(accuracies[0]) if accuracies and accuracies[0] is not None else UNTOLD
    found = Judgement(Side("val.npz", 500, 3, 0.9), Side("live.npz", 900, 3), quote, methods)
    return replace(found, **changes)


def stretches(*accuracies):
    return tuple(
        Stretch(
            f"2024-01-{day:02}",
            100 * day,
            100,
            None,
            {"COTT": one, "AC": one + 0.1},
            told(one),
        )
        for day, one in enumerate(accuracies, 1)
    )


def watched(found, alert, *standing):
    """With an alert, and alarms on these chunks; of those that cannot be told the middle counts."""
    alarms = [
        Alarm(one.quote.accuracy or 0.55, 3.0 if one.label in standing else 1.0, 2.0, one.label in standing, 0.4, 0.5)
        for one in found.stretches
    ]
    chunks = tuple(replace(one, alarm=alarm) for one, alarm in zip(found.stretches, alarms, strict=True))
    return replace(found, alert=alert, false_alarms=0.05, stretches=chunks)


CLASSES = (
    ClassLine("cat", 60, 50.0, 0.75, (0.6, 0.85), 0.9, 0.8, 0.3, (("dog", 12.0),)),
    ClassLine(HOSTILE, 40, 50.0, 0.5, (0.3, 0.6), 0.4, 0.9, 0.3, (("cat", 20.0),)),
    ClassLine("owl", 0, 0.0, None, None, None, None, 0.4),
)


def test_the_number_comes_first():
    first, second, third, *_ = sentences(judged(0.8, 0.81))
    assert first == "Estimated accuracy on live.npz (900 images): 80.0 % [78.0 83.0], by COTT: it errs least."
    assert second == "On the source it is 90.0 % of 500 labelled images: −10.0 points here."
    assert third.startswith("Of as many images like the source COTT says 85.0 to 91.0 %, on average 88.0 %")


def test_no_number_is_an_answer():
    found = judged(0.8, 0.4, quote=UNTOLD)
    first, *rest = sentences(found)
    assert first == (
        "The accuracy on live.npz (900 images) cannot be told; it may lie between 20.0 % and 90.0 %: the methods part."
    )
    assert rest[-1].startswith("97 labels of images drawn at random would tell it to 10 points either way, 385 to 5")
    assert found.untold == ("live.npz",) and found.alerts == replace(found, alert=0.99).alerts == ()
    for true, words in ((0.5, "50.0 %, within the bounds"), (0.1, "10.0 %, outside the bounds")):
        assert words in sentences(replace(found, target=Side("live.npz", 900, 3, true)))[-1]
    page = render_judgement(found)
    assert "cannot be told" in page and 'class="region"' in page and 'class="ring"' not in page


def test_what_chunks_like_the_source_read_is_said_beside_them():
    one, two, three = stretches(0.8, 0.6, 0.7)
    chunks = (replace(one, on_source=(0.88, 0.82, 0.93)), replace(two, n=140, on_source=(0.87, 0.8, 0.92)), three)
    words = "Of chunks of 100 to 140 images like the source COTT says 80.0 to 93.0 %."
    assert any(words in said for said in sentences(judged(0.7, stretches=chunks)))
    assert not any("Of chunks of" in said for said in sentences(judged(0.7, stretches=(three,))))


def test_an_alert_that_the_source_itself_does_not_reach_is_said():
    alarm = Alarm(0.7, 2.5, 1.7, True, 0.766, 0.8)
    for level, expected in ((0.95, True), (0.85, False)):
        found = sentences(judged(0.7, alert=level, false_alarms=0.05, alarm=alarm))
        assert any("The source itself is below the alert" in said for said in found) is expected


def test_chunks_that_cannot_be_told():
    one, other = stretches(0.8, 0.6)
    found = watched(judged(0.7, stretches=(one, replace(other, quote=UNTOLD))), 0.75)
    assert found.untold == ("2024-01-02",) and found.alerts == ()
    assert "of 1 it cannot be told" in " ".join(sentences(found))
    row = r"2024-01-02 +100 +cannot be told +\[20\.0 90\.0\].*{}"
    assert re.search(row.format(r" counts as 55\.0"), shown(terminal_stretches(found)))
    assert "alarm" not in shown(terminal_stretches(found))
    raised = watched(found, 0.75, "2024-01-02")
    assert re.search(row.format("alarm, counts as 55"), shown(terminal_stretches(raised)))
    assert 'class="alarm"' in plots(raised)["over-time.svg"] and "alarm" not in plots(found)["over-time.svg"]
    assert "cannot be told, 20.0 to 90.0 %, 100 images" in plots(found)["over-time.svg"]
    nothing = judged(0.7, stretches=(replace(other, quote=UNTOLD),))
    assert "Of none of 1 chunks the accuracy can be told." in sentences(nothing)


@pytest.mark.parametrize(
    ("accuracies", "words"),
    [
        ((0.8, 0.81, 0.82), "3 methods say 82.0 % (COTT) to 84.0 % (AC), they agree (2.0 points apart)."),
        ((0.8, 0.85), "82.0 % (COTT) to 87.0 % (ATC-MC), 5.0 points apart."),
        ((0.8, 0.95), "82.0 % (COTT) to 97.0 % (ATC-MC), 15.0 points apart."),
        ((0.8, 0.81, 0.82, 0.4), "42.0 points apart (without DoC 82.0 to 84.0 %)."),
    ],
)
def test_how_far_the_methods_agree(accuracies, words):
    assert any(one.endswith(words) for one in sentences(judged(*accuracies)))
    apart = any("rely on none" in one for one in sentences(judged(*accuracies, quote=UNTOLD)))
    assert apart is (max(accuracies) - min(accuracies) > 0.1)


def test_one_method_agrees_with_nobody():
    assert not any("methods say" in one for one in sentences(judged(0.8)))


def test_what_would_settle_it():
    assert "246 labels of images drawn at random would tell the accuracy to 5 points" in sentences(judged(0.8))[-1]
    seen, shifted = (ShiftSigns(distance, distance, 0.05, 0.0) for distance in (0.02, 0.4))
    learned = Quote("COT", 0.8, 0.7, 0.9, "learned on them")
    for quote, rest, words in (
        (told(0.8), {}, "not how wrong the method is"),
        (replace(told(0.8), signs=seen), {}, "what chance makes of it"),
        (replace(told(0.8), signs=shifted), {}, "labelled shifts of other models"),
        (replace(learned, signs=shifted), {"learned_quote": learned}, "your labelled shifts"),
    ):
        assert words in sentences(judged(0.8, quote=quote, **rest))[-1]
    few = judged(0.8, target=Side("live.npz", 60, 3))
    assert sentences(few)[-1] == "So few images are best labelled, all of them."


def test_labels_of_the_target():
    found = sentences(judged(0.8, 0.7, target=Side("live.npz", 900, 3, 0.72)))
    assert found[-1].endswith("72.0 %, so that COTT is off by +8.0 points; nearest is ATC-MC (−2.0).")


def test_shares_that_moved_and_models_that_part():
    moved = judged(0.4, 0.8, shift=Shift(0.5, 0.1), agreement=(0.8, 0.2))
    words = " ".join(sentences(moved))
    assert "(total variation 0.50; chance makes 0.10)" in words and "COTT (40.0 %) sees what that costs" in words
    assert "name 20.0 % of the images alike, on the source 80.0 %: at least one of the two fails" in words
    still = " ".join(sentences(judged(0.4, 0.8, shift=Shift(0.12, 0.1), agreement=(0.8, 0.7))))
    assert "other shares" not in still and "on the source 80.0 %." in still


def test_over_time_and_the_alert():
    found = watched(judged(0.7, stretches=stretches(0.8, 0.6, 0.7)), 0.65, "2024-01-02")
    assert found.alerts == ("2024-01-02",)
    words = " ".join(sentences(found))
    assert "Over 3 chunks the accuracy runs from 60.0 % (2024-01-02) to 80.0 % (2024-01-01)." in words
    assert "Alert: below 65.0 % in 1 chunks, 2024-01-02. It takes many chunks at less than 50.0 %, or one at" in words
    assert "5 % of years of 365 chunks" in words
    assert "No alert at 10.0 %" in " ".join(sentences(watched(found, 0.1)))


def test_the_alert_of_a_target_that_is_not_cut():
    whole = judged(0.7, alert=0.8, false_alarms=0.05, alarm=Alarm(0.7, 2.5, 1.7, True, 0.766, 0.8))
    assert whole.alerts == ("live.npz",)
    assert any("Alert: the accuracy is below 80.0 %. It takes less than 76.6 %" in one for one in sentences(whole))
    healthy = replace(whole, alarm=replace(whole.alarm, standing=False, alone=-0.1))
    assert healthy.alerts == ()
    assert any("No alert at 80.0 %. It takes less than can be" in one for one in sentences(healthy))


def test_nothing_could_be_told():
    found = judged(None, stretches=stretches(0.5))
    assert sentences(found)[0].startswith("The accuracy on live.npz (900 images) cannot be told")
    assert found.spread is None and found.alerts == ()
    assert "<html" in render_judgement(found)


def shown(table):
    from rich.console import Console

    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(table)
    console.file.close()
    return console.export_text()


def test_tables_of_the_terminal():
    found = judged(0.8, 0.7, target=Side("live.npz", 900, 3, 0.72), stretches=stretches(*[0.5] * 20), classes=CLASSES)
    found = replace(found, class_images=900)
    assert re.search(r"COTT +80\.0 +\[78\.0 83\.0\] +88\.0 \[85\.0 91\.0\] +\+8\.0", shown(terminal_methods(found)))
    assert "The 15 lowest of 20 chunks" in shown(terminal_stretches(found))
    text = shown(terminal_classes(found))
    assert text.index("script") < text.index("cat ") and "dog (12)" in text  # what lost most comes first
    assert terminal_stretches(judged(0.8)) is None and terminal_classes(judged(0.8)) is None


def test_warnings_of_several_methods_are_one_line():
    found = replace(judged(), methods=(method("A", 0.5, "few images"), method("B", 0.5, "few images", "ties")))
    assert method_warnings(found) == ["A, B: few images.", "B: ties."]


@pytest.fixture
def full():
    found = judged(0.8, 0.7, None, 0.75, target=Side(HOSTILE, 900, 3, 0.72), stretches=stretches(0.8, 0.6))
    found = watched(found, 0.7, "2024-01-02")
    return replace(found, classes=CLASSES, class_images=500, warnings=("odd",), made={"command": HOSTILE})


def test_the_page_says_all_and_lets_nothing_in(full, tmp_path):
    page = build_judgement(tmp_path, full).read_text(encoding="utf-8")
    assert "<script>alert" not in page and page.count('role="img"') == 2
    for words in (
        "Note: odd.",
        "A ring: an alarm stands",
        "may rather be",
        "of a sample of 500",
        "temperature",
        "Alert: below 70.0 % in 1 chunks",
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
    assert plots(judged(None)) == {}


@pytest.mark.parametrize("name", ["crane [/bird]", "crane [bird]", "[red]"])
def test_names_that_look_like_markup_are_text_in_the_terminal(name):
    (chunk,), (own, *_) = stretches(0.5), CLASSES
    found = judged(
        classes=(replace(own, name=name, taken_for=((name, 3.0),)),),
        stretches=(replace(chunk, label=name),),
        methods=(method(name, 0.7),),
    )
    assert all(name in shown(drawn(found)) for drawn in (terminal_classes, terminal_methods, terminal_stretches))


def test_of_many_chunks_the_lowest_are_shown_and_all_are_in_the_grid():
    many = stretches(*np.linspace(0.3, 0.9, 20))
    found = judged(0.8, stretches=(*many[:-1], replace(many[-1], quote=UNTOLD)), quote=UNTOLD)
    text = shown(terminal_stretches(found))
    assert "None" not in text and "2024-01-20" in text and "2024-01-19" not in text and "15 lowest" in text
    grid = stretches_grid(found)
    assert "None" not in grid.caption and all(len(row.cells) == len(grid.columns) for row in grid.rows)
