"""A table of chosen metrics: entities in rows, numbers of the run as a whole, intervals or deviations behind them."""

import pytest

from openworld.core.errors import OpenworldError
from openworld.report.render import latex_table, markdown_table
from openworld.report.result_table import result_table
from openworld.results import METRICS, Interval, Result, Results, Value

AUC, AUROC, IMAGES = METRICS["openworld_auc"], METRICS["auroc"], METRICS["images"]


def value(number):
    return Value(number, (Interval(number - 0.1, number + 0.1, "images", 50),), deviation=0.02)


def results(settings=("a",)):
    rows = [
        Result(entity, metric, value(number), {"setting": setting, "task": f"on {setting}"})
        for setting in settings
        for entity, number in (("CoOp", 0.5), ("GMoP", 0.6))
        for metric in (AUC, AUROC)
    ]
    rows += [Result("CoOp", AUC, value(0.3), {"setting": settings[0], "task": f"on {settings[0]}", "mix": 1})]
    return Results("recognition", (*rows, Result("", IMAGES, Value(50.0), {"side": "base"})))


def lines(table):
    return [line for line in markdown_table(table).splitlines() if line.startswith("|")]


def test_entities_are_rows_and_metrics_columns():
    table = lines(result_table(results(), ["openworld_auc", "auroc"], label="learner"))
    assert table[0] == "| learner | OpenworldAUC | AUROC |"
    assert table[2:] == [
        "| CoOp | 50.00 \\[40.00 60.00\\] | 50.00 \\[40.00 60.00\\] |",
        "| GMoP | **60.00** \\[50.00 70.00\\] | **60.00** \\[50.00 70.00\\] |",
    ]


@pytest.mark.parametrize(
    ("show", "cell", "caption"),
    [("interval", "[40.00 60.00]", "over images"), ("deviation", "$\\pm$~2.00", "over seeds"), ("", "50.00 &", "")],
)
def test_what_stands_behind_a_number_is_chosen_and_said(show, cell, caption):
    tex = latex_table(result_table(results(), ["openworld_auc", "auroc"], show=show))
    assert cell in tex and caption in tex.splitlines()[1]
    assert ("[" in tex.split("midrule")[1]) == (show == "interval")


def test_several_places_are_told_apart_by_as_few_words_as_needed():
    table = result_table(results(("a", "b")), ["openworld_auc"])
    assert [row.label for row in table.rows] == ["CoOp, a", "GMoP, a", "CoOp, b", "GMoP, b"]
    assert not table.bold, "nothing is the best across places"


def test_a_place_is_chosen():
    table = result_table(results(("a", "b")), ["openworld_auc"], where={"setting": "b"})
    assert [row.label for row in table.rows] == ["CoOp", "GMoP"]


def test_metrics_without_a_common_place_each_keep_their_own():
    other = Result("CoOp", METRICS["accuracy"], value(0.7), {"level": 3})
    both = Results("dynamic", (Result("CoOp", AUC, value(0.5)), other))
    assert lines(result_table(both, ["openworld_auc", "accuracy"], show=""))[2:] == [
        "| CoOp | 50.00 | – |",
        "| CoOp, 3 | – | 70.00 |",
    ]


@pytest.mark.parametrize(
    ("metrics", "options", "named"),
    [
        (["openworld"], {}, "openworld_auc"),
        ("openworld_auc", {}, "expected a list"),
        ([], {}, "expected a list"),
        (["auroc"], {"show": "±"}, "expected 'interval', 'deviation'"),
        (["auroc"], {"where": {"setting": "c"}}, "has no auroc in {'setting': 'c'}"),
    ],
)
def test_what_cannot_be_shown_is_refused(metrics, options, named):
    with pytest.raises(OpenworldError, match=named):
        result_table(results(), metrics, **options)
