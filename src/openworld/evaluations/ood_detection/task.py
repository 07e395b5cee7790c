"""A unit of incremental shift: which model is judged, on which pictures, in which cells."""

from dataclasses import dataclass
from functools import cached_property

from openworld.evaluations.classifiers import Judged, Training, in_folder
from openworld.evaluations.model_outputs import Look
from openworld.evaluations.ood_detection.pool import ShiftGround
from openworld.evaluations.shift_degrees import Measure, Split, split_of
from openworld.evaluations.shift_entries import DecompositionSpec, JudgedSpec
from openworld.shift import LOOKS

TEST = "in-distribution test pictures"


@dataclass(frozen=True)
class Division:
    """The fields of a spec that say how the pool is cut into cells; see `IncrementalShiftSpec`."""

    decomposition: DecompositionSpec
    k: int
    levels: int
    quantiles: dict[str, tuple[float, float]]
    cuts: dict[str, tuple[float, ...]]
    least: int


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
    def classifier(self) -> Judged | None:
        """Where the judged classifier lies, or how it is trained; None for a two-tower model."""
        return self.classifier_of(self.judged, self.seed)

    def classifier_of(self, model: JudgedSpec, seed: int) -> Judged | None:
        """The same of any model of the run."""
        if model.is_two_tower:
            return None
        if model.weights:
            named = {"label": model.label, "seed": seed, "architecture": model.architecture}
            return in_folder(model.weights.format(seed=seed), **named)
        recipe = model.trained_by(self.ground.sources[0].dataset)
        training = Training(model.label, model.architecture, recipe, seed, self.ground.training, self.threads)
        return Judged(model.label, seed, recipe.epochs, training)

    @property
    def looks(self) -> tuple[Look, ...]:
        """What is embedded for the degrees, and for two-tower models that look at no patches."""
        ground, measured = self.ground, not self.ground.cells
        names = [one.backbone for one in self.models if one.backbone and not one.needs_patches]
        how = self.division.decomposition
        by_texts = measured and how.taught_by == "texts"
        names = tuple(dict.fromkeys([how.backbone] * by_texts + names))
        sets = {"training pictures": ground.training, TEST: ground.test}
        sets |= {f"pool {number}: {one.style}": pictures for number, (one, pictures) in self._numbered}
        return tuple(Look(name, pictures, (), names, self.threads) for name, pictures in sets.items() if names)

    @cached_property
    def split(self) -> Split:
        """The decomposition of the run, by the names of all its pictures, or by the training pictures."""
        how = self.division.decomposition
        if how.taught_by == "pictures":
            return Split(how, (), LOOKS, self.threads, self.ground.training)
        every = {one.dataset: None for one in (*self.ground.sources, *self.ground.pool)}
        sets = (self.ground.training, *self.ground.tested)
        names = [name for pictures in sets for name in pictures.load().classnames]
        return split_of(how, every, names, self.threads)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Whose degrees are measured: the test pictures', then those of the pool; nobody's where cells are given."""
        if self.ground.cells:
            return ()
        sets = [(TEST, self.ground.test)]
        sets += [(f"pool {number}: {one.style}", pictures) for number, (one, pictures) in self._numbered]
        return tuple(
            Measure(name, self.split, self.ground.training, pictures, self.division.k) for name, pictures in sets
        )

    @property
    def _numbered(self):
        return enumerate(zip(self.ground.pool, self.ground.tested, strict=True), 1)
