"""Is one detector's AUROC against the whole pool above another's? Paired: both answer the same images.

Detectors of one model and run have their joint error in its records. Others, of another model or run, are held against
each other image by image, from the scores that records keep; where these keep no groups nothing is known over images.
Seeds are paired where both have the same ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.ood_detection.errors import UNKNOWN, SeedMean, joint_error, seed_mean
from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.evaluations.ood_detection.record import SUBSETS
from openworld.metrics import Estimate, auroc, paired_test
from openworld.metrics.estimate import Spread, combine
from openworld.results import METRICS, Comparison, Metric, Results, correct_for_many
from openworld.runs import Record

DIFFERENCE = Metric("difference", "difference", "points", 1, 0, (-1.0, 1.0))


@dataclass(frozen=True, eq=False)
class Contender:
    """A detector of a run."""

    facts: ShiftFacts
    detector: Detector

    @property
    def areas(self) -> dict[int, float | None]:
        """AUROC against the whole pool by seed."""
        label, whole = self.detector.label, self.facts.whole
        records = self.facts.of(self.detector.model)
        return {record.seed: record.labelling.detectors[label][whole].value for record in records}


def ranked(found: Results, facts: ShiftFacts) -> list[Detector]:
    """Those that have an AUROC against the whole pool, the largest first."""
    images = SUBSETS[facts.whole]
    values = {one: found.value(one.label, "auroc", model=one.model, images=images).value for one in facts.detectors}
    return sorted((one for one, value in values.items() if value is not None), key=lambda one: -values[one])


def lead_tests(found: Results, facts: ShiftFacts) -> tuple[Comparison, ...]:
    """The largest AUROC against the whole pool against all others, the next first; none with fewer than two."""
    best, *others = ranked(found, facts) or [None]
    tests = (area_test(Contender(facts, best), Contender(facts, other)) for other in others)
    return correct_for_many(tests)


def area_test(one: Contender, other: Contender) -> Comparison:
    """AUROC of the one minus that of the other, not corrected yet."""
    apart = difference(one, other)
    reason = "" if apart.p is not None else "its error is not known"
    titles, interval = (one.detector.title, other.detector.title), apart.interval(DIFFERENCE)
    where = {"images": SUBSETS[one.facts.whole]}
    return Comparison(*titles, METRICS["auroc"], apart.value, apart.p, reason, interval, where)


def difference(one: Contender, other: Contender) -> SeedMean:
    """AUROC of the one minus that of the other, mean over the seeds."""
    first, second = one.areas, other.areas
    if None in (*first.values(), *second.values()):
        return SeedMean(None)
    if first.keys() != second.keys():
        return _of_other_seeds([*first.values()], [*second.values()], image_error(one, other))
    values = [first[seed] - second[seed] for seed in first]
    if one.facts is other.facts and one.detector.model == other.detector.model:
        contrast = {one.detector.label: 1, other.detector.label: -1}
        records = one.facts.of(one.detector.model)
        errors = [joint_error(record.labelling.joint.get(one.facts.whole), contrast) for record in records]
    else:
        errors = [image_error(one, other)] * len(values)
    return seed_mean(values, errors)


def _of_other_seeds(first: Sequence[float], second: Sequence[float], error: Spread) -> SeedMean:
    """Those of one side vary alone where the other has a single seed, as what is not trained has."""
    if min(len(first), len(second)) > 1:
        return SeedMean(float(np.mean(first) - np.mean(second)))
    return seed_mean(np.subtract.outer(first, second).ravel().tolist(), [error])


def image_error(one: Contender, other: Contender) -> Spread:
    """The error of the difference over images, given the seeds; none where records keep no groups."""
    pair = _estimate(one), _estimate(other)
    if None in pair:
        return UNKNOWN
    test = paired_test(*pair)
    return Spread(test.standard_error, test.degrees_of_freedom, test.reason)


def _estimate(one: Contender) -> Estimate | None:
    """The mean over the seeds, from the scores."""
    facts, detector = one.facts, one.detector
    both = zip(facts.records, facts.outputs, strict=True)
    each = [_of(outputs, detector.label, facts) for record, outputs in both if record.model == detector.model]
    if not each or None in each or any(estimate.value is None for estimate in each):
        return None
    share = 1 / len(each)
    mean = float(np.mean([estimate.value for estimate in each]))
    return Estimate(mean, None, lambda: combine([estimate.influence for estimate in each], [share] * len(each)))


def _of(outputs: Record, label: str, facts: ShiftFacts) -> Estimate | None:
    if not {"images", "test"} <= set(outputs.tables):
        return None
    pool, test = outputs.table("images"), outputs.table("test")
    if "group" not in pool:
        return None
    kept = np.ones(len(pool["known"]), bool) if facts.first.id_kept else ~pool["known"].astype(bool)
    name = f"score {label}"
    return auroc(test[name], pool[name][kept], in_groups=test["group"], out_groups=pool["group"][kept])
