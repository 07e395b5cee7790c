"""Two runs compared: pairs, tests corrected over the table, what changed, and runs that cannot be compared."""

from dataclasses import replace

import numpy as np
import pytest

from openworld.core.errors import OpenworldError
from openworld.evaluations.recognition.comparison import compare_outcomes
from openworld.evaluations.recognition.outcome import load
from openworld.metrics import average, holm, paired_test

BETTER = {"zero-shot": (0.5, 0.5, 1.0, 0), "CoOp": (1.4, 0.9, 1.6, 512)}
WORSE = {"zero-shot": (0.5, 0.5, 1.0, 0), "CoOp": (0.6, 0.0, 0.5, 512)}
NAMES = [f"thing {number}" for number in range(24)]


@pytest.fixture(scope="module")
def outcomes(make_run):
    """Makes a run and reads it."""
    return lambda **options: load(make_run(**({"names": NAMES, "per_class": 8, "seeds": (1, 2)} | options)))


@pytest.fixture(scope="module")
def two(outcomes):
    return outcomes(learners=WORSE), outcomes(learners=BETTER)


def changed(outcomes, **fields):
    return tuple(replace(one, facts={**one.facts, **fields}) for one in outcomes)


def titles(found):
    return [pair.first.entity for pair in found.pairs]


def test_every_pair_is_the_paired_test_of_means_over_seeds(two):
    first, second = two
    found = compare_outcomes(first, second, names=("old", "new"))
    assert titles(found) == ["zero-shot", "CoOp"]
    means = [average([one.test.result for one in run if one.learner == "CoOp"]) for run in (first, second)]
    alone, pair = paired_test(means[1], means[0]), found.pairs[1]
    assert (pair.first.value.value, pair.second.value.value) == (means[0].value, means[1].value)
    test = pair.comparison
    assert (test.difference, (test.interval.low, test.interval.high)) == (alone.difference, alone.interval())
    assert test.p == holm([None, alone.p_value])[1] and test.better
    assert pair.first.seeds == (1, 2) and "n = 192 in 24 groups" in found.basis
    assert found.changes == () and found.unpaired == ()


def test_what_did_not_change_cannot_be_tested_and_the_other_way_is_worse(two):
    same, worse = (pair.comparison for pair in compare_outcomes(two[1], two[0]).pairs)
    assert same.p is None and same.difference == 0 and same.reason == "the same, image by image" and worse.worse


def test_another_quantity(two):
    pair = compare_outcomes(*two, of="auroc").pairs[1]
    assert pair.second.value.value == pytest.approx(np.mean([one.test.result.auroc for one in two[1][2:]]))
    with pytest.raises(OpenworldError, match="did you mean 'auroc'"):
        compare_outcomes(*two, of="aurocs")


def test_what_stands_still_in_each_run_may_differ(two):
    first, second = two
    found = compare_outcomes(first, changed(second, shots=4, backbone="other"))
    assert found.changes == (("backbone", "embedded", "other"), ("shots", "16", "4"))
    assert len(found.pairs) == 2
    found = compare_outcomes(first[2:], changed(second[2:], learner="CoOp, tuned longer"))
    assert found.changes == (("learner", "CoOp", "CoOp, tuned longer"),)
    assert titles(found) == ["emoji-concepts"]


def test_what_varies_within_a_run_must_be_equal(two):
    first, second = two
    both = (*second, *changed(second, shots=4))
    assert titles(compare_outcomes(both, both)) == [
        "zero-shot · 16 shots",
        "CoOp · 16 shots",
        "zero-shot · 4 shots",
        "CoOp · 4 shots",
    ]
    assert len(compare_outcomes(first, both).pairs) == 2  # the first has 16 shots alone


def test_records_without_a_partner_are_named(two, outcomes):
    found = compare_outcomes(two[0], outcomes(learners={"CoOp": BETTER["CoOp"], "GMoP": BETTER["CoOp"]}, seeds=(2, 3)))
    assert titles(found) == ["CoOp"] and found.pairs[0].first.seeds == (2,)
    assert found.unpaired == (
        "zero-shot, seed 1 2: only in the first run",
        "CoOp, seed 1: only in the first run",
        "CoOp, seed 3: only in the second run",
        "GMoP, seed 2 3: only in the second run",
    )


def other_images(outcome, images):
    return replace(outcome, test=replace(outcome.test, images=images))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda images: {name: column[1:] for name, column in images.items()}, "192 images in"),
        (lambda images: {**images, "label": images["label"][::-1]}, "classes or groups"),
        (lambda images: {**images, "group": images["group"] // 2}, "classes or groups"),
        (None, "fingerprints of the test images differ"),
    ],
)
def test_other_images_are_refused(two, spoil, sentence):
    first = [replace(one, fingerprint="a") for one in two[0]]
    last = replace(first[3], fingerprint="b") if spoil is None else other_images(first[3], spoil(first[3].test.images))
    with pytest.raises(OpenworldError, match=f"CoOp, seed 2 was not scored on the same images.*{sentence}"):
        compare_outcomes(first, [*first[:3], last])


def test_nothing_in_common_and_two_records_of_one_thing_are_refused(two, outcomes):
    other = outcomes(learners={"KgCoOp": BETTER["CoOp"], "GMoP": BETTER["CoOp"]})
    for runs, words in (
        ((two[0], other), r"in common: zero-shot, CoOp \(seeds 1 2\) against KgCoOp, GMoP"),
        ((two[0], (*two[1], *two[1])), "the second run has two records of .*zero-shot, seed 1"),
    ):
        with pytest.raises(OpenworldError, match=words):
            compare_outcomes(*runs)
