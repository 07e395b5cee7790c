"""Estimated accuracy over time: the quoted method with its interval, the others faint, and the alert."""

from markupsafe import Markup

from openworld.report.axes import Axis
from openworld.report.figures.figure import Figure, Panel, percent
from openworld.report.judgement import Judgement, Stretch
from openworld.report.palette import Look
from openworld.report.svg import Frame, drawing, element

WIDTH, HEIGHT = 560.0, 330.0
NAMED = 5  # chunks whose names fit below the axis
HEADER = ("chunk", "first_image", "images", "method", "accuracy", "low", "high", "true_accuracy")


def over_time(judged: Judgement, looks: dict[str, Look]) -> Figure | None:
    """The figure; None where the target was not cut, or nothing is quoted."""
    if not judged.stretches or judged.headline is None:
        return None
    caption = (
        f"{judged.headline} chunk by chunk, with the interval that resampling gives; the other methods stand back.",
        "Dashed: the accuracy on the source. "
        + (
            "A ring marks a chunk below the alert."
            if judged.alert is not None
            else "Chunks of few images move by chance."
        ),
    )
    rows = tuple(
        (one.label, one.first, one.n, name, *values, one.accuracy)
        for one in judged.stretches
        for name, values in one.methods.items()
    )
    panel = Panel("", over_time_drawing(judged, looks))
    return Figure("over-time", "Over time", caption, (panel,), HEADER, rows)


def over_time_drawing(judged: Judgement, looks: dict[str, Look]) -> Markup:
    """The drawing alone."""
    plot = _frame(judged)
    names = sorted({name for one in judged.stretches for name in one.methods}, key=lambda name: name == judged.headline)
    parts = [plot.axes(), _chunk_names(plot, judged), _level(plot, judged.source.accuracy, "asked")]
    if judged.alert is not None:
        parts.append(_level(plot, judged.alert, "alert"))
    parts += [_curve(plot, judged, name, looks[name]) for name in names]
    if judged.target.accuracy is not None:
        parts += [_true(plot, place, one) for place, one in enumerate(judged.stretches) if one.accuracy is not None]
    told = f"Accuracy of {len(judged.stretches)} chunks by {len(names)} methods."
    return drawing(WIDTH, HEIGHT, told, parts)


def _frame(judged: Judgement) -> Frame:
    values = [value for one in judged.stretches for value, _, _ in one.methods.values()]
    values += [end for one in judged.stretches for end in one.methods.get(judged.headline, ())]
    values += [one.accuracy for one in judged.stretches] + [judged.source.accuracy, judged.alert]
    y = Axis.around("estimated accuracy, %", [100 * value for value in values if value is not None])
    x = Axis("", -0.5, len(judged.stretches) - 0.5, ())
    return Frame(WIDTH, HEIGHT, (10.0, 14.0, 42.0, 54.0), x, y)


def _curve(plot: Frame, judged: Judgement, name: str, look: Look) -> Markup:
    quoted = name == judged.headline
    found = [(place, one, one.methods[name]) for place, one in enumerate(judged.stretches)]
    known = [(place, one, values) for place, one, values in found if values[0] is not None]
    xs, ys = [place for place, _, _ in known], [100 * values[0] for _, _, values in known]
    parts = [plot.line(xs, ys, class_="line", stroke_dasharray=look.dash or None)] if known else []
    if quoted:
        parts = [_band(plot, known), *parts]
        parts += [_dot(plot, judged, place, one, look) for place, one, _ in known]
    css = look.css_class + " back" * (not quoted)
    return element("g", element("title", name), *parts, class_=css, data_learner=name)


def _band(plot: Frame, known) -> Markup:
    ends = [(place, values) for place, _, values in known if values[1] is not None]
    lows, highs = ([100 * values[side] for _, values in ends] for side in (1, 2))
    return plot.band([place for place, _ in ends], lows, highs, class_="band") if len(ends) > 1 else Markup("")


def _dot(plot: Frame, judged: Judgement, place: int, one: Stretch, look: Look) -> Markup:
    accuracy = one.methods[judged.headline][0]
    ring = element("circle", cx=plot.across(place), cy=plot.up(100 * accuracy), r=8.5, class_="ring")
    told = element("title", f"{one.label}: {percent(accuracy)} %, {one.n:,} images")
    return element("g", told, ring if judged.below(one) else "", plot.mark(place, 100 * accuracy, look.marker))


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
