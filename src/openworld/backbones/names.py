"""The models known by name, what people call them, and the one name under which each is kept.

open_clip's names are those of its list of pretrained models, "ARCHITECTURE/TAG" or "ARCHITECTURE:TAG", for the towers
that are ours; each stands for the hub repository that holds the same weights.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import facts
from openworld.core.types import checked


@dataclass(frozen=True)
class BackboneCard:
    """One known model. source: hub id, or "package" for the one that ships with openworld.

    parameters: number of weights in millions. image_size: side of the input image in pixels.
    """

    source: str
    parameters: float
    image_size: int
    note: str


_FACTS = facts("openworld.backbones", "names.toml")

BACKBONES: dict[str, BackboneCard] = {name: BackboneCard(**card) for name, card in _FACTS["backbones"].items()}

SHORT_NAMES: dict[str, str] = _FACTS["short_names"]
"""What papers and people call a model -> its key in BACKBONES."""

OPEN_CLIP_NAMES: dict[str, dict[str, str]] = _FACTS["open_clip"]
"""Architecture of open_clip's list -> tag of its weights -> the repository that holds the same."""

# Trained with QuickGELU, as open_clip's list says (3.3.0), while their own open_clip_config.json leaves it out.
QUICK_GELU_UNSAID = frozenset({"apple/DFN2B-CLIP-ViT-B-16"})
_NOT_OURS = re.compile(
    r"(RN\d|EVA\d|MobileCLIP|convnext|coca_|nllb-|roberta-|xlm-roberta-|mt5-|PE-|SuperCLIP|TIPS|ViT.*(CLIPA|worldwide|naflex))"
)


LIBRARIES = ("transformers", "open_clip")
"""Prefixes of names of models that these libraries run."""


def is_foreign(name: str) -> bool:
    """Whether a backbone's name says that its towers are not ours."""
    return is_function(name) or is_embeddings(name) or (":" in name and name.partition(":")[0] in LIBRARIES)


def is_function(name: str) -> bool:
    """Whether a name has the form of a function of the user's own, "package.module:function"."""
    module, colon, function = name.partition(":")
    reserved = module in (*LIBRARIES, "timm", "hf") or re.match(r"RN\d", module)
    return bool(colon) and not reserved and all(map(str.isidentifier, (*module.split("."), function)))


def is_embeddings(name: str) -> bool:
    return name.endswith((".npz", ".parquet"))


def local_path(name: str | Path) -> Path:
    return Path(os.path.expanduser(name))


@checked
def known_name(name: str | os.PathLike) -> str:
    """The one name of a model that people spell in several ways; any other name, and that of a folder, as it is.

    >>> known_name("ViT-B-16/openai") == known_name("ViT-B-16-quickgelu:openai") == known_name("ViT-B/16")
    True
    >>> known_name("hf-hub:laion/CLIP-ViT-g-14-laion2B-s12B-b42K") == known_name("ViT-g-14/laion2b_s12b_b42k")
    True
    """
    name = str(name)
    if local_path(name).is_dir():
        return name
    name = name.removeprefix("hf-hub:")
    architecture, tag = (re.split("[/:]", name, maxsplit=1) + [""])[:2]
    full_name = OPEN_CLIP_NAMES.get(architecture, {}).get(tag.lower().replace("-", "_"))
    return full_name or SHORT_NAMES.get(name, name)


def require_ours(name: str) -> None:
    """Refuse what open_clip names "ARCHITECTURE/TAG" and is not among `OPEN_CLIP_NAMES`; it is no hub repository."""
    architecture, tag = (re.split("[/:]", name, maxsplit=1) + [""])[:2]
    if architecture in OPEN_CLIP_NAMES:
        raise unknown_name(f"weights of {architecture}", tag, OPEN_CLIP_NAMES[architecture])
    if tag and _NOT_OURS.match(architecture):
        raise OpenworldError(f"{name} has towers that are not ours; open_clip runs it: open_clip:{architecture}/{tag}.")
