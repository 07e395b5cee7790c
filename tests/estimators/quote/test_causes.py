"""The likely cause of a change: each of the four alone, what logits cannot tell apart, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from moved_periods import FEWER, LIKE, MIXED, OTHER_THINGS, SOURCE, STYLE, TEXT, images, joined
from simulated import refused

from openworld.estimators import Outputs
from openworld.estimators.quote.causes import (
    APPEARANCE,
    MEANING,
    NEW,
    NONE,
    SHARES,
    UNCLEAR,
    CauseLimits,
    coherence,
    decide_cause,
    fit_causes,
    unlike_share,
)


@pytest.mark.parametrize(
    ("period", "cause"),
    [(LIKE, NONE), (STYLE, APPEARANCE), (OTHER_THINGS, MEANING), (FEWER, SHARES), (MIXED, NEW)],
)
def test_features_tell_the_four_causes_apart(period, cause):
    found = fit_causes(SOURCE).read(period)
    assert found.cause == cause, found
    assert bool(found.why) == (cause != NONE) and found.signs.view == "features"


@pytest.mark.parametrize(
    ("period", "cause"), [(LIKE, NONE), (STYLE, APPEARANCE), (FEWER, SHARES), (MIXED, UNCLEAR), (OTHER_THINGS, UNCLEAR)]
)
def test_logits_alone_do_not_tell_new_classes_from_meaning(period, cause):
    found = fit_causes(replace(SOURCE, features=None)).read(period)
    assert found.cause == cause, found
    assert (set(found.among) >= {NEW, MEANING}) == (cause == UNCLEAR)


@pytest.mark.parametrize("seed", range(20, 24))
def test_new_classes_that_have_something_in_common_are_no_appearance(seed):
    mixed = joined(images(200, seed), images(100, seed + 100, names=range(25, 35)))
    found = fit_causes(SOURCE).read(mixed)
    assert found.cause == NEW or NEW in found.among, found


def test_rows_are_of_images_that_carry_the_cause():
    reader = fit_causes(SOURCE)
    rows = reader.read(MIXED, count=20).rows
    assert len(rows) == 20 and np.mean(np.array(rows) >= 200) > 0.9
    assert set(FEWER.predictions[list(reader.read(FEWER, count=20).rows)]) <= set(range(6))
    assert reader.read(LIKE).rows == ()


def test_labels_and_the_order_of_images_do_not_matter():
    reader, order = fit_causes(SOURCE), np.random.default_rng(0).permutation(MIXED.n)
    first, second = reader.read(MIXED), reader.read(MIXED.take(order))
    assert first.cause == second.cause and first.signs.coherence == pytest.approx(second.signs.coherence)
    assert set(order[list(second.rows)]) == set(first.rows)
    assert reader.read(STYLE).signs == reader.read(replace(STYLE, labels=None)).signs


def test_few_images_of_few_classes_are_not_told_apart():
    lost = images(40, 8, names=range(2), push=lambda labels: 1.5 * TEXT[60])
    found = fit_causes(SOURCE).read(replace(lost, labels=None))
    assert found.cause == UNCLEAR and set(found.among) == {NEW, APPEARANCE, MEANING}


def test_the_share_unlike_the_source_is_that_of_the_mixture():
    generator = np.random.default_rng(0)
    source, period = generator.normal(size=2000), generator.normal(size=2000)
    assert unlike_share(source, period) < 0.05
    period[:600] -= 8
    assert unlike_share(source, period) == pytest.approx(0.3, abs=0.05)


def test_coherence_has_mean_0_and_variance_1_under_random_signs():
    pulls = np.random.default_rng(0).normal(size=(12, 5)) * np.arange(1, 13)[:, None]
    signs = np.random.default_rng(1).choice([-1, 1], (4000, 12, 1))
    found = np.array([coherence(sign * pulls) for sign in signs])
    assert found.mean() == pytest.approx(0, abs=0.06) and found.var() == pytest.approx(1, abs=0.15)
    assert coherence(np.ones((10, 3))) == pytest.approx(np.sqrt(45))  # all as one: the most that can be


def test_limits_decide():
    signs = fit_causes(SOURCE).read(STYLE).signs
    assert decide_cause(signs, CauseLimits())[0] == APPEARANCE
    assert decide_cause(signs, CauseLimits(coherence=1e9, apart=1e9, mostly=0.0))[0] == MEANING


def test_what_does_not_go_together_is_refused():
    reader = fit_causes(SOURCE)
    refused("classes and the source 20", reader.read, Outputs(np.eye(3), features=np.eye(3)))
    refused("needs features", reader.read, replace(LIKE, features=None))
    refused("numbers and those of the source 64", reader.read, replace(LIKE, features=LIKE.features[:, :5]))
