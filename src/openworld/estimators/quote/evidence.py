"""What a quote rests on: readings, a reference, signs of a shift, class shares. No target label is looked at.

COT counts as source accuracy x (COT / COT on source-like sets) ^ 1.5: what few images a class do to COT fades as the
shift grows, and over-confidence hides part of any loss.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import stdtr

from openworld._errors import OpenworldError
from openworld.estimators.engine.confidence_check import ConfidenceCheck, check_confidence
from openworld.estimators.engine.fitted import Estimate
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.reference_check import check_reference
from openworld.estimators.engine.temperature import confidences_of, temperature_of
from openworld.estimators.quote.class_shares import ShareExplanation, explain_by_shares
from openworld.estimators.quote.null import Null
from openworld.estimators.quote.shift_signs import DEALS, METHODS, NAMED, ShiftSign, ShiftSigns, add_sign, shift_signs

ALONE = ("DoC", "ATC-MC", "COT")
"""The estimators that a quote rests on; two views are asked beside them where there is a reference."""

A_CLASS = 5  # source images a class, below which COT's null is too narrow to test by: of 3 half of equal sets speak
POWER = 1.5  # of COT over its mean on source-like sets
SHARES = ("unknown", "same", "other")
"""What somebody vouches for: classes come as often as on the source; or in other shares, and nothing else changed."""


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
        signs = add_sign(signs, _apart(estimates, nulls))
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
    found = {name: held(estimates[name].accuracy - nulls[name].bias) for name in ("DoC", "ATC-MC")}
    return found | {"COT": held(source * (estimates["COT"].accuracy / max(nulls["COT"].mean, 1e-9)) ** POWER)}


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
    beyond = estimates["DoC"].accuracy - estimates["COT"].accuracy - float(apart.mean())
    t = beyond / max(float(apart.std(ddof=1)), 1e-9)
    return ShiftSign(METHODS, max(float(stdtr(len(apart) - 1, -t)), 0.001), beyond)


def held(accuracy: float) -> float:
    """Return the accuracy, held in [0, 1]."""
    return min(1.0, max(0.0, float(accuracy)))
