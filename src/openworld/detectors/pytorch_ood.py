"""Any detector of pytorch-ood that works on logits or on pooled features, as one of ours.

pytorch-ood is not needed to import this: the user makes the detector and passes it. Its scores grow with strangeness;
they are negated here.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.bank import Bank, Rows
from openworld.detectors.engine.fit_statistics import fit
from openworld.detectors.engine.fitted import FittedDetector
from openworld.detectors.engine.head import Head


@checked
@dataclass(frozen=True, eq=False)
class PytorchOOD:
    """-score of a detector of pytorch-ood (0.4 or later).

    Args:
        detector: made with None for its model or encoder, such as `KNN(encoder=None, k=50)`. Each fit fits this very
            object anew; make one for each fit that is to be kept.

    Raises:
        OpenworldError: a detector that works on maps, several layers or the model itself.
    """

    detector: Any

    paper: ClassVar[str] = "Kirchheim et al., 2022"
    summary: ClassVar[str] = "a detector of pytorch-ood"

    def __post_init__(self):
        if not any(hasattr(self.detector, f"predict_{view}") for view in ("logits", "features")):
            raise OpenworldError(
                f"{type(self.detector).__name__} has neither predict_logits nor predict_features; of pytorch-ood, only "
                "detectors of logits or of pooled features can be used here."
            )

    @property
    def name(self) -> str:
        """pytorch-ood's name for it."""
        return f"pytorch-ood {type(self.detector).__name__}"

    @property
    def needs(self) -> tuple[str, ...]:
        """What it is called with, and labels where it is fitted."""
        return (self._view, "labels", "bank") if self._learns else (self._view,)

    @property
    def gathers(self) -> tuple:
        """All training features: pytorch-ood fits on whole tensors."""
        return (Bank(),) if self._learns else ()

    def fit(
        self, features: Tensor | Activations | None = None, labels: Tensor | None = None, head: Head | None = None
    ) -> FittedDetector:
        """Fit it on features float[N, D], or their logits, and labels int[N]."""
        return fit(self, features, labels, head)

    def learn(self, head: Head | None, rows: Rows) -> None:
        """Nothing is kept but what pytorch-ood's object keeps itself."""
        if rows.labels is None:
            raise OpenworldError(f"{self.name} needs labels of the training images; pass labels=...")
        view = rows.features if self._view == "features" else head.logits(rows.features)
        getattr(self.detector, f"fit_{self._view}")(view, rows.labels)

    @torch.no_grad()
    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N]."""
        inputs = getattr(activations, self._view)
        return -getattr(self.detector, f"predict_{self._view}")(inputs).to(inputs.device)

    @property
    def _view(self) -> str:
        return "features" if hasattr(self.detector, "predict_features") else "logits"

    @property
    def _learns(self) -> bool:
        return bool(getattr(self.detector, "requires_fit", False))
