"""Methods of a run that differ in one part of FRAP alone: the threshold, or how the reference is used.

They are known by their settings, whatever their labels are (FRAP, Tables 3, 4, 6 and 7).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from openworld.evaluations.accuracy_estimation.record import MethodRecord

ANSWERS, SIMILARITIES, CALIBRATED = "answers taken for labels", "raw (RAP)", "TTC"
"""How a reference is used: its answers, its similarities as they are, fused at the temperature of the targets."""

_DEFAULTS: Mapping[str, Any] = {
    "tau": "dynamic",
    "tau_source": "own",
    "reference": "fused",
    "rule": "midpoint",
    "weighting": "linear",
    "fusion": "arithmetic",
    "calibrate": True,
}


def threshold_pairs(methods: Sequence[MethodRecord]) -> tuple[tuple[str, str], ...]:
    """Labels of methods that differ in having a threshold alone: with it, and without."""
    without = [method for method in methods if method.settings.get("rule", "") is None]
    pairs = [(twin, bare) for bare in without for twin in methods if _but_for_rule(twin) == _but_for_rule(bare)]
    return tuple((twin.label, bare.label) for twin, bare in pairs if twin not in without)


def reference_uses(methods: Sequence[MethodRecord]) -> dict[str, dict[str, str]]:
    """{reference: {how it is used: label}} of FRAP and RAP with everything else at its default."""
    found: dict[str, dict[str, str]] = {}
    for method in methods:
        use = _use(method)
        if method.reference is not None and use is not None:
            found.setdefault(method.reference, {}).setdefault(use, method.label)
    return found


def _but_for_rule(method: MethodRecord) -> tuple:
    rest = {name: value for name, value in {**_DEFAULTS, **method.settings}.items() if name != "rule"}
    return method.estimator, method.reference, tuple(sorted((name, str(value)) for name, value in rest.items()))


def _use(method: MethodRecord) -> str | None:
    """How FRAP or RAP uses its reference; None where another setting was changed too."""
    changed = {name: value for name, value in method.settings.items() if value != _DEFAULTS.get(name)}
    if method.estimator == "RAP":
        return None if changed else SIMILARITIES
    if method.estimator != "FRAP":
        return None
    if changed == {"reference": "pseudo-labels"}:
        return ANSWERS
    if not changed:
        return CALIBRATED
    return f"τ = {changed['tau']:g}" if set(changed) == {"tau"} else None
