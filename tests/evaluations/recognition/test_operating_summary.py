"""Operating points in the report: seeds joined by hand, words and tables that say what was asked and what came."""

from dataclasses import replace

import numpy as np
import pytest

from openworld.evaluations.recognition.figures import miss_hit
from openworld.evaluations.recognition.operating_point import OperatingSpec, decided
from openworld.evaluations.recognition.operating_summary import (
    all_run_at,
    preferred,
    rule_in_words,
    run_at,
    sentence,
    why_none,
)
from openworld.evaluations.recognition.operating_tables import (
    in_words,
    operating_grid,
    operating_json,
    terminal_operating,
)
from openworld.evaluations.recognition.outcome import RunFolder, load
from openworld.evaluations.recognition.page import render
from openworld.evaluations.recognition.summary import summarise
from openworld.metrics import accuracy
from openworld.report.series_style import looks


def half(images, which):
    rows = np.arange(len(images["id"])) % 2 == which
    return {name: np.asarray(column)[rows] for name, column in images.items()}


@pytest.fixture(scope="module")
def outcomes(small_run):
    """Every other picture of a made-up run plays validation."""
    return [
        replace(one, images=half(one.images, 0), validation=half(one.images, 1)) for one in load(small_run).outcomes
    ]


@pytest.fixture(scope="module")
def summary_by(outcomes):
    """A function of a rule that gives the summary with the points it chooses."""
    return lambda **rule: summarise(decided(outcomes, OperatingSpec(**rule)))


def test_seeds_are_joined_at_their_own_thresholds(summary_by):
    (table,) = summary_by(miss_rate=0.4).tables
    row = table.rows[1]
    found = run_at(row)
    missed, groups = [], []
    for outcome in row.outcomes:
        threshold = outcome.metrics["operating_point"]["threshold"]
        scores, correct, _, _ = outcome.samples
        missed.append((scores < threshold) | ~correct.astype(bool))
        groups.append(outcome.groups[0])
    joined = accuracy(np.concatenate(missed), groups=np.concatenate(groups))
    assert found.rate("miss") == joined
    assert found.rate("miss").value == pytest.approx(np.mean([one.mean() for one in missed]))
    assert found.seeds == (1, 2) and len(set(found.thresholds)) == 2
    low, high = found.over_seeds("miss")
    assert low <= found.rate("miss").value <= high


def test_a_learner_that_does_not_depend_on_the_seed_has_no_interval_over_seeds(summary_by):
    (table,) = summary_by(miss_rate=0.6).tables
    found = run_at(table.rows[0])
    assert len(set(found.thresholds)) == 1 and found.over_seeds("hit") is None
    one = table.rows[0].outcomes[0].metrics["operating_point"]["test"]["hit"]
    assert found.rate("hit").interval == pytest.approx(one["interval"])  # two equal seeds are no more pictures


def test_validation_pictures_choose_the_learner(summary_by):
    for rule, best in (({"miss_rate": 0.5}, max), ({"hit_rate": 0.3}, min)):
        found = [one for one in all_run_at(summary_by(**rule).tables[0]) if one.joined is not None]
        name = "hit_rate" if "miss_rate" in rule else "miss_rate"
        assert preferred(found) is best(found, key=lambda one, name=name: one.reached(name))
    assert preferred([]) is None


def test_a_sentence_for_the_engineer(summary_by):
    found = run_at(summary_by(miss_rate=0.5).tables[0].rows[3])
    miss, hit = found.rate("miss"), found.rate("hit")
    assert sentence(found) == (
        f"GMoP: of 100 base pictures, {100 * miss.value:.0f} [{100 * miss.interval[0]:.0f} "
        f"{100 * miss.interval[1]:.0f}] are flagged or misnamed; of 100 new ones, {100 * hit.value:.0f} "
        f"[{100 * hit.interval[0]:.0f} {100 * hit.interval[1]:.0f}] are flagged and named right."
    )


