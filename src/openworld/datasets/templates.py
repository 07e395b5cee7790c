"""Sentences around class names, per data set, as the published code writes them; `{}` stands for the name.

Sources: CoOp (Zhou et al., 2022, KaiyangZhou/CoOp), KgCoOp (Yao et al., 2023), ProGrad (Zhu et al., 2023), TCP (Yao
et al., 2024), Skip Tuning (Wu et al., 2025), CLIP's ImageNet templates (Radford et al., 2021) and the 60 of them
that PromptSRC uses (Khattak et al., 2023).
"""

from collections.abc import Sequence

from openworld._errors import OpenworldError
from openworld._spoken import spoken_name
from openworld.datasets.names.forms import readable_class_name

PHOTO = "a photo of a {}."
"""For every data set without a template of its own."""

NUMBER = 'a photo of the number: "{}".'
"""CLIP's sentence for digits."""

_DRAWN = ("concepts", "concepts-b", "concepts-200", "concepts-400", "withheld", "subgroups", "groups")
_PHOTOGRAPHED = (
    "imagenet", "imagenetv2", "imagenet-sketch", "imagenet-a", "imagenet-r", "caltech101", "stanford_cars", "sun397",
    "cifar10", "cifar10.1", "cifar10.2", "cifar100", "cifar10-c", "cifar100-c", "imagenetv2-threshold",
    "imagenetv2-top", "imagenet-200", "imagenet-c", "tiny-imagenet", "tiny-imagenet-c", "entity13", "entity30",
    "living17", "nonliving26",
)  # fmt: skip

TEMPLATES: dict[str, str] = {
    **dict.fromkeys(_PHOTOGRAPHED, PHOTO),
    **{f"openood:{name}": PHOTO for name in ("cifar10", "cifar100", "imagenet200", "imagenet")},
    **{f"emoji-{name}": "an icon of a {}." for name in _DRAWN},
    **dict.fromkeys(("mnist", "qmnist", "usps", "svhn"), NUMBER),
    "oxford_pets": "a photo of a {}, a type of pet.",
    "oxford_flowers": "a photo of a {}, a type of flower.",
    "food101": "a photo of {}, a type of food.",
    "fgvc_aircraft": "a photo of a {}, a type of aircraft.",
    "dtd": "{} texture.",
    "eurosat": "a centered satellite photo of {}.",
    "ucf101": "a photo of a person doing {}.",
    "fmow": "a satellite photo of {}.",
}
"""Data set -> the sentence of CoOp and zero-shot CLIP."""

KGCOOP: dict[str, str] = TEMPLATES | {"dtd": "a photo of a {}, a type of texture."}
"""Data set -> the sentence of KgCoOp's frozen teacher."""

PROGRAD: dict[str, str] = TEMPLATES | {
    "oxford_pets": "a type of pet, a photo of a {}.",
    "oxford_flowers": "a type of flower, a photo of a {}.",
    "food101": "a type of food, a photo of {}.",
    "fgvc_aircraft": "a type of aircraft, a photo of a {}.",
    "dtd": "a texture of {}.",
}
"""Data set -> the sentence of ProGrad's frozen teacher: the class name comes last."""

SKIP_TUNING: dict[str, str] = TEMPLATES | {
    "imagenet-sketch": "a sketch of a {}.",
    "imagenet-a": "a bad photo of a {}.",
    "imagenet-r": "a rendition of a {}.",
    "caltech101": "itap of a {}.",
    "oxford_pets": "a bad photo of a {}, a type of pet.",
    "stanford_cars": "a photo of the {}, a type of car.",
    "oxford_flowers": "a close-up photo of a {}.",
    "food101": "a photo of the nice {}.",
    "fgvc_aircraft": "a bright photo of a {}, a type of aircraft.",
    "dtd": "itap of a {}.",
    "ucf101": "a photo of a {}, a type of sport.",
}
"""Data set -> the sentence that Skip Tuning tunes on (Wu et al., 2025)."""

TCP_TEACHER: dict[str, str] = TEMPLATES | {
    "food101": "a photo of a {}, a type of food.",
    "fgvc_aircraft": "a photo of an aircraft {}.",
    "dtd": "a photo of a {}, a type of texture.",
}
"""Data set -> the sentence of the frozen text features that TCP starts from and stays close to."""

TCP_BEHIND: dict[str, str] = {
    "oxford_pets": "{}, a type of pet.",
    "stanford_cars": "{}, a type of car",
    "oxford_flowers": "{}, a type of flower.",
    "food101": "{}, a type of food.",
    "fgvc_aircraft": "{}, a type of aircraft.",
    "dtd": "{} texture.",
    "ucf101": "person doing {}.",
}
"""Data set -> what follows TCP's four learned tokens, where it is more than the name and a full stop."""

ENSEMBLE: tuple[str, ...] = (
    "itap of a {}.", "a bad photo of the {}.", "a origami {}.", "a photo of the large {}.", "a {} in a video game.",
    "art of the {}.", "a photo of the small {}.",
)  # fmt: skip
"""CLIP's seven best ImageNet sentences; see `ensemble`."""

EMOJI_ENSEMBLE: tuple[str, ...] = (
    "an icon of a {}.", "a picture of a {}.", "a drawing of {}.", "{}.", "a flat icon of a {}.",
    "a glossy icon of a {}.", "a grey icon of a {}.", "a black and white icon of a {}.", "an outlined icon of a {}.",
)  # fmt: skip
"""Plain and styled sentences that the embedded CLIP has read the like of."""

