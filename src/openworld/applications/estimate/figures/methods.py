"""Every method's accuracy with its interval, one below the other, beside what is known: the source, and the truth."""

from markupsafe import Markup

from openworld.applications.estimate.results import Judgement, Method
from openworld.report.axes import Axis
from openworld.report.panels import Figure, Panel
from openworld.report.series_style import Look
from openworld.report.svg import Frame, drawing, element
from openworld.report.text import percent

ROW, LEFT, WIDTH = 24.0, 92.0, 560.0
HEADER = ("method", "accuracy", "low", "high", "quoted")


def methods(judged: Judgement, looks: dict[str, Look]) -> Figure | None:
    """The figure; None where no method could tell an accuracy."""
    known = sorted((one for one in judged.methods if one.accuracy is not None), key=lambda one: -one.accuracy)
    if not known:
        return None
    caption = (
        "What every method says, with the interval that resampling gives. Ring: the one that is quoted.",
        "Faint bars: what each says of as many images like the source. "
        f"Lines: {' and '.join(told for _, told, _ in _marks(judged))}. Shaded: {_shaded(judged)}.",
    )
    rows = tuple(
        (one.name, one.accuracy, *(one.interval or (None, None)), one.name == judged.quote.method) for one in known
    )
    panel = Panel("", methods_drawing(judged, known, looks))
    return Figure("methods", "What every method says", caption, (panel,), HEADER, rows)


def methods_drawing(judged: Judgement, known: list[Method], looks: dict[str, Look]) -> Markup:
    """The drawing alone, methods from above in the order given."""
    ends = [100 * end for one in known for end in (one.accuracy, *(one.interval or ()))]
    ends += [100 * value for value, _, _ in _marks(judged)] + [100 * judged.quote.low, 100 * judged.quote.high]
    ends += [100 * end for one in known for end in (one.on_source or ())[1:]]
    height = ROW * len(known) + 64
    x = Axis.around("estimated accuracy, %", ends)
    plot = Frame(WIDTH, height, (22.0, 14.0, 42.0, LEFT), x, Axis("", -0.5, len(known) - 0.5, ()))
    parts = [_bounds(plot, judged), plot.axes(), *_lines(plot, judged)]
    for place, one in enumerate(known):
        parts.append(_row(plot, len(known) - 1 - place, one, looks[one.name], quoted=one.name == judged.quote.method))
    lowest, highest = known[-1], known[0]
    told = f"{len(known)} methods, {percent(lowest.accuracy)} % ({lowest.name}) to {percent(highest.accuracy)} %."
    return drawing(WIDTH, height, told, parts)


def _row(plot: Frame, height: float, one: Method, look: Look, *, quoted: bool) -> Markup:
    left, _, _, _ = plot.box
    name = element("text", one.name, x=left - 8, y=plot.up(height) + 4, class_="label end" if quoted else "near end")
    parts = [name]
    if one.on_source is not None:
        low, high = (plot.across(100 * end) for end in one.on_source[1:])
        parts.append(element("rect", x=low, y=plot.up(height) - 5, width=high - low, height=10, class_="band"))
    if one.interval is not None:
        low, high = (plot.across(100 * end) for end in one.interval)
        parts.append(element("line", x1=low, x2=high, y1=plot.up(height), y2=plot.up(height), class_="line"))
    if quoted:
        parts.append(element("circle", cx=plot.across(100 * one.accuracy), cy=plot.up(height), r=9.0, class_="ring"))
    parts.append(plot.mark(100 * one.accuracy, height, look.marker))
    told = element("title", f"{one.name}: {percent(one.accuracy)} %")
    return element("g", told, *parts, class_=look.css_class, data_learner=one.name)


def _bounds(plot: Frame, judged: Judgement) -> Markup:
    """The interval of what is quoted, or the bounds where the accuracy cannot be told, over the whole height."""
    _, top, _, bottom = plot.box
    low, high = (plot.across(100 * end) for end in (judged.quote.low, judged.quote.high))
    return element("rect", x=low, y=top, width=high - low, height=bottom - top, class_="region")


def _shaded(judged: Judgement) -> str:
    quote = judged.quote
    ends = f"{percent(quote.low)} to {percent(quote.high)} %"
    return f"the interval of what is quoted, {ends}" if quote.method else f"where the accuracy may lie, {ends}"


def _lines(plot: Frame, judged: Judgement) -> list[Markup]:
    """Upright lines at what is known, named above the plot."""
    _, top, _, bottom = plot.box
    parts = []
    for value, told, css in _marks(judged):
        x = plot.across(100 * value)
        parts.append(element("line", x1=x, x2=x, y1=top, y2=bottom, class_=css))
        parts.append(element("text", told.partition(" (")[0], x=x, y=top - 8, class_="tick mid"))
    return parts


def _marks(judged: Judgement) -> list[tuple[float, str, str]]:
    """What is known: a value, its name, and how its line is drawn."""
    found = [(judged.source.accuracy, f"source ({percent(judged.source.accuracy)} %)", "asked")]
    if judged.target.accuracy is not None:
        found.append((judged.target.accuracy, f"truth ({percent(judged.target.accuracy)} %)", "axis"))
    if judged.alert is not None:
        found.append((judged.alert, f"alert ({percent(judged.alert)} %)", "alert"))
    return found
