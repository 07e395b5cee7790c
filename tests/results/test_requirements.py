"""Requirements on a run are judged on intervals: what holds, what is broken, and what is undecided."""

from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import norm

from openworld.core.errors import OpenworldError
from openworld.metrics import PairedTest, openworld_auc
from openworld.report.finished_runs import CheckedRun, check_report, junit_xml
from openworld.results import METRICS, Interval, Pair, Result, Results, Value, comparison_of
from openworld.results.requirements import BROKEN, HOLDS, OPEN, Requirement, judge, judge_difference

pytestmark = pytest.mark.base

AUC, FPR = METRICS["openworld_auc"], METRICS["fpr_in_positive"]


def results(value=0.6, low=0.5, high=0.7, metric=AUC, n=100):
    own = Value(value, (Interval(low, high, "images", n),) if low is not None else ())
    rows = (
        Result("GMoP", metric, own, {"setting": "emoji"}),
        Result("GMoP", metric, own, {"setting": "emoji", "mix": 1}),
    )
    return Results("recognition", rows)


@pytest.mark.parametrize(
    ("text", "sign", "bound"),
    [("auroc>=0.5", 1, 0.5), ("auroc > 50 %", 1, 0.5), ("fpr <= 20%", -1, 0.2), ("auroc < 1e-1", -1, 0.1)],
)
def test_a_requirement_is_read(text, sign, bound):
    found = Requirement.parse(text)
    assert (found.sign, found.bound) == (sign, pytest.approx(bound))


@pytest.mark.parametrize(
    "text", ["", "auroc", "auroc = 1", "auroc >= high", ">= 0.5", "auroc >= 0.5.1", "a >= 1 points"]
)
def test_another_text_is_refused_with_an_example(text):
    with pytest.raises(OpenworldError, match="openworld_auc >= 0.5"):
        Requirement.parse(text)


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("openworld_auc >= 0.5", HOLDS),
        ("openworld_auc >= 0.501", OPEN),
        ("openworld_auc >= 0.7", OPEN),
        ("openworld_auc >= 0.701", BROKEN),
        ("openworld_auc <= 0.7", HOLDS),
        ("openworld_auc <= 0.6", OPEN),
        ("openworld_auc <= 0.499", BROKEN),
    ],
)
def test_the_whole_interval_decides(text, decision):
    (check,) = judge(results(), [Requirement.parse(text)])
    assert check.decision == decision


def test_a_number_without_interval_or_value_cannot_be_told():
    for undefined in (results(low=None), Results("demo", (Result("a", AUC, Value(None, reason="no new image")),))):
        (check,) = judge(undefined, [Requirement("openworld_auc", 1, 0.1)])
        assert check.decision == OPEN and check.reason and check.more is None


def test_the_numbers_of_the_run_as_a_whole_are_meant_where_no_place_is_named():
    assert len(judge(results(), [Requirement("openworld_auc", 1, 0.5)])) == 1
    assert len(judge(results(), [Requirement("openworld_auc", 1, 0.5)], where={"mix": 1})) == 1


@pytest.mark.parametrize(
    ("entity", "metric", "where", "says"),
    [
        ("", "aurok", {}, "aurok"),
        ("", "accuracyy", {}, "nor 'accuracy'"),
        ("Gmop", "openworld_auc", {}, "GMoP"),
        ("", "openworld_auc", {"mix": 2}, "mix"),
    ],
)
def test_what_is_not_there_is_refused(entity, metric, where, says):
    with pytest.raises(OpenworldError, match=says):
        judge(results(), [Requirement(metric, 1, 0.5)], entity=entity, where=where)


@pytest.mark.parametrize("bound", [1.5, -0.1, float("inf")])
def test_a_bound_that_no_run_can_break_or_reach_is_refused(bound):
    with pytest.raises(OpenworldError, match="same for every run: OpenworldAUC is at least 0 and at most 1"):
        judge(results(), [Requirement("openworld_auc", 1, bound)])
    assert judge(results(0.0, 0.0, 0.0, FPR), [Requirement(FPR.key, -1, 0.0)])[0].decision == HOLDS


def pair(low, high, metric=AUC, second=0.5):
    test = PairedTest((low + high) / 2, (high - low) / 4, 50.0, 0.1)
    first, other = (Result("GMoP", metric, Value(value)) for value in (0.55, second))
    found = comparison_of("GMoP", "GMoP", metric, test)
    return Pair(first, other, found.__class__(**vars(found) | {"interval": Interval(low, high, "images")}))


@pytest.mark.parametrize(
    ("low", "high", "metric", "decision"),
    [
        (-0.009, 0.1, AUC, HOLDS),
        (-0.02, 0.1, AUC, OPEN),
        (-0.2, -0.02, AUC, BROKEN),
        (-0.1, 0.009, FPR, HOLDS),
        (0.02, 0.2, FPR, BROKEN),
    ],
)
def test_a_run_may_be_worse_by_a_margin_in_the_direction_of_its_metric(low, high, metric, decision):
    (check,) = judge_difference([pair(low, high, metric)], 0.01)
    assert check.decision == decision


def test_a_run_that_is_the_same_is_not_worse():
    same = pair(-0.02, 0.02, second=0.55)
    assert judge_difference([same], 0.0)[0].decision == HOLDS


def test_a_margin_below_zero_is_refused():
    assert judge_difference([], 0.0) == ()
    with pytest.raises(OpenworldError, match="margin"):
        judge_difference([], -0.1)


def test_what_does_not_hold_is_said_to_hold_in_at_most_a_twentieth_of_samples():
    """The bound is the true number: base scores N(1, 1), new ones N(0, 1), nine of ten named right."""
    generator, true, said = np.random.default_rng(0), 0.81 * norm.cdf(1 / np.sqrt(2)), 0
    for _ in range(300):
        sides = (
            generator.normal(1, 1, 60),
            generator.random(60) < 0.9,
            generator.normal(0, 1, 60),
            generator.random(60) < 0.9,
        )
        found = openworld_auc(*sides)
        value = Value(found.value, (Interval(*found.interval(), "images", 120),))
        (check,) = judge(Results("demo", (Result("a", AUC, value),)), [Requirement("openworld_auc", 1, true)])
        said += check.decision == HOLDS
    assert said <= 0.05 * 300


def test_a_report_is_as_bad_as_its_worst_and_says_so_in_every_form():
    checks = judge(results(), [Requirement("openworld_auc", 1, bound) for bound in (0.4, 0.6, 0.9)])
    whole = CheckedRun("runs/<new>", checks)
    report = check_report(whole)
    assert (whole.decision, whole.exit_code) == (BROKEN, 3)
    assert [CheckedRun("r", checks[:count]).exit_code for count in (1, 2)] == [0, 4]
    suite = ElementTree.fromstring(junit_xml(whole))
    assert suite.attrib["tests"] == "3" and suite.attrib["failures"] == "1" and suite.attrib["skipped"] == "1"
    assert len(suite.findall("testcase/failure")) == 1
    assert report.export("markdown").count("| GMoP, OpenworldAUC") == 3
    assert report.to_dict()["decision"] == BROKEN and len(report.to_dict()["checks"]) == len(report.results) == 3


@pytest.mark.parametrize(("bound", "more"), [("0.65", 1500), ("0.55", 300)])
def test_how_many_more_images_would_tell_follows_the_end_of_the_interval_that_faces_the_bound(bound, more):
    (check, *_) = judge(results(0.6, 0.5, 0.8), [Requirement.parse(f"openworld_auc >= {bound}")])
    assert (check.decision, check.more) == (OPEN, more)
