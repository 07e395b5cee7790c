"""Alarms over time: the sum by hand and by a plain loop, the stated rate with an error that stays, and recovery."""

from itertools import accumulate

import numpy as np
import pytest
from simulated import refused

from openworld.estimators import Null, alarm_limit
from openworld.estimators.quote import alarm
from openworld.estimators.quote.alarm import add_step

ALERT, N = 0.8, 100


@pytest.fixture(autouse=True)
def few_years(monkeypatch):
    monkeypatch.setattr(alarm, "YEARS", 600)


def null(between=0.01, within=0.02, sources=25, targets=4, seed=0, n=N):
    """Estimates whose parts have exactly these standard deviations (within: over what is left free)."""
    generator = np.random.default_rng(seed)
    means = generator.standard_normal(sources)
    left = generator.standard_normal((sources, targets))
    left -= left.mean(axis=1, keepdims=True)
    means = (means - means.mean()) / means.std(ddof=1) * np.sqrt(between**2 + within**2 / targets)
    left = left / np.sqrt((left**2).mean() * targets / (targets - 1)) * within
    return Null(n, 0.9 + means[:, None] + left, np.full((sources, targets), 0.9))


def followed(accuracies, known=None, n=N, **chosen):
    """S after each chunk, in limits, and the limit."""
    limit = alarm_limit(known or null(), n, **chosen)
    steps = [0.0 if one is None else limit.step(float(one), n, ALERT) for one in accuracies]
    return np.array([*accumulate(steps, add_step, initial=0.0)][1:]), limit


def test_by_hand():
    """Steps are z - k, in deviations of 2 points; at most 3, but for z above 12; S is at most 2 h."""
    statistics, found = followed([0.9, 0.76, 0.6, None, 0.5, 0.8])
    k, h = (ALERT - found.lasting(N, ALERT)) / 0.02, found.limit
    assert 1 < k < 2 < 3 <= h < 6
    assert statistics * h == pytest.approx([0.0, 2 - k, 5 - k, 5 - k, 2 * h, 2 * h - k])
    assert found.alone(N, ALERT) == pytest.approx(ALERT - 0.02 * 12)
    assert k == pytest.approx(0.5 + 1.96 * np.sqrt(0.01**2 + 0.0002 / 25) / 0.02, rel=0.2)
    of_400 = 0.5 + (k - 0.5) * 2  # half the deviation, and the same error of the source
    assert found.lasting(400, ALERT) == pytest.approx(ALERT - 0.01 * of_400)
    assert found.step(0.77, 400, ALERT) * h == pytest.approx(3 - of_400)


