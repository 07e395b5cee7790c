"""How far images are from those a model was built on: in meaning (semantic shift) and in looks (covariate shift).

Functions of features, texts' and images', of one two-tower model. In order:

    write_texts, LAID().fit, PCA().fit     a `Decomposition` of features into two halves, learned from texts
    SeesLooks, in_looks, image_grid        features that see looks, and images in looks in the place of texts
    decomposed_zero_shot                   whether it does what it promises: the semantic half keeps the accuracy
    shift_degrees, merge_degrees           distance to the k-th nearest reference image in each half, exact
    streamed_degrees, sharded_degrees      the same piece by piece: from disk, and on an engine, to be resumed
    equal_width_levels, shift_grid         levels of both, and the cells they make
    equal_subsets, farthest                subsets of equal size; which concepts or looks are far
    open_world_by_shift                    OpenworldAUC in every cell and at every level

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024: LAID, IS-OOD,
Syn-IS). Correlation and sensitivity of a metric over the cells are `openworld.metrics.shift_trend`.
"""

from typing import TYPE_CHECKING

from openworld.core.lazy import lazily

if TYPE_CHECKING:
    from openworld.shifts.appearance import LOOKS, AppearanceEncoder, image_grid, in_looks
    from openworld.shifts.decomposition import HALVES, Decomposition, load_decomposition
    from openworld.shifts.degrees import Far, ShiftDegrees, farthest, merge_degrees, shift_degrees, shift_grid
    from openworld.shifts.grid import (
        PUBLISHED_QUANTILES,
        Levels,
        ShiftGrid,
        equal_subsets,
        equal_width_levels,
    )
    from openworld.shifts.laid import (
        DECOMPOSITIONS,
        LAID,
        PCA,
        TripletDistances,
        share_right,
        triplet_distances,
        triplet_losses,
    )
    from openworld.shifts.matrices import Whitening, deviation, nearest_orthogonal, random_orthogonal, whitening
    from openworld.shifts.neighbours import Nearest, merge_nearest, nearest
    from openworld.shifts.open_world import OpenWorldByShift, open_world_by_shift
    from openworld.shifts.sharding import Shards, sharded_degrees, streamed_degrees
    from openworld.shifts.triplets import Triplets, write_texts
    from openworld.shifts.zero_shot import DecomposedAccuracy, decomposed_zero_shot

__getattr__, __dir__ = lazily(__name__, __file__)

__all__ = [
    "DECOMPOSITIONS",
    "HALVES",
    "LAID",
    "LOOKS",
    "PCA",
    "PUBLISHED_QUANTILES",
    "DecomposedAccuracy",
    "Decomposition",
    "Far",
    "Levels",
    "Nearest",
    "OpenWorldByShift",
    "AppearanceEncoder",
    "Shards",
    "ShiftDegrees",
    "ShiftGrid",
    "TripletDistances",
    "Triplets",
    "Whitening",
    "decomposed_zero_shot",
    "deviation",
    "equal_subsets",
    "equal_width_levels",
    "farthest",
    "in_looks",
    "load_decomposition",
    "merge_degrees",
    "merge_nearest",
    "nearest",
    "nearest_orthogonal",
    "open_world_by_shift",
    "image_grid",
    "random_orthogonal",
    "share_right",
    "sharded_degrees",
    "shift_degrees",
    "shift_grid",
    "streamed_degrees",
    "triplet_distances",
    "triplet_losses",
    "whitening",
    "write_texts",
]
