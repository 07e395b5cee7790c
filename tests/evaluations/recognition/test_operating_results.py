"""Operating points in the report: seeds joined by hand, words and tables that say what was required and what came."""

from dataclasses import replace

import numpy as np
import pytest

from openworld.evaluations.recognition.operating_point import OperatingSpec, with_operating_points
from openworld.evaluations.recognition.operating_results import (
    preferred,
    sentence,
    whether_it_holds,
    why_none,
)
from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.report import decision_results, decisions, report, story_of
from openworld.evaluations.recognition.results import join
from openworld.metrics import accuracy
from openworld.results import Interval, RunFolder, Value
from openworld.testing import check_report


def half(scores, which):
    rows = np.arange(len(scores.images["id"])) % 2 == which
    return replace(scores, images={name: np.asarray(column)[rows] for name, column in scores.images.items()})


@pytest.fixture(scope="module")
def outcomes(small_run):
    """Every other image of a made-up run plays validation."""
    return [replace(one, test=half(one.test, 0), validation=half(one.test, 1)) for one in load(small_run)]


@pytest.fixture(scope="module")
def setting_by(outcomes):
    """A function of a rule that gives the one setting with the points it chooses."""
    return lambda **rule: join(with_operating_points(outcomes, OperatingSpec(**rule))).settings[0]


def points_of(one):
    return {point.learner: point for point in one.operating_points}


def test_seeds_are_joined_at_their_own_thresholds(setting_by):
    one = setting_by(miss_rate=0.4)
    found, missed, groups = points_of(one)["CoOp"], [], []
    for outcome in one.outcomes["CoOp"]:
        scores, correct, _, _ = outcome.test.samples
        threshold = next(row.value.value for row in outcome.rows if row.metric.key == "threshold")
        missed.append((scores < threshold) | ~correct.astype(bool))
        groups.append(outcome.test.groups[0])
    joined, rate = accuracy(np.concatenate(missed), groups=np.concatenate(groups)), found.rate("miss")
    assert rate.value == joined.value == pytest.approx(np.mean([each.mean() for each in missed]))
    assert (rate.over("images").low, rate.over("images").high) == joined.interval
    assert found.on_validation["threshold"].seeds == (1, 2) and len(set(found.on_validation["threshold"].per_seed)) == 2
    assert rate.over("seeds").low <= rate.value <= rate.over("seeds").high


def test_validation_images_choose_the_learner(setting_by):
    for rule, best in (({"miss_rate": 0.5}, max), ({"hit_rate": 0.3}, min)):
        found = [one for one in points_of(setting_by(**rule)).values() if not one.reason]
        name = "hit" if "miss_rate" in rule else "miss"
        assert preferred(found) is best(found, key=lambda one, name=name: one.on_validation[name].value.value)
    assert preferred([]) is None


def test_no_threshold_says_how_far_the_rule_could_go(setting_by):
    found = tuple(points_of(setting_by(miss_rate=0.0)).values())
    assert all(
        one.rate("miss").value is None and "in 2 of 2 seeds, misnamed base images alone" in one.reason for one in found
    )
    least = {one.learner: max(one.on_validation["least_miss"].per_seed) for one in found}
    best = min(least, key=least.get)
    assert why_none(found).endswith(f"is {100 * least[best]:.1f} %, of {best}.")
    assert whether_it_holds(found[0]) == f"no threshold: misnames {100 * least['zero-shot']:.1f} % of base"
    assert "no threshold by this rule" in sentence(found[0]) and found[0].rate("miss").reason in found[0].reason


@pytest.mark.parametrize(
    ("interval", "words"),
    [((0.1, 0.2), "holds on test"), ((0.1, 0.3), "undecided at this n"), ((0.21, 0.3), "does not hold on test")],
)
def test_whether_the_rate_holds(setting_by, interval, words):
    found = points_of(setting_by(miss_rate=0.5))["GMoP"]
    miss = replace(found.on_test["miss"], value=Value(interval[0], (Interval(*interval, "images"),)))
    on_test = {**found.on_test, "miss": miss}
    assert whether_it_holds(replace(found, rule={"miss_rate": 0.2}, on_test=on_test)) == words


def test_a_decision_is_on_the_page_and_in_the_data(outcomes, small_run):
    results = join(with_operating_points(outcomes, OperatingSpec(miss_rate=0.5)))
    run = RunFolder.read(small_run)
    assert "Where to run it" not in report(run).html()
    chosen = story_of(run, results)
    check_report(chosen)
    page = chosen.html()
    assert "Where to run it" in page and "Chosen on validation images" in page and 'id="operating-1"' in page
    rows = decision_results(results)
    (one,) = decisions(results)
    threshold = rows.where(entity=one.preferred.learner, metric="threshold").rows[0]
    assert threshold == one.preferred.on_validation["threshold"]
    assert {row.where.get("part") for row in rows} == {None, "validation"}
