"""NegLabel: how much of a softmax falls on class names rather than on names far from all of them (Jiang et al., 2024,
"Negative Label Guided OOD Detection with Pretrained Vision-Language Models")."""

from dataclasses import dataclass

from torch import Tensor

from openworld._arrays import require_at_least
from openworld._types import checked
from openworld.detectors.engine.name_groups import name_groups, share_of_classes
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, require_positive


@checked
@dataclass(frozen=True)
class NegLabel(Fittable):
    """Mean over groups of negative names of: softmax over classes and group of cosines / T, summed over the classes.

    Args:
        temperature: T > 0, of cosines; 0.01 is CLIP's scale of 100.
        groups: into how many parts the negative names are cut, at random; the last names that fill no part are left
            out. 1 for none.
        seed: of the cut. The public code permutes with torch's generator, so that single groups differ from its own.

    >>> import torch
    >>> from openworld.detectors.engine.texts import Texts
    >>> texts = Texts(torch.tensor([[1.0, 0.0]]), negative=torch.tensor([[1.0, 0.0]]))
    >>> NegLabel(groups=1).fit(Activations(texts=texts)).score(torch.tensor([[3.0, 4.0]])).tolist()
    [0.5]
    """

    temperature: float = 0.01
    groups: int = 100
    seed: int = 0

    card = DetectorCard("NegLabel", "Jiang et al., 2024", "class names against names far away", ("features", "texts"))

    def __post_init__(self):
        require_positive(temperature=self.temperature)
        require_at_least(1, groups=self.groups)

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N], in [0, 1]."""
        negative = activations.texts.to(activations.unit).negative
        groups = name_groups(negative, self.groups, self.seed, who=self.name, lacking="negative texts")
        of_groups = (activations.unit @ negative[group].mT / self.temperature for group in groups)
        return share_of_classes(activations.cosines / self.temperature, of_groups)
