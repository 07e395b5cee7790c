"""IS-OOD's tables from the rows of units: trends of our cells, the labelling table, and what is refused."""

import pytest

from openworld import OpenworldError
from openworld.evaluations.rows import rows_of_unit
from openworld.ood.by_shift.errors import errors_table
from openworld.ood.by_shift.metrics import AUROC, CELL_METRICS, SUBSETS, correlation_of, slope_of
from openworld.papers.results import PaperRun, paper_results
from openworld.reproduction.comparison import compare_with_paper
from openworld.results import METRICS, Result, Value, interval_of

NO_ERRORS = errors_table({})
FULL = "entire ImageNet-21K (with labeling issues)"


def record(seed, kind="classifier", step=0.1, labels=("MSP", "ours alone"), steps=None):
    """A unit whose AUROCs rise by a step per level, and whose false alarms fall by it; AUPR is the same everywhere."""
    rows = [row for label in labels for row in detector(label, (steps or {}).get(label, step))]
    places = ({"id_classes": "kept", "covariate_level": row, "semantic_level": 0} for row in range(2))
    cells = [Result("", METRICS["images"], Value(20), place) for place in places]
    made = {"model": kind, "kind": kind, "seed": seed, "id_kept": True, "detectors": [*labels], "sequential": []}
    return made, {"errors": NO_ERRORS}, rows_of_unit("ood-detection", rows, seed=seed, shared=cells)


def detector(label, step):
    for name, value in zip(SUBSETS, (0.6, 0.6, 0.8, 0.8), strict=True):
        place = {} if name == "all" else {"images": SUBSETS[name]}
        yield Result(label, AUROC, Value(value, interval_of((value - 0.1, value + 0.1), "images", 99)), place)
    for metric, sign in zip(CELL_METRICS.values(), (1, 0, -1, 0, 0, 0), strict=True):
        for cells in ("all cells", "common cells"):
            for axis in ("semantic", "covariate"):
                place = {"id_classes": "kept", "cells": cells, "axis": axis}
                flat = Value(None, reason="the curve is flat")
                yield Result(label, slope_of(metric), Value(sign * step), place)
                yield Result(label, correlation_of(metric), Value(float(sign)) if sign else flat, place)
        for row in range(2):
            place = {"id_classes": "kept", "covariate_level": row, "semantic_level": 0}
            yield Result(label, metric, Value(0.5), place)


@pytest.fixture
def make(write_run):
    return lambda *units, **options: PaperRun(write_run(units, **options))


def found(numbers, setting, metric):
    (one,) = [one for one in numbers if (one.setting, one.metric) == (setting, metric)]
    return one


def test_trends_of_the_seeds(make):
    run = make(record(1, step=0.2), record(0), record(0, kind="two-tower"))
    numbers = paper_results("is-ood", "1", [run])
    assert {one.backbone for one in numbers} == {"classifier"}, "what the judged model is called"
    assert {one.method for one in numbers} == {"MSP"} and {one.dataset for one in numbers} == {"emoji-concepts"}
    slope = found(numbers, "semantic shift", "sensitivity(AUROC)")
    assert slope.per_seed == pytest.approx((0.1, 0.2)) and slope.number == pytest.approx(0.15)
    assert slope.value.over("seeds")
    assert found(numbers, "semantic shift", "correlation(AUROC)").number == pytest.approx(1.0)
    falls = found(paper_results("is-ood", "4", [run]), "semantic shift", "correlation(FPR@95)")
    assert falls.number == pytest.approx(-1.0)
    flat = paper_results("is-ood", "6", [run])
    assert found(flat, "semantic shift", "correlation(AUPR)").number is None
    assert found(flat, "semantic shift", "sensitivity(AUPR)").number == 0.0


def test_labelling_issues_have_an_interval_over_images_where_one_seed_ran(make):
    one = found(paper_results("is-ood", "8", [make(record(0))]), FULL, "AUROC")
    (interval,) = one.value.intervals
    assert one.number == pytest.approx(0.6) and (interval.low, interval.high) == pytest.approx((0.5, 0.7))
    assert (interval.over, interval.n) == ("images", 99)
    assert not compare_with_paper("is-ood", "8", [one]).same_data
    run = make(record(0), cells={"lists": ["given"]})
    named = PaperRun(run.folder, {"given cells": "ImageNet-21K"})
    assert compare_with_paper("is-ood", "1", paper_results("is-ood", "1", [named])).same_data
    with pytest.raises(OpenworldError, match="is a run of recognition, expected ood-detection"):
        paper_results("is-ood", "1", [make(record(0), protocol="recognition")])


def test_orders_are_compared_axis_by_axis(make):
    steps = {"MSP": 0.05, "KNN": 0.1, "ASH": 0.15}
    one = record(0, labels=tuple(steps), steps=steps)
    shown = compare_with_paper("is-ood", "1", paper_results("is-ood", "1", [make(one)]))
    columns = [(order.metric, order.setting) for order in shown.agreements]
    assert len(columns) == 4 and ("correlation(AUROC)", "covariate shift") in columns, "no mean over both axes"
    (near,) = [one for one in shown.agreements if (one.metric, one.setting) == ("sensitivity(AUROC)", "semantic shift")]
    # Ours: MSP < KNN < ASH; printed: ASH 5.56 < MSP 5.59 < KNN 6.64.
    assert near.tau == pytest.approx(-1 / 3) and near.sentence.startswith("The orders of 3 methods")
