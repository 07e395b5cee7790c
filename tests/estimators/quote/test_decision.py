"""What may be quoted: every rule with the evidence for it, and against it; and quotes of models whose law is known."""

from dataclasses import replace

import numpy as np
import pytest
from simulated import outputs

from openworld._errors import OpenworldError
from openworld.estimators import ESTIMATORS, Outputs, check_reference, measure_null
from openworld.estimators.quote import ALONE, Evidence, Limits, decide, evidence, quote
from openworld.estimators.quote.shift_signs import ShiftSigns, shift_signs

NOTHING = ShiftSigns(confidences=0.02, reweighted=0.02, chance=0.08, predictions=0.0)
SHIFTED = ShiftSigns(confidences=0.25, reweighted=0.25, chance=0.08, predictions=0.2)


def seen(doc=0.9, atc=0.9, cot=1.0, views=None, distrust=(), signs=NOTHING, source=0.95):
    """Evidence; `cot` over its mean on the source."""
    spreads = dict.fromkeys((*ALONE, "two-views"), 0.01)
    return Evidence(source, {"DoC": doc, "ATC-MC": atc}, cot, views, distrust, spreads, signs)


def test_where_no_shift_is_seen_doc_is_quoted_as_surely_as_on_the_source():
    found = decide(seen(doc=0.93, cot=0.6, views=0.5), Limits())
    assert (found.method, found.accuracy) == ("DoC", 0.93)
    assert (found.low, found.high) == pytest.approx((0.93 - 0.0196, 0.93 + 0.0196))


def test_confidences_may_differ_as_much_as_chance_makes_them():
    for distance, chance, method in ((0.19, 0.2, "DoC"), (0.19, 0.05, None)):
        signs = ShiftSigns(distance, distance, chance, 0.0)
        assert decide(seen(cot=0.5, signs=signs), Limits()).method == method


def test_classes_in_other_shares_are_no_shift_of_the_model():
    assert decide(seen(cot=0.5, signs=ShiftSigns(0.25, 0.1, 0.05, 0.4)), Limits()).method == "DoC"
    assert decide(seen(cot=0.5, signs=ShiftSigns(0.35, 0.1, 0.05, 0.4)), Limits()).method is None
    assert decide(seen(cot=0.5, signs=ShiftSigns(0.25, 0.2, 0.05, 0.4)), Limits()).method is None


def test_the_farther_predicted_classes_moved_the_wider_the_interval():
    widths = []
    for moved in (0.0, 0.2, 0.4):
        found = decide(seen(signs=ShiftSigns(0.05, 0.1, 0.05, moved)), Limits())
        widths.append(found.high - found.low)
    assert widths == sorted(widths) and widths[0] < widths[2] / 2


def test_a_model_that_names_everything_alike_is_never_taken_for_unshifted():
    assert decide(seen(cot=0.1, signs=replace(NOTHING, predictions=0.8)), Limits()).accuracy is None
    unexplained = ShiftSigns(confidences=0.05, reweighted=0.3, chance=0.08, predictions=0.3)
    assert decide(seen(cot=0.1, signs=unexplained), Limits()).accuracy is None
    assert decide(seen(cot=0.1, signs=replace(unexplained, reweighted=0.1)), Limits()).method == "DoC"


def test_two_views_are_quoted_of_a_reference_that_is_trusted():
    found = decide(seen(doc=0.9, cot=0.5, views=0.3, signs=SHIFTED), Limits())
    assert (found.method, found.accuracy) == ("two-views", 0.3) and found.low < 0.2 < 0.4 < found.high
    distrusted = decide(seen(doc=0.9, cot=0.5, views=0.3, distrust=("it is a copy",), signs=SHIFTED), Limits())
    assert distrusted.accuracy is None and "it is a copy" in distrusted.why


def test_two_views_far_above_transport_are_not_quoted():
    found = decide(seen(cot=0.5, views=0.6, signs=SHIFTED), Limits())
    assert found.accuracy is None and "60 %" in found.why and "34 %" in found.why  # .95 x .5 ^ 1.5 = .336
    assert found.low < 0.336 and found.high > 0.9


