"""Methods of a run that differ in one part of FRAP alone: the threshold, or how the reference is used.

They are known by their settings, whatever their labels are (FRAP, Tables 3, 4, 6 and 7).
"""

from collections.abc import Sequence
from dataclasses import fields

from openworld.estimators import FRAP
from openworld.label_free.benchmark.arrays import Method

ANSWERS, SIMILARITIES, CALIBRATED = "answers taken for labels", "raw (RAP)", "TTC"
"""How a reference is used: its answers, its similarities as they are, fused at the temperature of the targets."""

DEFAULTS = {field.name: field.default for field in fields(FRAP)}
"""Settings of FRAP; those of RAP are among them."""


def threshold_pairs(methods: Sequence[Method]) -> tuple[tuple[str, str], ...]:
    """Return labels of methods that differ in having a threshold alone: with it, and without."""
    without = [method for method in methods if method.settings.get("rule", "") is None]
    return tuple(
        (twin.label, bare.label)
        for bare in without
        for twin in methods
        if twin not in without and _but_for_rule(twin) == _but_for_rule(bare)
    )


def reference_uses(methods: Sequence[Method]) -> dict[str, dict[str, str]]:
    """Return {reference: {how it is used: label}} of FRAP and RAP with everything else at its default."""
    uses: dict[str, dict[str, str]] = {}
    for method in methods:
        use = _use(method)
        if method.reference is not None and use is not None:
            uses.setdefault(method.reference, {}).setdefault(use, method.label)
    return uses


def _but_for_rule(method: Method) -> tuple:
    return method.estimator, method.reference, DEFAULTS | method.settings | {"rule": None}


def _use(method: Method) -> str | None:
    """Return how FRAP or RAP uses its reference; None where another setting was changed too."""
    changed = {name: value for name, value in method.settings.items() if value != DEFAULTS.get(name)}
    if method.estimator == "RAP":
        return None if changed else SIMILARITIES
    if method.estimator != "FRAP":
        return None
    if changed == {"reference": "pseudo-labels"}:
        return ANSWERS
    if not changed:
        return CALIBRATED
    return f"τ = {changed['tau']:g}" if set(changed) == {"tau"} else None
