"""Accuracy without labels, judged where labels are known: the benchmark of FRAP, sections 5.1 to 5.6.

Classifiers are trained (or loaded) over seeds and checkpoints. Natural shifts and corruptions show each of them the
same classes under other circumstances; estimators, fitted on a labelled source set, say how accurate it is there, and
the record holds both what they say and what is true. Every (model, seed, checkpoint) is a unit.
FRAP: "Bridging Domain Expertise and Generalization for Performance Estimation".
"""

from dataclasses import dataclass
from typing import Literal

from openworld._arrays import require_at_least, require_seeds
from openworld._errors import OpenworldError, unknown_name
from openworld.datasets import SHIFTED
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.datasets.published.corrupted_files import CONDITIONS
from openworld.estimators import ESTIMATORS
from openworld.evaluations.entries import EstimatorSpec, ReferenceSpec, part_of, require_distinct, settle
from openworld.label_free.benchmark.entries import ModelSpec
from openworld.label_free.benchmark.images import Ground

CLIP = ReferenceSpec("CLIP", backbone="embedded")


@dataclass(frozen=True, kw_only=True)
class EstimationSettings:
    """Fields of a spec of accuracy estimation and of its tasks."""

    models: tuple[ModelSpec, ...]  # what is judged, over all seeds and checkpoints
    references: tuple[ReferenceSpec, ...] = (CLIP,)  # the first is that of estimators that name none
    estimators: tuple[EstimatorSpec, ...] = ()  # none for all that come with openworld and can be had, as they come
    seeds: tuple[int, ...] = (0, 1, 10)  # of training, not negative; once per seed, on the same images
    resamples: int = 0  # of the bootstrap behind the interval of every estimate; 0 for none
    threads: int = 1  # of each unit, at least 1; fixed, because the last bits of a sum may depend on it


@dataclass(frozen=True, kw_only=True)
class AccuracyEstimationSpec(Ground, EstimationSettings):
    """Judge estimators of accuracy without labels where the labels are known (FRAP, sections 5.1 to 5.6).

    Raises:
        OpenworldError: no model, seed, source or condition; repeated ones; an unknown corruption or reference; an
            estimator that needs what there is not; a number outside its range.
    """

    protocol: Literal["accuracy-estimation"] = "accuracy-estimation"

    def __post_init__(self):
        settle(self, shots=self.shots or None, images=self.images or None)  # TOML has no word for None
        settle(self, corruptions=_known_corruptions(self.corruptions))
        self._require_corrupted_files()
        require_at_least(1, threads=self.threads, images=self.images or 1, shots=self.shots or 1)
        require_at_least(0, resamples=self.resamples)
        require_seeds(self.seeds)
        labels, names = [model.label for model in self.models], [reference.name for reference in self.references]
        require_distinct({"labels of models": labels, "sources": self.sources, "seeds": self.seeds})
        require_distinct({"severities": self.severities, "names of references": names}, least=0)
        self._require_conditions()
        self._require_seed_folders()
        settle(self, models=tuple(model.resolved(self.sources[0].dataset) for model in self.models))
        settle(self, estimators=tuple(map(self._with_reference, self.estimators)) or self._usual())
        for estimator in self.estimators:
            if why := self._lacking(estimator):
                raise OpenworldError(f"{estimator.label} {why}")
        labels = [estimator.label for estimator in self.estimators]
        names = [condition.name for condition in self.ground.conditions]
        require_distinct({"labels of estimators": labels, "names of conditions": names}, least=0)

    @property
    def ground(self) -> Ground:
        """The images of the run."""
        return part_of(self, Ground)

    @property
    def left_out(self) -> dict[str, str]:
        """Estimators that come with openworld and cannot be had here, and why; none where the spec lists its own."""
        if self.estimators != self._usual():
            return {}
        lacking = ((name, self._lacking(EstimatorSpec(name))) for name in ESTIMATORS)
        return {name: why for name, why in lacking if why}

    def _require_conditions(self) -> None:
        if not (self.targets or self.corruptions):
            raise OpenworldError("there is no condition; give targets, corruptions, or both.")
        if not set(self.severities) <= set(SEVERITIES):
            raise OpenworldError(f"severities are {list(self.severities)}, expected some of {list(SEVERITIES)}.")
        if self.held_out is not None and self.shots is not None and self.train_part == "train":
            raise OpenworldError("held_out takes images out of all those of the training part; give shots = 0.")

    def _require_corrupted_files(self) -> None:
        """Refuse files that hold other images than the corruptions that are asked for."""
        settle(self, made_here=_known_corruptions(self.made_here))
        if self.made_here and not self.corrupted_files:
            raise OpenworldError("made_here is for corruptions that corrupted_files lack; give corrupted_files too.")
        if not self.corrupted_files:
            return
        published = [name for name, card in SHIFTED.items() if card.alike == CONDITIONS]
        if self.corrupted_files not in published:
            raise unknown_name("data set of corrupted images", self.corrupted_files, published)
        if self.corrupted_part != "test":
            raise OpenworldError(f"{self.corrupted_files} holds test images; leave corrupted_part out.")

    def _require_seed_folders(self) -> None:
        """Refuse one saved classifier for several seeds: it would count as so many models that agree in everything."""
        alone = [model.weights for model in self.models if model.weights and "{seed}" not in model.weights]
        if alone and len(self.seeds) > 1:
            raise OpenworldError(
                f"weights {alone[0]!r} are one classifier for the seeds {', '.join(map(str, self.seeds))}; write "
                "{seed} where their folders differ, or give one seed, such as seeds = [0]."
            )

    def _lacking(self, estimator: EstimatorSpec) -> str:
        """Return what an estimator needs and this run has not; "" where it has all."""
        names = [reference.name for reference in self.references]
        if "reference" in estimator.needs and not names:
            return "needs a reference; list one under references."
        if estimator.reference and estimator.reference not in names:
            return str(unknown_name("reference", estimator.reference, names))
        others = len(self.models) * len(self.seeds) - 1
        if "partners" in estimator.needs and others < (2 if estimator.estimator.startswith("ALine") else 1):
            return "needs partners: further seeds, or further models."
        return ""

    def _with_reference(self, estimator: EstimatorSpec) -> EstimatorSpec:
        """Return it with the name of its reference ("" where it needs none) and its settings written out."""
        first = self.references[0].name if self.references else ""
        return estimator.resolved((estimator.reference or first) if "reference" in estimator.needs else "")

    def _usual(self) -> tuple[EstimatorSpec, ...]:
        known = map(EstimatorSpec, ESTIMATORS)
        return tuple(self._with_reference(estimator) for estimator in known if not self._lacking(estimator))


def _known_corruptions(given) -> tuple[str, ...]:
    names = tuple(CORRUPTIONS) if given == "all" else tuple(given)
    for name in names:
        if name not in CORRUPTIONS:
            raise unknown_name("corruption", name, CORRUPTIONS)
    require_distinct({"corruptions": names}, least=0)
    return names
