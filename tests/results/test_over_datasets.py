"""Ranks over data sets: the larger number comes first, unless less is better."""

import pytest

from openworld.results import METRICS, Metric, Result, Value
from openworld.results.over_datasets import MEAN_RANK, DatasetMeans

pytestmark = pytest.mark.base

NEITHER = Metric("baseness", "baseness", better=0)


@pytest.mark.parametrize(("metric", "sign"), [(METRICS["auroc"], 1), (METRICS["fpr_in_positive"], -1), (NEITHER, 1)])
def test_ranks_follow_the_direction_of_the_metric(metric, sign):
    values = {"CoOp": (0.9, 0.8, 0.7), "GMoP": (0.5, 0.6, 0.4)}
    rows = {name: [Result(name, metric, Value(value)) for value in three] for name, three in values.items()}
    means = DatasetMeans(metric, ("dtd", "sun", "pets"), rows, {})
    ranks = {row.entity: row.value.value for row in means.rows() if row.metric == MEAN_RANK}
    assert ranks == ({"CoOp": 1.0, "GMoP": 2.0} if sign > 0 else {"CoOp": 2.0, "GMoP": 1.0})


def test_a_method_that_lacks_a_data_set_has_no_mean_and_no_rank():
    auroc = METRICS["auroc"]
    rows = {
        name: [Result(name, auroc, Value(value), {}, (1, 2), (value, value))] * 5
        for name, value in (("a", 0.3), ("b", 0.2))
    }
    partly = DatasetMeans(auroc, tuple("abcde"), rows | {"b": (None, *rows["b"][1:])}, {"setting": "mean"})
    assert partly.complete == ("a",) and partly.mean("b").value.value is None
    assert {row.entity for row in partly.rows() if row.metric == MEAN_RANK} == {"a"}
    whole = DatasetMeans(auroc, tuple("abcde"), rows, {"setting": "mean"})
    assert whole.mean("a").value.value == pytest.approx(0.3) and whole.mean("a").seeds == (1, 2)
    over = {test.where.get("over", "data sets") for test in whole.tests if test.metric == auroc}
    assert over == {"data sets", "seeds"}
