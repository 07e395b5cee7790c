"""What may be said of a target without labels: a number to quote, its checks, and alarms over time."""

from openworld.estimators.quote.decision import ALONE, Evidence, Limits, Quote, decide, evidence, no_shift_seen, quote

__all__ = ["ALONE", "Evidence", "Limits", "Quote", "decide", "evidence", "no_shift_seen", "quote"]
