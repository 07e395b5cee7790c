"""mixture and hybrid: scores of the stream are a mixture of labelled base scores and of unknown new ones.

The premise is that base scores keep their law from validation images to the stream, and that some region of scores
holds no new image (Garg et al., 2021). The share of base images p and AUROC follow; of names nothing does. The hybrid
takes it besides that names of new images are as right as the same confidence of the learner is among base images.
Within bins of scores P(base | s) = p f_base(s) / f_stream(s), made to rise with s.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.optimize import isotonic_regression

from openworld.core.types import Range, checked
from openworld.estimators.engine.fitted import finite
from openworld.estimators.open_world.fitted import NUMBERS, OpenWorldEstimate, OpenWorldEstimator, of_proxies
from openworld.estimators.open_world.outputs import OpenWorldOutputs
from openworld.estimators.open_world.posteriors import NameRule, OwnNaming, best_bin_share
from openworld.metrics import auroc


@checked
@dataclass(frozen=True)
class Mixture(OpenWorldEstimator):
    """p by the best bin; AUROC = (A - p/2) / (1 - p), A the AUROC of base validation images against the stream.

    >>> import numpy as np
    >>> base = OpenWorldOutputs(scores=np.linspace(1, 2, 100))
    >>> found = Mixture().fit(base).estimate(OpenWorldOutputs(scores=np.r_[np.linspace(1, 2, 100), np.zeros(100)]))
    >>> found.new_share, found.auroc
    (0.5, 1.0)
    """

    name, paper, summary = "mixture", "Garg et al., 2021", "best-bin share of new, AUROC from it"
    premise = "base scores keep their law, and some region of scores holds no new image"
    needs, gives = (), ("auroc", "new_share")

    def learn(self, validation: OpenWorldOutputs) -> np.ndarray:
        """Keep the scores of base images."""
        return validation.array("scores")

    def read(self, known: np.ndarray, stream: OpenWorldOutputs, new_share: float | None) -> OpenWorldEstimate:
        """Find p, and take the base images out of the AUROC."""
        share = best_bin_share(known, stream.array("scores")) if new_share is None else 1 - new_share
        if share == 1:
            return OpenWorldEstimate(new_share=0.0)
        against = auroc(known, stream.array("scores")).value
        area = None if against is None else (against - share / 2) / (1 - share)
        return OpenWorldEstimate(auroc=area, new_share=1 - share, details={"auroc_against_stream": against})


@checked
@dataclass(frozen=True)
class Hybrid(OpenWorldEstimator):
    """z = isotonic(p f_base(s) / f_stream(s)) on bins of pooled quantiles; a, b from z and the learner's names.

    Args:
        names: "thresholded" (ATC) or "calibrated" confidences.
        bins: how many bins of scores, at least 2.

    >>> import numpy as np
    >>> logits = np.tile(4 * np.eye(4), (30, 1))
    >>> base = OpenWorldOutputs(logits=logits[logits[:, :2].any(axis=1)], n_base=2, labels=[0, 1] * 30)
    >>> Hybrid().fit(base).estimate(OpenWorldOutputs(logits=logits, n_base=2)).auroc
    1.0
    """

    names: OwnNaming = "thresholded"
    bins: Annotated[int, Range(2)] = 15

    name, paper, summary = "hybrid", "Garg et al., 2021", "sides by the mixture, names by the learner"
    premise = (
        "base scores keep their law, some region of scores holds no new image, and new names are as right as base "
        "names of the same confidence"
    )
    needs, gives = ("labels", "logits"), NUMBERS

    def learn(self, validation: OpenWorldOutputs) -> tuple[np.ndarray, NameRule]:
        """Keep the scores of base images, and fit the rule of names."""
        return validation.array("scores"), NameRule.learned(validation, self.names)

    def read(
        self, known: tuple[np.ndarray, NameRule], stream: OpenWorldOutputs, new_share: float | None
    ) -> OpenWorldEstimate:
        """Join P(base | score) and the names."""
        (scores, rule), of_stream = known, stream.array("scores")
        share = best_bin_share(scores, of_stream) if new_share is None else 1 - new_share
        base = base_by_score(scores, of_stream, share, self.bins)
        rights = base * rule.right(stream.array("base_logits")), (1 - base) * rule.right(stream.array("new_logits"))
        details = {"temperature": rule.temperature, "threshold": finite(rule.least)}
        details["share_by_bins"] = 1 - float(base.mean())
        return of_proxies(stream, *rights, base, share=share, details=details, warnings=rule.warnings)


def base_by_score(base_scores: np.ndarray, scores: np.ndarray, share: float, bins: int) -> np.ndarray:
    """Return P(base | score) float64[n] of a stream with p = `share`, rising with the score, in [0, 1]."""
    pooled = np.quantile(np.concatenate([base_scores, scores]), np.linspace(0, 1, bins + 1)[1:-1])
    edges = np.unique(pooled)
    place, size = np.searchsorted(edges, scores, "right"), len(edges) + 1
    of_stream = np.bincount(place, minlength=size) / len(scores)
    of_base = np.bincount(np.searchsorted(edges, base_scores, "right"), minlength=size) / len(base_scores)
    filled = of_stream > 0
    ratio = np.minimum(1, share * of_base[filled] / of_stream[filled])
    rising = np.zeros(size)
    rising[filled] = isotonic_regression(ratio, weights=of_stream[filled]).x
    return rising[place]
