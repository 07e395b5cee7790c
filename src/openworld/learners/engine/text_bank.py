"""Text features of base and new names, answers by cosine to them, and the default detection score."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor
from torch.nn.functional import normalize

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.datasets.names.forms import normalise_class_name
from openworld.learners.engine.images import Answer

Subset = Literal["base", "new", "all"]


@checked
@dataclass(frozen=True)
class NameSets:
    """The class names of an evaluation, and those that the learner was trained on.

    Args:
        base: names of the base classes, among which the learner chooses at test time.
        new: names of the new classes; may be empty.
        training: names that the learner was fitted with, in label order; those of `base` where none are given.

    Raises:
        OpenworldError: no base name, an empty name, or two names that differ by case, outer spaces or "_" alone.

    >>> NameSets(("cat", "wild_dog"), ("owl",)).all
    ('cat', 'wild_dog', 'owl')
    """

    base: tuple[str, ...]
    new: tuple[str, ...] = ()
    training: tuple[str, ...] = ()

    __repr__ = short_repr

    def __post_init__(self):
        if not self.base:
            raise OpenworldError("there is no base name; give at least one.")
        require_distinct(self.base + self.new)
        object.__setattr__(self, "training", self.training or self.base)

    @property
    def all(self) -> tuple[str, ...]:
        """Base names, then new names: the column order of logits over all names."""
        return self.base + self.new

    def training_places(self) -> list[int]:
        """Return the label in training of every name of `all`; -1 for one that the learner was not fitted with."""
        places = {normalise_class_name(name): place for place, name in enumerate(self.training)}
        return [places.get(normalise_class_name(name), -1) for name in self.all]


@dataclass(frozen=True)
class TextBank:
    """What a fitted learner compares images with.

    Args:
        text: float[C, D], unit vectors, base names first.
        base_count: number of base names.
        scale: logit scale, 0-d.
        parts: what else a learner compares images with; its `text_bank` says what.
    """

    text: Tensor
    base_count: int
    scale: Tensor
    parts: Any = None

    __repr__ = short_repr


def require_distinct(names: Sequence[str]) -> None:
    """Refuse an empty name, and two classes of the same name: no prompt could tell them apart."""
    for name, count in Counter(map(normalise_class_name, names)).most_common():
        if not name:
            raise OpenworldError(f"{count} of {len(names)} class names are empty; every class needs one.")
        if count > 1:
            raise OpenworldError(f"the class name {name!r} occurs {count} times; rename or merge those classes.")


def cosine_logits(embeddings: Tensor, text: Tensor, scale: Tensor) -> Tensor:
    """Return scale * cosine, float[..., N, C], of embeddings [..., N, D] with text features [..., C, D]."""
    return scale * normalize(embeddings, dim=-1) @ normalize(text, dim=-1).mT


def answer_by_cosine(embeddings: Tensor, bank: TextBank) -> Answer:
    """Return cosine logits of embeddings float[N, D] over all names, and the default detection score."""
    return answer_of(cosine_logits(embeddings, bank.text, bank.scale), bank.base_count)


def answer_of(logits: Tensor, base_count: int) -> Answer:
    """Return logits float[N, C] over base names, then new names, with the default detection score."""
    return Answer(logits, largest_base_log_probability(logits, base_count))


def whole_and_surest_patch(cosines: Tensor, patches: Tensor) -> Tensor:
    """Return GL-MCM (Miyai et al., 2025) of cosines [N, C] and of those of patches [N, P, C], in (0, 2]."""
    return cosines.softmax(dim=-1).amax(dim=-1) + patches.softmax(dim=-1).amax(dim=(1, 2))


def largest_base_log_probability(logits: Tensor, base_count: int) -> Tensor:
    """Return the log of the largest base softmax over base and new names, float[N]."""
    # Appendix C.3 of OpenworldAUC (Hua et al., 2025). The logarithm keeps scores near probability one apart in float32;
    # their order is the softmax's.
    return logits.log_softmax(dim=-1)[:, :base_count].amax(dim=-1)
