"""Curves, robustness tables and ranks of made-up records of dynamic scenarios."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.evaluations.dynamic.courses import load_courses, rankings
from openworld.evaluations.dynamic.exports import courses_json, robustness_csv
from openworld.evaluations.dynamic.figures import curves
from openworld.evaluations.dynamic.page import build_courses, render_courses
from openworld.evaluations.dynamic.terminal import of_course, terminal_course
from openworld.evaluations.dynamic.verdict import _leader_of_many
from openworld.metrics import friedman_ranks, robustness
from openworld.report.records import protocol_of
from openworld.report.series_style import looks
from openworld.runs import RunStore, Unit, UnitResult

LEVELS = (0.0, 0.5, 1.0)
# Accuracy by level of two seeds; CoOp starts above zero-shot and ends below.
CURVES = {
    "zero-shot": [[0.6, 0.6, 0.6], [0.6, 0.6, 0.6]],
    "CoOp": [[0.9, 0.6, 0.3], [0.7, 0.6, 0.5]],
    "Co<b>": [[0.7, 0.7, 0.7], [0.7, 0.7, 0.7]],
}


def write(folder, learners, datasets=("emoji-concepts", "emoji-groups")):
    store = RunStore(folder)
    store.create({"protocol": "dynamic"}, {"protocol": "dynamic", "seeds": [1, 2]}, {"command": ["openworld", "run"]})
    planned = [
        (Unit("math:sqrt", {"x": [data, name, seed]}, name=f"{data} {name} {seed}"), data, name, seed)
        for data in datasets
        for name in learners
        for seed in (2, 1)
    ]
    store.plan([unit for unit, *_ in planned])
    for unit, data, name, seed in planned:
        store.write(unit, UnitResult(metrics=_metrics(data, name, seed)))
    return folder


def _metrics(data, name, seed):
    return {
        "protocol": "dynamic",
        "dataset": data,
        "domain": "twemoji",
        "learner": name,
        "yardstick": name == "zero-shot",
        "seed": seed,
        "tuned_parameters": 0 if name == "zero-shot" else 512,
        "courses": [
            {"scenario": scenario, "against": against, "views": _views(CURVES[name][seed - 1])}
            for scenario, against in (("co-evolution", "emoji-concepts-b, twemoji"), ("emerging-classes", None))
        ],
    }


def _views(accuracy):
    return [
        {
            "level": level,
            "accuracy": value,
            "n_images": 100,
            "n_classes": 10,
            "auroc": {"value": 0.8 if level else None},
        }
        for level, value in zip(LEVELS, accuracy, strict=True)
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write(tmp_path_factory.mktemp("courses"), CURVES)


@pytest.fixture(scope="module")
def tables(run):
    return load_courses(run)


def test_a_table_per_course_in_the_papers_order(tables):
    assert [(table.key.scenario, table.key.dataset) for table in tables] == [
        ("emerging-classes", "emoji-concepts"),
        ("emerging-classes", "emoji-groups"),
        ("co-evolution", "emoji-concepts"),
        ("co-evolution", "emoji-groups"),
    ]
    assert tables[2].key.title.endswith("emoji-concepts, twemoji → emoji-concepts-b, twemoji")


def test_seeds_are_averaged_first_and_compared_with_zero_shot(tables):
    zero_shot, coop, _ = tables[0].curves
    assert zero_shot.robustness.positive_area is None
    assert coop.seeds == (1, 2) and coop.robustness.accuracy == pytest.approx((0.8, 0.6, 0.4))
    assert coop.robustness.auc == pytest.approx(0.6)
    assert coop.robustness.positive_area == pytest.approx(0.05) == coop.robustness.negative_area
    assert coop.robustness.delta_pn == pytest.approx(0, abs=1e-12)
    assert coop.robustness.spread("variation").mean == pytest.approx(0.4)  # of .6 and .2
    assert coop.auroc == (None, pytest.approx(0.8), pytest.approx(0.8))


def test_ranks_by_hand(tables):
    # By level, zero-shot: 3, 2.5, 2; CoOp: 1, 2.5, 3; the other: 2, 1, 1.
    assert tables[0].friedman.tolist() == pytest.approx([(3 + 2.5 + 2) / 3, (1 + 2.5 + 3) / 3, (2 + 1 + 1) / 3])
    ranking = rankings(tables)[0]
    assert ranking.courses == 2 and ranking.final == (3, 2, 1)
    assert ranking.test.value is None and "needs at least 5" in ranking.test.reason


def test_with_courses_enough_the_tests_are_made(tmp_path):
    names = [f"set {number}" for number in range(6)]
    (ranking, _) = rankings(load_courses(write(tmp_path, CURVES, names)))
    assert ranking.test.p_value < 0.05 and ranking.difference.value > 0


def test_the_figure_has_a_panel_per_course_and_a_line_per_learner(tables):
    figure = curves(tables[2:], looks(list(CURVES), ["zero-shot"]))
    assert len(figure.panels) == 2 and figure.panels[0].title == "→ emoji-concepts-b, twemoji"
    assert all(panel.svg.count("<polyline") == 3 for panel in figure.panels)
    for chart, panel in zip(figure.charts, figure.panels, strict=True):
        assert panel.svg.count('class="band"') == sum(line.low != line.high for line in chart.series.values()) > 0
    assert "Co<b>" not in figure.panels[0].svg
    rows = figure.rows()
    assert len(rows) == 2 * 3 * 3 and {row["course"] for row in rows} == {panel.title for panel in figure.panels}
    (row,) = [row for row in rows[:9] if row["learner"] == "CoOp" and row["level"] == 1.0]
    assert (row["accuracy"], row["lowest_seed"], row["highest_seed"]) == (pytest.approx(0.4), 0.3, 0.5)


def test_the_page_is_whole_escaped_and_the_same_again(run):
    page = render_courses(run)
    assert page == render_courses(run)
    assert "emerging new classes" in page and "ΔAUC" in page and "Co&lt;b&gt;" in page and "Co<b>" not in page
    assert build_courses(run).read_text(encoding="utf-8") == page


def test_exports_hold_every_curve(tables):
    rows = list(csv.DictReader(io.StringIO(robustness_csv(tables))))
    means = [row for row in rows if row["courses"] == "2"]
    assert len(rows) == 12 + 6 and len(means) == 6 and means[0]["dataset"] == ""
    first = next(row for row in rows if row["courses"] == "1" and row["learner"] == "CoOp")
    assert float(first["auc"]) == pytest.approx(0.6) and rows[0]["delta_auc"] == ""
    assert (first["acc0_seeds_low"], first["acc0_seeds_high"]) == ("0.0", "1.0")  # .9 and .7, one degree of freedom
    assert first["auc_seeds_low"] == ""  # both seeds have .6: no interval is made up
    told = json.loads(courses_json(tables))["courses"]
    assert np.array(told[0]["learners"][1]["accuracy"]) == pytest.approx(np.array([0.8, 0.6, 0.4]))
    assert len(told[0]["learners"][1]["per_seed"]) == 2


def test_the_terminal_table_reads_percent(tables):
    from rich.console import Console

    console = Console(width=200, record=True, file=io.StringIO())
    console.print(terminal_course(tables[0]))
    line = next(line for line in console.export_text().splitlines() if line.startswith("CoOp"))
    # Acc(0), AUC, WA, EVM, VS, PA, NA, ΔAUC, rank, its place; without predictions no interval and no test.
    numbers = ["80.0", "60.0", "40.0", "40.0", "0.00", "5.0", "5.0", "0.0", "2.17", "2"]
    assert line.split() == ["CoOp", *numbers, "not", "testable"]


def test_without_zero_shot_there_is_no_table(tmp_path):
    with pytest.raises(OpenworldError, match="no zero-shot learner played"):
        load_courses(write(tmp_path, ["CoOp"]))


def test_a_run_of_something_else_is_refused(small_run):
    assert protocol_of(small_run) == "recognition"
    with pytest.raises(OpenworldError, match="holds no record of a dynamic scenario"):
        load_courses(small_run)


def of_levels(table, count):
    """The same course with its first levels alone."""
    levels = table.levels[:count]
    curves = tuple(
        replace(one, robustness=robustness(levels, one.robustness.accuracy[:count]), auroc=one.auroc[:count])
        for one in table.curves
    )
    return replace(table, levels=levels, curves=curves, views=table.views[:count])


def test_courses_of_other_levels_are_ranked_together(tables):
    first, second = [table for table in tables if table.key.scenario == "emerging-classes"]
    (found,) = rankings([first, of_levels(second, 2)])
    whole = np.concatenate([first.accuracy, second.accuracy[:, :2]], axis=1)
    assert found.friedman == pytest.approx(friedman_ranks(whole)) and found.courses == 2


def test_where_nobody_played_all_courses_nobody_leads(tables):
    first, second = [table for table in tables if table.key.scenario == "emerging-classes"]
    yardstick = first.curves[0].learner
    assert yardstick == "zero-shot"
    apart = [replace(first, curves=first.curves[:2]), replace(second, curves=second.curves[2:] or second.curves[:1])]
    leader = _leader_of_many([of_course(table) for table in apart])
    assert "none leads" in leader and "2 courses" in leader


def test_courses_of_other_learners_are_not_ranked_together(tables):
    first, second = [table for table in tables if table.key.scenario == "emerging-classes"]
    with pytest.raises(OpenworldError, match="the same learners in every course") as refused:
        rankings([first, replace(second, curves=second.curves[:2])])
    assert first.key.title in str(refused.value) and second.key.title in str(refused.value)
