"""IS-OOD's tables from records: trends of our cells, the labelling table, and what is refused."""

from dataclasses import replace

import pytest

from openworld import OpenworldError
from openworld.evaluations.ood_detection.record import (
    SUBSETS,
    Area,
    AxisLevels,
    CellRecord,
    DetectionRecord,
    DetectorRecord,
    InDistributionRecord,
    LabellingRecord,
    PoolFacts,
    PoolRecord,
)
from openworld.papers.results import PaperRun
from openworld.reproduction.comparison.compare import compare_with_paper
from openworld.reproduction.paper_results import paper_results

FULL = "entire ImageNet-21K (with labeling issues)"


def cell(value):
    area = Area(value, (value - 0.1, value + 0.1))
    return CellRecord(20, area, fpr=0.3, fpr_openood=1 - value, aupr_in=0.5, aupr_out=0.4, aupr_at_prevalence=0.5)


def record(seed, kind="classifier", step=0.1, labels=("MSP", "ours alone"), steps=None, **changed):
    """Two covariate by three semantic levels; one cell is N/A."""
    found = dict(zip(SUBSETS, (0.6, 0.6, 0.8, 0.8), strict=True))
    areas = {name: Area(value, (value - 0.1, value + 0.1)) for name, value in found.items()}
    detectors = {label: detector((steps or {}).get(label, step)) for label in labels}
    levels = {"semantic": AxisLevels(None, (20, 40, 40)), "covariate": AxisLevels(None, (60, 40))}
    pool = {"id_kept": True, "levels": levels, "counts": ((20, 20, 20), (0, 20, 20)), "detectors": detectors}
    made = DetectionRecord(
        **pool, protocol="ood-detection", model=kind, kind=kind, seed=seed,
        source=InDistributionRecord(({"dataset": "emoji-concepts", "domain": "noto"},), 50, 100, 60, 0.5),
        decomposition={"method": "LAID"}, neighbour=10, detector_settings=tuple({"label": label} for label in labels),
        warnings=(), otherwise=PoolRecord(**pool | {"id_kept": False}), pool=PoolFacts(99, 0),
        labelling=LabellingRecord(dict.fromkeys(SUBSETS, 99), dict.fromkeys(labels, areas)),
    )  # fmt: skip
    return replace(made, **changed)


def detector(step):
    cells = [[cell(0.5 + step * column) for column in range(3)] for _ in range(2)]
    cells[1][0] = None
    return DetectorRecord(tuple(map(tuple, cells)))


@pytest.fixture
def make(write_run):
    return lambda *records, **options: PaperRun(write_run(records, **options))


def found(numbers, setting, metric):
    (one,) = [one for one in numbers if (one.setting, one.metric) == (setting, metric)]
    return one


def test_trends_of_the_cells_that_are_there(make):
    run = make(record(1, step=0.2), record(0), record(0, kind="two-tower"))
    numbers = paper_results("is-ood", "1", [run])
    assert {one.backbone for one in numbers} == {"classifier"}, "what the judged model is called"
    assert {one.method for one in numbers} == {"MSP"} and {one.dataset for one in numbers} == {"emoji-concepts"}
    slope = found(numbers, "semantic shift", "sensitivity(AUROC)")
    assert slope.per_seed == pytest.approx((0.1, 0.2)) and slope.number == pytest.approx(0.15)
    assert slope.value.over("seeds")
    assert found(numbers, "semantic shift", "correlation(AUROC)").number == pytest.approx(1.0)
    looks = found(numbers, "covariate shift", "correlation(AUROC)")
    assert looks.number == pytest.approx(1.0), "the missing near cell lifts its row, as in the paper's analysis"
    falls = found(paper_results("is-ood", "4", [run]), "semantic shift", "correlation(FPR@95)")
    assert falls.number == pytest.approx(-1.0)


def test_a_flat_curve_has_no_correlation(make):
    numbers = paper_results("is-ood", "6", [make(record(0))])
    assert found(numbers, "semantic shift", "correlation(AUPR)").number is None
    assert found(numbers, "semantic shift", "sensitivity(AUPR)").number == 0.0


def test_labelling_issues_have_an_interval_over_images_where_one_seed_ran(make):
    one = found(paper_results("is-ood", "8", [make(record(0))]), FULL, "AUROC")
    (interval,) = one.value.intervals
    assert one.number == pytest.approx(0.6) and (interval.low, interval.high) == pytest.approx((0.5, 0.7))
    assert (interval.over, interval.n) == ("images", 99)


def test_orders_are_compared_axis_by_axis(make):
    steps = {"MSP": 0.05, "KNN": 0.1, "ASH": 0.15}
    one = record(0, labels=tuple(steps), steps=steps)
    shown = compare_with_paper("is-ood", "1", paper_results("is-ood", "1", [make(one)]))
    columns = [(order.metric, order.setting) for order in shown.agreements]
    assert len(columns) == 4 and ("correlation(AUROC)", "covariate shift") in columns, "no mean over both axes"
    (near,) = [one for one in shown.agreements if (one.metric, one.setting) == ("sensitivity(AUROC)", "semantic shift")]
    # Ours: MSP < KNN < ASH; printed: ASH 5.56 < MSP 5.59 < KNN 6.64.
    assert near.tau == pytest.approx(-1 / 3) and near.sentence.startswith("The orders of 3 methods")


def test_the_table_stands_beside_the_printed_one(make):
    shown = compare_with_paper("is-ood", "8", paper_results("is-ood", "8", [make(record(0), record(1))]))
    assert not shown.same_data and shown.sentences
    run = make(record(0, decomposition=None))
    named = PaperRun(run.folder, {"given cells": "ImageNet-21K"})
    assert compare_with_paper("is-ood", "1", paper_results("is-ood", "1", [named])).same_data


def test_refusals(make):
    with pytest.raises(OpenworldError, match="is a run of recognition, expected ood-detection"):
        paper_results("is-ood", "1", [make(record(0), protocol="recognition")])
    with pytest.raises(OpenworldError, match="Table 3.*is read from runs of decomposed"):
        paper_results("is-ood", "3", [])
    with pytest.raises(OpenworldError, match="none of the 0 given"):
        paper_results("is-ood", "1", [])
