"""Rows of units as means over seeds, by hand."""

import pytest

from openworld import OpenworldError
from openworld.results import METRICS, Interval, Result, Value, join_seeds
from openworld.results.join import mean_ends, mean_of

pytestmark = pytest.mark.base

AUROC, IMAGES = METRICS["auroc"], METRICS["images"]


def row(seed, value, **where):
    over = () if value is None else (Interval(value - 0.1, value + 0.1, "images", 50),)
    return Result("CoOp", AUROC, Value(value, over, "" if value is not None else "too few"), where, (seed,), (value,))


def test_seeds_are_sorted_and_averaged_place_by_place():
    near, far = join_seeds(
        [[row(2, 0.7, level=0), row(2, 0.4, level=1)], [row(1, 0.5, level=0), row(1, None, level=1)]]
    )
    assert near.value.value == pytest.approx(0.6) and (near.seeds, near.per_seed) == ((1, 2), (0.5, 0.7))
    assert [interval.over for interval in near.value.intervals] == ["seeds"]
    assert far.value.value is None and far.value.reason == "too few" and far.per_seed == (None, 0.4)


def test_one_seed_keeps_its_interval_over_images():
    (alone,) = join_seeds([[row(1, 0.5)]])
    assert alone == row(1, 0.5)


def test_intervals_over_images_of_a_mean_are_those_given():
    over = (Interval(0.55, 0.65, "images", 50),)
    (mean,) = join_seeds([[row(1, 0.5)], [row(2, 0.7)]], lambda row: over if row.entity == "CoOp" else ())
    assert [interval.over for interval in mean.value.intervals] == ["images", "seeds"]
    assert mean.value.over("images") == over[0]


def test_ends_over_images_are_averaged_over_the_seeds_where_every_seed_has_them():
    rows, bare = [row(1, 0.5), row(2, 0.7)], Result("CoOp", AUROC, Value(0.6), {}, (3,), (0.6,))
    (mean,) = join_seeds([[each] for each in rows], mean_ends(rows))
    over = mean.value.over("images")
    assert (over.low, over.high, over.n) == (pytest.approx(0.5), pytest.approx(0.7), 50)
    assert mean_ends([*rows, bare])(bare) == () and mean_ends(rows)(row(1, 0.5, level=1)) is None


def test_deviations_of_a_draw_are_averaged_as_a_root_mean_square():
    drawn = [
        [Result("CoOp", AUROC, Value(0.5, deviation=by), {}, (seed,), (0.5,))] for seed, by in ((1, 0.3), (2, 0.4))
    ]
    (mean,) = join_seeds(drawn)
    assert mean.value.deviation == pytest.approx((0.125) ** 0.5)  # (.09 + .16) / 2


def test_numbers_at_several_places_are_averaged_seed_by_seed():
    near, far = join_seeds([[row(1, 0.5, level=0), row(1, 0.3, level=1)], [row(2, 0.7, level=0), row(2, 0.5, level=1)]])
    over = (Interval(0.4, 0.6, "images", 50),)
    found = mean_of([near, far], {"level": "mean"}, over)
    assert found.value.value == pytest.approx(0.5) and found.per_seed == pytest.approx((0.4, 0.6))
    assert [interval.over for interval in found.value.intervals] == ["images", "seeds"] and found.where[
        "level"
    ] == "mean"
    other_seeds = mean_of([near, row(3, 0.4, level=1)], {})
    assert other_seeds.seeds == () and other_seeds.value.intervals == ()
    assert mean_of([near, row(1, None, level=1)], {}).value.reason == "too few"


def test_what_units_share_stands_once():
    fact = Result("", IMAGES, Value(50))
    assert join_seeds([[fact, row(1, 0.5)], [fact, row(2, 0.5)]])[0] == fact


@pytest.mark.parametrize(
    ("units", "words"),
    [
        ([[row(1, 0.5, level=0)], [row(1, 0.5, level=0)]], "AUROC of CoOp at level 0 of one seed"),
        ([[Result("", IMAGES, Value(50))], [Result("", IMAGES, Value(49))]], "do not agree on images of the data"),
    ],
)
def test_what_cannot_be_joined_is_refused(units, words):
    with pytest.raises(OpenworldError, match=words):
        join_seeds(units)
