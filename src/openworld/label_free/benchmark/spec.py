"""Accuracy without labels, judged where labels are known: the benchmark of FRAP, sections 5.1 to 5.6.

Classifiers are trained (or loaded) over seeds and checkpoints. Natural shifts and corruptions show each of them the
same classes under other circumstances; estimators, fitted on a labelled source set, say how accurate it is there, and
the record holds both what they say and what is true. Every (model, seed, checkpoint) is a unit.
FRAP: "Bridging Domain Expertise and Generalization for Performance Estimation".
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from openworld.classifiers import Recipe, published
from openworld.classifiers.exported import LOADED_AS
from openworld.core.arrays import require_at_least, require_seeds
from openworld.core.errors import OpenworldError, present, unknown_name
from openworld.datasets import DATASETS, SHIFTED
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.datasets.published.catalogue import CONDITIONS
from openworld.estimators import ESTIMATORS
from openworld.evaluations.entries import EstimatorSpec, ReferenceSpec, require_distinct, settle
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection, pooled_images
from openworld.label_free.benchmark.arrays import Condition
from openworld.runs import read_spec

CLIP = ReferenceSpec("CLIP", backbone="embedded")


@dataclass(frozen=True)
class ModelSpec:
    """A judged model: trained here over seeds and checkpoints, or loaded."""

    architecture: str = ""  # a name of `openworld.classifiers.ARCHITECTURES`, "timm:NAME", or "package.module:function"
    label: str = ""  # what tables call it; the architecture by default
    # Epochs after which it is judged, rising; by default those of the recipe. Of weights: the numbers for {epoch}.
    checkpoints: tuple[int, ...] = ()
    recipe: dict[str, Any] = field(default_factory=dict)  # settings of `Recipe` unlike those published for the source
    # A folder such as "mine/{seed}/{epoch}", or of a single classifier without such places, or a state dict; nothing is
    # trained then. An architecture beside it is what to build, where a function of yours does that.
    weights: str = ""

    def __post_init__(self):
        if not (self.architecture or self.weights):
            raise OpenworldError("a model has an architecture, to be trained, or weights, to be loaded; give one.")
        if self.weights:
            self._settle_weights()
        if "checkpoints" in self.recipe:
            raise OpenworldError(f"checkpoints of {self.architecture} stand beside its recipe, not in it.")
        architecture = "" if self.architecture in LOADED_AS else self.architecture
        settle(self, label=self.label or architecture or self.weights.partition("/{")[0])

    def _settle_weights(self) -> None:
        if self.recipe:
            raise OpenworldError(f"weights {self.weights!r} are loaded, not trained; leave the recipe out.")
        if "{epoch}" in self.weights and not self.checkpoints:
            raise OpenworldError(f"weights {self.weights!r} need numbers for {{epoch}}, such as checkpoints = [4, 8].")
        if "{epoch}" not in self.weights and len(self.checkpoints) > 1:
            several = f"one classifier for {len(self.checkpoints)} checkpoints"
            raise OpenworldError(f"weights {self.weights!r} are {several}; write {{epoch}} where their folders differ.")
        settle(self, checkpoints=self.checkpoints or (1,))

    def resolved(self, dataset: str) -> "ModelSpec":
        """Return the model with checkpoints and recipe written out, from what is published for the data set."""
        if self.weights:
            return self
        fields = asdict(published(dataset)) | self.recipe
        fields["checkpoints"] = self.checkpoints or (() if "epochs" in self.recipe else fields["checkpoints"])
        recipe = read_spec(fields, Recipe)
        settings = {name: value for name, value in asdict(recipe).items() if name != "checkpoints"}
        return replace(self, checkpoints=recipe.kept, recipe=settings)


@dataclass(frozen=True)
class TargetSpec(DatasetSpec):
    """Images of the model's classes, or of some of them, under other circumstances."""

    part: str = "test"
    row: str = "natural"  # the line of the table of errors that it counts in
    name: str = ""  # what tables call it; its domain by default, or the data set
    corrupted_row: str = ""  # its images are judged under every corruption too, in this line

    def __post_init__(self):
        super().__post_init__()
        settle(self, name=self.name or self.domain or Path(self.dataset).name)


