"""From what a person names to scores, and from these to a report and files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError, failing
from openworld._observer import SILENT, Observer
from openworld.applications.detect.applying import image_names
from openworld.applications.detect.reading import read_scores, scores_parquet
from openworld.applications.detect.report import SCORES, detection_report
from openworld.applications.detect.saved import choose_thresholds, flagged_results, write_saved
from openworld.report.command_report import CommandReport
from openworld.report.detection import ranked
from openworld.results import Results
from openworld.results.scored_sets import REPLICATES, ScoredSets, SetScores, detection_results
from openworld.results.settings_search import SettingsSearch, search_results


@dataclass(frozen=True)
class DetectOptions:
    """How numbers are made.

    Args:
        replicates: of the bootstrap that gives FPR and AUPR their intervals; 0 for none.
        seed: of the bootstrap.
        out: folder of page, numbers and scores; None to keep nothing.
        flag_rate: share of in-distribution images that may be flagged; None to choose no threshold.
    """

    replicates: int = REPLICATES
    seed: int = 0
    out: Path | None = None
    flag_rate: float | None = None

    def __post_init__(self) -> None:
        if self.replicates < 0 or self.replicates == 1:
            raise OpenworldError(f"replicates is {self.replicates}, expected 2 or more, or 0 for no bootstrap.")
        if self.out is not None and ((self.out / "run.json").exists() or (self.out.exists() and not self.out.is_dir())):
            raise OpenworldError(f"--out {self.out} holds a run, or is a file; give another folder.")


@dataclass(frozen=True)
class DetectInputs:
    """A model and images, as they are named.

    Args:
        model, architecture, classnames, template, device: as `judging.ModelWish` has them.
        known, train, validation: in-distribution images, as `places.known_images` takes them.
        ood: sets, as `places.named_sets` takes them.
        validation_ood: images out of distribution on which settings are searched; none for no search.
        detectors: as `judging.choose_detectors` takes them.
        root: of paths in lists. allow_corrupt: unreadable images that may be left out of every set.
    """

    known: Any
    ood: Sequence[str] | Mapping[str, Any]
    model: Any = ""
    architecture: str = ""
    classnames: tuple[str, ...] = ()
    template: str = "a photo of a {}"
    train: Any = ""
    validation: Any = ""
    validation_ood: Sequence[Any] = ()
    detectors: tuple[str, ...] = ()
    root: str = ""
    allow_corrupt: int = 0
    device: str = "auto"


def detect_scores(
    scores: Any,
    *,
    larger_out: bool = False,
    detector: Sequence[str] = (),
    options: DetectOptions | None = None,
    observer: Observer = SILENT,
    made: str = "",
) -> CommandReport:
    """Compare detectors by scores that were computed elsewhere.

    Args:
        scores: a file, or columns, as `read_scores` takes them.

    Raises:
        OpenworldError: scores that will not do, as the message says.
    """
    sets = read_scores(scores, larger_out=larger_out, only=detector)
    sets = replace(sets, made={"command": made} if made else {})
    return compare(JudgedSets(sets), options or DetectOptions(), observer)


def detect_images(
    inputs: DetectInputs, *, options: DetectOptions | None = None, observer: Observer = SILENT, made: str = ""
) -> CommandReport:
    """Compare detectors of a model on images.

    Raises:
        OpenworldError: a model or images that will not do, as the message says.
    """
    options = options or DetectOptions()
    judged = judge(inputs, observer)
    facts = {"command": made} if made else {}
    judged = replace(judged, sets=replace(judged.sets, made=facts | judged.sets.made))
    return compare(judged, options, observer)


@dataclass(frozen=True)
class JudgedSets:
    """Scores, the fitted detectors and model that gave them, and which of their settings were searched.

    Without all but the scores where these came alone.
    """

    sets: ScoredSets
    fitted: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    searches: tuple[SettingsSearch, ...] = ()


def judge(inputs: DetectInputs, observer: Observer = SILENT) -> JudgedSets:
    """Fit the detectors, search their settings where validation images are named, and score every set."""
    from openworld.applications.detect import judging
    from openworld.applications.detect.benchmarks import benchmark_of
    from openworld.applications.detect.models import ClassifierModel
    from openworld.applications.detect.places import NamedSet, known_images, named_sets, validation_sets
    from openworld.applications.detect.searching import search_facts, search_settings
    from openworld.backbones.devices import find_device
    from openworld.detectors import candidates

    known = known_images(inputs.known, inputs.train, inputs.validation, inputs.root)
    others = named_sets(inputs.ood, inputs.root, benchmark_of(inputs.known))
    if not others:
        raise OpenworldError("there is no set but in-distribution images; name one with --ood near=IMAGES.")
    strange = validation_sets(inputs.validation_ood, known, others, inputs.root)
    device = find_device(inputs.device)
    wish = judging.ModelWish(inputs.model, inputs.architecture, inputs.template, inputs.classnames, device)
    model = judging.find_model(wish, known)
    chosen = judging.choose_detectors(inputs.detectors, model, known)
    if not strange:
        judging.require_one_value(inputs.detectors)
    tried = candidates(chosen, judging.grids_of(inputs.detectors, chosen) if strange else {})
    warnings = (*known.notes, *(model.weaknesses(chosen) if isinstance(model, ClassifierModel) else ()))

    def score(fitted: Mapping[str, Any], named: NamedSet) -> SetScores:
        return _scored(model, fitted, named, inputs.allow_corrupt, observer)

    with failing():
        learning = _progress(observer, "learning from training images")
        fitted, refused, notes = judging.fit_chosen(inputs.detectors, tried, model, known, learning)
        held_out = None if known.validation is None else NamedSet("validation", "id", known.validation)
        searches, facts = (), {"model": f"{model.name}, {model.fingerprint[:16]}"}
        if strange:
            fitted, searches, validation = search_settings(tried, fitted, refused, held_out, strange, score)
            notes += (search_facts(searches, validation, strange),)
        else:
            validation = None if held_out is None else score(fitted, held_out)
        named = [NamedSet("test", "id", known.test), *others]
        scored = [score(fitted, each) for each in named]
    notes += tuple(dict.fromkeys(warning for each in fitted.values() for warning in each.warnings))
    lost = sum(len(each.images) - len(own) for each, own in zip(named, scored, strict=True))
    lost += 0 if validation is None else len(known.validation) - len(validation)
    notes += (f"{lost} image(s) could not be read and count nowhere.",) if lost else ()
    sets = ScoredSets(scored[0], tuple(scored[1:]), validation, facts, warnings + notes)
    names = tuple(getattr(model, "classnames", ()))
    kept = {"model": inputs.model, "architecture": inputs.architecture, "template": inputs.template}
    about = {**kept, "classnames": names, "fingerprint": model.fingerprint} if isinstance(inputs.model, str) else {}
    return JudgedSets(sets, fitted, about, searches)


def compare(judged: JudgedSets, options: DetectOptions, observer: Observer = SILENT) -> CommandReport:
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
        saved = choose_thresholds(sets, options.flag_rate, ranked(sets, results)[0], judged.model)
        results = Results(results.evaluation, (*results.rows, *flagged_results(sets, saved)), results.comparisons)
    report = replace(detection_report(sets, results, saved, judged.searches), files={SCORES: scores_parquet(sets)})
    if options.out is not None:
        report.write(options.out)
        if saved is not None:
            write_saved(saved, judged.fitted if judged.model else None, options.out)
    return report


def read_names(classnames: Path | str | Sequence[str] | None) -> tuple[str, ...]:
    """Return class names that were given, or that a text file has, one a line; () for none."""
    from openworld.datasets.names.class_names import class_names

    if classnames is None:
        return ()
    return class_names(str(classnames)).names if isinstance(classnames, str | Path) else tuple(classnames)


def _scored(model, fitted, named, allow_corrupt: int, observer: Observer) -> SetScores:
    from openworld.applications.detect.places import reader_of

    images = named.images
    progress = _progress(observer, f"scoring {named.name}")
    rows, scores = model.score(fitted, images, progress, allow_corrupt)
    groups = images.groups if hasattr(images, "groups") else images.columns.get("cluster", np.arange(len(images)))
    clusters = np.array([f"{named.name}/{group}" for group in groups[rows].tolist()])
    read = reader_of(images)
    reader = None if read is None else lambda place: read(int(rows[place]))
    return SetScores(named.name, named.group, scores, image_names(images, rows), clusters, reader)


def _progress(observer: Observer, doing: str) -> Callable[[int, int], None]:
    return lambda done, count: observer.progress(doing, done, count)
