"""Numbers of a shift report equal those of the records, counted again one by one; what is N/A counts nowhere."""

import numpy as np
import pytest
from scipy.stats import linregress, t

from openworld import OpenworldError
from openworld.evaluations.ood_detection.errors import Number, averaged
from openworld.evaluations.ood_detection.numbers import (
    Slope,
    blind,
    curves,
    ends,
    firsts,
    leader,
    means,
    mixed,
    overall,
    shown,
    slope,
    spans,
    turned,
)
from openworld.evaluations.ood_detection.run import METRICS, Judged, load_shifts, shift_run
from openworld.evaluations.ood_detection.wording import caption
from openworld.report.shift_axes import AXES

MSP = Judged("resnet-8", "MSP", shared=True)
MCM = Judged("a CLIP", "MCM", shared=True)


def areas(run, judged, metric="auroc"):
    """{(seed place, row, column): number} of the cells that are there, straight from the records."""
    found = {}
    for seed, told in enumerate(one for one in run.told if one["model"] == judged.model):
        for row, line in enumerate(told["detectors"][judged.detector]["cells"]):
            for column, cell in enumerate(line):
                if cell is not None:
                    found[seed, row, column] = cell[metric]["value"] if metric == "auroc" else cell[metric]
    return found


def test_detectors_of_models_in_the_order_of_the_run(shifts):
    assert [one.title for one in shifts.judged][:2] == ["MSP of resnet-8", "KNN of resnet-8"]
    assert shifts.detectors == ("MSP", "KNN", "<b>own</b>", "MCM") and shifts.seeds("a CLIP") == (0,)
    assert shifts.cells.id_kept and not shifts.otherwise.id_kept


@pytest.mark.parametrize("metric", METRICS)
def test_every_cell_is_the_mean_over_the_seeds(shifts, metric):
    for judged in shifts.judged:
        found, table = areas(shifts, judged, metric), means(shifts.cells, judged, metric)
        for cell in np.ndindex(table.shape):
            own = [value for (_, *place), value in found.items() if tuple(place) == cell]
            assert (table[cell] == pytest.approx(np.mean(own))) if own else np.isnan(table[cell])


@pytest.mark.parametrize("axis", AXES)
def test_curves_leave_out_what_is_not_there(shifts, axis):
    place = 2 if axis == "semantic" else 1
    found = areas(shifts, MSP)
    for seed, curve in enumerate(curves(shifts.cells, MSP, axis)):
        for level, value in enumerate(curve):
            own = [one for key, one in found.items() if key[0] == seed and key[place] == level]
            assert value == pytest.approx(np.mean(own))


def test_common_curves_use_the_levels_that_all_share(shifts):
    found = areas(shifts, MCM)
    rows = [np.mean([found[0, row, column] for row in range(3)]) for column in range(5)]
    assert curves(shifts.cells, MCM, "semantic", common=True)[0] == pytest.approx(rows)
    columns = [np.mean([found[0, row, column] for column in (2, 3, 4)]) for row in range(4)]
    assert curves(shifts.cells, MCM, "covariate", common=True)[0] == pytest.approx(columns)


def joint_of(told, axis, kind="all"):
    """{detector: (error, degrees of freedom)} of the slopes, straight from a record."""
    found = told["joint"][axis][kind]
    return {
        label: (np.sqrt(found["covariance"][place][place]), found["degrees_of_freedom"][place])
        for place, label in enumerate(found["detectors"])
    }


def test_slopes_are_fitted_per_seed_and_err_over_seeds_and_pictures(shifts):
    told = slope(shifts.cells, MSP, "semantic")
    each = [np.polyfit(range(5), curve, 1)[0] for curve in curves(shifts.cells, MSP, "semantic")]
    assert told.slope.value == pytest.approx(np.mean(each)) and told.slope.over == "seeds and pictures"
    errors = [joint_of(one, "semantic")["MSP"] for one in shifts.told[:2]]
    parts = [(each[0] - each[1]) ** 2 / 4, np.mean([error for error, _ in errors]) ** 2]
    degrees = sum(parts) ** 2 / (parts[0] ** 2 + parts[1] ** 2 / min(many for _, many in errors))
    half = t.ppf(0.975, degrees) * np.sqrt(sum(parts))
    assert told.slope.interval == pytest.approx((np.mean(each) - half, np.mean(each) + half))
    each = [np.corrcoef(range(5), curve)[0, 1] for curve in curves(shifts.cells, MSP, "semantic")]
    assert told.correlation == pytest.approx(np.mean(each))


def test_the_slope_of_one_seed_errs_over_pictures_as_its_record_says(shifts):
    told = slope(shifts.cells, MCM, "covariate")
    own = shifts.told[2]["detectors"]["MCM"]["over_pictures"]["covariate"]["all"]
    assert told.slope.interval == pytest.approx(own["slope"]) and told.slope.over == "pictures"
    assert len(own["curve"]) == 4 and all(low < high for low, high in own["curve"])


