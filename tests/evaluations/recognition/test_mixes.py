"""Other mixes of base and new images: means over draws and seeds, intervals of the expected number, tests."""

from dataclasses import replace

import numpy as np
import pytest

from openworld.evaluations.recognition.class_imbalance import ALL_RATIOS, SHRUNK, mix_rows
from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.results import join
from openworld.metrics import average, openworld_auc
from openworld.metrics.thinning import kept_share

RATIOS = (2.0, 1.0, 0.5)


def mixed(outcome, factor=3.0):
    """The outcome with what a unit of ours says of other mixes; classes of several sizes."""
    test = outcome.test
    kept = np.sort(np.random.default_rng(0).permutation(len(test.images["id"]))[:150])
    images = {name: np.asarray(column)[kept] for name, column in test.images.items()}
    found = mix_rows(images, outcome.learner, factor=factor, ratios=RATIOS, resamples=5, seed=outcome.seed)
    seeded = (replace(row, seeds=(outcome.seed,), per_seed=(row.value.value,)) for row in found)
    rows = (*(row for row in outcome.rows if "ratio" not in row.where), *seeded)
    facts = {**outcome.facts, "imbalance_factor": factor}
    return replace(outcome, test=replace(test, images=images), rows=rows, facts=facts)


def rows_at(outcome, metric, **where):
    return next(row.value for row in outcome.rows if row.metric.key == metric and row.where == where)


@pytest.fixture(scope="module")
def one(small_run):
    return join([mixed(outcome) for outcome in load(small_run)]).settings[0]


def by_hand(outcome, side):
    test = outcome.test
    groups = dict(zip(("base_groups", "new_groups"), test.groups, strict=True))
    weights = kept_share(test.images["label"][test.is_base if side == "base" else ~test.is_base], 3)
    return openworld_auc(*test.samples, **groups, **{f"{side}_weights": weights})


@pytest.mark.parametrize("direction", SHRUNK)
def test_numbers_are_means_of_the_records_and_intervals_those_of_all_draws(one, direction):
    side = SHRUNK[direction]
    for learner, own in one.outcomes.items():
        found = one.value(learner, "openworld_auc", mix=direction)
        mixes = [rows_at(outcome, "openworld_auc", mix=direction) for outcome in own]
        assert found.value == pytest.approx(np.mean([mix.value for mix in mixes]))
        assert found.deviation**2 == pytest.approx(np.mean([mix.deviation**2 for mix in mixes]))
        expected, interval = average([by_hand(outcome, side) for outcome in own]), found.over("images")
        assert (interval.low, interval.high) == expected.interval() and interval.low < expected.value < interval.high


def test_factor_one_gives_the_natural_interval_and_the_natural_tests(small_run):
    (one,) = join([mixed(outcome, factor=1.0) for outcome in load(small_run)]).settings
    for learner in one.learners:
        found, natural = one.value(learner, "openworld_auc", mix="forward"), one.value(learner, "openworld_auc")
        assert found.over("images").low == pytest.approx(natural.over("images").low) and found.deviation == 0
    natural, forward = (
        [test for test in one.results.comparisons if test.where.get("mix") == mix] for mix in (None, "forward")
    )
    assert [test.p for test in natural] == pytest.approx([test.p for test in forward]) and len(natural) == 6


def test_over_all_ratios_means_and_variances_are_means_over_the_seeds(one):
    for key in ("auroc", "auroc_variance"):
        varied = [rows_at(outcome, key, mix=ALL_RATIOS).value for outcome in one.outcomes["CoOp"]]
        assert one.value("CoOp", key, mix=ALL_RATIOS).value == pytest.approx(np.mean(varied))
    shares = {row.where["ratio"]: row.where["new_share"] for row in one.results if "ratio" in row.where}
    assert tuple(shares) == RATIOS and shares[0.5] < shares[2.0]
