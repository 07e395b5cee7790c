"""Learners by targets: grouping, means with their intervals and tests, what the tables and the verdict say."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from openworld.evaluations.generalisation.exports import export
from openworld.evaluations.generalisation.page import render
from openworld.evaluations.generalisation.tables import reach_grid, reach_verdict, terminal_reach, told
from openworld.evaluations.generalisation.target_means import reaches
from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.provenance import made
from openworld.evaluations.recognition.summary import summarise
from openworld.report.series_style import looks

TARGETS = {
    "home": ("source", "home"),
    "drawn": ("variant", "→ drawn"),
    "dark": ("variant", "→ dark"),
    "pets": ("other", "→ pets"),
    "cars": ("other", "→ cars"),
}


@pytest.fixture(scope="module")
def run(make_run):
    """Four learners with two seeds on a source, two variants and two other data sets."""
    found = load(make_run(seeds=(1, 2), tasks=tuple(TARGETS), names=[f"thing {n}" for n in range(24)], per_class=8))
    return replace(found, outcomes=tuple(map(as_target, found.outcomes)))


def as_target(outcome):
    kind, title = TARGETS[outcome.metrics["task"]]
    left_out = [f"class {n}" for n in range(8)] if title == "→ cars" else []
    facts = {"kind": kind, "target": title, "wordnet": True, "left_out": left_out}
    return replace(outcome, metrics=dict(outcome.metrics) | facts)


@pytest.fixture(scope="module")
def summary(run):
    return summarise(run.outcomes)


@pytest.fixture(scope="module")
def reached(summary):
    return reaches(summary)


def test_targets_are_grouped_by_kind_and_titled_by_name(summary, reached):
    assert [table.title for table in summary.tables] == [title for _, title in TARGETS.values()]
    told = [(reach.kind, reach.source.title, [table.title for table in reach.targets]) for reach in reached]
    assert told == [("variant", "home", ["→ drawn", "→ dark"]), ("other", "home", ["→ pets", "→ cars"])]
    assert [reach.counted for reach in reached] == ["2 variants", "2 other data sets"]


def test_the_mean_is_over_targets_without_the_source(reached):
    for reach in reached:
        for place, row in enumerate(reach.mean.rows):
            values = [table.rows[place].openworld_auc for table in reach.targets]
            assert row.openworld_auc == pytest.approx(np.mean(values))
            assert row.over_images[0] < row.openworld_auc < row.over_images[1]
            assert sum(row.points_lost.values()) == pytest.approx(1 - row.openworld_auc)


def test_seeds_of_the_mean_are_means_of_seeds(reached):
    row = reached[0].mean.rows[1]
    one, two = np.mean([table.rows[1].per_seed["openworld_auc"] for table in reached[0].targets], axis=0)
    half = 12.706 * abs(one - two) / 2  # t of one degree of freedom x deviation / sqrt(2)
    low, high = max(0, row.openworld_auc - half), min(1, row.openworld_auc + half)
    assert row.over_seeds == pytest.approx((low, high), abs=1e-3)


def test_all_pairs_of_means_are_tested_and_corrected_together(reached):
    tests = list(reached[0].mean.comparisons.values())
    assert len(tests) == 6 == reached[0].mean.tested
    strongest = min(tests, key=lambda test: test.p)
    assert strongest.difference == pytest.approx(
        reached[0].mean.rows[[row.learner for row in reached[0].mean.rows].index(strongest.learner)].openworld_auc
        - next(row.openworld_auc for row in reached[0].mean.rows if row.learner == strongest.other)
    )


def test_shared_base_images_count_once(summary, reached):
    """The same records, told as variants, would take the source's base images for others at every target."""
    other = {"other": "variant", "variant": "other", "source": "source"}
    turned = [
        replace(one, metrics=one.metrics | {"kind": other[one.metrics["kind"]]})
        for table in summary.tables
        for row in table.rows
        for one in row.outcomes
    ]
    apart = next(one for one in reaches(summarise(turned)) if one.targets[0].title == "→ pets")
    both = [one.mean.rows[0].over_images for one in (reached[1], apart)]
    assert both[0] != both[1]


def test_one_target_has_its_own_interval_and_tests(run):
    single = [one for one in run.outcomes if one.metrics["task"] in ("home", "drawn")]
    (reach,) = reaches(summarise(single))
    (target,) = reach.targets
    assert reach.mean.title == "→ drawn"
    for mine, its in zip(reach.mean.rows, target.rows, strict=True):
        assert mine.openworld_auc == pytest.approx(its.openworld_auc)
        assert mine.over_images == pytest.approx(its.over_images)
    for pair, test in reach.mean.comparisons.items():
        assert test.p == pytest.approx(target.comparisons[pair].p, rel=1e-6)


