"""What a record of generalisation holds: a learner that was tuned once, and its numbers at the source and every target.

`recognition.outcome` reads a target, with what all targets share, as a record of recognition.
"""

from dataclasses import dataclass, field
from typing import Any

from openworld.datasets.names.overlaps import Overlap
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition.record import RecognitionNumbers


@dataclass(frozen=True, kw_only=True)
class ScoredTarget(RecognitionNumbers):
    """The numbers at one target.

    Args:
        kind, dataset, domain, target: what it is to the source, its image set, and its short name.
        task, split, train_domain, test_domain: the setting, as of recognition.
        classnames: base names, then new names.
        parts: names of the image sets that base and new images are of, among the inputs of the unit.
        new_ids_from: what is added to the numbers of new images; 0 where both sides are of one image set.
        group_name: what images that are not independent have in common.
        left_out, overlaps: classes of another data set that are no new ones, and why.
    """

    kind: str
    dataset: str
    domain: str | None
    target: str
    task: str
    split: str
    train_domain: str | None
    test_domain: str | None
    n_base_classes: int
    n_new_classes: int
    classnames: tuple[str, ...]
    parts: tuple[str, ...]
    new_ids_from: int
    group_name: str
    left_out: tuple[str, ...]
    overlaps: tuple[Overlap, ...]


@dataclass(frozen=True, kw_only=True)
class GeneralisationRecord:
    """The metrics of one learner with one seed.

    Args:
        source: what it was tuned on.
        wordnet: whether classes were compared with the source's by their names in WordNet, too.
        tuned_parameters, epochs, shots, training_images, training_classnames: of its training.
        detail: its settings and the history of its training.
        targets: the source first.
    """

    protocol: str = "generalisation"
    source: DatasetSpec
    wordnet: bool
    backbone: str
    learner: str
    seed: int
    shots: int
    epochs: int | None
    tuned_parameters: int
    training_classnames: tuple[str, ...]
    training_images: dict[str, int] = field(default_factory=dict)
    detail: dict[str, Any] = field(default_factory=dict)
    targets: tuple[ScoredTarget, ...]
