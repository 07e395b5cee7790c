"""Accuracy without labels, judged where labels are known: the benchmark of FRAP, sections 5.1 to 5.6.

Classifiers are trained (or loaded) over seeds and checkpoints. Natural shifts and corruptions show each of them the
same classes under other circumstances; estimators, fitted on a labelled source set, say how accurate it is there, and
the record holds both what they say and what is true. Every (model, seed, checkpoint) is a unit. Before the units,
stages train what is to be judged, and run all models on all images once.

FRAP: "Bridging Domain Expertise and Generalization for Performance Estimation". What the paper leaves open is said
where it is decided: the images of a condition, which model is whose partner, what scores are fitted on.
"""

from dataclasses import dataclass, fields
from typing import Literal

from openworld._arrays import require_at_least, require_seeds
from openworld._errors import OpenworldError, unknown_name
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.estimators import ESTIMATORS
from openworld.evaluations.accuracy_estimation.images import Ground
from openworld.evaluations.estimation_entries import EstimatorSpec, ModelSpec, ReferenceSpec, TargetSpec
from openworld.evaluations.image_selection import DatasetSpec

CLIP = ReferenceSpec("CLIP", backbone="embedded")


@dataclass(frozen=True)
class AccuracyEstimationSpec:
    """Judge estimators of accuracy without labels where the labels are known (FRAP, sections 5.1 to 5.6).

    Args:
        models: what is judged, over all seeds and checkpoints.
        sources: data sets whose images are pooled; the class names are those of the first.
        train_part, shots: what is trained on; shots per class of each source, 0 or None for all images.
        source_part: the labelled source set, on which estimators are fitted.
        held_out: the labelled source set is so many images of `train_part` instead, which are not trained on.
        targets: natural shifts.
        corruptions: "all", or names of `openworld.datasets.corruptions`; each at all `severities`.
        corrupted_part: of the sources, what is corrupted.
        corruption_row: the line of the table of errors in which it counts.
        cut: side in pixels of the middle square that is cut before an image is corrupted; None for whole images.
        images: so many of a condition, classes in their shares; 0 or None for all.
        references: what FRAP and its kin compare with; the first is that of estimators that name none.
        estimators: none for all that come with openworld and can be had, as they come.
        seeds: of training, not negative; every model is trained once per seed, on the same images.
        resamples: of the bootstrap behind the interval of every estimate; 0 for none.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.

    Raises:
        OpenworldError: no model, seed, source or condition; repeated ones; an unknown corruption or reference; an
            estimator that needs what there is not; a number outside its range.
    """

    models: tuple[ModelSpec, ...]
    sources: tuple[DatasetSpec, ...]
    protocol: Literal["accuracy-estimation"] = "accuracy-estimation"
    train_part: str = "train"
    shots: int | None = 16
    source_part: str = "validation"
    held_out: int | None = None
    targets: tuple[TargetSpec, ...] = ()
    corruptions: tuple[str, ...] | Literal["all"] = ()
    severities: tuple[int, ...] = SEVERITIES
    corrupted_part: str = "test"
    corruption_row: str = "synthetic"
    cut: int | None = None
    images: int | None = 1000
    references: tuple[ReferenceSpec, ...] = (CLIP,)
    estimators: tuple[EstimatorSpec, ...] = ()
    seeds: tuple[int, ...] = (0, 1, 10)
    resamples: int = 0
    threads: int = 1

    def __post_init__(self):
        for name, value in {"shots": self.shots or None, "images": self.images or None}.items():
            object.__setattr__(self, name, value)  # TOML has no word for None
        object.__setattr__(self, "corruptions", _known_corruptions(self.corruptions))
        self._require_sound()
        models = tuple(model.resolved(self.sources[0].dataset) for model in self.models)
        object.__setattr__(self, "models", models)
        object.__setattr__(self, "estimators", tuple(map(self._referred, self.estimators)) or self._usual())
        self._require_estimators()
        _require_distinct("names of conditions", [condition.name for condition in self.ground.conditions])

    @property
    def ground(self) -> Ground:
        """The images of the run."""
        return Ground(**{field.name: getattr(self, field.name) for field in fields(Ground)})

    @property
    def left_out(self) -> dict[str, str]:
        """Estimators that come with openworld and cannot be had here, and why; none where the spec lists its own."""
        if self.estimators != self._usual():
            return {}
        lacking = ((name, self._lacking(EstimatorSpec(name))) for name in ESTIMATORS)
        return {name: why for name, why in lacking if why}

    def _require_sound(self) -> None:
        require_at_least(1, threads=self.threads, images=self.images or 1, shots=self.shots or 1)
        require_at_least(0, resamples=self.resamples)
        require_seeds(self.seeds)
        lists = {
            "seeds": self.seeds,
            "sources": self.sources,
            "labels of models": [model.label for model in self.models],
        }
        for name, entries in lists.items():
            if not entries:
                raise OpenworldError(f"{name.split()[-1]} is empty; give at least one.")
            _require_distinct(name, entries)
        _require_distinct("severities", self.severities)
        _require_distinct("names of references", [reference.name for reference in self.references])
        self._require_seeds()
        if not (self.targets or self.corruptions):
            raise OpenworldError("there is no condition; give targets, corruptions, or both.")
        if not set(self.severities) <= set(SEVERITIES):
            raise OpenworldError(f"severities are {list(self.severities)}, expected some of {list(SEVERITIES)}.")
        if self.held_out is not None and self.shots is not None and self.train_part == "train":
            raise OpenworldError("held_out takes images out of all those of the training part; give shots = 0.")

    def _require_seeds(self) -> None:
        """Refuse one saved classifier for several seeds: it would count as so many models that agree in everything."""
        alone = [model.weights for model in self.models if model.weights and "{seed}" not in model.weights]
        if alone and len(self.seeds) > 1:
            raise OpenworldError(
                f"weights {alone[0]!r} are one classifier for the seeds {', '.join(map(str, self.seeds))}; write "
                "{seed} where their folders differ, or give one seed, such as seeds = [0]."
            )

    def _require_estimators(self) -> None:
        _require_distinct("labels of estimators", [estimator.label for estimator in self.estimators])
        for estimator in self.estimators:
            if why := self._lacking(estimator):
                raise OpenworldError(f"{estimator.label} {why}")

    def _lacking(self, estimator: EstimatorSpec) -> str:
        """What an estimator needs and this run has not; "" where it has all."""
        names = [reference.name for reference in self.references]
        if "reference" in estimator.needs and not names:
            return "needs a reference; list one under references."
        if estimator.reference and estimator.reference not in names:
            return str(unknown_name("reference", estimator.reference, names))
        others = len(self.models) * len(self.seeds) - 1
        if "partners" in estimator.needs and others < (2 if estimator.estimator.startswith("ALine") else 1):
            return "needs partners: further seeds, or further models."
        return ""

    def _referred(self, estimator: EstimatorSpec) -> EstimatorSpec:
        """With the name of its reference, "" where it needs none, and its settings written out whole."""
        first = self.references[0].name if self.references else ""
        return estimator.resolved((estimator.reference or first) if "reference" in estimator.needs else "")

    def _usual(self) -> tuple[EstimatorSpec, ...]:
        known = map(EstimatorSpec, ESTIMATORS)
        return tuple(self._referred(estimator) for estimator in known if not self._lacking(estimator))


def _known_corruptions(given) -> tuple[str, ...]:
    """All of them for "all"."""
    names = tuple(CORRUPTIONS) if given == "all" else tuple(given)
    for name in names:
        if name not in CORRUPTIONS:
            raise unknown_name("corruption", name, CORRUPTIONS)
    _require_distinct("corruptions", names)
    return names


def _require_distinct(what: str, entries) -> None:
    entries = list(entries)
    doubled = next((entry for place, entry in enumerate(entries) if entry in entries[:place]), None)
    if doubled is not None:
        raise OpenworldError(f"{what} must be distinct, but {str(doubled)!r} comes twice.")
