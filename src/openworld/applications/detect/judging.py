"""A model whose detectors are compared: a classifier, a two-tower model, or features and a head; fitted, and scores."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from openworld import detectors
from openworld._errors import OpenworldError
from openworld.applications.detect.places import FEATURE_FILES, FeatureTable, Images, KnownImages, are_labelled
from openworld.applications.images import labels_among
from openworld.applications.own_models import own_encoder, own_model
from openworld.applications.score_files import open_scores
from openworld.classifiers import Classifier, load
from openworld.classifiers.exported import ExportedModule, is_exported
from openworld.classifiers.serialization import DESCRIPTION, function_of, without_function
from openworld.datasets import ImageSet
from openworld.datasets.names.forms import readable_class_name
from openworld.detectors import Activations, FitStatistics, FittedDetector, Head
from openworld.features import Encoding, encode

Progress = Callable[[int, int], None]
Detectors = Mapping[str, Any]
LOGITS = ("MSP", "MaxLogit", "Energy", "GEN")
OF_NEGATIVE_NAMES = ("NegLabel", "CSP", "AdaNeg")
TWO_TOWER = ("MCM", "MSP", "MaxLogit", "Energy", "GEN", "KNN", "MDS")


class JudgedModel(Protocol):
    """What every kind of model offers.

    name, fingerprint: of it. offers: of `detectors.NEEDS`, what it can show. usual: names of detectors to start from.
    """

    name: str
    fingerprint: str
    offers: frozenset[str]
    usual: tuple[str, ...]

    def gather(self, chosen: Detectors, images: Images | None, progress: Progress) -> FitStatistics:
        """Gather what the detectors learn from; None for no training images."""

    def score(
        self, fitted: Mapping[str, FittedDetector], images: Images, progress: Progress, allow_corrupt: int
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Rows int64[n] of the images that can be read, and scores float64[n] by label."""


@dataclass(frozen=True)
class ModelWish:
    """The model that somebody names.

    Args:
        model: a saved classifier, an exported file, "package.module:function", a two-tower model's name, a file with
            `weight` and `bias` of a head; or such an object.
        architecture: the function that builds a saved classifier.
        template: of a two-tower model, the sentence around class names.
        classnames: of a two-tower model; () for those of the in-distribution images.
    """

    model: Any
    architecture: str = ""
    template: str = "a photo of a {}"
    classnames: tuple[str, ...] = ()
    device: str = "cpu"


def find_model(wish: ModelWish, known: KnownImages | None) -> JudgedModel:
    """Return the model.

    Args:
        known: in-distribution images, which bring the class names of a two-tower model; None where the wish has them.

    Raises:
        OpenworldError: no such model, a two-tower model without class names, features without a head.
    """
    given = wish.model
    if known is not None and isinstance(known.test, FeatureTable):
        return FeatureModel.of(given, known.test)
    if not given:
        raise OpenworldError("images need a model: --model FOLDER (a saved classifier), a file, or a name.")
    own = own_model(given, wish.classnames or None)
    if isinstance(own, str) and ((Path(own) / DESCRIPTION).is_file() or is_exported(own)):
        own = _saved(own, wish.architecture)
    if isinstance(own, Classifier):
        return ClassifierModel(own, wish.device)
    names = wish.classnames or _names(known)
    return TwoTowerModel.of(own_encoder(own, wish.device), names, wish.template)


def choose_detectors(words: Sequence[str], model: JudgedModel, known: KnownImages) -> dict[str, Any]:
    """Return detectors by label: "NAME", "NAME:setting=value,...", "profile:NAME", or "all" that the model can serve.

    Without words those that are usual for the model, less what learns where there are no training images.

    Raises:
        OpenworldError: an unknown detector, profile or setting; one that the model or the images cannot serve.
    """
    if not words:
        return _able({name: detectors.find_detector(name)() for name in model.usual}, model, known)
    chosen: dict[str, Any] = {}
    for word in words:
        if word == "all":
            chosen |= _able({name: kind() for name, kind in detectors.all_detectors().items()}, model, known)
        elif word.startswith("profile:"):
            chosen |= _able(detectors.profile(word.removeprefix("profile:")), model, known)
        else:
            chosen[word] = _built(word)
            if reason := _lacking(chosen[word], model, known):
                raise OpenworldError(f"{word} {reason}.")
    return chosen