def test_other_metrics_and_older_records_have_the_interval_of_the_line(shifts):
    older = [{name: told for name, told in one.items() if name != "joint"} for one in shifts.told]
    for one in older:
        one["labelling"] = {name: told for name, told in one["labelling"].items() if name != "joint"}
    run = shift_run([type("Record", (), {"metrics": one}) for one in older])
    for metric, cells in (("auroc", run.cells), ("fpr", shifts.cells)):
        told = slope(cells, MCM, "covariate", metric)
        line = linregress(range(4), curves(cells, MCM, "covariate", metric)[0])
        half = t.ppf(0.975, 2) * line.stderr
        assert told.slope.interval == pytest.approx((line.slope - half, line.slope + half))
        assert told.slope.over == "levels" and told.slope.p_value == pytest.approx(line.pvalue)
    assert slope(run.cells, MSP, "semantic").slope.over == overall(run, MSP).over == "seeds"


def test_slopes_are_shown_after_holms_correction():
    slopes = [Slope(Number(value, None, "pictures", p_value), None, 5) for value, p_value in
              ((0.1, 0.02), (-0.1, 0.01), (0.1, 0.03), (0.1, None))]  # fmt: skip
    assert shown(slopes) == [1, -1, 1, 0]  # .04 and .03 and .04 after the correction
    assert shown([*slopes, slopes[0]]) == [0, -1, 0, 0, 0]
    assert shown(slopes[:1]) == [1]


def test_overall_is_that_of_the_whole_pool(shifts):
    told = [one["labelling"]["detectors"]["MSP"]["all"]["value"] for one in shifts.told[:2]]
    assert (
        overall(shifts, MSP).value == pytest.approx(np.mean(told)) and overall(shifts, MSP).over == "seeds and pictures"
    )
    only = shifts.told[2]["labelling"]["detectors"]["MCM"]
    assert overall(shifts, MCM).interval == tuple(only["all"]["interval"]) and overall(shifts, MCM).over == "pictures"
    assert overall(shifts, MCM, "far").value == only["far"]["value"]
    best = max(shifts.judged, key=lambda one: overall(shifts, one).value)
    assert leader(shifts) == best


def test_where_id_classes_are_removed_the_whole_pool_lacks_them(shifts):
    turned_round = [
        one | one["otherwise"] | {"otherwise": {key: one[key] for key in one["otherwise"]}} for one in shifts.told
    ]
    run = shift_run([type("Record", (), {"metrics": one, "attachments": ()}) for one in turned_round])
    assert not run.cells.id_kept and overall(run, MCM) == overall(shifts, MCM, "unknown")
    assert np.array_equal(run.cells.present, shifts.otherwise.present)


def test_blind_and_turned_by_the_records_own_intervals(shifts):
    table = shifts.told[2]["detectors"]["MCM"]["cells"]
    expected = [[cell is not None and cell["auroc"]["interval"][0] <= 0.5 for cell in row] for row in table]
    assert blind(shifts.cells, MCM).tolist() == expected
    assert not (turned(shifts.cells, MCM) & ~shifts.cells.present).any()
    low, high = spans(shifts.cells, MSP)
    assert (low < high)[shifts.cells.present].all() and np.isnan(low[~shifts.cells.present]).all()


def test_the_best_of_a_cell(shifts):
    found, tables = firsts(shifts.cells, shifts.judged), {one: areas(shifts, one) for one in shifts.judged}
    assert sum(map(np.sum, found.values())) >= shifts.cells.present.sum()
    best = max(shifts.judged, key=lambda one: np.mean([tables[one].get((seed, 1, 4), np.nan) for seed in
                                                       range(len(shifts.seeds(one.model)))]))  # fmt: skip
    assert found[best][1, 4] and not any(one[~shifts.cells.present].any() for one in found.values())


def test_a_run_without_any_cell(shifts_of):
    run = shifts_of(counts=[[3] * 5] * 4)
    assert not run.cells.present.any() and ends(curves(run.cells, MSP, "semantic")) == (None, None)
    found = slope(run.cells, MSP, "semantic")
    assert found.slope.value is None and "fewer than two" in found.reason and not mixed(found, found)
    assert "per level, over" in caption(run)


def test_seeds_without_a_number_have_no_mean():
    assert averaged([0.5, None]).value is None and averaged([]).value is None
    assert averaged([0.5, 0.5]).interval is None  # seeds that agree exactly are no evidence


def test_other_pools_do_not_mix(shifts):
    other = dict(shifts.told[0]) | {"counts": [[1] * 5] * 4}
    with pytest.raises(OpenworldError, match="different pools"):
        _ = shift_run([type("Record", (), {"metrics": one}) for one in (*shifts.told, other)]).cells


def test_records_are_read_from_their_folder(shifts_folder, shifts):
    assert load_shifts(shifts_folder).told[0]["counts"] == shifts.told[0]["counts"]
    run = load_shifts(shifts_folder)
    assert {one: overall(run, one) for one in run.judged} == {one: overall(shifts, one) for one in shifts.judged}
