"""Every number of an accuracy estimate as tidy rows: of the target, its chunks, its classes, and labelled shifts."""

from collections.abc import Iterator
from math import isfinite

from openworld.estimators.quote.decision import Quote
from openworld.estimators.quote.shift_signs import CONFIDENCES, NAMED
from openworld.label_free.estimate.accuracy_estimate import AccuracyEstimate, Alarm, Period, Range
from openworld.results import METRICS, Metric, Result, Results, Value, interval_of
from openworld.results.value import value_or

QUOTED = "quoted"
"""The entity of what is quoted, whichever method it is by."""

SOURCE, TARGET = {"images": "source"}, {"images": "target"}
NO_ACCURACY = "the method gives none"
COUNT, NUMBER, SHARE = ("count", 0, 0, (0.0, None)), ("number", 4, 0, (None, None)), ("fraction", 2, 0)

ESTIMATED, IMAGES = METRICS["estimated_accuracy"], METRICS["images"]
TRUE = Metric("true_accuracy", "true accuracy", better=0)
AGREEMENT = Metric("agreement", "agreement", better=0)
SOURCE_LIKE = Metric("source_like_accuracy", "of the source", better=0)
DIFFERENCE = Metric("signed_error", "off by", "points", better=0, bounds=(-1.0, 1.0))
PREDICTED = Metric("predicted_images", "named so", *COUNT)
EXPECTED = Metric("expected_images", "expected", *COUNT)
RECALL = Metric("recall", "found", better=0)
CLASS_ACCURACY = Metric("class_accuracy", "right", better=0)
SOURCE_ACCURACY = Metric("source_class_accuracy", "source", better=0)
SOURCE_SHARE = Metric("source_share", "share of the source", better=0)
CLASS_SHIFT = tuple(Metric(f"class_shift_{of}", f"total variation, {of}", *SHARE) for of in ("distance", "chance"))
CAUSE_SIGNS = {
    "shares": Metric("class_shares_moved", "class shares moved", better=0),
    "within": Metric("sureness_moved", "sureness moved, times chance", "number", 2, 0, (0.0, None)),
    "coherence": Metric("coherence", "moved in one direction, z", "number", 1, 0, (None, None)),
    "unlike": Metric("unlike_share", "unlike the source", better=0),
}
LABELS = Metric("labels", "labels", *COUNT)
ALARM_RATIO = Metric("alarm_ratio", "accuracy alarm", "number", 2, 0, (0.0, None))
SHIFTS = {
    Metric("class_shift", "class shift", "fraction", 2, 0, (-1.0, 1.0)): NAMED,
    Metric("confidence_shift", "confidence shift", "fraction", 2, 0, (-1.0, 1.0)): CONFIDENCES,
}
"""How far a period lies from the source -> the sign that says so."""

SHIFT_ALARM = Metric("shift_alarm_ratio", "shift alarm", "number", 2, 0, (0.0, None))
SHIFT_SCORE = Metric("shift_score", "shift, deviations", "number", 1, 0, (None, None))
LESS_BIAS = Metric("accuracy_less_bias", "less its bias", better=0)
ALARM = {
    "standing": Metric("alarm_standing", "alarm", *NUMBER),
    "statistic": Metric("alarm_statistic", "its statistic", *NUMBER),
    "limit": Metric("alarm_limit", "its limit", *NUMBER),
    "alone": Metric("alarm_alone", "alarm by one below", better=0, bounds=(None, 1.0)),
    "lasting": Metric("alarm_lasting", "by many below", better=0, bounds=(None, 1.0)),
}
"""What an alarm says -> its metric."""

LOST = Metric("accuracy_change", "lost", "points", better=0, bounds=(-1.0, 1.0))
SIGN_P = Metric("shift_p", "p", "number", 3, 0, (0.0, 1.0))
SIGN_ADJUSTED = Metric("shift_p_corrected", "p, corrected for all", "number", 3, 0, (0.0, 1.0))
SIGN_DISTANCE = Metric("shift_distance", "distance", "number", 3, 0, (None, None))
SIGN_CHANGE = Metric("shift_change", "change", "points", better=0, bounds=(-1.0, 1.0))
UNSEEN = Metric("unseen_fall", "a fall that may hide", better=0)
POWER = Metric("power", "power", "number", 3, 0, (None, None))


def results_of(estimate: AccuracyEstimate) -> Results:
    """Return all rows; `images` says which image set a row is of."""
    rows = [*_whole(estimate), *_methods(estimate)]
    for period in estimate.chunks:
        rows += period_rows(period, {**TARGET, "chunk": period.number + 1, "chunk_name": period.label})
    return Results("estimate", (*rows, *_classes(estimate), *_labelled_shifts(estimate)))


def quoted_value(quote: Quote) -> Value:
    """Return what is quoted, over sets like the source and, under shift, labelled shifts; or bounds, and why."""
    ends = interval_of((quote.low, quote.high), "sets and shifts")
    return Value(quote.accuracy, ends, "" if quote.accuracy is not None else f"cannot be estimated: {quote.why}")


def _alarm(alarm: Alarm, place: dict) -> Iterator[Result]:
    for name, metric in ALARM.items():
        yield Result(QUOTED, metric, Value(float(getattr(alarm, name))), place)


def _source_like(entity: str, span: Range, place: dict) -> Iterator[Result]:
    if span is not None:
        mean, low, high = span
        yield Result(entity, SOURCE_LIKE, Value(mean, interval_of((low, high), "sets of the source")), place)


def _difference(accuracy: float | None, other: float | None, reason: str) -> Value:
    both = accuracy is not None and other is not None
    return value_or(accuracy - other if both else None, reason)


