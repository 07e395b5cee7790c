"""Results of accuracy estimation: a case by hand, a brute-force twin, what is missing, and every single estimate."""

import numpy as np
import pytest
from made_units import find_comparison

import openworld
from openworld import OpenworldError
from openworld.label_free.benchmark import crossed_bootstrap
from openworld.label_free.benchmark.arrays import AVERAGE, RunArrays
from openworld.label_free.benchmark.cards import CLASSIFIERS
from openworld.label_free.benchmark.crossed_bootstrap import CrossedBootstrap
from openworld.label_free.benchmark.results import ALL, best, is_complete, read_results, threshold_pairs
from openworld.metrics import holm
from openworld.results import RunFolder

NUMBERS = ("absolute_error", "median_absolute_error", "largest_absolute_error")
NATURAL, SYNTHETIC = "Emoji, natural", "Emoji, synthetic"


def test_a_case_by_hand(handmade):
    found, arrays = read_results(
        handmade(
            {
                "a": ("one", 0.8, {"AC": 0.1, "COT": 0.2}),  # off by +.1 and 0
                "b": ("one", 0.5, {"AC": 0.2, "COT": 0.6}),  # off by +.3 and -.1
                "c": ("two", 0.4, {"AC": 0.6, "COT": 0.3}),  # off by 0 and +.3
            }
        )
    )

    def value(label, metric, line):
        return found.value(label, metric, **arrays.place(line)).value

    assert [value("AC", metric, "one") for metric in (*NUMBERS, "bias", "estimates")] == pytest.approx(
        [0.2, 0.2, 0.3, 0.2, 2]
    )
    assert found.value("AC", "absolute_error", images="one").deviation == pytest.approx(np.std([0.1, 0.3], ddof=1))
    assert found.value("AC", "absolute_error", images="two").deviation is None
    assert value("COT", "bias", "one") == pytest.approx(-0.05)
    assert value("AC", "absolute_error", AVERAGE) == pytest.approx((0.2 + 0.0) / 2), "of lines, not of conditions"
    assert [best(found, arrays, line) for line in ("one", "two", AVERAGE)] == [("COT",), ("AC",), ("AC",)]
    assert [found.value(label, "lines_won").value for label in ("AC", "COT")] == [1, 1]


def test_a_brute_force_twin(found, arrays, targets):
    for row in arrays.rows:
        for label in arrays.labels:
            sizes = [
                abs(target.estimates[label].accuracy - target.accuracy)
                for of_model in targets
                for target in of_model
                if target.condition.row == row and target.estimates[label].error is not None
            ]
            numbers = [found.value(label, metric, images=row).value for metric in NUMBERS]
            assert numbers == pytest.approx([np.mean(sizes), np.median(sizes), max(sizes)])
            assert found.value(label, "estimates", images=row).value == len(sizes)


def test_means_know_their_seeds_and_both_their_intervals(found, arrays):
    result = found.result("FRAP", "absolute_error")
    assert result.seeds == (0, 1) and result.value.value == pytest.approx(np.mean(result.per_seed))
    assert [interval.over for interval in result.value.intervals] == ["pairs of a shift and a training", "seeds"]


def test_a_method_that_was_silent_is_never_the_best(found, arrays):
    place = {"images": SYNTHETIC}
    assert not is_complete(found, "ALine-S", place) and is_complete(found, "FRAP", place)
    assert found.value("ALine-S", "estimates", images=SYNTHETIC).value < 96
    assert found.value("", "estimates_expected", images=SYNTHETIC).value == 96
    assert found.value("ALine-S", "absolute_error", images=SYNTHETIC).value is not None
    assert "ALine-S" not in best(found, arrays, SYNTHETIC) + best(found, arrays, AVERAGE)


def test_a_method_that_never_spoke_has_no_number_but_a_reason(handmade):
    found, arrays = read_results(handmade({"a": ("one", 0.8, {"AC": 0.1, "ALine-S": None})}))
    value = found.value("ALine-S", "absolute_error")
    assert value.value is None and "no estimate" in value.reason and best(found, arrays, "one") == ("AC",)
    assert find_comparison(found.comparisons, "ALine-S", "AC").reason == "one of the two gave no estimate"


def test_every_method_is_tested_against_the_baseline_in_every_line_and_against_the_best(found, arrays):
    for line in arrays.lines:
        others = {"AC", "FRAP"} if line == AVERAGE else {"AC"}
        pairs = [(test.entity, test.other) for test in found.comparisons if test.where == arrays.place(line)]
        assert sorted(pairs) == sorted((name, other) for other in others for name in arrays.labels if name != other)


