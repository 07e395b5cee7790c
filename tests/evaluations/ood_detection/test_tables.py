"""Tables of a shift report in every form say the same numbers: the page's, the terminal's, CSV, JSON and the others."""

import csv
import io
import json
import re

import numpy as np
import pytest
from rich.console import Console

from openworld import OpenworldError
from openworld.evaluations.ood_detection.exports import export_shifts
from openworld.evaluations.ood_detection.grids import (
    kept_grid,
    labelling_grid,
    levels_grid,
    metrics_grid,
    models_grid,
    overview_grid,
    trends_grid,
)
from openworld.evaluations.ood_detection.numbers import curves, means, overall, slope
from openworld.evaluations.ood_detection.run import Judged
from openworld.evaluations.ood_detection.terminal import terminal_shifts
from openworld.report.series_style import looks

MCM = Judged("a CLIP", "MCM", shared=True)


def printed(drawn, width):
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(drawn)
    return console.file.getvalue()


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def cells_of(grid, model="a CLIP", detector="MCM"):
    """{column: cell} of a line."""
    line = next(one for one in grid.rows if [cell.text for cell in one.cells[:2]] == [detector, model])
    return dict(zip((column.title for column in grid.columns), line.cells, strict=True))


def test_a_line_per_model_and_detector(shifts):
    rows = rows_of(export_shifts(shifts, "csv"))
    assert [(row["model"], row["detector"]) for row in rows] == [(one.model, one.detector) for one in shifts.judged]
    row = rows[-1]
    assert float(row["auroc"]) == pytest.approx(overall(shifts, MCM).value, abs=1e-6)
    assert float(row["semantic_slope"]) == pytest.approx(slope(shifts.cells, MCM, "semantic").slope.value, abs=1e-6)
    assert float(row["semantic_far"]) == pytest.approx(curves(shifts.cells, MCM, "semantic")[0][-1], abs=1e-6)
    assert row["cells"] == "18" and sum(int(row["best_cells"]) for row in rows) == 18


def test_cells_one_by_one_and_none_where_there_is_none(shifts):
    rows = rows_of(export_shifts(shifts, "cells"))
    assert len(rows) == 5 * 20
    absent = [row for row in rows if row["present"] == "0"]
    assert len(absent) == 5 * 2 and {row["auroc"] + row["fpr"] + row["auroc_low"] for row in absent} == {""}
    own = rows[-1]
    assert (own["covariate_level"], own["semantic_level"], own["pictures"]) == ("3", "4", "28")
    told = shifts.told[2]["detectors"]["MCM"]["cells"][3][4]
    assert float(own["auroc"]) == pytest.approx(told["auroc"]["value"], abs=1e-5)
    assert float(own["aupr_at_prevalence"]) == pytest.approx(told["aupr_at_prevalence"], abs=1e-5)
    assert float(own["auroc_low"]) == pytest.approx(told["auroc"]["interval"][0], abs=1e-5)


def test_json_reads_back_to_the_records(shifts):
    told = json.loads(export_shifts(shifts, "json"))
    assert told["counts"] == shifts.told[0]["counts"] and told["levels"] == shifts.told[0]["levels"]
    cells = told["detectors"][0]["cells"]["auroc"]
    for seed in (0, 1):
        table = shifts.told[seed]["detectors"]["MSP"]["cells"]
        assert cells[seed] == [[cell and cell["auroc"]["value"] for cell in row] for row in table]
    assert set(told["detectors"][0]["trends"]["fpr"]["covariate"]) == {"all", "common"}


def test_markdown_and_latex_have_two_decimals(shifts):
    text = export_shifts(shifts, "markdown")
    assert f"| a CLIP | MCM | {100 * overall(shifts, MCM).value:.2f} |" in text
    assert text.count("N/A |") == 5 * 2 and f"{100 * means(shifts.cells, MCM)[1, 1]:.2f}" in text
    assert "<b>" not in text.replace("\\<b\\>", "")
    latex = export_shifts(shifts, "latex")
    assert latex.count(r"\begin{tabular}") == 6 and r"\begin{tabular}{llrrr" in latex
    body = [line for line in latex.splitlines() if not line.startswith("%")]
    assert not re.search(r"[−–→×%]", "\n".join(body))


