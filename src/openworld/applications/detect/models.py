"""The kinds of model whose detectors are compared: a classifier, a two-tower model, or features and a head."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from openworld import detectors
from openworld._errors import OpenworldError
from openworld._score_files import open_scores
from openworld.applications.detect.places import FEATURE_FILES, FeatureTable, Images, are_labelled
from openworld.applications.images import labels_among
from openworld.classifiers import Classifier
from openworld.classifiers.exported import ExportedModule
from openworld.datasets import ImageSet
from openworld.datasets.names.forms import are_numbered, readable_class_name
from openworld.datasets.names.word_lists import WordList
from openworld.detectors import Activations, FitStatistics, FittedDetector, Head, Texts
from openworld.detectors.engine.fitted import plain_scores
from openworld.detectors.engine.name_pools import OF_NEGATIVE_NAMES, encoder_of, name_pools
from openworld.detectors.engine.sampling import dropout_layers
from openworld.detectors.profiles import LOGITS_ALONE, TWO_TOWER
from openworld.features import Encoding, encode
from openworld.runs.scratch import ScratchFolder

Progress = Callable[[int, int], None]
Detectors = Mapping[str, Any]


def unheard(done: int, count: int) -> None:
    """Hear of progress and say nothing."""


@dataclass(frozen=True, eq=False)
class ScoredImages:
    """What a model says of images: rows int64[n] that can be read, float64[n] by label, and what streams read."""

    rows: np.ndarray
    scores: dict[str, np.ndarray]
    stream: Activations | None = None


class JudgedModel(Protocol):
    """What every kind of model offers: of `detectors.NEEDS` what it shows, and names of detectors to start from."""

    name: str
    fingerprint: str
    offers: frozenset[str]
    usual: tuple[str, ...]

    def gather(self, chosen: Detectors, images: Images | None, progress: Progress) -> FitStatistics:
        """Gather what the detectors learn from; None for no training images."""

    def score(
        self, fitted: Mapping[str, FittedDetector], images: Images, progress: Progress, allow_corrupt: int
    ) -> ScoredImages:
        """Scores of the images that can be read."""


@dataclass(frozen=True, eq=False)
class ClassifierModel:
    """A classifier, watched while it looks at images, perhaps beside others of the same classes, `members`."""

    classifier: Classifier
    device: str
    members: tuple[Classifier, ...] = ()

    def __post_init__(self) -> None:
        for member in (self.classifier, *self.members):
            member.module.to(self.device)
        self._require_alike()
        side = self.classifier.side
        shown = None
        if not isinstance(self.classifier.module, ExportedModule):
            blank = torch.zeros(2, 3, side, side, device=self.device)
            others = [member.module for member in self.members]
            shown = detectors.watch(
                self.classifier.module, blank, pixel_std=self.classifier.preprocess.std, members=others
            )
        object.__setattr__(self, "watched", shown)

    @property
    def name(self) -> str:
        return self.classifier.architecture

    @property
    def fingerprint(self) -> str:
        every = [member.fingerprint for member in (self.classifier, *self.members)]
        return every[0] if len(every) == 1 else hashlib.sha256(" ".join(every).encode()).hexdigest()

    @property
    def classnames(self) -> tuple[str, ...]:
        """Its class names, in the order of its logits."""
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

    def lacks_samples(self, detector: Any) -> str:
        """Why the detector's several logits of an image cannot be had; "" where they can, or where it reads none."""
        if "samples" in detector.needs and self.watched is not None:
            if detector.sampling.source == "members" and not self.members:
                return "needs other classifiers of the same classes, --member MODEL for each"
            if detector.sampling.source == "dropout" and not dropout_layers(self.classifier.module):
                return f"needs dropout, and {self.name} has no layer that drops anything"
        return ""

    def weaknesses(self, chosen: Detectors) -> tuple[str, ...]:
        """Sentences on detectors that are known to fail on such models."""
        return () if self.watched is None else detectors.plan(chosen, self.watched).warnings

    def gather(self, chosen: Detectors, images: Images | None, progress: Progress) -> FitStatistics:
        wanted = images is not None and any("labels" in detector.needs for detector in chosen.values())
        labels = self._labels(images) if wanted and are_labelled(images) else None
        batches = () if images is None else self._batches(images, np.arange(len(images)), progress, labels)
        if self.watched is None:
            return detectors.gather(chosen, self._logits(batches))
        return detectors.plan(chosen, self.watched).gather(batches)

    def score(self, fitted, images: Images, progress: Progress, allow_corrupt: int = 0):
        rows = readable(images, allow_corrupt)
        batches = self._batches(images, rows, progress)
        if self.watched is None:
            parts = (detectors.score_together(fitted, part) for part in self._logits(batches))
            return ScoredImages(rows, _joined(parts))
        route = detectors.plan({label: own.detector for label, own in fitted.items()}, self.watched)
        return ScoredImages(rows, plain_scores(route.score(fitted, batches)))

    def _require_alike(self) -> None:
        for member in self.members:
            if isinstance(member.module, ExportedModule) or isinstance(self.classifier.module, ExportedModule):
                raise OpenworldError(f"{member.architecture}: members are networks, no exported files; give others.")
            if (member.classnames, member.preprocess) != (self.classnames, self.classifier.preprocess):
                raise OpenworldError(
                    f"the member {member.architecture} has other classes than the model, another order of them, or "
                    "prepares images otherwise; members see the same images, and name the same classes in one order."
                )

    def _labels(self, images: ImageSet) -> np.ndarray:
        names = tuple(map(readable_class_name, self.classnames))
        if are_numbered(images.classnames):
            return images.labels
        if are_numbered(names):
            raise OpenworldError(
                f"{self.name} tells {len(names)} classes apart and does not name them, and {images.name} has "
                f"{len(images.classnames)}; give --classnames FILE, a name per line, in the order of its logits."
            )
        return labels_among(images, names)

    def _batches(self, images: ImageSet, rows, progress: Progress, labels=None) -> Iterator[tuple]:
        done = 0
        for pixels, _ in self.classifier.batches(images, rows, device=self.device):
            own = None if labels is None else torch.from_numpy(labels[rows[done : done + len(pixels)]])
            done += len(pixels)
            yield pixels, own
            progress(done, len(rows))

    def _logits(self, batches: Iterable) -> Iterator[Activations]:
        with torch.inference_mode():
            for pixels, labels in batches:
                yield Activations(outputs=self.classifier.module(pixels).float(), labels=labels)


