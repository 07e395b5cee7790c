"""Stacked bars of 100 points: what a series earned, in its colour, and what it lost, hatched by kind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.lettering import PIXELS, POINTS, text_width
from openworld.report.charts.drawing.svg import drawing, element, sample
from openworld.report.charts.quantity import Quantity
from openworld.report.series_style import SeriesStyle
from openworld.results import Metric

LONGEST = 18  # letters of a name; longer ones are cut short


@dataclass(frozen=True)
class Size:
    """In user units: of the whole, of a bar, of the gap below it."""

    width: float
    bar: float
    gap: float


ALONE, AMONG_MANY = Size(470.0, 20.0, 7.0), Size(400.0, 16.0, 3.0)
NUMBERED = 12.0  # points of 100 that have room for their number on paper


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
        """The least inches on paper: the names, and room for the bars."""
        return 2.2 + max((text_width(name, POINTS) for name in self.series), default=0.0) / 72

    def paper_height(self, width: float) -> float:
        """Inches on paper."""
        return 0.6 + 0.2 * len(self.series)

    def rows(self) -> Iterator[dict]:
        """Yield a row per bar."""
        for name, values in self.series.items():
            filled = values or [None] * len(self.parts)
            yield {"series": name} | {part.key: value for part, value in zip(self.parts, filled, strict=True)}

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        """Return the drawing for a page."""
        size = ALONE if alone else AMONG_MANY
        left = max(64.0, 12 + max((text_width(_shortened(name), PIXELS) for name in self.series), default=0.0))
        step, scale = size.bar + size.gap, size.width - left - 12
        height = len(self.series) * step + 22
        drawn = [
            self._bar(name, values, styles[name], size, (left, 2 + place * step, scale))
            for place, (name, values) in enumerate(self.series.items())
        ]
        ticks = [
            element("text", f"{value}", x=left + value / 100 * scale, y=height - 6, class_="tick mid")
            for value in range(0, 101, 20)
        ]
        first = self.parts[0]
        texts = (f"{name} {first.write(row[0])}" if row else f"{name} –" for name, row in self.series.items())
        return drawing(size.width, height, f"Stacked bars. {first.title}: {'; '.join(texts)}.", drawn + ticks)

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        """Draw on matplotlib axes."""
        count = len(self.series)
        paper.set_title(axes, self.title)
        axes.set(xlim=(0, 100), ylim=(-0.5, count - 0.5), xlabel="points of 100")
        axes.set_yticks(range(count), map(paper.text, reversed(self.series)))
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        for place, (name, values) in enumerate(self.series.items()):
            start = 0.0
            if values is None:
                axes.text(0, count - 1 - place, "not defined", color=paper.MUTED, va="center")
            for part, value in enumerate(values or ()):
                width = self.parts[part].scaled(value)
                paper.bar(axes, count - 1 - place, start, width, part, styles[name].light)
                if width >= NUMBERED:
                    ground = {} if part == 0 else {"bbox": {"boxstyle": "square,pad=0.15", "fc": "white", "lw": 0}}
                    colour, middle = ("white" if part == 0 else paper.INK), start + width / 2
                    text = self.parts[part].write(value)
                    axes.text(middle, count - 1 - place, text, color=colour, ha="center", va="center", **ground)
                start += width
        for part, quantity in enumerate(self.parts):
            paper.bar(axes, -9, 0, 0, part, paper.MUTED, label=paper.text(quantity.title))

    def _bar(self, name: str, values, style: SeriesStyle, size: Size, place: tuple[float, float, float]) -> Markup:
        left, top, scale = place
        middle = top + size.bar / 2 + 4
        label = element("text", _shortened(name), element("title", name), x=left - 8, y=middle, class_="name end")
        if values is None:
            return label + element("text", "not defined", x=left, y=middle, class_="tick")
        texts = (f"{part.title} {part.write(value)}" for part, value in zip(self.parts, values, strict=True))
        parts, start = [label, element("title", f"{name}: {', '.join(texts)}")], left
        for at, value in enumerate(values):
            css, number = (
                (f"earned {style.css_class}", "earned-number") if at == 0 else (f"loss loss{at}", "loss-number")
            )
            width = max(value * scale, 0.0)
            parts.append(element("rect", x=start, y=top, width=width, height=size.bar, class_=css))
            text = self.parts[at].write(value)
            if text_width(text, 12.0) <= width:
                parts.append(element("text", text, x=start + width / 2, y=middle, class_=number))
            start += width
        return element("g", *parts, data_learner=name)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def bars_key(parts: Sequence[Metric], entity: str) -> tuple[tuple[Markup, str], ...]:
    """Return what the parts of a bar mean, for the key over a figure; the first is in the colour of its `entity`."""
    kinds = ["earned", *(f"loss loss{place}" for place in range(1, len(parts)))]
    drawn = (sample(element("rect", x=0.5, y=0.5, width=25.0, height=13.0, class_=kind)) for kind in kinds)
    titles = [f"{parts[0].title}, in the {entity}'s colour", *(part.title for part in parts[1:])]
    return tuple(zip(drawn, titles, strict=True))
