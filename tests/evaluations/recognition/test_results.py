"""Seeds joined into results, learners into settings: against the numbers of the records themselves."""

from dataclasses import replace

import numpy as np
import pytest
from made_units import recognition_outcome

from openworld import metrics
from openworld.evaluations.recognition.results import join
from openworld.results import METRICS, Result, Value


def outcome(learner="GMoP", seed=1, *, rows=(), shots=16, tuned=512, **fields):
    """A record of four images, by hand: OpenworldAUC 3/4, all named right."""
    images = {
        "id": np.arange(4),
        "side": np.array(["base", "base", "new", "new"], object),
        "label": np.array([0, 0, 1, 1]),
        "correct": np.ones(4, bool),
        "score": np.array([3.0, 1.0, 2.0, 0.0]) + 0.01 * seed,
        "group": np.arange(4),
    }
    place = {"task": "emoji", "split": "redrawn", "train_domain": "a", "test_domain": "b"}
    own = {"learner": learner, "seed": seed, "shots": shots, "tuned_parameters": tuned}
    return recognition_outcome(images, rows, classnames=("ant", "bee"), **place | own | fields)


def measured(learner="GMoP", reason="", **numbers):
    return [Result(learner, METRICS[name], Value(value, reason=reason)) for name, value in numbers.items()]


def test_the_interval_over_images_is_the_metrics_own(small_results):
    (one,) = small_results.settings
    average = metrics.average([outcome.test.result for outcome in one.outcomes["CoOp"]])
    for key in ("openworld_auc", "auroc", "base_accuracy", "correct_auroc", "wrong_new"):
        interval = one.value("CoOp", key).over("images")
        assert (interval.low, interval.high) == average.estimate(key).interval()


def test_hm_of_the_means_stands_beside_the_mean_hm():
    accuracies = [(1.0, 0.5), (0.5, 1.0)]
    hms = [2 * a * b / (a + b) for a, b in accuracies]
    outcomes = [
        outcome(seed=seed, rows=measured(base_accuracy=a, new_accuracy=b, harmonic_mean=hm))
        for seed, ((a, b), hm) in enumerate(zip(accuracies, hms, strict=True))
    ]
    (one,) = join(outcomes).settings
    assert one.value("GMoP", "harmonic_mean_of_means").value == pytest.approx(0.75)
    assert one.value("GMoP", "harmonic_mean").value == pytest.approx(2 / 3)


def test_what_names_no_shots_and_tunes_nothing_joins_every_setting():
    found = join([outcome("zero-shot", shots=None, tuned=0), outcome(shots=4), outcome(shots=16)])
    assert [one.learners for one in found.settings] == [("zero-shot", "GMoP")] * 2
    assert [one.title for one in found.settings] == ["4 shots", "16 shots"]
    assert found.settings[0].untuned == ("zero-shot",) and found.baselines == ("zero-shot",)


def test_settings_are_titled_by_what_tells_them_apart():
    found = join([outcome(), outcome(test_domain="a", split="same-drawing")])
    assert [one.title for one in found.settings] == ["redrawn · a → b", "same-drawing · a"]


def test_seeds_on_other_images_get_a_mean_but_no_interval():
    first, second = outcome(seed=1), outcome(seed=2)
    images = dict(second.test.images) | {"id": np.arange(4, 8)}
    (one,) = join([first, replace(second, test=replace(second.test, images=images))]).settings
    assert one.auc("GMoP") == 0.75 and one.value("GMoP", "openworld_auc").intervals == ()


def test_a_missing_number_is_missing_in_the_mean_and_says_why():
    reason = "there are no new images"
    (one,) = join([outcome(seed=1), outcome(seed=2, rows=measured(openworld_auc=None, reason=reason))]).settings
    assert one.value("GMoP", "openworld_auc").value is None and one.value("GMoP", "expected_calibration_error").reason
    assert one.value("GMoP", "openworld_auc").reason == reason


def test_averages_are_only_of_learners_run_everywhere():
    found = join([outcome(shots=4), outcome(shots=16), outcome("CoOp", shots=16)])
    means = found.results().where(setting="mean over 2 settings")
    assert [(row.entity, row.value.value) for row in means] == [("GMoP", 0.75)] and found.learners == ("GMoP", "CoOp")


def test_times_are_means_of_one_fit_and_one_image_and_none_where_one_is_lost():
    first, second = (replace(outcome(seed=seed), seconds={"fit": 2.0 * seed, "score": 0.4}) for seed in (1, 2))
    (one,) = join([first, second]).settings
    assert one.value("GMoP", "fit_seconds").value == 3.0
    assert one.value("GMoP", "score_seconds").value == pytest.approx(0.1)  # of four images
    (one,) = join([first, replace(second, seconds={})]).settings
    assert one.value("GMoP", "fit_seconds").reason == one.value("GMoP", "score_seconds").reason == "no time was kept"


@pytest.mark.parametrize(
    ("had", "words"),
    [((6, 6), "6 shots (16 asked for)"), ((1, 6), "1 to 6 shots (16 asked for)"), ((16, 16), "16 shots")],
)
def test_fewer_training_images_than_shots_are_said(had, words):
    results = join([outcome(training_images=dict(zip(("fewest", "most"), had, strict=True)))])
    (one,) = results.settings
    assert one.shots == words
    counts = {row.metric.key: row.value.value for row in results.results().where(entity="")}
    assert (counts["fewest_training_images"], counts["most_training_images"]) == had
    sides = results.results().where(entity="", metric="images")
    assert [(row.where["side"], row.value.value) for row in sides] == [("base", 2), ("new", 2)]
