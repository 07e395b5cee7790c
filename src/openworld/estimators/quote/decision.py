"""What to quote for a target without labels, or that its accuracy cannot be told. No target label is looked at.

No estimator is right under every shift, and none knows when it is wrong. So a number rests on what speaks for it beside
the confidences themselves, in this order:

    no shift was found    no sign of one speaks (`shift_signs`), and a fall that matters would have been seen: DoC, with
                          an interval that reaches down by the fall that may hide
    class shares          classes are named in other shares, and these explain the whole difference (`class_shares`), or
                          somebody vouches for it: the source's accuracy in these shares
    two views             a reference that passes `check_reference` and does not contradict transport
    mild shift            every reading (DoC, ATC-MC, COT) says that little is lost: the least of them
    otherwise             no number: bounds, and the labels to ask for

A model whose confidence does not tell right from wrong (`check_confidence`) gets a number from a reference alone.

COT counts as source accuracy x (COT / COT on source-like sets) ^ 1.5: what few images a class do to COT fades as the
shift grows, and over-confidence hides part of any loss.

The limits were chosen and judged on labelled shifts of drawings, letters, digits, texts, tables, photographs and
sounds, each world left out in turn (bench/quoted/, docs/evidence/estimate-intervals.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import hypot, sqrt

import numpy as np
from scipy.special import stdtr

from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.estimators.engine.checks import ConfidenceCheck, check_confidence, check_reference
from openworld.estimators.engine.fitted import Estimate
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences_of, temperature_of
from openworld.estimators.quote.class_shares import ShareExplanation, explain_by_shares
from openworld.estimators.quote.null import Null
from openworld.estimators.quote.shift_signs import (
    CONFIDENCES,
    DEALS,
    METHODS,
    NAMED,
    PARTNER,
    REFERENCE,
    ShiftSign,
    ShiftSigns,
    shift_signs,
)

ALONE = ("DoC", "ATC-MC", "COT")
"""The estimators that a quote rests on; two views are asked beside them where there is a reference."""

A_CLASS = 5  # source images a class, below which COT's null is too narrow to test by: of 3 half of equal sets speak
POWER = 1.5  # of COT over its mean on source-like sets
SHARES = ("unknown", "same", "other")
"""What somebody vouches for: classes come as often as on the source; or in other shares, and nothing else changed."""

Z = 1.96  # standard deviations of a 95 % interval
ABOVE = 1.645  # the same of an upper end that 5 % exceed; below lies what may hide, and hardly any truth beyond it
NO_SHIFT = "no shift"
CLASS_SHARES = "class shares"
TWO_VIEWS = "two views"
MILD = "mild"
BOUNDS = "bounds"
RULES = (NO_SHIFT, CLASS_SHARES, TWO_VIEWS, MILD, BOUNDS)


@dataclass(frozen=True)
class Evidence:
    """All that a quote rests on."""

    source: float  # accuracy there
    readings: Mapping[str, float]  # of `ALONE`, less what each is off on source-like sets, in [0, 1]; COT as above
    views: float | None  # what two views say; None without a reference
    distrust: tuple[str, ...]  # why its reference is not asked
    spreads: Mapping[str, float]  # standard deviation of each method's error where nothing has shifted
    signs: ShiftSigns
    confidence: ConfidenceCheck
    shares: ShareExplanation | None = None  # where classes are named in other shares, or somebody vouches for it
    vouched: str = "unknown"  # one of `SHARES`


def evidence(
    source: Outputs,
    target: Outputs,
    estimates: Mapping[str, Estimate],
    nulls: Mapping[str, Null],
    *,
    vouched: str = "unknown",
    deals: int = DEALS,
    seed: int = 0,
) -> Evidence:
    """Gather what a quote rests on; arguments as for `quote`, deals as for `shift_signs`."""
    for name in ALONE:
        if name not in estimates or name not in nulls:
            raise OpenworldError(f"{name} is missing; a quote rests on {', '.join(ALONE)}: give estimates and nulls.")
    accuracy = 1 - source.mistakes / source.n
    views = estimates["two-views"].accuracy if "two-views" in nulls and "two-views" in estimates else None
    signs = shift_signs(source, target, deals=deals, seed=seed)
    if source.n >= A_CLASS * source.classes:
        signs = replace(signs, signs=(*signs.signs, _apart(estimates, nulls)))  # all are corrected for one more
    other_shares = vouched == "other" or (vouched == "unknown" and signs[NAMED] in signs.speaking)
    return Evidence(
        source=accuracy,
        readings=readings(accuracy, estimates, nulls),
        views=views,
        distrust=() if views is None else check_reference(source).reasons,
        spreads={name: null.spread for name, null in nulls.items()} | {"DoC": confidence_spread(source, target.n)},
        signs=signs,
        confidence=check_confidence(source),
        shares=explain_by_shares(source, target, seed=seed) if other_shares else None,
        vouched=vouched,
    )


def readings(source: float, estimates: Mapping[str, Estimate], nulls: Mapping[str, Null]) -> dict[str, float]:
    """Return what each of `ALONE` says of a target, less what it is off on source-like sets, in [0, 1]."""
    by_confidence = {name: held(estimates[name].require(name) - nulls[name].bias) for name in ("DoC", "ATC-MC")}
    transported = estimates["COT"].require("COT") / max(nulls["COT"].mean, 1e-9)
    return by_confidence | {"COT": held(source * transported**POWER)}


def confidence_spread(source: Outputs, n: int) -> float:
    """Return the standard deviation of DoC's error on n images of the source's law."""
    temperature = temperature_of(source).value
    sure = confidences_of(source, temperature)
    # sqrt(var(r) (1/n_source + 1/n)) with r = right - confidence. A right and a wrong answer of mean confidence are
    # added, as Agresti and Caffo (2000) do for differences of proportions: else few mistakes seem too few.
    residuals = np.r_[~source.wrong - sure, 1 - sure.mean(), -sure.mean()]
    return sqrt(float(residuals.var()) * (1 / source.n + 1 / n))


def _apart(estimates: Mapping[str, Estimate], nulls: Mapping[str, Null]) -> ShiftSign:
    """Return how far DoC lies above COT, against source-like sets: one-sided Student's t of as many draws."""
    # COT above what it says there comes of classes in evener shares than chance makes them, as benchmarks have.
    apart = nulls["DoC"].estimates - nulls["COT"].estimates
    beyond = estimates["DoC"].require("DoC") - estimates["COT"].require("COT") - float(apart.mean())
    t = beyond / max(float(apart.std(ddof=1)), 1e-9)
    return ShiftSign(METHODS, max(float(stdtr(len(apart) - 1, -t)), 0.001), beyond)


