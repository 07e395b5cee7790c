"""The metrics that are drawn over cells and levels: AUROC, FPR@95 and AUPR, with the colours of their maps.

Blue and orange are told apart by protanope, deuteranope and tritanope eyes, and the number stands in every cell.
"""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from openworld.evaluations.ood_detection.facts import Detector
from openworld.evaluations.ood_detection.measurements import TREND_METRICS
from openworld.evaluations.ood_detection.results import CHANCE, DetectionResults
from openworld.report.charts import ChartCell
from openworld.report.charts.cells import scale_key
from openworld.results import METRICS, Metric

MOST_FURTHER = 8
PASSING = 0.95
"""FPR@95 of a detector that knows nothing."""


@dataclass(frozen=True)
class DrawnMetric:
    """A metric as it is drawn over cells and levels.

    Args:
        metric: its card.
        suffix: of the names of its figures.
        shade: value -> how blue (up to 1) or orange (down to -1) a cell is.
        scale: values of the key.
        meaning: what the number is, and what the colours say.
        most: maps that a page has room for; of a metric other than the AUROC only so many detectors are drawn at all.
        chance: the value of a detector that knows nothing; None where that depends on the cell.
    """

    metric: Metric
    suffix: str
    shade: Callable[[float], float]
    scale: tuple[float, ...]
    meaning: str
    most: int
    chance: float | None = None

    @property
    def title(self) -> str:
        """What IS-OOD calls it."""
        return TREND_METRICS[self.metric.key]

    @property
    def key(self) -> tuple[tuple[Markup, str], ...]:
        """The samples over a map."""
        samples = [
            (ChartCell(shade=self.shade(value)), f"{100 * value:g}{': chance' * (value == self.chance)}")
            for value in self.scale
        ]
        blind = [(ChartCell(shade=0.0, dashed=True), "blind")] * (self is AREA)
        return scale_key([*samples, *blind, (ChartCell("N/A"), "N/A")])


def drawn_detectors(results: DetectionResults, drawn: DrawnMetric) -> tuple[Detector, ...]:
    """Return the detectors that are drawn, in the order of the run: all, or those with the largest AUROCs.

    All have their AUROC drawn. Of another metric a page has no room for a crowd; the data of the run has every number.
    """
    every = results.facts.detectors
    if drawn is AREA or len(every) <= drawn.most:
        return every
    leading = set(results.ranked()[: drawn.most])
    return tuple(detector for detector in every if detector in leading)


def selection_text(results: DetectionResults, drawn: DrawnMetric) -> str:
    """Return a sentence on what is left out; "" where nothing is."""
    chosen, every = drawn_detectors(results, drawn), results.facts.detectors
    if len(chosen) == len(every):
        return ""
    return f"Of {len(every)} detectors those {len(chosen)} with the largest AUROC are drawn."


_QUARTERS = (0.0, 0.25, 0.5, 0.75)

AREA = DrawnMetric(
    METRICS["auroc"],
    "",
    lambda value: (value - CHANCE) / CHANCE,
    (*_QUARTERS, 1.0),
    "Blue above 50, orange below, the darker the farther from it",
    32,
    CHANCE,
)
FALSE_ALARMS = DrawnMetric(
    METRICS["fpr_out_positive"],
    "-fpr95",
    lambda value: (PASSING - value) / PASSING,
    (*_QUARTERS, PASSING),
    "The share of in-distribution images that are flagged where 95 % of a cell's are: the smaller, the better and the "
    "darker; blue below 95, orange above",
    MOST_FURTHER,
    PASSING,
)
PRECISION = DrawnMetric(
    METRICS["aupr_in"],
    "-aupr",
    lambda value: value,
    (*_QUARTERS, 1.0),
    "In-distribution images are the positive side, so that it depends on how many images a cell has, and cells of "
    "unequal size are not comparable; the larger, the darker",
    MOST_FURTHER,
)
FURTHER = (FALSE_ALARMS, PRECISION)
"""What is drawn of a run besides the AUROC."""
