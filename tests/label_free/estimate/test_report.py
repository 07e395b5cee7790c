"""What is said of an accuracy estimate: sentences, rows, tables, page and plots, of every kind of finding."""

import re
from dataclasses import replace

import pytest

from openworld.estimators.quote.decision import Quote
from openworld.estimators.quote.learned_shifts import LearnedShifts, LeftOut
from openworld.estimators.quote.shift_signs import ShiftSign, ShiftSigns
from openworld.label_free.estimate.accuracy_estimate import (
    AccuracyEstimate,
    Alarm,
    ClassEstimate,
    ClassShift,
    MethodEstimate,
    Period,
    ScoredSet,
)
from openworld.label_free.estimate.report import report
from openworld.label_free.estimate.results import results_of
from openworld.label_free.estimate.verdict import sentences
from openworld.testing import check_table
from openworld.testing._reports import _shows_every_number_once

HOSTILE = "</script><script>alert(1)</script>"


def method(name, accuracy, *warnings):
    interval = None if accuracy is None else (accuracy - 0.02, accuracy + 0.03)
    details = {"temperature": 1.25, "n_target": 900}
    return MethodEstimate(
        name, "what it is", accuracy, interval, warnings, details=details, on_source=(0.88, 0.85, 0.91)
    )


def quote_of(accuracy, method="COTT"):
    return Quote(method, accuracy, accuracy - 0.02, accuracy + 0.03, "it errs least")


PAIRS = (0.8, 0.85), (0.8, 0.95)
NO_NUMBER = Quote(None, None, 0.2, 0.9, "the methods part")


def estimate_of(*accuracies, **changes):
    names = ("COTT", "ATC-MC", "AC", "DoC", "IM")
    methods = tuple(method(name, accuracy) for name, accuracy in zip(names, accuracies, strict=False))
    quote = quote_of(accuracies[0]) if accuracies and accuracies[0] is not None else NO_NUMBER
    found = AccuracyEstimate(ScoredSet("val.npz", 500, 3, 0.9), ScoredSet("live.npz", 900, 3), quote, methods)
    return replace(found, **changes)


def chunks_of(*accuracies):
    def chunk(day, accuracy):
        methods, quote = {"COTT": accuracy, "AC": accuracy + 0.1}, quote_of(accuracy)
        return Period(day - 1, f"2024-01-{day:02}", 100 * day, 100, None, methods, quote, ShiftSigns((), 1.0))

    return tuple(chunk(day, accuracy) for day, accuracy in enumerate(accuracies, 1))


def watched(found, alert, *standing):
    """With an alert, and alarms on these chunks; of those that cannot be estimated the middle counts."""
    alarms = [
        Alarm(one.quote.accuracy or 0.55, 3.0 if one.label in standing else 1.0, 2.0, one.label in standing, 0.4, 0.5)
        for one in found.chunks
    ]
    chunks = tuple(replace(one, alarm=alarm) for one, alarm in zip(found.chunks, alarms, strict=True))
    return replace(found, alert=alert, false_alarms=0.05, chunks=chunks)


CLASSES = (
    ClassEstimate("cat", 60, 50.0, 0.75, (0.6, 0.85), 0.9, 0.8, 0.3, (("dog", 12.0),)),
    ClassEstimate(HOSTILE, 40, 50.0, 0.5, (0.3, 0.6), 0.4, 0.9, 0.3, (("cat", 20.0),)),
    ClassEstimate("owl", 0, 0.0, None, None, None, None, 0.4),
)


def test_no_number_is_an_answer():
    found = estimate_of(0.8, 0.4, quote=NO_NUMBER)
    first, why, *rest = sentences(found)
    assert first == "The accuracy on live.npz (900 images) cannot be estimated; it may lie between 20.0 % and 90.0 %."
    assert why == "Why: the methods part."
    assert rest[-1].startswith("97 labels of images drawn at random would give it to within 10 points, 385 to within 5")
    assert found.unknown == ("live.npz",) and found.alerts == replace(found, alert=0.99).alerts == ()
    for true, words in ((0.5, "50.0 %, within the bounds"), (0.1, "10.0 %, outside the bounds")):
        assert words in sentences(replace(found, target=ScoredSet("live.npz", 900, 3, true)))[-1]


