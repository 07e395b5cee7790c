"""What to quote for a target without labels, or that its accuracy cannot be told. No target label is looked at.

No estimator is right under every shift, and none knows when it is wrong. What can be seen beforehand is how far the
target lies from the source in the judged model's own confidences (`shift_signs`), how far methods of different premises
part, and what each of them says of sets that are like the source (`measure_null`). In this order:

    no shift seen   the confidences are spread as on the source, or would be if classes came in other shares: DoC less
                    its bias on source-like sets, and as sure as it is there
    two views       a reference that passes `check_reference`: agreement over the reference's own accuracy, unless that
                    lies far above COT: then the two may err together here, or classes come in other shares
    mild shift      DoC, ATC-MC and COT part by little, and have not lost too much: the least of them
    otherwise       no number: bounds

The limits were chosen on labelled shifts of three worlds of emoji, of digits, letters and characters, and tested on
other networks and seeds (bench/quoted/, docs/estimate.md). COT counts as source accuracy x (COT / COT on source-like
sets) ^ 1.5: what few images a class do to COT fades as the shift grows, and over-confidence hides part of any loss.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot

from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.estimators.engine.estimate import Estimate
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.reference_check import check_reference
from openworld.estimators.quote.null import Null
from openworld.estimators.quote.shift_signs import ShiftSigns, shift_signs

ALONE = ("DoC", "ATC-MC", "COT")
"""The estimators that a quote rests on; two views are asked beside them where there is a reference."""

HARDLY = 0.005  # by how much the mean confidence may differ to be called about the same
Z = 1.96  # standard deviations of a 95 % interval
OFF = {"two-views": (0.15, 0.13), "mild": (0.17, 0.12), "bounds": (0.25, 0.05)}
"""How far the truth lies below and above these numbers on 95 % (bounds: 90 %) of labelled shifts, sampling aside."""
MOVED = (0.3, 0.15)  # the same of DoC where no shift is seen, as shares of how far the predicted classes have moved


@checked
@dataclass(frozen=True)
class Limits:
    """Where one rule ends and the next begins; fractions.

    same: distance of the confidences up to which no shift is seen, where chance does not make more. reshared, near: the
    same with the source's classes in the target's shares, and at most so far without. moved, explained: by how much
    predicted shares may move, beyond chance, where other shares of classes do not explain the confidences better than
    that; collapsed: by how much in any case. power: of COT over its mean on source-like sets. apart, lost: most by
    which COT may lie below DoC, and most that may be lost, under mild shift. above: most by which two views may lie
    above COT.
    """

    same: float = 0.08
    reshared: float = 0.15
    near: float = 0.3
    moved: float = 0.2
    explained: float = 0.2
    collapsed: float = 0.6
    power: float = 1.5
    apart: float = 0.08
    lost: float = 0.25
    above: float = 0.1


@dataclass(frozen=True)
class Evidence:
    """All that a quote rests on.

    source: accuracy there. unbiased: DoC and ATC-MC less their bias on source-like sets. cot: COT over its mean there.
    views: what two views say, or None without a reference. distrust: why its reference is not asked. spreads: standard
    deviation of each method's error on source-like sets.
    """

    source: float
    unbiased: Mapping[str, float]
    cot: float
    views: float | None
    distrust: tuple[str, ...]
    spreads: Mapping[str, float]
    signs: ShiftSigns


@dataclass(frozen=True)
class Quote:
    """The number for a target, or none.

    method: whose number it is; None where it cannot be told. accuracy: in [0, 1], or None. low, high: 95 % interval;
    where there is no accuracy, what it lay between on nine of ten labelled shifts of docs/estimate.md. why: a sentence
    without a full stop. signs: of a shift, where they were looked at.
    """

    method: str | None
    accuracy: float | None
    low: float
    high: float
    why: str
    signs: ShiftSigns | None = None


@checked
def quote(
    source: Outputs,
    target: Outputs,
    estimates: Mapping[str, Estimate],
    nulls: Mapping[str, Null],
    limits: Limits = Limits(),
) -> Quote:
    """Choose what to quote, by rules that are fixed beforehand.

    Args:
        source: with labels, and with a reference if two views may be quoted. target: of the same model, or a sample.
        estimates, nulls: by name, those of `ALONE` at least, of this target and of source-like sets of its size.
        limits: of the rules.
    Raises:
        OpenworldError: one of `ALONE` is missing.

    >>> from openworld.estimators import ESTIMATORS, measure_null
    >>> import numpy as np
    >>> rng, labels = np.random.default_rng(0), np.arange(600) % 3
    >>> source = Outputs(2 * np.eye(3)[labels] + rng.normal(size=(600, 3)), labels)
    >>> estimators = {name: ESTIMATORS[name]() for name in ALONE}
    >>> target = source.take(np.arange(0, 600, 2))
    >>> estimates = {name: one.fit(source).estimate(target) for name, one in estimators.items()}
    >>> found = quote(source, target, estimates, measure_null(estimators, source, target.n))
    >>> found.method, found.low < 1 - target.mistakes / target.n < found.high
    ('DoC', True)
    """
    return decide(evidence(source, target, estimates, nulls), limits)


def evidence(
    source: Outputs, target: Outputs, estimates: Mapping[str, Estimate], nulls: Mapping[str, Null]
) -> Evidence:
    """Gather what a quote rests on; arguments as for `quote`."""
    for name in ALONE:
        if name not in estimates or name not in nulls:
            raise OpenworldError(f"{name} is missing; a quote rests on {', '.join(ALONE)}: give estimates and nulls.")
    views = estimates["two-views"].accuracy if "two-views" in nulls and "two-views" in estimates else None
    return Evidence(
        source=1 - source.mistakes / source.n,
        unbiased={name: held(estimates[name].accuracy - nulls[name].bias) for name in ("DoC", "ATC-MC")},
        cot=estimates["COT"].accuracy / max(nulls["COT"].mean, 1e-9),
        views=views,
        distrust=() if views is None else check_reference(source).reasons,
        spreads={name: null.spread for name, null in nulls.items()},
        signs=shift_signs(source, target),
    )


def decide(evidence: Evidence, limits: Limits) -> Quote:
    """The rules, one after the other."""
    doc, views, cot = evidence.unbiased["DoC"], evidence.views, held(evidence.source * evidence.cot**limits.power)
    if no_shift_seen(evidence.signs, limits):
        return _number("DoC", doc, evidence, tuple(share * evidence.signs.predictions for share in MOVED), _SPREAD)
    if views is not None and not evidence.distrust:
        if views <= cot + limits.above:
            return _number("two-views", views, evidence, OFF["two-views"], _VIEWS)
        return _no_number((cot, views, doc), evidence, _TOGETHER.format(100 * views, 100 * cot))
    why = f"; the reference is not asked, for it {' and '.join(evidence.distrust)}" if evidence.distrust else ""
    moved = doc - evidence.source  # DoC: by how much the mean confidence rose
    sure = _ALIKE if abs(moved) < HARDLY else _SURER if moved > 0 else _LESS_SURE
    least, name = min((accuracy, name) for name, accuracy in (evidence.unbiased | {"COT": cot}).items())
    if doc - cot > limits.apart:
        return _no_number((cot, doc), evidence, sure + _PART.format(100 * doc, 100 * cot) + why)
    if evidence.source - least > limits.lost:
        return _no_number((least, doc), evidence, _MUCH.format(100 * (evidence.source - least)) + why)
    return _number(name, least, evidence, OFF["mild"], f"{sure}; {_LEAST}{why}")


def no_shift_seen(signs: ShiftSigns, limits: Limits = Limits()) -> bool:
    """Whether the first rule holds: confidences as on the source, as far as shares of classes do not explain them."""
    same = signs.confidences <= max(limits.same, signs.chance)
    reshared = signs.reweighted <= limits.reshared and signs.confidences <= limits.near
    unexplained = signs.predictions > limits.moved and signs.reweighted > limits.explained
    collapsed = unexplained or signs.predictions > limits.collapsed
    return (same or reshared) and not collapsed


def _number(name: str, accuracy: float, evidence: Evidence, off: tuple[float, float], why: str) -> Quote:
    below, above = (hypot(Z * evidence.spreads[name], error) for error in off)
    return Quote(name, accuracy, held(accuracy - below), held(accuracy + above), why, evidence.signs)


def _no_number(numbers: tuple[float, ...], evidence: Evidence, why: str) -> Quote:
    below, above = OFF["bounds"]
    return Quote(None, None, held(min(numbers) - below), held(max(numbers) + above), why, evidence.signs)


def held(accuracy: float) -> float:
    """Return the accuracy, held in [0, 1]."""
    return min(1.0, max(0.0, float(accuracy)))


_SPREAD = "the model is as sure here as on the source, so that no shift is seen"
_VIEWS = "a reference that errs independently looks at the same images, and it is counted how often the two agree"
_TOGETHER = (
    "agreement with the reference says {:.0f} % and transport {:.0f} %: either both models err together here, or the "
    "classes come in other shares"
)
_PART = ", and DoC says {:.0f} % where COT says {:.0f} %"
_MUCH = "at least {:.0f} points are lost, and of such losses the model's own outputs do not tell how great they are"
_LESS_SURE = "the model is less sure here than on the source"
_SURER = "the model is surer here than on the source"
_ALIKE = "the model is about as sure here on average as on the source, but not image by image"
_LEAST = "of DoC, ATC-MC and COT, which hardly part, this is the least"
