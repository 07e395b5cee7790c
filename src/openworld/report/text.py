"""Numbers in sentences and tooltips, written as the columns of tables write them; a dash where there is none."""

from openworld.results import METRICS, Metric

percent = Metric("share", "share").write
"""A fraction in [0, 1] as percent with one decimal: 0.4696 is 47.0."""

signed = Metric("difference", "difference", "points").write
"""A difference of fractions in points, with its sign: 0.109 is +10.9."""

seconds = METRICS["fit_seconds"].write
"""A duration for people: 19 s, 5.7 min."""

milliseconds = METRICS["score_seconds"].write
"""A short duration, given in seconds, in milliseconds: 0.01234 is 12.3."""

tuned = METRICS["tuned_parameters"].write
"""A number of parameters: 26,624."""


def bracketed(interval: tuple[float, float] | None) -> str:
    """Return an interval of fractions in percent, such as "[43.9 50.1]"; "" where there is none."""
    return "" if interval is None else f"[{percent(interval[0])} {percent(interval[1])}]"
