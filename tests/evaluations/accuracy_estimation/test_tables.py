"""The tables beside the main one: calibration, ablations, alignment, times; each only where a run speaks of it."""

import csv
import io

import numpy as np
import pytest

from openworld.evaluations.accuracy_estimation.ablations import (
    Pair,
    reference_grid,
    reference_uses,
    threshold_grid,
    threshold_pairs,
    threshold_verdict,
)
from openworld.evaluations.accuracy_estimation.alignment import (
    alignment_csv,
    alignment_grid,
    alignment_verdict,
    alignments,
)
from openworld.evaluations.accuracy_estimation.calibration import (
    calibration_csv,
    calibration_grid,
    calibration_verdict,
    calibrations,
    temperatures,
)
from openworld.evaluations.accuracy_estimation.grids import (
    bias_grid,
    models_grid,
    overview_grid,
    paper_grid,
    shifts_grid,
)
from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, ErrorTable
from openworld.evaluations.accuracy_estimation.run import Method
from openworld.evaluations.accuracy_estimation.times import spent, times_grid
from openworld.report.series_style import looks


@pytest.fixture(scope="module")
def table(estimates):
    return ErrorTable(estimates)


@pytest.fixture(scope="module")
def bare(handmade):
    """Two methods and nothing else recorded."""
    return ErrorTable(handmade({"a": ("one", 0.8, {"AC": 0.1, "COT": 0.3})}))


def texts(grid):
    return [[cell.text for cell in row.cells] for row in grid.rows]


def test_every_grid_is_whole(table, estimates):
    chosen = looks(estimates.labels, ["AC"])
    grids = [make(table, chosen) for make in (overview_grid, bias_grid)]
    grids += [make(table) for make in (paper_grid, shifts_grid, models_grid)]
    grids += [calibration_grid(estimates), threshold_grid(table), reference_grid(table), alignment_grid(estimates)]
    for grid in [*grids, times_grid(table)]:
        assert grid.rows and grid.caption.endswith(".")
        assert all(len(row.cells) == len(grid.columns) for row in grid.rows)
    assert len({grid.name for grid in grids}) == len(grids)


def test_the_overview_marks_the_best_and_the_incomplete(table, estimates):
    grid = overview_grid(table, looks(estimates.labels, ["AC"]))
    titles = [column.title for column in grid.columns]
    rows = {row.learner: dict(zip(titles, row.cells, strict=True)) for row in grid.rows}
    assert "leads" in rows["FRAP"]["average"].css and "leads" not in rows["AC"]["average"].css
    assert rows["ALine-S"]["average"].text.endswith("*") and "n = 88 of 120" in rows["ALine-S"]["average"].hint
    assert rows["FRAP"]["Emoji, natural"].faint.startswith("±")
    assert rows["AC"]["against AC"].text == "–" and rows["FRAP"]["against AC"].text.startswith("−")
    assert "standard deviation of the absolute errors" in grid.caption and "never marked as the best" in grid.caption


def test_the_paper_has_lines_down_and_methods_across(table, estimates):
    grid = paper_grid(table)
    assert [column.title for column in grid.columns] == ["", *estimates.labels]
    assert [row.cells[0].text for row in grid.rows] == ["Emoji, natural", "Emoji, synthetic", AVERAGE]
    assert all(row.learner == "" for row in grid.rows)  # a line is no method: nothing to pick out


def test_every_shift_has_a_line(table):
    grid = shifts_grid(table)
    assert len(grid.rows) == 3 + 4
    assert {row.cells[0].text for row in grid.rows} >= {"fog", "gaussian noise", "twemoji"}


def test_intervals_of_single_estimates_are_held_against_the_truth(estimates_of, table):
    run = estimates_of(intervals=True)
    grid = bias_grid(ErrorTable(run), {})
    assert [column.title for column in grid.columns][-2:] == ["intervals that hold the truth", "their width"]
    held = np.mean(np.abs(run.off[0]) <= 0.03 + 1e-12)
    assert grid.rows[0].cells[-2].text == f"{100 * held:.0f}\u00a0%" and grid.rows[0].cells[-1].text == "6.0"
    assert len(bias_grid(table, {}).columns) == len(grid.columns) - 2


def test_what_was_judged(table, estimates):
    rows = texts(models_grid(table))
    assert [row[0] for row in rows] == [
        f"{name}, epoch {epoch}" for name in ("convnet", "resnet-8") for epoch in (5, 10)
    ]
    assert rows[0][1:4] == ["0 1", "60.0", "1.40"]
    places = [place for place, one in enumerate(estimates.models) if one.title == "convnet, epoch 5"]
    mean = estimates.accuracy[places][:, estimates.of_row("Emoji, natural")].mean()
    assert rows[0][-2] == f"{100 * mean:.1f}"


