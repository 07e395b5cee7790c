"""What the figures draw, against plain computations from made-up outcomes and curves."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest
from paper_runs import LEVELS, METHODS, outcome, played, recognised, run, scores, varied

from openworld.papers import TABLES, published_numbers
from openworld.papers.results import PaperRun
from openworld.reproduction.figures import FIGURES


def plain_parts(images):
    """AUROC, OpenworldAUC and HM by loops over pairs of images."""
    rows = list(zip(*(images[name] for name in ("side", "score", "correct")), strict=True))
    base, new = ([row[1:] for row in rows if row[0] == side] for side in ("base", "new"))
    wins = [((b > n) + 0.5 * (b == n), right and also) for b, right in base for n, also in new]
    sides = [np.mean([right for _, right in side]) for side in (base, new)]
    return {
        "AUROC": float(np.mean([win for win, _ in wins])),
        "OpenworldAUC": float(np.mean([win * both for win, both in wins])),
        "HM": float(2 * sides[0] * sides[1] / (sides[0] + sides[1])),
    }


def drawn(paper, number, *runs):
    figure = FIGURES[paper][number].draw(runs)
    assert json.loads(json.dumps(figure.rows())) == figure.rows(), "plain values, as --json and the CSV write them"
    return figure


def means(dataset, metric):
    return np.mean([plain_parts(scores(seed, dataset))[metric] for seed in (1, 2)])


def printed(table, dataset, method, metric):
    (number,) = (
        each.in_data
        for each in published_numbers("openworldauc", table)
        if (each.dataset, each.method, each.metric) == (dataset, method, metric)
    )
    return number


def test_the_trade_off_of_every_data_set_has_ours_and_the_printed_place():
    figure = drawn("openworldauc", "7", *recognised())
    rows = {(row["panel"], row["method"]): row for row in figure.rows()}
    assert set(rows) == {(data, name) for data in ("Flowers102", "DTD") for name in ("CLIP", "CoOp", "GMoP")}
    row = rows["DTD", "CoOp"]
    assert row["auroc"] == pytest.approx(means("dtd", "AUROC"))
    accuracies = [np.mean([np.mean(scores(seed, "dtd")["correct"][part]) for seed in (1, 2)])
                  for part in (slice(0, 30), slice(30, 50))]  # fmt: skip
    assert row["harmonic_mean"] == pytest.approx(2 / sum(1 / each for each in accuracies))
    assert row["printed_auroc"] == printed("8-9", "DTD", "CoOp", "AUROC") == 0.7603
    (chart,) = (chart for chart in figure.charts if chart.title == "DTD")
    assert chart.series["CoOp"].spread[1] == (row["printed_harmonic_mean"], row["printed_auroc"])


def test_the_averaged_trade_off_is_the_mean_over_the_same_data_sets_on_both_sides():
    figure = drawn("openworldauc", "5a", *recognised())
    rows = {row["method"]: row for row in figure.rows()}
    assert [chart.title for chart in figure.charts] == ["mean of 2 data sets"]
    ours = np.mean([means(data, "AUROC") for data in ("dtd", "oxford_flowers")])
    assert rows["GMoP"]["auroc"] == pytest.approx(ours)
    theirs = np.mean([printed("8-9", data, "GMoP", "AUROC") for data in ("DTD", "Flowers102")])
    assert rows["GMoP"]["printed_auroc"] == pytest.approx(theirs)


def test_on_other_data_the_printed_numbers_have_panels_of_their_own():
    runs = [run("recognition-emoji", *(outcome(name, 1, "emoji") for name in ("zero-shot", "GMoP")), datasets={})]
    figure = drawn("openworldauc", "5a", *runs)
    assert [chart.title for chart in figure.charts] == [
        "emoji",
        "printed, mean of 11 data sets",
        *(f"{name}, printed" for name in TABLES["openworldauc"]["8-9"].datasets),
    ]
    assert not any(cloud.spread for cloud in figure.charts[0].clouds.values())


def test_costs_are_ours_against_the_tuned_parameters():
    figure = drawn("openworldauc", "5b", *recognised())
    rows = {row["method"]: row for row in figure.rows()}
    assert (rows["CLIP"]["tuned_parameters"], rows["CoOp"]["tuned_parameters"]) == (0, 512)
    ours = np.mean([means(data, "OpenworldAUC") for data in ("dtd", "oxford_flowers")])
    assert rows["CoOp"]["openworld_auc"] == pytest.approx(ours)
    assert rows["CoOp"]["printed_tuned_parameters"] == 8192
    theirs = np.mean([printed("2", data, "CoOp", "OpenworldAUC") for data in ("DTD", "Flowers102")])
    assert rows["CoOp"]["printed_openworld_auc"] == pytest.approx(theirs)


def test_miss_hit_curves_enclose_the_area_that_is_openworldauc():
    figure = drawn("openworldauc", "3", *recognised())
    (chart,) = (chart for chart in figure.charts if chart.title == "DTD")
    images = scores(1, "dtd")
    assert list(chart.series) == ["CLIP", "CoOp", "GMoP"] and len(figure.charts) == 2
    line = chart.series["CoOp"]
    assert np.trapezoid(line.y, line.x) == pytest.approx(means("dtd", "OpenworldAUC"), abs=0.01)
    assert line.y[-1] == pytest.approx(np.mean([scores(seed, "dtd")["correct"][30:].mean() for seed in (1, 2)]))
    assert images["side"][30] == "new"


def test_profiles_stand_beside_those_of_table_14():
    figure = drawn("openworldauc", "9", *recognised(("oxford_flowers",)))
    assert [chart.title for chart in figure.charts] == ["Flowers102, ours", "Flowers102, printed"]
    left, right = figure.charts
    assert list(left.series) == ["GMoP"] and left.y.covers == right.y.covers, "methods of Table 14; one range"
    accuracy = np.mean([scores(seed, "oxford_flowers")["correct"][:30].mean() for seed in (1, 2)])
    ours, theirs = (chart.series["GMoP"].y for chart in figure.charts)
    assert ours == pytest.approx([accuracy, ours[1], means("oxford_flowers", "AUROC")])
    assert theirs == [printed("14", "Flowers102", "GMoP", part) for part in ("BaseAcc", "NewAcc", "AUROC")]


def test_a_sweep_of_partitions_is_a_path_over_k_with_the_printed_value_across():
    entries = {"GMoP": 3, "GMoP, K = 2": 2, "GMoP, K = 5": 5}
    outcomes = [each for name, count in entries.items() for each in varied(name, {"detectors": count, "alpha": 0.5})]
    figure = drawn("openworldauc", "6a", run("partitions-oxford_flowers", *outcomes))
    (chart,) = figure.charts
    line = chart.series["GMoP"]
    assert list(line.x) == [2, 3, 5] and line.y[1] == pytest.approx(means("oxford_flowers", "OpenworldAUC"))
    assert (chart.title, chart.x.title) == ("Flowers102", "detector prompts K")
    assert chart.references[0].value == printed("2", "Flowers102", "GMoP", "OpenworldAUC")


def test_a_sweep_over_shots_has_a_line_per_method_and_rings_at_the_printed_numbers():
    shots = [each for count in (1, 2, 16) for each in varied("CoOp", {}, "dtd", shots=count)]
    figure = drawn("openworldauc", "11", run("shots-dtd", *shots))
    (chart,) = figure.charts
    line = chart.series["CoOp"]
    assert list(line.x) == [1, 2, 16] and line.rings[0][1] == printed("2", "DTD", "CoOp", "OpenworldAUC")
    assert [row["printed"] for row in figure.rows()] == [None, None, line.rings[0][1]]
    drawing = ElementTree.fromstring(figure.panels[0][1])
    rings = [mark for mark in drawing.iter() if mark.get("class") == "ring"]
    height = float(drawing.get("height"))  # an axis that ended at the lines would draw them above or below it
    assert rings and all(0 < float(mark.get("cy")) < height for mark in rings)


def test_the_ablations_of_the_mixture_stand_below_one_another():
    outcomes = [*varied("GMoP", {}), *varied("GMoP single prompt", {"single_prompt": True})]
    figure = drawn("openworldauc", "13", run("mixture-oxford_flowers", *outcomes))
    rows = {row["method"]: row for row in figure.rows()}
    assert rows["GMoP"]["openworld_auc"] == pytest.approx(means("oxford_flowers", "OpenworldAUC"))
    assert rows["GMoP"]["low"] < rows["GMoP"]["openworld_auc"] < rows["GMoP"]["high"]


@pytest.fixture(scope="module")
def aged(tmp_path_factory):
    return played(tmp_path_factory.mktemp("aged"))


def test_openpls_curves_are_the_means_over_seeds_in_the_papers_order(aged):
    figure = drawn("openpl", "1", PaperRun(aged, {"dtd": "DTD", "food101": "Food101"}, METHODS))
    assert [chart.title for chart in figure.charts] == ["DTD", "Food101"]
    rows = [row for row in figure.rows() if (row["data_set"], row["method"]) == ("DTD", "CoOp")]
    assert [row["accuracy"] for row in rows] == pytest.approx([0.8, 0.6, 0.4])
    assert [(row["lowest_seed"], row["highest_seed"]) for row in rows] == [(0.7, 0.9), (0.6, 0.6), (0.3, 0.5)]
    assert [row["level"] for row in rows] == list(LEVELS)
    (area,) = (
        number.in_data
        for number in published_numbers("openpl", "12")
        if (number.method, number.metric) == ("CoOp", "AUC")
    )
    assert {row["printed_area"] for row in rows} == {area} and rows[0]["area"] == pytest.approx(0.6)
    assert "of 4 areas under them that its tables print" in figure.caption[-1]


def test_openpls_curves_on_other_data_are_beside_no_printed_area(aged):
    figure = drawn("openpl", "1", PaperRun(aged, {}, METHODS))
    assert [chart.title for chart in figure.charts] == ["food101", "dtd"]
    assert {row["printed_area"] for row in figure.rows()} == {None} and "nothing is subtracted" in figure.caption[-1]
