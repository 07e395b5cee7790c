"""Open-world recognition (OpenworldAUC, Hua et al., 2025, section 6): tune on base classes, meet base and new ones.

Classes in label order are cut into a base half, first ceil(n / 2), and a new half, or as the spec says. A learner sees
some shots of base classes; then every test image is scored: is it base or new, and which name of its side is it? Every
(learner, shots, seed) is one unit. Test images choose nothing: settings under `choose` are decided on validation images
of base classes, and the threshold under `operating` on validation images, once the learner is fitted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from openworld.datasets import DATASETS
from openworld.evaluations.encoding import require_learnable
from openworld.evaluations.entries import LearnerSpec, part_of
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.learning import Learning, encoding_of, fit, resolved, split_name, training_facts
from openworld.evaluations.recognition.class_imbalance import mix_rows
from openworld.evaluations.recognition.operating_point import (
    ScoredValidation,
    operating_rows,
    require_sides,
    scored_validation,
)
from openworld.evaluations.recognition.outcome import ImageScores
from openworld.evaluations.recognition.spec import RecognitionSettings, RecognitionSpec
from openworld.evaluations.recognition_metrics import image_counts, openworld_auc_of, recognition_rows, score, sides
from openworld.evaluations.record_images import thumbnails, with_names
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Clock, Machine, encoded_parts
from openworld.evaluations.shots import shots_asked
from openworld.features import Features
from openworld.learners import override
from openworld.learners.engine.latency import measure_latency
from openworld.report.sentences import counted
from openworld.results import METRICS, Result, Value
from openworld.runs import UnitResult, to_json

ALGORITHM_VERSION = 6


@dataclass(frozen=True)
class RecognitionTask(RecognitionSettings, Learning):
    """One unit's share of a spec: one learner, its settings resolved, one number of shots, and one seed."""

    learner: LearnerSpec
    seed: int
    shots: int
    scored_validation: ScoredValidation
    encoding = encoding_of

    @property
    def name(self) -> str:
        """What people call the unit."""
        return f"{self.learner.label}, seed {self.seed}"

    @property
    def sources(self) -> dict[str, ImageSelection]:
        """The image sets that the unit reads: shots, test images, and validation images where they are needed."""
        sources = {
            "train": self.trained.images("train", seed=self.seed, shots=self.shots, draw=self.draw, base_only=True),
            "test": self.tested.images("test"),
        }
        if self.learner.choose or self.scored_validation != "nothing":
            base_only = self.scored_validation != "all"
            sources["validation"] = self.trained.images("validation", base_only=base_only)
        return sources

    @property
    def whole_sources(self) -> tuple[ImageSelection, ...]:
        """Those in which no class that is asked for may lack an image; a threshold needs but some of a side."""
        whole = [source for part, source in self.sources.items() if part != "validation"]
        chosen_on = [replace(self.sources["validation"], base_only=True)] if self.learner.choose else []
        return (*whole, *chosen_on)


def tasks(spec: RecognitionSpec) -> list[RecognitionTask]:
    """Every (data set, learner, shots, seed), data sets and learners in the order of the spec."""
    every = []
    for each in spec.each:
        scored = scored_validation(each.dataset, each.train_domain, each.operating, each.keep_validation)
        for learner, shots, seed in product(resolved(each, each.dataset), each.every_shots, each.seeds):
            own = {"learner": learner, "shots": shots, "seed": seed}
            every.append(part_of(each, RecognitionTask, scored_validation=scored, **own))
    return every


def summary(spec: RecognitionSpec) -> list[str]:
    """What is run on what, in a few words each."""
    if spec.datasets:
        sizes = [f"{each.dataset} ({each.tested.sides_in_words})" for each in spec.each]
        shots = " ".join(map(str, spec.every_shots))
        return [counted(len(sizes), "data set"), *sizes, shots_asked(shots, *(each.dataset for each in spec.each))]
    domain = spec.test_domain if spec.train_domain == spec.test_domain else f"{spec.train_domain} → {spec.test_domain}"
    return [
        spec.dataset + (f" in {domain} style" if domain else ""),
        spec.tested.sides_in_words,
        shots_asked(" ".join(map(str, spec.every_shots)), spec.dataset),
    ]