def test_an_unknown_form_lists_the_known_ones(shifts):
    with pytest.raises(OpenworldError, match="unknown table form.*cells"):
        export_shifts(shifts, "cell")


def test_the_overview_says_what_the_csv_says(shifts):
    chosen = looks(shifts.detectors)
    told = cells_of(overview_grid(shifts, chosen))
    whole, along = overall(shifts, MCM), slope(shifts.cells, MCM, "semantic").slope
    assert told["whole pool"].text == f"{100 * whole.value:.1f}" and "leads" in told["whole pool"].css
    assert told["semantic: slope, all cells"].text == f"{100 * along.value:+.1f}"
    assert told["semantic: slope, all cells"].hint == "over pictures"
    row = rows_of(export_shifts(shifts, "csv"))[-1]
    assert (told["best in"].text, told["blind in"].text) == (row["best_cells"], row["blind_cells"])


def test_every_metric_is_a_mean_over_cells(shifts):
    told = cells_of(metrics_grid(shifts, looks(shifts.detectors)))
    own = [cell["fpr_openood"] for row in shifts.told[2]["detectors"]["MCM"]["cells"] for cell in row if cell]
    assert told["FPR@95, OOD positive"].text == f"{100 * np.mean(own):.1f}"
    best = [row.cells[3].text for row in metrics_grid(shifts, looks(shifts.detectors)).rows
            if "leads" in row.cells[3].css]  # fmt: skip
    column = [float(row.cells[3].text) for row in metrics_grid(shifts, looks(shifts.detectors)).rows]
    assert best == [f"{min(column):.1f}"]  # a false-positive rate is the better the smaller


def test_kept_removed_and_labelling(shifts):
    chosen = looks(shifts.detectors)
    told, areas = cells_of(kept_grid(shifts, chosen)), shifts.told[2]["labelling"]["detectors"]["MCM"]
    assert told["whole pool: removed"].text == f"{100 * areas['unknown']['value']:.1f}"
    own = [cell["auroc"]["value"] for row in shifts.told[2]["otherwise"]["detectors"]["MCM"]["cells"]
           for cell in row if cell]  # fmt: skip
    assert told["mean of cells: removed"].text == f"{100 * np.mean(own):.1f}"
    told = cells_of(labelling_grid(shifts, chosen))
    sizes = shifts.told[0]["labelling"]["subsets"]
    assert told[f"far, other classes ({sizes['far and unknown']:,})"].text == (
        f"{100 * areas['far and unknown']['value']:.1f}"
    )


def test_trends_levels_and_models(shifts):
    chosen = looks(shifts.detectors)
    told = cells_of(trends_grid(shifts, chosen, "aupr_in"))
    along = slope(shifts.cells, MCM, "covariate", "aupr_in", common=True)
    assert told["covariate, common: r"].value == f"{along.correlation:.6f}"
    levels = levels_grid(shifts)
    assert [cell.text for cell in levels.rows[4].cells][:4] == ["4", "0.4000", "94", "4"]
    assert [cell.text for cell in levels.rows[4].cells][4:] == ["–"] * 3  # there is no fifth level of looks
    assert [row.cells[2].text for row in models_grid(shifts).rows] == ["0 1", "0"]


def test_the_terminal_says_over_what(shifts):
    text = printed(terminal_shifts(shifts), 200)
    head, first, *_ = text.splitlines()
    assert " ".join(head.split()) == (
        "detector model AUROC semantic near → far slope common covariate near → far slope common"
    )
    assert first.split()[:3] == ["MSP", "resnet-8", f"{100 * overall(shifts, shifts.judged[0]).value:.1f}"]
    assert "[95 % over seeds and pictures or over pictures]" in " ".join(text.split())


def test_a_narrow_terminal_says_that_it_lacks_something(shifts):
    text = printed(terminal_shifts(shifts), 80)
    assert "…" not in text and max(map(len, text.splitlines())) <= 80
    assert "not all is shown" in " ".join(text.split())


def test_one_detector_is_a_table_too(one_detector):
    text = printed(terminal_shifts(one_detector), 160)
    assert text.splitlines()[0].split()[:2] == ["detector", "AUROC"] and "[95 % over pictures]" in text
