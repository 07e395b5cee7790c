"""Is one detector's AUROC against the whole pool above another's? Paired: both answer the same images.

Detectors of one model and run have their joint error in its units. Others, of another model or run, are held against
each other image by image, from the scores that units keep; where these keep no groups nothing is known over images.
Seeds are paired where both have the same ones.
"""

from dataclasses import dataclass

import numpy as np

from openworld.evaluations.ood_detection.errors import UNKNOWN, errors_key, seed_mean
from openworld.evaluations.ood_detection.facts import DetectionUnit, Detector, ShiftFacts
from openworld.evaluations.ood_detection.metrics import AUROC
from openworld.metrics import MetricEstimate, auroc, paired_test
from openworld.metrics.estimate import Spread, combine
from openworld.results import Comparison, Metric, Value
from openworld.results.scored_sets import SCORE_COLUMN

DIFFERENCE = Metric("difference", "difference", "points", 1, 0, (-1.0, 1.0))


@dataclass(frozen=True, eq=False)
class Contender:
    """A detector of a run."""

    facts: ShiftFacts
    detector: Detector

    @property
    def areas(self) -> dict[int, float | None]:
        """AUROC against the whole pool by seed."""
        units = self.facts.of(self.detector.model)
        return {unit.record.seed: unit.rows.value(self.detector.label, AUROC.key).value for unit in units}


def area_test(contender: Contender, other: Contender) -> Comparison:
    """AUROC of the one minus that of the other, not corrected yet."""
    value, p = difference(contender, other)
    reason = "its error is not known" if p is None else ""
    titles = contender.detector.title, other.detector.title
    return Comparison(*titles, AUROC, value.value, p, reason, value.over())


def difference(contender: Contender, other: Contender) -> tuple[Value, float | None]:
    """AUROC of the one minus that of the other, mean over the seeds, and its p-value."""
    first, second = contender.areas, other.areas
    if None in (*first.values(), *second.values()):
        return seed_mean([None], DIFFERENCE)
    if first.keys() != second.keys():
        if min(len(first), len(second)) > 1:
            return Value(float(np.mean([*first.values()]) - np.mean([*second.values()]))), None
        # What is not trained has a single seed; those of the other side vary alone.
        values = np.subtract.outer([*first.values()], [*second.values()]).ravel().tolist()
        return seed_mean(values, DIFFERENCE, [image_error(contender, other)])
    facts, values = contender.facts, [first[seed] - second[seed] for seed in first]
    if facts is not other.facts or contender.detector.model != other.detector.model:
        return seed_mean(values, DIFFERENCE, [image_error(contender, other)] * len(values))
    contrast = {contender.detector.label: 1, other.detector.label: -1}
    joint = [unit.errors.get(errors_key(AUROC, {})) for unit in facts.of(contender.detector.model)]
    return seed_mean(values, DIFFERENCE, [] if None in joint else [each.error(contrast) for each in joint])


def image_error(contender: Contender, other: Contender) -> Spread:
    """The error of the difference over images, given the seeds; none where records keep no groups."""
    pair = _estimate(contender), _estimate(other)
    if None in pair:
        return UNKNOWN
    test = paired_test(*pair)
    return Spread(test.standard_error, test.degrees_of_freedom, test.reason)


def _estimate(contender: Contender) -> MetricEstimate | None:
    """The mean over the seeds, from the scores."""
    facts, detector = contender.facts, contender.detector
    each = [_area(unit, detector.label) for unit in facts.of(detector.model)]
    if not each or None in each or any(estimate.value is None for estimate in each):
        return None
    share = 1 / len(each)
    mean = float(np.mean([estimate.value for estimate in each]))
    return MetricEstimate(mean, None, lambda: combine([estimate.influence for estimate in each], [share] * len(each)))


def _area(unit: DetectionUnit, label: str) -> MetricEstimate | None:
    if not {"images", "test"} <= set(unit.stored.tables):
        return None
    pool, test = unit.stored.table("images"), unit.stored.table("test")
    if "group" not in pool:
        return None
    kept = np.ones(len(pool["known"]), bool) if unit.record.id_kept else ~pool["known"].astype(bool)
    name = SCORE_COLUMN + label
    return auroc(test[name], pool[name][kept], in_groups=test["group"], out_groups=pool["group"][kept])
