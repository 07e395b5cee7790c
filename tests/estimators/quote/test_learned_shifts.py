"""An estimator and a power learned from labelled shifts: by hand, against a slow twin, and what is not told."""

from dataclasses import replace

import numpy as np
import pytest
from simulated import outputs

from openworld import OpenworldError
from openworld.estimators import (
    ESTIMATORS,
    Estimate,
    LabelledShift,
    Null,
    Outputs,
    learn_from_shifts,
    measure_null,
)
from openworld.estimators.quote.learned_shifts import POWERS, ShiftReading, learn

SOURCE = 0.9
FAMILIES = ("blur", "noise", "style", "weather")
DROPS = (0.95, 0.9, 0.8, 0.7)


def null(mean=0.8, spread=0.0):
    estimates = mean + spread * np.array([[-1.0, 1.0], [1.0, -1.0]])
    return Null(100, estimates, np.full((2, 2), mean))


def readings(power=2.0, families=FAMILIES, other=None):
    """COT is right with this power; DoC sees nothing."""
    found = []
    for family in families:
        exponent = (other or {}).get(family, power)
        for relative in DROPS:
            seen = {"COT": relative, "DoC": 1.0}
            found.append(ShiftReading(f"{family} {relative}", family, 50, SOURCE * relative**exponent, seen))
    return found


NULLS = {"COT": null(), "DoC": null(0.9)}


def estimates(cot, doc):
    return {"COT": Estimate.of(1 - cot), "DoC": Estimate.of(1 - doc)}


def alone(found):
    """Learned on COT alone."""
    return [replace(one, relative={"COT": one.relative["COT"]}) for one in found]


def test_the_power_is_found_and_sets_left_out_are_hit():
    found = learn(SOURCE, readings(), NULLS)
    assert (found.estimator, found.power, found.families) == ("COT", 2.0, 4)
    assert found.mean_error == pytest.approx(0, abs=1e-12)
    assert [one.accuracy for one in found.left_out] == [one.accuracy for one in readings()]


def test_a_target_is_corrected_by_its_share_of_the_null():
    quoted = learn(SOURCE, alone(readings()), NULLS).quote(estimates(0.8 * 0.75, 0.9))
    assert quoted.accuracy == pytest.approx(SOURCE * 0.75**2) and quoted.method == "COT"
    assert (quoted.low, quoted.high) == (pytest.approx(quoted.accuracy), pytest.approx(quoted.accuracy))
    assert "16 labelled sets" in quoted.why and "4 families" in quoted.why and "0.0 points" in quoted.why


def test_nothing_is_quoted_above_the_source():
    assert learn(SOURCE, alone(readings()), NULLS).quote(estimates(0.99, 0.9)).accuracy == SOURCE


def test_each_family_is_left_out_as_a_whole():
    rng = np.random.default_rng(0)
    found = [
        replace(one, accuracy=float(rng.random()), relative={name: float(rng.uniform(0.5, 1.1)) for name in NULLS})
        for one in readings()
    ]

    def answer(one, name, power):
        return SOURCE * min(one.relative[name], 1) ** power

    for left in learn(SOURCE, found, NULLS).left_out:
        others = [one for one in found if one.family != left.family]
        cost = {
            (name, power): sum(abs(answer(one, name, power) - one.accuracy) for one in others)
            for name in NULLS
            for power in POWERS[:, 0]
        }
        name, power = min(cost, key=cost.get)
        (own,) = (one for one in found if one.name == left.name)
        assert left.estimated == pytest.approx(answer(own, name, power))


def test_the_interval_is_as_wide_as_the_errors_left_out_and_the_null_make_it():
    other = {"noise": 2.3}
    sharp = learn(SOURCE, alone(readings(other=other)), NULLS).quote(estimates(0.64, 0.9))
    blunt = learn(SOURCE, alone(readings(other=other)), {"COT": null(spread=0.05)}).quote(estimates(0.64, 0.9))
    assert sharp.accuracy == blunt.accuracy and 0.04 < sharp.high - sharp.low < blunt.high - blunt.low
    exact = learn(SOURCE, alone(readings()), {"COT": null(spread=0.05)})
    assert exact.quote(estimates(0.64, 0.9)).high - exact.quote(estimates(0.64, 0.9)).low == pytest.approx(
        2 * 1.96 * exact.spreads["COT"]
    )