@pytest.mark.parametrize("seed", range(3))
def test_a_plain_loop_finds_the_same(seed):
    """Chunks of all sizes after two nulls, of which every seventh tells nothing."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(20, 400, 60).tolist()
    accuracies = np.clip(0.83 - 0.001 * np.arange(60) + 0.05 * generator.standard_normal(60), 0, 1)
    nulls = (null(seed=seed), 0.02, N), (null(0.03, 0.01, seed=seed, n=250), 0.01, 250)
    found = now = highest = 0.0
    for place, (accuracy, n) in enumerate(zip(accuracies.tolist(), sizes, strict=True)):
        known, deviation, null_n = nulls[place % 2]
        deviation *= (null_n / n) ** 0.5
        limit = alarm_limit(known, n, seed=seed, over=60)
        if place % 7 != 3:
            found = add_step(found, limit.step(accuracy, n, ALERT))
            step = (limit.lasting(n, ALERT) - accuracy) / deviation
            step = step if (ALERT - accuracy) / deviation > 12 else min(step, 3.0)
            now = min(2.0, max(0.0, now + step / limit.limit))
        assert found == pytest.approx(now)
        highest = max(highest, found)
    assert highest > 0.5


@pytest.mark.parametrize(
    ("between", "over"),
    [(0.01, 60), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((0.04, 60), (0.01, 1)))],
)
def test_years_at_the_limit_raise_alarms_at_the_rate(between, over):
    """Each year has another null, one error of its source that stays, and is quoted 5 points too high."""
    years, rate, raised, generator = 100, 0.1, 0, np.random.default_rng(1)
    for _ in range(years):
        estimates = generator.normal(0, between, (25, 1)) + generator.normal(0, 0.02, (25, 4))
        accuracies = ALERT + 0.05 + generator.normal(0, between) + generator.normal(0, 0.02, over)
        known = Null(N, estimates + 0.05, np.zeros((25, 4)))
        raised += (followed(np.clip(accuracies, 0, 1), known, rate=rate, over=over)[0] > 1).any()
    assert 0.02 <= raised / years <= 0.15


def test_noise_that_falls_farther_than_it_rises_is_allowed_for():
    """A null whose estimates are seldom much too low has a higher limit than one whose are seldom much too high."""
    down = null(between=0.0, sources=50).estimates
    down[::10, 0] -= 0.1
    limits = [alarm_limit(Null(N, one, np.full(down.shape, 0.9)), N).limit for one in (down, 1.8 - down)]
    assert limits[0] > 1.2 * limits[1]


def test_a_healthy_year_raises_none_and_a_fall_is_found_soon():
    generator = np.random.default_rng(2)
    accuracies = 0.88 + 0.02 * generator.standard_normal(365)
    assert not (followed(accuracies)[0] > 1).any()
    accuracies[200:300] -= 0.18
    standing = followed(accuracies)[0] > 1
    assert not standing[:200].any() and standing[203:300].all() and not standing[303:].any()
    slow, limit = followed([0.77] * 30, null(between=0.0))  # no chunk alone would raise it
    assert limit.alone(N, ALERT) < 0.77 < limit.lasting(N, ALERT) and slow[0] < 1 < slow[-1]
    healthy = [0.88] * 10
    assert followed([*healthy, 0.62, *healthy, 0.62, *healthy])[0].max() < 1
    assert (followed([*healthy, 0.62, 0.62, *healthy])[0] > 1).tolist().index(True) == 11


def test_limits_follow_rates_and_seeds():
    strict, usual, loose = (alarm_limit(null(), N, rate=rate).lasting(N, ALERT) for rate in (0.005, 0.05, 0.5))
    assert strict < usual < loose
    one, same, other = (alarm_limit(null(), N, seed=seed).limit for seed in (0, 0, 1))
    assert one == same != other and one == pytest.approx(other, rel=0.15)
    still = Null(N, np.full((25, 4), 0.9), np.full((25, 4), 0.9))  # taken to move by half an image
    first, _, last = followed([0.8, 0.79, 0.5], still)[0]
    assert first < 1 < last < np.inf
    refused("two sources", alarm_limit, Null(10, np.zeros((1, 4)), np.zeros((1, 4))), 10)


def test_a_set_that_is_not_cut_is_tested_once():
    """At 5 %, one-sided: 1.65 standard deviations, a little more for what few draws leave open."""
    deviation = np.sqrt(0.01**2 + 0.02**2)
    limit = alarm_limit(null(), N, over=1)
    alone = limit.alone(N, ALERT)
    assert limit.lasting(N, ALERT) == ALERT and 1.6 < (ALERT - alone) / deviation < 1.9
    assert limit.step(alone - 1e-6, N, ALERT) > 1 > limit.step(alone + 1e-6, N, ALERT)


@pytest.mark.slow
def test_days_of_mixed_sizes_keep_the_rate_of_a_year():
    """Sources whose error stays for a year, days of three sizes, an accuracy of the alert itself all the time."""
    generator, within, between, sizes, years = np.random.default_rng(0), 0.2, 0.01, (50, 100, 400), 0
    for source in range(20):
        limits = {}
        for n in sizes:
            errors, noise = generator.normal(0, between, 100), generator.normal(0, within / n**0.5, (100, 4))
            limits[n] = alarm_limit(Null(n, 0.9 + errors[:, None] + noise, np.full((100, 4), 0.9)), n, seed=source)
        error, statistic, most = generator.normal(0, between), 0.0, 0.0
        for n in generator.choice(sizes, 365):
            step = limits[int(n)].step(ALERT + error + generator.normal(0, within / n**0.5), int(n), ALERT)
            statistic = add_step(statistic, step)
            most = max(most, statistic)
        years += most > 1
    assert years <= 3  # 1 of 20 is allowed; more than 3 come in one of sixty cases
