"""Blocks add up to the whole: exact where the error is a mean over images, a uniform sample elsewhere; memory flat."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import outputs, refused

from openworld.estimators import AC, ESTIMATORS, FRAP, IM, Outputs
from openworld.estimators.streaming import Sampler, estimate_stream, of_images, sample_rows, spans
from openworld.runs import to_json

VARIANTS = {
    "FRAP, the target's tau": FRAP(tau_source="target"),
    "FRAP, no threshold": FRAP(rule=None),
    "FRAP, pseudo-labels": FRAP(reference="pseudo-labels"),
    "FRAP, fixed": FRAP(tau=0.01),
}
SOURCE, TARGET = outputs(0, 200, 4, 2.0, 2), outputs(1, 400, 4, 1.5, 2)


def uniform_sample(blocks, rows=None, seed=0):
    sampler = Sampler(rows, seed=seed)
    for block in blocks:
        sampler.add(block)
    return sampler.sample


def cut(target, size):
    return lambda: (target.take(slice(start, start + size)) for start in range(0, target.n, size))


FITTED = {name: kind().fit(SOURCE) for name, kind in ESTIMATORS.items() if not hasattr(kind, "score")}
FITTED |= {name: estimator.fit(SOURCE) for name, estimator in VARIANTS.items()}
EXACT = {name for name in FITTED if of_images(FITTED[name])}
FEW = uniform_sample(cut(TARGET, 70)(), 150)


@pytest.fixture(scope="module")
def streamed():
    """All of them on a target of which the sample holds a part."""
    return estimate_stream(FITTED, cut(TARGET, 70), FEW, resamples=40)


def test_means_over_images_are_exact():
    assert {"AC", "DoC", "IM", "GDE", "ATC-MC", "ATC-NE", "CBPE", "FRAP", "RAP", *VARIANTS} <= EXACT
    assert {"COT", "COTT", "two-views", "ProjNorm", "ALine-S", "ALine-D"} <= FITTED.keys() - EXACT


def test_given_slices_are_looked_at_together():
    """The weights of the source rest on the shares of the whole target."""
    source, target = (replace(one, slices=one.logits[:, :2] > 0) for one in (SOURCE, TARGET))
    fitted = IM(slices="given").fit(source)
    assert not of_images(fitted)
    assert to_json(
        estimate_stream({"IM": fitted}, cut(target, 90), uniform_sample(cut(target, 90)()))["IM"]
    ) == to_json(fitted.estimate(target))


def test_a_target_that_fits_into_the_sample_is_estimated_as_ever():
    found = estimate_stream(FITTED, cut(TARGET, 70), uniform_sample(cut(TARGET, 70)()), resamples=20)
    assert to_json(found) == to_json({name: one.estimate(TARGET, resamples=20) for name, one in FITTED.items()})


@pytest.mark.parametrize("name", FITTED)
def test_blocks_add_up_to_the_whole_and_what_is_sampled_says_so(streamed, name):
    """At the temperature that the sample gives FRAP's reference; its source may have one of its own."""
    found, fitted = streamed[name], FITTED[name]
    assert (found.details["n_target"], found.details["sampled"], found.sample_scores) == (400, 150, None)
    assert found.interval[0] <= found.accuracy <= found.interval[1]
    if name not in EXACT:
        assert found.warnings[-1] == "estimated on a uniform sample of 150 of 400 target images"
        assert found.accuracy == fitted.estimate(FEW.outputs, interval=False).accuracy
        return
    if name.startswith("FRAP") and "tau" in found.details:
        at_tau = replace(fitted.estimator, tau=found.details["tau"])
        own = fitted.estimator.tau_source == "own"
        fitted = replace(fitted, estimator=at_tau) if own else at_tau.fit(SOURCE)
    whole = fitted.estimate(TARGET, interval=False)
    assert found.accuracy == pytest.approx(whole.accuracy, abs=1e-12)
    for detail in {"dropped_mass", "target_confidence", "base_weight", "divergence"} & whole.details.keys():
        assert found.details[detail] == pytest.approx(whole.details[detail], abs=1e-12)


