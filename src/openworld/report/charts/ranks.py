"""The critical-difference diagram: mean ranks on an axis, with a bar over series whose ranks are not shown to differ.

Demsar (2006), section 3.2.2 and Figure 1.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.lettering import PIXELS, POINTS, widest
from openworld.report.charts.drawing.svg import drawing, element, marker
from openworld.report.series_style import SeriesStyle

ROW, STEP, TOP = 19.0, 7.0, 46.0  # user units: a name's row, a bar's, and where the axis lies
AXIS = 300.0  # its length
NUMBERED = 9  # of so many ranks each has its number; of more every second or third


@dataclass(frozen=True)
class RankChart:
    """Mean ranks by name, 1 = best, and the critical difference of two; `further` are columns of the data."""

    title: str
    series: Mapping[str, float]
    difference: float
    further: Mapping[str, object] = field(default_factory=dict)

    @property
    def paper_width(self) -> float:
        return 1.6 + sum(widest(half, POINTS) for half in self._halves()) / 72

    def paper_height(self, width: float) -> float:
        return 0.9 + 0.14 * len(self._halves()[0]) + 0.05 * len(self.bars)

    @property
    def bars(self) -> list[tuple[float, float]]:
        """The ends of the bars: the largest runs of neighbouring mean ranks closer than the critical difference."""
        ordered, bars = sorted(self.series.values()), []
        for start, low in enumerate(ordered):
            inside = [high for high in ordered[start:] if high - low < self.difference]
            if len(inside) > 1 and (not bars or inside[-1] > bars[-1][1]):
                bars.append((low, inside[-1]))
        return bars

    def rows(self) -> Iterator[dict]:
        for name, rank in self.series.items():
            yield {"series": name, "mean_rank": rank, "critical_difference": self.difference} | dict(self.further)

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        count, bars, halves = len(self.series), self.bars, self._halves()
        left = 30 + widest(self.series, PIXELS)
        right, floor = left + AXIS, TOP + 12 + STEP * len(bars)
        height = floor + ROW * len(halves[0]) + 6

        def across(rank: float) -> float:
            return left + (rank - 1) / (count - 1) * AXIS

        parts = [element("line", x1=left, x2=right, y1=TOP, y2=TOP, class_="axis")]
        for rank, number in self._ticks():
            x = across(rank)
            parts.append(element("line", x1=x, x2=x, y1=TOP - 5, y2=TOP, class_="axis"))
            if number:
                parts.append(element("text", number, x=x, y=TOP - 9, class_="tick mid"))
        stop = across(1 + self.difference)
        parts.append(element("line", x1=left, x2=stop, y1=12.0, y2=12.0, class_="bar"))
        parts.append(element("text", f"CD = {self.difference:.2f}", x=stop + 8, y=16.0, class_="tick"))

        for names, edge, outwards, css in zip(
            halves, (left - 8, right + 8), (-1, 1), ("label near end", "label near"), strict=True
        ):
            for row, name in enumerate(names):
                x, y = across(self.series[name]), floor + ROW * (row + 0.5)
                corners = f"{x:.1f},{TOP:.1f} {x:.1f},{y:.1f} {edge:.1f},{y:.1f}"
                group = [
                    element("title", f"{name}: mean rank {self.series[name]:.2f}"),
                    element("polyline", points=corners, class_="leader"),
                    marker(styles[name].marker, edge + 5 * outwards, y),
                    element("text", name, x=edge + 14 * outwards, y=y + 4, class_=css),
                ]
                parts.append(element("g", *group, class_=styles[name].css_class, data_learner=name))
        for place, (low, high) in enumerate(bars):
            y = TOP + 10 + STEP * place
            parts.append(element("line", x1=across(low) - 3, x2=across(high) + 3, y1=y, y2=y, class_="bar"))
        text = ", ".join(f"{name} {self.series[name]:.2f}" for half in halves for name in half)
        return drawing(AXIS + 2 * left, height, f"Mean ranks: {text}.", parts)

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        count, bars, halves = len(self.series), self.bars, self._halves()
        depth = len(bars) * 0.5 + len(halves[0]) + 1
        paper.set_title(axes, self.title)
        axes.set(xlim=(1, max(count, 2)), ylim=(depth, -3.5))
        axes.set_axis_off()
        axes.plot([1, count], [0, 0], color=paper.MUTED, linewidth=0.8)
        for rank, number in self._ticks():
            axes.plot([rank, rank], [-0.3, 0], color=paper.MUTED, linewidth=0.8)
            axes.text(rank, -0.5, number, ha="center", va="bottom")
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

    def _ticks(self) -> Iterator[tuple[int, str]]:
        """Yield each rank with its number, "" where there is no room."""
        step = max(1, round(len(self.series) / NUMBERED))
        for rank in range(1, len(self.series) + 1):
            yield rank, "" if (rank - 1) % step else str(rank)

    def _halves(self) -> tuple[list[str], list[str]]:
        """The better half from the best, and the other from the last."""
        ordered = sorted(self.series, key=self.series.__getitem__)
        half = -(-len(ordered) // 2)
        return ordered[:half], ordered[half:][::-1]
