"""What an accuracy estimate says: a layout over its rows, two charts, and images that carry what moved."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from openworld.core.errors import OpenworldError
from openworld.estimators.quote.shift_signs import ALONE, LEVEL
from openworld.label_free.estimate.accuracy_estimate import AccuracyEstimate, Period
from openworld.label_free.estimate.results import ALARM, CAUSE_SIGNS, ESTIMATED, QUOTED, TARGET, results_of
from openworld.label_free.estimate.verdict import episode_name, episodes, sentences
from openworld.report.album import Album, AlbumImage
from openworld.report.charts import IntervalChart, IntervalRow, Line, LineChart, Quantity, Reference
from openworld.report.data_files import thumbnail_address
from openworld.report.figure import Figure
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Own, Pivot
from openworld.report.page import chart_files
from openworld.report.report import Report
from openworld.report.sentences import percent
from openworld.report.series_style import series_styles

EPISODES = 12  # whose images a page shows
CHARTS = ("methods", "over-time")
ACCURACY = Quantity("accuracy", "estimated accuracy, %")
CANNOT_TELL = (
    "A likely cause is what the change resembles. Whether a thing never seen is a new class or a new kind of an old "
    "one is a matter of names; two causes at once look like one; labels decide."
)
SIGNS = (
    "p: how likely so large a difference from the source is by chance. Distance: the energy distance beyond chance, "
    f"from 0 to 1 (methods: by how much DoC lies above COT). A sign speaks of a shift where p is below {LEVEL:g}, "
    f"corrected for all signs (Holm), or below {ALONE:g}."
)
IMAGES_SHOWN = (
    "Images that carry the change, of {shown} of {every} episodes, and of the lowest chunk of each: under new classes "
    "and meaning those least like the source, under appearance those farthest in the direction of all, under class "
    "shares those named as the classes that grew."
)


def _methods_chart(brief: Brief) -> Iterator[Figure | None]:
    """Yield every method's accuracy with its interval, from above the highest; nothing where no method has one."""
    estimate, _ = brief.source
    quote, methods = estimate.quote, sorted(estimate.answers, key=lambda method: -method.accuracy)
    if not methods:
        return
    series = {}
    for method in methods:
        behind, quoted = method.on_source and method.on_source[1:], method.name == quote.method
        series[method.name] = IntervalRow(method.accuracy, method.interval, behind, quoted, {"quoted": quoted})
    lines = {
        "source": (estimate.source.accuracy, "reference"),
        "truth": (estimate.target.accuracy, "known"),
        "alert": (estimate.alert, "alert"),
    }
    marks = tuple(Reference(number, name, "x", kind) for name, (number, kind) in lines.items() if number is not None)
    caption = (
        "What every method says, with the interval that resampling gives. Faint bars: what each says of as many images "
        "like the source. Ring: the method that is quoted. Shaded: its interval, or the bounds of an accuracy that "
        f"cannot be estimated. Lines: {' and '.join(f'{mark.text} ({percent(mark.value)} %)' for mark in marks)}.",
    )
    chart = IntervalChart("", ACCURACY, series, marks, (quote.low, quote.high))
    yield Figure("methods", "What every method says", caption, (chart,), brief.styles, names=("panel", "method"))


