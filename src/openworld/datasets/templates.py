"""Sentences around class names, per data set, as the published code writes them; `{}` stands for the name."""

from collections.abc import Sequence

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import facts
from openworld.core.spoken import spoken_name
from openworld.datasets.names.forms import readable_class_name

PHOTO = "a photo of a {}."
"""For every data set without a template of its own."""

NUMBER = 'a photo of the number: "{}".'
"""CLIP's sentence for digits."""

_FACTS = facts("openworld.datasets", "templates.toml")
_LISTS: dict[str, tuple[str, ...]] = {name: tuple(sentences) for name, sentences in _FACTS["lists"].items()}

TEMPLATES: dict[str, str] = _FACTS["templates"]
"""Data set -> the sentence of CoOp and zero-shot CLIP."""

KGCOOP: dict[str, str] = TEMPLATES | _FACTS["kgcoop"]
"""Data set -> the sentence of KgCoOp's frozen teacher."""

PROGRAD: dict[str, str] = TEMPLATES | _FACTS["prograd"]
"""Data set -> the sentence of ProGrad's frozen teacher: the class name comes last."""

SKIP_TUNING: dict[str, str] = TEMPLATES | _FACTS["skip_tuning"]
"""Data set -> the sentence that Skip Tuning tunes on (Wu et al., 2025)."""

TCP_TEACHER: dict[str, str] = TEMPLATES | _FACTS["tcp_teacher"]
"""Data set -> the sentence of the frozen text features that TCP starts from and stays close to."""

TCP_BEHIND: dict[str, str] = _FACTS["tcp_behind"]
"""Data set -> what follows TCP's four learned tokens, where it is more than the name and a full stop."""

ENSEMBLE: tuple[str, ...] = _LISTS["ensemble"]
"""CLIP's seven best ImageNet sentences; see `ensemble`."""

EMOJI_ENSEMBLE: tuple[str, ...] = _LISTS["emoji_ensemble"]
"""Plain and styled sentences that the embedded CLIP has read the like of."""

CLIP_80: tuple[str, ...] = _LISTS["clip_80"]
"""CLIP's 80 ImageNet sentences, in order: the looks that LAID learns from (Long et al., 2024)."""

PROMPTSRC: tuple[str, ...] = CLIP_80[:60]
"""The first 60 of CLIP's 80 ImageNet sentences, in order."""

EMOJI_LOOKS: tuple[str, ...] = (*EMOJI_ENSEMBLE, *_LISTS["emoji_looks"])
"""Looks that captions of the embedded CLIP spoke of: what LAID learns from in the embedded world."""


class ClassSentence(str):
    """A sentence that knows the class name in it, for models that know nothing but class names."""

    classname: str = ""


def sentence_of(before: str, name: str, after: str) -> ClassSentence:
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


APPENDIX_C4: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_FACTS["appendix_c4"]["ensemble"], ENSEMBLE),
    **{name: (sentence,) for name, sentence in _FACTS["appendix_c4"]["sentences"].items()},
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