def held(accuracy: float) -> float:
    """Return the accuracy, held in [0, 1]."""
    return min(1.0, max(0.0, float(accuracy)))


@checked
@dataclass(frozen=True)
class Limits:
    """Where one rule ends and the next begins; fractions unless said otherwise."""

    hidden: float = 0.4  # greatest fall that may hide where no shift was found
    fits: float = 0.05  # least p-value of what other class shares leave
    taken: float = 0.9  # least share of the distance that they take away
    moved: float = 0.2  # most by which they may differ from the source's
    disagree: float = 2.0  # standard deviations by which a reference may agree less than they explain
    views: float = 0.05  # most by which two views may differ from COT
    known_loss: float = 0.1  # most that may be lost where a reference is asked
    apart: float = 0.06  # most by which DoC and ATC-MC may lie above the least reading under mild shift
    lost: float = 0.1  # most that may be lost under mild shift
    sure: float = 0.05  # p-value up to which confidences are lower
    seen: float = 0.2  # a fall that would be seen, in general
    agreeing: float = 0.05  # by how much more than is lost the agreement with a model may have fallen
    # By rule, how far the truth lies below and above its numbers on 95 % (bounds: 90 %) of labelled shifts.
    off: Mapping[str, tuple[float, float]] = field(
        default_factory=lambda: {
            CLASS_SHARES: (0.05, 0.03),
            TWO_VIEWS: (0.15, 0.06),
            MILD: (0.14, 0.07),
            BOUNDS: (0.28, 0.09),
        }
    )


