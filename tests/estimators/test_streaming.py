"""Blocks add up to the whole: exact where the error is a mean over images, a uniform sample elsewhere; memory flat."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import outputs

from openworld.core.errors import OpenworldError
from openworld.estimators import AC, ESTIMATORS, FRAP, IM, Outputs
from openworld.estimators.streaming import Sampler, estimate_stream, of_images, sample_rows, uniform_sample
from openworld.runs import to_json

VARIANTS = {
    "FRAP, the target's tau": FRAP(tau_source="target"),
    "FRAP, no threshold": FRAP(rule=None),
    "FRAP, pseudo-labels": FRAP(reference="pseudo-labels"),
    "FRAP, fixed": FRAP(tau=0.01),
}
SOURCE, TARGET = outputs(0, 300, 4, 2.0, 2), outputs(1, 900, 4, 1.5, 2)


def cut(target, size):
    return lambda: (target.take(slice(start, start + size)) for start in range(0, target.n, size))


def made(name):
    return (VARIANTS.get(name) or ESTIMATORS[name]()).fit(SOURCE)


ALONE = [name for name, estimator in ESTIMATORS.items() if not hasattr(estimator, "score")]
EXACT = [name for name in ALONE if of_images(made(name))]


def test_means_over_images_are_exact():
    assert {"AC", "DoC", "IM", "GDE", "ATC-MC", "ATC-NE", "CBPE", "FRAP", "RAP"} <= set(EXACT)
    assert {"COT", "COTT", "two-views", "ProjNorm", "ALine-S", "ALine-D"} <= set(ALONE) - set(EXACT)


def test_given_slices_are_looked_at_together():
    """The weights of the source rest on the shares of the whole target."""
    source, target = (replace(one, slices=one.logits[:, :2] > 0) for one in (SOURCE, TARGET))
    fitted = {"IM": IM(slices="given").fit(source)}
    assert not of_images(fitted["IM"])
    found = estimate_stream(fitted, lambda: (target.take(slice(start, start + 90)) for start in range(0, 900, 90)))
    assert to_json(found["IM"]) == to_json(fitted["IM"].estimate(target))


@pytest.mark.parametrize("name", (*ALONE, *VARIANTS))
def test_a_target_that_fits_into_the_sample_is_estimated_as_ever(name):
    found = estimate_stream({name: made(name)}, cut(TARGET, 70))[name]
    assert to_json(found) == to_json(made(name).estimate(TARGET))


@pytest.mark.parametrize("name", EXACT)
def test_blocks_add_up_to_the_whole(name):
    whole = made(name).estimate(TARGET, interval=False)
    few = uniform_sample(cut(TARGET, 70)(), 200)
    found = estimate_stream({name: made(name)}, cut(TARGET, 70), sample=few)[name]
    tolerance = 0.02 if name == "FRAP" else 1e-12  # the sample gives FRAP's reference its temperature
    assert found.accuracy == pytest.approx(whole.accuracy, abs=tolerance)
    assert (found.details["n_target"], found.details["sampled"]) == (900, 200)
    assert found.interval[0] <= found.accuracy <= found.interval[1]
    assert found.sample_scores is None


@pytest.mark.parametrize("name", ["FRAP", *VARIANTS])
def test_frap_at_the_temperature_of_the_sample_is_exact(name):
    few = uniform_sample(cut(TARGET, 70)(), 200)
    streamed = estimate_stream({name: made(name)}, cut(TARGET, 70), sample=few)[name]
    estimator = VARIANTS.get(name, FRAP())
    if "tau" in streamed.details and estimator.tau == "dynamic":
        tau = streamed.details["tau"]
        by_hand = FRAP(tau=tau, tau_source=estimator.tau_source, rule=estimator.rule).fit(SOURCE)
        if estimator.tau_source == "own" and estimator.rule:
            by_hand = FRAP().fit(SOURCE).__class__(by_hand.estimator, by_hand.known, FRAP().fit(SOURCE).state)
        assert streamed.accuracy == pytest.approx(by_hand.estimate(TARGET, interval=False).accuracy, abs=1e-12)
    else:
        assert streamed.accuracy == pytest.approx(made(name).estimate(TARGET, interval=False).accuracy, abs=1e-12)


@pytest.mark.parametrize("name", sorted(set(ALONE) - set(EXACT)))
def test_what_is_sampled_says_so(name):
    few = uniform_sample(cut(TARGET, 70)(), 200)
    found = estimate_stream({name: made(name)}, cut(TARGET, 70), sample=few, interval=False)[name]
    assert found.warnings[-1] == "estimated on a uniform sample of 200 of 900 target images"
    assert found.accuracy == made(name).estimate(few.outputs, interval=False).accuracy


def test_images_that_say_nothing_do_not_count():
    """IM speaks of images in bins that the source has; blocks in which none is are passed over."""
    source = Outputs([[3.0, 0.0], [3.0, 0.0]], labels=[0, 1])
    target = [Outputs([[0.0, 0.0]] * 3), Outputs([[3.0, 0.0]] * 2)]
    fitted = IM(calibrate=False).fit(source)
    sample = uniform_sample(target, 2, seed=1)
    found = estimate_stream({"IM": fitted}, lambda: target, sample=sample, interval=False)["IM"]
    assert found.accuracy == 0.5 and found.details["dropped_mass"] == pytest.approx(0.6)


@given(st.integers(1, 40), st.integers(1, 60), st.integers(0, 3))
def test_the_draw_does_not_depend_on_the_blocks(size, rows, seed):
    one, other = (uniform_sample(cut(TARGET.take(slice(0, 50)), part)(), rows, seed=seed) for part in (size, 50))
    assert one.rows.tolist() == other.rows.tolist() == sorted(one.rows.tolist())
    assert one.n == 50 and len(one.rows) == min(rows, 50) and one.whole is (rows >= 50)
    np.testing.assert_array_equal(one.outputs.logits, TARGET.logits[one.rows])


def test_every_image_is_as_likely():
    counts = np.zeros(20)
    small = TARGET.take(slice(0, 20))
    for seed in range(400):
        counts[uniform_sample(cut(small, 3)(), 5, seed=seed).rows] += 1
    assert np.abs(counts - 100).max() < 45  # 5 standard deviations of a binomial of 400 and 1/4


def test_a_sample_stays_small_with_many_classes():
    assert sample_rows(Outputs(np.zeros((1, 2)))) == 50_000
    assert sample_rows(Outputs(np.zeros((1, 1000)), reference=np.zeros((1, 1000)))) == 10_000
    assert sample_rows(Outputs(np.zeros((1, 20_000)))) == 5_000


def test_blocks_that_do_not_go_together_are_refused():
    bare = Outputs(np.eye(4))
    for blocks, words in (
        ([TARGET, Outputs(TARGET.logits, TARGET.labels)], "some blocks of the target have reference, others none"),
        ([bare, Outputs(np.eye(5))], "blocks of the target have 4 and 5 classes"),
        ([Outputs(np.eye(4), partners=(np.eye(4),)), bare], "have 1 and 0 partners"),
        ([], "the target holds no image"),
    ):
        with pytest.raises(OpenworldError, match=words):
            uniform_sample(blocks)


def test_late_blocks_are_checked_too():
    sampler = Sampler(2)
    sampler.add(TARGET)
    with pytest.raises(OpenworldError, match="4 and 5 classes"):
        for _ in range(50):  # most blocks offer no image to a full sample
            sampler.add(Outputs(np.eye(5)[:1], np.zeros(1, int), np.eye(5)[:1], (np.eye(5)[:1],) * 2))


def test_memory_does_not_grow_with_the_target():
    """A hundred blocks need no more than ten do."""
    block, fitted = outputs(2, 2000, 4), {"AC": AC().fit(SOURCE)}

    def largest(count):
        tracemalloc.start()
        estimate_stream(fitted, lambda: (block for _ in range(count)), sample=uniform_sample([block] * 3, 500))
        sample = uniform_sample((block for _ in range(count)), 500)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak, sample.n

    largest(10)
    (small, _), (large, n) = largest(10), largest(100)
    assert n == 200_000 and large < 1.2 * small