def test_other_runs_have_no_targets(small_summary, run):
    assert reaches(small_summary) == ()
    lacking = [one for one in run.outcomes if (one.metrics["task"], one.metrics["learner"]) != ("dark", "CoOp")]
    assert reaches(summarise(lacking)) == ()


def test_an_undefined_target_leaves_the_mean_undefined(make_run):
    names = [f"thing {n}" for n in range(8)]
    whole = load(make_run(seeds=(1,), tasks=("home", "drawn"), names=names, per_class=4)).outcomes
    empty = load(make_run(seeds=(1,), tasks=("dark",), names=names, per_class=4, sides=("base",))).outcomes
    summary = summarise([as_target(one) for one in (*whole, *empty)])
    (reach,) = reaches(summary)
    assert all(row.openworld_auc is None and row.over_images is None for row in reach.mean.rows)
    assert all(test.p is None for test in reach.mean.comparisons.values())
    sentences = reach_verdict(summary, [reach])
    assert "No OpenworldAUC is defined" in sentences[0]
    assert reach_grid(reach, looks(summary.learners, summary.yardsticks)).rows[0].cells[-1].text in ("–", "not tested")


def test_tables_say_what_they_rest_on(summary, reached):
    caption = told(reached[1])
    assert "[95 % over images, clustered by drawing (n = 24), given the seeds]" in caption
    assert "means of 2 seeds" in caption and "p of the mean after Holm over 6 pairs" in caption
    assert "96 + 96 in every column" in caption and "count once" in caption
    assert "(by name and by WordNet's names): → cars 8 classes, listed in the records" in caption
    assert "Left out" not in told(reached[0])
    grid = reach_grid(reached[1], looks(summary.learners, summary.yardsticks))
    assert [column.title for column in grid.columns][:5] == ["learner", "home", "→ pets", "→ cars", "mean over targets"]
    assert "Student's t, n = 2" in grid.caption
    assert all(len(line.cells) == len(grid.columns) for line in grid.rows)


def test_the_terminal_table_names_every_target(reached):
    from rich.console import Console

    console = Console(width=160, record=True, file=io.StringIO())
    console.print(terminal_reach(reached[0]))
    text = console.export_text()
    assert all(name in text for name in ("home", "→ drawn", "→ dark", "mean over targets", "GMoP"))


def test_the_verdict_tells_each_kind_and_the_way_from_home(summary, reached):
    first, _, second, way, evidence = reach_verdict(summary, reached)
    assert first.startswith("Domain generalisation: GMoP has the highest OpenworldAUC on average over 2 variants")
    assert second.startswith("Cross-data-set generalisation: ") and "On the source itself GMoP has" in way
    assert evidence.startswith("Each setting rests on")


def test_exports_hold_the_means(summary, reached):
    lines = list(csv.DictReader(export(summary, "csv").splitlines()))
    means = [line for line in lines if line["setting"] == "average over 2 variants"]
    assert len(lines) == 5 * 4 + 2 * 4 and len(means) == 4
    assert float(means[0]["openworld_auc"]) == reached[0].mean.rows[0].openworld_auc
    told = json.loads(export(summary, "json"))
    assert [mean["kind"] for mean in told["means"]] == ["variant", "other"] and len(told["means"][0]["tests"]) == 6
    assert "average over 2 other data sets" in export(summary, "markdown")


def test_the_page_holds_a_table_per_kind_and_each_target(run):
    page = render(run)
    assert "From home to 2 variants and 2 other data sets" in page
    assert page.count('id="reach-') == 2 and page.count("<summary>→ ") >= 4
    assert 'id="overview"' not in page


def test_a_fit_that_serves_all_targets_is_spent_once(run, summary):
    (part,) = [part for part in made(run, summary) if part.heading == "Seeds and durations"]
    facts = dict(part.facts)
    assert facts["records"] == "8"  # four learners, two seeds
    fits = [one.seconds["fit"] for one in run.outcomes if one.metrics["learner"] == "GMoP"]
    spent = 2 * fits[0]
    assert f"fit {spent:.0f} s" in facts["GMoP"] and len(fits) == 10


def test_a_mean_is_tested_as_its_parts_are(reached):
    """By hand: the difference of two means over targets is the mean of their differences."""
    reach = reached[0]
    parts = [table.compare("GMoP", "CoOp").difference for table in reach.targets]
    assert reach.mean.compare("GMoP", "CoOp").difference == pytest.approx(np.mean(parts))


def test_titles_that_look_like_markup_are_text_in_the_terminal(reached):
    from rich.console import Console

    named = replace(reached[0], source=replace(reached[0].source, title="crane [/bird]"))
    console = Console(width=300, file=io.StringIO(), color_system=None)
    console.print(terminal_reach(named))
    assert "crane [/bird]" in console.file.getvalue().splitlines()[0]
