"""Results equal those of the units, counted again one by one; what is N/A counts nowhere; differences are paired."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import linregress, t

from openworld import OpenworldError
from openworld.evaluations.finished_runs import read_report
from openworld.metrics import auroc, holm, paired_test
from openworld.ood.by_shift.errors import JointErrors, errors_key, errors_table, read_errors
from openworld.ood.by_shift.metrics import AUROC, slope_of
from openworld.ood.by_shift.results import DetectionRun, area_test, difference, image_error, read_results
from openworld.results import RunFolder

KEPT = {"id_classes": "kept"}
MODELS = {"resnet-8": {"KNN": (0.2, 0.0)}, "a CLIP": {"MSP": (0.5, 0.0), "MCM": (0.6, 0.0)}}
TWO = {"resnet-8": {"MSP": (0.1, -0.05), "KNN": (0.2, 0.0)}, "a CLIP": {"MCM": (0.6, 0.0)}}


def along(axis, cells="all cells"):
    return KEPT | {"axis": axis, "cells": cells}


@cache
def read_run(folder):
    return DetectionRun.read(RunFolder.read(folder))


def run_of(story):
    return read_run(story.run_folder.folder)


def units_of(story, model):
    return run_of(story).models[model]


def numbers(unit, label, key="auroc"):
    """float[R, C] straight from the rows of a unit; NaN where a cell is N/A."""
    table = np.full((4, 5), np.nan)
    for row in unit.rows.where(entity=label, metric=key, **KEPT):
        if "covariate_level" in row.where and row.value.value is not None:
            table[row.where["covariate_level"], row.where["semantic_level"]] = row.value.value
    return table


def test_slopes_are_fitted_per_seed_and_err_over_seeds_and_images(shifts):
    found = shifts.results.result("MSP of resnet-8", "auroc_slope", **along("semantic"))
    units = units_of(shifts, "resnet-8")
    curves = [np.nanmean(numbers(unit, "MSP"), axis=0) for unit in units]
    each = [np.polyfit(range(5), curve, 1)[0] for curve in curves]
    assert found.per_seed == pytest.approx(each)
    spreads = [unit.errors[errors_key(slope_of(AUROC), along("semantic"))].error({"MSP": 1}) for unit in units]
    parts = [(each[0] - each[1]) ** 2 / 4, np.mean([one.standard_error for one in spreads]) ** 2]
    degrees = min(one.degrees_of_freedom for one in spreads)
    freedom = sum(parts) ** 2 / (parts[0] ** 2 + parts[1] ** 2 / degrees)
    half, interval = t.ppf(0.975, freedom) * np.sqrt(sum(parts)), found.value.over("seeds and images")
    assert (interval.low, interval.high) == pytest.approx((np.mean(each) - half, np.mean(each) + half))
    correlation = shifts.results.value("MSP of resnet-8", "auroc_correlation", **along("semantic")).value
    assert correlation == pytest.approx(np.mean([np.corrcoef(range(5), curve)[0, 1] for curve in curves]))


def test_errors_of_numbers_are_a_table_of_the_unit():
    joint = JointErrors(("MSP", "a [b]"), np.array([[4.0, 1.0], [1.0, 2.0]]), np.array([9.0, np.nan]))
    errors = {errors_key(AUROC, {}): joint, errors_key(AUROC, {"b": "1", "a": "2"}): joint}
    again = read_errors(errors_table(errors))[errors_key(AUROC, {"a": "2", "b": "1"})]
    assert again.detectors == joint.detectors and np.array_equal(again.covariance, joint.covariance)
    assert again.error({"MSP": 1}).standard_error == 2 and again.error({"MSP": 1, "a [b]": -1}).standard_error is None
    assert read_errors(errors_table({})) == {}


def test_other_metrics_have_the_interval_of_the_line(shifts):
    curve = np.nanmean(numbers(units_of(shifts, "a CLIP")[0], "MCM", "fpr_in_positive"), axis=1)
    line = linregress(range(4), curve)
    half = t.ppf(0.975, 2) * line.stderr
    slope = shifts.results.value("MCM of a CLIP", "fpr_in_positive_slope", **along("covariate"))
    interval = slope.over("levels")
    assert (interval.low, interval.high) == pytest.approx((line.slope - half, line.slope + half)) and interval.n == 4
    assert shifts.results.value("MSP of resnet-8", "fpr_in_positive_slope", **along("covariate")).over("seeds")


def test_slopes_are_tested_together_on_common_cells(shifts):
    tests = [one for one in shifts.results.comparisons if one.metric.key == "auroc_slope"]
    assert len(tests) == 2 * 5 and {one.where["cells"] for one in tests} == {"common cells"}
    assert tests[0].entity == "MSP of resnet-8" and tests[0].where["axis"] == "semantic"


def test_where_id_classes_are_removed_the_whole_pool_lacks_them(shifts, make_run):
    story = read_report(make_run(id_kept=False, models=MODELS, seeds=(0,)))
    where = {"id_classes": "removed", "cells": "all cells"}
    found, other = ([run.results.value("MCM of a CLIP", "auroc", **place) for place in (where, {})]
                    for run in (story, shifts))  # fmt: skip
    assert found[0] == other[0] and "left out" in story.terminal_tables[0].caption
    assert found[1] == shifts.results.value("MCM of a CLIP", "auroc", images="other classes") != other[1]


def test_blind_cells_by_the_intervals_of_the_rows(shifts):
    rows = shifts.results.where(entity="MCM of a CLIP", metric="auroc", **KEPT)
    cells = [row.value for row in rows if "covariate_level" in row.where and row.value.value is not None]
    blind = sum(value.over("images").low <= 0.5 for value in cells)
    assert shifts.results.value("MCM of a CLIP", "blind_cells").value == blind
    best = shifts.results.where(metric="best_cells")
    assert sum(row.value.value for row in best) == len(cells)


def test_a_run_without_any_cell(make_run):
    story = read_report(make_run(counts=[[3] * 5] * 4, models=TWO))
    value = story.results.value("MSP of resnet-8", "auroc_slope", **along("semantic"))
    assert value.value is None and "fewer than two" in value.reason
    assert any(sentence.startswith("No cell holds 10 images") for sentence in story.page.verdict)
    assert "20 of 20) count nowhere" in story.html()


def test_other_pools_do_not_mix(make_units, write_run):
    units = [*make_units(models=TWO, seeds=(0,)), *make_units(models=TWO, seeds=(1,), counts=[[20] * 3] * 2)]
    with pytest.raises(OpenworldError, match="units do not agree on images"):
        read_results(RunFolder.read(write_run(units)))


def contender(story, label, model):
    detectors = run_of(story).detectors
    return next(each for each in detectors if (each.label, each.model) == (label, model))


def area(outputs, label):
    """AUROC straight from the scores of a record."""
    test, pool = outputs.table("test"), outputs.table("images")
    groups = {"in_groups": test["group"], "out_groups": pool["group"]}
    return auroc(test[f"score {label}"], pool[f"score {label}"], **groups)


def test_detectors_of_one_model_and_seed_are_held_together_by_their_unit(shifts):
    facts = run_of(shifts)
    value, _ = difference(*(each for each in facts.detectors if each.model == "a CLIP"))
    expected = paired_test(*(area(facts.units[2].stored, label) for label in ("MSP", "MCM")))
    assert value.value == pytest.approx(expected.difference)
    interval, half = value.over("images"), t.ppf(0.975, expected.degrees_of_freedom) * expected.standard_error
    assert interval.high - value.value == pytest.approx(half, rel=0.01)


def test_models_are_held_together_by_their_scores(shifts):
    found = image_error(contender(shifts, "KNN", "resnet-8"), contender(shifts, "MCM", "a CLIP"))
    units = run_of(shifts).units
    first, second, clip = (area(unit.stored, one) for unit, one in zip(units, ("KNN", "KNN", "MCM"), strict=True))
    # Influences of the mean over the seeds, by hand; a group is an image here.
    sides = [(first.influence.base + second.influence.base) / 2 - clip.influence.base]
    sides.append((first.influence.new + second.influence.new) / 2 - clip.influence.new)
    variance = sum(np.square(one).sum() / one.size / (one.size - 1) for one in sides)
    assert found.standard_error == pytest.approx(np.sqrt(variance))


def test_a_single_seed_is_held_against_every_other_seed(shifts):
    pair = contender(shifts, "MCM", "a CLIP"), contender(shifts, "KNN", "resnet-8")
    (value, _), error = difference(*pair), image_error(*pair)
    values = [shifts.results.value(name, "auroc") for name in ("MCM of a CLIP", "KNN of resnet-8")]
    assert value.value == pytest.approx(values[0].value - values[1].value)
    narrow = 2 * t.ppf(0.975, error.degrees_of_freedom) * error.standard_error
    assert value.over("seeds and images").width > narrow


def test_without_scores_models_have_no_error_over_images(make_units, write_run):
    units = [(facts, {"errors": tables["errors"]}, kept) for facts, tables, kept in make_units(models=TWO)]
    bare = read_report(write_run(units))
    pair = [contender(bare, "MCM", "a CLIP"), contender(bare, "KNN", "resnet-8")]
    assert difference(*pair)[0].over().over == "seeds"


def test_what_is_not_tested_says_why_and_what_is_tested_says_nothing(shifts, make_run, make_units, write_run):
    units = [(facts, {"errors": tables["errors"]}, kept) for facts, tables, kept in make_units(models=TWO, seeds=(0,))]
    stories = [shifts, read_report(make_run(counts=[[3] * 5] * 4, models=TWO)), read_report(write_run(units))]
    tests = [test for story in stories for test in story.results.comparisons]
    assert all((test.p is None) == bool(test.reason) for test in tests)
    assert {"its error is not known"} < {test.reason for test in tests}
    slopes = [test for test in stories[1].results.comparisons if test.metric.key == "auroc_slope"]
    assert slopes and all("fewer than two" in test.reason for test in slopes)


def test_the_lead_counts_all_comparisons(shifts):
    tests = [one for one in shifts.results.comparisons if one.metric.key == "auroc"]
    assert len(tests) == 4 and {one.entity for one in tests} == {"MCM of a CLIP"}
    sentence = shifts.page.verdict[0]
    assert all((test.other in sentence.split("no difference is shown from")[0]) == test.better for test in tests)
    rivals = (contender(shifts, *test.other.split(" of ")) for test in tests)
    alone = [area_test(contender(shifts, "MCM", "a CLIP"), rival).p for rival in rivals]
    assert [test.p for test in tests] == holm(alone + [1.0] * 6)[:4], "of five detectors there are ten pairs"
