"""Every number of an accuracy estimate as tidy rows: of the target, its chunks, its classes, and labelled shifts."""

from collections.abc import Iterator
from math import isfinite

from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, Alarm
from openworld.applications.estimate.causes import PeriodCause
from openworld.estimators.quote import Quote
from openworld.results import METRICS, Metric, Result, Results, Value, interval_of

QUOTED = "quoted"
"""The entity of what is quoted, whichever method it is by."""

TARGET = {"images": "target"}
NO_ACCURACY = "the method tells none"

ESTIMATED, IMAGES = METRICS["estimated_accuracy"], METRICS["images"]
TRUE = Metric("true_accuracy", "true accuracy", better=0)
AGREEMENT = Metric("agreement", "agreement", better=0)
SOURCE_LIKE = Metric("source_like_accuracy", "of the source", better=0)
DIFFERENCE = Metric("signed_error", "off by", "points", better=0, bounds=(-1.0, 1.0))
PREDICTED = Metric("predicted_images", "named so", "count", 0, 0, (0.0, None))
EXPECTED = Metric("expected_images", "expected", "count", 0, 0, (0.0, None))
RECALL = Metric("recall", "found", better=0)
CLASS_ACCURACY = Metric("class_accuracy", "right", better=0)
SOURCE_ACCURACY = Metric("source_class_accuracy", "source", better=0)
SOURCE_SHARE = Metric("source_share", "share of the source", better=0)
MOVED_SHARES = Metric("class_shares_moved", "class shares moved", better=0)
WITHIN = Metric("sureness_moved", "sureness moved, times chance", "number", 2, 0, (0.0, None))
COHERENCE = Metric("coherence", "moved in one direction, z", "number", 1, 0, (None, None))
UNLIKE = Metric("unlike_share", "unlike the source", better=0)
LABELS = Metric("labels", "labels", "count", 0, 0, (0.0, None))
SHIFT_ALARM = Metric("shift_alarm_ratio", "shift alarm", "number", 2, 0, (0.0, None))
SHIFT_SCORE = Metric("shift_score", "shift, deviations", "number", 1, 0, (None, None))
LESS_BIAS = Metric("accuracy_less_bias", "less its bias", better=0)
ALARM = tuple(
    Metric(f"alarm_{name}", title, "number", 4, 0, (None, None))
    for name, title in (("standing", "alarm"), ("statistic", "its statistic"), ("limit", "its limit"))
)
ALARM_ENDS = (
    Metric("alarm_alone", "alarm by one below", better=0, bounds=(None, 1.0)),
    Metric("alarm_lasting", "by many below", better=0, bounds=(None, 1.0)),
)
LOST = Metric("accuracy_change", "lost", "points", better=0, bounds=(-1.0, 1.0))
SIGN_P = Metric("shift_p", "p", "number", 3, 0, (0.0, 1.0))
SIGN_ADJUSTED = Metric("shift_p_corrected", "p, corrected for all", "number", 3, 0, (0.0, 1.0))
SIGN_DISTANCE = Metric("shift_distance", "distance", "number", 3, 0, (None, None))
SIGN_CHANGE = Metric("shift_change", "here", "points", better=0, bounds=(-1.0, 1.0))
UNSEEN = Metric("unseen_fall", "a fall that may hide", better=0)


def results_of(estimate: AccuracyEstimate) -> Results:
    """Return all rows; `images` says which image set a row is of."""
    parts = (_image_sets, _whole, _chunks, _classes, _labelled_shifts)
    return Results("estimate", tuple(row for part in parts for row in part(estimate)))


def number(name: str) -> Metric:
    """Return the metric of a number that a method rests on."""
    return Metric(name, name.replace("_", " "), "number", 4, 0, (None, None))


def is_number(detail: object) -> bool:
    """Whether a detail of a method is a number, and neither words nor a list."""
    return isinstance(detail, int | float) and not isinstance(detail, bool) and isfinite(detail)


def _image_sets(estimate: AccuracyEstimate) -> Iterator[Result]:
    places = ({"images": "source"}, TARGET)
    for place, images in zip(places, (estimate.source, estimate.target), strict=True):
        yield Result("", IMAGES, Value(images.n), place)
        if images.accuracy is not None:
            yield Result("", TRUE, Value(images.accuracy), place)
    for name in ("distance", "chance") if estimate.shift else ():
        metric = Metric(f"class_shift_{name}", f"total variation, {name}", "fraction", 2, 0)
        yield Result("", metric, Value(getattr(estimate.shift, name)), TARGET)
    for place, share in zip(places, estimate.agreement or (), strict=False):
        yield Result("reference", AGREEMENT, Value(share), place)


