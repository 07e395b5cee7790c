"""OpenPL's scenarios: class counts by hand, nestedness and equal sizes as properties, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openworld import OpenworldError
from openworld.datasets import base_new_split
from openworld.evaluations.dynamic.scenarios import (
    LEVELS,
    class_order,
    co_evolution,
    distribution_shift,
    emerging_classes,
    require_levels,
    varying_ratio,
)

class_counts = st.integers(2, 30)
seeds = st.integers(0, 10)


def halves(classes, seed):
    return base_new_split(classes, class_order(classes, seed))


def uneven_labels(classes, seed=0):
    """1 to 7 images of each class, in any order."""
    generator = np.random.default_rng(seed)
    return generator.permutation(np.repeat(np.arange(classes), generator.integers(1, 8, classes)))


def sizes(run, kind):
    return [int(np.isin(view.classes, getattr(run, kind)).sum()) for view in run.views]


def test_class_counts_by_hand():
    labels = np.arange(47)  # as many classes as DTD has: 24 base, 23 new
    base, new = halves(47, 1)
    emerging, varying = emerging_classes(labels, base, new), varying_ratio(labels, base, new)
    assert sizes(emerging, "base") == [24] * 6
    assert sizes(emerging, "new") == [0, 5, 9, 14, 18, 23]  # .2 * 23 = 4.6, 9.2, 13.8, 18.4
    assert sizes(varying, "new") == [0, 5, 10, 14, 19, 23]  # .2 * 24 = 4.8, 9.6, 14.4, 19.2, and 24 of only 23
    assert sizes(varying, "base") == [24, 19, 14, 10, 5, 1]
    few = emerging_classes(np.arange(12), range(2), range(2, 12))
    assert sizes(few, "new") == [0, 0, 1, 1, 2, 10]  # steps of the smaller side, and in the end all


def test_ten_classes_of_ten_images_taken_over_by_ten():
    labels = np.repeat(np.arange(22), 10)
    run = co_evolution(labels, range(12), range(12, 22), seed=1)
    assert [len(view.classes) for view in run.views] == [10] * 6
    assert sizes(run, "new") == [0, 2, 4, 6, 8, 10]
    assert [view.size for view in run.views] == [100] * 6
    assert [int((labels[view.images] >= 12).sum()) for view in run.views] == [0, 20, 40, 60, 80, 100]


@settings(max_examples=30)
@given(class_counts, seeds)
def test_what_is_new_stays_and_what_goes_was_there_before(classes, seed):
    labels = uneven_labels(classes)
    for make in (emerging_classes, varying_ratio):
        run = make(labels, *halves(classes, seed))
        for before, after in zip(run.views, run.views[1:], strict=False):
            assert kind(before, run.new) <= kind(after, run.new)
            assert kind(after, run.base) <= kind(before, run.base)
        for view in run.views:
            assert set(labels[view.images]) == set(view.classes.tolist())
            assert view.size == np.isin(labels, view.classes).sum()
    assert {len(view.classes) for view in run.views} == {len(run.base)}


def kind(view, classes):
    return set(view.classes.tolist()) & set(classes.tolist())


@settings(max_examples=30)
@given(class_counts, seeds, st.none() | st.integers(1, 40))
def test_images_of_a_shift_are_nested_and_constant_in_number(classes, seed, limit):
    source, variant = uneven_labels(classes, 1), uneven_labels(classes, 2)
    variant = variant[variant % 2 == 0]
    labels, shifted = np.concatenate([source, variant]), np.arange(len(source) + len(variant)) >= len(source)
    run = distribution_shift(labels, shifted, np.arange(0, classes, 2), seed, image_limit=limit)
    size = min(int((source % 2 == 0).sum()), len(variant), limit or len(labels))
    old, new = ([set(view.images[shifted[view.images] == side].tolist()) for view in run.views] for side in (0, 1))
    assert [len(one) for one in new] == [round(level * size) for level in LEVELS]
    assert [len(one) + len(other) for one, other in zip(old, new, strict=True)] == [size] * 6
    assert all(before <= after for before, after in zip(new, new[1:], strict=False))
    assert all(after <= before for before, after in zip(old, old[1:], strict=False))
    assert all((labels[view.images] % 2 == 0).all() and len(run.new) == 0 for view in run.views)


@settings(max_examples=30)
@given(class_counts, class_counts, seeds, st.integers(1, 12), st.integers(30, 200))
def test_co_evolution_is_nested_in_classes_and_images(own, foreign, seed, class_limit, image_limit):
    labels = np.concatenate([uneven_labels(own, 1), own + uneven_labels(foreign, 2)])
    limits = {"class_limit": class_limit, "image_limit": image_limit}
    run = co_evolution(labels, range(own), range(own, own + foreign), seed, **limits)
    count = min(class_limit, own, foreign)
    quota = run.views[0].size // count
    assert 1 <= quota <= image_limit // count
    for view in run.views:
        assert np.bincount(labels[view.images], minlength=own + foreign)[view.classes].tolist() == [quota] * count
    for before, after in zip(run.views, run.views[1:], strict=False):
        assert kind(before, run.new) <= kind(after, run.new)
        assert kind(after, run.base) <= kind(before, run.base)
        arrived, left = (set(view.images[labels[view.images] >= own].tolist()) for view in (before, after))
        assert arrived <= left


def test_a_seed_is_an_order_and_another_seed_another():
    labels = uneven_labels(20)
    once, again, other = (emerging_classes(labels, *halves(20, seed)) for seed in (1, 1, 2))
    assert [view.images.tolist() for view in once.views] == [view.images.tolist() for view in again.views]
    assert once.base.tolist() != other.base.tolist()
    assert class_order(6, 1).tolist() == [4, 5, 1, 3, 2, 0]  # for ever


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (lambda: require_levels([0.5]), "two or more"),
        (lambda: require_levels([0, 0.5, 0.5]), "strictly increasing"),
        (lambda: require_levels([0, 1.5]), "from 0 to 1"),
        (lambda: distribution_shift([0, 0, 1], [False, False, True], [0], 1), "0 of the variant show the 1 classes"),
        (lambda: co_evolution([0, 0], [0], [1], 1), "scarcest with 0 images"),
        (lambda: co_evolution([0, 0], [], [0], 1), "at least one class on each side"),
        (lambda: co_evolution([0, 1, 2, 3], [0, 1], [2, 3], 1, image_limit=1), "at most 0 of each"),
        (lambda: emerging_classes([0, -1], [0], [1]), "labels"),
    ],
)
def test_refusals(attempt, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        attempt()
