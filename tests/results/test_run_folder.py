"""Two runs side by side: what differs, over which seeds, and why nothing could be tested."""

from pathlib import Path

import pytest

from openworld import OpenworldError
from openworld.results import METRICS, Result, Results, RunFolder, Value, pair_results, require_same_data

pytestmark = pytest.mark.base

AUC = METRICS["auroc"]


def run(value, seeds=(), per_seed=(), reason=""):
    return Results("demo", (Result("CoOp", AUC, Value(value, reason=reason), {}, seeds, per_seed),))


@pytest.mark.parametrize(
    ("first", "second", "difference", "reason"),
    [
        (run(0.3, (1,), (0.3,)), run(0.5, (2,), (0.5,)), 0.2, "no seed in common"),
        (run(0.3), run(0.5), 0.2, "it has no seeds"),
        (run(0.3, (1,), (0.3,)), run(0.5), 0.2, "it has no seeds"),
        (run(0.3, (1,), (0.3,)), run(None, reason="no new image"), None, "no new image"),
        (run(None, reason="no new image"), run(0.3, (1,), (0.3,)), None, "no new image"),
        (run(0.3, (1, 2), (0.2, 0.4)), run(0.5, (2, 1), (0.7, 0.3)), 0.2, ""),
    ],
)
def test_the_difference_of_two_runs_is_the_second_minus_the_first(first, second, difference, reason):
    (pair,) = pair_results(first, second)
    assert pair.comparison.difference == (None if difference is None else pytest.approx(difference))
    assert reason in pair.comparison.reason


def test_a_metric_that_no_run_has_is_refused_with_those_that_they_have():
    with pytest.raises(OpenworldError, match="auroc"):
        pair_results(run(0.3), run(0.5), "fpr")


def test_runs_that_read_other_images_under_one_name_are_refused():
    def read(**data):
        return RunFolder(Path("run"), "demo", (), provenance=({"data": data},) if data else ())

    require_same_data(read(test="a", far="b"), read(test="a", near="c"))
    require_same_data(read(test="a"), read())
    with pytest.raises(OpenworldError, match="1 of them, such as 'test'"):
        require_same_data(read(test="a", far="b"), read(test="c", far="b"))
