"""Incremental shift: does a detector see what is out of distribution, and how far off must that be?

The benchmark of "Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024:
IS-OOD). A pool of pictures is cut into cells by measured semantic and covariate shift from the training pictures, and
every detector tells in-distribution test pictures from those of each cell. Every (model, seed) is one unit; before the
units, stages train classifiers, embed pictures, fit the decomposition, and measure the degrees.
"""

import time
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Literal

import numpy as np

from openworld._arrays import require_at_least, require_seeds
from openworld._errors import OpenworldError, unknown_name
from openworld.detectors import origin
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.ood_detection.measure import detection_record
from openworld.evaluations.ood_detection.outputs import pool_table, test_table
from openworld.evaluations.ood_detection.scores import (
    Said,
    Shown,
    classifier_says,
    joined,
    two_tower_says,
)
from openworld.evaluations.ood_detection.task import Task
from openworld.evaluations.ood_detection.validation import require_names
from openworld.evaluations.runtime import Machine, backbone, encoded
from openworld.evaluations.shift_cells import Divided, Division, divided
from openworld.evaluations.shift_entries import CellsSpec, DecompositionSpec, JudgedSpec, PoolSpec, place_of
from openworld.evaluations.shift_images import ShiftGround
from openworld.features import Encoding
from openworld.runs import UnitResult, digest
from openworld.shift import HALVES, PUBLISHED_QUANTILES

ALGORITHM_VERSION = 3


@dataclass(frozen=True)
class IncrementalShiftSpec:
    """Judge detectors over cells of semantic and covariate shift (IS-OOD, section 3).

    Args:
        models: what is judged, each with its detectors; classifiers over all seeds.
        sources: data sets whose pictures are in distribution, pooled; the class names are those of the first.
        classes: which of their classes are in distribution: the "base" half, or "all".
        train_part, shots: what models, detectors and degrees know of; shots per class of each source, 0 or None for
            all pictures.
        id_part: the in-distribution pictures that detectors are tested on.
        pool: pictures that are cut into cells; those of in-distribution classes may be among them.
        cells: a division that is given, instead of a pool; see `CellsSpec`. Nothing is measured then.
        images: so many pictures of each entry of the pool, classes in their shares; None for all.
        decomposition: what splits features into meaning and look.
        k: shift degrees are distances to the k-th nearest training picture, at least 1.
        levels: of each axis, at least 3; cut in equal widths between the `quantiles` of the pool's degrees.
        quantiles: by "semantic" and "covariate": shares of the pool in the first level, and in all but the last.
        cuts: by "semantic" and "covariate": where levels 1, 2, ... begin, instead.
        least: cells with fewer pictures are N/A, at least 1.
        id_kept: whether the main tables count pool pictures of in-distribution classes, as published; the record holds
            the tables with and without them either way.
        seeds: of training, not negative.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.

    Raises:
        OpenworldError: no model, seed, source or pool; repeated ones; a pool and given cells; a pool entry that shows
            training or test pictures; a number outside its range.
    """

    models: tuple[JudgedSpec, ...]
    sources: tuple[DatasetSpec, ...]
    protocol: Literal["incremental-shift", "ood-detection"] = "incremental-shift"
    classes: Literal["base", "all"] = "base"
    train_part: str = "train"
    shots: int | None = 16
    id_part: str = "test"
    pool: tuple[PoolSpec, ...] = ()
    cells: CellsSpec | None = None
    images: int | None = None
    decomposition: DecompositionSpec = DecompositionSpec()
    k: int = 10
    levels: int = 8
    quantiles: dict[str, tuple[float, float]] = field(default_factory=lambda: dict(PUBLISHED_QUANTILES))
    cuts: dict[str, tuple[float, ...]] = field(default_factory=dict)
    least: int = 10
    id_kept: bool = True
    seeds: tuple[int, ...] = (0, 1, 2)
    threads: int = 1

    def __post_init__(self):
        object.__setattr__(self, "protocol", "incremental-shift")  # what finished runs and records say
        require_at_least(1, threads=self.threads, k=self.k, pictures_in_a_cell=self.least, images=self.images or 1)
        require_at_least(0, shots=self.shots or 0)
        require_at_least(3, levels=self.levels)
        object.__setattr__(self, "shots", self.shots or None)
        require_seeds(self.seeds)
        labels = [one.label for one in self.models]
        for name, entries in {"seeds": self.seeds, "sources": self.sources, "models": labels}.items():
            if not entries or len(set(entries)) < len(entries):
                raise OpenworldError(f"{name} are {list(map(str, entries))}; give one at least, each once.")
        if bool(self.pool) == (self.cells is not None):
            raise OpenworldError("give a pool that is to be divided, or cells, a division that is given: one of them.")
        object.__setattr__(self, "quantiles", PUBLISHED_QUANTILES | self.quantiles)
        for name in (*self.quantiles, *self.cuts):
            if name not in HALVES:
                raise unknown_name("axis", name, HALVES)
        if self.train_part == self.id_part:
            raise OpenworldError(
                f"train_part and id_part are both {self.id_part!r}; test on pictures that nothing learned from."
            )
        self._require_fresh_pool()

    @property
    def ground(self) -> ShiftGround:
        """The pictures of the run."""
        return ShiftGround(**{one.name: getattr(self, one.name) for one in fields(ShiftGround)})

    @property
    def division(self) -> Division:
        """How the pool is cut into cells."""
        return Division(**{one.name: getattr(self, one.name) for one in fields(Division)})

    def _require_fresh_pool(self) -> None:
        """Refuse a pool that shows pictures of the in-distribution sets as they are, or pictures twice."""
        parts = (self.train_part, self.id_part)
        taken = {(place_of(one.dataset), one.domain, part, None, None) for one in self.sources for part in parts}
        seen = set()
        for one in self.pool:
            shown = (place_of(one.dataset), one.domain, one.part, one.corruption, one.severity)
            told = f"the pool shows {one.dataset}, {one.domain or 'its only domain'}, part {one.part!r}"
            if shown in taken:
                raise OpenworldError(
                    f"{told}, whose pictures are the in-distribution ones; give id_part or the entry another part."
                )
            if shown in seen:
                raise OpenworldError(f"{told}, twice; a picture has one cell, so list each entry once.")
            seen.add(shown)


