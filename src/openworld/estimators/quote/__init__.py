"""What may be said of a target without labels: a number to quote, its checks, and alarms over time."""

from openworld.estimators.quote.decision import (
    ALONE,
    BOUNDS,
    CLASS_SHARES,
    MILD,
    NO_SHIFT,
    RULES,
    SHARES,
    TWO_VIEWS,
    Evidence,
    Limits,
    Quote,
    decide,
    evidence,
    quote,
    readings,
    without_number,
)

__all__ = [
    "ALONE",
    "BOUNDS",
    "CLASS_SHARES",
    "MILD",
    "NO_SHIFT",
    "RULES",
    "SHARES",
    "TWO_VIEWS",
    "Evidence",
    "Limits",
    "Quote",
    "decide",
    "evidence",
    "quote",
    "readings",
    "without_number",
]
