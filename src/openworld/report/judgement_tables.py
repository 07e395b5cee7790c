"""A judgement in tables, for the terminal: methods, chunks over time, classes."""

from collections.abc import Sequence

from openworld import _terminal as terminal
from openworld._terminal import Head, TerminalTable, styled
from openworld.report.figures.figure import percent, signed
from openworld.report.judgement import ClassLine, Judgement, Method, Stretch
from openworld.report.tables import bracketed

SHOWN = 15  # classes, and chunks, that a terminal shows; the page has all


def terminal_methods(judged: Judgement):
    """One line per method: estimate, interval, and off by how much where labels are known."""
    rows = []
    for one in judged.methods:
        cells = [one.name, percent(one.accuracy), bracketed(one.interval), *_off(judged, one), one.summary]
        rows.append(styled(cells, "bold" if one.name == judged.headline else ""))
    return TerminalTable(_heads("method", ["accuracy", "95 %", *_off_title(judged)], "what it is"), rows)


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
    quoted = [judged.headline, "95 %"] if judged.headline else []
    true = ["true"] if judged.target.accuracy is not None else []
    rows = []
    for one in _most_telling(judged):
        cells = [one.label, f"{one.n:,}", *(_quoted(judged, one) if quoted else []), _range(one)]
        cells += [percent(one.accuracy)] if true else []
        below = judged.below(one)
        rows.append(styled([*cells, "below the alert" if below else ""], "bold" if below else ""))
    many = len(judged.stretches) > SHOWN
    caption = f"The {SHOWN} lowest of {len(judged.stretches)} chunks; --out keeps a page with all." if many else ""
    return TerminalTable(_heads("chunk", ["images", *quoted, "all methods", *true], ""), rows, caption)


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
        f"{few}By {judged.class_method}: images{of} that are named so, and percent of them that are right; the same on "
        "the source; images expected to be of the class, and percent of them that are named so. Percent; the intervals "
        "speak of the images of a class alone."
    )


def by_loss(classes: Sequence[ClassLine]) -> list[ClassLine]:
    """Classes, those that lost most first; then those of which nothing can be said."""
    return sorted(classes, key=_change)


def may_be(one: ClassLine) -> str:
    """The classes that images named so may be instead, with how many."""
    return ", ".join(f"{name} ({count:.0f})" for name, count in one.taken_for)


def _most_telling(judged: Judgement) -> list[Stretch]:
    """All chunks in order, or of many the lowest, in order: by what is quoted, else by the lowest of all methods."""
    if len(judged.stretches) <= SHOWN:
        return list(judged.stretches)
    said = {place: _said(judged, one) for place, one in enumerate(judged.stretches)}
    known = [place for place in said if said[place] is not None]
    return [judged.stretches[place] for place in sorted(sorted(known, key=said.get)[:SHOWN])]


def _said(judged: Judgement, one: Stretch) -> float | None:
    return judged.quoted_at(one)[0] if judged.headline else min(_known(one), default=None)


def _quoted(judged: Judgement, one: Stretch) -> list[str]:
    accuracy, low, high = judged.quoted_at(one)
    return [percent(accuracy), bracketed(None if low is None else (low, high))]


def _known(one: Stretch) -> list[float]:
    return [accuracy for accuracy, _, _ in one.methods.values() if accuracy is not None]


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
