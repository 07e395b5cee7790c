"""OOD detection over cells of shift: does a detector see what is out of distribution, and how far off must that be?

The benchmark of "Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024:
IS-OOD). A pool of images is cut into cells by measured semantic and covariate shift from the training images, and
every detector tells in-distribution test images from those of each cell. Every (model, seed) is one unit; before the
units, stages train classifiers, embed images, fit the decomposition, and measure the degrees.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from openworld.core.arrays import require_at_least, require_seeds
from openworld.core.errors import OpenworldError
from openworld.datasets import DATASETS
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.entries import CellsSpec, require_distinct
from openworld.evaluations.runtime import Machine, backbone
from openworld.evaluations.shift_cells import ShiftSpec
from openworld.features import Encoding
from openworld.ood.judged_models import ModelsSpec, trainings
from openworld.ood.model_entries import JudgedSpec
from openworld.ood.models import ImagesToScore
from openworld.ood.scoring import stages_of
from openworld.runs import digest


@dataclass(frozen=True)
class OODDetectionSpec(ShiftSpec, ModelsSpec):
    """Judge detectors over cells of semantic and covariate shift (IS-OOD, section 3).

    Args:
        models: what is judged, each with its detectors; classifiers over all seeds.
        id_part: the in-distribution images that detectors are tested on.
        cells: a division that is given, instead of a pool; see `CellsSpec`. Nothing is measured then.
        id_kept: whether the main tables count pool images of in-distribution classes, as published; the record holds
            the tables with and without them either way.
        seeds: of training, not negative.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.

    Raises:
        OpenworldError: no model, seed, source or pool; repeated ones; a pool and given cells; a pool entry that shows
            training or test images; a number outside its range.
    """

    models: tuple[JudgedSpec, ...]
    protocol: Literal["ood-detection"] = "ood-detection"
    id_part: str = "test"
    cells: CellsSpec | None = None
    id_kept: bool = True
    seeds: tuple[int, ...] = (0, 1, 2)
    threads: int = 1
    one_stream = True

    def __post_init__(self):
        require_at_least(1, threads=self.threads)
        require_seeds(self.seeds)
        require_distinct({"seeds": self.seeds})
        self.settle_shift()
        self.require_models()
        if searched := [entry.label for model in self.models for entry in model.detectors if entry.choose]:
            raise OpenworldError(
                f"{searched[0]} has candidates to choose from, and no evaluation but ood-benchmark searches settings; "
                "search there, and give what was chosen as settings here."
            )
        if bool(self.pool) == (self.cells is not None):
            raise OpenworldError("give a pool that is to be divided, or cells, a division that is given: one of them.")
        self._require_fresh_pool()

    @property
    def shift_backbones(self) -> tuple[str, ...]:
        """Models that look at nothing but embeddings."""
        names = [model.backbone for model in self.models if model.backbone and model.encoding == Encoding()]
        return tuple(dict.fromkeys(names))

    @property
    def others(self) -> tuple[ImagesToScore, ...]:
        """The pool, which is cut into cells."""
        if self.cells:
            return (ImagesToScore("pool", cells=self.cells),)
        return (ImagesToScore("pool", self.ground.tested, encoded_by=self.encoded_by),)

    @property
    def encoded_by(self) -> tuple[str, ...]:
        return () if self.cells else (self.decomposition.backbone, self.decomposition.taught_by)

    def _require_fresh_pool(self) -> None:
        """Refuse a pool that shows images of the in-distribution sets as they are, or images twice."""
        parts = (self.train_part, self.id_part)
        sources = [(_place_of(source.dataset), source.domain) for source in self.sources]
        taken = {(*source, part, None, None) for source in sources for part in parts}
        entries = set()
        for entry in self.pool:
            images = (_place_of(entry.dataset), entry.domain, entry.part, entry.corruption, entry.severity)
            sentence = f"the pool shows {entry.dataset}, {entry.domain or 'its only domain'}, part {entry.part!r}"
            if images in taken:
                raise OpenworldError(
                    f"{sentence}, whose images are the in-distribution ones; give id_part or the entry another part."
                )
            if images in entries:
                raise OpenworldError(f"{sentence}, twice; an image has one cell, so list each entry once.")
            entries.add(images)


def _place_of(dataset: str) -> str:
    """A data set's name, or the folder or list that it is, however its path is written."""
    return dataset if dataset in DATASETS else str(Path(dataset).resolve())


def preparations(spec: OODDetectionSpec, machine: Machine) -> tuple[Stage, ...]:
    tasks = spec.tasks
    by_shift = spec.shift_stages(machine, lambda: spec.shift_outputs)
    return (*trainings(tasks, machine), *by_shift, *stages_of(tasks, machine))


def inputs(task: OODDetectionSpec, machine: Machine) -> dict[str, str]:
    ground = task.ground
    hashes = {"training images": ground.training.load().fingerprint, "test images": ground.test.load().fingerprint}
    tested = [part.load().fingerprint for part in ground.tested]
    hashes["pool"] = digest(tested or ground.load_pool().images.fingerprint)
    names = {task.model.backbone, "" if task.cells else task.decomposition.backbone} - {""}
    hashes |= {f"weights of {name}": backbone(name, machine.device).fingerprint for name in sorted(names)}
    if not task.cells:
        hashes["decomposition"] = task.split.key
    return hashes | task.model_inputs(machine)
