"""A unit of accuracy estimation: one checkpoint of one model, its partners, and who looks at what."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from openworld.classifiers import Recipe
from openworld.protocols._estimation_entries import EstimatorSpec, ModelSpec, ReferenceSpec
from openworld.protocols._estimation_ground import Ground, Pictures
from openworld.protocols._estimation_looks import Look
from openworld.protocols._estimation_models import Judged, Training, in_folder
from openworld.runs import read_spec


@dataclass(frozen=True)
class Task:
    """One unit's share of a spec: which of the models is judged, at which seed and checkpoint.

    Args:
        model, checkpoint: places in `models` and in that model's checkpoints.
        seed: one of `seeds`.
        ground: the pictures.
        models, estimators: with their settings written out whole.
        seeds, references, resamples, threads: as in the spec.
    """

    model: int
    seed: int
    checkpoint: int
    ground: Ground
    models: tuple[ModelSpec, ...]
    seeds: tuple[int, ...]
    references: tuple[ReferenceSpec, ...]
    estimators: tuple[EstimatorSpec, ...]
    resamples: int
    threads: int

    @property
    def name(self) -> str:
        """What people call the unit."""
        return f"{self.judged.label}, seed {self.seed}, epoch {self.judged.epoch}"

    @property
    def is_first(self) -> bool:
        """Whether it is the first unit of its run, which keeps the pictures for the report."""
        return (self.model, self.seed, self.checkpoint) == (0, self.seeds[0], 0)

    @property
    def judged(self) -> Judged:
        """The classifier whose accuracy is estimated."""
        return self._at(self.models[self.model], self.seed)

    @property
    def partners(self) -> tuple[Judged, ...]:
        """Its own next seed, its further seeds, then the other models, all at the same place in their checkpoints."""
        place = self.seeds.index(self.seed)
        seeds = (*self.seeds[place + 1 :], *self.seeds[:place])
        others = (*self.models[self.model + 1 :], *self.models[: self.model])
        own = [self._at(self.models[self.model], seed) for seed in seeds]
        return (*own, *(self._at(model, seed) for model in others for seed in (self.seed, *seeds)))

    @property
    def trainings(self) -> tuple[Training, ...]:
        """Everything that is to be trained for the run, this unit or not."""
        return tuple(self._training(model, seed) for model in self.models if not model.weights for seed in self.seeds)

    @property
    def looks(self) -> tuple[Look, ...]:
        """Everything that is to be looked at for the run; the same pictures once."""
        found: dict[str, Look] = {}
        for look in self._looks():
            found.setdefault(look.pictures.load().fingerprint, look)
        return tuple(found.values())

    @property
    def backbones(self) -> tuple[str, ...]:
        """Of the references, each once."""
        return tuple(dict.fromkeys(one.backbone for one in self.references if one.backbone))

    @property
    def score_references(self) -> tuple[ReferenceSpec, ...]:
        """The references that scores look at."""
        named = {one.reference for one in self.estimators if one.is_score}
        return tuple(one for one in self.references if one.name in named)

    @property
    def labelled_shifts(self) -> tuple[Pictures, ...]:
        """What scores are fitted on; nothing where no estimator is one."""
        return self.ground.labelled_shifts if any(one.is_score for one in self.estimators) else ()

    def _looks(self) -> Iterator[Look]:
        yield self._look("source", self.ground.source, self.references)
        for number, one in enumerate(self.ground.conditions, 1):
            yield self._look(f"condition {number}: {one.name}", one.pictures, self.references)
        for pictures in self.labelled_shifts:
            yield self._look(f"source, {pictures.corruption} {pictures.severity}", pictures, self.score_references)

    def _look(self, name: str, pictures: Pictures, references: Iterable[ReferenceSpec]) -> Look:
        others = [in_folder(one.classifier) for one in references if one.classifier]
        backbones = dict.fromkeys(one.backbone for one in references if one.backbone)
        return Look(name, pictures, (*self._everyone(), *others), tuple(backbones), self.threads)

    def _everyone(self) -> Iterator[Judged]:
        for model in self.models:
            for seed in self.seeds:
                for place in range(len(model.checkpoints)):
                    yield self._at(model, seed, place)

    def _at(self, model: ModelSpec, seed: int, place: int | None = None) -> Judged:
        """A model at this unit's place in its checkpoints, or at its last one where it has fewer."""
        place = min(self.checkpoint if place is None else place, len(model.checkpoints) - 1)
        epoch = model.checkpoints[place]
        if model.weights:
            named = {"label": model.label, "seed": seed, "epoch": epoch, "architecture": model.architecture}
            return in_folder(model.weights.format(seed=seed, epoch=epoch), **named)
        return Judged(model.label, seed, epoch, self._training(model, seed))

    def _training(self, model: ModelSpec, seed: int) -> Training:
        recipe = read_spec(model.recipe | {"checkpoints": model.checkpoints}, Recipe)
        return Training(model.label, model.architecture, recipe, seed, self.ground.training, self.threads)
