"""A chart of every type, of series with given names: what tests of all charts share."""

import base64
import io

import numpy as np
from PIL import Image

from openworld.report.charts import (
    BarChart,
    CellChart,
    ChartCell,
    Cloud,
    IntervalChart,
    IntervalRow,
    Line,
    LineChart,
    Quantity,
    RankChart,
    Reference,
    ScatterChart,
)

TITLE = "A data set whose name is as long as those of ImageNet's variants are, printed"
LEVEL, PERCENT = Quantity("level", "level", "number", 6, at_values=True), Quantity("accuracy", "accuracy, %")
UPRIGHT = tuple(
    Reference(at, name, "x") for at, name in ((0.61, "printed TTC"), (0.612, "printed raw"), (0.205, "at the edge"))
)


def values(count, seed=0):
    return np.random.default_rng(seed).uniform(0.3, 0.95, count).tolist()


def lines(names, x=LEVEL, count=12, **options):
    def line(seed):
        y = values(count, seed)
        return Line(range(count), [*y[:-1], None], [each - 0.05 for each in y], [each + 0.05 for each in y])

    return LineChart(TITLE, x, PERCENT, {name: line(seed) for seed, name in enumerate(names)}, names[:1], **options)


def over_time(names):
    points = {"quoted": Line((0, 1), (0.5, None), (0.4, 0.3), (0.6, 0.5))}
    return lines(names, Quantity("chunk", "", labels=("first", "second")), 2, points=points)


def scatter(names, guide="products", dots=1):
    clouds = {
        name: Cloud(list(zip(values(dots, n), values(dots, 99 - n), strict=True))) for n, name in enumerate(names)
    }
    return ScatterChart(TITLE, PERCENT, PERCENT, clouds, guide)


def cost(names):
    clouds = {name: Cloud(((1000.0 * n, 0.6),), ((1000.0 * n, 0.5), (1000.0 * n, 0.7))) for n, name in enumerate(names)}
    return ScatterChart(TITLE, Quantity("cost", "parameters", "number", log=True), PERCENT, clouds, "frontier")


def dots(names):
    clouds = {name: Cloud(list(zip(values(9, n), values(9, 99 - n), strict=True))) for n, name in enumerate(names)}
    return ScatterChart(TITLE, PERCENT, PERCENT, clouds, "equal", references=UPRIGHT, note="a few words")


def intervals(names):
    rows = {
        name: IntervalRow(value, (value - 0.1, value + 0.05), (value, value + 0.02), ringed=name == names[-1])
        for name, value in zip(names, values(99), strict=False)
    }
    return IntervalChart(TITLE, PERCENT, rows, UPRIGHT, (0.5, 0.6))


def bars(names):
    kinds = tuple(Quantity(name, name) for name in ("right", "wrong base names", "wrong new names", "mixed up"))
    return BarChart(TITLE, kinds, dict.fromkeys(names, (0.58, 0.12, 0.13, 0.17)))


def ranks(names):
    return RankChart(TITLE, {name: 1 + 0.9 * place for place, name in enumerate(names)}, 1.2)


def numbers(rows=8, columns=8):
    cells = {(row, column): ChartCell("100.0", 0.5) for row in range(rows) for column in range(columns)}
    labels = [str(place) for place in range(max(rows, columns))]
    return CellChart(TITLE, "covariate level", "semantic level", labels[:rows], labels[:columns], cells)


def image(text):
    content = io.BytesIO()
    Image.new("RGB", (4, 4), "teal").save(content, "PNG")
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode(), text


def images(names):
    columns = range(len(names))
    cells = {(0, column): ChartCell("100.0", 0.9) for column in columns}
    cells |= {(1, column): ChartCell(images=(image("one"),)) for column in columns}
    return CellChart(TITLE, "", "class", ("MSP, %", "other class"), names, cells, side=76.0)


OF_SERIES = {
    "lines": lambda names: lines(names, references=(Reference(0.9, "a"),)),
    "lines over chunks": lambda names: lines(names, Quantity("chunk", "", labels=names), len(names)),
    "parts": lambda names: lines(names, Quantity("part", "", labels=("base accuracy", "new accuracy", "AUROC")), 3),
    "over time": over_time,
    "scatter": scatter,
    "scatter without a guide": lambda names: scatter(names, "", dots=2),
    "cost": cost,
    "intervals": intervals,
    "bars": bars,
    "ranks": ranks,
}
OTHERS = {"dots": dots, "numbers in cells": lambda names: numbers(), "images in cells": lambda names: images(names[:8])}
