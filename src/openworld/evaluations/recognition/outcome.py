"""What the report reads from a run folder: recognition records as outcomes, and how they came to be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets.names.findings import Audit
from openworld.metrics import OpenworldAUC, openworld_auc
from openworld.report.class_names import read_audits
from openworld.runs import Record, RunStore

if TYPE_CHECKING:
    from openworld.evaluations.recognition.summary import Summary


@dataclass(frozen=True, eq=False)
class Outcome:
    """One learner, trained with one seed and scored in one setting.

    Args:
        metrics: the record's metrics (task, split, domains, learner, seed, shots, numbers in [0, 1], ...).
        images: columns of the per-image table: id, side "base"|"new", label, prediction, correct, score, group, ...
        picture: the PNG bytes of an image id, or None where none was kept.
        seconds: how long each stage took.
        fingerprint: of the test pictures, or None where they were never seen (predictions made elsewhere).
        validation: columns as of `images`, of validation pictures; None where none were scored.
        weights: float[n_base] and float[n_new], how much every image counts in `result`; None for all the same.
    """

    metrics: Mapping[str, Any]
    images: Mapping[str, np.ndarray]
    picture: Callable[[int], bytes | None] = lambda _: None
    seconds: Mapping[str, float] = field(default_factory=dict)
    fingerprint: str | None = None
    validation: Mapping[str, np.ndarray] | None = None
    weights: tuple[np.ndarray | None, np.ndarray | None] = (None, None)

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
        weights = dict(zip(("base_weights", "new_weights"), self.weights, strict=True))
        base_groups, new_groups = self.groups
        return openworld_auc(*self.samples, **weights, base_groups=base_groups, new_groups=new_groups)

    @property
    def facts(self) -> tuple[np.ndarray, ...]:
        """What is known of every image, whatever was said about it: number, side, class and group."""
        classes = np.asarray(self.classnames, dtype=object)[np.asarray(self.images["label"])]
        return self.ids, self.is_base, classes, *self.groups

    def only(self, ids: np.ndarray) -> "Outcome":
        """The outcome of some images alone: its tables, weights and result, but not the numbers of its record.

        Args:
            ids: int64[n], sorted, each once and each known to this outcome.
        """
        own = np.asarray(self.images["id"])
        order = np.argsort(own, kind="stable")
        rows = order[np.searchsorted(own[order], ids)]
        kept = [
            None if weights is None else weights[np.searchsorted(np.flatnonzero(side), rows[side[rows]])]
            for weights, side in zip(self.weights, (self.is_base, ~self.is_base), strict=True)
        ]
        images = {name: np.asarray(column)[rows] for name, column in self.images.items()}
        return replace(self, images=images, weights=tuple(kept))

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
    """A run as the report sees it: outcomes, the spec as given and as resolved, provenance, audits, and records."""

    outcomes: tuple[Outcome, ...]
    given: Any
    resolved: Any
    provenance: tuple[Mapping[str, Any], ...]
    audits: tuple[Audit, ...] = ()
    records: tuple[Record, ...] = ()

    @cached_property
    def summary(self) -> "Summary":
        """The outcomes joined into tables, with their tests; made once."""
        from openworld.evaluations.recognition.summary import summarise

        return summarise(self.outcomes)


def load(folder: Path | str) -> RunFolder:
    """Read the run in `folder`, every record of it verified.

    Raises:
        OpenworldError: when there is no run, when a unit is not done or damaged, or when no unit is one of recognition
            or of generalisation.
    """
    store = RunStore(folder)
    told = store.description()
    readers = {"recognition": lambda record: (outcome(record),), "generalisation": target_outcomes}
    known = tuple(record for record in store.records() if record.metrics.get("protocol") in readers)
    outcomes = tuple(one for record in known for one in readers[record.metrics["protocol"]](record))
    if not outcomes:
        raise OpenworldError(f"{folder} holds no recognition record, so there is nothing to report on yet.")
    description = (told["given"], told["resolved"], tuple(told["provenance"]))
    return RunFolder(outcomes, *description, read_audits(folder), known)


def outcome(record: Record) -> Outcome:
    """One record as the report reads it."""
    validation = record.table("validation") if "validation" in record.tables else None
    picture, fingerprint = _kept(record, "pictures"), record.unit.inputs.get("test")
    return Outcome(record.metrics, record.table("images"), picture, record.seconds, fingerprint, validation)


def target_outcomes(record: Record) -> tuple[Outcome, ...]:
    """One record of generalisation as the report reads it: an outcome per target, that of the source first.

    Every one tells the seconds of the fit, which was one for all of them, and its share of those of scoring.
    """
    table, inputs = record.table("images"), record.unit.inputs
    shared = {name: value for name, value in record.metrics.items() if name != "targets"}
    found = []
    for number, target in enumerate(record.metrics["targets"]):
        rows = table["target"] == number
        images = {name: column[rows] for name, column in table.items() if name != "target"}
        read = " ".join(inputs[part] for part in target["parts"])
        share = {"score": float(rows.mean())}
        seconds = {stage: value * share.get(stage, 1.0) for stage, value in record.seconds.items()}
        found.append(Outcome(shared | target, images, _kept(record, f"pictures/{number}"), seconds, read))
    return tuple(found)


def _kept(record: Record, folder: str) -> Callable[[int], bytes | None]:
    """Reads the thumbnail of an image id from a folder of the record's attachments."""
    kept = set(record.attachments)

    def picture(number: int) -> bytes | None:
        name = f"{folder}/{number}.png"
        return record.attachment(name) if name in kept else None

    return picture
