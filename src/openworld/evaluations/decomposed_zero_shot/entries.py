"""What a spec of decomposed zero-shot accuracy lists: decompositions, and pictures in looks; and their image sets."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets import DATASETS
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.datasets.styles import STYLES
from openworld.evaluations.entries import DecompositionSpec, require_distinct, settle
from openworld.evaluations.image_selection import DRAWINGS, DatasetSpec, ImageSelection
from openworld.shift import DECOMPOSITIONS
from openworld.shift.appearance import PLAIN


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
        settle(self, label=self.label or self.method)
        self.split_by("embedded", 0)

    @property
    def has_seeds(self) -> bool:
        """Whether anything in it is drawn."""
        return hasattr(DECOMPOSITIONS[self.method], "loss")

    def split_by(self, backbone: str, seed: int, templates: tuple[str, ...] = ()) -> DecompositionSpec:
        """The same with the model whose features are split, a seed, and the sentences that teach."""
        return DecompositionSpec(backbone, self.method, self.settings, seed, templates)


@dataclass(frozen=True)
class ShownSpec(DatasetSpec):
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

    part: str = "test"
    row: str = ""
    looks: tuple[str, ...] = (PLAIN,)
    as_drawn: bool = False

    def __post_init__(self):
        super().__post_init__()
        shown = ", ".join(filter(None, (Path(self.dataset).name, self.domain)))
        settle(self, row=self.row or shown)
        require_distinct({f"looks of {shown}": self.looks})
        known = (PLAIN, *STYLES, *(f"{name} {severity}" for name in CORRUPTIONS for severity in SEVERITIES))
        for look in self.looks:
            if look not in known:
                raise unknown_name("look", look, known)
        if self.as_drawn and not (self.dataset in DATASETS and self.dataset.startswith(DRAWINGS)):
            raise OpenworldError(f"{self.dataset!r} holds no embedded drawings to show as drawn; leave as_drawn out.")


@dataclass(frozen=True)
class NamedSet:
    """An entry in one of its looks: `images` of it, by the class names of the first entry."""

    entry: ShownSpec
    look: str
    images: ImageSelection

    def __str__(self) -> str:
        named = (f"{self.entry.row}: {Path(self.entry.dataset).name}", self.entry.domain, self.entry.part, self.look)
        return ", ".join(filter(None, named))
