"""All detectors over all cells of a pool; and the whole record of scores and degrees that came without a model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from openworld._errors import OpenworldError
from openworld.evaluations.ood_detection.facts import SCORES
from openworld.evaluations.ood_detection.metrics import DetectorScores, detector_record, labelling, subsets_of
from openworld.evaluations.ood_detection.record import (
    AxisLevels,
    DetectionRecord,
    InDistributionRecord,
    PoolFacts,
    PoolRecord,
)
from openworld.evaluations.ood_detection.uncertainty import Ranked, joint_totals, over_images
from openworld.evaluations.shift_cells import PoolLevels
from openworld.results.scored_sets import SCORE_COLUMN
from openworld.shifts import HALVES, PUBLISHED_QUANTILES, equal_width_levels

BOTH = (True, False)
"""Images of in-distribution classes kept in the pool, and removed from it."""


@dataclass(frozen=True, eq=False)
class ScoredPool:
    """Scores and places of images, without a model.

    Args:
        test: by detector, float64[n] of in-distribution test images, larger = more in-distribution.
        pool: the same of the pool, float64[N].
        test_groups, pool_groups: int64, images that are not independent; no number is in both.
        levels: by half, where the pool's images stand.
        known: bool[N], pool images of an in-distribution class.
    """

    test: Mapping[str, np.ndarray]
    pool: Mapping[str, np.ndarray]
    test_groups: np.ndarray
    pool_groups: np.ndarray
    levels: PoolLevels
    known: np.ndarray

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that a record of a run would have."""
        return "images", "test"

    @property
    def attachments(self) -> tuple[str, ...]:
        """No images are kept."""
        return ()

    def table(self, name: str) -> dict[str, np.ndarray]:
        """Return groups and scores of every image of the pool, or of the test images."""
        scores, groups = {"images": (self.pool, self.pool_groups), "test": (self.test, self.test_groups)}[name]
        table = {"group": groups} | ({"known": self.known} if name == "images" else {})
        return table | {SCORE_COLUMN + label: values for label, values in scores.items()}


def levels_of(degrees: Mapping[str, np.ndarray], count: int) -> PoolLevels:
    """Return the levels of degrees, cut as IS-OOD cuts them.

    Args:
        degrees: float64[N] by half, cosine distances. count: levels of each axis, at least 3.

    Raises:
        OpenworldError: fewer levels, degrees that are all alike.
    """
    cut = {}
    for half in HALVES:
        try:
            cut[half] = equal_width_levels(degrees[half], PUBLISHED_QUANTILES[half], count)
        except OpenworldError as error:
            raise OpenworldError(f"{half} levels: {error}") from error
    levels = {half: cut[half].of(degrees[half]) for half in HALVES}
    return PoolLevels(levels, {half: len(cut[half]) for half in HALVES}, {half: cut[half].cuts for half in HALVES})


def pool_record(
    sides: Mapping[str, DetectorScores],
    ranked: Ranked,
    placed: PoolLevels,
    known: np.ndarray,
    *,
    id_kept: bool,
    least: int,
) -> PoolRecord:
    """Return all detectors over all cells, with images of in-distribution classes or without.

    Args:
        sides: scores by detector, and `ranked`, the same sorted. placed: where the pool's images stand.
        known: bool[N], those of in-distribution classes. least: cells with fewer images are N/A.
    """
    kept = np.arange(len(known)) if id_kept else np.flatnonzero(~known)
    grid = placed.grid(kept, least)
    errors, joint = over_images(ranked, grid, kept)
    both = zip(sides.items(), errors, strict=True)
    return PoolRecord(
        id_kept=id_kept,
        levels={axis: AxisLevels(**levels) for axis, levels in placed.facts(kept).items()},
        counts=grid.counts.tolist(),
        detectors={label: detector_record(detector, grid, kept, scores) for (label, detector), scores in both},
        joint=joint,
    )


def record_of_scores(scored: ScoredPool, *, least: int, title: str) -> DetectionRecord:
    """Return the record of scores and places that came without a model.

    Args:
        least: cells with fewer images are N/A. title: what tables call the model.
    """
    groups = scored.test_groups, scored.pool_groups
    sides = {label: DetectorScores(scored.test[label], scored.pool[label], *groups) for label in scored.test}
    ranked, known, placed = Ranked.of(sides), scored.known, scored.levels
    pools = {kept: pool_record(sides, ranked, placed, known, id_kept=kept, least=least) for kept in BOTH}
    subsets = subsets_of(known, placed.levels["semantic"], placed.counts["semantic"])
    return DetectionRecord(
        **vars(pools[True]),
        otherwise=pools[False],
        protocol="ood-detection",
        model=title,
        kind=SCORES,
        seed=0,
        source=InDistributionRecord((), 0, 0, len(scored.test_groups), None),
        decomposition=None,
        neighbour=None,
        detector_settings=tuple({"label": label} for label in sides),
        warnings=(),
        pool=PoolFacts(len(known), int(known.sum())),
        labelling=labelling(sides, subsets, joint_totals(ranked, subsets)),
    )
