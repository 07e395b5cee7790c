"""Other mixes of base and new images on the page: means over seeds, intervals of the expected number, tests, CSV."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from openworld.evaluations.recognition.class_imbalance import other_mixes
from openworld.evaluations.recognition.imbalance_summary import SHRUNK, imbalance, ratios, variation
from openworld.evaluations.recognition.imbalance_tables import (
    imbalance_grid,
    mixes_csv,
    terminal_mixes,
    variation_csv,
    variation_grid,
)
from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.page import render
from openworld.evaluations.recognition.summary import summarise
from openworld.metrics import average, openworld_auc
from openworld.metrics.thinning import kept_share
from openworld.report.series_style import looks


def mixed(outcome, factor=3.0):
    """The outcome with what a record of ours says of other mixes; classes of several sizes."""
    kept = np.random.default_rng(0).permutation(len(outcome.images["id"]))[:150]
    images = {name: np.asarray(column)[np.sort(kept)] for name, column in outcome.images.items()}
    found = other_mixes(images, factor=factor, ratios=(2.0, 1.0, 0.5), resamples=5, seed=outcome.metrics["seed"])
    return replace(outcome, images=images, metrics=dict(outcome.metrics) | found)


@pytest.fixture(scope="module")
def run(small_run):
    run = load(small_run)
    return replace(run, outcomes=tuple(map(mixed, run.outcomes)))


@pytest.fixture(scope="module")
def summary(run):
    return summarise(run.outcomes)


@pytest.fixture(scope="module")
def table(summary):
    return summary.tables[0]


@pytest.mark.parametrize("direction", SHRUNK)
def test_numbers_are_means_of_the_records_and_intervals_those_of_all_draws(table, direction):
    found = imbalance(table, direction)
    assert (found.factor, found.resamples) == (3, 5)
    for row, one in zip(table.rows, found.learners, strict=True):
        told = [outcome.metrics["imbalance"][direction] for outcome in row.outcomes]
        assert one.learner == row.learner
        assert one.openworld_auc == pytest.approx(np.mean([each["openworld_auc"] for each in told]))
        assert one.deviation**2 == pytest.approx(np.mean([each["standard_deviation"] ** 2 for each in told]))
        expected = average([by_hand(outcome, found.side) for outcome in row.outcomes])
        assert expected.value == pytest.approx(np.mean([each["expected"]["value"] for each in told]))
        assert one.over_images == expected.interval() and one.over_images[0] < expected.value < one.over_images[1]


def by_hand(outcome, side):
    groups = dict(zip(("base_groups", "new_groups"), outcome.groups, strict=True))
    rows = outcome.is_base if side == "base" else ~outcome.is_base
    weights = {f"{side}_weights": kept_share(outcome.images["label"][rows], 3)}
    return openworld_auc(*outcome.samples, **groups, **weights)


def test_factor_one_gives_the_natural_interval_and_the_natural_tests(small_run):
    table = summarise([mixed(outcome, factor=1.0) for outcome in load(small_run).outcomes]).tables[0]
    found = imbalance(table, "forward")
    for row, one in zip(table.rows, found.learners, strict=True):
        assert one.over_images == pytest.approx(row.over_images) and one.deviation == 0
    for pair, test in table.comparisons.items():
        assert found.comparisons[pair].p == pytest.approx(test.p)
        assert found.compare(*pair).difference == pytest.approx(-found.compare(*reversed(pair)).difference)
    assert found.compare("CoOp", "CoOp") is None


def test_variation_is_the_mean_over_the_seeds(table):
    row = table.rows[1]
    told = [outcome.metrics["ratio_variation"]["auroc"] for outcome in row.outcomes]
    assert variation(row)["auroc"] == pytest.approx([np.mean([one[of] for one in told]) for of in ("mean", "variance")])
    assert ratios(table) == (2.0, 1.0, 0.5)


def test_records_without_other_mixes_have_no_table(small_summary):
    table, chosen = small_summary.tables[0], looks(small_summary.learners)
    assert imbalance(table, "forward") is None and variation(table.rows[0]) == {}
    assert imbalance_grid(table, chosen, "a") is variation_grid(table, chosen, "b") is terminal_mixes(table) is None
    assert mixes_csv([table]).count("\n") == variation_csv([table]).count("\n") == 1


def test_captions_say_what_everything_is_over(table, summary):
    chosen = looks(summary.learners)
    told = imbalance_grid(table, chosen, "a").caption
    for words in (
        "means of 5 draws and of 2 seeds",
        "every new class keeps one image in 3",
        "[95 % over images",
        "Holm",
    ):
        assert words in told
    assert f"(n = {table.counts['groups']})" in told
    assert "3 ratios" in variation_grid(table, chosen, "b").caption


def test_every_row_has_a_cell_in_every_column(table, summary):
    for grid in (imbalance_grid, variation_grid):
        found = grid(table, looks(summary.learners), "a")
        assert [row.learner for row in found.rows] == [row.learner for row in table.rows]
        assert {len(row.cells) for row in found.rows} == {len(found.columns)}


def test_the_terminal_shows_the_same_numbers(table):
    drawn = terminal_mixes(table)
    assert len(drawn.rows) == 4 and len(drawn.heads) == 9 and "Fwd" in drawn.caption


def test_the_csv_has_three_mixes_a_learner(table):
    header, *lines = csv.reader(io.StringIO(mixes_csv([table])))
    assert [line[1:3] for line in lines[:3]] == [
        ["zero-shot", "as given"],
        ["zero-shot", "forward"],
        ["zero-shot", "backward"],
    ]
    forward = dict(zip(header, lines[1], strict=True))
    assert float(forward["openworld_auc"]) == imbalance(table, "forward").learners[0].openworld_auc
    assert (forward["base_images"], forward["draws"]) == (str(table.counts["base_images"]), "5")
    header, line, *_ = csv.reader(io.StringIO(variation_csv([table])))
    mean, variance = variation(table.rows[0])["openworld_auc"]
    assert list(map(float, line[2:4])) == [mean, variance]


def test_the_page_has_both_tables_with_their_downloads_and_bands(run):
    page = render(run)
    assert 'id="imbalance-1"' in page and 'download="imbalance-1.csv"' in page and 'download="all-ratios-1.csv"' in page
    assert page.count("<polygon") == 2 * 4 and "5 draws; the band is one standard deviation" in page


def test_one_learner_is_compared_with_nobody(run):
    alone = summarise([one for one in run.outcomes if one.metrics["learner"] == "GMoP"]).tables[0]
    grid = imbalance_grid(alone, looks(["GMoP"]), "a")
    assert len(grid.rows[0].cells) == len(grid.columns) and "against" not in grid.columns[-1].title
