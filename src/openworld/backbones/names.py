"""What people call a model, and the one name under which it is kept: papers', OpenAI's and open_clip's spellings.

open_clip's names are those of its list of pretrained models, "ARCHITECTURE/TAG" or "ARCHITECTURE:TAG", for the towers
that are ours; each stands for the hub repository that holds the same weights.
"""

import os
import re
from pathlib import Path

from openworld._errors import OpenworldError, unknown_name
from openworld._types import checked
from openworld.backbones.cards import SHORT_NAMES

_LAION, _TIMM, _GOOGLE = "laion/CLIP-ViT", "timm/vit", "google/siglip"
_B32 = {
    "openai": "openai/clip-vit-base-patch32",
    "laion400m_e31": f"{_TIMM}_base_patch32_clip_224.laion400m_e31",
    "laion400m_e32": f"{_TIMM}_base_patch32_clip_224.laion400m_e32",
    "metaclip_400m": f"{_TIMM}_base_patch32_clip_224.metaclip_400m",
    "metaclip_fullcc": f"{_TIMM}_base_patch32_clip_224.metaclip_2pt5b",
}
_B16 = {
    "openai": "openai/clip-vit-base-patch16",
    "metaclip_400m": f"{_TIMM}_base_patch16_clip_224.metaclip_400m",
    "metaclip_fullcc": f"{_TIMM}_base_patch16_clip_224.metaclip_2pt5b",
    "dfn2b": "apple/DFN2B-CLIP-ViT-B-16",
}
_L14 = {
    "openai": "openai/clip-vit-large-patch14",
    "metaclip_400m": f"{_TIMM}_large_patch14_clip_224.metaclip_400m",
    "metaclip_fullcc": f"{_TIMM}_large_patch14_clip_224.metaclip_2pt5b",
    "dfn2b": "apple/DFN2B-CLIP-ViT-L-14",
}
_H14 = {"metaclip_fullcc": f"{_TIMM}_huge_patch14_clip_224.metaclip_2pt5b", "dfn5b": "apple/DFN5B-CLIP-ViT-H-14"}
OPEN_CLIP_NAMES: dict[str, dict[str, str]] = {
    "ViT-B-32": _B32
    | {
        "laion2b_e16": f"{_TIMM}_base_patch32_clip_224.laion2b_e16",
        "laion2b_s34b_b79k": f"{_LAION}-B-32-laion2B-s34B-b79K",
        "datacomp_xl_s13b_b90k": f"{_LAION}-B-32-DataComp.XL-s13B-b90K",
    },
    "ViT-B-32-quickgelu": _B32,
    "ViT-B-32-256": {"datacomp_s34b_b86k": f"{_LAION}-B-32-256x256-DataComp-s34B-b86K"},
    "ViT-B-16": _B16
    | {
        "laion400m_e31": f"{_TIMM}_base_patch16_clip_224.laion400m_e31",
        "laion400m_e32": f"{_TIMM}_base_patch16_clip_224.laion400m_e32",
        "laion2b_s34b_b88k": f"{_LAION}-B-16-laion2B-s34B-b88K",
        "datacomp_xl_s13b_b90k": f"{_LAION}-B-16-DataComp.XL-s13B-b90K",
        "datacomp_l_s1b_b8k": f"{_LAION}-B-16-DataComp.L-s1B-b8K",
    },
    "ViT-B-16-quickgelu": _B16,
    "ViT-L-14": _L14
    | {
        "laion400m_e31": f"{_TIMM}_large_patch14_clip_224.laion400m_e31",
        "laion400m_e32": f"{_TIMM}_large_patch14_clip_224.laion400m_e32",
        "laion2b_s32b_b82k": f"{_LAION}-L-14-laion2B-s32B-b82K",
        "dfn2b_s39b": "apple/DFN2B-CLIP-ViT-L-14-39B",
        "datacomp_xl_s13b_b90k": f"{_LAION}-L-14-DataComp.XL-s13B-b90K",
    },
    "ViT-L-14-quickgelu": _L14,
    "ViT-L-14-336": {"openai": "openai/clip-vit-large-patch14-336"},
    "ViT-L-14-336-quickgelu": {"openai": "openai/clip-vit-large-patch14-336"},
    "ViT-H-14": _H14
    | {
        "laion2b_s32b_b79k": f"{_LAION}-H-14-laion2B-s32B-b79K",
        "metaclip_altogether": f"{_TIMM}_huge_patch14_clip_224.metaclip_altogether",
    },
    "ViT-H-14-quickgelu": _H14,
    "ViT-H-14-378": {"dfn5b": "apple/DFN5B-CLIP-ViT-H-14-378"},
    "ViT-H-14-378-quickgelu": {"dfn5b": "apple/DFN5B-CLIP-ViT-H-14-378"},
    "ViT-g-14": {
        "laion2b_s12b_b42k": f"{_LAION}-g-14-laion2B-s12B-b42K",
        "laion2b_s34b_b88k": f"{_LAION}-g-14-laion2B-s34B-b88K",
    },
    "ViT-bigG-14": {"laion2b_s39b_b160k": f"{_LAION}-bigG-14-laion2B-39B-b160k"},
    "ViT-B-16-SigLIP": {"webli": f"{_GOOGLE}-base-patch16-224"},
    "ViT-B-16-SigLIP-256": {"webli": f"{_GOOGLE}-base-patch16-256"},
    "ViT-B-16-SigLIP-384": {"webli": f"{_GOOGLE}-base-patch16-384"},
    "ViT-B-16-SigLIP-512": {"webli": f"{_GOOGLE}-base-patch16-512"},
    "ViT-B-16-SigLIP-i18n-256": {"webli": f"{_GOOGLE}-base-patch16-256-multilingual"},
    "ViT-L-16-SigLIP-256": {"webli": f"{_GOOGLE}-large-patch16-256"},
    "ViT-L-16-SigLIP-384": {"webli": f"{_GOOGLE}-large-patch16-384"},
    "ViT-SO400M-14-SigLIP": {"webli": f"{_GOOGLE}-so400m-patch14-224"},
    "ViT-SO400M-14-SigLIP-384": {"webli": f"{_GOOGLE}-so400m-patch14-384"},
    "ViT-B-32-SigLIP2-256": {"webli": f"{_GOOGLE}2-base-patch32-256"},
    "ViT-B-16-SigLIP2": {"webli": f"{_GOOGLE}2-base-patch16-224"},
    "ViT-B-16-SigLIP2-256": {"webli": f"{_GOOGLE}2-base-patch16-256"},
    "ViT-B-16-SigLIP2-384": {"webli": f"{_GOOGLE}2-base-patch16-384"},
    "ViT-B-16-SigLIP2-512": {"webli": f"{_GOOGLE}2-base-patch16-512"},
    "ViT-L-16-SigLIP2-256": {"webli": f"{_GOOGLE}2-large-patch16-256"},
    "ViT-L-16-SigLIP2-384": {"webli": f"{_GOOGLE}2-large-patch16-384"},
    "ViT-L-16-SigLIP2-512": {"webli": f"{_GOOGLE}2-large-patch16-512"},
    "ViT-SO400M-14-SigLIP2": {"webli": f"{_GOOGLE}2-so400m-patch14-224"},
    "ViT-SO400M-14-SigLIP2-378": {"webli": f"{_GOOGLE}2-so400m-patch14-384"},
    "ViT-SO400M-16-SigLIP2-256": {"webli": f"{_GOOGLE}2-so400m-patch16-256"},
    "ViT-SO400M-16-SigLIP2-384": {"webli": f"{_GOOGLE}2-so400m-patch16-384"},
    "ViT-SO400M-16-SigLIP2-512": {"webli": f"{_GOOGLE}2-so400m-patch16-512"},
}


