"""Scores of in-distribution test images and of a pool, and where its images stand: what a unit, or a table, brings."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld.evaluations.shift_cells import PoolLevels
from openworld.results.scored_sets import SCORE_COLUMN


@dataclass(frozen=True, eq=False)
class ScoredPool:
    """Scores and places of images, whatever gave them."""

    test: Mapping[str, np.ndarray]  # by detector, float64[n] of in-distribution images, larger = more in-distribution
    pool: Mapping[str, np.ndarray]  # the same of the pool, float64[N]
    test_groups: np.ndarray  # int64[n], images that are not independent; no number is in both
    pool_groups: np.ndarray  # int64[N]
    levels: PoolLevels  # by half, where the pool's images stand
    known: np.ndarray  # bool[N], pool images of an in-distribution class
    generated: np.ndarray | None = None  # bool[N], generated images, where others are real; None where not known

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Groups of both sides; None where every image stands alone, for then intervals take less time."""
        sides = self.test_groups, self.pool_groups
        return sides if any(len(np.unique(groups)) < len(groups) for groups in sides) else None

    @property
    def subsets(self) -> dict[str, np.ndarray]:
        """Images of the pool, bool[N], with and without those whose label, or meaning, is in distribution."""
        # IS-OOD (Long et al., 2024, Table 8) holds the whole pool against "subsets with larger semantic shift" and
        # does not say which; here they are the upper half of the levels.
        far = self.levels.levels["semantic"] >= self.levels.counts["semantic"] // 2
        return {
            "all": np.ones_like(self.known),
            "unknown": ~self.known,
            "far": far,
            "far and unknown": far & ~self.known,
        }

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