@dataclass(frozen=True, kw_only=True)
class AccuracyEstimationSpec:
    """Judge estimators of accuracy without labels where the labels are known (FRAP, sections 5.1 to 5.6).

    Raises:
        OpenworldError: no model, seed, source or condition; repeated ones; an unknown corruption or reference; an
            estimator that needs what there is not; a number outside its range.
    """

    protocol: Literal["accuracy-estimation"] = "accuracy-estimation"
    models: tuple[ModelSpec, ...]  # what is judged, over all seeds and checkpoints
    references: tuple[ReferenceSpec, ...] = (CLIP,)  # the first is that of estimators that name none
    estimators: tuple[EstimatorSpec, ...] = ()  # none for all that come with openworld and can be had, as they come
    seeds: tuple[int, ...] = (0, 1, 10)  # of training, not negative; once per seed, on the same images
    resamples: int = 0  # of the bootstrap behind the interval of every estimate; 0 for none
    threads: int = 1  # of each unit, at least 1; fixed, because the last bits of a sum may depend on it

    sources: tuple[DatasetSpec, ...]  # their images are pooled; the class names are those of the first
    train_part: str = "train"
    shots: int | None = 16  # training images per class of each source, 0 or None for all
    source_part: str = "validation"  # the labelled source set, on which estimators are fitted
    held_out: int | None = None  # the labelled source set is so many images of `train_part` instead, not trained on
    targets: tuple[TargetSpec, ...] = ()  # natural shifts
    corruptions: tuple[str, ...] | Literal["all"] = ()  # names of `openworld.datasets.corruptions`
    severities: tuple[int, ...] = SEVERITIES  # of every corruption
    corrupted_part: str = "test"  # of the sources, what is corrupted
    corruption_row: str = "synthetic"  # the line of the table of errors in which it counts
    cut: int | None = None  # side in pixels of the middle square cut before corrupting; None for whole images
    images: int | None = 1000  # so many of a condition, classes in their shares; 0 or None for all
    corrupted_files: str = ""  # published corrupted, such as "cifar10-c", in the place of corruptions made here
    made_here: tuple[str, ...] = ()  # corruptions made here all the same, since the published files lack them

    def __post_init__(self):
        settle(self, shots=self.shots or None, images=self.images or None)  # TOML has no word for None
        settle(self, corruptions=_known_corruptions(self.corruptions), made_here=_known_corruptions(self.made_here))
        self._require_images()
        require_at_least(1, threads=self.threads, images=self.images or 1, shots=self.shots or 1)
        require_at_least(0, resamples=self.resamples)
        require_seeds(self.seeds)
        labels, names = [model.label for model in self.models], [reference.name for reference in self.references]
        require_distinct({"labels of models": labels, "sources": self.sources, "seeds": self.seeds})
        require_distinct({"severities": self.severities, "names of references": names}, least=0)
        alone = [model.weights for model in self.models if model.weights and "{seed}" not in model.weights]
        if alone and len(self.seeds) > 1:  # it would count as so many models that agree in everything
            raise OpenworldError(
                f"weights {alone[0]!r} are one classifier for the seeds {', '.join(map(str, self.seeds))}; write "
                "{seed} where their folders differ, or give one seed, such as seeds = [0]."
            )
        settle(self, models=tuple(model.resolved(self.sources[0].dataset) for model in self.models))
        settle(self, estimators=tuple(map(self._with_reference, self.estimators)) or self._usual())
        for estimator in self.estimators:
            if why := self._lacking(estimator):
                raise OpenworldError(f"{estimator.label} {why}")
        labels = [estimator.label for estimator in self.estimators]
        names = [condition.name for condition in self.conditions]
        require_distinct({"labels of estimators": labels, "names of conditions": names}, least=0)

    @property
    def training(self) -> ImageSelection:
        """What models are trained on."""
        pool = self._pool(self.train_part, self.shots)
        return replace(pool, limit=self.held_out, rest=self.held_out is not None)

    @property
    def source(self) -> ImageSelection:
        if self.held_out is not None:
            return replace(self._pool(self.train_part), limit=self.held_out)
        return self._pool(self.source_part)

    @property
    def labelled_shifts(self) -> tuple[ImageSelection, ...]:
        """The source set under every corruption, severities in turn: what scores of whole sets are fitted on."""
        if not any(estimator.is_score for estimator in self.estimators):
            return ()
        limit = min(filter(None, (self.images, self.source.limit)), default=None)
        drawn = replace(self.source, limit=limit, cut=self.cut)
        severities = [SEVERITIES[place % len(SEVERITIES)] for place in range(len(CORRUPTIONS))]
        pairs = zip(CORRUPTIONS, severities, strict=True)
        return tuple(replace(drawn, corruption=name, severity=severity) for name, severity in pairs)

    @property
    def names_of(self) -> ImageSelection:
        """The image set whose class names count."""
        return self._pool(self.train_part, self.shots, self.sources[:1])

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Targets in the order of the spec, then the sources under every corruption, then corrupted targets."""
        home = replace(self._pool(self.corrupted_part), limit=self.images)
        domain = " + ".join(dict.fromkeys(source.domain for source in self.sources if source.domain))
        clean = Condition(self.corruption_row, "", "synthetic", self.sources[0].dataset, domain, images=home)
        natural = {}
        for target in self.targets:
            images = target.images(target.part, names_of=self.names_of, limit=self.images)
            place = (target.row, target.name, "natural", target.dataset, target.domain or "")
            natural[target] = Condition(*place, images=images)
        also = (replace(natural[target], row=target.corrupted_row) for target in self.targets if target.corrupted_row)
        return (*natural.values(), *(corrupted for each in (clean, *also) for corrupted in self._corrupt(each)))

    @property
    def left_out(self) -> dict[str, str]:
        """Estimators that come with openworld and cannot be had here, and why; none where the spec lists its own."""
        if self.estimators != self._usual():
            return {}
        lacking = ((name, self._lacking(EstimatorSpec(name))) for name in ESTIMATORS)
        return {name: why for name, why in lacking if why}

    def _pool(self, part: str, shots: int | None = None, sources: tuple[DatasetSpec, ...] = ()) -> ImageSelection:
        return pooled_images(sources or self.sources, part, shots)

    def _corrupt(self, clean: Condition) -> Iterator[Condition]:
        """Yield a condition under every corruption: of published images where there are such files, or made here."""
        whole = present(clean.images, "its images")
        for corruption in self.corruptions:
            for severity in self.severities:
                shift = {"corruption": corruption, "severity": severity}
                if not self.corrupted_files or corruption in self.made_here:
                    images = replace(whole, **shift, cut=self.cut)
                else:
                    condition = f"{corruption} {severity}"
                    files = (published_corrupted(one, self.corrupted_files, condition) for one in whole.sources)
                    images = replace(whole, sources=tuple(files))
                name = f"{clean.name} {corruption.replace('_', ' ')} {severity}".strip()
                yield replace(clean, name=name, kind="synthetic", images=images, **shift)

    def _require_images(self) -> None:
        """Refuse a run without conditions, and files that hold other images than the corruptions that are asked for."""
        if not (self.targets or self.corruptions):
            raise OpenworldError("there is no condition; give targets, corruptions, or both.")
        if not set(self.severities) <= set(SEVERITIES):
            raise OpenworldError(f"severities are {list(self.severities)}, expected some of {list(SEVERITIES)}.")
        if self.held_out is not None and self.shots is not None and self.train_part == "train":
            raise OpenworldError("held_out takes images out of all those of the training part; give shots = 0.")
        if self.made_here and not self.corrupted_files:
            raise OpenworldError("made_here is for corruptions that corrupted_files lack; give corrupted_files too.")
        published = [name for name, card in SHIFTED.items() if card.alike == CONDITIONS]
        if self.corrupted_files and self.corrupted_files not in published:
            raise unknown_name("data set of corrupted images", self.corrupted_files, published)
        if self.corrupted_files and self.corrupted_part != "test":
            raise OpenworldError(f"{self.corrupted_files} holds test images; leave corrupted_part out.")

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
        every = map(EstimatorSpec, ESTIMATORS)
        return tuple(self._with_reference(estimator) for estimator in every if not self._lacking(estimator))


def published_corrupted(clean: DatasetSpec, files: str, condition: str) -> DatasetSpec:
    """Return the published images of a data set under a condition such as "fog 3", of `files` such as "cifar10-c"."""
    # Data sets that have corruptions as domains, such as BREEDS' "source fog 3", are read by these instead.
    domain = f"{clean.domain or ''} {condition}".strip()
    domains = DATASETS[clean.dataset].domains if clean.dataset in DATASETS else ()
    return DatasetSpec(clean.dataset, domain) if domain in domains else DatasetSpec(files, condition)


def _known_corruptions(wanted) -> tuple[str, ...]:
    names = tuple(CORRUPTIONS) if wanted == "all" else tuple(wanted)
    for name in names:
        if name not in CORRUPTIONS:
            raise unknown_name("corruption", name, CORRUPTIONS)
    require_distinct({"corruptions": names}, least=0)
    return names
