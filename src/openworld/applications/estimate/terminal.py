"""A judgement in tables, for the terminal: methods, chunks over time, classes."""

from collections.abc import Sequence

from openworld import _terminal as terminal
from openworld._terminal import Head, TerminalTable, styled
from openworld.applications.estimate.results import ClassLine, Judgement, Method, Stretch
from openworld.estimators.quote import Quote
from openworld.report.text import bracketed, percent, signed

SHOWN = 15  # classes, and chunks, that a terminal shows; the page has all


def terminal_methods(judged: Judgement):
    """One line per method: estimate, interval, and off by how much where labels are known."""
    rows = []
    for one in judged.methods:
        cells = [one.name, percent(one.accuracy), bracketed(one.interval), on_source(one), *_off(judged, one)]
        rows.append(styled([*cells, one.summary], "bold" if one.name == judged.quote.method else ""))
    numbers = ["says", "resampled", "of the source", *_off_title(judged)]
    return TerminalTable(_heads("method", numbers, "what it is"), rows, METHODS)


METHODS = (
    "What each method says; 95 % of what it says of resampled images; and what it says of as many images like the "
    "source, on average and in 95 % of such sets."
)


def on_source(one: Method) -> str:
    """What a method says of sets like the source: mean and 95 %."""
    return "–" if one.on_source is None else f"{percent(one.on_source[0])} {bracketed(one.on_source[1:])}"


def method_warnings(judged: Judgement) -> list[str]:
    """What speaks against each method, a line each; methods of one warning together."""
    told: dict[str, list[str]] = {}
    for one in judged.methods:
        for warning in one.warnings:
            told.setdefault(warning, []).append(one.name)
    return [f"{', '.join(names)}: {warning}." for warning, names in told.items()]


def terminal_stretches(judged: Judgement):
    """One line per chunk; of many the lowest."""
    if not judged.stretches:
        return None
    true = ["true"] if judged.target.accuracy is not None else []
    rows = []
    for one in _most_telling(judged):
        cells = [one.label, f"{one.n:,}", *number(one.quote), _range(one), *([percent(one.accuracy)] if true else [])]
        rows.append(styled([*cells, alarm_words(one)], "bold" if one.alarming else ""))
    many = len(judged.stretches) > SHOWN
    caption = f"The {SHOWN} lowest of {len(judged.stretches)} chunks; --out keeps a page with all." if many else ""
    return TerminalTable(_heads("chunk", ["images", "accuracy", "95 %", "all methods", *true], ""), rows, caption)


def alarm_words(one: Stretch) -> str:
    """Whether an alarm stands, and what counted where the accuracy cannot be told; empty without an alert."""
    if one.alarm is None:
        return ""
    counted = "nothing" if one.alarm.counted is None else percent(one.alarm.counted)
    told = (["alarm"] if one.alarming else []) + ([] if one.quote.accuracy is not None else [f"counts as {counted}"])
    return ", ".join(told)


def terminal_classes(judged: Judgement):
    """One line per class, those that lost most first."""
    if not judged.classes:
        return None
    numbers, rows = ["named so", "right", "95 %", "source", "expected", "found"], []
    for one in by_loss(judged.classes)[:SHOWN]:
        cells = [one.name, f"{one.predicted:,}", percent(one.accuracy), bracketed(one.interval)]
        cells += [percent(one.source_accuracy), f"{one.expected:,.0f}", percent(one.recall)]
        rows.append((*cells, may_be(one)))
    return TerminalTable(_heads("class", numbers, "may rather be"), rows, class_caption(judged))


def class_caption(judged: Judgement, shown: int | None = SHOWN) -> str:
    """What the columns of the table of classes are; `shown`: how many classes it has, None for all."""
    of = "" if judged.class_images == judged.target.n else f" of a sample of {judged.class_images:,}"
    few = f"The {shown} that lost most. " if shown and len(judged.classes) > shown else ""
    return (
        f"{few}By {judged.quote.method}: images{of} that are named so, and percent of them that are right; the same on "
        "the source; images expected to be of the class, and percent of them that are named so. Percent; the intervals "
        "speak of the images of a class alone."
    )


def by_loss(classes: Sequence[ClassLine]) -> list[ClassLine]:
    """Classes, those that lost most first; then those of which nothing can be said."""
    return sorted(classes, key=_change)


def may_be(one: ClassLine) -> str:
    """The classes that images named so may be instead, with how many."""
    return ", ".join(f"{name} ({count:.0f})" for name, count in one.taken_for)


def number(quote: Quote) -> list[str]:
    """Accuracy and interval; "cannot be told" and the bounds."""
    told = "cannot be told" if quote.accuracy is None else percent(quote.accuracy)
    return [told, bracketed((quote.low, quote.high))]


def _most_telling(judged: Judgement) -> list[Stretch]:
    """All chunks in order, or of many the lowest, in order; of those that cannot be told the lower bound counts."""
    if len(judged.stretches) <= SHOWN:
        return list(judged.stretches)
    said = [one.quote.low if one.quote.accuracy is None else one.quote.accuracy for one in judged.stretches]
    return [judged.stretches[place] for place in sorted(sorted(range(len(said)), key=said.__getitem__)[:SHOWN])]


def _known(one: Stretch) -> list[float]:
    return [accuracy for accuracy in one.methods.values() if accuracy is not None]


def _range(one: Stretch) -> str:
    known = _known(one)
    return f"{percent(min(known))} to {percent(max(known))}" if known else "–"


def _change(one: ClassLine) -> float:
    if one.accuracy is None or one.source_accuracy is None:
        return 1.0
    return one.accuracy - one.source_accuracy


def _off_title(judged: Judgement) -> list[str]:
    return [] if judged.target.accuracy is None else ["off by"]


def _off(judged: Judgement, one: Method) -> list[str]:
    true = judged.target.accuracy
    if true is None:
        return []
    return ["–" if one.accuracy is None else signed(one.accuracy - true)]


def _heads(first: str, numbers: Sequence[str], words: str) -> tuple[Head, ...]:
    return (terminal.name(first), *map(Head, numbers), terminal.words(words))
