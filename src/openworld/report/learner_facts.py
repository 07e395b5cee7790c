"""What records and pages say of the training of a learner whose detectors are compared."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from openworld.report.sentences import counted
from openworld.results.run_folder import flat_settings


@dataclass(frozen=True)
class LearnerFacts:
    learner: str
    settings: dict[str, Any]
    backbone: str
    epochs: int  # 0 of a learner that is not trained
    parameters: int  # how many numbers were learned
    seed: int | None = None  # of its training; None of a saved learner
    images: int | None = None
    views: int | None = None
    saved: str = ""  # its folder; "" of one that was trained in the run

    def sentences(self) -> Iterator[str]:
        """Yield how it was trained, and its settings, each in one line."""
        parts = [f"{self.learner} on {self.backbone}"]
        if self.saved:
            parts.append(f"as it lies in {self.saved}")
        if self.epochs:
            parts.append(f"{counted(self.epochs, 'epoch')}")
        if self.images is not None and self.views is not None and self.epochs:
            parts.append(f"{counted(self.images, 'image')} of {counted(self.views, 'view')}, seed {self.seed}")
        yield ", ".join([*parts, f"{counted(self.parameters, 'number')} learned"])
        words = {"None": "none", "True": "yes", "False": "no"}  # "words none, schedule.epochs 50"
        flat = flat_settings(self.settings).items()
        yield ", ".join(f"{name} {words.get(str(value), value)}" for name, value in flat)