def evaluate(task: RecognitionTask, machine: Machine) -> UnitResult:
    """Fit one learner on one draw of shots, score every test image, compute every metric."""
    parts = encoded_parts(task, machine)
    base = parts["test"].split.base
    shots = parts["train"].of_classes(base)
    settings, trail = task.learner.settings, []
    if task.learner.choose:
        settings, trail = choose_settings(task, machine, shots, parts["validation"].of_classes(base))
    clock = Clock(machine)
    fitted = fit(task, shots, machine, settings)
    clock.stop("fit")
    tables = {"images": score(fitted, parts["test"])}
    clock.stop("score")
    if task.scored_validation != "nothing":
        tables["validation"] = score(fitted, parts["validation"])
    learned = {f"learner/{name}": content for name, content in fitted.files().items()} if task.keep_learners else {}
    images = task.sources["test"].load()
    shown, timing = {}, clock.timing
    if images.embeddings is None:
        shown = thumbnails(tables["images"], images.image)
        # Beside the seconds of every stage, those of one test image from its pixels to the answer.
        bank = fitted.text_bank(parts["test"].split.base_names, parts["test"].split.new_names)
        pixels = fitted.clip.preprocess.prepare(images.image(int(parts["test"].rows[0])))[None]
        latency = measure_latency(fitted, bank, pixels)
        seconds = timing["seconds"] | {"latency": latency.seconds}
        timing = timing | {"seconds": seconds, "latency": asdict(latency)}
    names, read = parts["test"].classnames, {"images": "test", "validation": "validation"}
    facts = training_facts(task, fitted, shots)
    facts["detail"] = {"chosen": settings, "choices": trail, "history": list(fitted.history)}
    rows = _rows(task, tables, facts["tuned_parameters"])
    return UnitResult(
        outputs={
            name: with_names(columns, names, task.sources[read[name]].load().path_of)
            for name, columns in tables.items()
        },
        metrics=to_json(facts | _facts(task, names, len(base))),
        attachments=rows | shown | learned,
        timing=timing,
    )


def choose_settings(task, machine: Machine, shots: Features, validation: Features) -> tuple[dict, list[dict]]:
    """Return the settings that validation images of base classes choose, and what every candidate reached."""
    # The base classes are cut into a pseudo base and a pseudo new half: every candidate is fitted on the shots of the
    # former and judged by OpenworldAUC on validation images of both; the first of the best is kept.
    pseudo_base = shots.of_classes(shots.split.base)
    entry, trail = task.learner, []
    for values in product(*entry.choose.values()):
        candidate = dict(zip(entry.choose, values, strict=True))
        fitted = fit(task, pseudo_base, machine, override(entry.settings, candidate))
        value = openworld_auc_of(*sides(score(fitted, validation))).value
        trail.append({"candidate": candidate, "openworld_auc": value})
    best = max(trail, key=lambda tried: tried["openworld_auc"])
    return override(entry.settings, best["candidate"]), trail


def title(spec: RecognitionSpec, task: RecognitionTask) -> str:
    """Return what people call a unit, with its shots where the run has several numbers of them."""
    shots = "" if len(spec.every_shots) == 1 else f"{task.shots} shots, "
    domains = dict.fromkeys(filter(None, (task.train_domain, task.test_domain)))
    place = f"{' '.join((task.dataset, *domains))}, " if spec.datasets else ""
    return f"{place}{task.learner.label}, {shots}seed {task.seed}"


def require(tasks: Sequence[RecognitionTask], machine: Machine) -> None:
    """Refuse what no learner could learn, and validation images on which the rule could choose no threshold."""
    require_learnable(tasks, machine)
    of_each_set = {(task.trained, task.tested): task for task in tasks}  # the same in all of one data set
    for task in of_each_set.values():
        if task.scored_validation == "nothing":
            continue
        names = task.sources["test"].load().classnames
        require_sides(task.sources["validation"].load(), names, task.operating)


def _facts(task: RecognitionTask, names: Sequence[str], base_count: int) -> dict[str, Any]:
    """Return the facts of a record that say what was tested: the setting, and the names of its classes."""
    return {
        "protocol": "recognition",
        "task": task.dataset,
        "split": split_name(task.dataset, same_domain=task.train_domain == task.test_domain),
        "train_domain": task.train_domain,
        "test_domain": task.test_domain,
        "method": task.learner.learner,
        "shots": task.shots,
        "n_base_classes": base_count,
        "n_new_classes": len(names) - base_count,
        "group_name": DATASETS[task.dataset].group_name if task.dataset in DATASETS else "",
        "classnames": names,
        "left_out": task.tested.left_out,
        "imbalance_factor": task.imbalance_factor,
        "operating": task.operating and task.operating.numbers,
    }


def _rows(task: RecognitionTask, tables: Mapping[str, Mapping], tuned_parameters: int) -> dict[str, bytes]:
    """Return the rows of a unit: every number of what a learner said of test and of validation images."""
    learner, images = task.learner.label, tables["images"]
    rows = [*recognition_rows(images, learner)]
    mixes = {"factor": task.imbalance_factor, "ratios": task.ratios, "resamples": task.resamples}
    rows += mix_rows(images, learner, **mixes, seed=task.seed)
    if task.operating:
        validation, test = ImageScores(tables["validation"]), ImageScores(images)
        rows += operating_rows(task.operating, validation, test, learner, probability=True)
    tuned = Result(learner, METRICS["tuned_parameters"], Value(tuned_parameters))
    return rows_of_unit("recognition", rows, seed=task.seed, shared=[*image_counts(images), tuned])