SIGNS = ShiftSigns((ShiftSign("outputs", 0.4, 0.0),), 0.06)
LEARNED = Quote("COT", 0.8, 0.7, 0.9, "learned on them", SIGNS, "mild")
WHOLE = estimate_of(0.7, alert=0.8, false_alarms=0.05, alarm=Alarm(0.7, 2.5, 1.7, True, 0.766, 0.8))
CUT = watched(estimate_of(0.7, chunks=chunks_of(0.8, 0.6, 0.7)), 0.65, "2024-01-02")
SAID = {
    "246 labels of images drawn at random would give the accuracy to within 5 points": estimate_of(0.8),
    "not how wrong the method is": estimate_of(0.8),
    "the fall that so many images would not show": estimate_of(
        0.8, quote=replace(quote_of(0.8), signs=SIGNS, rule="no shift")
    ),
    "labelled shifts of other models": estimate_of(0.8, quote=replace(quote_of(0.8), signs=SIGNS, rule="mild")),
    "your labelled shifts": estimate_of(0.8, quote=LEARNED, learned_quote=LEARNED),
    "So few images are best labelled, all of them.": estimate_of(0.8, target=ScoredSet("live.npz", 60, 3)),
    "Estimated accuracy on live.npz (900 images): 80.0 % by COTT, without an interval.": estimate_of(
        0.8, quote=replace(quote_of(0.8), low=0.8, high=0.8)
    ),
    "72.0 %, so that COTT is off by +8.0 points; nearest is ATC-MC (−2.0).": estimate_of(
        0.8, 0.7, target=ScoredSet("live.npz", 900, 3, 0.72)
    ),
    "(total variation 0.50; chance makes 0.10)": estimate_of(0.4, 0.8, shift=ClassShift(0.5, 0.1)),
    "Over 3 chunks the accuracy runs from 60.0 % (2024-01-02) to 80.0 % (2024-01-01).": CUT,
    "Accuracy alarm: below 65.0 % in 1 chunk, 2024-01-02. It is raised by one chunk below 40.0 % or by many chunks "
    "below 50.0 %, and by chance in 5 % of years of 365 chunks": CUT,
    "No accuracy alarm at 10.0 %": watched(CUT, 0.1),
    "Accuracy alarm: it is below 80.0 %. It is raised by an accuracy below 76.6 %": WHOLE,
    "No accuracy alarm at 80.0 %. It is raised by no accuracy that so few images can show": replace(
        WHOLE, alarm=replace(WHOLE.alarm, standing=False, alone=-0.1)
    ),
    "The source itself is below the alert": replace(WHOLE, alert=0.95),
}
NOT_SAID = {
    "methods say": estimate_of(0.8),  # one agrees with nobody
    "total variation": estimate_of(0.4, 0.8, shift=ClassShift(0.12, 0.1)),
    "The source itself is below the alert": replace(WHOLE, alert=0.85),
}


def test_what_sentences_say_of_every_kind_of_finding():
    for words, found in SAID.items():
        assert words in " ".join(sentences(found))
    for words, found in NOT_SAID.items():
        assert words not in " ".join(sentences(found))
    assert CUT.alerts == ("2024-01-02",) and WHOLE.alerts == ("live.npz",)


@pytest.fixture
def full():
    found = estimate_of(0.8, 0.7, None, 0.75, target=ScoredSet(HOSTILE, 900, 3, 0.72), chunks=chunks_of(0.8, 0.6))
    found = watched(found, 0.7, "2024-01-02")
    return replace(found, classes=CLASSES, class_images=500, warnings=("odd",), made={"command": HOSTILE})


def test_charts_are_files_where_there_is_something_to_draw(full):
    found = {name: text.decode() for name, text in report(full).files.items()}
    assert set(found) == {"methods.svg", "over-time.svg"} and "var(" not in "".join(found.values())
    assert report(estimate_of(0.8)).files["over-time.svg"] is None
    assert set(report(estimate_of(None)).files.values()) == {None}
    assert "<script>alert" not in report(full).html()


