"""Results equal those of the records, counted again one by one; what is N/A counts nowhere; differences are paired."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import linregress, t

from openworld import OpenworldError
from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.ood_detection.errors import seed_mean
from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.evaluations.ood_detection.leads import Contender, area_test, difference, image_error
from openworld.evaluations.ood_detection.measurements import AUROC, CELL_METRICS
from openworld.evaluations.ood_detection.record import DetectionRecord
from openworld.evaluations.ood_detection.report import is_mixed
from openworld.evaluations.ood_detection.results import read_results
from openworld.metrics import auroc, holm, paired_test
from openworld.results import RunFolder, Value

KEPT = {"id_classes": "kept"}


def along(axis, cells="all cells"):
    return KEPT | {"axis": axis, "cells": cells}


def records_of(story, model):
    return [record for record in story.run_folder.metrics(DetectionRecord) if record.model == model]


def numbers(record, label, name="auroc"):
    """float[R, C] straight from a record; NaN where a cell is N/A."""
    cells = record.detectors[label].cells
    found = [[np.nan if cell is None else getattr(cell, name) for cell in row] for row in cells]
    return np.array([[getattr(cell, "value", cell) for cell in row] for row in found], dtype=float)


@pytest.mark.parametrize("name", CELL_METRICS)
def test_every_cell_is_the_mean_over_the_seeds(shifts, name):
    each = [numbers(record, "MSP", name) for record in records_of(shifts, "resnet-8")]
    for row, column in np.ndindex(4, 5):
        place = {"covariate_level": row, "semantic_level": column}
        found = shifts.results.result("MSP of resnet-8", CELL_METRICS[name].key, **KEPT, **place)
        if np.isnan(each[0][row, column]):
            assert found.value.value is None and "fewer than 10 images" in found.value.reason
        else:
            assert found.per_seed == tuple(table[row, column] for table in each)
            assert found.value.value == pytest.approx(np.mean(found.per_seed))


def test_a_cell_has_the_mean_of_its_intervals_over_images(shifts):
    areas = [record.detectors["MSP"].cells[1][1].auroc for record in records_of(shifts, "resnet-8")]
    place = {"covariate_level": 1, "semantic_level": 1}
    interval = shifts.results.value("MSP of resnet-8", "auroc", **KEPT, **place).over("images")
    assert interval.low == pytest.approx(np.mean([area.interval[0] for area in areas]))
    assert interval.n == records_of(shifts, "resnet-8")[0].counts[1][1]


@pytest.mark.parametrize(("axis", "levels"), [("semantic", 5), ("covariate", 4)])
def test_curves_leave_out_what_is_not_there(shifts, axis, levels):
    each = [numbers(record, "MSP") for record in records_of(shifts, "resnet-8")]
    for level in range(levels):
        found = shifts.results.result("MSP of resnet-8", "auroc", **along(axis), level=level)
        lines = [table[:, level] if axis == "semantic" else table[level] for table in each]
        assert found.per_seed == pytest.approx([np.nanmean(line) for line in lines])


def test_common_curves_use_the_levels_that_all_share(shifts):
    table = numbers(records_of(shifts, "a CLIP")[0], "MCM")
    for axis, expected in (("semantic", table[:3].mean(axis=0)), ("covariate", table[:, 2:].mean(axis=1))):
        found = [
            shifts.results.value("MCM of a CLIP", "auroc", **along(axis, "common cells"), level=level).value
            for level in range(len(expected))
        ]
        assert found == pytest.approx(expected)


def test_slopes_are_fitted_per_seed_and_err_over_seeds_and_images(shifts):
    found = shifts.results.result("MSP of resnet-8", "auroc_slope", **along("semantic"))
    records = records_of(shifts, "resnet-8")
    curves = [np.nanmean(numbers(record, "MSP"), axis=0) for record in records]
    each = [np.polyfit(range(5), curve, 1)[0] for curve in curves]
    assert found.per_seed == pytest.approx(each)
    joint = [record.joint["semantic"]["all"] for record in records]
    errors, degrees = zip(*((one.covariance[0][0] ** 0.5, one.degrees_of_freedom[0]) for one in joint), strict=True)
    parts = [(each[0] - each[1]) ** 2 / 4, np.mean(errors) ** 2]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 + parts[1] ** 2 / min(degrees))
    half, interval = t.ppf(0.975, freedom) * np.sqrt(sum(parts)), found.value.over("seeds and images")
    assert (interval.low, interval.high) == pytest.approx((np.mean(each) - half, np.mean(each) + half))
    correlation = shifts.results.value("MSP of resnet-8", "auroc_correlation", **along("semantic")).value
    assert correlation == pytest.approx(np.mean([np.corrcoef(range(5), curve)[0, 1] for curve in curves]))


def test_the_slope_of_one_seed_errs_over_images_as_its_record_says(shifts):
    own = records_of(shifts, "a CLIP")[0].detectors["MCM"].over_pictures["covariate"]["all"]
    interval = shifts.results.value("MCM of a CLIP", "auroc_slope", **along("covariate")).over("images")
    assert (interval.low, interval.high) == pytest.approx(own.slope)
    for level, ends in enumerate(own.curve):
        value = shifts.results.value("MCM of a CLIP", "auroc", **along("covariate"), level=level)
        assert (value.over("images").low, value.over("images").high) == ends


def test_other_metrics_and_older_records_have_the_interval_of_the_line(shifts, make_run):
    def older(record):
        bare = {label: replace(one, over_pictures={}) for label, one in record.detectors.items()}
        return replace(record, joint={}, detectors=bare, labelling=replace(record.labelling, joint={}))

    old = read_report(make_run(change=older)).results
    for found, metric, name in ((old, "auroc", "auroc"), (shifts.results, "fpr_in_positive", "fpr")):
        curve = np.nanmean(numbers(records_of(shifts, "a CLIP")[0], "MCM", name), axis=1)
        line = linregress(range(4), curve)
        half = t.ppf(0.975, 2) * line.stderr
        interval = found.value("MCM of a CLIP", f"{metric}_slope", **along("covariate")).over("levels")
        assert (interval.low, interval.high) == pytest.approx((line.slope - half, line.slope + half))
    assert old.value("MSP of resnet-8", "auroc_slope", **along("semantic")).over("seeds")
    assert old.value("MSP of resnet-8", "auroc").over("seeds")


def test_slopes_are_tested_together_on_common_cells(shifts):
    tests = [one for one in shifts.results.comparisons if one.metric.key == "auroc_slope"]
    assert len(tests) == 2 * 5 and {one.where["cells"] for one in tests} == {"common cells"}
    assert tests[0].entity == "MSP of resnet-8" and tests[0].where["axis"] == "semantic"


def test_the_whole_pool_and_its_subsets(shifts):
    found, (record,) = shifts.results, records_of(shifts, "a CLIP")
    area = record.labelling.detectors["MCM"]["far"]
    value = found.value("MCM of a CLIP", "auroc", images="far in meaning")
    assert value.value == area.value and (value.over().low, value.over().high) == area.interval
    assert value.over("images").n == record.labelling.subsets["far"]
    two = found.result("MSP of resnet-8", "auroc")
    assert two.value.value == pytest.approx(np.mean(two.per_seed)) and two.value.over("seeds and images")


def test_where_id_classes_are_removed_the_whole_pool_lacks_them(shifts, make_run):
    def turned(record):
        names = ("id_kept", "levels", "counts", "detectors", "joint")
        kept, removed = ({name: getattr(one, name) for name in names} for one in (record, record.otherwise))
        return replace(record, **removed, otherwise=replace(record.otherwise, **kept))

    story = read_report(make_run(change=turned))
    facts = ShiftFacts.read(story.run_folder)
    assert facts.whole == "unknown" and facts.counting == "removed"
    where = {"id_classes": "removed", "cells": "all cells"}
    found, other = ([run.results.value("MCM of a CLIP", "auroc", **place) for place in (where, {})]
                    for run in (story, shifts))  # fmt: skip
    assert found[0] == other[0] and "left out" in story.terminal_tables[0].caption
    assert found[1] == shifts.results.value("MCM of a CLIP", "auroc", images="other classes") != other[1]


def test_blind_cells_by_the_records_own_intervals(shifts):
    cells = [cell for row in records_of(shifts, "a CLIP")[0].detectors["MCM"].cells for cell in row if cell]
    blind = sum(cell.auroc.interval[0] <= 0.5 for cell in cells)
    assert shifts.results.value("MCM of a CLIP", "blind_cells").value == blind
    best = shifts.results.where(metric="best_cells")
    assert sum(row.value.value for row in best) == len(cells)


@pytest.mark.parametrize(
    ("everything", "common", "expected"),
    [(0.03, 0.019, True), (0.03, 0.025, False), (0.004, -0.002, True), (0.002, -0.002, False), (None, 0.1, False)],
)
def test_the_mix_makes_a_slope_that_turns_or_changes_by_a_point(everything, common, expected):
    value = Value(everything, reason="" if everything is not None else "no level")
    assert is_mixed(value, common) is expected


def test_a_run_without_any_cell(make_run):
    story = read_report(make_run(counts=[[3] * 5] * 4))
    value = story.results.value("MSP of resnet-8", "auroc_slope", **along("semantic"))
    assert value.value is None and "fewer than two" in value.reason
    assert any(sentence.startswith("No cell holds 10 images") for sentence in story.page.verdict)
    assert "20 of 20) count nowhere" in story.html()


def test_seeds_without_a_number_have_no_mean():
    assert all(seed_mean(values, AUROC)[0].value is None for values in ([0.5, None], []))
    assert seed_mean([0.5, 0.5], AUROC)[1] is None  # seeds that agree exactly are no evidence


def test_other_pools_do_not_mix(make_run):
    def other(record):
        return replace(record, counts=((1,) * 5,) * 4) if record.seed else record

    with pytest.raises(OpenworldError, match="different pools"):
        read_results(RunFolder.read(make_run(change=other)))


def contender(story, label, model):
    return Contender(ShiftFacts.read(story.run_folder), Detector(label, model, shared=True))


def area(outputs, label):
    """AUROC straight from the scores of a record."""
    test, pool = outputs.table("test"), outputs.table("images")
    groups = {"in_groups": test["group"], "out_groups": pool["group"]}
    return auroc(test[f"score {label}"], pool[f"score {label}"], **groups)


def test_detectors_of_one_model_and_seed_are_held_together_by_their_record(shifts):
    facts = ShiftFacts.read(shifts.run_folder)
    value, _ = difference(*(Contender(facts, Detector(label, "a CLIP", shared=True)) for label in ("MSP", "MCM")))
    expected = paired_test(*(area(facts.outputs[2], label) for label in ("MSP", "MCM")))
    assert value.value == pytest.approx(expected.difference)
    interval, half = value.over("images"), t.ppf(0.975, expected.degrees_of_freedom) * expected.standard_error
    assert interval.high - value.value == pytest.approx(half, rel=0.01)


def test_models_are_held_together_by_their_scores(shifts):
    found = image_error(contender(shifts, "KNN", "resnet-8"), contender(shifts, "MCM", "a CLIP"))
    outputs = ShiftFacts.read(shifts.run_folder).outputs
    first, second, clip = (area(record, one) for record, one in zip(outputs, ("KNN", "KNN", "MCM"), strict=True))
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


def test_without_scores_models_have_no_error_over_images(shifts, write_run):
    records = shifts.run_folder.metrics(DetectionRecord)
    bare = read_report(write_run(records))
    pair = [contender(bare, "MCM", "a CLIP"), contender(bare, "KNN", "resnet-8")]
    assert difference(*pair)[0].over().over == "seeds"


def test_the_lead_counts_all_comparisons(shifts):
    tests = [one for one in shifts.results.comparisons if one.metric.key == "auroc"]
    assert len(tests) == 4 and {one.entity for one in tests} == {"MCM of a CLIP"}
    sentence = shifts.page.verdict[0]
    assert all((test.other in sentence.split("no difference is shown from")[0]) == test.better for test in tests)
    rivals = (contender(shifts, *test.other.split(" of ")) for test in tests)
    alone = [area_test(contender(shifts, "MCM", "a CLIP"), rival).p for rival in rivals]
    assert [test.p for test in tests] == holm(alone + [1.0] * 6)[:4], "of five detectors there are ten pairs"


def test_one_detector_leads_nobody(one_detector):
    assert {one.metric.key for one in one_detector.results.comparisons} == {"auroc_slope"}
