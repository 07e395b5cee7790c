"""Records of accuracy estimation as arrays: what is missing stays missing, and other runs are not taken for one."""

import numpy as np
import pytest

import openworld
from openworld import OpenworldError
from openworld.label_free.benchmark.arrays import Condition, Method, Model, RunArrays
from openworld.label_free.benchmark.results import threshold_pairs
from openworld.results import RunFolder


def test_rows_become_arrays(estimates_folder, arrays, targets):
    read = RunArrays(RunFolder.read(estimates_folder))
    assert read.estimated.shape == (11, 8, 15) and read.accuracy.shape == (8, 15)
    np.testing.assert_array_equal(read.estimated, arrays.estimated)
    np.testing.assert_array_equal(read.accuracy, arrays.accuracy)
    assert read.lines == ("Emoji, natural", "Emoji, synthetic", "Average")
    assert read.seeds == (0, 1) and read.baseline == "AC" and read.references == ("CLIP", "dirichlet")
    target = targets[3][4]
    assert read.accuracy[3, 4] == target.accuracy and read.estimated[0, 3, 4] == 1 - target.estimates["AC"]["error"]


def test_a_single_line_has_no_average_and_what_a_method_could_not_say_is_nan(smallest, arrays):
    assert RunArrays(smallest).lines == ("Emoji, natural",)
    silent, place = np.isnan(arrays.estimated), arrays.labels.index("ALine-S")
    assert silent[place].any() and not np.delete(silent, place, axis=0).any()


def test_signed_errors_are_above_zero_where_a_method_overestimates(handmade):
    arrays = RunArrays(handmade({"a": ("row", 0.6, {"AC": 0.1, "DoC": 0.7})}))
    np.testing.assert_allclose(arrays.signed_error[:, 0, 0], [0.3, -0.3])


def test_models_may_have_seen_different_conditions(handmade):
    arrays = RunArrays(handmade({"a": ("row", 0.6, {"AC": 0.1})}, {"b": ("row", 0.5, {"AC": 0.2})}))
    assert [condition.name for condition in arrays.conditions] == ["a", "b"]
    assert np.isfinite(arrays.accuracy).tolist() == [[True, False], [False, True]]


def test_severities_of_one_corruption_are_one_shift_and_checkpoints_one_training():
    fog = [Condition("row", f"fog {severity}", "synthetic", "emoji", None, "fog", severity) for severity in (1, 5)]
    assert fog[0].shift == fog[1].shift == "fog"
    assert Condition("row", "clay", "natural", "emoji", "clay").shift == "emoji, clay"
    assert Model("resnet-8", 0, 5, 0).training == Model("resnet-8", 0, 10, 1).training


def test_pairs_with_and_without_threshold(arrays):
    assert threshold_pairs(arrays.methods) == (("FRAP", "FRAP, no threshold"),)
    written_out = Method("a", "RAP", "CLIP", {"rule": "midpoint", "calibrate": True})
    bare = Method("b", "RAP", "CLIP", {"rule": None})
    assert threshold_pairs((written_out, bare)) == (("a", "b"),)
    assert threshold_pairs((written_out, Method("b", "RAP", "SigLIP", {"rule": None}))) == ()


def test_records_of_another_evaluation_are_refused(tmp_path):
    openworld.score({"side": ["base", "new"] * 4, "score": np.arange(8.0), "correct": [1] * 8}, tmp_path / "run")
    with pytest.raises(OpenworldError, match="of another kind"):
        RunArrays(RunFolder.read(tmp_path / "run"))
