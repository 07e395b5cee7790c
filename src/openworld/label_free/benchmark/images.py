"""The images of an accuracy-estimation run: what is trained on, the labelled source set, and every condition."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from openworld.datasets import DATASETS
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection, pooled_images
from openworld.label_free.benchmark.arrays import Condition
from openworld.label_free.benchmark.entries import TargetSpec


def published_corrupted(clean: DatasetSpec, files: str, condition: str) -> DatasetSpec:
    """Return the published images of a data set under a condition such as "fog 3", of `files` such as "cifar10-c"."""
    # Data sets that have corruptions as domains, such as BREEDS' "source fog 3", are read by these instead.
    own = f"{clean.domain or ''} {condition}".strip()
    known = DATASETS[clean.dataset].domains if clean.dataset in DATASETS else ()
    return DatasetSpec(clean.dataset, own) if own in known else DatasetSpec(files, condition)


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Fields of a spec that say what images there are."""

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

    @property
    def training(self) -> ImageSelection:
        """What models are trained on."""
        pool = self._pool(self.train_part, self.shots)
        return replace(pool, limit=self.held_out, rest=self.held_out is not None)

    @property
    def source(self) -> ImageSelection:
        """The labelled source set."""
        if self.held_out is not None:
            return replace(self._pool(self.train_part, None), limit=self.held_out)
        return self._pool(self.source_part)

    @property
    def labelled_shifts(self) -> tuple[ImageSelection, ...]:
        """The source set under every corruption, severities in turn: what scores of whole sets are fitted on."""
        source = self.source
        limit = min(filter(None, (self.images, source.limit)), default=None)
        drawn = replace(source, limit=limit, cut=self.cut)
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

    def _corrupt(self, clean: Condition) -> Iterator[Condition]:
        for corruption in self.corruptions:
            for severity in self.severities:
                name = f"{clean.name} {corruption.replace('_', ' ')} {severity}".strip()
                images = self._corrupted(clean.images, corruption, severity)
                shift = {"corruption": corruption, "severity": severity}
                yield replace(clean, name=name, kind="synthetic", images=images, **shift)

    def _corrupted(self, images: ImageSelection, corruption: str, severity: int) -> ImageSelection:
        """Return published images under a corruption where there are such files, else images made here."""
        if not self.corrupted_files or corruption in self.made_here:
            return replace(images, corruption=corruption, severity=severity, cut=self.cut)
        condition = f"{corruption} {severity}"
        published = (published_corrupted(source, self.corrupted_files, condition) for source in images.sources)
        return replace(images, sources=tuple(published))

    @property
    def corrupted_sets(self) -> tuple[DatasetSpec, ...]:
        """Published corrupted data sets that are read, each in its first condition."""
        return (DatasetSpec(self.corrupted_files),) if self.corrupted_files and self.corruptions else ()

    def _pool(self, part: str, shots: int | None = None, sources: tuple[DatasetSpec, ...] = ()) -> ImageSelection:
        return pooled_images(sources or self.sources, part, shots)