@dataclass(frozen=True)
class Quote:
    """The number for a target, or none."""

    method: str | None  # whose number it is; None where it cannot be told
    accuracy: float | None  # in [0, 1]
    low: float  # ends of a 95 % interval; without accuracy, what it lay between on nine of ten labelled shifts of
    high: float  # docs/evidence/estimate-intervals.md
    why: str  # a sentence without a full stop
    signs: ShiftSigns | None = None  # of a shift, where they were looked at
    rule: str = ""  # which rule spoke, one of `RULES`
    tested: float | None = None
    """The accuracy that an alert tests: the least of the readings, which sees most of what is lost; what is quoted
    where class shares explain the difference; what two views say where the confidence tells nothing."""


@checked
def quote(
    source: Outputs,
    target: Outputs,
    estimates: Mapping[str, Estimate],
    nulls: Mapping[str, Null],
    limits: Limits = Limits(),
    *,
    vouched: str = "unknown",
    seed: int = 0,
) -> Quote:
    """Choose what to quote, by rules that are fixed beforehand.

    Args:
        source: with labels, and with a reference if two views may be quoted. target: of the same model, or a sample.
        estimates, nulls: by name, those of `ALONE` at least, of this target and of source-like sets of its size.
        vouched: what somebody knows of the class shares, one of `SHARES`. seed: of the tests.
    Raises:
        OpenworldError: one of `ALONE` is missing.
    """
    return decide(evidence(source, target, estimates, nulls, vouched=vouched, seed=seed), limits)


def decide(evidence: Evidence, limits: Limits = Limits()) -> Quote:
    """Apply the rules, one after the other."""
    quote = _decide(evidence, limits)
    tested = quote.accuracy if quote.rule == CLASS_SHARES else min(evidence.readings.values())
    if not evidence.confidence.tells and evidence.views is not None and not evidence.distrust:
        tested = evidence.views
    return replace(quote, signs=evidence.signs, tested=tested)


def without_number(quote: Quote, why: str, limits: Limits = Limits()) -> Quote:
    """Return bounds in place of a number, around it and the least reading; what has no number stays as it is."""
    if quote.accuracy is None:
        return quote
    below, above = limits.off[BOUNDS]
    readings = quote.accuracy, quote.accuracy if quote.tested is None else quote.tested
    low, high = min(quote.low, held(min(readings) - below)), max(quote.high, held(max(readings) + above))
    return replace(quote, method=None, accuracy=None, low=low, high=high, why=why, rule=BOUNDS)


def _decide(evidence: Evidence, limits: Limits) -> Quote:
    signs, confidence, shares = evidence.signs, evidence.confidence, evidence.shares
    if not signs.speaking and evidence.vouched != "other":
        doubt = confidence.why
        if not doubt and signs.unseen > limits.hidden:
            doubt = f"so few images would not show a fall of {100 * limits.hidden:.0f} points"
        if doubt:
            return _bounds(evidence, limits, [doubt])
        doc, spread = evidence.readings["DoC"], evidence.spreads["DoC"]
        low, high = held(doc - max(Z * spread, signs.unseen)), held(doc + ABOVE * spread)
        return Quote("DoC", doc, low, high, _UNSEEN.format(100 * signs.unseen), rule=NO_SHIFT)

    explained = shares is not None and shares.p >= limits.fits and shares.taken >= limits.taken
    explained = explained and shares.distance <= limits.moved and shares.less_agreement <= limits.disagree
    if shares and confidence.tells and (evidence.vouched == "other" or explained):
        why = _VOUCHED if evidence.vouched == "other" else _SHARES
        return _number(CLASS_SHARES, "class shares", shares.accuracy, shares.spread, limits, why.format(shares.p))
    if evidence.views is not None and not evidence.distrust:
        return _by_views(evidence, evidence.views, limits)
    return _by_readings(evidence, limits)


