"""An estimated accuracy: one number, how sure it is, and everything that a reader needs to judge it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from openworld import _html
from openworld._short_repr import short_repr


@dataclass(frozen=True, eq=False)
class Estimate:
    """Accuracy of a model on images without labels, as an estimator sees it.

    accuracy, error: fractions in [0, 1] that add up to 1; None where nothing can be said, for which `warnings` give the
    reason. raw_error: the error before it was held in [0, 1].
    interval: (low, high) of the accuracy, 95 %, percentiles of a bootstrap; `details["resampled"]` says of what. It
    shows how much the estimate moves with other images of the same kind, not how wrong the method may be under this
    shift. None where it was not asked for. details: numbers by name, such as threshold, temperature, n_source,
    n_target. sample_scores: float[n_target], larger where the method finds a prediction more likely right; or None.
    warnings: sentences.

    JSON out and in: `Estimate(**openworld.runs.to_json(estimate))` is the same estimate.

    >>> Estimate.of(-0.1).accuracy
    1.0
    """

    accuracy: float | None
    error: float | None
    raw_error: float | None
    interval: tuple[float, float] | None = None
    details: dict[str, Any] = field(default_factory=dict)
    sample_scores: np.ndarray | None = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()

    __repr__ = short_repr

    def __post_init__(self):
        scores = None if self.sample_scores is None else np.asarray(self.sample_scores, np.float64)
        object.__setattr__(self, "sample_scores", scores)
        object.__setattr__(self, "interval", None if self.interval is None else tuple(self.interval))
        object.__setattr__(self, "warnings", tuple(self.warnings))

    def _repr_html_(self) -> str:
        details = ((name, f"{number:.4g}") for name, number in self.details.items() if isinstance(number, int | float))
        warnings = (("warning", warning) for warning in self.warnings)
        return _html.facts(f"Estimated accuracy {_html.percent(self.accuracy, self.interval)}", [*details, *warnings])

    @classmethod
    def of(cls, raw_error: float | None, **rest) -> "Estimate":
        """Return the estimate of an error that may lie outside [0, 1], or None."""
        if raw_error is None:
            return cls(None, None, None, **rest)
        error = min(1.0, max(0.0, float(raw_error)))
        return cls(1 - error, error, float(raw_error), **rest)
