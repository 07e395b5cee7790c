"""What a spec of decomposed zero-shot accuracy lists: decompositions, and pictures in looks; and their image sets."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets import DATASETS, ImageSet, emoji
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.datasets.pooling import few
from openworld.datasets.styles import STYLES
from openworld.evaluations.image_selection import DRAW, Pictures
from openworld.evaluations.runtime import Source, cached_here
from openworld.evaluations.shift_entries import DecompositionSpec
from openworld.shift import DECOMPOSITIONS, in_looks
from openworld.shift.appearance import PLAIN

DRAWN = "emoji-"
"""What the names of data sets of drawings begin with."""


@dataclass(frozen=True)
class HalvesSpec:
    """One way to split features.

    Args:
        method: a key of `openworld.shift.DECOMPOSITIONS`.
        label: what tables call it; needed where one method runs with several settings.
        settings: its own, where they differ from its defaults.

    Raises:
        OpenworldError: an unknown method or setting.
    """

    method: str
    label: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "label", self.label or self.method)
        self.split_by("embedded", 0)

    @property
    def has_seeds(self) -> bool:
        """Whether anything in it is drawn."""
        return hasattr(DECOMPOSITIONS[self.method], "loss")

    def split_by(self, backbone: str, seed: int, templates: tuple[str, ...] = ()) -> DecompositionSpec:
        """The same with the model whose features are split, a seed, and the sentences that teach."""
        return DecompositionSpec(backbone, self.method, self.settings, seed, templates)


@dataclass(frozen=True)
class ShownSpec:
    """Labelled pictures whose classes are named.

    Args:
        dataset, domain, part: as for a data set anywhere.
        row: what tables call it; entries of one row are averaged. By default the data set and its domain.
        looks: in which they are shown, one after the other: "plain", names of `datasets.styles.STYLES`, or a corruption
            with its severity ("fog 3"); a row is the mean over them.
        as_drawn: of embedded drawings, every one once, as it is, on white.

    Raises:
        OpenworldError: no look, one twice or an unknown one; `as_drawn` of other data.
    """

    dataset: str
    domain: str | None = None
    part: str = "test"
    row: str = ""
    looks: tuple[str, ...] = (PLAIN,)
    as_drawn: bool = False

    def __post_init__(self):
        card = DATASETS.get(self.dataset)
        object.__setattr__(self, "domain", self.domain or (card.domains[0] if card else "") or None)
        shown = ", ".join(filter(None, (Path(self.dataset).name, self.domain)))
        object.__setattr__(self, "row", self.row or shown)
        if not self.looks or len(set(self.looks)) < len(self.looks):
            raise OpenworldError(f"the looks of {shown} are {list(self.looks)}; give one at least, each once.")
        known = (PLAIN, *STYLES, *(f"{name} {severity}" for name in CORRUPTIONS for severity in SEVERITIES))
        for look in self.looks:
            if look not in known:
                raise unknown_name("look", look, known)
        if self.as_drawn and not (card and self.dataset.startswith(DRAWN)):
            raise OpenworldError(f"{self.dataset!r} holds no embedded drawings to show as drawn; leave as_drawn out.")


@dataclass(frozen=True)
class Shown:
    """One image set: an entry in one of its looks, by the class names of the first entry.

    Args:
        names_of: whose class names count. images: so many pictures, classes in their shares; None for all.
    """

    entry: ShownSpec
    look: str
    names_of: Source
    images: int | None

    def __str__(self) -> str:
        named = (f"{self.entry.row}: {Path(self.entry.dataset).name}", self.entry.domain, self.entry.part, self.look)
        return ", ".join(filter(None, named))

    def load(self) -> ImageSet:
        """The image set itself."""
        return in_looks(_plain(self.entry, self.names_of, self.images), (self.look,), seed=DRAW)[0]


@cached_here(maxsize=16)
def _plain(entry: ShownSpec, names_of: Source, limit: int | None) -> ImageSet:
    if not entry.as_drawn:
        return Pictures((Source(entry.dataset, entry.domain, entry.part),), names_of, limit).load()
    drawn = emoji.load(entry.dataset.removeprefix(DRAWN), entry.domain, entry.part, clean=True)
    return drawn if limit is None else drawn.subset(few(drawn, limit, seed=DRAW))