def _over_time_chart(brief: Brief) -> Iterator[Figure]:
    """Yield what is quoted, chunk by chunk, before the methods, with the source's accuracy; nothing without chunks."""
    estimate, _ = brief.source
    chunks, alert = estimate.chunks, estimate.alert
    if not chunks:
        return
    places = range(len(chunks))
    names = [name for name in brief.styles if any(name in chunk.methods for chunk in chunks)]
    lines = {name: Line(places, [chunk.methods.get(name) for chunk in chunks]) for name in names}
    quotes, rows = [], []
    for chunk in chunks:
        quote = chunk.quote
        said = f"{percent(quote.accuracy)} %"
        if quote.accuracy is None:
            said = f"cannot be estimated, {percent(quote.low)} to {percent(quote.high)} %"
        alarms = f"{', alarm' if chunk.alarming else ''}{', shift alarm' if chunk.shifted else ''}"
        quotes.append((quote.accuracy, quote.low, quote.high, f"{chunk.label}: {said}{alarms}, {chunk.n:,} images"))
        where = {"chunk": chunk.label, "first_image": chunk.first, "images": chunk.n}
        numbers = [{"method": "quoted", "accuracy": quote.accuracy, "low": quote.low, "high": quote.high}]
        numbers += [{"method": name, "accuracy": accuracy} for name, accuracy in chunk.methods.items()]
        rows += [where | number | {"true_accuracy": chunk.accuracy} for number in numbers]
    numbers, lows, highs, texts = zip(*quotes, strict=True)
    points = {"quoted": Line(places, numbers, lows, highs, texts=texts)}
    alarms = {place: chunk.alarm.counted for place, chunk in enumerate(chunks) if chunk.alarm and chunk.alarming}
    alarms = {place: accuracy for place, accuracy in alarms.items() if accuracy is not None}
    if alarms:
        points["alarm"] = Line([*alarms], [*alarms.values()], mark="ring")
    if any(chunk.accuracy is not None for chunk in chunks):
        points["true accuracy"] = Line(places, [chunk.accuracy for chunk in chunks], mark="dash")

    references = [Reference(estimate.source.right), *([] if alert is None else [Reference(alert, kind="alert")])]
    time = Quantity("chunk", "", labels=tuple(chunk.label.removeprefix("from ") for chunk in chunks))
    caption = (
        "What is quoted, with its interval; the methods are paler. A bar without a mark: the accuracy cannot be "
        "estimated, and may lie anywhere on the bar. Dashed: the accuracy on the source.",
        "Few images move by chance."
        if alert is None
        else "Red: the alert. A ring: an alarm stands, for which what came before counts too.",
    )
    chart = LineChart("", time, ACCURACY, lines, points=points, references=tuple(references))
    styles = {name: brief.styles[name] for name in names}
    yield Figure("over-time", "Over time", caption, (chart,), styles, shared=tuple(rows))


def _images_that_moved(brief: Brief) -> Iterator[Album]:
    """Yield the images that carry the lowest chunk of each of the longest episodes."""
    estimate, beside = brief.source  # in which folder images of relative paths are looked for
    chunks = estimate.chunks
    if any(chunk.cause is None for chunk in chunks):
        return
    cause_of = {episode: cause for cause, each in episodes(chunks).items() for episode in each}
    if not cause_of:
        return
    # The longest of each cause, then the longest of all.
    ranked = sorted(cause_of, key=len, reverse=True)
    first = {cause_of[episode]: episode for episode in reversed(ranked)}.values()
    longest = [*first, *(episode for episode in ranked if episode not in first)][:EPISODES]

    def height(chunk: Period) -> float:
        return chunk.quote.low if chunk.quote.accuracy is None else chunk.quote.accuracy

    lowest = {each: min((chunks[place] for place in each), key=height) for each in longest}
    addresses, parts = _thumbnails(lowest.values(), beside), []
    for episode in sorted(longest, key=lambda each: each.start):
        chunk = lowest[episode]
        images = tuple(AlbumImage(addresses.get(image.image), image.name, "") for image in chunk.moved.images)
        of = f", images of {chunk.label}" if len(episode) > 1 else ""
        parts.append((f"{episode_name(chunks, episode)}: {cause_of[episode]}{of}", images))
    yield Album("Images", IMAGES_SHOWN.format(shown=len(longest), every=len(cause_of)), tuple(parts))


def _thumbnails(chunks: Collection[Period], beside: Path) -> Mapping[str, str]:
    """Return small versions of the images of causes, by their paths, as addresses that a page can hold."""
    from openworld.datasets.formats.decoding import decode

    addresses: dict[str, str] = {}
    for path in dict.fromkeys(image.image for chunk in chunks for image in chunk.moved.images if image.image):
        place = next((place for place in (Path(path), beside / path) if place.is_file()), None)
        if place is None:
            continue
        try:
            addresses[path] = thumbnail_address(decode(place, str(place)))
        except OpenworldError:  # no image, or a damaged one: its name is shown
            continue
    return addresses