@pytest.mark.parametrize(
    ("artificial", "caution"), [((), 1.0), (FAMILIES[:1], 1.0), (FAMILIES[:2], 2.0), (FAMILIES, 2.0)]
)
def test_errors_count_double_unless_three_families_are_real(artificial, caution):
    found = [replace(one, artificial=one.family in artificial) for one in alone(readings(other={"noise": 2.3}))]
    plain = learn(SOURCE, alone(readings(other={"noise": 2.3})), NULLS).quote(estimates(0.7, 0.9))
    quoted = learn(SOURCE, found, NULLS).quote(estimates(0.7, 0.9))
    assert quoted.accuracy == plain.accuracy
    assert quoted.high - quoted.low == pytest.approx(caution * (plain.high - plain.low))


@pytest.mark.parametrize(
    ("found", "target", "words"),
    [
        (alone(readings()), (0.8 * 0.5, 0.9), "lowest labelled set"),
        (readings(), (0.8 * 0.75, 0.9), "DoC"),
        (alone(readings(other={"noise": 0.5, "style": 4.0})), (0.8 * 0.75, 0.9), "missed by more"),
        (alone(readings(families=FAMILIES[:3], other={"noise": 1.55})), (0.8 * 0.75, 0.9), "to either side"),
    ],
)
def test_no_number_for_what_was_not_learned_but_bounds(found, target, words):
    quoted = learn(SOURCE, found, NULLS).quote(estimates(*target))
    assert quoted.accuracy is None and words in quoted.why and 0 <= quoted.low <= quoted.high <= 1


def test_errors_count_where_the_target_is():
    """Strong shifts that are missed say little of a mild one."""
    found = readings()
    strong = [replace(one, accuracy=0.1 if one.relative["COT"] == 0.7 else one.accuracy) for one in found[:8]]
    learned = learn(SOURCE, alone(strong + found[8:12]), NULLS)
    assert learned.quote(estimates(0.8 * 0.97, 0.9)).accuracy is not None
    assert learned.quote(estimates(0.8 * 0.69, 0.9)).accuracy is None


def test_an_estimator_that_is_silent_is_no_candidate_and_none_is_refused():
    found = readings()
    silent = [replace(found[0], relative=found[0].relative | {"COT": float("nan")}), *found[1:]]
    assert list(learn(SOURCE, silent, NULLS).powers) == ["DoC"]
    with pytest.raises(OpenworldError, match="COT.*larger sets"):
        learn(SOURCE, alone(silent), NULLS)


def test_the_chosen_one_may_be_silent_on_the_target():
    learned = learn(SOURCE, readings(), NULLS)
    quoted = learned.quote({"COT": Estimate.of(None), "DoC": Estimate.of(0.2)})
    assert quoted.accuracy is None and "COT" in quoted.why
    with pytest.raises(OpenworldError, match="COT is missing"):
        learned.quote({"DoC": Estimate.of(0.2)})


@pytest.mark.parametrize("families", [(), ("blur",), ("blur", "noise")])
def test_two_families_are_too_few(families):
    with pytest.raises(OpenworldError, match="3 families.*another kind"):
        learn(SOURCE, readings(families=families), NULLS)


def test_four_sets_are_too_few():
    with pytest.raises(OpenworldError, match="4 labelled"):
        learn(SOURCE, [readings()[place] for place in (0, 4, 8, 12)], NULLS)


def simulated(seed, strength, over=1.0, n=400):
    """An over-confident model is as sure as ever, and more often wrong."""
    found = outputs(seed, n=n, strength=strength)
    return Outputs(over * found.logits, found.labels)


def test_a_model_that_grows_over_confident_is_seen_through():
    source, target = simulated(0, 2.4, n=800), simulated(99, 1.5, over=1.2, n=800)
    asked = {name: ESTIMATORS[name]() for name in ("DoC", "COT", "ATC-MC")}
    shifts = [
        LabelledShift(f"{family} {place}", family, simulated(10 * place + seed, 2.4 - 0.3 * place, 1 + place / 16))
        for seed, family in enumerate(("noise", "blur", "fog", "snow", "frost"))
        for place in (1, 2, 3, 4)
    ]
    learned = learn_from_shifts(asked, source, shifts, measure_null(asked, source, target.n), seed=1)
    found = {name: one.fit(source).estimate(target, interval=False) for name, one in asked.items()}
    quoted, true = learned.quote(found), 1 - target.mistakes / target.n
    assert quoted.accuracy == pytest.approx(true, abs=0.06) and quoted.low <= true <= quoted.high
    assert found["DoC"].accuracy > true + 0.05 and learned.powers["DoC"] > 1.3