def test_what_sentences_say_is_what_rows_hold(full):
    of_none = replace(full, quote=NO_NUMBER, target=replace(full.target, accuracy=None))
    for found in (full, of_none, replace(full, alert=None, chunks=chunks_of(0.8)), estimate_of(0.8, 0.81, 0.82, 0.4)):
        numbers = {row.metric.write(row.value.value) for row in results_of(found)} | {f"{100 * (found.alert or 0):.1f}"}
        for row in results_of(found):
            numbers |= {row.metric.write(end) for span in row.value.intervals for end in (span.low, span.high)}
        for sentence in sentences(found):
            numerals = re.findall(r"([−+]?\d+\.\d)(?: %| points h| points;)", sentence)
            assert set(numerals) <= numbers, sentence
    assert any("3 methods say 72.0 % (ATC-MC) to 82.0 % (COTT), 10.0 points" in each for each in sentences(full))
    agree = "3 methods say 82.0 % (COTT) to 84.0 % (AC), they agree (2.0 points apart)."
    assert sentences(estimate_of(0.8, 0.81, 0.82))[3].endswith(agree)
    apart = [any("trust none" in one for one in sentences(estimate_of(*pair, quote=NO_NUMBER))) for pair in PAIRS]
    assert apart == [False, True]


def test_every_number_stands_once_in_tables_that_say_the_same_in_every_form(full):
    shift = LeftOut("fog-1", "fog", 200, 0.7, 0.65)
    learned = LearnedShifts("DoC", {"DoC": 1.2}, 0.9, {"DoC": 0.0}, {"DoC": 0.01}, (shift,))
    signs = ShiftSigns((ShiftSign("outputs", 0.001, 0.1), ShiftSign("confidences", 0.3, 0.0, -0.021)), 0.06)
    quote = replace(full.quote, signs=signs, rule="mild")
    alarm = Alarm(0.7, 2.5, 1.7, True, 0.766, 0.8)
    for found in (
        replace(full, learned=learned, quote=quote),
        estimate_of(0.7, alert=0.8, false_alarms=0.05, alarm=alarm),
    ):
        answer = report(found)
        _shows_every_number_once(answer)
        for table in answer.terminal_tables:
            check_table(table)
    numbered = results_of(replace(full, learned=learned)).where(images="labelled shift")
    assert {(row.where["shift"], row.where["shift_name"]) for row in numbered} == {(1, "fog-1")}
    speaking = report(replace(full, quote=quote)).tables["signs"]
    assert [row.cells[-1] for row in speaking.rows] == ["a shift", None]
    assert "a fall of less than 6 points would not be seen" in speaking.caption


def test_tables_of_chunks_and_classes_name_what_cannot_be_told_and_what_was_lost():
    one, other = chunks_of(0.8, 0.6)
    chunks = (one, replace(other, unlabelled=NO_NUMBER))
    found = watched(estimate_of(0.7, chunks=chunks, classes=CLASSES), 0.75, other.label)
    assert found.unknown == ("2024-01-02",) and "of 1 it cannot be estimated" in " ".join(sentences(found))
    tables = report(found).tables
    chunks, classes = tables["over-time-table"], tables["classes-table"]
    assert chunks.rows[1].cells[-1] == "alarm, cannot be estimated, counts as 55.0"
    cell = chunks.cell(1, [column.heading for column in chunks.columns].index("quoted")).content
    assert cell.value is None and (cell.over().low, cell.over().high) == (0.2, 0.9)
    assert [row.label for row in classes.rows] == [HOSTILE, "cat", "owl"] and "dog (12)" in classes.rows[1].cells
    plot = report(found).files["over-time.svg"].decode()
    assert 'class="alarm"' in plot and "cannot be estimated, 20.0 to 90.0 %, alarm, 100 images" in plot
    nothing = estimate_of(None, chunks=(replace(other, unlabelled=NO_NUMBER),))
    assert "The accuracy can be estimated in none of 1 chunks." in sentences(nothing)
    assert "<html" in report(nothing).html()


def test_warnings_of_several_methods_are_one_line():
    found = replace(estimate_of(), methods=(method("A", 0.5, "few images"), method("B", 0.5, "few images", "ties")))
    assert report(replace(found, warnings=("ties", "odd"))).notes == ("A, B: few images.", "B: ties.", "Note: odd.")