def _whole(estimate: AccuracyEstimate) -> Iterator[Result]:
    """Yield the source and the target, and what is quoted of that, with the signs behind it."""
    for place, images in ((SOURCE, estimate.source), (TARGET, estimate.target)):
        yield Result("", IMAGES, Value(images.n), place)
        if images.accuracy is not None:
            yield Result("", TRUE, Value(images.accuracy), place)
    if estimate.shift is not None:
        for metric, share in zip(CLASS_SHIFT, (estimate.shift.distance, estimate.shift.chance), strict=True):
            yield Result("", metric, Value(share), TARGET)
    for place, share in zip((SOURCE, TARGET), estimate.agreement or (), strict=False):
        yield Result("reference", AGREEMENT, Value(share), place)
    true, quote = estimate.target.accuracy, estimate.quote
    yield Result(QUOTED, ESTIMATED, quoted_value(quote), TARGET)
    if quote.accuracy is not None:
        yield Result(QUOTED, LOST, Value(quote.accuracy - estimate.source.right), TARGET)
    if true is not None:
        yield Result(QUOTED, DIFFERENCE, _difference(quote.accuracy, true, quote.why), TARGET)
    if quote.signs is not None:
        adjusted = quote.signs.adjusted
        yield Result("", UNSEEN, Value(quote.signs.unseen), TARGET)
        for sign in quote.signs.signs:
            numbers = {SIGN_DISTANCE: sign.distance, SIGN_P: sign.p, SIGN_ADJUSTED: adjusted[sign.name]}
            numbers |= {} if sign.change is None else {SIGN_CHANGE: sign.change}
            yield from (Result(sign.name, metric, Value(number), TARGET) for metric, number in numbers.items())
    if estimate.alarm is not None:
        yield from _alarm(estimate.alarm, TARGET)
    if estimate.labelled is not None:
        yield Result("", LABELS, Value(estimate.labelled.n), TARGET)


def _methods(estimate: AccuracyEstimate) -> Iterator[Result]:
    true = estimate.target.accuracy
    for method in estimate.methods:
        reason = "; ".join(method.warnings) or NO_ACCURACY
        intervals = interval_of(method.interval, "images", method.sampled or estimate.target.n)
        yield Result(method.name, ESTIMATED, value_or(method.accuracy, reason, intervals), TARGET)
        yield from _source_like(method.name, method.on_source, TARGET)
        if method.on_source is not None and method.accuracy is not None:
            bias = method.on_source[0] - estimate.source.right
            yield Result(method.name, LESS_BIAS, Value(min(1.0, max(0.0, method.accuracy - bias))), TARGET)
        if true is not None:
            yield Result(method.name, DIFFERENCE, _difference(method.accuracy, true, reason), TARGET)
        for name, detail in method.details.items():
            is_number = isinstance(detail, int | float) and not isinstance(detail, bool)
            if is_number and isfinite(detail):  # neither words nor a list
                yield Result(method.name, Metric(name, name.replace("_", " "), *NUMBER), Value(detail), TARGET)


def period_rows(period: Period, place: dict) -> Iterator[Result]:
    """Yield all rows of a chunk of a target, or of a period of a watch."""
    yield Result("", IMAGES, Value(period.n), place)
    if period.accuracy is not None:
        yield Result("", TRUE, Value(period.accuracy), place)
    yield Result(QUOTED, ESTIMATED, quoted_value(period.quote), place)
    for name, accuracy in period.methods.items():
        yield Result(name, ESTIMATED, value_or(accuracy, NO_ACCURACY), place)
    if period.labelled is not None:
        yield Result("", LABELS, Value(period.labelled.n), place)
    if period.cause is not None:
        signs = period.cause.likely.signs
        where = place | {"cause": period.cause.likely.cause, "view": signs.view}
        yield from (Result("cause", sign, Value(getattr(signs, name)), where) for name, sign in CAUSE_SIGNS.items())
    yield from _source_like(QUOTED, period.on_source, place)
    if period.alarm is not None:
        yield Result(QUOTED, ALARM_RATIO, Value(period.alarm.ratio), place)
        yield from _alarm(period.alarm, place)
    if period.shift_alarm is not None:
        score = None if period.shift_alarm.score is None else float(period.shift_alarm.score)
        yield Result("", SHIFT_ALARM, Value(float(period.shift_alarm.statistic)), place)
        yield Result("", SHIFT_SCORE, value_or(score, "no sign could be compared"), place)
    for metric, name in SHIFTS.items():
        if (sign := period.signs[name]) is not None:
            yield Result("", metric, Value(float(sign.distance)), place)


def _classes(estimate: AccuracyEstimate) -> Iterator[Result]:
    for label, row in enumerate(estimate.classes):
        place = {**TARGET, "class": label, "class_name": row.name}
        right = value_or(row.accuracy, "no image is named so", interval_of(row.interval, "images"))
        yield Result(QUOTED, PREDICTED, Value(row.predicted), place)
        yield Result(QUOTED, EXPECTED, Value(row.expected), place)
        yield Result(QUOTED, CLASS_ACCURACY, right, place)
        yield Result(QUOTED, RECALL, value_or(row.recall, "no image is expected to be so"), place)
        yield Result("", SOURCE_ACCURACY, value_or(row.source_accuracy, "no source image is named so"), place)
        yield Result("", SOURCE_SHARE, Value(row.source_share), place)
        yield Result(QUOTED, LOST, _difference(row.accuracy, row.source_accuracy, "one of the two is not known"), place)


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
        yield Result(name, POWER, Value(power), every)
