"""Two runs compared: pairs, tests corrected over the table, what changed, and runs that cannot be compared."""

from dataclasses import replace

import numpy as np
import pytest

from openworld._errors import OpenworldError
from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.pairing import compare_runs
from openworld.metrics import average, holm, paired_test

BETTER = {"zero-shot": (0.5, 0.5, 1.0, 0), "CoOp": (1.4, 0.9, 1.6, 512)}
WORSE = {"zero-shot": (0.5, 0.5, 1.0, 0), "CoOp": (0.6, 0.0, 0.5, 512)}
NAMES = [f"thing {number}" for number in range(24)]


@pytest.fixture(scope="module")
def outcomes(make_run):
    """Makes a run and reads it."""
    return lambda **options: load(make_run(**({"names": NAMES, "per_class": 8, "seeds": (1, 2)} | options))).outcomes


@pytest.fixture(scope="module")
def two(outcomes):
    return outcomes(learners=WORSE), outcomes(learners=BETTER)


def changed(outcomes, **metrics):
    return tuple(replace(one, metrics={**one.metrics, **metrics}) for one in outcomes)


def test_every_pair_is_the_paired_test_of_means_over_seeds(two):
    first, second = two
    found = compare_runs(first, second, names=("old", "new"))
    assert [pair.title for pair in found.pairs] == ["zero-shot", "CoOp"]
    means = [average([one.result for one in run if one.metrics["learner"] == "CoOp"]) for run in (first, second)]
    alone, pair = paired_test(means[1], means[0]), found.pairs[1]
    assert (pair.first, pair.second) == (means[0].value, means[1].value)
    assert (pair.test.difference, pair.interval) == (alone.difference, alone.interval())
    assert pair.test.p == holm([None, alone.p_value])[1]
    assert (pair.seeds, pair.images, pair.groups) == ((1, 2), 192, 24)
    assert pair.verdict.startswith("better, p")
    assert found.changed == () and found.unpaired == ()


def test_what_did_not_change_cannot_be_tested_and_the_other_way_is_worse(two):
    first, second = two
    same, worse = compare_runs(second, first).pairs
    assert same.test.p is None and same.test.difference == 0 and same.verdict == "the same, picture by picture"
    assert worse.verdict.startswith("worse, p")


def test_another_quantity(two):
    pair = compare_runs(*two, of="auroc").pairs[1]
    assert pair.second == pytest.approx(np.mean([one.result.auroc for one in two[1][2:]]))
    with pytest.raises(OpenworldError, match="did you mean 'auroc'"):
        compare_runs(*two, of="aurocs")


def test_what_stands_still_in_each_run_may_differ(two):
    first, second = two
    found = compare_runs(first, changed(second, shots=4, backbone="other"))
    assert found.changed == (("backbone", "embedded", "other"), ("shots", "16", "4"))
    assert len(found.pairs) == 2
    found = compare_runs(first[2:], changed(second[2:], learner="CoOp, tuned longer"))
    assert found.changed == (("learner", "CoOp", "CoOp, tuned longer"),)
    assert found.pairs[0].title == "emoji-concepts"


def test_what_varies_within_a_run_must_be_equal(two):
    first, second = two
    both = (*second, *changed(second, shots=4))
    assert [pair.title for pair in compare_runs(both, both).pairs] == [
        "zero-shot · 16 shots",
        "CoOp · 16 shots",
        "zero-shot · 4 shots",
        "CoOp · 4 shots",
    ]
    assert len(compare_runs(first, both).pairs) == 2  # the first has 16 shots alone


def test_records_without_a_partner_are_told(two, outcomes):
    found = compare_runs(two[0], outcomes(learners={"CoOp": BETTER["CoOp"], "GMoP": BETTER["CoOp"]}, seeds=(2, 3)))
    assert [(pair.title, pair.seeds) for pair in found.pairs] == [("CoOp", (2,))]
    assert found.unpaired == (
        "zero-shot, seed 1 2: only in the first run",
        "CoOp, seed 1: only in the first run",
        "CoOp, seed 3: only in the second run",
        "GMoP, seed 2 3: only in the second run",
    )


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda one: replace(one, images={name: column[1:] for name, column in one.images.items()}), "192 images in"),
        (lambda one: replace(one, images={**one.images, "label": one.images["label"][::-1]}), "classes or groups"),
        (lambda one: replace(one, images={**one.images, "group": one.images["group"] // 2}), "classes or groups"),
        (lambda one: replace(one, fingerprint="b"), "fingerprints of the test pictures differ"),
    ],
)
def test_other_images_are_refused(two, spoil, sentence):
    first = [replace(one, fingerprint="a") for one in two[0]]
    with pytest.raises(OpenworldError, match=f"CoOp, seed 2 was not scored on the same images.*{sentence}"):
        compare_runs(first, [*first[:3], spoil(first[3])])


def test_nothing_in_common_is_refused(two, outcomes):
    other = outcomes(learners={"KgCoOp": BETTER["CoOp"], "GMoP": BETTER["CoOp"]})
    with pytest.raises(OpenworldError, match=r"in common: zero-shot, CoOp \(seeds 1 2\) against KgCoOp, GMoP"):
        compare_runs(two[0], other)


def test_two_records_of_one_thing_are_refused(two):
    with pytest.raises(OpenworldError, match="the second run has two records of .*zero-shot, seed 1"):
        compare_runs(two[0], (*two[1], *two[1]))
