"""What a spec of decomposed zero-shot accuracy lists: decompositions, and images in appearances."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets import DATASETS
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.datasets.styles import STYLES
from openworld.evaluations.entries import DecompositionSpec, require_distinct, settle
from openworld.evaluations.image_selection import DRAWINGS, DatasetSpec
from openworld.shifts import DECOMPOSITIONS
from openworld.shifts.appearance import PLAIN


@dataclass(frozen=True)
class HalvesSpec:
    """One way to split features."""

    method: str  # a key of `openworld.shifts.DECOMPOSITIONS`
    label: str = ""  # what tables call it; needed where one method runs with several settings
    settings: dict[str, Any] = field(default_factory=dict)  # its own, where they differ from its defaults

    def __post_init__(self):
        settle(self, label=self.label or self.method)
        self.split_by("embedded", 0)

    @property
    def has_seeds(self) -> bool:
        """Whether anything in it is drawn."""
        return hasattr(DECOMPOSITIONS[self.method], "loss")

    def split_by(self, backbone: str, seed: int, templates: tuple[str, ...] = ()) -> DecompositionSpec:
        """Return the decomposition with the model whose features are split, a seed, and the sentences that teach."""
        return DecompositionSpec(backbone, self.method, self.settings, seed, templates)


@dataclass(frozen=True)
class LabelledSetSpec(DatasetSpec):
    """Labelled images whose classes are named."""

    part: str = "test"
    row: str = ""  # what tables call it; entries of one row are averaged. By default the data set and its domain
    # Appearances in turn: "plain", names of `datasets.styles.STYLES`, or a corruption with its severity ("fog 3").
    looks: tuple[str, ...] = (PLAIN,)
    as_drawn: bool = False  # of embedded drawings, every one once, as it is, on white

    def __post_init__(self):
        super().__post_init__()
        name = ", ".join(filter(None, (Path(self.dataset).name, self.domain)))
        settle(self, row=self.row or name)
        known = (PLAIN, *STYLES, *(f"{corruption} {severity}" for corruption in CORRUPTIONS for severity in SEVERITIES))
        printed = {look.replace("_", " "): look for look in known}  # as pages write it
        settle(self, looks=tuple(printed.get(look, look) for look in self.looks))
        require_distinct({f"looks of {name}": self.looks})
        for appearance in self.looks:
            if appearance not in known:
                raise unknown_name("appearance", appearance, known)
        if self.as_drawn and not (self.dataset in DATASETS and self.dataset.startswith(DRAWINGS)):
            raise OpenworldError(f"{self.dataset!r} holds no embedded drawings to show as drawn; leave as_drawn out.")

    def title(self, appearance: str) -> str:
        """What its images are called in one of its appearances."""
        name = f"{self.row}: {Path(self.dataset).name}"
        return ", ".join(filter(None, (name, self.domain, self.part, "as drawn" if self.as_drawn else "", appearance)))
