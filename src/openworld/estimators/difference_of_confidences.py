"""DoC: the error moves as much as the mean confidence does (Guillory et al., 2021; DOC-Feat in FRAP's tables).

It is AC, corrected by the gap of confidence and accuracy on the source.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from openworld.estimators._bootstrap import means
from openworld.estimators._fitted import Fitted, Known, Reading, look_at
from openworld.estimators._temperature import confidences
from openworld.estimators.outputs import Outputs


@dataclass(frozen=True)
class DoC:
    """error = source error + mean confidence on the source - mean confidence on the target; may leave [0, 1].

    Args:
        calibrate: fit T on the source; False: T = 1.

    >>> source = Outputs([[2.0, 0.0]] * 4, labels=[0, 0, 0, 1])  # calibrated by T, a gap of 2 means 3/4
    >>> round(DoC().fit(source).estimate(Outputs([[2.0, 0.0], [0.0, 0.0]])).error, 3)  # 1/4 + 3/4 - (3/4 + 1/2) / 2
    0.375
    """

    calibrate: bool = True

    name: ClassVar[str] = "DoC"
    paper: ClassVar[str] = "Guillory et al., 2021"
    summary: ClassVar[str] = "source error and the drop of mean confidence"
    needs: ClassVar[tuple[str, ...]] = ("labels",)

    def fit(self, source: Outputs) -> Fitted:
        """Fit the temperature; keep, of each source image, its confidence + whether it is named wrong."""
        known = look_at(source, self, self.calibrate)
        return Fitted(self, known, confidences(source.logits, known.temperature) + source.wrong)

    def read(self, known: Known, state: np.ndarray, target: Outputs) -> Reading:
        """Sample scores: confidences."""
        found = confidences(target.logits, known.temperature)
        return Reading(
            float(state.mean() - found.mean()),
            lambda resamples, generator: means(state, resamples, generator) - means(found, resamples, generator),
            "source and target images, T kept",
            {"source_confidence": float(state.mean()) - known.error, "target_confidence": float(found.mean())},
            found,
        )
