"""The one kind of thing whose detectors are compared, and a classifier as one; see also `tower_model`, `feature_model`.

A model says what it shows of images (`offers`, of `detectors.NEEDS`), gathers what detectors learn from, and scores
images with fitted detectors, all of a set or a shard of them. Where it comes from, a spec or a person, plays no part.
Specs say in words which images are scored, `ImagesToScore`.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from openworld import detectors
from openworld.classifiers import Classifier
from openworld.classifiers.exported import ExportedModule
from openworld.core.errors import OpenworldError
from openworld.core.reading import Declared
from openworld.datasets import ImageSet
from openworld.datasets.formats.numbered_list import UNLABELLED
from openworld.datasets.names.forms import are_numbered, readable_class_name
from openworld.datasets.pooling import pooled
from openworld.detectors import Activations, FitStatistics, FittedDetector
from openworld.detectors.catalogue import LOGITS_ALONE
from openworld.detectors.engine.fitted import plain_scores
from openworld.detectors.engine.perturbation import dropout_layers
from openworld.evaluations.classifiers import Checkpoint
from openworld.evaluations.entries import CellsSpec
from openworld.evaluations.image_selection import ImageSelection, cached_here
from openworld.evaluations.own_data import held, is_held
from openworld.evaluations.published_cells import given_cells, some_images
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_degrees import features_of
from openworld.own_data.images import labels_among
from openworld.report.learner_facts import LearnerFacts
from openworld.runs import digest

Detectors = Mapping[str, Any]
Fitted = Mapping[str, FittedDetector]
Progress = Callable[[str, int, int], None]
"""What is done, how much of it, and of how much."""


def unheard(doing: str, done: int, count: int) -> None:
    """Hear of progress and say nothing."""


@dataclass(frozen=True, eq=False)
class ImageAnswers:
    """What a model says of images.

    Args:
        rows: int64[n], those of the images that can be read.
        scores: float64[n] by label of the detector; without those that look at a whole stream.
        prediction: int64[n], places in the model's classes; None of a model without logits.
        confidence: float64[n], the largest softmax probability; None of a model without logits.
        stream: float[n, D], features at which detectors of streams look; None where there is no such detector.
    """

    rows: np.ndarray
    scores: dict[str, np.ndarray]
    prediction: np.ndarray | None = None
    confidence: np.ndarray | None = None
    stream: torch.Tensor | None = None


class JudgedModel:
    """What every kind offers, and what most say alike."""

    if TYPE_CHECKING:  # while it runs, what is declared would be the default of a field of this name
        kind = Declared[str]()
        name = Declared[str]()
        fingerprint = Declared[str]()
        classnames = Declared[tuple[str, ...]]()
        offers = Declared[frozenset[str]]()
        usual = Declared[tuple[str, ...]]()  # names of the detectors to start from
        notes = Declared[tuple[str, ...]]()
        facts = Declared[LearnerFacts | None]()  # of the training of a learner
    else:
        notes, facts = (), None

    def lacks(self, detector: Any) -> str:
        """Why a detector cannot be used, as the end of a sentence; "" where it can."""
        lacking = [need for need in detector.needs if need not in self.offers and need not in ("labels", "bank")]
        return f"needs {detectors.NEEDS[lacking[0]]}, which {self.name} does not show" if lacking else ""

    def ready(self, chosen: Detectors) -> "JudgedModel":
        """The model with all that the detectors look at, such as texts of negative names."""
        return self

    def weaknesses(self, chosen: Detectors) -> tuple[str, ...]:
        """Sentences on detectors that are known to fail on such models."""
        return ()

    def gather(self, chosen: Detectors, images: ImageSet | None, machine: Machine) -> FitStatistics:
        """Gather what the detectors learn from; None for no training images."""
        raise NotImplementedError

    def score(self, fitted: Fitted, images: ImageSet, machine: Machine) -> ImageAnswers:
        """Score the images that can be read."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ClassifierModel(JudgedModel):
    """A classifier, watched while it looks at images, perhaps beside others of the same classes, `members`."""

    classifier: Classifier
    device: str
    members: tuple[Classifier, ...] = ()
    progress: Progress = unheard
    kind = "classifier"

    def __post_init__(self) -> None:
        for member in (self.classifier, *self.members):
            member.module.to(self.device)
        for member in self.members:
            if isinstance(member.module, ExportedModule) or isinstance(self.classifier.module, ExportedModule):
                raise OpenworldError(f"{member.architecture}: members are networks, no exported files; give others.")
            if (member.classnames, member.preprocess) != (self.classnames, self.classifier.preprocess):
                raise OpenworldError(
                    f"the member {member.architecture} has other classes than the model, another order of them, or "
                    "prepares images otherwise; members see the same images, and name the same classes in one order."
                )

    @cached_property
    def watched(self) -> detectors.WatchedModel | None:
        """The network as detectors look into it; None of an exported file, which shows logits alone."""
        if isinstance(self.classifier.module, ExportedModule):
            return None
        side = self.classifier.side
        blank = torch.zeros(2, 3, side, side, device=self.device)  # what an image shows plays no part
        others = [member.module for member in self.members]
        return detectors.watch(self.classifier.module, blank, pixel_std=self.classifier.preprocess.std, members=others)

    @property
    def name(self) -> str:
        return self.classifier.architecture

    @property
    def fingerprint(self) -> str:
        every = [member.fingerprint for member in (self.classifier, *self.members)]
        return every[0] if len(every) == 1 else hashlib.sha256(" ".join(every).encode()).hexdigest()

    @property
    def classnames(self) -> tuple[str, ...]:
        return self.classifier.classnames

    @property
    def offers(self) -> frozenset[str]:
        if self.watched is None:
            return frozenset({"logits"})
        needs = {"logits", "features", "head", "gradient", "samples"}
        needs |= {"maps"} if self.watched.last_stage else set()
        return frozenset(needs | ({"layers", "layer gradients"} if self.watched.layers else set()))

    @property
    def usual(self) -> tuple[str, ...]:
        return LOGITS_ALONE if self.watched is None else tuple(detectors.profile(self.watched.family))

    def lacks(self, detector: Any) -> str:
        if reason := super().lacks(detector):
            return reason
        if "samples" in detector.needs:
            if detector.sampling.source == "members" and not self.members:
                return "needs other classifiers of the same classes, --member MODEL for each"
            if detector.sampling.source == "dropout" and not dropout_layers(self.classifier.module):
                return f"needs dropout, and {self.name} has no layer that drops anything"
        return ""

    def weaknesses(self, chosen: Detectors) -> tuple[str, ...]:
        return () if self.watched is None else detectors.plan(chosen, self.watched).warnings

    def gather(
        self,
        chosen: Detectors,
        images: ImageSet | None,
        machine: Machine,
        rows: np.ndarray | None = None,
        start: int = 0,
    ) -> FitStatistics:
        """Gather what detectors learn from, of all images or some; before these `start` others come."""
        if rows is None:
            rows = np.arange(0 if images is None else len(images))
        wanted = images is not None and any("labels" in detector.needs for detector in chosen.values())
        labels = self._labels(images) if wanted and are_labelled(images) else None
        batches = () if images is None else self._batches(images, rows, "learning from training images", labels)
        if self.watched is None:
            return detectors.gather(chosen, self._logits(batches))
        return detectors.plan(chosen, self.watched).gather(batches, start=start)

    def score(self, fitted: Fitted, images: ImageSet, machine: Machine, rows: np.ndarray | None = None) -> ImageAnswers:
        """Score the images that can be read, or some of them, in their order."""
        rows = readable(images, machine.allow_corrupt) if rows is None else rows
        batches = self._batches(images, rows, f"scoring {images.name}")
        if self.watched is None:
            seen = ((part.logits.cpu(), detectors.score_together(fitted, part)) for part in self._logits(batches))
        else:
            route = detectors.plan({label: own.detector for label, own in fitted.items()}, self.watched)
            seen = route.answers(fitted, batches)
        answers = [(*named(logits), scores) for logits, scores in seen]
        scores = {label: torch.cat([of_batch[label] for *_, of_batch in answers]) for label in fitted}
        prediction, confidence = (np.concatenate([each[part] for each in answers]) for part in (0, 1))
        return ImageAnswers(rows, plain_scores(scores), prediction, confidence)

    def _labels(self, images: ImageSet) -> np.ndarray:
        names = tuple(map(readable_class_name, self.classnames))
        same = len(names) == len(images.classnames)
        if are_numbered(images.classnames) or (are_numbered(names) and same):
            return images.labels
        if are_numbered(names):
            raise OpenworldError(
                f"{self.name} tells {len(names)} classes apart and does not name them, and {images.name} has "
                f"{len(images.classnames)}; give --classnames FILE, a name per line, in the order of its logits."
            )
        return labels_among(images, names)

    def _batches(self, images: ImageSet, rows: np.ndarray, doing: str, labels=None) -> Iterator[tuple]:
        done = 0
        for pixels, _ in self.classifier.batches(images, rows, device=self.device):
            targets = None if labels is None else torch.from_numpy(labels[rows[done : done + len(pixels)]])
            done += len(pixels)
            yield pixels, targets
            self.progress(doing, done, len(rows))

    def _logits(self, batches: Iterable) -> Iterator[Activations]:
        with torch.inference_mode():
            for pixels, labels in batches:
                yield Activations(outputs=self.classifier.module(pixels).float(), labels=labels)


