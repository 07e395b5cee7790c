"""The one kind of thing whose detectors are compared: a classifier, a model of two towers, or features and a head.

A model says what it shows of images (`offers`, of `detectors.NEEDS`), gathers what detectors learn from, and scores
images with fitted detectors, all of a set or a shard of them. Where it comes from, a spec or a person, plays no part.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
import torch

from openworld import detectors
from openworld._errors import OpenworldError
from openworld.classifiers import Classifier
from openworld.classifiers.exported import ExportedModule
from openworld.datasets import ImageSet
from openworld.datasets.formats.numbered_list import UNLABELLED
from openworld.datasets.image_set import Picked
from openworld.datasets.names.forms import are_numbered, readable_class_name
from openworld.datasets.names.word_lists import WordList
from openworld.detectors import Activations, FitStatistics, FittedDetector, Head, Texts
from openworld.detectors.engine.fitted import plain_scores
from openworld.detectors.engine.name_pools import OF_NEGATIVE_NAMES, encoder_of, name_pools
from openworld.detectors.engine.sampling import dropout_layers
from openworld.detectors.engine.tuned_learners import (
    OF_LEARNERS,
    activations_of_learner,
    answers_by_cosine,
    detectors_of_learner,
    encoder_of_learner,
    offers_of,
    require_served,
)
from openworld.detectors.profiles import LOGITS_ALONE, TWO_TOWER
from openworld.evaluations.classifiers import Checkpoint
from openworld.evaluations.held import held, is_held
from openworld.evaluations.runtime import Machine
from openworld.features import Encoding, encode
from openworld.learners import FittedLearner, encoding_for
from openworld.own_data.images import labels_among
from openworld.report.learner_facts import LearnerFacts
from openworld.tables.files import open_scores

FEATURE_FILES = (".npz", ".parquet", ".safetensors", ".jsonl")
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
        stream: what detectors of streams look at.
        probabilities: places int64[k] among `rows` -> softmax float64[k, C].
    """

    rows: np.ndarray
    scores: dict[str, np.ndarray]
    prediction: np.ndarray | None = None
    stream: Activations | None = None
    probabilities: Callable[[np.ndarray], np.ndarray] | None = None


class JudgedModel(Protocol):
    """What every kind offers."""

    kind: str
    name: str
    fingerprint: str
    classnames: tuple[str, ...]
    offers: frozenset[str]
    usual: tuple[str, ...]  # names of the detectors to start from
    notes: tuple[str, ...]
    facts: LearnerFacts | None  # of the training of a learner

    def lacks(self, detector: Any) -> str:
        """Why a detector cannot be used, as the end of a sentence; "" where it can."""

    def ready(self, chosen: Detectors) -> "JudgedModel":
        """The model with all that the detectors look at, such as texts of negative names."""

    def weaknesses(self, chosen: Detectors) -> tuple[str, ...]:
        """Sentences on detectors that are known to fail on such models."""

    def gather(self, chosen: Detectors, images: ImageSet | None, machine: Machine) -> FitStatistics:
        """Gather what the detectors learn from; None for no training images."""

    def score(self, fitted: Fitted, images: ImageSet, machine: Machine) -> ImageAnswers:
        """Score the images that can be read."""


