"""Learning from labelled shifts: how sets are read, by hand, against a slow twin, and what is not told."""

from dataclasses import replace

import numpy as np
import pytest
from simulated import outputs, refused

from openworld.estimators import (
    AC,
    COT,
    ESTIMATORS,
    Estimate,
    LabelledShift,
    Null,
    Outputs,
    learn_from_shifts,
    measure_null,
)
from openworld.estimators.quote.learned_shifts import POWERS, ShiftReading, _weights, centre, learn, read_shifts

CLASSES = 30


def confident(labels, seed=0, wrong=0.05):
    """A model that is sure, and wrong on some images."""
    rng = np.random.default_rng(seed)
    named = np.where(rng.random(len(labels)) < wrong, rng.integers(0, CLASSES, len(labels)), labels)
    return Outputs(6 * np.eye(CLASSES)[named] + rng.normal(size=(len(labels), CLASSES)), labels)


def test_a_balanced_set_that_has_not_shifted_reads_as_source_like_sets_do():
    source = confident(np.arange(900) % CLASSES)
    balanced = confident(np.arange(90) % CLASSES, seed=1)
    nulls = measure_null({"COT": COT()}, source, 90, sources=6)
    (reading,) = read_shifts({"COT": COT()}, source, [LabelledShift("same", "none", balanced)], nulls)
    as_it_lies = COT().fit(source).estimate(balanced, interval=False).accuracy / centre(nulls["COT"])
    assert reading.relative["COT"] == pytest.approx(1, abs=0.05) and as_it_lies > 1.1
    assert reading.accuracy == pytest.approx(1 - balanced.mistakes / 90, abs=0.05) and reading.n == 90


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0] * 5 + [1] * 5, [0.1] * 10),  # as on the source
        ([0] * 6 + [1] * 4, [0.5 / 6] * 6 + [0.5 / 4] * 4),  # by chance: weighted back to the source's shares
        ([0] * 4, [0.25] * 4),  # a class is missing, by chance
        ([0] * 95 + [1] * 5, [0.01] * 100),  # other shares: kept
        ([2], [1.0]),  # a class that the source lacks
    ],
)
def test_class_shares_are_those_of_the_source_unless_they_have_moved(labels, expected):
    source = Outputs(np.eye(3)[[0, 1] * 100], [0, 1] * 100)
    assert _weights(Outputs(np.zeros((len(labels), 3)), labels), source) == pytest.approx(expected)


def test_what_an_estimator_cannot_say_is_nan_what_has_no_null_is_not_asked_and_bad_sets_are_named():
    class Silent:
        def fit(self, source):
            return self

        def estimate(self, target, interval):
            return Estimate.of(None)

    source, asked = outputs(0), {"silent": Silent(), "AC": AC(), "COT": COT()}
    known = measure_null({"AC": AC()}, source, 20)
    nulls = {"silent": known["AC"], "AC": known["AC"]}
    (reading,) = read_shifts(asked, source, [LabelledShift("night", "light", outputs(1))], nulls)
    assert np.isnan(reading.relative["silent"]) and reading.relative["AC"] > 0 and "COT" not in reading.relative
    frap = {"FRAP": ESTIMATORS["FRAP"]()}
    for bad, words in (
        (Outputs(np.eye(4)), "night.*labels"),
        (Outputs(np.eye(5), range(5), reference=np.eye(5)), "night.*5 classes.*4"),
        (Outputs(np.eye(4), range(4)), "FRAP on labelled shift night.*reference"),
    ):
        refused(words, read_shifts, frap, source, [LabelledShift("night", "light", bad)], {"FRAP": known["AC"]})


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
    for families in ((), FAMILIES[:1], FAMILIES[:2]):
        refused("3 families.*another kind", learn, SOURCE, readings(families=families), NULLS)
    refused("4 labelled", learn, SOURCE, readings()[::4], NULLS)


def test_a_target_is_corrected_by_its_share_of_the_null():
    quoted = learn(SOURCE, alone(readings()), NULLS).quote(estimates(0.8 * 0.75, 0.9))
    assert quoted.accuracy == pytest.approx(SOURCE * 0.75**2) and quoted.method == "COT"
    assert (quoted.low, quoted.high) == (pytest.approx(quoted.accuracy), pytest.approx(quoted.accuracy))
    assert learn(SOURCE, alone(readings()), NULLS).quote(estimates(0.99, 0.9)).accuracy == SOURCE  # and none above it
    assert "16 labelled sets" in quoted.why and "4 families" in quoted.why and "0.0 points" in quoted.why


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


def test_a_model_that_grows_over_confident_is_seen_through():
    """It is as sure as ever, and more often wrong."""

    def grown(seed, place, n=300):
        found = outputs(seed, n, strength=2.4 - 0.3 * place)
        return Outputs((1 + place / 16) * found.logits, found.labels)

    source, target = grown(0, 0, 600), grown(99, 3, 600)
    asked = {name: ESTIMATORS[name]() for name in ("DoC", "ATC-MC")}
    shifts = [
        LabelledShift(f"{family} {place}", family, grown(10 * place + seed, place))
        for seed, family in enumerate(FAMILIES)
        for place in (1, 2, 4)
    ]
    nulls, done = measure_null(asked, source, target.n, sources=8), []
    learned, again = (learn_from_shifts(asked, source, shifts, nulls, seed=1, progress=done.append) for _ in range(2))
    found = {name: one.fit(source).estimate(target, interval=False) for name, one in asked.items()}
    quoted, true = learned.quote(found), 1 - target.mistakes / target.n
    assert quoted.accuracy == pytest.approx(true, abs=0.06) and quoted.low <= true <= quoted.high
    assert found["DoC"].accuracy > true + 0.05 and learned.powers["DoC"] > 1.3
    assert learned == again != learn_from_shifts(asked, source, shifts, nulls) and done == [*range(1, 13)] * 2


def test_silent_estimators_are_no_candidates_and_the_chosen_one_may_be_silent_on_the_target():
    found, learned = readings(), learn(SOURCE, readings(), NULLS)
    silent = [replace(found[0], relative=found[0].relative | {"COT": float("nan")}), *found[1:]]
    assert list(learn(SOURCE, silent, NULLS).powers) == ["DoC"]
    refused("COT.*larger sets", learn, SOURCE, alone(silent), NULLS)
    quoted = learned.quote({"COT": Estimate.of(None), "DoC": Estimate.of(0.2)})
    assert quoted.accuracy is None and "COT" in quoted.why
    refused("COT is missing", learned.quote, {"DoC": Estimate.of(0.2)})