def _whole(estimate: AccuracyEstimate) -> Iterator[Result]:
    true, quote = estimate.target.accuracy, estimate.quote
    yield Result(QUOTED, ESTIMATED, quoted_value(quote), TARGET)
    if quote.accuracy is not None:
        yield Result(QUOTED, LOST, Value(quote.accuracy - estimate.source.accuracy), TARGET)
    if true is not None:
        yield Result(QUOTED, DIFFERENCE, _difference(quote.accuracy, true, quote.why), TARGET)
    if quote.signs is not None:
        adjusted = quote.signs.adjusted
        yield Result("", UNSEEN, Value(quote.signs.unseen), TARGET)
        for sign in quote.signs.signs:
            yield Result(sign.name, SIGN_DISTANCE, Value(sign.distance), TARGET)
            yield Result(sign.name, SIGN_P, Value(sign.p), TARGET)
            yield Result(sign.name, SIGN_ADJUSTED, Value(adjusted[sign.name]), TARGET)
            if sign.change is not None:
                yield Result(sign.name, SIGN_CHANGE, Value(sign.change), TARGET)
    if estimate.alarm is not None:
        yield from _alarm(estimate.alarm, TARGET)
    if estimate.labelled is not None:
        yield Result("", LABELS, Value(estimate.labelled.n), TARGET)
    for method in estimate.methods:
        reason = "; ".join(method.warnings) or NO_ACCURACY
        intervals = interval_of(method.interval, "images", method.sampled or estimate.target.n)
        yield Result(method.name, ESTIMATED, _value(method.accuracy, reason, intervals), TARGET)
        if method.on_source is not None:
            mean, *ends = method.on_source
            yield Result(method.name, SOURCE_LIKE, Value(mean, interval_of(ends, "sets of the source")), TARGET)
            if method.accuracy is not None:
                unbiased = min(1.0, max(0.0, method.accuracy - (mean - estimate.source.accuracy)))
                yield Result(method.name, LESS_BIAS, Value(unbiased), TARGET)
        if true is not None:
            yield Result(method.name, DIFFERENCE, _difference(method.accuracy, true, reason), TARGET)
        for name, detail in method.details.items():
            if is_number(detail):
                yield Result(method.name, number(name), Value(detail), TARGET)


def _chunks(estimate: AccuracyEstimate) -> Iterator[Result]:
    for at, chunk in enumerate(estimate.chunks, 1):
        place = {**TARGET, "chunk": at, "chunk_name": chunk.label}
        yield Result("", IMAGES, Value(chunk.n), place)
        if estimate.target.accuracy is not None:
            yield Result("", TRUE, _value(chunk.accuracy, "no labels"), place)
        yield Result(QUOTED, ESTIMATED, quoted_value(chunk.quote), place)
        for method in estimate.methods:
            yield Result(method.name, ESTIMATED, _value(chunk.methods.get(method.name), NO_ACCURACY), place)
        if chunk.labelled is not None:
            yield Result("", LABELS, Value(chunk.labelled.n), place)
        if chunk.cause is not None:
            yield from _cause(chunk.cause, place)
        if chunk.on_source is not None:
            mean, *ends = chunk.on_source
            yield Result(QUOTED, SOURCE_LIKE, Value(mean, interval_of(ends, "sets of the source")), place)
        if chunk.alarm is not None:
            yield from _alarm(chunk.alarm, place)
        if chunk.shift_alarm is not None:
            alarm = chunk.shift_alarm
            yield Result("", SHIFT_ALARM, Value(alarm.statistic), place)
            yield Result("", SHIFT_SCORE, _value(alarm.score, "no sign could be compared"), place)


def _alarm(alarm: Alarm, place: dict) -> Iterator[Result]:
    for metric in (*ALARM, *ALARM_ENDS):
        yield Result(QUOTED, metric, Value(float(getattr(alarm, metric.key.removeprefix("alarm_")))), place)


def _cause(cause: PeriodCause, place: dict) -> Iterator[Result]:
    signs = cause.likely.signs
    place = place | {"cause": cause.likely.cause, "view": signs.view}
    for metric, value in (
        (MOVED_SHARES, signs.shares),
        (WITHIN, signs.within),
        (COHERENCE, signs.coherence),
        (UNLIKE, signs.unlike),
    ):
        yield Result("cause", metric, Value(value), place)


def _classes(estimate: AccuracyEstimate) -> Iterator[Result]:
    for label, own in enumerate(estimate.classes):
        place = {**TARGET, "class": label, "class_name": own.name}
        right = _value(own.accuracy, "no image is named so", interval_of(own.interval, "images"))
        yield Result(QUOTED, PREDICTED, Value(own.predicted), place)
        yield Result(QUOTED, EXPECTED, Value(own.expected), place)
        yield Result(QUOTED, CLASS_ACCURACY, right, place)
        yield Result(QUOTED, RECALL, _value(own.recall, "no image is expected to be so"), place)
        yield Result("", SOURCE_ACCURACY, _value(own.source_accuracy, "no source image is named so"), place)
        yield Result("", SOURCE_SHARE, Value(own.source_share), place)
        yield Result(QUOTED, LOST, _difference(own.accuracy, own.source_accuracy, "one of the two is not known"), place)


def _labelled_shifts(estimate: AccuracyEstimate) -> Iterator[Result]:
    learned = estimate.learned
    if learned is None:
        return
    for at, left_out in enumerate(learned.left_out, 1):
        place = {"images": "labelled shift", "shift": at, "shift_name": left_out.name, "family": left_out.family}
        yield Result("", IMAGES, Value(left_out.n), place)
        yield Result("", TRUE, Value(left_out.accuracy), place)
        yield Result("learned", ESTIMATED, Value(left_out.estimated), place)
        yield Result("learned", DIFFERENCE, Value(left_out.estimated - left_out.accuracy), place)
    every = {"images": "all labelled shifts"}
    yield Result("learned", METRICS["absolute_error"], Value(learned.mean_error), every)
    for name, power in learned.powers.items():
        yield Result(name, Metric("power", "power", "number", 3, 0, (None, None)), Value(power), every)


def _value(number: float | None, reason: str, intervals: tuple = ()) -> Value:
    """Return a number with its intervals, or why there is none."""
    return Value(number, intervals, "" if number is not None else reason)


def quoted_value(quote: Quote) -> Value:
    """Return what is quoted, over sets like the source and, under shift, labelled shifts; or bounds, and why."""
    return _value(
        quote.accuracy, f"cannot be told: {quote.why}", interval_of((quote.low, quote.high), "sets and shifts")
    )


def _difference(accuracy: float | None, other: float | None, reason: str) -> Value:
    known = accuracy is not None and other is not None
    return _value(accuracy - other if known else None, reason)
