"""Captions of a concept: templates around its name, its keywords or its subgroup; some say how it is drawn.

Words are split at spaces before the byte pairs are merged, so the tokens of a caption are the tokens of its pieces laid
end to end: pieces are tokenised once, and a caption costs a list concatenation.
"""

import re
from dataclasses import dataclass, field

import numpy as np
from tokenizers import Tokenizer

from openworld.datasets.emoji.drawings import Concept

TEMPLATES = (
    "a photo of a {}.",
    "a photo of a {}",
    "a photo of {}.",
    "a photo of the {}.",
    "a picture of a {}.",
    "a picture of {}",
    "an image of a {}.",
    "an image of {}",
    "a drawing of a {}.",
    "a drawing of {}",
    "an icon of a {}.",
    "an icon of {}.",
    "a {} icon",
    "the {} emoji",
    "an emoji of a {}.",
    "this is a {}.",
    "a {}.",
    "{}.",
    "{}",
)
STYLED = (
    "a {style} icon of a {name}.",
    "a {style} drawing of a {name}.",
    "a {style} picture of {name}.",
    "a {style} photo of a {name}.",
    "a {style} {name}.",
    "{style} {name}",
    "a {name}, {style}.",
)
STYLE_WORDS = {
    "noto": ("shaded", "colourful", "soft"),
    "noto-v1": ("blob", "rounded", "colourful"),
    "fluent-emoji-flat": ("flat", "colourful", "plain"),
    "fluent-emoji": ("glossy", "shiny", "3d"),
    "emojione": ("flat", "colourful", "bright"),
    "grey": ("grey", "greyscale", "colourless"),
    "edges": ("outlined", "line", "black and white"),
    "threshold": ("black and white", "monochrome", "high contrast"),
    "cutout": ("black and white", "monochrome", "silhouette"),
    "outline": ("outlined", "cartoon", "comic"),
}
# How often a caption speaks of the name, name and keywords, keywords alone, subgroup alone.
FORMS = ("name", "name+keywords", "keywords", "subgroup")
FORM_SHARES = (0.6, 0.2, 0.14, 0.06)
STYLED_SHARE = 0.2
LONGEST = 30


@dataclass(frozen=True)
class Captions:
    """Draws tokenised captions of concepts; `pieces` remembers the tokens of every phrase met so far."""

    concepts: tuple[Concept, ...]
    tokenizer: Tokenizer
    pieces: dict[str, list[int]] = field(default_factory=dict)

    def draw(self, concept: int, look: str | None, random: np.random.Generator) -> list[int]:
        """Token ids of one random caption, start and end included; `look` is a key of STYLE_WORDS or None."""
        phrase = self.phrase(self.concepts[concept], random)
        if look is not None and random.random() < STYLED_SHARE:
            style = str(random.choice(STYLE_WORDS[look]))
            text = str(random.choice(STYLED)).replace("{style}", style).replace("{name}", "{}")
        else:
            text = str(random.choice(TEMPLATES))
        before, after = text.split("{}")
        tokens = self.tokens(before) + self.tokens(phrase) + self.tokens(after)
        start, end = self.tokenizer.encode("").ids
        return [start, *tokens[:LONGEST], end]

    def phrase(self, concept: Concept, random: np.random.Generator) -> str:
        """What the caption speaks of, in words."""
        form = random.choice(FORMS, p=FORM_SHARES)
        keywords = [word for word in concept.keywords if word != concept.name]
        if form == "subgroup":
            return plain(concept.subgroup)
        if form == "name" or not keywords:
            return plain(concept.name)
        chosen = random.permutation(keywords)[: random.integers(1, 4)].tolist()
        words = chosen if form == "keywords" else [concept.name, *chosen]
        return ", ".join(plain(word) for word in words)

    def tokens(self, text: str) -> list[int]:
        """Token ids of a phrase without start and end, remembered."""
        if text not in self.pieces:
            self.pieces[text] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return self.pieces[text]


def plain(text: str) -> str:
    """A phrase as a class name: hyphens and underscores become spaces, no colons or quotes.

    >>> plain("face-smiling")
    'face smiling'
    """
    return re.sub(r"\s+", " ", re.sub(r"[-_:“”\"]", " ", text)).strip()


def corpus(concepts: tuple[Concept, ...]) -> list[str]:
    """Texts the tokenizer is trained on: names weigh four times, templates once per few concepts."""
    words = [plain(text) for concept in concepts for text in (*[concept.name] * 4, *concept.keywords, concept.subgroup)]
    styles = [word for words in STYLE_WORDS.values() for word in words]
    templates = [template.format("") for template in TEMPLATES]
    styled = [template.format(style="", name="") for template in STYLED]
    return words + 20 * (styles + templates + styled)


def pad(captions: list[list[int]]) -> np.ndarray:
    """Token lists as int64[C, longest], filled up with the end token.

    >>> pad([[1, 9], [1, 2, 9]]).tolist()
    [[1, 9, 9], [1, 2, 9]]
    """
    longest = max(map(len, captions))
    return np.array([tokens + tokens[-1:] * (longest - len(tokens)) for tokens in captions], dtype=np.int64)