@dataclass(frozen=True, eq=False)
class ClassifierModel:
    """A classifier, watched while it looks at images, perhaps beside others of the same classes, `members`."""

    classifier: Classifier
    device: str
    members: tuple[Classifier, ...] = ()
    progress: Progress = unheard
    kind = "classifier"
    notes = ()
    facts = None

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
        shown = {"logits", "features", "head", "gradient", "images", "samples"}
        shown |= {"maps"} if self.watched.last_stage else set()
        return frozenset(shown | ({"layers", "layer gradients"} if self.watched.layers else set()))

    @property
    def usual(self) -> tuple[str, ...]:
        return LOGITS_ALONE if self.watched is None else tuple(detectors.profile(self.watched.family))

    def lacks(self, detector: Any) -> str:
        if reason := not_offered(self, detector):
            return reason
        if "samples" in detector.needs:
            if detector.sampling.source == "members" and not self.members:
                return "needs other classifiers of the same classes, --member MODEL for each"
            if detector.sampling.source == "dropout" and not dropout_layers(self.classifier.module):
                return f"needs dropout, and {self.name} has no layer that drops anything"
        return ""

    def ready(self, chosen: Detectors) -> "ClassifierModel":
        return self

    def weaknesses(self, chosen: Detectors) -> tuple[str, ...]:
        return () if self.watched is None else detectors.plan(chosen, self.watched).warnings

    def gather(self, chosen: Detectors, images: ImageSet | None, machine: Machine) -> FitStatistics:
        rows = np.zeros(0, np.int64) if images is None else np.arange(len(images))
        return self.gather_shard(chosen, images, rows)

    def gather_shard(self, chosen: Detectors, images: ImageSet | None, rows: np.ndarray, start: int = 0):
        """Gather what detectors learn from, of images before which `start` others come."""
        wanted = images is not None and any("labels" in detector.needs for detector in chosen.values())
        labels = self._labels(images) if wanted and are_labelled(images) else None
        batches = () if images is None else self._batches(images, rows, "learning from training images", labels)
        if self.watched is None:
            return detectors.gather(chosen, self._logits(batches))
        return detectors.plan(chosen, self.watched).gather(batches, start=start)

    def score(self, fitted: Fitted, images: ImageSet, machine: Machine) -> ImageAnswers:
        return self.score_shard(fitted, images, readable(images, machine.allow_corrupt))

    def score_shard(self, fitted: Fitted, images: ImageSet, rows: np.ndarray) -> ImageAnswers:
        """Score some of the images, in their order."""
        batches = self._batches(images, rows, f"scoring {images.name}")
        if self.watched is None:
            seen = ((part.predictions, detectors.score_together(fitted, part)) for part in self._logits(batches))
        else:
            route = detectors.plan({label: own.detector for label, own in fitted.items()}, self.watched)
            seen = route.answers(fitted, batches)
        answers = list(seen)
        scores = {label: torch.cat([own[label] for _, own in answers]) for label in fitted}
        prediction = torch.cat([predicted for predicted, _ in answers]).cpu().numpy()

        return ImageAnswers(
            rows,
            plain_scores(scores),
            prediction,
            probabilities=lambda places: self.probabilities(images, rows[places]),
        )

    def probabilities(self, images: ImageSet, rows: np.ndarray) -> np.ndarray:
        """Softmax float64[n, C] of some images."""
        batches = self._batches(images, rows, "looking again")
        parts = self._logits(batches) if self.watched is None else (self.watched.see(own) for own, _ in batches)
        return np.concatenate([softmax_of(part.logits) for part in parts])

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
            own = None if labels is None else torch.from_numpy(labels[rows[done : done + len(pixels)]])
            done += len(pixels)
            yield pixels, own
            self.progress(doing, done, len(rows))

    def _logits(self, batches: Iterable) -> Iterator[Activations]:
        with torch.inference_mode():
            for pixels, labels in batches:
                yield Activations(outputs=self.classifier.module(pixels).float(), labels=labels)


