"""The critical-difference diagram: mean ranks on an axis, with a bar over series whose ranks are not shown to differ.

Demsar (2006), section 3.2.2 and Figure 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.axes import Axis
from openworld.report.charts.drawing.lettering import PIXELS, POINTS, text_width
from openworld.report.charts.drawing.svg import Frame, drawing, element, marker
from openworld.report.series_style import SeriesStyle

ROW, STEP, TOP = 19.0, 7.0, 46.0  # user units: a name's row, a bar's, and where the axis lies
AXIS = 300.0  # its length
_FLAT = Axis("", 0, 1, (0, 1))


@dataclass(frozen=True)
class RankChart:
    """Mean ranks by name, 1 = best, and the critical difference of two; `further` are columns of the data."""

    title: str
    series: Mapping[str, float]
    difference: float
    further: Mapping[str, object] = field(default_factory=dict)

    @property
    def paper_width(self) -> float:
        """The least inches on paper: names on both sides of an axis."""
        return 1.6 + sum(max(text_width(name, POINTS) for name in half) for half in self._halves() if half) / 72

    def paper_height(self, width: float) -> float:
        """Inches on paper."""
        return 0.9 + 0.14 * len(self._halves()[0]) + 0.05 * len(self.bars)

    @property
    def bars(self) -> list[tuple[float, float]]:
        """The ends of the bars."""
        return groups(list(self.series.values()), self.difference)

    def rows(self) -> Iterator[dict]:
        """Yield a row per series."""
        for name, rank in self.series.items():
            yield {"series": name, "mean_rank": rank, "critical_difference": self.difference} | self.further

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        """Return the drawing for a page."""
        side = 30 + max(text_width(name, PIXELS) for name in self.series)
        floor = TOP + 12 + STEP * len(self.bars)
        height = floor + ROW * len(self._halves()[0]) + 6
        axis = Axis("", 1, len(self.series), tuple(range(1, len(self.series) + 1)))
        plot = Frame(AXIS + 2 * side, height, (TOP, side, height - TOP, side), axis, _FLAT)
        parts = [*_axis(plot), *_measure(plot, self.difference)]
        for names, left in zip(self._halves(), (True, False), strict=True):
            for row, name in enumerate(names):
                parts.append(_name(plot, name, self.series[name], floor + ROW * (row + 0.5), styles[name], left=left))
        for place, (low, high) in enumerate(self.bars):
            y = TOP + 10 + STEP * place
            ends = {"x1": plot.across(low) - 3, "x2": plot.across(high) + 3, "y1": y, "y2": y}
            parts.append(element("line", **ends, class_="bar"))
        text = ", ".join(f"{name} {self.series[name]:.2f}" for half in self._halves() for name in half)
        return drawing(plot.width, height, f"Mean ranks: {text}.", parts)

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        """Draw on matplotlib axes."""
        count, bars, halves = len(self.series), self.bars, self._halves()
        depth = len(bars) * 0.5 + len(halves[0]) + 1
        paper.set_title(axes, self.title)
        axes.set(xlim=(1, max(count, 2)), ylim=(depth, -3.5))
        axes.set_axis_off()
        axes.plot([1, count], [0, 0], color=paper.MUTED, linewidth=0.8)
        for tick in range(1, count + 1):
            axes.plot([tick, tick], [-0.3, 0], color=paper.MUTED, linewidth=0.8)
            if (tick - 1) % _step(count) == 0:
                axes.text(tick, -0.5, f"{tick}", ha="center", va="bottom")
        axes.plot([1, 1 + self.difference], [-3, -3], color=paper.INK, linewidth=1.8, clip_on=False)
        axes.text(1.15 + self.difference, -3, f"CD = {self.difference:.2f}", va="center", color=paper.MUTED)
        for place, ends in enumerate(bars):
            axes.plot(ends, [0.5 + 0.5 * place] * 2, color=paper.INK, linewidth=2.2, clip_on=False)
        for names, edge, end in zip(halves, (1 - 0.04 * count, count * 1.04), ("right", "left"), strict=True):
            for row, name in enumerate(names):
                rank, y, style = self.series[name], 0.5 * len(bars) + 0.8 + row, paper.mark_style(styles[name])
                axes.plot([rank, rank, edge], [0, y, y], color=style["color"], linewidth=0.7, clip_on=False)
                axes.plot([edge], [y], clip_on=False, **style)
                place = {"xytext": (-5 if end == "right" else 5, 0), "textcoords": "offset points", "va": "center"}
                axes.annotate(paper.text(name), (edge, y), ha=end, annotation_clip=False, **place)

    def _halves(self) -> tuple[list[str], list[str]]:
        """The better half from the best, and the other from the last."""
        ordered = sorted(self.series, key=self.series.get)
        half = -(-len(ordered) // 2)
        return ordered[:half], ordered[half:][::-1]


def groups(mean_ranks: Sequence[float], distance: float) -> list[tuple[float, float]]:
    """Return the ends of the bars: the largest runs of neighbouring mean ranks that lie closer than `distance`.

    >>> groups([1.0, 1.5, 3.0, 3.2], 2.1)
    [(1.0, 3.0), (1.5, 3.2)]
    """
    ordered, groups = sorted(mean_ranks), []
    for start, low in enumerate(ordered):
        inside = [high for high in ordered[start:] if high - low < distance]
        if len(inside) > 1 and (not groups or inside[-1] > groups[-1][1]):
            groups.append((low, inside[-1]))
    return groups


def _step(count: int) -> int:
    """Of so many ranks every first, second or third has its number."""
    return max(1, round(count / 9))


def _axis(plot: Frame) -> Iterator[Markup]:
    left, _, right, _ = plot.box
    yield element("line", x1=left, x2=right, y1=TOP, y2=TOP, class_="axis")
    for tick in plot.x.ticks:
        yield element("line", x1=plot.across(tick), x2=plot.across(tick), y1=TOP - 5, y2=TOP, class_="axis")
        if (tick - 1) % _step(len(plot.x.ticks)) == 0:
            yield element("text", str(tick), x=plot.across(tick), y=TOP - 9, class_="tick mid")


def _measure(plot: Frame, distance: float) -> list[Markup]:
    """The critical difference drawn to the axis's scale, above it."""
    left, _, right, _ = plot.box
    stop = left + distance / (plot.x.high - plot.x.low) * (right - left)
    line = element("line", x1=left, x2=stop, y1=12.0, y2=12.0, class_="bar")
    return [line, element("text", f"CD = {distance:.2f}", x=stop + 8, y=16.0, class_="tick")]


def _name(plot: Frame, name: str, rank: float, y: float, style: SeriesStyle, *, left: bool) -> Markup:
    start, _, end, _ = plot.box
    x, edge = plot.across(rank), (start - 8 if left else end + 8)
    place = edge - 14 if left else edge + 14
    line = element("polyline", points=f"{x:.1f},{TOP:.1f} {x:.1f},{y:.1f} {edge:.1f},{y:.1f}", class_="leader")
    label = element("text", name, x=place, y=y + 4, class_="label near" + " end" * left)
    title = element("title", f"{name}: mean rank {rank:.2f}")
    mark = marker(style.marker, edge + (-5 if left else 5), y)
    return element("g", title, line, mark, label, class_=style.css_class, data_learner=name)
