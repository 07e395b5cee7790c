"""From what a person names to scores, and from these to a report and files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from openworld._arrays import require_fraction
from openworld._errors import OpenworldError, failing
from openworld._observer import SILENT, Observer
from openworld.applications.detect.reading import read_scores, scores_parquet
from openworld.applications.detect.saved import (
    BESIDE,
    LEARNER,
    SavedModel,
    choose_thresholds,
    flagged_results,
    write_saved,
)
from openworld.report.detection import LAYOUT, detection_brief, ranked
from openworld.report.report import Report
from openworld.results import Results
from openworld.results.detection_results import REPLICATES, detection_results
from openworld.results.scored_sets import ScoredSets, SetScores
from openworld.results.settings_search import SettingsSearch, search_results
from openworld.runs.atomic import write_file
from openworld.runs.outputs import DETECTED, require_folder

MOST_REPLICATES = 1_000_000
PAGES = ("ood-benchmark", "ood-detection")
"""The evaluations of what is written."""
SCORES = "scores.parquet"


@dataclass(frozen=True)
class DetectOptions:
    """How numbers are made: replicates of the bootstrap and its seed; where all is kept; the rate of thresholds."""

    replicates: int = REPLICATES
    seed: int = 0
    out: Path | None = None
    flag_rate: float | None = None  # None chooses no threshold

    def __post_init__(self) -> None:
        require_fraction(flag_rate=self.flag_rate)
        if self.replicates < 0 or self.replicates == 1:
            raise OpenworldError(f"replicates is {self.replicates}, expected 2 or more, or 0 for no bootstrap.")
        if self.replicates > MOST_REPLICATES:
            raise OpenworldError(f"replicates is {self.replicates}, expected at most {MOST_REPLICATES:,}.")


@dataclass(frozen=True)
class DetectInputs:
    """What is asked of what: scores, a model and images, or images and the folder of kept thresholds."""

    scores: Any = ""  # as `reading.read_scores` takes them
    larger_out: bool = False
    levels: int = 8  # of scores with shift degrees, as `least`
    least: int = 10
    apply: Path | None = None  # as `applying.apply_thresholds` takes it, with `images` and `at_most`
    images: Sequence[Any] = ()
    at_most: float = 0.0
    known: Any = ""  # in-distribution images, as `places.known_images` takes them; so are `train` and `validation`
    ood: Sequence[str] | Mapping[str, Any] = ()  # as `named_sets` takes them; so is `validation_ood`
    train: Any = ""
    validation: Any = ""
    validation_ood: Sequence[Any] = ()
    detectors: tuple[str, ...] = ()  # as `judging.choose_detectors` takes them
    model: Any = ""  # what is not explained here is as in `judging.ModelWish`
    member: Sequence[Any] = ()
    architecture: str = ""
    backbone: str = ""
    classnames: tuple[str, ...] = ()
    template: str = "a photo of a {}"
    negatives: str | tuple[str, ...] = ""
    learner: str = ""  # that is trained first, "NAME" or "NAME:setting=value,..."
    shots: int = 16  # of each class, 0 for all
    seed: int = 0  # of the learner's training
    root: str = ""  # of paths in lists
    allow_corrupt: int = 0  # unreadable images that may be left out of every set
    device: str = "auto"

    @property
    def question(self) -> str:
        """Which of the three questions is asked: "scores", "apply" or "images"."""
        given = {"scores": self.scores, "apply": self.apply, "images": self.known}
        asked = [name for name, value in given.items() if _is_given(value)]
        if len(asked) != 1:
            ways = "--scores FILE, --model MODEL --id IMAGES --ood GROUP=IMAGES, or --apply FOLDER IMAGES"
            raise OpenworldError(f"{'several' if asked else 'none'} of {ways} came; give one of the three.")
        if self.images and asked != ["apply"]:
            first = self.images[0]
            raise OpenworldError(f"{first} came without --apply; name in-distribution images with --id, others --ood.")
        unread = () if asked == ["images"] else OF_IMAGES if asked == ["apply"] else (*OF_THE_MODEL, *OF_IMAGES)
        for name in unread:
            if _is_given(getattr(self, name)):
                option = f"--{name.replace('_', '-')}"
                raise OpenworldError(f"{option} is of a model and images, and --{asked[0]} came; leave it out.")
        return asked[0]


OF_THE_MODEL = ("model", "member", "architecture", "backbone")
"""What says which model it is; beside --apply, where it is not the one that the thresholds name."""

OF_IMAGES = ("ood", "train", "validation", "validation_ood", "negatives", "learner", "classnames")


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, str | list | tuple | dict) and not value)


def detect_scores(inputs: DetectInputs, options: DetectOptions, observer: Observer = SILENT, made: str = "") -> Report:
    """Compare detectors by scores that were computed elsewhere."""
    require_folder("--out", options.out, own=(DETECTED,), pages=PAGES, inputs=(inputs.scores,))
    sets = read_scores(inputs.scores, larger_out=inputs.larger_out, only=inputs.detectors)
    return compare(JudgedSets(replace(sets, made={"command": made} if made else {})), options, observer)


def detect_images(inputs: DetectInputs, options: DetectOptions, observer: Observer = SILENT, made: str = "") -> Report:
    """Compare detectors of a model on images."""
    ood = inputs.ood.values() if isinstance(inputs.ood, Mapping) else [each.partition("=")[2] for each in inputs.ood]
    given = (inputs.model, *inputs.member, inputs.known, inputs.train, inputs.validation, *ood)
    require_folder("--out", options.out, own=(DETECTED,), pages=PAGES, inputs=(*given, *inputs.validation_ood))
    judged = judge(inputs, observer)
    facts = {"command": made} if made else {}
    judged = replace(judged, sets=replace(judged.sets, made=facts | judged.sets.made))
    return compare(judged, options, observer)


@dataclass(frozen=True)
class JudgedSets:
    """Scores, and unless they came alone: fitted detectors, their model, searches, and files of a learner."""

    sets: ScoredSets
    fitted: Mapping[str, Any] = field(default_factory=dict)
    model: SavedModel = SavedModel()
    searches: tuple[SettingsSearch, ...] = ()
    learner: Mapping[str, bytes] = field(default_factory=dict)


def judge(inputs: DetectInputs, observer: Observer = SILENT) -> JudgedSets:
    """Fit the detectors, search their settings where validation images are named, and score every set."""
    from openworld.applications.detect import judging
    from openworld.applications.detect.detector_words import grids_of, require_one_value
    from openworld.applications.detect.models import ClassifierModel, TwoTowerModel
    from openworld.applications.detect.named_sets import NamedSet, named_sets, validation_sets
    from openworld.applications.detect.places import benchmark_of, known_images
    from openworld.applications.detect.scoring import progress_of, score_alone, score_named
    from openworld.applications.detect.tuned import LearnerModel
    from openworld.detectors import candidates

    known = known_images(inputs.known, inputs.train, inputs.validation, inputs.root)
    others = named_sets(inputs.ood, inputs.root, benchmark_of(inputs.known))
    if not others:
        raise OpenworldError("there is no set but in-distribution images; name one with --ood near=IMAGES.")
    strange = validation_sets(inputs.validation_ood, known, others, inputs.root)
    wish = _wish(inputs)
    model = judging.find_model(wish, known, progress_of(observer, f"encoding images for {inputs.learner}"))
    chosen = judging.choose_detectors(inputs.detectors, model, known)
    if not strange:
        require_one_value(inputs.detectors)
    unserved = judging.left_out(inputs.detectors, model, known)
    tried = candidates(chosen, grids_of(inputs.detectors, chosen) if strange else {})
    warnings = (*known.notes, *(model.weaknesses(chosen) if isinstance(model, ClassifierModel) else ()))

    def score(fitted: Mapping[str, Any], named: NamedSet) -> SetScores:
        return score_alone(model, fitted, named, inputs.allow_corrupt, observer)

    with failing():
        if isinstance(model, TwoTowerModel | LearnerModel):
            model = model.with_negatives(chosen, progress_of(observer, "encoding negative names"))
        learning = progress_of(observer, "learning from training images")
        fitted, refused, notes = judging.fit_chosen(inputs.detectors, tried, model, known, learning)
        held_out = None if known.validation is None else NamedSet("validation", "id", known.validation)
        searches = ()
        if strange:
            fitted, searches, validation = _search_settings(tried, fitted, refused, held_out, strange, score)
            notes += (_search_facts(searches, validation, strange),)
        else:
            validation = None if held_out is None else score(fitted, held_out)
        named = [NamedSet("test", "id", known.test), *others]
        scored = score_named(model, fitted, named, inputs.allow_corrupt, observer)
    notes += (*getattr(model, "notes", ()), *dict.fromkeys(text for each in fitted.values() for text in each.warnings))
    lost = sum(len(each.images) - len(own) for each, own in zip(named, scored, strict=True))
    lost += 0 if validation is None else len(known.validation) - len(validation)
    notes += (f"{lost} image(s) could not be read and count nowhere.",) if lost else ()
    facts = {"model": f"{model.name}, {model.fingerprint[:16]}"}
    if isinstance(model, LearnerModel):
        facts |= dict(zip(("training", "settings"), model.facts.sentences(), strict=True))
    sets = ScoredSets(scored[0], tuple(scored[1:]), validation, facts, (*warnings, *notes, *unserved))
    files = model.fitted.files() if wish.learner else {}
    return JudgedSets(sets, fitted, _kept(inputs, model), searches, files)


def _search_settings(
    tried: Any,
    fitted: Mapping[str, Any],
    refused: Mapping[str, str],
    known: Any,
    strange: Sequence[Any],
    score: Callable[[Mapping[str, Any], Any], SetScores],
) -> tuple[dict[str, Any], tuple[SettingsSearch, ...], SetScores]:
    """Return the detectors with the settings that are worth most, what each was worth, and scores of `known`."""
    # `fitted` and `refused` are by labels of trials; `known` and `strange` are validation images.
    inside = score(fitted, known)
    outside = [score(tried.searched(fitted), each) for each in strange if tried.trials]
    groups = (inside.clusters, [each.clusters for each in outside])
    searches = tried.choose(inside.scores, [each.scores for each in outside], refused=refused, groups=groups)
    chosen = tried.chosen(fitted, searches)
    places = {search.detector: search.chosen for search in searches}
    own = {label: inside.scores[tried.labels_of(label)[places.get(label, 0)]] for label in chosen}
    return chosen, searches, replace(inside, scores=own)


def _search_facts(searches: Sequence[SettingsSearch], known: SetScores, strange: Sequence[Any]) -> str:
    """Return what the settings were searched on, as a sentence."""
    if not searches:
        return "No detector here has settings to search: the validation images out of distribution are not used."
    sets = " and ".join(f"{len(each.images):,} of {each.name}" for each in strange)
    return (
        f"Settings of {len(searches)} detector(s) were searched on {len(known):,} in-distribution validation images "
        f"and {sets}; no tested image had a say. Each image was looked at once, by all settings."
    )


def _wish(inputs: DetectInputs) -> Any:
    from openworld.applications.detect.detector_words import name_and_settings
    from openworld.applications.detect.judging import ModelWish
    from openworld.applications.detect.tuned import LearnerWish
    from openworld.backbones.devices import find_device

    learner = None
    if inputs.learner:
        learner = LearnerWish(*name_and_settings(inputs.learner), inputs.shots, inputs.seed)
    made_from = (inputs.model, inputs.architecture, inputs.template, inputs.classnames, find_device(inputs.device))
    return ModelWish(*made_from, inputs.negatives, learner, tuple(inputs.member), inputs.backbone)


def _kept(inputs: DetectInputs, model: Any) -> SavedModel:
    """What finds the model again; nothing of an object."""
    if not all(isinstance(own, str) for own in (inputs.model, *inputs.member)):
        return SavedModel()
    place = BESIDE if inputs.learner else inputs.model
    names = tuple(getattr(model, "classnames", ()))
    return SavedModel(place, inputs.architecture, tuple(inputs.member), inputs.template, names, model.fingerprint)


def compare(judged: JudgedSets, options: DetectOptions, observer: Observer = SILENT) -> Report:
    """Return the report of scores; written into `options.out` where that is a folder."""
    sets = judged.sets
    if not sets.others:
        raise OpenworldError("there is no set but in-distribution images; name one with --ood near=IMAGES.")
    observer.progress("comparing detectors", 0, 1)
    with failing():
        results = detection_results(sets, replicates=options.replicates, seed=options.seed)
    searched = tuple(search_results(judged.searches))
    results = Results(results.evaluation, (*results.rows, *searched), results.comparisons)
    observer.progress("comparing detectors", 1, 1)
    saved = None
    if options.flag_rate is not None:
        saved = choose_thresholds(sets, options.flag_rate, ranked(sets, results), judged.model)
        results = Results(results.evaluation, (*results.rows, *flagged_results(sets, saved)), results.comparisons)
    notes = {"thresholds": f"Chosen on validation images: {saved.promise}."} if saved else {}
    brief, files = detection_brief(sets, results, notes=notes), {SCORES: scores_parquet(sets)}
    report = LAYOUT.report(brief, made=sets.made, found=sets, files=files)
    if options.out is not None:
        report.write(options.out)
        for name, content in judged.learner.items():
            write_file(options.out / LEARNER / name, content)
        if saved is not None:
            kept = {label: judged.fitted[label] for label in saved.thresholds} if judged.model.model else None
            write_saved(saved, kept, options.out)
    return report


def read_names(classnames: Path | str | Sequence[str] | None) -> tuple[str, ...]:
    """Return class names that were given, or that a text file has, one a line; () for none."""
    from openworld.datasets.names.class_names import class_names

    if classnames is None:
        return ()
    return class_names(str(classnames)).names if isinstance(classnames, str | Path) else tuple(classnames)
