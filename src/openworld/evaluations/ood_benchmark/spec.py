"""Which detector sees images out of distribution, on named sets near and far (as OpenOOD v1.5, Zhang et al., 2023).

Every detector of every model separates in-distribution test images from those of named sets: of other classes, near or
far in meaning, and of the same classes in another appearance. Every (model, seed) is one unit; before the units, a
stage trains the classifiers that are not given.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError, unknown_name
from openworld.datasets.published.openood import BENCHMARKS, Benchmark
from openworld.evaluations.entries import PoolSpec, part_of, require_distinct, settle
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.model_entries import JudgedSpec
from openworld.evaluations.shift_images import ShiftGround
from openworld.results.detection_results import REPLICATES
from openworld.results.scored_sets import GROUPS


@dataclass(frozen=True)
class OODSetSpec(PoolSpec):
    """One set of images; of a data set that is in distribution, too, those of the classes that its group means.

    Args:
        group: of `GROUPS`: "near" or "far" of other classes; "covariate" of the same classes in another appearance,
            or "full-spectrum", which also counts as in-distribution in a second round of near and far numbers. By
            default that of a set of OpenOOD's benchmarks (dataset "openood:imagenet", domain "ninco"), else near.
        name: what tables call it; by default its data set, with its style, or as papers call it.

    Raises:
        OpenworldError: an unknown group, and what `PoolSpec` raises.
    """

    group: str = ""
    name: str = ""

    def __post_init__(self):
        super().__post_init__()
        if self.dataset in BENCHMARKS:
            self._settle_known(BENCHMARKS[self.dataset])
        settle(self, group=self.group or "near")
        if self.group not in GROUPS:
            raise unknown_name("group", self.group, GROUPS)
        place = Path(self.dataset).name
        settle(self, name=self.name or (self.style if self.style.startswith(place) else f"{place} {self.style}"))

    def _settle_known(self, benchmark: Benchmark) -> None:
        if self.domain not in benchmark.sets:
            sets = ", ".join(benchmark.sets)
            raise OpenworldError(f"{self.dataset} is in distribution; give one of its sets as domain: {sets}.")
        known = benchmark.sets[self.domain]
        corrupted = self.style.removeprefix(self.domain) if self.corruption else ""
        settle(self, group=self.group or known.group, name=self.name or known.title + corrupted)


@dataclass(frozen=True)
class OODBenchmarkSpec:
    """Compare detectors on named sets of images, near, far, and shifted in appearance.

    Args:
        sources: data sets whose images are in distribution, pooled; the class names are those of the first.
        sets: what is tested beside their test images.
        models: whose detectors are compared; classifiers over all seeds.
        classes: which of the sources' classes are in distribution: the "base" half, or "all".
        train_part, shots: what is learned from; shots per class of each source, drawn once for all seeds; None for all.
        id_part: the in-distribution images that detectors are tested on.
        validation_sets: images out of distribution on which settings of detectors are searched (published candidates,
            or those of `choose`), and that no set shows; none for no search.
        validation_part: the in-distribution images of the search.
        seeds: of training, not negative.
        replicates: of the bootstrap that gives FPR and AUPR their intervals; 0 for none.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.

    Raises:
        OpenworldError: no model, seed, source or set; repeated ones; a number outside its range; images that are both
            searched on and tested or learned from.
    """

    sources: tuple[DatasetSpec, ...]
    sets: tuple[OODSetSpec, ...]
    models: tuple[JudgedSpec, ...]
    protocol: Literal["ood-benchmark"] = "ood-benchmark"
    classes: Literal["base", "all"] = "all"
    train_part: str = "train"
    shots: int | None = 16
    id_part: str = "test"
    seeds: tuple[int, ...] = (0, 1, 2)
    replicates: int = REPLICATES
    threads: int = 1
    validation_sets: tuple[PoolSpec, ...] = ()
    validation_part: str = "validation"

    def __post_init__(self):
        require_at_least(1, threads=self.threads)
        require_distinct({"sources": self.sources, "seeds": self.seeds})
        require_distinct({"names of sets": [each.name for each in self.sets]})
        require_distinct({"labels of models": [model.label for model in self.models]})
        require_at_least(0, seeds=min(self.seeds), replicates=self.replicates)
        if self.train_part == self.id_part:
            raise OpenworldError(
                f"train_part and id_part are both {self.id_part!r}; test on images that nothing learned from."
            )
        self._require_apart()

    def _require_apart(self) -> None:
        """Refuse images on which settings are searched, and that are tested or learned from, too."""
        if not self.validation_sets:
            if lists := [entry.label for model in self.models for entry in model.detectors if entry.choose]:
                raise OpenworldError(f"{lists[0]} has candidates to choose from, but there are no validation_sets.")
            return
        if self.validation_part in (self.train_part, self.id_part):
            raise OpenworldError(
                f"validation_part is {self.validation_part!r}, which is "
                f"{'learned from' if self.validation_part == self.train_part else 'tested'}; give another part."
            )
        tested = {_images(each): each.name for each in self.sets}
        tested |= {_images(source, self.id_part): "in distribution" for source in self.sources}
        for entry in self.validation_sets:
            if name := tested.get(_images(entry)):
                raise OpenworldError(
                    f"{entry.dataset} {entry.domain or ''}, part {entry.part}, is searched on and tested ({name}); "
                    "search settings on images that no set shows."
                )

    @property
    def ground(self) -> ShiftGround:
        """The images of the run."""
        return part_of(self, ShiftGround, pool=self.sets, base=(), new=(), images=None, cells=None)


def _images(entry: DatasetSpec, part: str = "") -> tuple:
    """What says which images an entry shows, however they are corrupted."""
    return entry.dataset, entry.domain, part or entry.part
