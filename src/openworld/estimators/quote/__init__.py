"""What may be said of a target without labels: a number to quote, its checks, and alarms over time."""

from openworld.estimators.quote.decision import Limits, Quote, quote

__all__ = ["Limits", "Quote", "quote"]
