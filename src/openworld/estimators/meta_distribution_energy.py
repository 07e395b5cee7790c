"""MDE, meta-distribution energy: how unevenly the images' energies are spread (Peng et al., 2024, "Energy-based
Automated Model Evaluation").

With Z_i = -T logsumexp(z_i / T), MDE = ln(logsumexp_i Z_i - mean_i Z_i). It grows with ln n, as pengr/Energy_AutoEval
@ 4462c71 computes it too; unless told otherwise, ln n is taken off the inner logarithm, so that sets of different sizes
compare.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import logsumexp

from openworld.core.types import Range, checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.score_regression import Score

EXTREME = 1e50  # a temperature above it, or below its inverse, takes energies out of float64
ROUNDING = 1e-14  # relative; equal energies need not add up to an exact zero


@checked
@dataclass(frozen=True)
class MDE(Score):
    """ln(logsumexp_i Z_i - ln n - mean_i Z_i). A score: `ScoreRegression` makes an error of it.

    Args:
        temperature: T of the energies.
        size_free: take ln n off; False: as published, for sets of one size only.

    >>> two = Outputs([[0.0, -99.0], [np.log(3.0), -99.0]])  # energies 0 and -ln 3: ln(4/3 / 2) + ln(3) / 2 = .1438
    >>> round(MDE().score(two), 4)  # ln .1438
    -1.939
    """

    temperature: Annotated[float, Range(1 / EXTREME, EXTREME)] = 1.0
    size_free: bool = True

    name, paper, summary = "MDE", "Peng et al., 2024", "spread of the images' energies (score)"
    needs = ()

    @checked
    def score(self, outputs: Outputs) -> float | None:
        """Score of a whole set, which way it points is for the regression to find; None if all energies are equal."""
        energies = -self.temperature * logsumexp(outputs.logits / self.temperature, axis=1)
        spread = logsumexp(energies) - energies.mean() - (np.log(outputs.n) if self.size_free else 0.0)
        return float(np.log(spread)) if spread > ROUNDING * np.abs(energies).max() else None
