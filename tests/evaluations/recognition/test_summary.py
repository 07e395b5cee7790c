"""Seeds joined into rows, rows into tables: against the numbers of the records themselves."""

import json
from dataclasses import replace

import numpy as np
import pytest

from openworld import metrics
from openworld.evaluations.recognition.exports import export
from openworld.evaluations.recognition.outcome import Outcome, load
from openworld.evaluations.recognition.page import render
from openworld.evaluations.recognition.summary import MISS_GRID, summarise
from openworld.evaluations.recognition.terminal import caption


def outcome(learner="GMoP", seed=1, *, shots=16, tuned=512, **told):
    """A record of four images, told by hand: OpenworldAUC 3/4, all named right."""
    images = {
        "id": np.arange(4),
        "side": np.array(["base", "base", "new", "new"], object),
        "label": np.array([0, 0, 1, 1]),
        "correct": np.ones(4, bool),
        "score": np.array([3.0, 1.0, 2.0, 0.0]) + 0.01 * seed,
        "group": np.arange(4),
    }
    described = {"task": "emoji", "split": "redrawn", "train_domain": "a", "test_domain": "b", "backbone": "embedded"}
    value = {"openworld_auc": {"value": 0.75, "standard_error": None, "reason": None}, "n_base_classes": 1}
    numbers = {"base_accuracy": 1.0, "new_accuracy": 1.0, "n_new_classes": 1}
    own = {"learner": learner, "seed": seed, "shots": shots, "tuned_parameters": tuned}
    return Outcome(described | value | numbers | own | told, images)


def test_a_row_is_the_mean_of_its_seeds(small_summary):
    row = small_summary.tables[0].rows[3]
    values = row.per_seed["openworld_auc"]
    assert row.learner == "GMoP" and row.seeds == (1, 2)
    assert row.openworld_auc == pytest.approx(np.mean(values))
    assert sum(row.points_lost.values()) == pytest.approx(1 - row.openworld_auc)
    assert row.over_images[0] < row.openworld_auc < row.over_images[1]
    half = 12.7062 * np.std(values, ddof=1) / np.sqrt(2)  # Student's t with one degree of freedom
    assert row.over_seeds == pytest.approx((max(0, np.mean(values) - half), min(1, np.mean(values) + half)), abs=1e-5)


def test_hm_of_the_means_stands_beside_the_mean_hm():
    accuracies = [(1.0, 0.5), (0.5, 1.0)]
    hms = [2 * a * b / (a + b) for a, b in accuracies]
    outcomes = [
        outcome(seed=seed, base_accuracy=a, new_accuracy=b, harmonic_mean=hm)
        for seed, ((a, b), hm) in enumerate(zip(accuracies, hms, strict=True))
    ]
    row = summarise(outcomes).tables[0].rows[0]
    assert row.harmonic_mean_of_means == pytest.approx(0.75)
    assert row.mean["harmonic_mean"] == pytest.approx(2 / 3)


def test_the_mean_curve_has_the_mean_area(small_summary):
    for row in small_summary.tables[0].rows:
        area = np.trapezoid(row.hit_rates, MISS_GRID)
        assert area == pytest.approx(row.openworld_auc, abs=0.01)


def test_what_names_no_shots_and_tunes_nothing_joins_every_table():
    runs = [outcome("zero-shot", shots=None, tuned=0), outcome(shots=4), outcome(shots=16)]
    tables = summarise(runs).tables
    assert [[row.learner for row in table.rows] for table in tables] == [["zero-shot", "GMoP"]] * 2
    assert [table.title for table in tables] == ["4 shots", "16 shots"]


def test_tables_are_titled_by_what_tells_them_apart():
    runs = [outcome(), outcome(test_domain="a", split="same-drawing")]
    assert [table.title for table in summarise(runs).tables] == ["redrawn · a → b", "same-drawing · a"]


def test_seeds_on_other_images_get_a_mean_but_no_interval():
    first, second = outcome(seed=1), outcome(seed=2)
    second = replace(second, images=dict(second.images) | {"id": np.arange(4, 8)})
    row = summarise([first, second]).tables[0].rows[0]
    assert row.openworld_auc == 0.75 and row.over_images is None and row.over_seeds is None


def test_a_missing_number_is_missing_in_the_mean():
    row = summarise([outcome(seed=1, auroc=0.5), outcome(seed=2, auroc=None)]).tables[0].rows[0]
    assert row.mean["auroc"] is None and row.mean["ece"] is None


def test_averages_are_only_of_learners_run_everywhere():
    summary = summarise([outcome(shots=4), outcome(shots=16), outcome("CoOp", shots=16)])
    assert summary.averages == {"GMoP": 0.75} and summary.learners == ("GMoP", "CoOp")


def test_the_interval_is_the_metrics_own(small_summary):
    row = small_summary.tables[0].rows[0]
    assert row.over_images == metrics.average([one.result for one in row.outcomes]).interval()


def test_times_are_means_of_one_fit_and_one_image_and_none_where_one_is_lost():
    first, second = (replace(outcome(seed=seed), seconds={"fit": 2.0 * seed, "score": 0.4}) for seed in (1, 2))
    row = summarise([first, second]).tables[0].rows[0]
    assert row.fit_seconds == 3.0 and row.score_seconds == pytest.approx(0.1)  # of four images
    row = summarise([first, replace(second, seconds={})]).tables[0].rows[0]
    assert row.fit_seconds is None and row.score_seconds is None


@pytest.mark.parametrize(
    ("had", "words"), [((6, 6), "6 shots (16 asked for)"), ((1, 6), "1 to 6 shots (16 asked for)"), ((16, 16), None)]
)
def test_fewer_training_pictures_than_shots_are_said(small_run, had, words):
    told = {"training_images": dict(zip(("fewest", "most"), had, strict=True))}
    run = load(small_run)
    run = replace(run, outcomes=tuple(replace(one, metrics={**one.metrics, **told}) for one in run.outcomes))
    (table,), page = run.summary.tables, render(run)
    assert table.shots == (words or "16 shots") and table.shots in page
    assert (f"Trained on {words}." in caption(table)) == (words is not None)
    assert json.loads(export(run.summary, "json"))["tables"][0]["training_images"] == told["training_images"]
