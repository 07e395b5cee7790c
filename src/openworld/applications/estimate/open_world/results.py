"""Every number about the open-world quality of a stream as tidy rows."""

from collections.abc import Iterator, Mapping

from openworld.applications.estimate.open_world.stream_quality import QUANTITIES, StreamQuality
from openworld.results import METRICS, Metric, Result, Results, Value

TARGET = {"images": "target"}
NEW_SHARE = Metric("new_share", "share of new", better=0)
GAP = Metric("new_share_gap", "shares of new apart", "points", better=0)
IMAGES = METRICS["images"]
CARDS: dict[str, Metric] = {
    quantity: NEW_SHARE if quantity == "new_share" else METRICS[quantity] for quantity in QUANTITIES
}
"""Quantity -> its metric."""


def error_metric(quantity: str) -> Metric:
    """Return the mean absolute error of a quantity."""
    return Metric(f"{quantity}_error", CARDS[quantity].title, "percent", better=-1)


def bias_metric(quantity: str) -> Metric:
    """Return the mean signed error of a quantity."""
    return Metric(f"{quantity}_bias", f"{CARDS[quantity].title}, bias", "points", better=0, bounds=(-1.0, 1.0))


def results_of(quality: StreamQuality) -> Results:
    """Return all rows; `images` says which image set a row is of, `new_share_assumed` another share of new images."""
    parts = (_facts, _premises, _shares, _against, _made_up)
    return Results("estimate", tuple(row for part in parts for row in part(quality)))


def _facts(quality: StreamQuality) -> Iterator[Result]:
    for place, facts in (({"images": "source"}, quality.source), (TARGET, quality.target)):
        yield Result("", IMAGES, Value(facts.images), place)
        for quantity, value in facts.truth.items():
            yield Result("truth", CARDS[quantity], _value(value, "its labels do not say"), place)


def _premises(quality: StreamQuality) -> Iterator[Result]:
    for own in quality.premises:
        for quantity in QUANTITIES:
            yield Result(
                own.estimator, CARDS[quantity], _value(own.numbers[quantity], own.reasons.get(quantity)), TARGET
            )


def _shares(quality: StreamQuality) -> Iterator[Result]:
    ways = {"probabilities": quality.shares.probabilities, "scores": quality.shares.scores}
    for way, share in ways.items():
        yield Result(way, NEW_SHARE, _value(share, "this way gives none"), TARGET)
    yield Result("", GAP, _value(quality.shares.gap, "one of the two ways gives none"), TARGET)


def _against(quality: StreamQuality) -> Iterator[Result]:
    for line in quality.against_new_share:
        for share, value in zip(line.shares, line.openworld_auc, strict=True):
            place = {**TARGET, "new_share_assumed": share}
            yield Result(line.estimator, CARDS["openworld_auc"], _value(value, "not defined at this share"), place)


def _made_up(quality: StreamQuality) -> Iterator[Result]:
    for row in quality.made_up:
        place: Mapping = {"images": "made-up streams", "new_share_made_up": row.new_share}
        yield Result(row.estimator, Metric("streams", "streams", "count", 0, 0, (0.0, None)), Value(row.streams), place)
        for quantity in QUANTITIES:
            reason = "the estimator gives none"
            yield Result(row.estimator, error_metric(quantity), _value(row.mean_absolute[quantity], reason), place)
            yield Result(row.estimator, bias_metric(quantity), _value(row.bias[quantity], reason), place)


def _value(number: float | None, reason: str | None) -> Value:
    """Return a number, or why there is none."""
    return Value(number, (), "" if number is not None else reason or "not given")