def test_every_estimate_stands_beside_the_truth(found, arrays, targets):
    estimates = found.where(metric="estimated_accuracy")
    assert len(estimates) == 11 * 8 * 15
    silent = [result for result in estimates if result.value.value is None]
    assert len(silent) == 32 and {result.entity for result in silent} == {"ALine-S"}
    assert len(found.where(metric="warnings")) == 32
    first = targets[0][0]
    place = arrays.conditions[0].place | arrays.models[0].place | {"seed": arrays.models[0].seed}
    assert found.value("", "true_accuracy", **place).value == first.accuracy
    assert found.value("AC", "estimated_accuracy", **place).value == first.estimates["AC"].accuracy


def test_intervals_of_single_estimates_are_compared_with_the_truth(make_estimates):
    found, arrays = read_results(make_estimates(intervals=True, models=("convnet",), epochs=(5,)))
    held = np.mean(np.abs(arrays.signed_error[0]) <= 0.03 + 1e-12)
    assert found.value("AC", "interval_coverage").value == pytest.approx(held)
    assert found.value("AC", "interval_width").value == pytest.approx(0.06)


def test_calibration_of_judged_and_reference_models(found, arrays, targets):
    every = [target for of_model in targets for target in of_model]
    scaled = [target.ece[CLASSIFIERS]["scaled"] for target in every if target.condition.kind == "natural"]
    assert found.value(
        CLASSIFIERS, "expected_calibration_error", images=NATURAL, calibration="scaled"
    ).value == pytest.approx(np.mean(scaled))
    lines = [
        found.value("CLIP", "expected_calibration_error", calibration="TTC", **arrays.place(line)).value
        for line in arrays.lines
    ]
    assert lines[2] == pytest.approx(np.mean(lines[:2]))
    whole = found.value("CLIP", "expected_calibration_error", images=ALL, calibration="TTC").value
    assert whole == pytest.approx(np.mean([target.ece["CLIP"]["TTC"] for target in every]))
    assert found.value("CLIP", "temperature", images=NATURAL).value == 0.02


def test_gains_of_fusing(found, targets):
    scores = [target.alignment for of_model in targets for target in of_model if target.condition.kind == "natural"]
    gain = found.value("fused with CLIP", "semantic_alignment_gain", images=NATURAL, baseline=CLASSIFIERS).value
    assert gain == pytest.approx(np.mean([score["fused with CLIP"] - score[CLASSIFIERS] for score in scores]))
    share = found.value("fused with CLIP", "share_of_gains", images=NATURAL, baseline="CLIP").value
    assert share == pytest.approx(np.mean([score["fused with CLIP"] > score["CLIP"] for score in scores]))


def test_times_are_means_over_models(found):
    assert found.value("AC", "fit_seconds").value == pytest.approx(0.01)
    assert found.value("AC", "estimate_seconds").value == pytest.approx(0.15)
    assert found.value("COTT", "times_fastest").value == pytest.approx(0.25 / 0.15)


def test_models_are_means_over_their_seeds(found, arrays):
    place = {"model": "convnet", "epoch": 5}
    assert found.value("", "source_accuracy", **place).value == pytest.approx(0.6)
    assert found.value("", "temperature", **place).value == pytest.approx(1.4)
    models = [at for at, model in enumerate(arrays.models) if model.title == "convnet, epoch 5"]
    mean = arrays.accuracy[models][:, arrays.chosen(row=NATURAL)].mean()
    assert found.value("", "true_accuracy", images=NATURAL, **place).value == pytest.approx(mean)


def test_rows_become_arrays(estimates_folder, arrays, targets):
    read = RunArrays(RunFolder.read(estimates_folder))
    assert read.estimated.shape == (11, 8, 15) and read.accuracy.shape == (8, 15)
    np.testing.assert_array_equal(read.estimated, arrays.estimated)
    np.testing.assert_array_equal(read.accuracy, arrays.accuracy)
    assert read.lines == ("Emoji, natural", "Emoji, synthetic", "Average")
    assert read.seeds == (0, 1) and read.baseline == "AC" and read.references == ("CLIP", "dirichlet")
    target = targets[3][4]
    assert read.accuracy[3, 4] == target.accuracy and read.estimated[0, 3, 4] == target.estimates["AC"].accuracy


def test_a_single_line_has_no_average_and_what_a_method_could_not_say_is_nan(smallest, arrays):
    assert RunArrays(smallest).lines == ("Emoji, natural",)
    silent, place = np.isnan(arrays.estimated), arrays.labels.index("ALine-S")
    assert silent[place].any() and not np.delete(silent, place, axis=0).any()


def test_models_may_have_seen_different_conditions(handmade):
    arrays = RunArrays(handmade({"a": ("row", 0.6, {"AC": 0.1})}, {"b": ("row", 0.5, {"AC": 0.2})}))
    assert [condition.name for condition in arrays.conditions] == ["a", "b"]
    assert np.isfinite(arrays.accuracy).tolist() == [[True, False], [False, True]]


