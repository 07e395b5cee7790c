"""What a classifier's detectors say of images, a few thousand at a time: each is read once, and what is done is kept.

An artifact is a shard of the scores, so that a kill costs minutes, and processes, GPUs and machines share the work; a
shard is made of whole batches, which are those of one pass over all images, so that its numbers are, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from safetensors.numpy import load, save

from openworld.evaluations.artifacts import MANIFEST, Stage, cache_of, keep
from openworld.evaluations.classifiers import Checkpoint
from openworld.evaluations.detector_fits import GATHERED, DetectorFit, fit_key, load_fitted, plan_of
from openworld.evaluations.images_to_score import ImageShard, ImagesToScore
from openworld.evaluations.model_entries import DetectorSpec
from openworld.evaluations.runtime import Machine
from openworld.features.checksums import read_intact, write_with_checksum
from openworld.runs import digest

SCORED = 4096
"""Images of a shard: a multiple of the batches in which a classifier sees them."""

_PREDICTED = "prediction"


@dataclass(frozen=True)
class ClassifierScoring:
    """A classifier whose detectors score images."""

    name: str  # of the model and seed
    classifier: Checkpoint
    detectors: tuple[DetectorSpec, ...]
    training: ImagesToScore  # what detectors learn from
    scored: tuple[ImagesToScore, ...]  # in distribution ones first
    threads: int

    @property
    def fit(self) -> DetectorFit:
        """The detectors to be fitted."""
        return DetectorFit(self.name, self.detectors, self.classifier, self.training, self.threads)

    def inputs(self, machine: Machine) -> dict[str, str]:
        """Return what else a result depends on: how sums over many training images are cut; {} for one pass."""
        return {"detectors are gathered": f"in shards of {GATHERED}"} if self.fit.is_sharded(machine) else {}

    def shards(self, images: ImagesToScore, machine: Machine) -> Iterator["ScoreShard"]:
        """Yield the shards of some of the images."""
        fitted, count = fit_key(self.fit, machine), images.count(machine)
        folder = digest({"scores": [fitted, images.key(machine)]})[:32]
        for shard, start in enumerate(range(0, count, SCORED)):
            name = f"{self.name}, {images.title} from {start + 1:,}"
            yield ScoreShard(name, folder, shard, start, min(start + SCORED, count), self, images, fitted)

    def load(self, images: ImagesToScore, machine: Machine) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return the scores float64[n] by label, and the predicted classes int64[n]; shards that lack are made here."""
        count, shard = images.count(machine), None
        labels = {str(number): entry.label for number, entry in enumerate(self.detectors)}
        scores, predictions = {}, np.empty(count, np.int64)
        for shard in self.shards(images, machine):
            if not shard.is_kept(machine):
                shard.build(machine)
            arrays = load(read_intact(shard.path(machine)))
            predictions[shard.start : shard.stop] = arrays.pop(_PREDICTED)
            for number, values in arrays.items():
                scores.setdefault(number, np.empty(count))[shard.start : shard.stop] = values
        if shard and not (cache_of(machine) / shard.folder / MANIFEST).exists():
            keep(cache_of(machine) / shard.folder, {}, {"name": images.title, "model": self.name, "count": count})
        return {labels[number]: scores[number] for number in labels if number in scores}, predictions


@dataclass(frozen=True)
class ScoreShard(ImageShard):
    """The scores of all detectors for some images, and the classes that are predicted."""

    scoring: ClassifierScoring
    images: ImagesToScore  # of which some are scored
    fitted: str  # the folder of the detectors
    prefix = "scores"

    def build(self, machine: Machine) -> None:
        torch.set_num_threads(self.scoring.threads)
        classifier, fitted = self.scoring.classifier.load(machine), load_fitted(self.fitted, machine)
        chosen = self.scoring.fit.build_detectors()
        part = self.images.part(self.start, self.stop, machine)
        batches = classifier.batches(part.images, part.rows, device=machine.device)
        answers = list(plan_of(classifier, chosen, machine.device).answers(fitted, batches))
        # By number: any text may be a label.
        arrays = {
            str(number): torch.cat([scores[label] for _, scores in answers]).double().numpy()
            for number, label in enumerate(chosen)
            if label in fitted
        }
        arrays[_PREDICTED] = torch.cat([predicted for predicted, _ in answers]).numpy()
        write_with_checksum(self.path(machine), save(arrays))


def scoring_stages(scorings: Sequence[ClassifierScoring], machine: Machine) -> tuple[Stage, ...]:
    """Return the stages that fit the detectors of classifiers, and score images with them; none for no classifier."""
    if not scorings:
        return ()

    def gathered():
        return (shard for scoring in scorings for shard in scoring.fit.shards(machine))

    def scored():
        return (shard for each in scorings for images in each.scored for shard in each.shards(images, machine))

    return (
        Stage("gathering", "gathered what detectors learn from", "images", machine, gathered),
        Stage("fitting", "fitted", "detectors", machine, lambda: [scoring.fit for scoring in scorings]),
        Stage("scoring", "scored", "images", machine, scored),
    )
