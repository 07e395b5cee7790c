"""CSP: NegLabel on a larger pool, of nouns and of adjectives joined with superclasses (Chen et al., 2024, "Conjugated
Semantic Pool Improves OOD Detection with Pre-trained Vision-Language Models").

What is new is the pool ("ivory scene", "bulbous object"): `conjugated_names` makes the names, `Texts.conjugated` holds
what was mined of them, behind the nouns. The score is NegLabel's.
"""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import AboveZero, Positive, checked
from openworld.detectors.neglabel import share_among
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class CSP(Fittable):
    """Mean over groups of the pool of: softmax over classes and group of cosines / T, summed over the classes.

    Args:
        temperature: T > 0, of cosines; 0.01 is CLIP's scale of 100.
        groups: into how many parts the pool is cut, at random, so that nouns and conjugated names mix; the last names
            that fill no part are left out. 1 for none.
        seed: of the cut. The public code permutes with torch's generator, so that single groups differ from its own.

    >>> import torch
    >>> from openworld.detectors.engine.texts import Texts
    >>> texts = Texts(torch.tensor([[1.0, 0.0]]), conjugated=torch.tensor([[1.0, 0.0]]))
    >>> CSP(groups=1).fit(Activations(texts=texts)).score(torch.tensor([[3.0, 4.0]])).tolist()
    [0.5]
    """

    temperature: AboveZero = 0.01
    groups: Positive = 100
    seed: int = 0

    card = DetectorCard("CSP", "Chen et al., 2024", "NegLabel on a conjugated pool", ("features", "texts"))

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N], in [0, 1]."""
        return share_among(self, activations, "conjugated")