@dataclass(frozen=True, eq=False)
class TowerModel:
    """A two-tower model with class names, whose texts are the head; or a learner, tuned on such a model and names.

    Args:
        clip: the two-tower model. classnames: in the order of its logits.
        template: the sentence around class names; of no meaning beside a learner, whose prompts have none.
        words: of which negative names are chosen; None for none. where: what their list is called.
        learner: tuned on `classnames`; it answers among these alone. facts: how it came to be.
        texts: of the names and of negative names that detectors look at; `ready` makes them.
    """

    clip: Any
    classnames: tuple[str, ...]
    template: str = ""
    words: WordList | None = None
    where: str = ""
    learner: FittedLearner | None = None
    facts: LearnerFacts | None = None
    texts: Texts | None = None
    notes: tuple[str, ...] = ()
    progress: Progress = unheard

    def __post_init__(self) -> None:
        if not self.classnames:
            raise OpenworldError(
                f"{self.clip.name} knows no classes of its own: give in-distribution images in folders named after "
                "their classes, or --classnames FILE."
            )

    @property
    def kind(self) -> str:
        return "learner" if self.learner else "two-tower"

    @property
    def name(self) -> str:
        return f"{self.learner.learner.name} on {self.clip.name}" if self.learner else self.clip.name

    @cached_property
    def fingerprint(self) -> str:
        if not self.learner:
            return self.clip.fingerprint
        own = hashlib.sha256(self.clip.fingerprint.encode())
        for content in self.learner.files().values():
            own.update(content)
        return own.hexdigest()

    @property
    def offers(self) -> frozenset[str]:
        if self.learner:
            return offers_of(self.learner.learner)
        return frozenset({"logits", "features", "head", "texts", "patches"})

    @property
    def usual(self) -> tuple[str, ...]:
        negative = OF_NEGATIVE_NAMES if self.words is not None and self._compares_texts else ()
        return (*(OF_LEARNERS if self.learner else TWO_TOWER), *negative)

    @property
    def _compares_texts(self) -> bool:
        """Whether its logits are cosines with one text of each name."""
        return self.learner is None or answers_by_cosine(self.learner.learner)

    @cached_property
    def bank(self) -> Any:
        """The names of a learner, encoded."""
        return self.learner.text_bank(self.classnames)

    @cached_property
    def names_alone(self) -> Texts | None:
        """Texts of the class names; None of a learner that compares images with none."""
        if self.learner is None:
            return detectors.encode_texts(self.clip, self.classnames, template=self.template)
        return Texts(self.bank.text.float()) if self._compares_texts else None

    def lacks(self, detector: Any) -> str:
        return not_offered(self, self._as_read({"it": detector})["it"])

    def ready(self, chosen: Detectors) -> "TowerModel":
        if self.learner:
            require_served(self.learner, self.name, chosen)
        texts, notes = self.names_alone, ()
        if self.words is not None and texts is not None:
            encode_names = encoder_of_learner(self.learner) if self.learner else encoder_of(self.clip, self.template)

            def progress(done: int, count: int) -> None:
                self.progress("encoding negative names", done, count)

            texts, notes = name_pools(texts.own, self.words, chosen.values(), encode_names, progress)
        return replace(self, texts=texts, notes=notes)

    def weaknesses(self, chosen: Detectors) -> tuple[str, ...]:
        return ()

    def gather(self, chosen: Detectors, images: ImageSet | None, machine: Machine) -> FitStatistics:
        read = self._as_read(chosen)
        if images is None:
            return detectors.gather(read, [self._unseen()])
        rows, seen = self._see(images, read.values(), machine, "learning from training images", own=False)
        labels = torch.from_numpy(labels_among(images, self.classnames)[rows]) if are_labelled(images) else None
        return detectors.gather(read, [replace(seen, labels=labels, texts=self.texts or seen.texts)])

    def score(self, fitted: Fitted, images: ImageSet, machine: Machine) -> ImageAnswers:
        read = [each.detector for each in fitted.values()]
        wants_own = any("learner" in detector.needs for detector in read)
        rows, seen = self._see(images, read, machine, f"scoring {images.name}", own=wants_own)
        own = {label: each for label, each in fitted.items() if not detectors.is_sequential(each.detector)}
        stream = Activations(seen.features) if len(own) < len(fitted) else None  # which reads no logits and no patches
        return ImageAnswers(
            rows,
            plain_scores(detectors.score_together(own, seen)),
            seen.predictions.cpu().numpy(),
            stream,
            lambda places: softmax_of(seen.logits[torch.from_numpy(places)]),
        )

    def _as_read(self, chosen: Detectors) -> dict[str, Any]:
        """The detectors as they read the logits of a learner."""
        return detectors_of_learner(chosen, self.learner) if self.learner else dict(chosen)

    def _unseen(self) -> Activations:
        """What is known of the model without any image."""
        if self.learner:
            return Activations(texts=self.texts)
        scale = self.clip.logit_scale.detach().float()
        no_image = torch.zeros(0, self.texts.own.shape[1], device=self.clip.device)
        return Activations(no_image, Head.of_texts(self.texts.own.float(), scale), texts=self.texts)

    @torch.no_grad()
    def _see(self, images: ImageSet, chosen: Iterable[Any], machine: Machine, doing: str, *, own: bool):
        """Return the images that can be read, int64[n], and what the model shows of them."""
        if not has_pictures(images) and images.embeddings is None:
            raise OpenworldError(f"{images.name} are features, and {self.name} looks at images; give these.")
        encoding = encoding_for(self.learner.learner) if self.learner else Encoding()
        patches = any("patches" in detector.needs for detector in chosen)
        encoding = replace(encoding, patches=encoding.patches or patches)

        def progress(done: int, count: int) -> None:
            self.progress(doing, done, count)

        features = encode(self.clip, images, encoding, **machine.storage, progress=progress)
        if self.learner:
            seen = activations_of_learner(self.learner, features, bank=self.bank, own=own)
        else:
            seen = detectors.activations_of(self.clip, features, self.names_alone)
        # Classes of other images are not those of the texts, and no score may look at them; fitted detectors bring
        # texts, with the negative names of their fit.
        return np.array(features.rows), replace(seen, labels=None, texts=None)


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """What an image set reads that has features [N, D], logits [N, C] or both instead of images."""

    title: str
    columns: Mapping[str, np.ndarray]

    def __call__(self, index: int) -> Any:
        raise OpenworldError(f"{self.title} has features and no images, of which there is nothing to read.")

    def file_of(self, index: int) -> str | None:
        """What the table calls an image."""
        return str(self.columns["image"][index]) if "image" in self.columns else None


