"""A judgement in tables, for the terminal: methods, chunks over time, classes."""

from collections.abc import Sequence

from openworld.report.figures.figure import percent, signed
from openworld.report.judgement import ClassLine, Judgement, Method, Stretch
from openworld.report.tables import bracketed

SHOWN = 15  # classes, and chunks, that a terminal shows; the page has all


def terminal_methods(judged: Judgement):
    """One line per method: estimate, interval, and off by how much where labels are known."""
    table = _table("method", ["accuracy", "95 %", *_off_title(judged)], ["what it is"])
    for one in judged.methods:
        style = "bold" if one.name == judged.headline else ""
        cells = [one.name, percent(one.accuracy), bracketed(one.interval), *_off(judged, one)]
        _add(table, [*cells, one.summary], style)
    return table


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
    title = "true" if judged.target.accuracy is not None else ""
    numbers = ["images", f"{judged.headline}", "95 %", "all methods", *filter(None, [title])]
    table = _table("chunk", numbers, [""])
    for one in _most_telling(judged):
        accuracy, low, high = one.methods.get(judged.headline, (None, None, None))
        interval = None if low is None else (low, high)
        cells = [one.label, f"{one.n:,}", percent(accuracy), bracketed(interval), _range(one)]
        cells += [percent(one.accuracy)] if title else []
        _add(table, [*cells, "below the alert" if judged.below(one) else ""], "bold" if judged.below(one) else "")
    if len(judged.stretches) > SHOWN:
        table.caption = f"The {SHOWN} lowest of {len(judged.stretches)} chunks; --out keeps a page with all."
    return table


def terminal_classes(judged: Judgement):
    """One line per class, those that lost most first."""
    if not judged.classes:
        return None
    numbers = ["named so", "right", "95 %", "source", "expected", "found"]
    table = _table("class", numbers, ["may rather be"])
    table.caption = class_caption(judged)
    for one in by_loss(judged.classes)[:SHOWN]:
        cells = [one.name, f"{one.predicted:,}", percent(one.accuracy), bracketed(one.interval)]
        cells += [percent(one.source_accuracy), f"{one.expected:,.0f}", percent(one.recall)]
        _add(table, [*cells, may_be(one)], "")
    return table


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
    """All chunks in order, or of many the lowest, in order."""
    known = [one for one in judged.stretches if one.methods.get(judged.headline, (None,))[0] is not None]
    lowest = sorted(known, key=lambda one: one.methods[judged.headline][0])[:SHOWN]
    return list(judged.stretches) if len(judged.stretches) <= SHOWN else [one for one in known if one in lowest]


def _range(one: Stretch) -> str:
    known = [accuracy for accuracy, _, _ in one.methods.values() if accuracy is not None]
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


def _table(first: str, numbers: Sequence[str], words: Sequence[str]):
    from rich.table import Table

    drawn = Table(box=None, pad_edge=False, caption_justify="left", header_style="bold")
    drawn.add_column(first, no_wrap=True)
    for title in numbers:
        drawn.add_column(title, justify="right", no_wrap=True)
    for title in words:
        drawn.add_column(title)
    return drawn


def _add(table, cells: list[str], style: str) -> None:
    from rich.text import Text

    table.add_row(*(Text(cell, style) for cell in cells))
