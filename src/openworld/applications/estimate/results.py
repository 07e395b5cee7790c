"""Every number of an accuracy estimate as tidy rows: of the target, its chunks, its classes, and labelled shifts."""

from collections.abc import Iterator
from math import isfinite

from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, ChunkEstimate, MethodEstimate
from openworld.estimators.quote import Quote
from openworld.results import METRICS, Metric, Result, Results, Value, interval_of

QUOTED = "quoted"
"""The entity of what is quoted, whichever method it is by."""

SOURCE, TARGET = {"images": "source"}, {"images": "target"}
OVER_QUOTED = "sets and shifts"
"""What the interval of a quoted number is over: sets like the source and, under shift, labelled shifts."""

ESTIMATED, ACCURACY, IMAGES = METRICS["estimated_accuracy"], METRICS["accuracy"], METRICS["images"]
SOURCE_LIKE = Metric("source_like_accuracy", "of the source", better=0)
DIFFERENCE = Metric("signed_error", "off by", "points", better=0, bounds=(-1.0, 1.0))
PREDICTED = Metric("predicted_images", "named so", "count", 0, 0, (0.0, None))
EXPECTED = Metric("expected_images", "expected", "count", 0, 0, (0.0, None))
RECALL = Metric("recall", "found", better=0)
CLASS_ACCURACY = Metric("class_accuracy", "right", better=0)
SOURCE_ACCURACY = Metric("source_class_accuracy", "source", better=0)
SOURCE_SHARE = Metric("source_share", "share of the source", better=0)
LOST = Metric("accuracy_change", "lost", "points", better=0, bounds=(-1.0, 1.0))
TRUE = Metric("true_accuracy", "true", better=0)


def results_of(found: AccuracyEstimate) -> Results:
    """Return all rows; `images` says which image set a row is of."""
    rows = [*_image_sets(found), *_whole(found), *_chunks(found), *_classes(found), *_labelled_shifts(found)]
    return Results("estimate", tuple(rows))


def chunk_place(number: int, chunk: ChunkEstimate) -> dict:
    """Return where the rows of a chunk lie; chunks are counted from 1."""
    return {**TARGET, "chunk": number, "chunk_name": chunk.label}


def detail_metric(name: str) -> Metric:
    """Return the metric of a number that a method rests on."""
    return Metric(name, name.replace("_", " "), "number", 4, 0, (None, None))


def is_number(detail: object) -> bool:
    """Whether a detail of a method is a number, and neither words nor a list."""
    return isinstance(detail, int | float) and not isinstance(detail, bool) and isfinite(detail)


def _image_sets(found: AccuracyEstimate) -> Iterator[Result]:
    for place, images in ((SOURCE, found.source), (TARGET, found.target)):
        yield Result("", IMAGES, Value(images.n), place)
        if images.accuracy is not None:
            yield Result("", TRUE, Value(images.accuracy), place)
    if found.shift is not None:
        for name in ("distance", "chance"):
            metric = Metric(f"class_shift_{name}", f"total variation, {name}", "fraction", 2, 0)
            yield Result("", metric, Value(getattr(found.shift, name)), TARGET)
    for place, share in zip((SOURCE, TARGET), found.agreement or (), strict=False):
        yield Result("reference", Metric("agreement", "agreement", better=0), Value(share), place)


def _whole(found: AccuracyEstimate) -> Iterator[Result]:
    true = found.target.accuracy
    yield Result(QUOTED, ESTIMATED, _quoted(found.quote), TARGET)
    if true is not None:
        yield Result(QUOTED, DIFFERENCE, _difference(found.quote.accuracy, true, found.quote.why), TARGET)
    for method in found.methods:
        reason = _reason(method)
        intervals = interval_of(method.interval, "images", method.sampled or found.target.n)
        yield Result(method.name, ESTIMATED, Value(method.accuracy, intervals, reason), TARGET)
        if method.on_source is not None:
            mean, *ends = method.on_source
            yield Result(method.name, SOURCE_LIKE, Value(mean, interval_of(ends, "sets of the source")), TARGET)
        if true is not None:
            yield Result(method.name, DIFFERENCE, _difference(method.accuracy, true, reason), TARGET)
        for name, detail in method.details.items():
            if is_number(detail):
                yield Result(method.name, detail_metric(name), Value(detail), TARGET)


