"""A judgement in the tables of its page: methods, chunks over time, classes, and what each method rests on."""

from openworld.applications.estimate.results import ClassLine, Judgement, Method, Stretch
from openworld.applications.estimate.terminal import alarm_words, by_loss, class_caption, may_be, number, on_source
from openworld.estimators.quote.learned_shifts import LearnedShifts, LeftOut
from openworld.report.grid import Cell, Column, Grid, Line
from openworld.report.marks import swatch
from openworld.report.series_style import Look
from openworld.report.text import bracketed, percent, signed


def methods_grid(judged: Judgement, chosen: dict[str, Look]) -> Grid:
    """The table of the terminal, with every warning in full."""
    true = judged.target.accuracy
    titles = ["says", "resampled", "of the source", *(["off by"] if true is not None else [])]
    heads = (
        Column("method", words=True),
        *map(Column, titles),
        Column("what it is", words=True),
        Column("but", words=True),
    )
    rows = tuple(Line(one.name, tuple(_method_cells(judged, one, chosen))) for one in judged.methods)
    told = (
        "Percent: what a method says; 95 % of what it says of resampled images (of which: under every other number); "
        "and what it says of as many images like the source, on average and in 95 % of such sets. Bold: what is quoted."
    )
    return Grid("methods-table", "Every method", told, heads, rows)


def _method_cells(judged: Judgement, one: Method, chosen: dict[str, Look]):
    css = "leads" if one.name == judged.quote.method else ""
    yield Cell(one.name, picture=swatch(chosen[one.name]), css=css)
    yield Cell(percent(one.accuracy), css=f"{css} headline".strip())
    yield Cell(bracketed(one.interval) or "–", _width(one))
    yield Cell(on_source(one), "" if one.on_source is None else f"{one.on_source[0]:.6f}")
    if judged.target.accuracy is not None:
        yield _difference(one.accuracy, judged.target.accuracy)
    yield Cell(one.summary, css="words")
    yield Cell("", faint="; ".join(one.warnings), css="words wrapped")


def _difference(accuracy: float | None, other: float | None) -> Cell:
    if accuracy is None or other is None:
        return Cell("–")
    return Cell(signed(accuracy - other), f"{accuracy - other:.6f}")


def _width(one: Method) -> str:
    return "" if one.interval is None else f"{one.interval[1] - one.interval[0]:.6f}"


def stretches_grid(judged: Judgement) -> Grid:
    """Every chunk by every method."""
    names = [one.name for one in judged.methods]
    true = [Column("true")] if judged.target.accuracy is not None else []
    heads = (Column("chunk", words=True), *map(Column, ("images", "accuracy", "95 %")), *true, *map(Column, names))
    rows = tuple(Line("", tuple(_stretch_cells(judged, one, names))) for one in judged.stretches)
    sampled = {one.sampled for one in judged.stretches if one.sampled}
    told = "Percent, chunk by chunk: what is quoted, with its interval or bounds, and what each method says."
    if sampled:
        told += f" A chunk of more than {max(sampled):,} images is represented by a uniform sample of so many."
    return Grid("over-time-table", "Over time", told, heads, rows)


def _stretch_cells(judged: Judgement, one: Stretch, names: list[str]):
    quote = one.quote
    yield Cell(one.label, value=str(one.first), faint=alarm_words(one))
    yield Cell(f"{one.n:,}", str(one.n))
    said, interval = number(quote)
    yield Cell(said, "" if quote.accuracy is None else f"{quote.accuracy:.6f}", css="leads")
    yield Cell(interval, f"{quote.high - quote.low:.6f}")
    if judged.target.accuracy is not None:
        yield Cell(percent(one.accuracy))
    for name in names:
        yield Cell(percent(one.methods.get(name)))


def left_out_grid(learned: LearnedShifts) -> Grid:
    """Every labelled shift, and what the other families make of it."""
    heads = (Column("labelled shift", words=True), Column("family", words=True))
    heads += tuple(map(Column, ("images", "true", "left out, it reads", "off by")))
    rows = tuple(Line(one.name, tuple(_left_out_cells(one))) for one in learned.left_out)
    powers = ", ".join(f"{name} {power:g}" for name, power in learned.powers.items())
    told = (
        f"Percent. Each family in turn is left out, method and power are learned on the others. On all of them: "
        f"{learned.estimator}, power {learned.power:g} (of all candidates: {powers}); off by "
        f"{100 * learned.mean_error:.1f} points on average where left out."
    )
    return Grid("labelled-table", "Labelled shifts", told, heads, rows)


def _left_out_cells(one: LeftOut):
    yield Cell(one.name)
    yield Cell(one.family, css="words")
    yield Cell(f"{one.n:,}", str(one.n))
    yield Cell(percent(one.accuracy), f"{one.accuracy:.6f}")
    yield Cell(percent(one.estimated), f"{one.estimated:.6f}")
    yield _difference(one.estimated, one.accuracy)


def classes_grid(judged: Judgement) -> Grid:
    """Every class, those that lost most first."""
    titles = ("named so", "right", "95 %", "source", "lost", "expected", "found")
    heads = (Column("class", words=True), *map(Column, titles), Column("may rather be", words=True))
    rows = tuple(Line("", tuple(_class_cells(one))) for one in by_loss(judged.classes))
    return Grid("classes-table", "Class by class", class_caption(judged, shown=None), heads, rows)


def _class_cells(one: ClassLine):
    yield Cell(one.name)
    yield Cell(f"{one.predicted:,}", str(one.predicted))
    yield Cell(percent(one.accuracy))
    yield Cell(
        bracketed(one.interval) or "–", "" if one.interval is None else f"{one.interval[1] - one.interval[0]:.6f}"
    )
    yield Cell(percent(one.source_accuracy))
    yield _difference(one.accuracy, one.source_accuracy)
    yield Cell(f"{one.expected:,.0f}", f"{one.expected:.6f}")
    yield Cell(percent(one.recall))
    yield Cell(may_be(one), css="words")


def details_grid(judged: Judgement, chosen: dict[str, Look]) -> Grid:
    """Everything else that the methods tell, such as thresholds and temperatures."""
    names = list(dict.fromkeys(name for one in judged.methods for name in one.details))
    heads = (Column("method", words=True), *map(Column, (name.replace("_", " ") for name in names)))
    rows = tuple(
        Line(
            one.name,
            (Cell(one.name, picture=swatch(chosen[one.name])), *(_detail(one.details.get(name)) for name in names)),
        )
        for one in judged.methods
    )
    return Grid("details", "Every other number", "What each method rests on; fractions.", heads, rows)


def _detail(value) -> Cell:
    if value is None:
        return Cell("")
    if isinstance(value, float):
        return Cell(f"{value:.4g}")
    return Cell(", ".join(f"{one:.3g}" for one in value) if isinstance(value, list) else str(value))
