"""A model whose detectors are compared that is no more than a head: what enters it, or logits, comes from files."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from openworld import detectors
from openworld._errors import OpenworldError
from openworld._score_files import open_scores
from openworld.applications.detect.models import Detectors, Progress, ScoredImages
from openworld.applications.detect.places import FEATURE_FILES, FeatureTable, Images
from openworld.detectors import Activations, FitStatistics, Head
from openworld.detectors.engine.fitted import plain_scores
from openworld.detectors.profiles import LOGITS_ALONE


@dataclass(frozen=True, eq=False)
class FeatureModel:
    """What enters a head, and the head: from files."""

    name: str
    head: Head | None
    offers: frozenset[str]
    fingerprint: str = ""

    @classmethod
    def of(cls, given: Any, features: FeatureTable) -> "FeatureModel":
        """The head of a file with `weight` [C, D] and perhaps `bias` [C]; none where logits came alone."""
        head = None
        if given:
            file = open_scores(given, FEATURE_FILES)
            table = file.table()
            if "weight" not in table:
                raise OpenworldError(
                    f"{file.path} has {', '.join(table)}, expected weight [C, D] and bias [C] of a head."
                )
            bias = torch.from_numpy(table["bias"]) if "bias" in table else None
            head = Head(torch.from_numpy(table["weight"]), bias)
        shown = {name for name in ("features", "logits") if name in features.columns}
        shown |= {"head", "logits"} if head is not None and "features" in shown else set()
        return cls(f"the model of {features.name}", head, frozenset(shown))

    @property
    def usual(self) -> tuple[str, ...]:
        logits = LOGITS_ALONE if "logits" in self.offers else ()
        return (*logits, *(("KNN", "MDS", "RMDS") if "features" in self.offers else ()))

    def gather(self, chosen: Detectors, images: Images | None, progress: Progress) -> FitStatistics:
        seen = Activations(head=self.head) if images is None else self._see(images, learn=True)
        return detectors.gather(chosen, [seen])

    def score(self, fitted, images: Images, progress: Progress, allow_corrupt: int = 0):
        scores = plain_scores(detectors.score_together(fitted, self._see(images)))
        return ScoredImages(np.arange(len(images)), scores)

    def _see(self, images: Images, learn: bool = False) -> Activations:
        if not isinstance(images, FeatureTable):
            raise OpenworldError(f"{images.name} are images; where the others are features, give features of them too.")
        columns = images.columns
        parts = {own: torch.from_numpy(columns[name]) for name, own in (("features", "features"), ("logits", "outputs"))
                 if name in columns}  # fmt: skip
        labels = torch.from_numpy(columns["labels"]) if learn and "labels" in columns else None
        return Activations(**parts, head=self.head, labels=labels)