PROMPTSRC: tuple[str, ...] = (
    "a bad photo of a {}.", "a photo of many {}.", "a sculpture of a {}.", "a photo of the hard to see {}.",
    "a low resolution photo of the {}.", "a rendering of a {}.", "graffiti of a {}.", "a bad photo of the {}.",
    "a cropped photo of the {}.", "a tattoo of a {}.", "the embroidered {}.", "a photo of a hard to see {}.",
    "a bright photo of a {}.", "a photo of a clean {}.", "a photo of a dirty {}.", "a dark photo of the {}.",
    "a drawing of a {}.", "a photo of my {}.", "the plastic {}.", "a photo of the cool {}.",
    "a close-up photo of a {}.", "a black and white photo of the {}.", "a painting of the {}.", "a painting of a {}.",
    "a pixelated photo of the {}.", "a sculpture of the {}.", "a bright photo of the {}.", "a cropped photo of a {}.",
    "a plastic {}.", "a photo of the dirty {}.", "a jpeg corrupted photo of a {}.", "a blurry photo of the {}.",
    "a photo of the {}.", "a good photo of the {}.", "a rendering of the {}.", "a {} in a video game.",
    "a photo of one {}.", "a doodle of a {}.", "a close-up photo of the {}.", "a photo of a {}.", "the origami {}.",
    "the {} in a video game.", "a sketch of a {}.", "a doodle of the {}.", "a origami {}.",
    "a low resolution photo of a {}.", "the toy {}.", "a rendition of the {}.", "a photo of the clean {}.",
    "a photo of a large {}.", "a rendition of a {}.", "a photo of a nice {}.", "a photo of a weird {}.",
    "a blurry photo of a {}.", "a cartoon {}.", "art of a {}.", "a sketch of the {}.", "a embroidered {}.",
    "a pixelated photo of a {}.", "itap of the {}.",
)  # fmt: skip
"""The first 60 of CLIP's 80 ImageNet sentences, in order."""

CLIP_80: tuple[str, ...] = (
    *PROMPTSRC, "a jpeg corrupted photo of the {}.", "a good photo of a {}.", "a plushie {}.",
    "a photo of the nice {}.", "a photo of the small {}.", "a photo of the weird {}.", "the cartoon {}.",
    "art of the {}.", "a drawing of the {}.", "a photo of the large {}.", "a black and white photo of a {}.",
    "the plushie {}.", "a dark photo of a {}.", "itap of a {}.", "graffiti of the {}.", "a toy {}.", "itap of my {}.",
    "a photo of a cool {}.", "a photo of a small {}.", "a tattoo of the {}.",
)  # fmt: skip
"""CLIP's 80 ImageNet sentences, in order: the looks that LAID learns from (Long et al., 2024)."""

EMOJI_LOOKS: tuple[str, ...] = (
    *EMOJI_ENSEMBLE, "a photo of a {}.", "an emoji of a {}.", "a shiny icon of a {}.", "a 3d icon of a {}.",
    "a shaded icon of a {}.", "a soft picture of {}.", "a blob icon of a {}.", "a rounded icon of a {}.",
    "a colourful drawing of a {}.", "a bright picture of {}.", "a plain icon of a {}.", "a greyscale photo of a {}.",
    "a colourless picture of {}.", "a line drawing of a {}.", "a cartoon drawing of a {}.",
    "a comic drawing of a {}.", "a monochrome icon of a {}.", "a high contrast icon of a {}.",
    "a silhouette picture of {}.",
)  # fmt: skip
"""Looks that captions of the embedded CLIP spoke of: what LAID learns from in the embedded world."""


class ClassSentence(str):
    """A sentence that knows the class name in it, for models that know nothing but class names."""

    classname: str = ""


def sentence_of(before: str, name: str, after: str) -> ClassSentence:
    """The sentence of a class; underscores in its name become spaces."""
    readable = spoken_name(readable_class_name(name))
    sentence = ClassSentence(before + readable + after)
    sentence.classname = readable
    return sentence


def fill(template: str, classnames: Sequence[str]) -> list[str]:
    """Return the sentence of every class, from a template with `{}` once; underscores in names become spaces."""
    if template.count("{}") != 1:
        raise OpenworldError(f"the template {template!r} must hold {{}} once: the place of the class name.")
    before, after = template.split("{}")
    return [sentence_of(before, name, after) for name in classnames]


APPENDIX_C4: dict[str, tuple[str, ...]] = dict.fromkeys(
    (
        *("imagenet", "imagenetv2", "imagenet-sketch", "imagenet-a", "imagenet-r", "caltech101", "oxford_pets"),
        *("stanford_cars", "sun397", "dtd", "eurosat", "ucf101"),
    ),
    ENSEMBLE,
) | {
    "fgvc_aircraft": ("a photo of {}, a type of aircraft.",),
    "food101": ("a photo of {}, a type of food",),
    "oxford_flowers": ("a photo of {}, a type of flower",),
}
"""Data set -> the sentences of new classes in OpenworldAUC's appendix C.4 (Hua et al., 2025), as printed."""


def ensemble(dataset: str) -> tuple[str, ...]:
    """The sentences whose normalised features are averaged for `dataset`.

    CLIP's seven; any data set but ImageNet and its variants adds its own (CoOp's `zsclip.py`). The embedded world
    has sentences of its own.

    >>> ensemble("dtd")[-1], len(ensemble("dtd")), len(ensemble("imagenet-r"))
    ('{} texture.', 8, 7)
    """
    if dataset.startswith("emoji-"):
        return EMOJI_ENSEMBLE
    if dataset.startswith("imagenet"):
        return ENSEMBLE
    return (*ENSEMBLE, TEMPLATES.get(dataset, PHOTO))
