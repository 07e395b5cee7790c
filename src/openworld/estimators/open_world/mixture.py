"""mixture: scores of the stream are a mixture of labelled base scores and of unknown new ones (Garg et al., 2021).

The premise is that base scores keep their law from validation images to the stream, and that some region of scores
holds no new image. The share of base images p and AUROC follow; of names nothing does.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from openworld._types import checked
from openworld.estimators.open_world.engine.estimate import OpenWorldEstimate
from openworld.estimators.open_world.engine.fitted import FittedOpenWorld, fit
from openworld.estimators.open_world.engine.outputs import OpenWorldOutputs
from openworld.estimators.open_world.engine.shares import best_bin_share
from openworld.metrics import auroc


@checked
@dataclass(frozen=True)
class Mixture:
    """p by the best bin; AUROC = (A - p/2) / (1 - p), A the AUROC of base validation images against the stream.

    >>> import numpy as np
    >>> base = OpenWorldOutputs(scores=np.linspace(1, 2, 100))
    >>> found = Mixture().fit(base).estimate(OpenWorldOutputs(scores=np.r_[np.linspace(1, 2, 100), np.zeros(100)]))
    >>> found.new_share, found.auroc
    (0.5, 1.0)
    """

    name: ClassVar[str] = "mixture"
    paper: ClassVar[str] = "Garg et al., 2021"
    summary: ClassVar[str] = "best-bin share of new, AUROC from it"
    premise: ClassVar[str] = "base scores keep their law, and some region of scores holds no new image"
    needs: ClassVar[tuple[str, ...]] = ()
    gives: ClassVar[tuple[str, ...]] = ("auroc", "new_share")

    def fit(self, validation: OpenWorldOutputs) -> FittedOpenWorld:
        """Keep the scores of base images."""
        return fit(self, validation, lambda given: given.scores)

    def read(self, known: np.ndarray, stream: OpenWorldOutputs, new_share: float | None) -> OpenWorldEstimate:
        """Find p, and take the base images out of the AUROC."""
        share = best_bin_share(known, stream.scores) if new_share is None else 1 - new_share
        if share == 1:
            return OpenWorldEstimate(new_share=0.0)
        against = auroc(known, stream.scores).value
        found = (against - share / 2) / (1 - share)
        return OpenWorldEstimate(auroc=found, new_share=1 - share, details={"auroc_against_stream": against})