def over_time_parts(key: str, *, alarms: bool = False) -> tuple[Own | Pivot, ...]:
    """Return chart and tables of periods, whose place is `key`; `alarms`: whether a terminal shows these, too."""
    shared: Any = {"rows": (key,), "columns": (METRIC, ENTITY), "beside": ("images",)}
    return (
        Own(name="over-time", title="Over time", draw=_over_time_chart),
        Pivot(
            name="over-time-table",
            title="Over time",
            metrics=("images", "estimated_accuracy", "source_like_accuracy", "true_accuracy", "labels"),
            **shared,
            note="Quoted: the number, or between what it may lie; under the name of a method what that says.",
            terminal=True,
        ),
        Pivot(
            name="alarms-over-time",
            title="Over time",
            metrics=(
                *("alarm_ratio", "shift_alarm_ratio", "shift_score", "class_shift", "confidence_shift"),
                *("alarm_standing", "alarm_alone", "alarm_lasting"),
            ),
            **shared,
            note="Alarms: statistics relative to their limits; an alarm stands above 1. Shift: energy distances beyond "
            "chance, about 0 where nothing has shifted, 1 where nothing is alike.",
            terminal=alarms,
            folded=not alarms,
        ),
        Pivot(
            name="causes",
            title="What moved",
            rows=(key, "cause"),
            columns=(METRIC, ENTITY),
            beside=("images",),
            metrics=tuple(metric.key for metric in CAUSE_SIGNS.values()),
            per=("view",),
            note=CANNOT_TELL,
            folded=True,
        ),
    )


def over_time_words(periods: Sequence[Period], new: Collection[int] = ()) -> dict[str, dict[str, dict[str, str]]]:
    """Return the columns of words of these tables; `new`: numbers of the periods that a call has finished."""
    causes = [(each.label, each.cause) for each in periods if each.cause is not None and each.cause.text]
    remarks = {period.label: remark(period, period.number in new) for period in periods}
    return {
        "over-time-table": {
            "likely cause": {label: cause.text for label, cause in causes},
            "remark": {label: text for label, text in remarks.items() if text},
        },
        "causes": {"why": {f"{label}, {cause.likely.cause}": cause.likely.why for label, cause in causes}},
    }


LAYOUT = Layout(
    "Accuracy, estimated without labels",
    "",
    (
        Pivot(
            name="methods-table",
            title="What every method says",
            metrics=("estimated_accuracy", "source_like_accuracy", "accuracy_less_bias", "signed_error"),
            of=TARGET,
            note="Of the source: what a method says, on average, of samples of the source of this size. Less its bias: "
            "without its error on those samples.",
        ),
        Own(name="methods", title="What every method says", draw=_methods_chart),
        Pivot(
            name="signs",
            title="Signs of a shift",
            metrics=("shift_p", "shift_p_corrected", "shift_distance", "shift_change"),
            of=TARGET,
            label="sign",
            note=SIGNS,
            terminal=True,
        ),
        *over_time_parts("chunk"),
        Own(name="images-that-moved", title="What moved", draw=_images_that_moved),
        Pivot(
            name="classes-table",
            title="Class by class",
            rows=("class",),
            columns=(METRIC, ENTITY),
            metrics=(
                *("predicted_images", "class_accuracy", "source_class_accuracy", "accuracy_change"),
                *("expected_images", "recall", "source_share"),
            ),
            of=TARGET,
            sort="accuracy_change",
            terminal=True,
        ),
        Pivot(
            name="labelled-table",
            title="Labelled shifts",
            rows=("family", "shift"),
            columns=(METRIC, ENTITY),
            of={"images": "labelled shift"},
            note="Each family in turn is left out; method and power are learned on the others.",
        ),
        Pivot(
            name="labelled-powers",
            title="Labelled shifts",
            of={"images": "all labelled shifts"},
            note="Of all of them, and how far off those are on average that were left out.",
        ),
        Pivot(
            name="sets",
            title="Source and target",
            rows=("images",),
            label="set",
            columns=(METRIC, ENTITY),
            metrics=(
                *("images", "true_accuracy", "accuracy_change", "labels", "agreement"),
                *("class_shift_distance", "class_shift_chance", "unseen_fall"),
            ),
            note="Agreement: of model and reference. Total variation: of the shares of predicted classes.",
        ),
        Pivot(name="alarm", title="Alarm", metrics=tuple(metric.key for metric in ALARM.values()), of=TARGET),
    ),
)


