"""What a spec may say of one's own data: which classes are known, where files lie, which images belong together.

What a run reads and no spec can say is held: images and models of the process that started it, by their fingerprints.
A spec names such a thing "held:TITLE#FINGERPRINT", as data set or as model. A run that was ended goes on once the same
things are held again, by the same command or by the same call in Python.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.forms import normalise_class_name
from openworld.datasets.pooling import cut_by_names, grouped, pattern_of, pooled
from openworld.datasets.published.class_folders import published_name

NAMES_FILE = ".txt"
MARK = "held:"
_HELD: dict[str, Any] = {}


@dataclass(frozen=True, kw_only=True)
class KnownClasses:
    """Which classes are base and which are new, where that is not the first half and the second.

    Args:
        base, new: lists of class names, or text files (.txt) with a name per line. Where one is left out, its side has
            all classes that the other does not name; a class in neither of two lists is left out. `new` may also be a
            folder of images of new classes; those of the data set are base then.
    """

    base: tuple[str, ...] | str = ()
    new: tuple[str, ...] | str = ()

    @property
    def says_classes(self) -> bool:
        return bool(self.base or self.new)


@dataclass(frozen=True, kw_only=True)
class OwnData(KnownClasses):
    """What may be said of a data set beside its name and domain.

    Args:
        root: the folder that the paths of a list are relative to; "" for the list's own.
        group_pattern: a regular expression of files' paths below their folder; images in which its groups find the same
            text are not independent, such as the frames of one video: "(.+)_frame". "" for what the data set says.
        published_names: of ImageNet and its variants: two pairs of classes share a name in published runs, so that the
            second of a pair is never right. Here they have names of their own unless this is said.
    """

    root: str = ""
    group_pattern: str = ""
    published_names: bool = False


def own_data(spec: OwnData) -> dict[str, Any]:
    """Return the fields of `OwnData` that a spec has, by their names."""
    return {each.name: getattr(spec, each.name) for each in fields(OwnData)}


def settle_classes(spec: KnownClasses) -> None:
    """Read the names of text files, once: the spec says them from here on."""
    for side in ("base", "new"):
        value = getattr(spec, side)
        settled = _names_or_folder(value, side) if isinstance(value, str) and value else value or ()
        object.__setattr__(spec, side, settled if isinstance(settled, str) else tuple(settled))
    listed = [name for side in (spec.base, spec.new) if not isinstance(side, str) for name in side]
    keys = list(map(normalise_class_name, listed))
    twice = next((name for name, key in zip(listed, keys, strict=True) if keys.count(key) > 1), None)
    if twice is not None:
        raise OpenworldError(
            f"the class {twice!r} is listed more than once in base and new; list it once, on one side."
        )
    if pattern := getattr(spec, "group_pattern", ""):
        pattern_of(pattern)


def as_specified(images: ImageSet, spec: OwnData, part: str) -> ImageSet:
    """Return a part of a data set as the spec has it: images grouped, joined by new ones, and cut into base and new."""
    if spec.published_names:
        images = replace(images, classnames=tuple(map(published_name, images.classnames)))
    if spec.group_pattern:
        images = grouped(images, spec.group_pattern)
    new = spec.new
    if isinstance(new, str) and new:
        new = datasets.folder.class_names(new)
        images = _joined(images, spec, new, part)
    return cut_by_names(images, spec.base, new) if spec.says_classes else images


def _names_or_folder(value: str, side: str) -> tuple[str, ...] | str:
    if value.endswith(NAMES_FILE):
        return class_names(value).names
    if Path(value).is_dir() and side == "new":
        return value
    instead = "; a folder of base images is what dataset names" if Path(value).is_dir() else ""
    folder = ", or a folder of images of new classes" if side == "new" else ""
    raise OpenworldError(
        f"{side} is {value!r}; expected a list of class names, a text file ({NAMES_FILE}) with a name per line{folder}"
        f"{instead}."
    )


def _joined(images: ImageSet, spec: OwnData, names: Sequence[str], part: str) -> ImageSet:
    """The images, and behind them those of the folder of new classes; nothing is learned from the latter."""
    both = {normalise_class_name(name) for name in images.classnames} & set(map(normalise_class_name, names))
    if both:
        raise OpenworldError(
            f"{min(both)!r} is a class of {images.name!r} and of {spec.new}, the folder of new classes; a class is on "
            "one side: rename its folder, or take it away from one of them."
        )
    further = _of_folder(spec, part)
    sets = [images] if further is None else [images, further]
    return pooled(sets, (*images.classnames, *names))


def _of_folder(spec: OwnData, part: str) -> ImageSet | None:
    """The part of the folder of new classes; of one without parts, all images are test images."""
    new, domain = str(spec.new), getattr(spec, "domain", None)
    domain = domain if domain and (Path(new) / domain).is_dir() else None
    parts = [each for each in datasets.folder.PARTS if datasets.has_part(new, each, domain)]
    if part == "train" or (part not in (parts or ["test"]) and part != "test"):
        return None
    images = datasets.folder.load(new, domain=domain, part=part if parts else None)
    return grouped(images, spec.group_pattern) if spec.group_pattern else images


def hold(thing: Any, title: str, fingerprint: str) -> str:
    """Keep an object for units of this process; return what a spec calls it."""
    name = f"{MARK}{title}#{fingerprint[:16]}"
    _HELD[name] = thing
    return name


def is_held(name: str) -> bool:
    """Whether a name of a spec stands for such an object, here or in another process."""
    return name.startswith(MARK)


def title_of(name: str) -> str:
    return name.removeprefix(MARK).rpartition("#")[0]


def held(name: str) -> Any:
    """Return the object; refuse one of another process."""
    if name not in _HELD:
        raise OpenworldError(
            f"{title_of(name)} was given to the process that began this run, and not to this one; start it again as it "
            "was started: with the same command, or the same call in Python."
        )
    return _HELD[name]


def release(*names: str) -> None:
    for name in names:
        _HELD.pop(name, None)
