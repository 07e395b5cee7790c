"""From what somebody names to a model, and to the detectors that it can serve.

Detectors are words, "NAME:setting=value,other=value/value": a name, its settings, and candidates of those that are to
be searched; "profile:NAME"; or "all".
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from openworld import detectors
from openworld.backbones.devices import find_device
from openworld.backbones.published_files import require_data
from openworld.classifiers import Classifier
from openworld.classifiers.checkpoints import is_checkpoint, named_after
from openworld.classifiers.serialization import is_classifier, is_foreign, without_function
from openworld.core.errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.word_lists import WordList, word_list
from openworld.datasets.splits import few_shot
from openworld.detectors import published_grid
from openworld.detectors.engine.texts import OF_NEGATIVE_NAMES, require_words
from openworld.learners import FittedLearner, configure, find_learner
from openworld.learners.engine.fitted import holds_learner
from openworld.learners.engine.requirements import require_able
from openworld.ood.detect.places import KnownImages
from openworld.ood.feature_model import FeatureModel, columns_of
from openworld.ood.judged_models import training_facts, tune
from openworld.ood.model_entries import DetectorSpec
from openworld.ood.models import ClassifierModel, JudgedModel, Progress, are_labelled, unheard
from openworld.ood.thresholds import BESIDE, LEARNER, SavedModel
from openworld.ood.tower_model import TowerModel
from openworld.own_data.models import find_model, require_building
from openworld.report.learner_facts import LearnerFacts
from openworld.runs import to_json
from openworld.runs.scratch import ScratchFolder

VIEWS = 8  # of every image that a learner is trained on


def names_of(classnames: Path | str | Sequence[str] | None) -> tuple[str, ...]:
    """Return class names that were given, or that a text file has, one a line; () for none."""
    if classnames is None:
        return ()
    return class_names(str(classnames)).names if isinstance(classnames, str | Path) else tuple(classnames)


@dataclass(frozen=True)
class GivenModel:
    """The model that somebody names, which may be an object, and what it needs.

    Args:
        architecture: builds a saved classifier or a state dict. backbone: of a saved learner.
        classnames: () for those of the images. template: of a two-tower model.
        negatives: "wordnet", a folder, a file or words.
        learner: that is trained first, "NAME" or "NAME:setting=value,..."; with `shots` of each class, 0 for all.
    """

    model: Any
    architecture: str = ""
    members: tuple[Any, ...] = ()
    template: str = "a photo of a {}"
    classnames: tuple[str, ...] = ()
    backbone: str = ""
    negatives: str | Sequence[str] = ""
    learner: str = ""
    shots: int = 16
    seed: int = 0
    device: str = "auto"

    def find(self, known: KnownImages, progress: Progress = unheard) -> JudgedModel:
        """Return the model; `known` images bring class names, and train a learner."""
        if known and columns_of(known["test"]) is not None:
            return FeatureModel.of(self.model, known["test"])
        if isinstance(self.model, str | Path) and not str(self.model):
            raise OpenworldError("images need a model: --model FOLDER (a saved classifier), a file, or a name.")
        images = (known[part] for part in ("train", "test") if part in known)
        names = self.classnames or next((each.classnames for each in images if are_labelled(each)), ())
        if self.architecture:
            require_building([self.architecture], [self.model, *self.members])
        found, device = self._found(self.model, names), find_device(self.device)
        if self.members and not isinstance(found, Classifier):
            raise OpenworldError(
                "members are classifiers beside a classifier; leave --member out, or give one as --model."
            )
        if isinstance(found, Classifier):
            if self.negatives or self.learner:
                option = "--learner" if self.learner else "--negatives"
                raise OpenworldError(
                    f"{found.architecture} is a classifier, which compares no names: leave {option} out."
                )
            members = tuple(self._found(member, names) for member in self.members)
            for word, member in zip(self.members, members, strict=True):
                if not isinstance(member, Classifier):
                    raise OpenworldError(f"the member {word} is no classifier; give networks of the same classes.")
            return ClassifierModel(found, device, members, progress)
        if isinstance(found, FittedLearner):
            if self.learner:
                raise OpenworldError(
                    f"{self.model} is a tuned learner already; leave --learner out, or name a backbone."
                )
            place = {"saved": self.model} if isinstance(self.model, str) else {}
            facts = training_facts(found, found.clip.name, **place)
        elif self.learner:
            found, facts = self._tuned(found, known.get("train"), progress)
        else:
            names = names or getattr(found, "classnames", ())  # of class embeddings
            return TowerModel(found, tuple(names), self.template, *self._words(names), progress=progress)
        words, where = self._words(found.classnames)
        return TowerModel(found.clip, found.classnames, "", words, where, found, facts, progress=progress)

    def saved(self, model: JudgedModel) -> SavedModel:
        """Return what finds the model again; nothing of an object."""
        if not all(isinstance(member, str) for member in (self.model, *self.members)):
            return SavedModel()
        place = BESIDE if self.learner else self.model
        return SavedModel(
            place, self.architecture, self.members, self.template, tuple(model.classnames), model.fingerprint
        )

    def of_saved(self, saved: SavedModel, file: Path) -> "GivenModel":
        """Return the model that thresholds name; code, and what would be fetched, must be given beside their file."""
        given = self
        if saved.model == BESIDE and not given.model:
            given = replace(given, model=str(file.parent / LEARNER))
            saved = replace(saved, model=given.model)
        say = ("--model {}", f"--member {' --member '.join(saved.members)}")
        for place, name in enumerate((saved.model, *saved.members)):
            if not (given.members if place else given.model):
                is_model = Path(name).exists() and (holds_learner(name) or is_classifier(name))
                require_data(name, file, say[min(place, 1)], is_read=is_model)
        architecture = given.architecture or saved.architecture
        if architecture and not given.architecture and is_foreign(architecture):
            raise without_function(f"{file}: {saved.model}", architecture, "--architecture {}")
        return replace(
            given,
            model=given.model or saved.model,
            architecture=architecture,
            members=given.members or saved.members,
            template=saved.template,
            classnames=saved.classnames,
        )

    def _found(self, given: Any, names: Sequence[str]) -> Any:
        """Return the model that somebody names or has; a state dict without names has those of the images."""
        architectures = [self.architecture] if self.architecture else []
        own = self.classnames or None
        how = {"device": find_device(self.device), "architectures": architectures, "backbone": self.backbone}
        model = find_model(given, own, **how)
        lacks_names = isinstance(model, Classifier) and isinstance(given, str | Path) and is_checkpoint(given)
        return named_after(model, names) if lacks_names else model

    def _words(self, names: Sequence[str]) -> tuple[WordList | None, str]:
        """Return the words of which negative names are chosen, None for none, and what their list is called."""
        if not self.negatives:
            return None, ""
        if isinstance(self.negatives, str):
            return word_list(self.negatives).without(names), self.negatives
        return WordList(tuple(dict.fromkeys(self.negatives))).without(names), "the words that were given"

    def _tuned(self, clip: Any, images: ImageSet | None, progress: Progress) -> tuple[FittedLearner, LearnerFacts]:
        """Return a learner trained on labelled in-distribution images, and how it came to be."""
        name, settings = name_and_settings(self.learner)
        learner = configure(find_learner(name), settings, getattr(images, "name", ""), "ood")
        require_able(clip, learner)
        if images is None or not are_labelled(images) or columns_of(images) is not None:
            raise OpenworldError(
                f"{name} is trained on labelled images: give --train, or a part train of --id, in folders named after "
                "their classes; or give the folder of a saved learner as --model."
            )
        if self.classnames and len(self.classnames) != len(images.classnames):
            raise OpenworldError(
                f"{images.name} has {len(images.classnames)} classes, and {len(self.classnames)} class names came; "
                "give a name for each, in the order of their numbers."
            )
        shown = replace(images, classnames=self.classnames or images.classnames)
        if self.shots:
            shown = shown.subset(few_shot(shown.labels, self.shots, random.Random(self.seed)))

        def heard(done: int, count: int) -> None:
            progress(f"encoding images for {self.learner}", done, count)

        with ScratchFolder() as scratch:
            how = {"cache": Path(scratch), "progress": heard}
            fitted = tune(learner, clip, shown, of=images.name, views=VIEWS, seed=self.seed, **how)
        return fitted, training_facts(fitted, fitted.clip.name, seed=self.seed, images=len(shown), views=VIEWS)


def choose_detectors(
    words: Sequence[str], model: JudgedModel, known: KnownImages, *, search: bool
) -> tuple[tuple[DetectorSpec, ...], tuple[str, ...]]:
    """Return detectors as a spec lists them, and sentences on those that "all" leaves out.

    Without words they are those that are usual for the model. What no word names is left out where it cannot serve, or
    learn; several values of a setting, "KNN:k=5/20/50", are candidates of a search.
    """
    entries: dict[str, DetectorSpec] = {}
    reasons: dict[str, list[str]] = {}
    for label, word in (words_by_label(words) or {"": ""}).items():
        if word and word != "all" and not word.startswith("profile:"):
            given = _settings(word)
            choose = {setting: values for setting, values in given.items() if len(values) > 1}
            if choose and not search:
                setting, values = next(iter(choose.items()))
                raise OpenworldError(
                    f"{word} has {len(values)} values of {setting}; say with --validation-ood, or name one."
                )
            settings = {setting: values[0] for setting, values in given.items() if len(values) == 1}
            entries[label] = DetectorSpec(word.partition(":")[0], label, settings, choose or None)
            if reason := _lacking(detectors.make_detector(*name_and_settings(word)), model, known):
                raise OpenworldError(f"{word} {reason}.")
            continue
        if word == "all":
            every = {name: kind() for name, kind in detectors.all_detectors().items()}
        elif word:
            every = detectors.profile(word.removeprefix("profile:"))
        else:
            every = {name: detectors.find_detector(name)() for name in model.usual}
        lacking = {name: _lacking(detector, model, known) for name, detector in every.items()}
        if all(lacking.values()):
            raise OpenworldError(f"none of {', '.join(every)} can be used with {model.name}; name one with --detector.")
        for name, reason in lacking.items():
            if not reason and name not in entries:
                detector, usual = every[name], to_json(type(every[name])())
                settings = {key: value for key, value in to_json(detector).items() if value != usual[key]}
                grid = published_grid(detector) if search and settings else {}
                entries[name] = DetectorSpec(detector.name, name, settings, grid or None, optional=True)
            elif word == "all":
                reasons.setdefault(reason, []).append(name)
    left_out = (f"Left out: {', '.join(names)}: {reason}." for reason, names in reasons.items())
    return tuple(entries.values()), tuple(left_out)


def _lacking(detector: Any, model: JudgedModel, known: KnownImages) -> str:
    """Why a detector cannot be used; "" where it can."""
    if reason := model.lacks(detector):
        return reason
    if detector.name in OF_NEGATIVE_NAMES and isinstance(model, TowerModel):
        try:
            require_words(detector, model.words, model.where, f"{detector.name}:groups")
        except OpenworldError as error:
            return str(error).removeprefix(f"{detector.name} ").removesuffix(".")
    train = known.get("train")
    if train is None:
        lacking = "learns from training images; give them with --train, or as a part train of --id"
        return lacking if detector.gathers else ""
    if "labels" in detector.needs and not are_labelled(train):
        return "learns from labels; give training images in folders named after their classes"
    try:
        detectors.require_images({detector.name: detector}, len(train))
    except OpenworldError as error:
        return f"cannot learn from these images: {str(error).removesuffix('.')}"
    return ""


def name_and_settings(word: str) -> tuple[str, dict[str, Any]]:
    """Return the parts of "NAME:setting=value,...", of several values the first: "KNN:k=20/50" has {"k": 20}."""
    return word.partition(":")[0], {setting: values[0] for setting, values in _settings(word).items()}


def words_by_label(words: Sequence[str]) -> dict[str, str]:
    """Return words by what tables call them: themselves without settings of several values, "KNN" of "KNN:k=5/20"."""
    labelled: dict[str, str] = {}
    for word in words:
        name, _, settings = word.partition(":")
        short = ":".join(filter(None, (name, ",".join(each for each in settings.split(",") if "/" not in each))))
        labelled[word if short in (*labelled, *words) else short] = word
    return labelled


def _settings(word: str) -> dict[str, tuple]:
    pairs = [setting.partition("=") for setting in word.partition(":")[2].split(",") if setting]
    for setting, equals, _ in pairs:
        if not equals:
            raise OpenworldError(f"{word} has {setting!r} for a setting, expected setting=value, as KNN:k=20.")
    return {key.strip(): tuple(_value(value.strip()) for value in values.split("/")) for key, _, values in pairs}


def _value(text: str) -> Any:
    """A value as it is written: a number, true, false, none, or a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False, "none": None}.get(text.casefold(), text)