def test_under_mild_shift_the_least_is_quoted():
    found = decide(seen(doc=0.88, atc=0.85, cot=0.95, signs=SHIFTED), Limits())
    assert (found.method, found.accuracy) == ("ATC-MC", 0.85)
    found = decide(seen(doc=0.9, atc=0.9, cot=0.94, signs=SHIFTED), Limits())
    assert found.method == "COT" and found.accuracy == pytest.approx(0.95 * 0.94**1.5)


@pytest.mark.parametrize(
    "doc, words", [(0.92, "less sure here"), (0.98, "surer here than"), (0.953, "about as sure here on average")]
)
def test_it_is_said_which_way_the_confidence_moved(doc, words):
    mild, parted = (decide(seen(doc=doc, atc=0.9, cot=cot, signs=SHIFTED), Limits()) for cot in (0.98, 0.8))
    assert words in mild.why and words in parted.why and (mild.accuracy, parted.accuracy) == (0.9, None)


def test_methods_that_part_and_great_losses_cannot_be_told():
    parted = decide(seen(doc=0.9, cot=0.85, signs=SHIFTED), Limits())
    assert parted.accuracy is None and "DoC says 90 %" in parted.why and "COT says 74 %" in parted.why
    lost = decide(seen(doc=0.6, atc=0.6, cot=0.75, signs=SHIFTED), Limits())
    assert lost.accuracy is None and "35 points are lost" in lost.why
    assert parted.low < 0.745 and parted.high >= 0.9
    assert decide(seen(doc=0.9, atc=0.9, cot=0.9, signs=SHIFTED), Limits(apart=0.12)).method == "COT"


def made(source, target):
    asked = {name: ESTIMATORS[name]() for name in (*ALONE, "two-views")}
    estimates = {name: one.fit(source).estimate(target, interval=False) for name, one in asked.items()}
    return estimates, measure_null(asked, source, target.n)


def test_evidence_is_what_estimates_and_nulls_say():
    source, target = outputs(0, 300, 5, 2.5), outputs(1, 200, 5, 2.0)
    estimates, nulls = made(source, target)
    found = evidence(source, target, estimates, nulls)
    assert found.source == np.mean(source.predictions == source.labels)
    for name, value in found.unbiased.items():
        assert value == pytest.approx(estimates[name].accuracy - nulls[name].bias)
    assert found.cot == pytest.approx(estimates["COT"].accuracy / nulls["COT"].estimates.mean())
    assert found.views == estimates["two-views"].accuracy and found.signs == shift_signs(source, target)
    assert found.distrust == check_reference(source).reasons
    assert found.spreads["COT"] == pytest.approx(np.std(nulls["COT"].estimates - nulls["COT"].accuracies, ddof=1))
    alone = evidence(source, target, {name: estimates[name] for name in ALONE}, nulls)
    assert alone.views is None and alone.distrust == ()


def test_an_unshifted_target_is_told_and_held():
    held = []
    for seed in range(6):
        source, target = outputs(seed, 500, 5, 2.5), outputs(50 + seed, 400, 5, 2.5)
        found = quote(source, target, *made(source, target))
        assert found.method == "DoC"
        held.append(found.low <= 1 - target.mistakes / target.n <= found.high)
    assert sum(held) >= 4


def test_a_reference_finds_what_an_over_confident_model_hides():
    source, target = outputs(0, 800, 5, 3.0), outputs(1, 600, 5, 1.0)
    rng = np.random.default_rng(2)
    views = [0.2 + 0.02 * (3 * np.eye(5)[one.labels] + rng.normal(size=one.logits.shape)) for one in (source, target)]
    source = replace(source, reference=views[0])
    target = Outputs(3 * target.logits, target.labels, views[1])  # as sure as if nothing had become harder
    estimates, nulls = made(source, target)
    found = quote(source, target, estimates, nulls)
    true = 1 - target.mistakes / target.n
    assert found.method == "two-views" and abs(found.accuracy - true) < 0.06 < estimates["DoC"].accuracy - true


def test_what_is_missing_is_named():
    source, target = outputs(0, 100, 4, 2.0), outputs(1, 100, 4, 2.0)
    estimates, nulls = made(source, target)
    del estimates["COT"]
    with pytest.raises(OpenworldError, match="COT is missing"):
        quote(source, target, estimates, nulls)