def test_calibration_of_judged_and_reference_models(estimates):
    found = {(one.name, one.kind): one for one in calibrations(estimates)}
    assert list(found) == [
        ("base", "raw"),
        ("base", "scaled"),
        *((n, k) for n in ("CLIP", "dirichlet") for k in ("raw", "ttc")),
    ]
    values = [
        one["ece"]["base"]["scaled"] for told in estimates.told for one in told["targets"] if one["kind"] == "natural"
    ]
    assert found["base", "scaled"].errors["Emoji, natural"] == pytest.approx(np.mean(values))
    lines = [found["CLIP", "ttc"].errors[row] for row in estimates.rows]
    assert found["CLIP", "ttc"].errors[AVERAGE] == pytest.approx(np.mean(lines))
    assert temperatures(estimates)["CLIP"]["Emoji, natural"] == 0.02
    assert calibration_verdict(estimates)[0].startswith(
        "Calibrated on the unlabelled pictures, CLIP's calibration error"
    )
    assert len(list(csv.DictReader(io.StringIO(calibration_csv(estimates))))) == 3


def test_pairs_with_and_without_threshold_are_found_by_their_settings(table):
    assert threshold_pairs(table.run.methods) == (Pair("FRAP", "FRAP, no threshold"),)
    written_out = Method("a", "RAP", "CLIP", {"rule": "midpoint", "calibrate": True})
    assert threshold_pairs((written_out, Method("b", "RAP", "CLIP", {"rule": None}))) == (Pair("a", "b"),)
    assert threshold_pairs((written_out, Method("b", "RAP", "SigLIP", {"rule": None}))) == ()
    cost = [row[3] for row in texts(threshold_grid(table))]
    assert all(text.startswith("+") for text in cost)
    assert threshold_verdict(table)[0].startswith("Without threshold FRAP errs more in 2 of 2 lines, on average")


def test_uses_of_a_reference(table):
    assert reference_uses(table.run.methods) == {
        "CLIP": {
            "TTC": "FRAP",
            "τ = 0.01": "FRAP, τ = 0.01",
            "answers taken for labels": "CLIP's answers",
            "raw (RAP)": "RAP",
        },
        "dirichlet": {"TTC": "FRAP, random"},
    }
    grid = reference_grid(table)
    titles = [column.title for column in grid.columns]
    assert titles == ["reference", "answers taken for labels", "raw (RAP)", "τ = 0.01", "TTC"]
    assert texts(grid)[1][:4] == ["dirichlet", "–", "–", "–"] and "leads" in grid.rows[0].cells[-1].css


def test_alignment_and_its_gaps(estimates):
    clip, _ = alignments(estimates)
    first = estimates.told[0]["targets"][0]["alignment"]
    assert clip.gaps["base"][0, 0] == pytest.approx(first["fused with CLIP"] - first["base"])
    assert "similarity in meaning by a tree of a class" in alignment_grid(estimates).caption
    assert clip.gaps["CLIP"][0, 0] == pytest.approx(first["fused with CLIP"] - first["CLIP"])
    assert alignment_verdict(estimates)[0].startswith("Fused with CLIP, predictions lie nearer in meaning")
    rows = list(csv.DictReader(io.StringIO(alignment_csv(estimates))))
    assert len(rows) == 2 * 3 and float(rows[0]["alone"]) == pytest.approx(0.6)


def test_times_are_means_over_models(table, estimates):
    found = spent(estimates)
    assert found["AC"].fit == pytest.approx(0.01) and found["AC"].estimate == pytest.approx(0.15)
    assert texts(times_grid(table))[0][:4] == ["AC", "17.0", "10.0", "150.0"]


def test_what_a_run_does_not_speak_of_has_no_table(bare):
    run = bare.run
    assert [calibration_grid(run), threshold_grid(bare), reference_grid(bare), alignment_grid(run)] == [None] * 4
    assert times_grid(bare) is None and calibration_verdict(run) == alignment_verdict(run) == ()
    assert texts(models_grid(bare))[0][2:6] == ["90.0", "–", "–", "–"]


def test_alignment_may_be_unknown(estimates_of):
    run = estimates_of(aligned=False)
    assert alignments(run) == () and alignment_grid(run) is None
    assert alignment_verdict(run) == ("Semantic alignment is not known: no tree holds these classes.",)