@dataclass(frozen=True, eq=False)
class TwoTowerModel:
    """A two-tower model with class names: nothing is trained, its texts are the head."""

    clip: Any
    texts: Texts
    classnames: tuple[str, ...]
    template: str = ""
    words: WordList | None = None
    where: str = ""
    notes: tuple[str, ...] = ()
    offers: frozenset[str] = frozenset({"logits", "features", "head", "texts", "patches"})

    @classmethod
    def of(
        cls, clip: Any, classnames: Sequence[str], template: str, words: WordList | None = None, where: str = ""
    ) -> "TwoTowerModel":
        """The model with its class names encoded; of `words` negative names are chosen, `where` is their list."""
        if not classnames:
            raise OpenworldError(
                f"{clip.name} knows no classes of its own: give in-distribution images in folders named after their "
                "classes, or --classnames FILE."
            )
        texts = detectors.encode_texts(clip, classnames, template=template)
        return cls(clip, texts, tuple(classnames), template, words, where)

    @property
    def usual(self) -> tuple[str, ...]:
        return (*TWO_TOWER, *(OF_NEGATIVE_NAMES if self.words is not None else ()))

    def with_negatives(self, chosen: Detectors, progress: Progress) -> "TwoTowerModel":
        """The model with the negative names that detectors look at."""
        if self.words is None:
            return self
        encode_names = encoder_of(self.clip, self.template)
        texts, notes = name_pools(self.texts.own, self.words, chosen.values(), encode_names, progress)
        return replace(self, texts=texts, notes=notes)

    @property
    def name(self) -> str:
        return self.clip.name

    @property
    def fingerprint(self) -> str:
        return self.clip.fingerprint

    def gather(self, chosen: Detectors, images: Images | None, progress: Progress) -> FitStatistics:
        if images is None:
            head = Head.of_texts(self.texts.own.float(), self.clip.logit_scale.detach().float())
            no_image = torch.zeros(0, self.texts.own.shape[1], device=self.clip.device)
            return detectors.gather(chosen, [Activations(no_image, head, texts=self.texts)])
        seen = self._see(images, progress, wants_patches(chosen.values()))[1]
        labels = torch.from_numpy(labels_among(images, self.classnames)) if are_labelled(images) else None
        return detectors.gather(chosen, [replace(seen, labels=labels, texts=self.texts)])

    def score(self, fitted, images: Images, progress: Progress, allow_corrupt: int = 0):
        patches = wants_patches(own.detector for own in fitted.values())
        rows, seen = self._see(images, progress, patches, allow_corrupt)
        own = {label: each for label, each in fitted.items() if not detectors.is_sequential(each.detector)}
        return ScoredImages(rows, plain_scores(detectors.score_together(own, seen)), stream_of(fitted, seen))

    def _see(self, images: ImageSet, progress: Progress, patches: bool, allow_corrupt: int = 0):
        with ScratchFolder() as scratch:  # images are encoded anew and nothing is kept
            encoding = Encoding(patches=patches)
            options = {"cache": Path(scratch), "allow_corrupt": allow_corrupt, "progress": progress}
            features = encode(self.clip, images, encoding, **options)
            seen = detectors.activations_of(self.clip, features, self.texts)
            # Classes of other images are not those of the texts, and no score may look at them; fitted detectors bring
            # texts, with the negative names of their fit.
            return np.array(features.rows), replace(seen, labels=None, texts=None)


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
                raise OpenworldError(f"{file.path} has {', '.join(table)}, expected weight [C, D] and bias [C].")
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


def stream_of(fitted: Mapping[str, FittedDetector], seen: Activations) -> Activations | None:
    """Return what detectors that look at the stream read; they read neither logits nor patches."""
    wanted = any(detectors.is_sequential(own.detector) for own in fitted.values())
    return Activations(seen.features) if wanted else None


def wants_patches(found: Iterable[Any]) -> bool:
    """Whether a detector looks at parts of images."""
    return any("patches" in detector.needs for detector in found)


def _joined(parts: Iterable[Mapping[str, torch.Tensor]]) -> dict[str, np.ndarray]:
    found: dict[str, list[np.ndarray]] = {}
    for part in parts:
        for label, values in plain_scores(part).items():
            found.setdefault(label, []).append(values)
    return {label: np.concatenate(values) for label, values in found.items()}