def test_images_that_say_nothing_do_not_count():
    """IM speaks of images in bins that the source has; blocks in which none is are passed over."""
    source = Outputs([[3.0, 0.0], [3.0, 0.0]], labels=[0, 1])
    target = [Outputs([[0.0, 0.0]] * 3), Outputs([[3.0, 0.0]] * 2)]
    fitted = IM(calibrate=False).fit(source)
    sample = uniform_sample(target, 2, seed=1)
    found = estimate_stream({"IM": fitted}, lambda: target, sample, interval=False)["IM"]
    assert found.accuracy == 0.5 and found.details["dropped_mass"] == pytest.approx(0.6)


@given(st.integers(1, 40), st.integers(1, 60), st.integers(0, 3))
def test_the_draw_does_not_depend_on_the_blocks(size, rows, seed):
    one, other = (uniform_sample(cut(TARGET.take(slice(0, 50)), part)(), rows, seed=seed) for part in (size, 50))
    assert one.rows.tolist() == other.rows.tolist() == sorted(one.rows.tolist())
    assert one.n == 50 and len(one.rows) == min(rows, 50) and one.whole is (rows >= 50)
    np.testing.assert_array_equal(one.outputs.logits, TARGET.logits[one.rows])


def test_every_image_is_as_likely():
    small = TARGET.take(slice(0, 20))
    drawn = [uniform_sample(cut(small, 7)(), 5, seed=seed).rows for seed in range(200)]
    assert np.abs(np.bincount(np.concatenate(drawn), minlength=20) - 50).max() < 31  # 5 deviations of 200 and 1/4


def test_a_sample_stays_small_with_many_classes():
    assert sample_rows(Outputs(np.zeros((1, 2)))) == 50_000
    assert sample_rows(Outputs(np.zeros((1, 1000)), reference=np.zeros((1, 1000)))) == 10_000
    assert sample_rows(Outputs(np.zeros((1, 20_000)))) == 5_000


def test_blocks_that_do_not_go_together_are_refused():
    bare, late = Outputs(np.eye(4)), Sampler(2)
    others = [TARGET, Outputs(TARGET.logits, TARGET.labels)]
    refused("some blocks of the target have reference, others none", uniform_sample, others)
    refused("blocks of the target have 4 and 5 classes", uniform_sample, [bare, Outputs(np.eye(5))])
    refused("have 1 and 0 partners", uniform_sample, [Outputs(np.eye(4), partners=(np.eye(4),)), bare])
    refused("the target holds no image", uniform_sample, [])
    late.add(TARGET)
    other = Outputs(np.eye(5)[:1], [0], np.eye(5)[:1], (np.eye(5)[:1],) * 2)  # of which a full sample takes nothing
    refused("4 and 5 classes", lambda: [late.add(other) for _ in range(50)])


def test_memory_does_not_grow_with_the_target():
    """Fifty blocks need no more than ten do."""
    block, fitted = outputs(2, 2000, 4), {"AC": AC().fit(SOURCE)}

    def largest(count):
        tracemalloc.start()
        estimate_stream(fitted, lambda: (block for _ in range(count)), uniform_sample([block] * 3, 500))
        sample = uniform_sample((block for _ in range(count)), 500)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak, sample.n

    largest(10)
    (small, _), (large, n) = largest(10), largest(50)
    assert n == 100_000 and large < 1.2 * small


def pieces(keys, size):
    for start in range(0, len(keys), size):
        rows = np.arange(len(keys))[start : start + size]
        yield TARGET.take(rows), np.asarray(keys)[rows]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 30))
def test_spans_are_the_runs_of_equal_keys_whatever_the_blocks(keys, size):
    keys = sorted(keys)
    found = list(spans(pieces(keys, size)))
    assert [one.key for one in found] == sorted(set(keys))
    assert [one.sample.n for one in found] == [keys.count(key) for key in sorted(set(keys))]
    for one in found:
        assert one.first == keys.index(one.key) and one.sample.whole
        np.testing.assert_array_equal(one.sample.outputs.logits, TARGET.logits[one.first : one.first + one.sample.n])


def test_a_long_span_is_sampled_and_keys_that_fall_are_refused():
    short, long = spans(pieces([0] * 3 + [1] * 27, 7), rows=5)
    assert short.sample.whole and not long.sample.whole
    assert (long.sample.n, long.sample.outputs.n) == (27, 5)
    refused("image 4 comes before the ones above it; sort them", lambda: list(spans(pieces([0, 0, 2, 2, 1], 2))))