def fit_chosen(
    words: Sequence[str], chosen: Detectors, model: JudgedModel, known: KnownImages, progress: Progress
) -> tuple[dict[str, FittedDetector], tuple[str, ...]]:
    """Return fitted detectors, and sentences on those that were left out and on training images.

    Args:
        words: what somebody named: such a detector is never left out.

    Raises:
        OpenworldError: a detector that was named, or none at all, can learn from the training images.
    """
    fitted, refused = model.gather(chosen, known.train, progress).fit_able()
    for label, reason in refused.items():
        if label in words or not fitted:
            raise OpenworldError(f"{label}: {reason}")
    left_out = [f"{label} is left out: {reason}" for label, reason in refused.items()]
    concerns = dict.fromkeys(warning for each in fitted.values() for warning in each.warnings)
    return fitted, (*left_out, *concerns)


def _built(word: str) -> Any:
    """A detector of its name and settings."""
    from openworld.runs import read_spec

    name, _, settings = word.partition(":")
    pairs = [setting.partition("=")[::2] for setting in settings.split(",") if setting]
    return read_spec({key.strip(): _number(value.strip()) for key, value in pairs}, detectors.find_detector(name))


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False, "none": None}.get(text.casefold(), text)


def _able(found: Mapping[str, Any], model: JudgedModel, known: KnownImages) -> dict[str, Any]:
    able = {name: detector for name, detector in found.items() if not _lacking(detector, model, known)}
    if not able:
        raise OpenworldError(f"none of {', '.join(found)} can be used with {model.name}; name one with --detector.")
    return able


def _lacking(detector: Any, model: JudgedModel, known: KnownImages) -> str:
    """Why a detector cannot be used; "" where it can."""
    lacking = [need for need in detector.needs if need not in model.offers and need not in ("labels", "bank")]
    if lacking:
        return f"needs {detectors.NEEDS[lacking[0]]}, which {model.name} does not show"
    if detector.name in OF_NEGATIVE_NAMES:
        return "needs names of what the classes are not; use it in a spec of ood-detection"
    if detector.gathers and known.train is None:
        return "learns from training images; give them with --train, or as a part train of --id"
    if "labels" in detector.needs and not are_labelled(known.train):
        return "learns from labels; give training images in folders named after their classes"
    if known.train is not None:
        try:
            detectors.require_images({detector.name: detector}, len(known.train))
        except OpenworldError as error:
            return f"cannot learn from these images: {str(error).removesuffix('.')}"
    return ""


