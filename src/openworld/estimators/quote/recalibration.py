"""What labels of some periods teach of the others: how much more is lost than an estimate without labels sees.

    accuracy = source accuracy (estimate / source accuracy) ^ power,    never above the source

as for labelled shifts (`learned_shifts`), with one power for the whole stream. It is learned from periods of which some
drawn images are labelled, by least squares on logarithms, each period weighted by how well its labels know it, and held
towards 1 by as much as `PRIOR` says. So a few labels on healthy days change nothing, and where the model is as sure as
on the source nothing is corrected. A loss that the estimate does not see at all cannot be corrected this way; only the
labels of that very period show it.
"""

from typing import Annotated

import numpy as np

from openworld.core.arrays import as_fractions, require_length
from openworld.core.types import Range, checked

PRIOR = 1.0  # standard deviation of the power around 1 before any label
RANGE = (0.5, 4.0)
LOWEST = 0.01  # accuracy below which logarithms are not taken
SCATTER = 0.05  # of periods around the curve, beside what the labels leave open


@checked
def recalibrate(source: Annotated[float, Range(0, 1, "(]")], estimated, labelled, standard_errors) -> float:
    """Return the power learned from k periods, float64[k] in [0, 1] each; source: accuracy there, in (0, 1]."""
    estimated = as_fractions(estimated, "estimated")
    labelled, errors = as_fractions(labelled, "labelled"), as_fractions(standard_errors, "standard_errors")
    for name, values in (("labelled", labelled), ("standard_errors", errors)):
        require_length(values, name, len(estimated))
    seen = np.log(np.clip(estimated, LOWEST, source) / source)
    lost = np.log(np.clip(labelled, LOWEST, 1) / source)
    weights = 1 / ((errors / np.clip(labelled, LOWEST, 1)) ** 2 + SCATTER**2)
    power = (1 / PRIOR**2 + (weights * seen * lost).sum()) / (1 / PRIOR**2 + (weights * seen**2).sum())
    return float(np.clip(power, *RANGE))


def accuracy_with(power: float, accuracy: float, source: float) -> float:
    """Return a corrected estimate in [0, 1]; one above the source's accuracy stays."""
    return accuracy if accuracy >= source else source * (accuracy / source) ** power
