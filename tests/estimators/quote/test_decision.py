"""What may be quoted: every rule with the evidence for it, and against it; and quotes of models whose law is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student
from simulated import outputs, refused

from openworld.estimators import ESTIMATORS, Outputs, check_reference, measure_null
from openworld.estimators.engine.checks import ConfidenceCheck, check_confidence
from openworld.estimators.quote.class_shares import ShareExplanation
from openworld.estimators.quote.decision import ALONE, Evidence, Limits, confidence_spread, decide, evidence, quote
from openworld.estimators.quote.shift_signs import ShiftSign, ShiftSigns

NOTHING = ShiftSigns((ShiftSign("outputs", 0.4, 0.0), ShiftSign("confidences", 0.6, 0.0, -0.001)), 0.05)
SHIFTED = ShiftSigns((ShiftSign("outputs", 0.001, 0.1), ShiftSign("confidences", 0.001, 0.1, -0.03)), 0.05)
FEWER_AGREE = replace(SHIFTED, signs=(*SHIFTED.signs, ShiftSign("agreement with the reference", 0.001, 0.2, -0.3)))
OTHER_SHARES = ShareExplanation(0.91, 0.01, p=0.5, taken=0.95, distance=0.2, less_agreement=0.0)
SPREADS = dict.fromkeys((*ALONE, "two-views"), 0.01)


def seen(doc=0.93, atc=0.92, cot=0.91, source=0.95, signs=SHIFTED, **others):
    facts = {"views": None, "distrust": (), "confidence": ConfidenceCheck(0.9, 0.2, 0.01, 50)} | others
    return Evidence(source, {"DoC": doc, "ATC-MC": atc, "COT": cot}, spreads=SPREADS, signs=signs, **facts)


LITTLE = ConfidenceCheck(0.55, 0.02, 0.01, 50)
"""A confidence that tells little."""


def test_without_a_sign_doc_is_quoted_down_to_the_fall_that_may_hide():
    found = decide(seen(signs=NOTHING, cot=0.6, views=0.5))
    assert (found.rule, found.method, found.accuracy) == ("no shift", "DoC", 0.93)
    assert (found.low, found.high) == pytest.approx((0.93 - 0.05, 0.93 + 1.645 * 0.01))
    assert "no shift was found" in found.why and "5 points" in found.why
    assert decide(seen(signs=replace(NOTHING, unseen=0.001))).low == pytest.approx(0.93 - 1.96 * 0.01)


@pytest.mark.parametrize(
    "evidence",
    [
        seen(signs=NOTHING, confidence=LITTLE),
        seen(signs=NOTHING, confidence=ConfidenceCheck(0.9, 0.2, 0.2, 50)),
        seen(signs=replace(NOTHING, unseen=1.0)),
        seen(confidence=LITTLE),
        seen(doc=0.96),  # surer than on the source
        seen(signs=replace(SHIFTED, signs=(SHIFTED.signs[0], ShiftSign("confidences", 0.2, 0.0, -0.01)))),
        seen(cot=0.84),  # more than a little is lost, and the readings part
        seen(doc=0.86, atc=0.85, cot=0.84),
        seen(signs=FEWER_AGREE),
        seen(views=0.8, distrust=("may repeat the model's mistakes",), cot=0.8),
        seen(views=0.95, cot=0.86, doc=0.9),
        seen(views=0.84, cot=0.83, doc=0.9),
        seen(views=0.9, doc=0.96),
        seen(shares=replace(OTHER_SHARES, p=0.01), cot=0.7),
        seen(shares=replace(OTHER_SHARES, taken=0.5), cot=0.7),
        seen(shares=replace(OTHER_SHARES, distance=0.5), cot=0.7),
        seen(shares=replace(OTHER_SHARES, less_agreement=3.0), cot=0.7),
        seen(shares=OTHER_SHARES, confidence=LITTLE, cot=0.7),
    ],
)
def test_what_speaks_against_a_number(evidence):
    found = decide(evidence)
    assert (
        found.accuracy is found.method is None and found.rule == "bounds" and found.why and "no shift" not in found.why
    )
    numbers = [*evidence.readings.values()]
    assert found.low < min(numbers) and found.high > max(numbers) - 1e-9


def test_small_losses_that_all_readings_see_are_told_by_the_least():
    found = decide(seen())
    assert (found.rule, found.method, found.accuracy) == ("mild", "COT", 0.91)
    below, above = Limits().off["mild"]
    assert found.accuracy - found.low == pytest.approx(np.hypot(below, 1.96 * 0.01))
    assert found.high - found.accuracy == pytest.approx(np.hypot(above, 1.96 * 0.01))
    assert "outputs" in found.why and "confidences lower" in found.why


@pytest.mark.parametrize(
    ("evidence", "rule", "method", "accuracy"),
    [
        (seen(views=0.86, cot=0.89, doc=0.9), "two views", "two-views", 0.86),  # the lesser of the two
        (seen(views=0.9, cot=0.86, doc=0.9, confidence=LITTLE), "two views", "COT", 0.86),
        (seen(shares=OTHER_SHARES, cot=0.7), "class shares", "class shares", 0.91),
        (seen(shares=replace(OTHER_SHARES, p=0.001), vouched="other", cot=0.7), "class shares", "class shares", 0.91),
        (seen(shares=OTHER_SHARES, signs=NOTHING, vouched="other"), "class shares", "class shares", 0.91),
    ],
)
def test_what_speaks_for_a_number(evidence, rule, method, accuracy):
    found = decide(evidence)
    assert (found.rule, found.method, found.accuracy) == (rule, method, accuracy)


def test_an_alert_tests_the_least_reading_but_for_shares_that_explain():
    assert decide(seen(signs=NOTHING)).tested == 0.91 and decide(seen(doc=0.6, atc=0.5, cot=0.7)).tested == 0.5
    assert decide(seen(shares=OTHER_SHARES, cot=0.7)).tested == 0.91
    assert decide(seen(views=0.8, confidence=LITTLE, cot=0.7)).tested == 0.8


def made(source, target):
    asked = {name: ESTIMATORS[name]() for name in (*ALONE, "two-views")}
    estimates = {name: one.fit(source).estimate(target, interval=False) for name, one in asked.items()}
    return estimates, measure_null(asked, source, target.n, sources=5)


def test_evidence_is_what_estimates_and_nulls_say():
    source, target = outputs(0, 300, 5, 2.5), outputs(1, 200, 5, 2.0)
    estimates, nulls = made(source, target)
    found = evidence(source, target, estimates, nulls)
    assert found.source == np.mean(source.predictions == source.labels)
    for name in ("DoC", "ATC-MC"):
        assert found.readings[name] == pytest.approx(estimates[name].accuracy - nulls[name].bias)
    ratio = estimates["COT"].accuracy / nulls["COT"].estimates.mean()
    assert found.readings["COT"] == pytest.approx(found.source * ratio**1.5)
    assert found.views == estimates["two-views"].accuracy and found.distrust == check_reference(source).reasons
    assert found.spreads["COT"] == pytest.approx(np.std(nulls["COT"].estimates - nulls["COT"].accuracies, ddof=1))
    assert found.signs["methods"].distance == pytest.approx(
        estimates["DoC"].accuracy - estimates["COT"].accuracy - np.mean(nulls["DoC"].estimates - nulls["COT"].estimates)
    )
    apart = nulls["DoC"].estimates - nulls["COT"].estimates
    z = found.signs["methods"].distance / apart.std(ddof=1)
    assert found.signs["methods"].p == pytest.approx(max(0.001, student.sf(z, len(apart) - 1)))
    assert found.confidence == check_confidence(source) and found.shares is None
    assert evidence(source, target, estimates, nulls, vouched="other", deals=99).shares is not None
    few = target.take(target.predictions < 3)
    assert evidence(source, few, *made(source, few), deals=199).shares is not None
    assert evidence(source, few, *made(source, few), vouched="same", deals=99).shares is None
    for n, there in ((24, False), (25, True)):  # of few images a class methods are no sign
        less = source.take(range(n))
        assert (evidence(less, target, *made(less, target), deals=99).signs["methods"] is not None) == there
    del estimates["COT"]
    refused("COT is missing", quote, source, target, estimates, nulls)


def test_the_spread_of_doc_by_hand_and_that_intervals_hold_of_few_images():
    source = Outputs([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 0.0]], [0, 1, 1, 0])
    sure = 1 / (1 + np.exp(-np.log(3)))  # the temperature makes the confidence the accuracy
    residuals = np.array([1 - sure, 1 - sure, -sure, 1 - sure, 1 - sure, -sure])
    assert confidence_spread(source, 8) == pytest.approx(np.sqrt(residuals.var() * (1 / 4 + 1 / 8)), rel=1e-3)
    held = []
    for seed in range(120):
        source, target = outputs(seed, 100, 5, 2.5), outputs(1000 + seed, 100, 5, 2.5)
        doc = ESTIMATORS["DoC"]().fit(source).estimate(target, interval=False).accuracy
        held.append(abs(doc - 1 + target.mistakes / target.n) < 1.96 * confidence_spread(source, 100))
    assert np.mean(held) > 0.925


def test_an_unshifted_target_is_told_and_held_and_an_over_confident_model_gets_no_number():
    held = []
    for seed in range(3):
        source, target = outputs(seed, 400, 5, 2.5), outputs(50 + seed, 300, 5, 2.5)
        found = decide(evidence(source, target, *made(source, target), deals=199))
        held.append(found.rule == "no shift" and found.low <= 1 - target.mistakes / target.n <= found.high)
    assert sum(held) >= 2
    rng = np.random.default_rng(0)
    sure = [
        replace(one, logits=8 * np.eye(5)[one.predictions] + rng.random(one.logits.shape))
        for one in (outputs(0, 400, 5, 1.5, knows=0), outputs(1, 300, 5, 0.8, knows=0))
    ]
    found = quote(*sure, *made(*sure))
    assert found.accuracy is None and "confidence" in found.why
