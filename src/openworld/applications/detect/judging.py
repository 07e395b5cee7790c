"""From what somebody names to a model and its detectors, fitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from openworld import detectors
from openworld._errors import OpenworldError
from openworld.applications.detect.detector_words import name_and_settings, words_by_label
from openworld.applications.detect.models import (
    ClassifierModel,
    FeatureModel,
    JudgedModel,
    Progress,
    TwoTowerModel,
    unheard,
)
from openworld.applications.detect.places import FeatureTable, KnownImages, are_labelled
from openworld.applications.detect.saved import SavedModel
from openworld.applications.detect.tuned import LearnerModel, LearnerWish, facts_of, tune
from openworld.applications.own_models import own_encoder, own_model
from openworld.backbones.names_in_files import require_data
from openworld.classifiers import Classifier, from_checkpoint, load
from openworld.classifiers.checkpoints import is_checkpoint, named_after
from openworld.classifiers.serialization import function_of, is_classifier, is_foreign, without_function
from openworld.datasets import ImageSet
from openworld.datasets.names.word_lists import WordList, word_list
from openworld.detectors import DetectorCandidates, FittedDetector
from openworld.detectors.engine.name_pools import OF_NEGATIVE_NAMES, require_words
from openworld.learners import FittedLearner
from openworld.learners import load as load_learner
from openworld.learners.engine.saved_folders import backbone_of, holds_learner, saved_folder


@dataclass(frozen=True)
class ModelWish:
    """The model that somebody names, and what it needs; it may be an object."""

    model: Any
    architecture: str = ""  # builds a saved classifier or a state dict
    template: str = "a photo of a {}"  # of a two-tower model
    classnames: tuple[str, ...] = ()  # () for those of the images
    device: str = "cpu"
    negatives: str | Sequence[str] = ""  # "wordnet", a folder, a file or words
    learner: LearnerWish | None = None
    members: Sequence[Any] = ()
    backbone: str = ""  # of a saved learner


def find_model(wish: ModelWish, known: KnownImages | None, progress: Progress = unheard) -> JudgedModel:
    """Return the model; `known` images bring class names, and train a learner, whose encoding `progress` hears of."""
    given = wish.model
    if known is not None and isinstance(known.test, FeatureTable):
        return FeatureModel.of(given, known.test)
    if not given:
        raise OpenworldError("images need a model: --model FOLDER (a saved classifier), a file, or a name.")
    words, where = words_of(wish.negatives)
    if isinstance(given, FittedLearner) or (isinstance(given, str) and holds_learner(given)):
        if wish.learner:
            raise OpenworldError(f"{given} is a tuned learner already; leave --learner out, or name a backbone.")
        if isinstance(given, FittedLearner):
            return _with_words(LearnerModel(given, facts_of(given)), words, where)
        backbone = wish.backbone or backbone_of(given, "--backbone {}")
        fitted = load_learner(saved_folder(given), own_encoder(backbone, wish.device))
        return _with_words(LearnerModel(fitted, facts_of(fitted, saved=given)), words, where)
    images = () if known is None else (known.train, known.test)
    labelled = (own for own in images if isinstance(own, ImageSet) and are_labelled(own))
    names = wish.classnames or next((own.classnames for own in labelled), ())
    own = _own(given, wish, names)
    if wish.members and not isinstance(own, Classifier):
        raise OpenworldError("members are classifiers beside a classifier; leave --member out, or give one as --model.")
    if isinstance(own, Classifier):
        if words is not None or wish.learner:
            option = "--learner" if wish.learner else "--negatives"
            raise OpenworldError(f"{own.architecture} is a classifier, which compares no names: leave {option} out.")
        members = tuple(_own(member, wish, names) for member in wish.members)
        strange = next((member for member in members if not isinstance(member, Classifier)), None)
        if strange is not None:
            raise OpenworldError(f"the member {strange} is no classifier; give networks of the same classes.")
        return ClassifierModel(own, wish.device, members)
    clip = own_encoder(own, wish.device)
    if wish.learner:
        fitted, facts = tune(wish.learner, clip, known and known.train, wish.classnames, progress)
        return _with_words(LearnerModel(fitted, facts), words, where)
    words = words and words.without(names)
    return TwoTowerModel.of(clip, names, wish.template, words, where)


def _own(given: Any, wish: ModelWish, names: Sequence[str]) -> Any:
    """Return a classifier where something names one or is one, else what `own_model` makes of it."""
    own = own_model(given, wish.classnames or None)
    if isinstance(own, str) and is_checkpoint(own):
        own = named_after(from_checkpoint(own, wish.architecture, wish.classnames or None), names)
    if not (isinstance(own, str) and is_classifier(own)):
        return own
    function = function_of(own)
    if function and not wish.architecture:
        raise without_function(own, function, "--architecture {}")
    return load(own, architecture=wish.architecture or None)


def wish_of(saved: SavedModel, given: ModelWish, where: Path) -> ModelWish:
    """Return the model that thresholds name; code, and what would be fetched, must be given beside their file."""
    named = (saved.model, *saved.members)
    say = ("--model {}", f"--member {' --member '.join(saved.members)}")
    for place, name in enumerate(named):
        if not (given.members if place else given.model):
            own = Path(name).exists() and (holds_learner(name) or is_classifier(name))
            require_data(name, where, say[min(place, 1)], is_read=own)
    architecture = given.architecture or saved.architecture
    if architecture and not given.architecture and is_foreign(architecture):
        raise without_function(f"{where}: {saved.model}", architecture, "--architecture {}")
    return replace(
        given,
        model=given.model or saved.model,
        architecture=architecture,
        members=given.members or saved.members,
        template=saved.template,
        classnames=saved.classnames,
    )


def words_of(negatives: str | Sequence[str]) -> tuple[WordList | None, str]:
    """Return a list of words, None for none, and what it is called."""
    if isinstance(negatives, str):
        return (word_list(negatives), negatives) if negatives else (None, "")
    words = tuple(dict.fromkeys(negatives))
    return (WordList(words), "the words that were given") if words else (None, "")


def _with_words(model: LearnerModel, words: WordList | None, where: str) -> LearnerModel:
    return replace(model, words=words and words.without(model.classnames), where=where)


def choose_detectors(words: Sequence[str], model: JudgedModel, known: KnownImages) -> dict[str, Any]:
    """Return detectors by label; those that are usual for the model where no word names any."""
    # A word is "NAME", "NAME:setting=value,...", "profile:NAME", or "all" that the model can serve; of several values,
    # "KNN:k=5/20/50", the first counts here, and `grids_of` gives the others.
    if not words:
        return _able({name: detectors.find_detector(name)() for name in model.usual}, model, known)
    chosen: dict[str, Any] = {}
    for label, word in words_by_label(words).items():
        if word == "all":
            chosen |= _able({name: kind() for name, kind in detectors.all_detectors().items()}, model, known)
        elif word.startswith("profile:"):
            chosen |= _able(detectors.profile(word.removeprefix("profile:")), model, known)
        else:
            chosen[label] = detectors.make_detector(*name_and_settings(word))
            if reason := _lacking(chosen[label], model, known):
                raise OpenworldError(f"{word} {reason}.")
    return chosen


def left_out(words: Sequence[str], model: JudgedModel, known: KnownImages) -> tuple[str, ...]:
    """Return sentences on the detectors that "all" leaves out, those of one reason together."""
    reasons: dict[str, list[str]] = {}
    for name, kind in detectors.all_detectors().items() if "all" in words else ():
        if reason := _lacking(kind(), model, known):
            reasons.setdefault(reason, []).append(name)
    return tuple(f"Left out: {', '.join(names)}: {reason}." for reason, names in reasons.items())


def fit_chosen(
    words: Sequence[str], tried: DetectorCandidates, model: JudgedModel, known: KnownImages, progress: Progress
) -> tuple[dict[str, FittedDetector], dict[str, str], tuple[str, ...]]:
    """Return fitted detectors, why others cannot learn, and sentences on these; what `words` name is never left out."""
    learning = any(detector.gathers for detector in tried.given.values())
    fitted, refused = model.gather(tried.detectors, known.train if learning else None, progress).fit_able()
    unable = tried.unable(refused)
    for label, reason in unable.items():
        if label in words_by_label(words) or not fitted:
            raise OpenworldError(reason if reason.startswith(label) else f"{label}: {reason}")
    return fitted, refused, tuple(f"{label} is left out: {reason}" for label, reason in unable.items())


def _able(found: Mapping[str, Any], model: JudgedModel, known: KnownImages) -> dict[str, Any]:
    able = {name: detector for name, detector in found.items() if not _lacking(detector, model, known)}
    if not able:
        raise OpenworldError(f"none of {', '.join(found)} can be used with {model.name}; name one with --detector.")
    return able


def _lacking(detector: Any, model: JudgedModel, known: KnownImages) -> str:
    """Why a detector cannot be used; "" where it can."""
    detector = model.as_read(detector) if isinstance(model, LearnerModel) else detector
    lacking = [need for need in detector.needs if need not in model.offers and need not in ("labels", "bank")]
    if lacking:
        return f"needs {detectors.NEEDS[lacking[0]]}, which {model.name} does not show"
    if isinstance(model, ClassifierModel) and (reason := model.lacks_samples(detector)):
        return reason
    if detector.name in OF_NEGATIVE_NAMES:
        try:
            require_words(detector, model.words, model.where, f"{detector.name}:groups")
        except OpenworldError as error:
            return str(error).removeprefix(f"{detector.name} ").removesuffix(".")
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
