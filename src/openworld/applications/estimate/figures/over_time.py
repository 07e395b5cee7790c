"""Accuracy over time: what is quoted with its interval, bounds where nothing is, the methods faint, and the alert."""

from markupsafe import Markup

from openworld.applications.estimate.results import Judgement, Stretch
from openworld.report.axes import Axis
from openworld.report.panels import Figure, Panel
from openworld.report.series_style import Look
from openworld.report.svg import Frame, drawing, element
from openworld.report.text import percent

WIDTH, HEIGHT = 560.0, 330.0
NAMED = 5  # chunks whose names fit below the axis
HEADER = ("chunk", "first_image", "images", "method", "accuracy", "low", "high", "true_accuracy")


def over_time(judged: Judgement, looks: dict[str, Look]) -> Figure | None:
    """The figure; None where the target was not cut."""
    if not judged.stretches:
        return None
    caption = (
        "What is quoted, chunk by chunk, with its interval; the methods stand back. A bar without a mark: the accuracy "
        "cannot be told, and may lie anywhere on the bar.",
        "Dashed: the accuracy on the source. "
        + (
            "Red: the alert. A ring: an alarm stands, for which the chunks before count too."
            if judged.alert is not None
            else "Chunks of few images move by chance."
        ),
    )
    rows = tuple(
        (one.label, one.first, one.n, *values, one.accuracy)
        for one in judged.stretches
        for values in (
            ("quoted", one.quote.accuracy, one.quote.low, one.quote.high),
            *((name, accuracy, None, None) for name, accuracy in one.methods.items()),
        )
    )
    panel = Panel("", over_time_drawing(judged, looks))
    return Figure("over-time", "Over time", caption, (panel,), HEADER, rows)


def over_time_drawing(judged: Judgement, looks: dict[str, Look]) -> Markup:
    """The drawing alone."""
    plot = _frame(judged)
    names = [one.name for one in judged.methods]
    parts = [plot.axes(), _chunk_names(plot, judged), _level(plot, judged.source.accuracy, "asked")]
    if judged.alert is not None:
        parts.append(_level(plot, judged.alert, "alert"))
    parts += [_curve(plot, judged, name, looks[name]) for name in names]
    parts += [_quoted(plot, place, one) for place, one in enumerate(judged.stretches)]
    if judged.target.accuracy is not None:
        parts += [_true(plot, place, one) for place, one in enumerate(judged.stretches) if one.accuracy is not None]
    told = f"Accuracy of {len(judged.stretches)} chunks by {len(names)} methods."
    return drawing(WIDTH, HEIGHT, told, parts)


def _frame(judged: Judgement) -> Frame:
    values = [value for one in judged.stretches for value in one.methods.values()]
    values += [end for one in judged.stretches for end in (one.quote.low, one.quote.high)]
    values += [one.accuracy for one in judged.stretches] + [judged.source.accuracy, judged.alert]
    y = Axis.around("estimated accuracy, %", [100 * value for value in values if value is not None])
    x = Axis("", -0.5, len(judged.stretches) - 0.5, ())
    return Frame(WIDTH, HEIGHT, (10.0, 14.0, 42.0, 54.0), x, y)


def _curve(plot: Frame, judged: Judgement, name: str, look: Look) -> Markup:
    found = [(place, one.methods.get(name)) for place, one in enumerate(judged.stretches)]
    known = [(place, 100 * value) for place, value in found if value is not None]
    places, values = ([one[side] for one in known] for side in (0, 1))
    line = plot.line(places, values, class_="line", stroke_dasharray=look.dash or None) if known else Markup("")
    return element("g", element("title", name), line, class_=f"{look.css_class} back", data_learner=name)


def _quoted(plot: Frame, place: int, one: Stretch) -> Markup:
    """The interval upright, and a mark at the accuracy where it can be told; a ring where an alarm stands."""
    x, (low, high) = plot.across(place), (plot.up(100 * end) for end in (one.quote.low, one.quote.high))
    parts = [element("line", x1=x, x2=x, y1=low, y2=high, class_="quoted")]
    if one.alarming and one.alarm.counted is not None:
        parts.append(element("circle", cx=x, cy=plot.up(100 * one.alarm.counted), r=8.5, class_="ring"))
    told = f"cannot be told, {percent(one.quote.low)} to {percent(one.quote.high)} %"
    if one.quote.accuracy is not None:
        y, told = plot.up(100 * one.quote.accuracy), f"{percent(one.quote.accuracy)} %"
        parts.append(element("circle", cx=x, cy=y, r=4.0, class_="quoted-mark"))
    told += ", alarm" if one.alarming else ""
    return element("g", element("title", f"{one.label}: {told}, {one.n:,} images"), *parts)


def _true(plot: Frame, place: int, one: Stretch) -> Markup:
    x, y = plot.across(place), plot.up(100 * one.accuracy)
    return element("line", x1=x - 7, x2=x + 7, y1=y, y2=y, class_="bar")


def _level(plot: Frame, value: float, css: str) -> Markup:
    left, _, right, _ = plot.box
    return element("line", x1=left, x2=right, y1=plot.up(100 * value), y2=plot.up(100 * value), class_=css)


def _chunk_names(plot: Frame, judged: Judgement) -> Markup:
    """The first chunk's name, the last one's, and some between."""
    _, _, _, bottom = plot.box
    count = len(judged.stretches)
    shown = sorted({round(part * (count - 1) / max(1, min(NAMED, count) - 1)) for part in range(min(NAMED, count))})
    parts = []
    for place in shown:
        label = judged.stretches[place].label.removeprefix("from ")
        parts.append(element("text", label, x=plot.across(place), y=bottom + 15, class_="tick mid"))
    return Markup("").join(parts)