def _by_views(evidence: Evidence, views: float, limits: Limits) -> Quote:
    """Quote the lesser of two views and transport, where they agree on a loss that is not too great."""
    cot, reason = evidence.readings["COT"], _spoken(evidence)
    least, name = min((views, "two-views"), (cot, "COT"))
    less_sure = evidence.readings["DoC"] < evidence.source
    if abs(views - cot) <= limits.views and evidence.source - least <= limits.known_loss and less_sure:
        return _number(TWO_VIEWS, name, least, evidence.spreads[name], limits, f"{reason}; {_VIEWS}")
    return _bounds(evidence, limits, [reason, _BOTH.format(100 * views, 100 * cot)])


def _by_readings(evidence: Evidence, limits: Limits) -> Quote:
    """Quote the least reading where all say that little is lost, and the model is less sure; else bounds."""
    reasons = [_spoken(evidence)]
    if evidence.distrust:
        reasons.append(f"the reference is not asked, for it {' and '.join(evidence.distrust)}")
    if not evidence.confidence.tells:
        return _bounds(evidence, limits, [*reasons, evidence.confidence.why])
    least, name = min((accuracy, name) for name, accuracy in evidence.readings.items())
    apart = max(evidence.readings["DoC"], evidence.readings["ATC-MC"]) - least  # COT may be high (`_apart`)
    lost = evidence.source - least
    surer = evidence.signs[CONFIDENCES]
    less_sure = evidence.readings["DoC"] < evidence.source and surer is not None and surer.p < limits.sure
    little = apart <= limits.apart and lost <= limits.lost and evidence.signs.unseen <= limits.seen
    falls = (-(sign.change or 0) for sign in evidence.signs.speaking if sign.name.startswith((REFERENCE, PARTNER)))
    if little and less_sure and max(falls, default=0.0) <= lost + limits.agreeing:
        return _number(MILD, name, least, evidence.spreads[name], limits, f"{reasons[0]}; {_LEAST}")
    span = f"DoC, ATC-MC and COT say {100 * least:.0f} to {100 * (least + apart):.0f} %"
    return _bounds(evidence, limits, [*reasons, span + ("" if less_sure else _NOT_LESS_SURE)])


def _number(rule: str, name: str, accuracy: float, spread: float, limits: Limits, why: str) -> Quote:
    below, above = (hypot(Z * spread, error) for error in limits.off[rule])
    return Quote(name, accuracy, held(accuracy - below), held(accuracy + above), why, rule=rule)


def _bounds(evidence: Evidence, limits: Limits, reasons: list[str]) -> Quote:
    below, above = limits.off[BOUNDS]
    numbers = [*evidence.readings.values(), *([] if evidence.views is None or evidence.distrust else [evidence.views])]
    low, high = held(min(numbers) - below), held(max(numbers) + above)
    return Quote(None, None, low, high, "; ".join(reasons), rule=BOUNDS)


def _spoken(evidence: Evidence) -> str:
    """Return what the signs that speak say, the clearest three."""
    speaking = evidence.signs.speaking
    more = f" and {len(speaking) - 3} more" if len(speaking) > 3 else ""
    return f"the images are not like the source's: {', '.join(map(describe, speaking[:3]))}{more}"


def describe(sign: ShiftSign) -> str:
    """Return a sign in words, with its p-value."""
    way = ""
    if sign.change is not None:
        way = " higher" if sign.change > 0 else " lower"
    p = "p < .001" if sign.p <= 0.001 else f"p {sign.p:.3f}".replace("0.", ".")
    return f"{sign.name}{way} ({p})"


_UNSEEN = "no shift was found; with these images a fall of less than {:.0f} points would not be seen"
_SHARES = "the classes come in other shares than on the source, which explains all that differs"
_VOUCHED = (
    "the classes come in other shares than on the source and nothing else differs, as you vouch (what is left where "
    "the source has these shares: p {:.2f})"
)
_VIEWS = "a reference that errs independently and transport say about the same, and this is the lesser of the two"
_BOTH = "agreement with the reference says {:.0f} % and transport {:.0f} %, which tells no number of so large a change"
_NOT_LESS_SURE = ", but the model is not less sure here, so that they do not see what has changed"
_LEAST = "the model is a little less sure; DoC, ATC-MC and COT nearly agree, and this is the lowest of them"