def _chunks(found: AccuracyEstimate) -> Iterator[Result]:
    for number, chunk in enumerate(found.chunks, 1):
        place = chunk_place(number, chunk)
        yield Result("", IMAGES, Value(chunk.n), place)
        if found.target.accuracy is not None:
            yield Result("", TRUE, Value(chunk.accuracy, reason="no labels"), place)
        yield Result(QUOTED, ESTIMATED, _quoted(chunk.quote), place)
        for method in found.methods:
            accuracy = chunk.methods.get(method.name)
            yield Result(method.name, ESTIMATED, Value(accuracy, reason="" if accuracy is not None else UNKNOWN), place)
        if chunk.alarm is not None:
            for name in ("standing", "statistic", "limit"):
                metric = Metric(f"alarm_{name}", f"alarm, {name}", "number", 4, 0, (None, None))
                yield Result(QUOTED, metric, Value(float(getattr(chunk.alarm, name))), place)


UNKNOWN = "the method tells none"


def _classes(found: AccuracyEstimate) -> Iterator[Result]:
    for number, own in enumerate(found.classes):
        place = {**TARGET, "class": number, "class_name": own.name}
        yield Result(QUOTED, PREDICTED, Value(own.predicted), place)
        yield Result(QUOTED, EXPECTED, Value(own.expected), place)
        nothing = "" if own.accuracy is not None else "no image is named so"
        yield Result(QUOTED, CLASS_ACCURACY, Value(own.accuracy, interval_of(own.interval, "images"), nothing), place)
        nothing = "" if own.recall is not None else "no image is expected to be so"
        yield Result(QUOTED, RECALL, Value(own.recall, reason=nothing), place)
        nothing = "" if own.source_accuracy is not None else "no source image is named so"
        yield Result("", SOURCE_ACCURACY, Value(own.source_accuracy, reason=nothing), place)
        yield Result("", SOURCE_SHARE, Value(own.source_share), place)
        yield Result(QUOTED, LOST, _difference(own.accuracy, own.source_accuracy, "one of the two is not known"), place)


def _labelled_shifts(found: AccuracyEstimate) -> Iterator[Result]:
    if found.learned is None:
        return
    learned = found.learned
    for number, left_out in enumerate(learned.left_out, 1):
        place = {"images": "labelled shift", "shift": number, "shift_name": left_out.name, "family": left_out.family}
        yield Result("", IMAGES, Value(left_out.n), place)
        yield Result("", TRUE, Value(left_out.accuracy), place)
        yield Result("learned", ESTIMATED, Value(left_out.estimated), place)
        yield Result("learned", DIFFERENCE, Value(left_out.estimated - left_out.accuracy), place)
    every = {"images": "all labelled shifts"}
    yield Result("learned", METRICS["absolute_error"], Value(learned.mean_error), every)
    for name, power in learned.powers.items():
        yield Result(name, Metric("power", "power", "number", 3, 0, (None, None)), Value(power), every)


def _quoted(quote: Quote) -> Value:
    """What is quoted, with its interval; or the bounds of what cannot be told, and why."""
    return Value(
        quote.accuracy,
        interval_of((quote.low, quote.high), OVER_QUOTED),
        "" if quote.accuracy is not None else f"cannot be told: {quote.why}",
    )


def _reason(method: MethodEstimate) -> str:
    return "" if method.accuracy is not None else "; ".join(method.warnings) or UNKNOWN


def _difference(accuracy: float | None, other: float | None, reason: str) -> Value:
    known = accuracy is not None and other is not None
    return Value(accuracy - other) if known else Value(None, reason=reason or UNKNOWN)