# Trained with QuickGELU, as open_clip's list says (3.3.0), while their own open_clip_config.json leaves it out.
QUICK_GELU_UNSAID = frozenset({"apple/DFN2B-CLIP-ViT-B-16"})
_NOT_OURS = re.compile(
    r"(RN\d|EVA\d|MobileCLIP|convnext|coca_|nllb-|roberta-|xlm-roberta-|mt5-|PE-|SuperCLIP|TIPS|ViT.*(CLIPA|worldwide|naflex))"
)


def local_path(name: str | Path) -> Path:
    """A name as a path on this machine, "~" read as home."""
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
    named = OPEN_CLIP_NAMES.get(architecture, {}).get(tag.lower().replace("-", "_"))
    return named or SHORT_NAMES.get(name, name)


def require_ours(name: str) -> None:
    """Refuse what open_clip names "ARCHITECTURE/TAG" and is not among `OPEN_CLIP_NAMES`; it is no hub repository."""
    architecture, tag = (re.split("[/:]", name, maxsplit=1) + [""])[:2]
    if architecture in OPEN_CLIP_NAMES:
        raise unknown_name(f"weights of {architecture}", tag, OPEN_CLIP_NAMES[architecture])
    if tag and _NOT_OURS.match(architecture):
        raise OpenworldError(f"{name} has towers that are not ours; open_clip runs it: open_clip:{architecture}/{tag}.")
