"""Prompts: every label in every style, the table of styles, and how far each text is from the reference images.

The paper (Long et al., 2024, appendix D) names 51 styles and takes their sentences from SDXL's published templates;
styles.toml holds its names with sentences of this project's own. A table of your own has the same form, or is one of
the JSON files in which SDXL's templates go around (sdxl_styles_sai.json, sdxl_styles_twri.json of "SDXL prompt
styler"): `published_styles` takes the paper's 51 out of them. Texts and images of a two-tower model lie apart, so the
degrees of prompts are larger than those of the images that come of them, and need cuts of their own.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np

from openworld.core.arrays import ArrayLike
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json, read_text
from openworld.core.types import Positive, checked
from openworld.datasets.names.forms import readable_class_name
from openworld.datasets.templates import fill
from openworld.shifts.decomposition import Decomposition
from openworld.shifts.degrees import K, ShiftDegrees, join_degrees, merge_degrees, shift_degrees

BUILT_IN = Path(__file__).parent / "styles.toml"


@dataclass(frozen=True)
class PromptStyle:
    """A style in words."""

    name: str  # such as "line art"
    prompt: str  # a sentence with {} once, the place of the label
    negative: str = ""  # what not to paint; only guidance above 1 looks at it

    def __post_init__(self):
        if not self.name or "/" in self.name:
            raise OpenworldError(f"a style is named {self.name!r}, expected a name without '/'.")
        fill(self.prompt, ())


def prompt_styles(path: str | Path | None = None) -> tuple[PromptStyle, ...]:
    """Return the styles of a table, TOML or JSON of SDXL's templates, in its order; None for the paper's 51.

    >>> len(prompt_styles()), prompt_styles()[5].name
    (51, 'impressionist')
    """
    path = Path(path or BUILT_IN)
    if path.suffix.lower() == ".json":
        return _sdxl_styles(path)
    text = read_text(path)
    try:
        entries = tomllib.loads(text)["style"]
        return tuple(PromptStyle(**entry) for entry in entries)
    except (tomllib.TOMLDecodeError, RecursionError, KeyError, TypeError) as error:
        raise OpenworldError(
            f"{path} is no table of styles ({error!r}); expected TOML with [[style]] entries of name, prompt, negative."
        ) from error


def published_styles(path: str | Path) -> tuple[PromptStyle, ...]:
    """Return the paper's 51 styles, in its order and by its names, with the sentences of SDXL's templates."""
    # A template is the paper's if its name is, but for case, punctuation and the group before its first hyphen, such as
    # "artstyle-" and "sai-".
    styles: dict[str, PromptStyle] = {}
    for style in _sdxl_styles(Path(path)):
        for name in (style.name, style.name.partition("-")[2]):
            styles.setdefault(_letters(name), style)
    wanted = prompt_styles()
    lacking = [style.name for style in wanted if _letters(style.name) not in styles]
    if lacking:
        raise OpenworldError(
            f"{path} has no template of {len(lacking)} of the paper's {len(wanted)} styles, such as "
            f"{', '.join(lacking[:5])}; give a file that has them all, or --styles FILE.json for what it has."
        )
    templates = ((style.name, styles[_letters(style.name)]) for style in wanted)
    return tuple(PromptStyle(name, template.prompt, template.negative) for name, template in templates)


def _sdxl_styles(path: Path) -> tuple[PromptStyle, ...]:
    text = read_text(path)
    try:
        entries = parse_json(text)
        texts = [(str(entry["name"]), entry["prompt"], entry.get("negative_prompt") or "") for entry in entries]
        return tuple(PromptStyle(name, text.replace("{prompt}", "{}"), negative) for name, text, negative in texts)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OpenworldError(
            f"{path} is no list of SDXL's styles ({error!r}); expected JSON of entries with name, prompt, "
            "negative_prompt."
        ) from error


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


@dataclass(frozen=True)
class Prompts:
    """S labels in C styles: prompt i is label i // C in style i % C. No text is kept, so a million cost nothing.

    >>> two = Prompts(("cat", "sea_lion"), prompt_styles()[19:21])
    >>> len(two), two.text(3)
    (4, 'a sea lion in a comic book panel, inked outlines, flat colours, screen dots')
    """

    labels: tuple[str, ...]
    styles: tuple[PromptStyle, ...]

    def __post_init__(self):
        object.__setattr__(self, "labels", tuple(map(readable_class_name, self.labels)))
        object.__setattr__(self, "styles", tuple(self.styles))
        _require_distinct("label", self.labels)
        _require_distinct("style", [style.name for style in self.styles])

    def __len__(self) -> int:
        return len(self.labels) * len(self.styles)

    def parts(self, number: int) -> tuple[int, int]:
        """Return the places of label and style of a prompt."""
        if not 0 <= number < len(self):
            raise OpenworldError(f"there is no prompt {number}; there are {len(self)}, counted from 0.")
        return divmod(int(number), len(self.styles))

    def text(self, number: int) -> str:
        """Return the sentence of a prompt."""
        label, style = self.parts(number)
        return fill(self.styles[style].prompt, (self.labels[label],))[0]

    def texts(self, start: int, stop: int) -> list[str]:
        """Return the sentences of prompts `start` up to, and without, `stop`."""
        return [self.text(number) for number in range(start, min(stop, len(self)))]


def _require_distinct(kind: str, names: Sequence[str]) -> None:
    if not names or not all(names):
        raise OpenworldError(f"there is {'an empty' if names else 'no'} {kind} name; prompts need named {kind}s.")
    folded: set[str] = set()
    for name in names:
        if name.casefold() in folded:
            raise OpenworldError(f"the {kind} {name!r} comes twice, if upper and lower case are alike; keep one.")
        folded.add(name.casefold())


CHUNK = 2**14


@checked
def prompt_degrees(
    prompts: Prompts,
    encode: Callable,
    decomposition: Decomposition,
    reference: ArrayLike,
    *,
    k: int = K,
    chunk: Positive = CHUNK,
) -> ShiftDegrees:
    """Return how far each prompt is from reference images float[M, D], or from a tuple of blocks that are together it.

    encode: list of n texts -> float[n, D], by the text tower of the model of reference and decomposition. Memory is
    that of `shift_degrees` for one chunk and one block, and 32 k bytes per prompt.
    """
    blocks = reference if isinstance(reference, tuple) else (reference,)
    firsts = np.cumsum([0, *map(len, blocks)])
    chunks = []
    for start in range(0, len(prompts), chunk):
        texts = prompts.texts(start, start + chunk)
        features = encode(texts)
        if len(features) != len(texts):
            raise OpenworldError(f"encode gave {len(features)} rows for {len(texts)} texts; expected one row each.")
        shards = (
            shift_degrees(decomposition, features, block, k=k, first=int(first))
            for block, first in zip(blocks, firsts, strict=False)
        )
        chunks.append(reduce(lambda merged, other: merge_degrees([merged, other]), shards))
    return join_degrees(chunks)