@dataclass(frozen=True, eq=False)
class FeatureModel:
    """What enters a head, and the head: from files; None where logits came alone."""

    name: str
    head: Head | None
    offers: frozenset[str]
    kind = "features"
    classnames = ()
    notes = ()
    facts = None

    @classmethod
    def of(cls, given: Any, images: ImageSet) -> "FeatureModel":
        """The head of a file with `weight` [C, D] and perhaps `bias` [C], for such rows."""
        head = None
        if given:
            file = open_scores(given, FEATURE_FILES)
            table = file.table()
            if "weight" not in table:
                raise OpenworldError(f"{file.path} has {', '.join(table)}, expected weight [C, D] and bias [C].")
            bias = torch.from_numpy(table["bias"]) if "bias" in table else None
            head = Head(torch.from_numpy(table["weight"]), bias)
        shown = {"features", "logits"} & set(columns_of(images) or ())
        shown |= {"head", "logits"} if head is not None and "features" in shown else set()
        return cls(f"the model of {images.name}", head, frozenset(shown))

    @property
    def fingerprint(self) -> str:
        """Of the head; "" without one."""
        if self.head is None:
            return ""
        parts = (part.numpy().tobytes() for part in (self.head.weight, self.head.bias) if part is not None)
        return hashlib.sha256(b"".join(parts)).hexdigest()

    @property
    def usual(self) -> tuple[str, ...]:
        logits = LOGITS_ALONE if "logits" in self.offers else ()
        return (*logits, *(("KNN", "MDS", "RMDS") if "features" in self.offers else ()))

    def lacks(self, detector: Any) -> str:
        return not_offered(self, detector)

    def ready(self, chosen: Detectors) -> "FeatureModel":
        return self

    def weaknesses(self, chosen: Detectors) -> tuple[str, ...]:
        return ()

    def gather(self, chosen: Detectors, images: ImageSet | None, machine: Machine) -> FitStatistics:
        seen = Activations(head=self.head) if images is None else self._see(images)
        if images is not None and are_labelled(images):
            seen = replace(seen, labels=torch.from_numpy(images.labels))
        return detectors.gather(chosen, [seen])

    def score(self, fitted: Fitted, images: ImageSet, machine: Machine) -> ImageAnswers:
        seen = self._see(images)
        scores = plain_scores(detectors.score_together(fitted, seen))
        prediction = seen.predictions.cpu().numpy() if "logits" in self.offers else None
        return ImageAnswers(np.arange(len(images)), scores, prediction)

    def _see(self, images: ImageSet) -> Activations:
        columns = columns_of(images)
        if columns is None:
            raise OpenworldError(f"{images.name} are images; where the others are features, give features of them too.")
        parts = {own: torch.from_numpy(columns[name]) for name, own in (("features", "features"), ("logits", "outputs"))
                 if name in columns}  # fmt: skip
        return Activations(**parts, head=self.head)


def classifier_model(checkpoint: Checkpoint, machine: Machine) -> ClassifierModel:
    """Return the classifier of a run."""
    if is_held(checkpoint.folder):
        return held(checkpoint.folder)
    return _watched(checkpoint.load(machine), machine.device)


@lru_cache(maxsize=2)
def _watched(classifier: Classifier, device: str) -> ClassifierModel:
    return ClassifierModel(classifier, device)


def not_offered(model: JudgedModel, detector: Any) -> str:
    """Why a model cannot serve a detector, by what it shows; "" where it can."""
    lacking = [need for need in detector.needs if need not in model.offers and need not in ("labels", "bank")]
    return f"needs {detectors.NEEDS[lacking[0]]}, which {model.name} does not show" if lacking else ""


def columns_of(images: ImageSet) -> Mapping[str, np.ndarray] | None:
    """Return the features and logits of an image set that has them instead of images; None of images."""
    read, rows = images.read, None
    while isinstance(read, Picked):
        rows, read = read.numbers if rows is None else read.numbers[rows], read.read
    if not isinstance(read, FeatureRows):
        return None
    return dict(read.columns) if rows is None else {name: column[rows] for name, column in read.columns.items()}


def has_pictures(images: ImageSet) -> bool:
    """Whether there is an image to be read, and not embeddings or features alone."""
    return images.embeddings is None and columns_of(images) is None


def are_labelled(images: ImageSet) -> bool:
    """Whether the classes of the images are known."""
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


def softmax_of(logits: torch.Tensor) -> np.ndarray:
    """Return float64[n, C] of logits [n, C]."""
    return logits.detach().double().softmax(dim=1).cpu().numpy()
