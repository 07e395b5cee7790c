"""`GivenEncoder`: embeddings of class names in the place of a two-tower model that is not here.

It reads class names, and nothing else: images come embedded, too, as a data set of embeddings.
"""

from collections.abc import Sequence

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn.functional import normalize

from openworld.backbones.foreign.encoder import ForeignEncoder, ForeignModel
from openworld.core.errors import OpenworldError
from openworld.tables.classes import normalise_class_name
from openworld.tables.embeddings import Embeddings, read_embeddings


def load(name: str) -> "GivenEncoder":
    return GivenEncoder(read_embeddings(name), name)


class GivenEncoder(ForeignEncoder):
    """A `DualEncoder` that knows the embeddings of some class names."""

    def __init__(self, given: Embeddings, name: str = ""):
        self.classnames, self.sentences = given.classnames, torch.from_numpy(given.classes)
        self._width = given.classes.shape[-1]
        self._place = {normalise_class_name(name): place for place, name in enumerate(given.classnames or ())}
        # Of several sentences, the mean of unit embeddings, as an ensemble of templates has it.
        self._classes = (
            normalize(self.sentences, dim=-1).mean(1) if given.classes.shape[1] > 1 else self.sentences[:, 0]
        )
        name = name or given.name
        model = ForeignModel(
            module=nn.Module(),
            architecture=f"embeddings {given.content}",
            embed_images=lambda pixels: pixels,
            embed_sentences=self._look_up,
            prepare=self._no_images,
            preparation="",
            logit_scale=torch.tensor(given.logit_scale),
            title="embeddings of class names",
        )
        super().__init__(name, model, "cpu", torch.float32)

    def class_sentences(self, names: Sequence[str]) -> Tensor:
        """Return float32[C, S, D], each name in every sentence."""
        if self.sentences.shape[1] < 2:
            raise OpenworldError(
                f"{self.name} has each class name in one sentence, and LAID learns from several what is meaning: give "
                "class_embeddings [C, S, D], or a fitted decomposition with --laid."
            )
        return self.sentences[[self._index(name) for name in names]]

    def _look_up(self, texts: Sequence[str]) -> Tensor:
        return self._classes[[self._index(getattr(text, "classname", text)) for text in texts]]

    def _index(self, name: str) -> int:
        place = self._place.get(normalise_class_name(name))
        if place is None:
            examples = ", ".join(list(self._place)[:5])
            raise OpenworldError(
                f"{self.name} has no embedding of {str(name)!r}; it knows {len(self._place)} class names ({examples}, "
                "...), and cannot embed others."
            )
        return place

    def _no_images(self, image: Image.Image) -> np.ndarray:
        raise OpenworldError(f"{self.name} holds embeddings and cannot look at images; give embeddings of that model.")

    def _side(self) -> int:
        return 1  # it looks at no image

    def _joint_dimension(self) -> int:
        return self._width

    @property
    def preprocess_fingerprint(self) -> str:
        return "no images"
