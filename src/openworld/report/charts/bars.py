"""Stacked bars of 100 points: what a series earned, in its colour, and what it lost, hatched by kind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.lettering import PIXELS, POINTS, text_width, widest
from openworld.report.charts.drawing.svg import drawing, element, sample
from openworld.report.charts.quantity import Quantity
from openworld.report.series_style import SeriesStyle
from openworld.results import Metric

LONGEST = 18  # letters of a name; longer ones are cut short
ALONE, AMONG_MANY = (470.0, 20.0, 7.0), (400.0, 16.0, 3.0)  # user units: the width, a bar's height, the gap below it
NUMBERED = 12.0  # points of 100 that have room for their number on paper
HATCHES = ("", "////", "....", "")


@dataclass(frozen=True)
class BarChart:
    """Bars by name, from above in the order given; None where a series has no parts.

    `parts` are the quantities that a bar consists of: first what was earned, then the losses.
    """

    title: str
    parts: tuple[Quantity, ...]
    series: Mapping[str, Sequence[float] | None]

    @property
    def paper_width(self) -> float:
        return 2.2 + widest(self.series, POINTS) / 72

    def paper_height(self, width: float) -> float:
        return 0.6 + 0.2 * len(self.series)

    def rows(self) -> Iterator[dict]:
        for name, values in self.series.items():
            filled = values or [None] * len(self.parts)
            yield {"series": name} | {part.key: value for part, value in zip(self.parts, filled, strict=True)}

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        width, bar, gap = ALONE if alone else AMONG_MANY
        names = {name: name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in self.series}
        left = max(64.0, 12 + widest(names.values(), PIXELS))
        scale, height = width - left - 12, len(self.series) * (bar + gap) + 22

        drawn = []
        for row, (name, values) in enumerate(self.series.items()):
            top = 2 + row * (bar + gap)
            middle = top + bar / 2 + 4
            label = element("text", names[name], element("title", name), x=left - 8, y=middle, class_="name end")
            if values is None:
                drawn.append(label + element("text", "not defined", x=left, y=middle, class_="tick"))
                continue
            texts = (f"{part.title} {part.write(value)}" for part, value in zip(self.parts, values, strict=True))
            parts = [label, element("title", f"{name}: {', '.join(texts)}")]
            for place, start, length, text in self._segments(values, left, scale):
                css = f"loss loss{place}" if place else f"earned {styles[name].css_class}"
                parts.append(element("rect", x=start, y=top, width=length, height=bar, class_=css))
                if text_width(text, 12.0) <= length:
                    css = "loss-number" if place else "earned-number"
                    parts.append(element("text", text, x=start + length / 2, y=middle, class_=css))
            drawn.append(element("g", *parts, data_learner=name))

        for value in range(0, 101, 20):
            drawn.append(element("text", f"{value}", x=left + value / 100 * scale, y=height - 6, class_="tick mid"))
        first = self.parts[0]
        texts = (f"{name} {first.write(row[0])}" if row else f"{name} –" for name, row in self.series.items())
        return drawing(width, height, f"Stacked bars. {first.title}: {'; '.join(texts)}.", drawn)

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        count = len(self.series)
        paper.set_title(axes, self.title)
        axes.set(xlim=(0, 100), ylim=(-0.5, count - 0.5), xlabel="points of 100")
        paper.set_rows(axes, range(count), reversed(list(self.series)))

        def bar(y: float, start: float, width: float, place: int, colour: str, label: str = "") -> None:
            kind = {"facecolor": "#efefec", "hatch": HATCHES[place], "edgecolor": "#8a8a8a"}
            kind = kind if place else {"color": colour}
            axes.barh(y, width, 0.75, start, linewidth=0.4, label=label, **kind)

        for row, (name, values) in enumerate(self.series.items()):
            y = count - 1 - row
            if values is None:
                axes.text(0, y, "not defined", color=paper.MUTED, va="center")
            for place, start, width, text in self._segments(values or (), 0.0, 100.0):
                bar(y, start, width, place, styles[name].light)
                if width >= NUMBERED:
                    ground = {"color": paper.INK, "bbox": {"boxstyle": "square,pad=0.15", "fc": "white", "lw": 0}}
                    ground = ground if place else {"color": "white"}
                    axes.text(start + width / 2, y, text, ha="center", va="center", **ground)
        for place, quantity in enumerate(self.parts):  # out of sight, for the legend
            bar(-9, 0, 0, place, paper.MUTED, paper.text(quantity.title))

    def _segments(self, values: Sequence[float], start: float, scale: float):
        """Yield the place of each part of a bar, where it begins, its length, and its number."""
        for place, value in enumerate(values):
            length = max(value * scale, 0.0)
            yield place, start, length, self.parts[place].write(value)
            start += length


def bars_key(parts: Sequence[Metric], entity: str) -> tuple[tuple[Markup, str], ...]:
    """Return what the parts of a bar mean, for the key over a figure; the first is in the colour of its `entity`."""
    kinds = ["earned", *(f"loss loss{place}" for place in range(1, len(parts)))]
    drawn = (sample(element("rect", x=0.5, y=0.5, width=25.0, height=13.0, class_=kind)) for kind in kinds)
    titles = [f"{parts[0].title}, in the {entity}'s colour", *(part.title for part in parts[1:])]
    return tuple(zip(drawn, titles, strict=True))
