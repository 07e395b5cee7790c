"""Which detector sees images out of distribution, on named sets near and far (as OpenOOD v1.5, Zhang et al., 2023).

Every detector of every model separates in-distribution test images from those of named sets: of other classes, near or
far in meaning, and of the same classes in another appearance. Every (model, seed) is one unit; before the units, a
stage trains the classifiers that are not given.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from openworld import datasets
from openworld.core.arrays import require_at_least, require_fraction
from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.cards import is_folder
from openworld.datasets.formats.folder import PARTS
from openworld.datasets.names.forms import normalise_class_name
from openworld.datasets.published.catalogue import BENCHMARKS
from openworld.evaluations.entries import PoolSpec, part_of, require_distinct, settle
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.own_data import is_held
from openworld.evaluations.shift_images import ShiftGround
from openworld.ood.detection_results import REPLICATES
from openworld.ood.judged_models import ModelsSpec
from openworld.ood.model_entries import JudgedSpec
from openworld.ood.models import ImagesToScore
from openworld.ood.scored_sets import GROUPS, SAME_CLASSES


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
            sets, domain = BENCHMARKS[self.dataset].sets, self.domain or ""
            if domain not in sets:
                known = ", ".join(sets)
                raise OpenworldError(f"{self.dataset} is in distribution; give one of its sets as domain: {known}.")
            corrupted = self.style.removeprefix(domain) if self.corruption else ""
            settle(self, group=self.group or sets[domain].group, name=self.name or sets[domain].title + corrupted)
        settle(self, group=self.group or "near")
        if self.group not in GROUPS:
            raise unknown_name("group", self.group, GROUPS)
        place = Path(self.dataset).name
        settle(self, name=self.name or (self.style if self.style.startswith(place) else f"{place} {self.style}"))


@dataclass(frozen=True)
class OODBenchmarkSpec(ModelsSpec):
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
        validation_part: the in-distribution images of the search, and those that thresholds are chosen on.
        seeds: of training, not negative.
        replicates: of the bootstrap that gives FPR and AUPR their intervals; 0 for none.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.
        flag_rate: choose a threshold for every detector that flags so many in-distribution images, a fraction, on
            average over validation sets; None for none.
        validated: whether in-distribution validation images are scored even where nothing is chosen on them.
        remarks: sentences that the page repeats.

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
    flag_rate: float | None = None
    validated: bool = False
    remarks: tuple[str, ...] = ()

    def __post_init__(self):
        require_at_least(1, threads=self.threads)
        require_fraction(flag_rate=self.flag_rate)
        require_distinct({"sources": self.sources, "seeds": self.seeds})
        require_distinct({"names of sets": [each.name for each in self.sets]})
        self.require_models()
        require_at_least(0, seeds=min(self.seeds), replicates=self.replicates)
        self._require_apart()

    def _require_apart(self) -> None:
        """Refuse images on which settings are searched, and that are tested or learned from, too."""
        lists = [entry.label for model in self.models for entry in model.detectors if entry.choose]
        if lists and not self.validation_sets:
            raise OpenworldError(f"{lists[0]} has candidates to choose from, but there are no validation_sets.")
        if not (self.validation_sets or self.flag_rate):
            return
        if self.validation_part in (self.train_part, self.id_part):
            raise OpenworldError(
                f"validation_part is {self.validation_part!r}, which is "
                f"{'learned from' if self.validation_part == self.train_part else 'tested'}; give another part."
            )
        tested = {_images(each, each.part): each.name for each in self.sets}
        tested |= {_images(source, self.id_part): "in distribution" for source in self.sources}
        for entry in self.validation_sets:
            if name := tested.get(_images(entry, entry.part)):
                raise OpenworldError(
                    f"{entry.dataset} {entry.domain or ''}, part {entry.part}, is searched on and tested ({name}); "
                    "search settings on images that no set shows."
                )

    @property
    def ground(self) -> ShiftGround:
        return part_of(self, ShiftGround, pool=(), base=(), new=(), images=None, cells=None)

    @property
    def others(self) -> tuple[ImagesToScore, ...]:
        return tuple(ImagesToScore(each.name, (images_of(each, self.ground),)) for each in self.sets)

    @property
    def tells_validation(self) -> bool:
        """Whether scores of validation images are kept, beside what a search says of them."""
        return self.flag_rate is not None or self.validated

    @property
    def validation(self) -> ImagesToScore | None:
        if not (self.validation_sets or self.tells_validation):
            return None
        return ImagesToScore("validation images", (replace(self.ground, id_part=self.validation_part).test,))

    @property
    def strange(self) -> tuple[ImagesToScore, ...]:
        return tuple(ImagesToScore(str(each), (images_of(each, self.ground),)) for each in self.validation_sets)


def images_of(entry: PoolSpec, ground: ShiftGround) -> ImageSelection:
    """Return the images of a set, in words; all of a folder without parts."""
    # Of a data set that is in distribution, too, those of some classes: the in-distribution ones where the set shows
    # the same classes (`SAME_CLASSES`), else the others.
    is_whole = (
        is_folder(entry.dataset)
        and not is_held(entry.dataset)
        and not entry.domain
        and not any(datasets.has_part(entry.dataset, part) for part in PARTS)
    )
    part = "" if is_whole else entry.part
    whole = entry.images(part, corruption=entry.corruption, severity=entry.severity)
    if entry.dataset in BENCHMARKS or entry.dataset not in [source.dataset for source in ground.sources]:
        return whole
    same, names = getattr(entry, "group", "near") in SAME_CLASSES, whole.load().classnames
    known = set(map(normalise_class_name, ground.names))
    places = tuple(place for place, name in enumerate(names) if (normalise_class_name(name) in known) == same)
    if not places:
        raise OpenworldError(
            f"{entry} shows {'no class that is' if same else 'only classes that are'} in distribution, and its group "
            f"is {getattr(entry, 'group', 'that of a validation set')}; give another group, or another set."
        )
    return replace(whole, classes=places) if len(places) < len(names) else whole


def _images(entry: DatasetSpec, part: str) -> tuple:
    """What says which images an entry shows, however they are corrupted."""
    return entry.dataset, entry.domain, part
