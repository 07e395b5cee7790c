"""Is one detector's AUROC against the whole pool above another's? Paired: both answer the same pictures.

Detectors of one model and run have their joint error in its records. Others, of another model or run, are held against
each other picture by picture, from the scores that records keep; where these keep no groups nothing is told over
pictures. Seeds are paired where both have the same ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from openworld.evaluations.ood_detection.errors import UNKNOWN, Number, averaged, joint_spread
from openworld.evaluations.ood_detection.numbers import ranked
from openworld.evaluations.ood_detection.run import Judged, ShiftRun
from openworld.metrics import Estimate, auroc, holm, paired_test
from openworld.metrics.estimate import Spread, combine
from openworld.results import significant
from openworld.runs import Record

Own = tuple[ShiftRun, Judged]
LIMITS = (-1.0, 1.0)


@dataclass(frozen=True)
class Lead:
    """The best detector and the next, the difference with a p-value after Holm over `others`, all that it leads."""

    best: Judged
    second: Judged
    ahead: Number
    others: int

    @property
    def shown(self) -> bool:
        """Whether the best is shown to be above the next."""
        return significant(self.ahead.p_value)


def lead(run: ShiftRun) -> Lead | None:
    """Who has the largest AUROC against the whole pool, and by how much; None with fewer than two."""
    best, *others = ranked(run) or [None]
    if not others:
        return None
    ahead = [gap((run, best), (run, one)) for one in others]
    corrected = holm([one.p_value for one in ahead])
    return Lead(best, others[0], replace(ahead[0], p_value=corrected[0]), len(others))


def gap(one: Own, other: Own) -> Number:
    """AUROC of the one minus that of the other, mean over the seeds."""
    (run, judged), (base, against) = one, other
    both = [dict(zip(at.seeds(who.model), _areas(at, who), strict=True)) for at, who in (one, other)]
    if None in (*both[0].values(), *both[1].values()):
        return Number(None)
    if both[0].keys() != both[1].keys():
        return _apart(both, picture_spread(one, other))
    values = [both[0][seed] - both[1][seed] for seed in both[0]]
    if run is base and judged.model == against.model:
        contrast = {judged.detector: 1, against.detector: -1}
        pictures = [joint_spread(joint, contrast) for joint in run.joint(judged, run.whole)]
    else:
        pictures = [picture_spread(one, other)] * len(values)
    return averaged(values, LIMITS, pictures)


def _apart(both: Sequence[dict[int, float]], pictures: Spread) -> Number:
    """Of other seeds: those of one side vary alone where the other has a single one, as what is not trained has."""
    first, second = (list(values.values()) for values in both)
    if min(len(first), len(second)) > 1:
        return Number(float(np.mean(first) - np.mean(second)))
    values = np.subtract.outer(first, second).ravel().tolist()
    return averaged(values, LIMITS, [pictures])


def picture_spread(one: Own, other: Own) -> Spread:
    """The error of the difference over pictures, given the seeds; none where records keep no groups."""
    pair = [_estimate(*own) for own in (one, other)]
    if None in pair:
        return UNKNOWN
    test = paired_test(*pair)
    return Spread(test.standard_error, test.degrees_of_freedom, test.reason)


def _estimate(run: ShiftRun, judged: Judged) -> Estimate | None:
    """The mean over the seeds, from the scores."""
    records = [one for one in run.records if one.metrics["model"] == judged.model]
    each = [_of(record, judged.detector, run.cells.id_kept) for record in records]
    if not each or None in each or any(one.value is None for one in each):
        return None
    share = 1 / len(each)
    mean = float(np.mean([one.value for one in each]))
    return Estimate(mean, None, lambda: combine([one.influence for one in each], [share] * len(each)))


def _of(record: Record, detector: str, id_kept: bool) -> Estimate | None:
    if not {"images", "test"} <= set(record.tables):
        return None
    pool, test = record.table("images"), record.table("test")
    if "group" not in pool:
        return None
    kept = np.ones(len(pool["known"]), bool) if id_kept else ~pool["known"].astype(bool)
    name = f"score {detector}"
    return auroc(test[name], pool[name][kept], in_groups=test["group"], out_groups=pool["group"][kept])


def _areas(run: ShiftRun, judged: Judged) -> list[float | None]:
    return [one["value"] for one in run.areas(judged, run.whole)]