@dataclass(frozen=True, eq=False)
class ClassifierModel:
    """A classifier, watched while it looks at images."""

    classifier: Classifier
    device: str

    def __post_init__(self) -> None:
        self.classifier.module.to(self.device)
        side = self.classifier.side
        shown = None
        if not isinstance(self.classifier.module, ExportedModule):
            blank = torch.zeros(2, 3, side, side, device=self.device)
            shown = detectors.watch(self.classifier.module, blank, pixel_std=self.classifier.preprocess.std)
        object.__setattr__(self, "watched", shown)

    @property
    def name(self) -> str:
        return self.classifier.architecture

    @property
    def fingerprint(self) -> str:
        return self.classifier.fingerprint

    @property
    def offers(self) -> frozenset[str]:
        if self.watched is None:
            return frozenset({"logits"})
        return frozenset({"logits", "features", "head", "gradient"} | ({"maps"} if self.watched.last_stage else set()))

    @property
    def usual(self) -> tuple[str, ...]:
        return LOGITS if self.watched is None else tuple(detectors.profile(self.watched.family))

    def weaknesses(self, chosen: Detectors) -> tuple[str, ...]:
        """Sentences on detectors that are known to fail on such models."""
        return () if self.watched is None else detectors.plan(chosen, self.watched).warnings

    def gather(self, chosen: Detectors, images: Images | None, progress: Progress) -> FitStatistics:
        labels = self._labels(images) if images is not None and are_labelled(images) else None
        batches = () if images is None else self._batches(images, np.arange(len(images)), progress, labels)
        if self.watched is None:
            return detectors.gather(chosen, self._logits(batches))
        return detectors.plan(chosen, self.watched).gather(batches)

    def score(self, fitted, images: Images, progress: Progress, allow_corrupt: int = 0):
        rows = readable(images, allow_corrupt)
        batches = self._batches(images, rows, progress)
        if self.watched is None:
            return rows, _joined(detectors.score_together(fitted, part) for part in self._logits(batches))
        route = detectors.plan({label: own.detector for label, own in fitted.items()}, self.watched)
        return rows, _plain(route.score(fitted, batches))

    def _labels(self, images: ImageSet) -> np.ndarray:
        names = tuple(map(readable_class_name, self.classifier.classnames))
        numbered = all(name.startswith("class ") for name in images.classnames)
        return images.labels if numbered else labels_among(images, names)

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
    texts: Any
    classnames: tuple[str, ...]
    usual: tuple[str, ...] = TWO_TOWER
    offers: frozenset[str] = frozenset({"logits", "features", "head", "texts", "patches"})

    @classmethod
    def of(cls, clip: Any, classnames: Sequence[str], template: str) -> "TwoTowerModel":
        """The model with its class names encoded."""
        if not classnames:
            raise OpenworldError(
                f"{clip.name} knows no classes of its own: give in-distribution images in folders named after their "
                "classes, or --classnames FILE."
            )
        return cls(clip, detectors.encode_texts(clip, classnames, template=template), tuple(classnames))

    @property
    def name(self) -> str:
        return self.clip.name

    @property
    def fingerprint(self) -> str:
        return self.clip.fingerprint

    def gather(self, chosen: Detectors, images: Images | None, progress: Progress) -> FitStatistics:
        if images is None:
            return detectors.gather(chosen, [self._blank()])
        labelled = are_labelled(images)
        seen = self._see(images, progress, _wants_patches(chosen.values()))[1]
        labels = torch.from_numpy(labels_among(images, self.classnames)) if labelled else None
        return detectors.gather(chosen, [replace(seen, labels=labels)])

    def score(self, fitted, images: Images, progress: Progress, allow_corrupt: int = 0):
        patches = _wants_patches(own.detector for own in fitted.values())
        rows, seen = self._see(images, progress, patches, allow_corrupt)
        return rows, _plain(detectors.score_together(fitted, seen))

    def _see(self, images: ImageSet, progress: Progress, patches: bool, allow_corrupt: int = 0):
        with tempfile.TemporaryDirectory() as scratch:  # images are encoded anew and nothing is kept
            encoding = Encoding(patches=patches)
            options = {"cache": Path(scratch), "allow_corrupt": allow_corrupt, "progress": progress}
            features = encode(self.clip, images, encoding, **options)
            # Classes of other images are not those of the texts, and no score may look at them.
            return np.array(features.rows), replace(
                detectors.activations_of(self.clip, features, self.texts), labels=None
            )

    def _blank(self) -> Activations:
        """No image, but head and texts."""
        width = self.texts.own.shape[1]
        head = Head.of_texts(self.texts.own.float(), self.clip.logit_scale.detach().float())
        return Activations(torch.zeros(0, width, device=self.clip.device), head, texts=self.texts)


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
        logits = LOGITS if "logits" in self.offers else ()
        return (*logits, *(("KNN", "MDS", "RMDS") if "features" in self.offers else ()))

    def gather(self, chosen: Detectors, images: Images | None, progress: Progress) -> FitStatistics:
        seen = Activations(head=self.head) if images is None else self._see(images, learn=True)
        return detectors.gather(chosen, [seen])

    def score(self, fitted, images: Images, progress: Progress, allow_corrupt: int = 0):
        scores = _plain(detectors.score_together(fitted, self._see(images)))
        return np.arange(len(images)), scores

    def _see(self, images: Images, learn: bool = False) -> Activations:
        if not isinstance(images, FeatureTable):
            raise OpenworldError(f"{images.name} are images; where the others are features, give features of them too.")
        columns = images.columns
        parts = {own: torch.from_numpy(columns[name]) for name, own in (("features", "features"), ("logits", "outputs"))
                 if name in columns}  # fmt: skip
        labels = torch.from_numpy(columns["labels"]) if learn and "labels" in columns else None
        return Activations(**parts, head=self.head, labels=labels)


def readable(images: ImageSet, allow_corrupt: int) -> np.ndarray:
    """Return which images can be read, int64[n]; all, unread, where none may be left out.

    Raises:
        OpenworldError: more that cannot be read than are allowed.
    """
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


def _saved(place: str, architecture: str) -> Classifier:
    function = function_of(place)
    if function and not architecture:
        raise without_function(place, function, "--architecture {}")
    return load(place, architecture=architecture or None)


def _names(known: KnownImages | None) -> tuple[str, ...]:
    images = None if known is None else next(
        (own for own in (known.train, known.test) if isinstance(own, ImageSet) and are_labelled(own)), None
    )  # fmt: skip
    return () if images is None else images.classnames


def _wants_patches(found: Iterable[Any]) -> bool:
    return any("patches" in detector.needs for detector in found)


def _plain(scores: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
    return {label: values.double().cpu().numpy() for label, values in scores.items()}


def _joined(parts: Iterable[Mapping[str, torch.Tensor]]) -> dict[str, np.ndarray]:
    found: dict[str, list[np.ndarray]] = {}
    for part in parts:
        for label, values in _plain(part).items():
            found.setdefault(label, []).append(values)
    return {label: np.concatenate(values) for label, values in found.items()}
