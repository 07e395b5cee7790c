"""A unit of incremental shift: which model is judged, on which pictures, in which cells."""

from dataclasses import dataclass

from openworld.evaluations.classifiers import Checkpoint, Training, in_folder
from openworld.evaluations.shift_cells import Division, ShiftPlan
from openworld.evaluations.shift_entries import JudgedSpec
from openworld.evaluations.shift_images import ShiftGround


@dataclass(frozen=True)
class Task:
    """One judged model and seed.

    Args:
        model: its place in `models`. seed: of its training.
        id_kept: whether the detectors' tables count pool pictures of in-distribution classes.
    """

    model: int
    seed: int
    models: tuple[JudgedSpec, ...]
    ground: ShiftGround
    division: Division
    id_kept: bool
    threads: int

    @property
    def judged(self) -> JudgedSpec:
        """The model."""
        return self.models[self.model]

    @property
    def name(self) -> str:
        """What people call the unit."""
        return self.judged.label if self.judged.is_two_tower else f"{self.judged.label}, seed {self.seed}"

    @property
    def classifier(self) -> Checkpoint | None:
        """Where the judged classifier lies, or how it is trained; None for a two-tower model."""
        return self.classifier_of(self.judged, self.seed)

    def classifier_of(self, model: JudgedSpec, seed: int) -> Checkpoint | None:
        """The same of any model of the run."""
        if model.is_two_tower:
            return None
        if model.weights:
            named = {"label": model.label, "seed": seed, "architecture": model.architecture}
            return in_folder(model.weights.format(seed=seed), **named)
        recipe = model.trained_by(self.ground.sources[0].dataset)
        training = Training(model.label, model.architecture, recipe, seed, self.ground.training, self.threads)
        return Checkpoint(model.label, seed, recipe.epochs, training)

    @property
    def shift(self) -> ShiftPlan:
        """What measures the degrees and cuts the pool into cells; two-tower models that look at no patches join in."""
        names = [one.backbone for one in self.models if one.backbone and not one.needs_patches]
        return ShiftPlan(self.ground, self.division, self.threads, tuple(dict.fromkeys(names)))
