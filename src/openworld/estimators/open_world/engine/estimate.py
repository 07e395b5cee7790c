"""Estimated open-world quality: OpenworldAUC with every part, and what is expected of each image."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from openworld._errors import unknown_name
from openworld._short_repr import short_repr
from openworld.metrics import SOFT_QUANTITIES, Outcomes


@dataclass(frozen=True, eq=False)
class OpenWorldEstimate:
    """What an estimator says of a stream; fractions in [0, 1], None where `reasons` says why.

    openworld_auc and its parts: base_accuracy, new_accuracy, auroc; new_share, the share of new images as the estimator
    found it or as it was given; overall_accuracy, of the name among all names. The errors of parts may cancel in
    openworld_auc: show them beside it.
    proxies: what is expected of each image (`openworld.metrics.Outcomes`), for plans of what to label; None where the
    estimator knows no single image. details: numbers by name. warnings: sentences. There is no interval: how far an
    estimate is off depends on its premise, which no resampling tests.
    """

    openworld_auc: float | None = None
    base_accuracy: float | None = None
    new_accuracy: float | None = None
    auroc: float | None = None
    new_share: float | None = None
    overall_accuracy: float | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    proxies: Outcomes | None = field(default=None, repr=False)
    details: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    __repr__ = short_repr

    @property
    def base_share(self) -> float | None:
        """The share of base images, p."""
        return None if self.new_share is None else 1 - self.new_share

    def value_of(self, name: str) -> float | None:
        """Return a number by its name: one of `metrics.SOFT_QUANTITIES`, or "new_share"."""
        if name not in (*SOFT_QUANTITIES, "new_share"):
            raise unknown_name("quantity", name, (*SOFT_QUANTITIES, "new_share"))
        return getattr(self, name)

    def without(self, names: tuple[str, ...], reason: str) -> "OpenWorldEstimate":
        """Return it with these numbers None, for that reason; a reason that is there stays."""
        reasons = {name: self.reasons.get(name, reason) for name in names}
        return replace(self, **dict.fromkeys(names), reasons={**self.reasons, **reasons})
