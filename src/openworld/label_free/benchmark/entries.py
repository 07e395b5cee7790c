"""What a spec of accuracy estimation lists beside estimators and references: models and targets."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError
from openworld.classifiers import Recipe, published
from openworld.classifiers.exported import LOADED_AS
from openworld.evaluations.entries import settle
from openworld.evaluations.image_selection import DatasetSpec
from openworld.runs import read_spec


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
            self._require_loadable()
        if "checkpoints" in self.recipe:
            raise OpenworldError(f"checkpoints of {self.architecture} stand beside its recipe, not in it.")
        architecture = "" if self.architecture in LOADED_AS else self.architecture
        settle(self, label=self.label or architecture or self.weights.partition("/{")[0])

    def _require_loadable(self) -> None:
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
        known = asdict(published(dataset)) | self.recipe
        known["checkpoints"] = self.checkpoints or (() if "epochs" in self.recipe else known["checkpoints"])
        recipe = read_spec(known, Recipe)
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
