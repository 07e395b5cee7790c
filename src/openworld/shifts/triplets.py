"""Texts of labels in templates, and the triplets that teach which part of a feature says what (LAID, section 2.1).

A triplet is a standard text (label s, template c), one with another label (s', c), one with another template (s, c').
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.datasets.names.forms import readable_class_name
from openworld.datasets.templates import fill

SENTENCES = 1280
"""Encoded at a time."""


@checked
@dataclass(frozen=True, eq=False)
class Triplets:
    """Features of B triplets, float[B, D] each: standard, other label, other template."""

    standard: Tensor
    semantic_shift: Tensor
    covariate_shift: Tensor

    __repr__ = short_repr

    def __post_init__(self):
        shapes = [list(part.shape) for part in (self.standard, self.semantic_shift, self.covariate_shift)]
        if len(shapes[0]) != 2 or shapes[1:] != shapes[:1] * 2:
            raise OpenworldError(f"the features of the triplets have shapes {shapes}, expected [B, D] alike.")


@checked
def write_texts(labels: Sequence[str], templates: Sequence[str]) -> list[str]:
    """Every label in every template, label by label: S * C sentences.

    Encoded in this order they are float[S * C, D], and `.reshape(S, C, D)` is what LAID and PCA fit on.

    Args:
        labels: distinct names; underscores become spaces. templates: distinct, each with {} once.
    Raises:
        OpenworldError: a name or a template twice, a template without a place for the name.

    >>> write_texts(["cat", "sea_lion"], ["a {}.", "a drawing of a {}."])
    ['a cat.', 'a drawing of a cat.', 'a sea lion.', 'a drawing of a sea lion.']
    """
    spoken = [readable_class_name(label) for label in labels]
    for kind, values in (("label", spoken), ("template", templates)):
        value, times = max(Counter(values).items(), key=lambda item: item[1], default=(None, 0))
        if times > 1:
            raise OpenworldError(f"the {kind} {value!r} comes {times} times, and is no shift from itself; keep one.")
    columns = [fill(template, spoken) for template in templates]
    return [text for row in zip(*columns, strict=True) for text in row]


@torch.no_grad()
def text_grid(
    clip,
    names: Sequence[str],
    templates: Sequence[str],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Tensor:
    """Return features of names in templates, float32[S, C, D] on the CPU; `progress` hears of names.

    Of a backbone that has embeddings of names alone, `class_sentences`, those in its own sentences.
    """
    if hasattr(clip, "class_sentences"):
        return clip.class_sentences(names)
    together, parts = max(SENTENCES // len(templates), 1), []
    for start in range(0, len(names), together):
        some = names[start : start + together]
        parts.append(clip.encode_text(write_texts(some, templates)).float().cpu())
        progress(start + len(some), len(names))
    return torch.cat(parts).reshape(len(names), len(templates), -1)


def hold_out(kind: str, count: int, share: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return places int64, ascending, to train on and to validate on: a share in [0, 1), two or more, or none."""
    kept = max(2, round(share * count)) if share else 0
    if count - kept < 2:
        raise OpenworldError(
            f"{count} {kind} with {kept} held out leave {count - kept} to train on, and a triplet needs two; give more "
            f"{kind}, or hold none out."
        )
    order = torch.randperm(count, generator=generator)
    return order[kept:].sort().values, order[:kept].sort().values


def draw_triplets(texts: Tensor, labels: Tensor, templates: Tensor, count: int, seed: int) -> Triplets:
    """Draw `count` triplets, uniform over those that the given labels and templates allow."""
    generator = torch.Generator().manual_seed(seed)
    return next(triplets(texts, labels, templates, count, generator))


def triplets(
    texts: Tensor, labels: Tensor, templates: Tensor, count: int, generator: torch.Generator
) -> Iterator[Triplets]:
    """Yield batches of `count` triplets without end, s != s' and c != c', uniform, from texts float[S, C, D]."""
    while True:
        pairs = []  # places and other places, int64[count] each
        for places in (labels, templates):
            first = torch.randint(len(places), (count,), generator=generator)
            step = torch.randint(1, len(places), (count,), generator=generator)
            pairs.append((places[first], places[(first + step) % len(places)]))
        (s, other_s), (c, other_c) = pairs
        drawn = [texts[pair].to(torch.float32) for pair in ((s, c), (other_s, c), (s, other_c))]
        yield Triplets(*drawn)