def report(estimate: AccuracyEstimate, beside: Path = Path(), **fields) -> Report:
    """Return all that is to be said, with the charts as files; `beside` is where relative paths begin."""
    source, target = estimate.source, estimate.target
    names = {}
    for method in estimate.methods:
        for warning in method.warnings:  # methods with the same warning share a line
            names.setdefault(warning, []).append(method.name)
    warnings = [f"{', '.join(methods)}: {warning}." for warning, methods in names.items()]
    warnings += [f"Note: {warning}." for warning in estimate.warnings if warning not in names]
    brief = Brief(
        results_of(estimate),
        label="method",
        subtitle=(f"{target.name}: {target.n:,} images, {target.classes} classes", f"source {source.name}"),
        notes=dict(_notes(estimate)),
        words=_words(estimate),
        sentences=tuple(sentences(estimate)),
        warnings=tuple(warnings),
        styles=series_styles([method.name for method in estimate.methods]),
        source=(estimate, beside),
    )
    answer = LAYOUT.report(brief, made=estimate.made, found=estimate, **fields)
    return replace(answer, files=chart_files(answer.page, CHARTS))


def _words(estimate: AccuracyEstimate) -> dict[str, dict[str, dict[str, str]]]:
    """Return the columns of words: what methods and chunks are, and what speaks against them."""
    quote = estimate.quote
    summaries = {QUOTED: f"by {quote.method}" if quote.method else "cannot be estimated"}
    summaries |= {method.name: method.summary for method in estimate.methods}
    rather = {
        each.name: ", ".join(f"{name} ({count:.0f})" for name, count in each.taken_for) for each in estimate.classes
    }
    words = {
        "methods-table": {"what it is": summaries},
        "signs": {"speaks of": {sign.name: "a shift" for sign in (quote.signs.speaking if quote.signs else ())}},
        "classes-table": {"may rather be": rather},
        **over_time_words(estimate.chunks),
    }
    return {name: {title: each for title, each in columns.items() if each} for name, columns in words.items()}


def _notes(estimate: AccuracyEstimate) -> Iterator[tuple[str, str]]:
    signs, sampled = estimate.quote.signs, max((chunk.sampled or 0 for chunk in estimate.chunks), default=0)
    if signs is not None:
        seen = "any fall might hide"
        if signs.unseen < 1:
            seen = f"a fall of less than {100 * signs.unseen:.0f} points would not be seen"
        yield "signs", f"With so many images {seen}."
    if sampled:
        yield "over-time-table", f"A chunk of more than {sampled:,} images stands for a uniform sample of so many."
    if estimate.classes:
        sample = "" if estimate.class_images == estimate.target.n else f" of a sample of {estimate.class_images:,}"
        yield (
            "classes-table",
            f"By {estimate.quote.method}: images{sample} that are named so, and how many of them are right; the same "
            "on the source; images expected to be of the class, and how many of them are named so. Intervals speak of "
            "the images of a class alone.",
        )
    if estimate.learned is not None:
        yield "labelled-powers", f"Quoted by them: {estimate.learned.estimator}, power {estimate.learned.power:g}."


def remark(period: Period, new: bool = False) -> str:
    """Return whether the accuracy cannot be estimated, what counts then, which alarms stand, and what labels did."""
    unknown, labelled = period.quote.accuracy is None, period.labelled
    standing = {"new": new, "alarm": period.alarming, "shift alarm": period.shifted, "cannot be estimated": unknown}
    parts = [name for name, stands in standing.items() if stands]
    if unknown and period.alarm is not None:
        counted = period.alarm.counted
        parts.append(f"counts as {'nothing' if counted is None else ESTIMATED.write(counted)}")
    if labelled is not None:
        parts.append(f"{labelled.n} labels" + (f", {labelled.reason}" if labelled.accuracy is None else ""))
    if period.corrected is not None:
        parts.append("corrected")
    return ", ".join(parts)
