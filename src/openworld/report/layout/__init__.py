"""What is shown of rows is declared, once for pages, terminals and papers.

Layout, Brief, Mark          a report, and the little that no row can tell
Pivot, Tests                 tables of numbers, of tests
Lines, Bars, Scatter, Map, Ranks   figures
Own                          what rows cannot say, drawn by a function
ENTITY, METRIC, BASELINE     the keys of who and what, and against whom
"""

from openworld.report.layout.charts import Bars, Lines, Scatter
from openworld.report.layout.layout import Layout, Own
from openworld.report.layout.maps import Map, Ranks
from openworld.report.layout.parts import BASELINE, ENTITY, METRIC, Brief, Mark
from openworld.report.layout.tables import Pivot, Tests

__all__ = [
    "BASELINE",
    "ENTITY",
    "METRIC",
    "Bars",
    "Brief",
    "Layout",
    "Lines",
    "Map",
    "Mark",
    "Own",
    "Pivot",
    "Ranks",
    "Scatter",
    "Tests",
]
