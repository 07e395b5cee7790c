"""Are generated images themselves detectable? Real against generated ones of one pool, at equal degree.

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024, section 3.2) assumes
so, because detectors do better on Syn-IS than on ImageNet-21K at the same level. Here both kinds lie in one pool whose
degrees are measured alike: in every cell that has enough of both, real images stand for the known side and generated
ones for the other. An AUROC of 50 says that a detector scores both alike; above 50 generated images pass less often.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.ood_detection.errors import seed_mean
from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.metrics import MetricEstimate, auroc
from openworld.metrics.estimate import Influence
from openworld.results import METRICS, Metric, Result, Value, interval_of, mean
from openworld.results.scored_sets import SCORE_COLUMN
from openworld.runs import Record

AGAINST = Metric("auroc_generated", "AUROC, real against generated", "percent", 1, 0, (0.0, 1.0))
SHARED = "cells with both"
KINDS = {"real": "real, in cells with both", "generated": "generated, in cells with both"}
"""Images of the pool -> how results call those of them that lie in cells with both."""

AREA = METRICS["auroc"]
CHANCE = 0.5


@dataclass(frozen=True, eq=False)
class PoolSides:
    """The images of a pool that count, in the cells that have enough of both kinds.

    Args:
        cell: int64[n], covariate level x columns + semantic level. columns: semantic levels.
        generated: bool[n]. group: int64[n]. places: int64[n], among the scores of the record.
    """

    cell: np.ndarray
    columns: int
    generated: np.ndarray
    group: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, facts: ShiftFacts, outputs: Record) -> "PoolSides":
        """The sides of a record of a run."""
        table, columns = outputs.table("images"), facts.shape[1]
        styles = np.array([name in facts.first.pool.generated for name in facts.first.pool.styles])
        made = styles[table["style"].astype(np.int64)]
        cell = table["covariate_level"].astype(np.int64) * columns + table["semantic_level"].astype(np.int64)
        counted = np.ones(len(made), bool) if facts.first.id_kept else ~table["known"].astype(bool)
        sizes = [np.bincount(cell[counted & side], minlength=facts.shape[0] * columns) for side in (~made, made)]
        both = np.minimum(*sizes) >= facts.least
        places = np.flatnonzero(counted & both[cell])
        return cls(cell[places], columns, made[places], table["group"].astype(np.int64)[places], places)

    @property
    def cells(self) -> np.ndarray:
        """The cells with both."""
        return np.unique(self.cell)

    def area(self, scores: np.ndarray, cells: np.ndarray) -> MetricEstimate:
        """The mean over cells of the AUROC of real against generated images, float64 scores of the whole pool."""
        own, real = scores[self.places], np.flatnonzero(~self.generated)
        made = np.flatnonzero(self.generated)
        pairs = [(real[self.cell[real] == cell], made[self.cell[made] == cell]) for cell in cells]
        each = [self._estimate(own, *pair) for pair in pairs]

        def influence() -> Influence:
            whole = self._estimate(own, real, made).influence
            sides = [np.zeros(len(real)), np.zeros(len(made))]
            for pair, estimate in zip(pairs, each, strict=True):
                effects = (estimate.influence.base, estimate.influence.new)
                for side, every, chosen, effect in zip(sides, (real, made), pair, effects, strict=True):
                    # An influence counts in units of its own sample: a cell's is scaled up to the whole.
                    side[np.searchsorted(every, chosen)] = effect * self._scale(every, chosen) / len(cells)
            return Influence(whole.design, *sides)

        return MetricEstimate(float(np.mean([estimate.value for estimate in each])), None, influence)

    def _estimate(self, scores: np.ndarray, real: np.ndarray, made: np.ndarray) -> MetricEstimate:
        return auroc(scores[real], scores[made], in_groups=self.group[real], out_groups=self.group[made])

    @staticmethod
    def _scale(every: np.ndarray, chosen: np.ndarray) -> float:
        return len(every) / len(chosen)


def generated_rows(facts: ShiftFacts, detector: Detector) -> Iterator[Result]:
    """Yield what a detector says of real and of generated images at equal degree; nothing where no cell has both."""
    pairs = zip(facts.records, facts.outputs, strict=True)
    stored = [outputs for record, outputs in pairs if record.model == detector.model]
    if not facts.first.pool.generated or any("images" not in outputs.tables for outputs in stored):
        return
    sides = [PoolSides.of(facts, outputs) for outputs in stored]
    cells = sides[0].cells
    if not cells.size:
        return
    scores = [outputs.table("images")[SCORE_COLUMN + detector.label].astype(np.float64) for outputs in stored]
    yield _against(facts, detector, sides, scores, cells)
    for level in np.unique(cells % sides[0].columns):
        of_level = cells[cells % sides[0].columns == level]
        yield _against(facts, detector, sides, scores, of_level, axis="semantic", level=int(level))
    tests = [outputs.table("test")[SCORE_COLUMN + detector.label] for outputs in stored]
    for made, images in enumerate(KINDS.values()):
        values = tuple(
            float(np.mean([auroc(test, own[side.places][(side.cell == cell) & (side.generated == made)]).value
                           for cell in cells]))
            for side, own, test in zip(sides, scores, tests, strict=True)
        )  # fmt: skip
        yield _result(facts, detector, AREA, Value(mean(values)), values, images=images)


def _against(facts, detector, sides, scores, cells: np.ndarray, **where) -> Result:
    estimates = [side.area(own, cells) for side, own in zip(sides, scores, strict=True)]
    values = tuple(estimate.value for estimate in estimates)
    if len(estimates) == 1:  # whose interval keeps inside (0, 1) by itself
        value = Value(values[0], interval_of(estimates[0].interval(), "images", len(sides[0].places)))
    else:
        value, _ = seed_mean(values, AGAINST, [estimate.spread for estimate in estimates])
    return _result(facts, detector, AGAINST, value, values, cells=SHARED, **where)


def _result(facts: ShiftFacts, detector: Detector, metric: Metric, value: Value, values, **where) -> Result:
    place = {"id_classes": facts.counting, **where}
    return Result(detector.title, metric, value, place, facts.seeds(detector.model), values)
