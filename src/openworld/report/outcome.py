"""What the report reads from a run folder: recognition records as outcomes, and how they came to be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld.metrics import OpenworldAUC, openworld_auc
from openworld.runs import Record, RunStore


@dataclass(frozen=True, eq=False)
class Outcome:
    """One learner, trained with one seed and scored in one setting.

    Args:
        metrics: the record's metrics (task, split, domains, learner, seed, shots, numbers in [0, 1], ...).
        images: columns of the per-image table: id, side "base"|"new", label, prediction, correct, score, group, ...
        picture: the PNG bytes of an image id, or None where none was kept.
        seconds: how long each stage took.
        fingerprint: of the test pictures, or None where they were never seen (predictions made elsewhere).
    """

    metrics: Mapping[str, Any]
    images: Mapping[str, np.ndarray]
    picture: Callable[[int], bytes | None] = lambda _: None
    seconds: Mapping[str, float] = field(default_factory=dict)
    fingerprint: str | None = None

    @property
    def openworld_auc(self) -> float | None:
        """OpenworldAUC in [0, 1], or `None` where it is not defined."""
        return self.metrics["openworld_auc"]["value"]

    @property
    def classnames(self) -> list[str]:
        """Base names, then new names."""
        return self.metrics["classnames"]

    @cached_property
    def is_base(self) -> np.ndarray:
        """bool[N]: which images are of base classes."""
        return np.asarray(self.images["side"]) == "base"

    @property
    def samples(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(base_scores, base_correct, new_scores, new_correct), as the metrics take them."""
        score, correct = np.asarray(self.images["score"]), np.asarray(self.images["correct"])
        return score[self.is_base], correct[self.is_base], score[~self.is_base], correct[~self.is_base]

    @property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """(base_groups, new_groups): what images that are not independent have in common, such as their drawing."""
        groups = np.asarray(self.images.get("group", self.images["id"]))
        return groups[self.is_base], groups[~self.is_base]

    @property
    def ids(self) -> np.ndarray:
        """int64[N]: which image every row is, base images first, each half in the table's order."""
        ids = np.asarray(self.images["id"])
        return np.concatenate([ids[self.is_base], ids[~self.is_base]])

    @cached_property
    def result(self) -> OpenworldAUC:
        """OpenworldAUC from the per-image table, clustered by group, with what every image contributes to it."""
        base_groups, new_groups = self.groups
        return openworld_auc(*self.samples, base_groups=base_groups, new_groups=new_groups)

    @property
    def score_seconds(self) -> float | None:
        """Seconds of scoring one image, names included; `None` where no time was kept."""
        return self.seconds["score"] / len(self.is_base) if "score" in self.seconds else None

    @property
    def counts(self) -> dict[str, int]:
        """How many images and classes of either side, and how many groups of dependent images."""
        base = int(self.is_base.sum())
        return {
            "base_images": base,
            "new_images": len(self.is_base) - base,
            "base_classes": self.metrics["n_base_classes"],
            "new_classes": self.metrics["n_new_classes"],
            "groups": len(np.unique(np.concatenate(self.groups))),
        }


@dataclass(frozen=True)
class RunFolder:
    """A run as the report sees it: its outcomes, the spec as given and as resolved, and its provenance."""

    outcomes: tuple[Outcome, ...]
    given: Any
    resolved: Any
    provenance: tuple[Mapping[str, Any], ...]


def load(folder: Path | str) -> RunFolder:
    """Read the run in `folder`, every record of it verified.

    Raises:
        OpenworldError: when there is no run, when a unit is not done or damaged, or when no unit is a recognition
            unit.
    """
    store = RunStore(folder)
    told = store.description()
    outcomes = tuple(outcome(record) for record in store.records() if record.metrics.get("protocol") == "recognition")
    if not outcomes:
        raise OpenworldError(f"{folder} holds no recognition record, so there is nothing to report on yet.")
    return RunFolder(outcomes, told["given"], told["resolved"], tuple(told["provenance"]))


def outcome(record: Record) -> Outcome:
    """One record as the report reads it."""
    kept = set(record.attachments)

    def picture(number: int) -> bytes | None:
        name = f"pictures/{number}.png"
        return record.attachment(name) if name in kept else None

    seconds = record.timing.get("seconds", {})
    stages = seconds if isinstance(seconds, Mapping) else {"all": seconds}
    return Outcome(record.metrics, record.table("images"), picture, stages, record.unit.inputs.get("test"))