def test_pairs_with_and_without_threshold(arrays):
    assert threshold_pairs(arrays.methods) == (("FRAP", "FRAP, no threshold"),)
    by_clip = {"estimator": "RAP", "reference": "CLIP"}
    written_out = by_clip | {"settings": {"rule": "midpoint", "calibrate": True}}
    bare = by_clip | {"settings": {"rule": None}}
    assert threshold_pairs({"a": written_out, "b": bare}) == (("a", "b"),)
    assert threshold_pairs({"a": written_out, "b": bare | {"reference": "SigLIP"}}) == ()


def test_records_of_another_evaluation_are_refused(tmp_path):
    openworld.score({"side": ["base", "new"] * 4, "score": np.arange(8.0), "correct": [1] * 8}, tmp_path / "run")
    with pytest.raises(OpenworldError, match="of another kind"):
        RunArrays(RunFolder.read(tmp_path / "run"))


SYNTHETIC, NATURAL = "Emoji, synthetic", "Emoji, natural"


def drawn_from(run):
    return CrossedBootstrap(RunArrays(run))


def sizes(bootstrap, place=0):
    """Absolute errors of a method."""
    return np.abs(bootstrap.arrays.signed_error[place])


@pytest.fixture(scope="module")
def bootstrap(estimates):
    return drawn_from(estimates)


def test_replicates_are_means_over_what_was_drawn(bootstrap, arrays):
    values = sizes(bootstrap)
    found = bootstrap.replicates(values, SYNTHETIC)
    chosen = arrays.chosen(row=SYNTHETIC)
    for draw in range(5):
        counts = np.outer(bootstrap._models[draw], bootstrap._conditions[draw])[:, chosen]
        twin = np.repeat(values[:, chosen].ravel(), counts.ravel().astype(int)).mean()
        assert found[draw] == pytest.approx(twin)
    assert len(found) == crossed_bootstrap.REPLICATES


def test_shifts_and_trainings_are_drawn_whole(bootstrap, arrays):
    for draw in range(20):
        for group in ("fog", "snow"):
            same = [place for place, condition in enumerate(arrays.conditions) if condition.corruption == group]
            assert len(set(bootstrap._conditions[draw, same])) == 1
        for model in arrays.models:
            same = [place for place, other in enumerate(arrays.models) if other.training == model.training]
            assert len(set(bootstrap._models[draw, same])) == 1
    assert bootstrap.shifts(AVERAGE) == 7 and bootstrap.shifts(NATURAL) == 3 and bootstrap.trainings == 4
    assert bootstrap.degrees_of_freedom(AVERAGE) == 3 and bootstrap.degrees_of_freedom(NATURAL) == 2


def test_it_widens_with_fewer_shifts(handmade):
    def width(count):
        errors = np.random.default_rng(3).uniform(0.1, 0.5, count).tolist()
        bootstrap = drawn_from(
            handmade({f"style {at}": ("one", 0.9, {"AC": error}) for at, error in enumerate(errors)})
        )
        (interval,) = bootstrap.intervals(sizes(bootstrap), "one")
        return interval.width

    assert width(80) < 0.5 * width(6)


def test_nothing_to_draw_is_no_interval_and_no_test(smallest, handmade):
    alone = drawn_from(smallest)
    assert alone.intervals(sizes(alone), NATURAL) == ()
    test = drawn_from(handmade({"a": ("one", 0.8, {"AC": 0.1, "COT": 0.3})})).compare("COT", "AC", "one")
    assert test.p is None and test.difference == pytest.approx(0.0) and "nothing to draw" in test.reason


def test_one_training_is_held_fixed(make_estimates):
    bootstrap = drawn_from(make_estimates(models=("convnet",), seeds=(0,)))
    assert (bootstrap._models == 1).all() and bootstrap.degrees_of_freedom(AVERAGE) == 5
    assert bootstrap.intervals(sizes(bootstrap), AVERAGE)


def test_a_method_that_errs_less_is_shown_to(bootstrap):
    (interval,) = bootstrap.intervals(sizes(bootstrap), AVERAGE)
    assert interval.low < bootstrap.mean(sizes(bootstrap), AVERAGE) < interval.high and interval.n == 7 * 4
    test = bootstrap.compare("FRAP", "AC", AVERAGE)
    assert test.better and test.difference < -0.1
    other = bootstrap.compare("AC", "FRAP", AVERAGE)
    assert other.worse and other.p == pytest.approx(test.p)


def test_all_tests_against_one_method_are_corrected_together(bootstrap, arrays):
    tests = bootstrap.compare_all("AC", AVERAGE)
    assert [test.entity for test in tests] == [label for label in arrays.labels if label != "AC"]
    raw = [bootstrap.compare(test.entity, "AC", AVERAGE).p for test in tests]
    assert [test.p for test in tests] == pytest.approx(holm(raw))


def test_the_same_numbers_are_no_evidence(make_estimates):
    twice = {"AC": ("AC", None, {}, 0.5, 0.0), "DoC": ("DoC", None, {}, 0.5, 0.0)}
    test = drawn_from(make_estimates(methods=twice)).compare("DoC", "AC", AVERAGE)
    assert test.p is None and "zero variance" in test.reason
