"""IS-OOD's figures, drawn from a run that nobody ran: each holds the numbers of its metric, beside printed slopes."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from openworld.evaluations.rows import ROWS
from openworld.ood.by_shift.metrics import CONFIDENCE, SCORE
from openworld.papers import published_numbers
from openworld.papers.results import PaperRun
from openworld.reproduction.figures import FIGURES
from openworld.results import Result, Results, Value

METRIC = {"5": "auroc", "12": "fpr_out_positive", "16": "aupr_in"}


@pytest.fixture(scope="module")
def drawn(shifts):
    """A function that draws a figure from the run of `shifts`."""
    run = PaperRun(Path(shifts.run_folder.folder))
    return lambda number: FIGURES["is-ood"][number].draw((run,))


def cells(shifts, label, metric):
    """The numbers of the model with one seed by cell, without those that are N/A."""
    rows = shifts.results.where(entity=f"{label} of a CLIP", metric=metric, id_classes="kept")
    found = {(row.where["covariate_level"], row.where["semantic_level"]): row.value.value
             for row in rows if "covariate_level" in row.where}  # fmt: skip
    return {place: value for place, value in found.items() if value is not None}


@pytest.mark.parametrize("number", METRIC)
def test_a_map_holds_the_metric_of_every_cell(drawn, shifts, number):
    key, expected = METRIC[number], cells(shifts, "MCM", METRIC[number])
    rows = [row for row in drawn(number).rows() if row["panel"] == "MCM of a CLIP" and row[key] is not None]
    assert {(row["covariate_level"], row["semantic_level"]): row[key] for row in rows} == pytest.approx(expected)


@pytest.mark.parametrize(("number", "table", "metric"), [("6", "1", "AUROC"), ("15", "5", "FPR@95")])
def test_curves_stand_beside_printed_slopes(drawn, shifts, number, table, metric):
    figure = drawn(number)
    assert {chart.title.partition(",")[0] for chart in figure.charts} == {"semantic", "covariate"}
    key = {"AUROC": "auroc", "FPR@95": "fpr_out_positive", "AUPR": "aupr_in"}[metric]
    values = np.full((4, 5), np.nan)
    for place, value in cells(shifts, "MSP", key).items():
        values[place] = value
    slope = abs(np.polyfit(range(5), np.nanmean(values, axis=0), 1)[0])
    (printed,) = [
        each.value
        for each in published_numbers("is-ood", table)
        if (each.method, each.setting, each.metric) == ("MSP", "semantic shift", f"sensitivity({metric})")
    ]
    (sentence,) = [text for text in figure.caption if "to semantic shift, ours" in text]
    assert re.search(rf"\(printed in Table {table}\).*MSP of a CLIP {100 * slope:.2f} \({printed:.2f}\)", sentence)


def test_marginal_images_with_prediction_and_confidence(make_units, write_run, drawn):
    assert drawn("2").charts == () and "no such images" in drawn("20").caption[0]
    (facts, tables, kept), *others = make_units(models={"resnet-8": {"MSP": (0.1, 0.0)}}, seeds=(0,))
    place = {"class": "<b>bun</b>", "taken_for": "a rather long name", "image": 7, "known": 3}
    numbers = [Result("resnet-8", metric, Value(value), place) for metric, value in ((CONFIDENCE, 0.987), (SCORE, 0.9))]
    rows = Results.from_parquet(kept[ROWS])
    kept |= {ROWS: replace(rows, rows=(*rows, *numbers)).to_parquet()}
    names = ("images/marginal/7.png", "images/marginal/known-3.png")
    kept |= dict.fromkeys(names, kept["images/0-0/7.png"])
    folder = write_run([(facts, tables, kept), *others])
    figure = FIGURES["is-ood"]["20"].draw((PaperRun(folder),))
    (chart,) = figure.charts
    assert chart.cells[0, 0].text == "98.7" and list(chart.column_labels) == ["<b>bun</b>\nas a rather long name"]
    assert [len(chart.cells[row, 0].images) for row in (1, 2)] == [1, 1]
    (row,) = [row for row in figure.rows() if "confidence" in row]
    assert (row["class"], row["taken_for"], row["confidence"]) == ("<b>bun</b>", "a rather long name", 0.987)