def test_no_threshold_says_how_far_the_rule_could_go(summary_by):
    (table,) = summary_by(miss_rate=0.0).tables
    found = all_run_at(table)
    assert all(one.joined is None and "in 2 of 2 seeds, misnamed base images alone" in one.reason for one in found)
    least = {one.learner: max(point["validation"]["least_miss"] for point in one.points) for one in found}
    best = min(least, key=least.get)
    assert why_none(found).endswith(f"is {100 * least[best]:.1f} %, of {best}.")
    assert in_words(found[0]) == f"no threshold: misnames {100 * least['zero-shot']:.1f} % of base"
    assert "no threshold by this rule" in sentence(found[0])


@pytest.mark.parametrize(
    ("interval", "words"),
    [((0.1, 0.2), "holds on test"), ((0.1, 0.3), "cannot be told at this n"), ((0.21, 0.3), "does not hold on test")],
)
def test_whether_the_rate_holds(summary_by, interval, words):
    found = run_at(summary_by(miss_rate=0.5).tables[0].rows[3])
    joined = replace(found.joined, miss=replace(found.joined.miss, interval=interval))
    assert in_words(replace(found, rule={"miss_rate": 0.2}, joined=joined)) == words


def test_the_table_says_over_what(summary_by):
    table = summary_by(base_missed=1.0, new_unhit=5.0, new_share=0.1).tables[0]
    drawn = terminal_operating(table)
    assert [head.title for head in drawn.heads][:2] == ["learner", "threshold"]
    for part in ("10 % of the pictures new", "48 base and 48 new test pictures", "means of 2 seeds", "n = 12 base"):
        assert part in drawn.caption, drawn.caption
    cost, interval = run_at(table.rows[3]).cost
    assert interval[0] < cost < interval[1]
    grid = operating_grid(table, looks(summarise_names(table)), "here")
    assert [column.title for column in grid.columns][-1] == "cost"  # costs ask for no rate that could hold
    assert all(len(line.cells) == len(grid.columns) for line in grid.rows)
    assert '"cost_over_images"' in operating_json([table])


def summarise_names(table):
    return tuple(row.learner for row in table.rows)


def test_a_run_that_chose_nothing_has_no_table(small_summary):
    (table,) = small_summary.tables
    assert all_run_at(table) == () and terminal_operating(table) is None
    assert operating_grid(table, {}, "here") is None


def test_points_are_ringed_and_the_rule_is_a_line(summary_by, small_summary):
    plain = miss_hit(small_summary.tables, looks(small_summary.learners))
    assert "ring" not in plain.panels[0].svg + plain.caption[1]
    for rule, lines in (({"miss_rate": 0.5}, 1), ({"hit_rate": 0.3}, 1), ({"base_missed": 1.0, "new_unhit": 1.0}, 0)):
        summary = summary_by(**rule)
        figure = miss_hit(summary.tables, looks(summary.learners))
        able = [one for one in all_run_at(summary.tables[0]) if one.joined is not None]
        assert figure.panels[0].svg.count('class="ring"') == len(able) > 0
        assert figure.panels[0].svg.count('class="reference"') == lines
        miss = f"{able[0].learner}: run at {100 * able[0].rate('miss').value:.1f} % missed"
        assert miss in figure.panels[0].svg and "a ring marks where one is" in figure.caption[1]


def test_the_page_shows_it(outcomes, small_run):
    run = load(small_run)
    assert "Where to run it" not in render(run)
    chosen = RunFolder(decided(outcomes, OperatingSpec(miss_rate=0.5)), run.given, run.resolved, run.provenance)
    page = render(chosen)
    assert "Where to run it" in page and "Best by what validation pictures say" in page
    assert 'id="operating-1"' in page and "flagged and named right" in page


def test_rules_in_words():
    assert rule_in_words({"hit_rate": 0.5}) == "hit at least 50 % of the new pictures"
    assert rule_in_words({"base_missed": 2.0, "new_unhit": 1.0, "new_hit": -1.0}) == (
        "least cost: base missed 2, new not hit 1, new hit -1, new pictures as often as here"
    )
