"""The pictures of an accuracy-estimation run: what is trained on, the labelled source set, and every condition."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from openworld.datasets import DATASETS, ImageSet
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES, corrupted
from openworld.datasets.formats.file_list import listed
from openworld.datasets.pooling import few, of_classes, pooled
from openworld.evaluations.estimation_entries import TargetSpec
from openworld.evaluations.runtime import Source, cached_here


@dataclass(frozen=True)
class DataSpec:
    """A data set in one domain.

    Args:
        dataset: a name of `openworld list datasets`, or a path to a folder.
        domain: left out, the data set's first or only one.
    """

    dataset: str
    domain: str | None = None

    def __post_init__(self):
        card = DATASETS.get(self.dataset)
        object.__setattr__(self, "domain", self.domain or (card.domains[0] if card else "") or None)

    def __str__(self) -> str:
        return f"{self.dataset}, {self.domain}" if self.domain else self.dataset


DRAW = 0
"""Seed of every draw of pictures: a run's seeds are of training alone, as in the papers."""


@dataclass(frozen=True)
class Pictures:
    """An image set in words: parts of data sets pooled, some of that drawn, and corrupted.

    Args:
        sources: what is pooled, one behind the other; the class names are those of `names_of`.
        names_of: whose names count; None for the first of the sources.
        limit: so many pictures, classes in their shares; None for all.
        rest: all but those `limit` pictures instead.
        classes: only pictures of these classes, whose names alone are left, in this order; None for all.
        corruption, severity, cut: as for `datasets.corruptions.corrupted`; corruption None for pictures as they are.
        listed: a text file, as for `datasets.formats.file_list`: only the pictures whose files it names; "" for all.
    """

    sources: tuple[Source, ...]
    names_of: Source | None = None
    limit: int | None = None
    rest: bool = False
    classes: tuple[int, ...] | None = None
    corruption: str | None = None
    severity: int | None = None
    cut: int | None = None
    listed: str = ""

    def load(self) -> ImageSet:
        """The image set itself."""
        return _load(self)


@cached_here(maxsize=256)
def _load(pictures: Pictures) -> ImageSet:
    names = pictures.names_of.load().classnames if pictures.names_of else None
    images = pooled([one.load() for one in pictures.sources], names)
    if pictures.classes is not None:
        images = of_classes(images, pictures.classes)
    if pictures.listed:
        images = images.subset(listed(images, pictures.listed))
    if pictures.limit is not None:
        chosen = few(images, pictures.limit, seed=DRAW)
        images = images.subset(np.setdiff1d(np.arange(len(images)), chosen) if pictures.rest else chosen)
    if pictures.corruption is None:
        return images
    return corrupted(images, pictures.corruption, pictures.severity, seed=DRAW, cut=pictures.cut)


@dataclass(frozen=True)
class Condition:
    """Pictures on which accuracy is estimated, and how tables speak of them."""

    name: str
    row: str
    kind: Literal["natural", "synthetic"]
    dataset: str
    domain: str
    pictures: Pictures

    def described(self) -> dict:
        """What a record says of it, numbers aside."""
        told = {name: getattr(self, name) for name in ("name", "row", "kind", "dataset", "domain")}
        return told | {"corruption": self.pictures.corruption, "severity": self.pictures.severity}


@dataclass(frozen=True)
class Ground:
    """The fields of a spec that say what pictures there are; see `AccuracyEstimationSpec`."""

    sources: tuple[DataSpec, ...]
    train_part: str
    shots: int | None
    source_part: str
    held_out: int | None
    targets: tuple[TargetSpec, ...]
    corruptions: tuple[str, ...]
    severities: tuple[int, ...]
    corrupted_part: str
    corruption_row: str
    cut: int | None
    images: int | None

    @property
    def training(self) -> Pictures:
        """What models are trained on."""
        pool = self._pool(self.train_part, self.shots)
        return replace(pool, limit=self.held_out, rest=self.held_out is not None)

    @property
    def source(self) -> Pictures:
        """The labelled source set."""
        if self.held_out is not None:
            return replace(self._pool(self.train_part, None), limit=self.held_out)
        return self._pool(self.source_part)

    @property
    def labelled_shifts(self) -> tuple[Pictures, ...]:
        """The source set under every corruption, severities in turn: what scores of whole sets are fitted on."""
        source = self.source
        limit = min(filter(None, (self.images, source.limit)), default=None)
        drawn = replace(source, limit=limit, cut=self.cut)
        severities = [SEVERITIES[place % len(SEVERITIES)] for place in range(len(CORRUPTIONS))]
        pairs = zip(CORRUPTIONS, severities, strict=True)
        return tuple(replace(drawn, corruption=name, severity=severity) for name, severity in pairs)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Targets in the order of the spec, then the sources under every corruption, then corrupted targets."""
        return tuple(self._conditions())

    @property
    def names_of(self) -> Source:
        """The set whose class names count."""
        return self.training.sources[0]

    def _conditions(self) -> Iterator[Condition]:
        for target in self.targets:
            yield self._natural(target)
        home = Pictures(self._pool(self.corrupted_part).sources, limit=self.images)
        domain = " + ".join(dict.fromkeys(one.domain for one in self.sources if one.domain))
        own = Condition("", self.corruption_row, "synthetic", self.sources[0].dataset, domain, home)
        yield from self._corrupted(own)
        for target in self.targets:
            if target.corrupted_row:
                yield from self._corrupted(replace(self._natural(target), row=target.corrupted_row))

    def _natural(self, target: TargetSpec) -> Condition:
        source = Source(target.dataset, target.domain, target.part)
        pictures = Pictures((source,), self.names_of, self.images)
        return Condition(target.name, target.row, "natural", target.dataset, target.domain or "", pictures)

    def _corrupted(self, clean: Condition) -> Iterator[Condition]:
        for corruption in self.corruptions:
            for severity in self.severities:
                pictures = replace(clean.pictures, corruption=corruption, severity=severity, cut=self.cut)
                name = f"{clean.name} {corruption.replace('_', ' ')} {severity}".strip()
                yield replace(clean, name=name, kind="synthetic", pictures=pictures)

    def _pool(self, part: str, shots: int | None = None) -> Pictures:
        drawn = {"seed": DRAW, "shots": shots} if part == "train" else {}
        return Pictures(tuple(Source(one.dataset, one.domain, part, **drawn) for one in self.sources))
