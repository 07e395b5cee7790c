"""What reports call the two axes of measured shift, and how they draw them; levels count from 0, the nearest."""

from collections.abc import Mapping

from openworld.report.charts import CellChart, ChartCell

AXES = {"semantic": "meaning", "covariate": "appearance"}
LEVELS = {axis: f"{axis} level ({word})" for axis, word in AXES.items()}
DEGREES = {axis: f"{axis} degree ({word})" for axis, word in AXES.items()}
NEAR = "Rows: levels of appearance, near at the bottom; columns: levels of meaning, near on the left"
KEYS = ("covariate_level", "semantic_level")  # columns of data for the place of a cell
Place = tuple[int, int]  # a covariate and a semantic level


def level_map(title: str, cells: Mapping[Place, ChartCell], shape: Place, side: float | None = None) -> CellChart:
    """A map of cells by place, rows of covariate and columns of semantic levels; `side` as of `CellChart`."""
    rows, columns = ([str(level) for level in range(count)] for count in shape)
    return CellChart(title, LEVELS["covariate"], LEVELS["semantic"], rows, columns, cells, KEYS, side=side)


def place_text(place: Place) -> str:
    return f"covariate {place[0]}, semantic {place[1]}"