def classifier_model(checkpoint: Checkpoint, machine: Machine) -> ClassifierModel:
    if is_held(checkpoint.folder):
        return held(checkpoint.folder)
    return _watched(checkpoint.load(machine), machine.device)


@lru_cache(maxsize=2)
def _watched(classifier: Classifier, device: str) -> ClassifierModel:
    return ClassifierModel(classifier, device)


def are_labelled(images: ImageSet) -> bool:
    return images.classnames != UNLABELLED


def readable(images: ImageSet, allow_corrupt: int) -> np.ndarray:
    """Return int64[n], the images that can be read; all, unread, where none may be left out."""
    if not allow_corrupt:
        return np.arange(len(images))
    rows, lost = [], 0
    for row in range(len(images)):
        try:
            images.image(row)
            rows.append(row)
        except OpenworldError:
            lost += 1
            if lost > allow_corrupt:
                raise
    return np.array(rows, np.int64)


def named(logits: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return the class int64[n] that logits [n, C] name, and its softmax probability float64[n]."""
    logits = logits.detach()
    confidence = logits.double().softmax(dim=1).amax(dim=1)
    return logits.argmax(dim=1).cpu().numpy(), confidence.cpu().numpy()


@dataclass(frozen=True)
class ImagesToScore:
    """Images that a model scores, in words: whole, or a few thousand of them (a shard) for one process."""

    title: str  # what people call them
    selections: tuple[ImageSelection, ...] = ()  # one behind the other; of several, the labels say nothing
    cells: CellsSpec | None = None  # the images of a given division, instead
    encoded_by: tuple[str, ...] = ()

    def load(self, machine: Machine) -> tuple[ImageSet, np.ndarray]:
        """Return the image set, and the places int64[n] of those of its images that can be read."""
        images = given_cells(self.cells).images if self.cells else _joined(self.selections)
        return images, self._rows(len(images), machine)

    def parts(self) -> list[ImageSet]:
        return [given_cells(self.cells).images] if self.cells else [images.load() for images in self.selections]

    @property
    def image_set(self) -> ImageSet:
        """The only one."""
        (images,) = self.parts()
        return images

    def part(self, start: int, stop: int, machine: Machine) -> tuple[ImageSet, np.ndarray]:
        """Return those from place `start` to `stop` of the readable ones; of a given division no others are known."""
        if self.cells:
            images = some_images(self.cells, start, stop)
            return images, np.arange(len(images))
        images, rows = self.load(machine)
        return images, rows[start:stop]

    def count(self, machine: Machine) -> int:
        return _facts(self, machine)[0]

    def key(self, machine: Machine) -> str:
        return _facts(self, machine)[1]

    def _rows(self, count: int, machine: Machine) -> np.ndarray:
        if self.cells or not machine.allow_corrupt:  # where none may be lacking, all could be read
            return np.arange(count)
        if self.encoded_by:
            parts = [features_of(images, *self.encoded_by, machine).rows[:] for images in self.selections]
        else:
            parts = [readable(images.load(), machine.allow_corrupt) for images in self.selections]
        starts = np.cumsum([0, *(len(images.load()) for images in self.selections)])
        return np.concatenate([start + rows for start, rows in zip(starts, parts, strict=False)])


@cached_here(maxsize=64)
def _facts(images: ImagesToScore, machine: Machine) -> tuple[int, str]:
    """How many can be read, and the hash; of ten million, both take seconds."""
    loaded, rows = images.load(machine)
    sets = [each.fingerprint for each in images.selections] or [loaded.fingerprint]
    left_out = [] if len(rows) == len(loaded) else [rows.tolist()]
    return len(rows), digest(sets + left_out)


@cached_here(maxsize=16)
def _joined(selections: tuple[ImageSelection, ...]) -> ImageSet:
    sets = [images.load() for images in selections]
    if len(sets) == 1:
        return sets[0]
    unnamed = [replace(each, classnames=("any",), labels=np.zeros(len(each), np.int64)) for each in sets]
    return pooled(unnamed, ("any",))
