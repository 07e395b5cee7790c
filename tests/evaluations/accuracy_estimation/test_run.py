"""Records of accuracy estimation as arrays: what is missing stays missing, and other runs are not taken for one."""

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.evaluations.accuracy_estimation.run import Condition, Model, load_estimates
from openworld.report.records import protocol_of
from openworld.runs import RunStore


def test_records_become_arrays(estimates_folder, estimates):
    run = load_estimates(estimates_folder)
    assert run.error.shape == (11, 8, 15) and run.accuracy.shape == run.images.shape == (8, 15)
    np.testing.assert_array_equal(run.error, estimates.error)
    np.testing.assert_array_equal(run.accuracy, estimates.accuracy)
    assert run.rows == ("Emoji, natural", "Emoji, synthetic") and run.seeds == (0, 1) and run.yardstick == "AC"
    assert run.references == ("CLIP", "dirichlet") and run.provenance[0]["command"][1] == "run"
    target = run.told[3]["targets"][4]
    assert run.accuracy[3, 4] == target["accuracy"] and run.error[0, 3, 4] == target["estimates"]["AC"]["error"]


def test_what_a_method_could_not_say_is_nan_and_warned_of(estimates):
    silent = np.isnan(estimates.error)
    place = estimates.labels.index("ALine-S")
    assert silent[place].any() and not np.delete(silent, place, axis=0).any()
    np.testing.assert_array_equal(estimates.warned, silent)


def test_off_is_above_zero_where_a_method_is_too_hopeful(handmade):
    run = handmade({"a": ("row", 0.6, {"AC": 0.1, "DoC": 0.7})})
    np.testing.assert_allclose(run.off[:, 0, 0], [0.3, -0.3])


def test_models_may_have_seen_different_conditions(handmade):
    run = handmade({"a": ("row", 0.6, {"AC": 0.1})}, {"b": ("row", 0.5, {"AC": 0.2})})
    assert [one.name for one in run.conditions] == ["a", "b"]
    assert run.images.tolist() == [[10, 0], [0, 10]] and np.isnan(run.accuracy[0, 1])


def test_severities_of_one_corruption_are_one_shift_and_checkpoints_one_training():
    fog = [Condition("row", f"fog {severity}", "synthetic", "emoji", None, "fog", severity) for severity in (1, 5)]
    assert fog[0].shift == fog[1].shift == "fog"
    assert Condition("row", "clay", "natural", "emoji", "clay").shift == "emoji, clay"
    assert Model("resnet-8", "resnet-8", 0, 5, 0).training == Model("resnet-8", "resnet-8", 0, 10, 1).training


def test_intervals_are_read(estimates_of):
    run = estimates_of(intervals=True, styles=("clay",), corruptions=())
    assert np.isfinite(run.low).all() and (run.low < run.high).all()


def test_other_runs_are_told_apart(estimates_folder, small_run, tmp_path):
    assert protocol_of(estimates_folder) == "accuracy-estimation"
    with pytest.raises(OpenworldError, match="no record of estimated accuracies"):
        load_estimates(small_run)
    RunStore(tmp_path).create({}, {"protocol": "accuracy-estimation"}, {})
    with pytest.raises(OpenworldError, match="no record of estimated accuracies"):
        load_estimates(tmp_path)
