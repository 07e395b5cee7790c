"""Numbers with their intervals, one below the other, beside what is known."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.label_placement import LINE
from openworld.report.charts.drawing.lettering import PIXELS, POINTS, staggered, text_width, widest
from openworld.report.charts.drawing.svg import Frame, drawing, element, marker
from openworld.report.charts.quantity import Axis, Quantity, Reference
from openworld.report.series_style import SeriesStyle

ROW, LEFT, WIDTH = 24.0, 92.0, 560.0


@dataclass(frozen=True)
class IntervalRow:
    """One series: a value, its interval, a faint bar behind it, whether it is ringed, and columns of its row."""

    value: float
    interval: tuple[float, float] | None = None
    behind: tuple[float, float] | None = None
    ringed: bool = False
    further: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class IntervalChart:
    """Estimates by name, from above in the order given; references are upright lines, the region is shaded."""

    title: str
    x: Quantity
    series: Mapping[str, IntervalRow]
    references: tuple[Reference, ...] = ()
    region: tuple[float, float] | None = None

    @property
    def paper_width(self) -> float:
        return 1.6 + widest(self.series, POINTS) / 72

    def paper_height(self, width: float) -> float:
        return 0.8 + 0.22 * len(self.series)

    def rows(self) -> Iterator[dict]:
        for name, row in self.series.items():
            low, high = row.interval or (None, None)
            yield {"series": name, self.x.key: row.value, "low": low, "high": high} | dict(row.further)

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        count, x = len(self.series), self._axis()
        left = max(LEFT, 16 + widest(self.series, PIXELS))
        # Names of references stand above the plot, one over the other where they would meet.
        upright = Frame(WIDTH, 64.0, (0.0, 14.0, 0.0, left), x, Axis("", 0, 1, ()))
        places = [upright.across(self.x.scaled(reference.value)) for reference in self.references]
        halves = [text_width(reference.text, PIXELS) / 2 + 3 for reference in self.references]
        spans = [[(place - half, place + half)] for place, half in zip(places, halves, strict=True)]
        levels = [level for _, level in staggered(spans, [LINE] * len(spans))]

        margin = 22.0 + max(levels, default=0.0)
        y = Axis("", -0.5, count - 0.5, ())
        plot = Frame(WIDTH, margin + ROW * count + 42, (margin, 14.0, 42.0, left), x, y)
        _, top, _, bottom = plot.box
        parts = []
        if self.region:
            low, high = map(plot.across, map(self.x.scaled, self.region))
            parts.append(element("rect", x=low, y=top, width=high - low, height=bottom - top, class_="region"))
        parts.append(plot.axes())
        for reference, at, level in zip(self.references, places, levels, strict=True):
            parts.append(element("line", x1=at, x2=at, y1=top, y2=bottom, class_=reference.kind))
            parts.append(element("text", reference.text, x=at, y=top - 8 - level, class_="tick mid"))
        for place, (name, row) in enumerate(self.series.items()):
            parts.append(self._row(plot, count - 1 - place, name, row, styles[name]))
        values = [row.value for row in self.series.values()]
        ends = f", {self.x.write(min(values))} to {self.x.write(max(values))}" if values else ""
        return drawing(WIDTH, plot.height, f"{self.x.title} by {count} methods{ends}.", parts)

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        x, count, scaled = self._axis(), len(self.series), self.x.scaled
        names = tuple(reversed(list(self.series)))
        paper.set_axes(axes, self.title, x, Axis("", -0.5, count - 0.5, tuple(map(float, range(count))), names))
        axes.grid(visible=False, axis="y")
        if self.region:
            axes.axvspan(*map(scaled, self.region), color=paper.MUTED, alpha=0.15, linewidth=0)
        paper.references(axes, self, in_legend=True)
        for place, (name, row) in enumerate(self.series.items()):
            y, colour = count - 1 - place, styles[name].light
            if row.behind:
                low, high = map(scaled, row.behind)
                axes.barh(y, high - low, height=0.4, left=low, color=colour, alpha=0.15)
            if row.interval:
                axes.plot([*map(scaled, row.interval)], [y, y], color=colour, linewidth=1.2)
            axes.plot([scaled(row.value)], [y], **paper.mark_style(styles[name]))
            if row.ringed:
                paper.ring(axes, scaled(row.value), y, colour)

    def _axis(self):
        ends = [end for row in self.series.values() for end in (row.value, *(row.interval or ()), *(row.behind or ()))]
        return self.x.axis([*ends, *(reference.value for reference in self.references), *(self.region or ())])

    def _row(self, plot: Frame, height: float, name: str, row: IntervalRow, style: SeriesStyle) -> Markup:
        y, css = plot.up(height), "label end" if row.ringed else "near end"
        at, *ends = (plot.across(self.x.scaled(x)) for x in (row.value, *(row.behind or ()), *(row.interval or ())))
        parts = [element("text", name, x=plot.box[0] - 8, y=y + 4, class_=css)]
        if row.behind:
            low, high = ends[:2]
            parts.append(element("rect", x=low, y=y - 5, width=high - low, height=10, class_="band"))
        if row.interval:
            low, high = ends[-2:]
            parts.append(element("line", x1=low, x2=high, y1=y, y2=y, class_="line"))
        if row.ringed:
            parts.append(element("circle", cx=at, cy=y, r=9.0, class_="ring"))
        parts.append(marker(style.marker, at, y))
        interval = f" [{' '.join(map(self.x.write, row.interval))}]" if row.interval else ""
        title = element("title", f"{name}: {self.x.write(row.value)}{interval}")
        return element("g", title, *parts, class_=style.css_class, data_learner=name)
