"""Estimates from labels: the plain numbers where all is labelled, unbiased over all samples, means, refusals."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled_stream import refused, simulated

from openworld.labels import (
    PlanSettings,
    closed_set_stream,
    estimate,
    label_answers,
    plan,
    plan_from_draw,
    right_answers,
    scored_stream,
)
from openworld.labels.sample import pair_correction, pseudo_outcomes, read_batches
from openworld.metrics import SOFT_QUANTITIES, openworld_auc

pytestmark = pytest.mark.base

ENOUGH = 10
image = st.tuples(st.integers(-4, 4), st.booleans(), st.booleans())


def estimated(truth, n=100, *, design="stratified", seed=0, **options):
    drawn = plan(truth.stream, n, settings=PlanSettings(design, seed=seed))
    return estimate(drawn, truth.answer(drawn), **options)


@given(st.lists(image, min_size=2, max_size=60), st.integers(0, 2**16))
def test_all_images_labelled_without_proxies_give_openworld_auc_to_the_last_bit(images, seed):
    scores, base, right = (np.array(column) for column in zip(*images, strict=True))
    if base.all() or not base.any():
        return
    proxies = np.random.default_rng(seed).uniform(0.1, 0.9, base.size)
    stream = scored_stream(scores, proxies / 2, (1 - proxies) / 2, proxies)
    drawn = plan_from_draw(stream, np.arange(base.size))
    quality = estimate(drawn, label_answers(base, base & right, ~base & right), proxy_weight=0.0)
    plain = openworld_auc(scores[base], right[base], scores[~base], right[~base])
    assert quality.of("openworld_auc").value == plain.value
    assert quality.of("auroc").value == plain.auroc
    assert quality.of("base_accuracy").value == plain.base_accuracy
    assert quality.of("openworld_auc").interval() == (plain.value, plain.value)


def test_weights_of_horvitz_and_thompson_are_those_of_openworld_auc():
    truth = simulated()
    drawn = plan(truth.stream, 100, settings=PlanSettings("poisson"))
    found = estimate(drawn, truth.answer(drawn), proxy_weight=0.0).of()
    chosen, weights = drawn.chosen, 1 / drawn.inclusion[drawn.chosen]
    base, new = (chosen[side[chosen]] for side in (truth.base, ~truth.base))
    plain = openworld_auc(
        truth.scores[base],
        truth.base_right[base],
        truth.scores[new],
        truth.new_right[new],
        base_weights=weights[truth.base[chosen]],
        new_weights=weights[~truth.base[chosen]],
    )
    assert found.value == pytest.approx(plain.value, abs=1e-12)


def tiny(seed, size):
    """A plan of a few images, with any proxies, whose draw can be replaced."""
    rng = np.random.default_rng(seed)
    truth = simulated(seed, size)
    base, right, new_right = rng.random((3, size))
    stream = scored_stream(rng.integers(0, 4, size), base * right, (1 - base) * new_right, base)
    return truth, plan_from_draw(stream, np.arange(size), rng.uniform(0.2, 0.9, size))


def numerator(truth, drawn, trust):
    """Twice the pair sum."""
    batches = read_batches([(drawn, truth.answer(drawn))])
    found = pseudo_outcomes(batches, 0, trust)
    twice = found.base_right @ drawn.streams[0].ranking.twice_below(found.new_right)
    return twice + pair_correction(batches, 0, trust, ("base_right", "new_right"))


def true_numerator(truth, drawn):
    return truth.base_right.astype(float) @ drawn.streams[0].ranking.twice_below(truth.new_right.astype(float))


@pytest.mark.parametrize("trust", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_the_numerator_is_unbiased_over_all_poisson_samples(trust, seed):
    truth, drawn = tiny(seed, 8)
    mean = 0.0
    for labelled in product((False, True), repeat=8):
        chosen, q = np.flatnonzero(labelled), drawn.inclusion
        chance = np.prod(np.where(labelled, q, 1 - q))
        mean += chance * numerator(truth, replace(drawn, chosen=chosen), trust)
    assert mean == pytest.approx(true_numerator(truth, drawn), abs=1e-10)


@pytest.mark.parametrize("trust", [0.0, 0.3, 1.0])
def test_the_numerator_is_unbiased_over_all_stratified_samples(trust):
    truth, drawn = tiny(3, 9)
    stratum = np.array([0, 1, 0, 1, 0, 1, 0, 1, 1])
    q = np.where(stratum == 0, 2 / 4, 3 / 5)
    samples = list(product(combinations(np.flatnonzero(stratum == 0), 2), combinations(np.flatnonzero(stratum), 3)))
    made = (
        replace(drawn, chosen=np.array([*a, *b]), inclusion=q, stratum=stratum, settings=PlanSettings())
        for a, b in samples
    )
    mean = np.mean([numerator(truth, each, trust) for each in made])
    assert mean == pytest.approx(true_numerator(truth, drawn), abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_a_mean_is_the_prediction_powered_mean(seed):
    """In its closed form."""
    rng = np.random.default_rng(seed)
    hat, right = rng.random(300), rng.random(300) < 0.7
    chosen, trust = rng.choice(300, 60, replace=False), rng.random()
    drawn = plan_from_draw(closed_set_stream(hat), chosen, of="overall_accuracy")
    found = estimate(drawn, right_answers(right[chosen]), proxy_weight=trust).of("overall_accuracy")
    residual = right[chosen] - trust * hat[chosen]
    assert found.value == pytest.approx(trust * hat.mean() + residual.mean(), abs=1e-12)
    error = np.sqrt(residual.var(ddof=1) / 60 * (1 - 60 / 300))
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    assert found.these_images.degrees_of_freedom == pytest.approx(59)


@pytest.mark.parametrize(
    ("trust", "reference"), [(0.0, 0.5714285714285714), (0.25, 0.557338850174216), (1.0, 0.5150696864111498)]
)
def test_a_mean_agrees_with_ppi_py(trust, reference):
    """ppi_mean_pointestimate of ppi_py 0.2.3; it is not installed here, because it needs numba."""
    hat, right, chosen = np.arange(40) ** 2 % 41 / 41, np.arange(40) * 7 % 5 > 1, np.arange(0, 40, 3)
    drawn = plan_from_draw(closed_set_stream(hat), chosen, of="overall_accuracy")
    found = estimate(drawn, right_answers(right[chosen]), proxy_weight=trust).of("overall_accuracy")
    assert found.value == pytest.approx(reference, abs=1e-12)


@pytest.mark.parametrize("design", ["random", "stratified", "poisson"])
def test_every_number_is_near_the_truth_and_its_interval_holds_it(design):
    truth = simulated(1, 2000)
    quality = estimated(truth, 600, design=design)
    assert list(quality.numbers) == list(SOFT_QUANTITIES)
    for name, number in quality.numbers.items():
        low, high = number.interval(0.999)
        assert low < truth.whole.value_of(name) < high, name
        assert high - low < 0.25 and number.interval(0.999, like_these=True)[1] > high - 1e-12


def test_images_of_one_group_say_less_of_images_like_these():
    truth = simulated(2, 1000)
    groups = np.argsort(np.argsort(truth.scores)) // 50  # neighbours in score belong together
    alone = estimated(truth, 200).of("base_share")
    grouped = estimated(truth, 200, groups=groups).of("base_share")
    assert grouped.interval() == alone.interval()
    assert grouped.images_like_these.standard_error > 1.5 * alone.images_like_these.standard_error


def test_too_few_labels_on_a_side_are_refused_with_how_many_more():
    truth = simulated(3, 1000, share=0.9)
    quality = estimated(truth, 30, design="random")
    found = quality.of("openworld_auc")
    assert found.value is None and found.n_new < ENOUGH and found.interval() is None
    assert f"{found.n_new} of 30 labels" in found.reason and "more" in found.reason
    needed = quality.of("new_accuracy")
    assert "10 are needed" in needed.reason
    assert needed.more_labels == pytest.approx((ENOUGH - found.n_new) * 30 / found.n_new, abs=1)
    assert quality.of("base_accuracy").value is not None
    rare = simulated(3, 4000, share=0.95)
    for design in ("random", "stratified"):
        few = estimated(rare, 400, design=design).of()
        assert few.n_new >= ENOUGH and few.value is None and "100 are needed" in few.reason and few.more_labels > 0
    assert estimated(rare, 3000).of().value is not None


def test_answers_must_be_whole_and_consistent():
    truth = simulated()
    drawn = plan(truth.stream, 20)
    some = truth.answer(replace(drawn, chosen=drawn.chosen[:-1]))
    refused("19 answers came, expected 20", estimate, drawn, some)
    refused("answer 1: new_right is true, but the image is base", label_answers, [1, 1], [1, 0], [0, 1])
    unnamed = estimate(drawn, replace(truth.answer(drawn), right=None))
    refused("right", unnamed.of, "overall_accuracy")
    refused("one model", unnamed.difference)


def test_a_second_batch_adds_to_the_first_with_weights_fixed_beforehand():
    truth = simulated(4, 1000)
    pilot = plan(truth.stream, 50, settings=PlanSettings("random"))
    first = pilot, truth.answer(pilot)
    rest = plan(truth.stream, 150, settings=PlanSettings(seed=1), earlier=[first])
    assert rest.batch_weights == (0.25, 0.75) and not np.isin(rest.chosen, pilot.chosen).any()
    both = estimate(rest, truth.answer(rest), earlier=[first]).of()
    assert both.n_labelled == 200
    assert both.standard_error < estimate(*first).of().standard_error
    refused("earlier", estimate, rest, truth.answer(rest))


def test_batches_are_unbiased_together():
    truth = simulated(5, 300)
    errors = []
    for seed in range(40):
        pilot = plan(truth.stream, 40, settings=PlanSettings("random", seed=seed))
        rest = plan(truth.stream, 80, settings=PlanSettings(seed=seed), earlier=[(pilot, truth.answer(pilot))])
        found = estimate(rest, truth.answer(rest), earlier=[(pilot, truth.answer(pilot))]).of()
        errors.append((found.value - truth.whole.value) / found.standard_error)
    assert abs(np.mean(errors)) < 0.4 and 0.7 < np.std(errors) < 1.3


def two_models(seed=6, size=1000):
    """Two classifiers that differ on an eighth of the images: names, and whether each is right."""
    rng = np.random.default_rng(seed)
    truth, first = rng.integers(0, 5, size), rng.integers(0, 5, size)
    first = np.where(rng.random(size) < 0.7, truth, first)
    second = np.where(rng.random(size) < 0.16, rng.integers(0, 5, size), first)
    streams = tuple(closed_set_stream(np.full(size, 0.7), names) for names in (first, second))
    return streams, np.stack([first == truth, second == truth]), first != second


def test_the_difference_of_two_accuracies_needs_labels_only_where_names_differ():
    streams, right, differ = two_models()
    drawn = plan(streams, 60, of="overall_accuracy")
    assert differ[drawn.chosen].all()
    quality = estimate(drawn, right_answers(right[:, drawn.chosen]))
    found, truth = quality.difference("overall_accuracy"), right[0].mean() - right[1].mean()
    low, high = found.interval(0.999)
    assert low < truth < high and high - low < 0.08
    chosen = np.random.default_rng(0).choice(1000, 60, replace=False)
    everywhere = plan_from_draw(streams, chosen, of="overall_accuracy")
    wide = estimate(everywhere, right_answers(right[:, everywhere.chosen])).difference("overall_accuracy")
    assert found.standard_error < wide.standard_error / 2
    refused("difference alone", quality.of, "overall_accuracy")
    every = plan(streams, int(differ.sum()), of="overall_accuracy")
    found = estimate(every, right_answers(right[:, every.chosen])).difference("overall_accuracy")
    assert found.value == pytest.approx(truth, abs=1e-12) and found.interval() == (found.value, found.value)


def test_two_models_are_compared_on_the_same_labels():
    truth = simulated(7, 1000)
    rng = np.random.default_rng(0)
    noisy = (truth.scores + rng.normal(0, 1, 1000)).round(2)
    other = scored_stream(
        noisy, *(getattr(truth.stream.expected, name) for name in ("base_right", "new_right", "base"))
    )
    drawn = plan((truth.stream, other), 300)
    answers = truth.answer(drawn)
    twice = label_answers(answers.base, np.repeat(answers.base_right, 2, 0), np.repeat(answers.new_right, 2, 0))
    quality = estimate(drawn, twice)
    true_other = replace(truth, scores=noisy).whole.value
    low, high = quality.difference().interval(0.999)
    assert low < truth.whole.value - true_other < high
    single = [quality.of(model=model).standard_error for model in (0, 1)]
    assert quality.difference().standard_error < np.hypot(*single)
    assert quality.difference().p_value() < 0.05
    assert quality.difference("base_accuracy").value == pytest.approx(0, abs=1e-12)