def tasks(spec: IncrementalShiftSpec) -> list[Task]:
    """Every model with every seed, models in the order of the spec; what is not trained here once, unless by seed."""
    shared = {name: getattr(spec, name) for name in ("models", "ground", "division", "id_kept", "threads")}
    return [
        Task(model=number, seed=seed, **shared)
        for number, model in enumerate(spec.models)
        for seed in (spec.seeds if _has_seeds(model) else spec.seeds[:1])
    ]


def preparations(spec: IncrementalShiftSpec, machine: Machine) -> tuple[Stage, ...]:
    """Return the stages: training, running models, fitting the decomposition, and measuring the degrees."""
    planned = tasks(spec)
    first = planned[0]
    trainings = [one.classifier.training for one in planned if one.classifier and one.classifier.training]
    training = Stage("training", "trained", "epochs", machine, lambda: trainings)
    return (training, *first.shift.stages(machine, lambda: first.shift.outputs))


def summary(spec: IncrementalShiftSpec) -> list[str]:
    """What is run on what, in a few words each."""
    pool = f"{len(spec.pool)} image set(s)" if spec.pool else "given cells"
    detectors = dict.fromkeys(one.label for model in spec.models for one in model.detectors)
    return [
        f"{' + '.join(map(str, spec.sources))}, {spec.classes} classes, against {pool}",
        f"{len(spec.models)} model(s)",
        f"{len(detectors)} detector(s)",
    ]


def fingerprints(spec: IncrementalShiftSpec) -> dict[str, str]:
    """What pictures the run reads: a hash per image set."""
    ground = spec.ground
    sets = {"training": ground.training, "in-distribution test": ground.test}
    found = {name: pictures.load().fingerprint for name, pictures in sets.items()}
    return found | {"pool": ground.load_pool().images.fingerprint}


def evaluate(task: Task, machine: Machine) -> UnitResult:
    """Score the test pictures and the pool with all detectors of one model, and hold every cell against the test."""
    started, found = time.perf_counter(), divided(task.shift, machine)
    known, test = (_shown(task, pictures, machine) for pictures in (task.ground.training, task.ground.test))
    said = _said(task, known, test, found, machine)
    seconds = time.perf_counter() - started
    metrics = detection_record(task, known, test, found, said)
    return UnitResult(
        outputs={"images": pool_table(test, found, said), "test": test_table(task, test, said, machine)},
        metrics=asdict(metrics),
        attachments=dict(found.thumbnails()) if task.model == 0 else {},
        timing={"seconds": {"scores": seconds}, "device": machine.device},
    )


def _has_seeds(model: JudgedSpec) -> bool:
    return "{seed}" in model.weights if model.weights else not model.is_two_tower


def _said(task: Task, known: Shown, test: Shown, found: Divided, machine: Machine) -> Said:
    pool = Shown(found.pool.images, found.rows)
    if not task.judged.is_two_tower:
        classifier = task.classifier.load(machine)
        require_names(task.judged, classifier.classnames, test.images.classnames)
        return classifier_says(task.judged, classifier, known, test, pool, machine.device)
    if task.ground.cells:  # whose places are those of the lists, so that none may be left out
        machine = replace(machine, allow_corrupt=0)
    name, encoding = task.judged.backbone, Encoding(patches=task.judged.needs_patches)
    learned, tested = (encoded(one.images, name, machine, encoding) for one in (known, test))
    parts = [pictures.load() for pictures in task.ground.tested] or [found.pool.images]
    shown = joined([encoded(one, name, machine, encoding) for one in parts])
    return two_tower_says(task.judged, learned, tested, shown, task.ground.sources[0].dataset, machine)


def _shown(task: Task, pictures: ImageSelection, machine: Machine) -> Shown:
    """What can be read, as embedding has shown; where nothing was embedded all must be."""
    images = pictures.load()
    if task.ground.cells:
        return Shown(images, np.arange(len(images)))
    return Shown(images, encoded(images, task.division.decomposition.backbone, machine).rows[:])


def inputs(task: Task, machine: Machine) -> dict[str, str]:
    """Fingerprints of everything that a unit reads: a result depends on them."""
    ground = task.ground
    found = {"training pictures": ground.training.load().fingerprint, "test pictures": ground.test.load().fingerprint}
    found["pool"] = digest([one.load().fingerprint for one in ground.tested] or ground.load_pool().images.fingerprint)
    names = {task.judged.backbone, "" if ground.cells else task.division.decomposition.backbone} - {""}
    found |= {f"weights of {name}": backbone(name, machine.device).fingerprint for name in sorted(names)}
    if not ground.cells:
        found["decomposition"] = task.shift.split.key
    if task.classifier and task.classifier.folder:
        found[f"classifier {task.classifier.folder}"] = task.classifier.key
    plug_ins = {one.detector: origin(one.detector) for one in task.judged.detectors}
    return found | {f"plug-in {name}": package for name, package in plug_ins.items() if package}
