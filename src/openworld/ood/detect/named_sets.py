"""Named sets of images: those that are tested beside in-distribution images, and those that settings are chosen on.

Sets of OpenOOD's benchmarks have words of their own: a whole benchmark, one of its groups, or one set.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openworld import datasets
from openworld._errors import OpenworldError, unknown_name
from openworld.datasets import DATASETS, ImageSet
from openworld.datasets.published.catalogue import BENCHMARKS
from openworld.datasets.published.openood import PREFIX
from openworld.ood.detect.places import PARTS, KnownImages, images_at
from openworld.ood.models import columns_of
from openworld.ood.scored_sets import GROUPS

USUAL = ("near", "far")
"""Groups that a benchmark stands for."""

GROUPS_BY_NAME = (*USUAL, "full-spectrum")
_OF_IMAGENET = "openood:imagenet"


@dataclass(frozen=True, eq=False)
class NamedSet:
    """Images under a name, in a group of `GROUPS`, or "id"."""

    name: str
    group: str
    images: ImageSet


def named_sets(ood: Sequence[str] | Mapping[str, Any], root: str = "", home: str = "") -> tuple[NamedSet, ...]:
    """Return the sets of "GROUP[:NAME]=WHERE" or {"GROUP[:NAME]": images}, and sets that are known by name."""
    if isinstance(ood, Mapping):
        pairs = list(ood.items())
    else:
        parts = [entry.partition("=") for entry in ood]  # a set named alone has no title
        pairs = [(title, where) if equals and where else ("", title) for title, equals, where in parts]
    sets = [own for title, where in pairs for own in _sets_at(title, where, root, home)]
    names = [own.name for own in sets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OpenworldError(f"two sets are called {twice}; give one another name: --ood GROUP:NAME=IMAGES.")
    return tuple(sets)


def validation_sets(
    where: Sequence[Any], known: KnownImages, others: Sequence[NamedSet], root: str = ""
) -> tuple[NamedSet, ...]:
    """Return the images out of distribution on which settings are searched; refuse those that are tested or known."""
    if where and known.validation is None:
        raise OpenworldError("settings are searched with in-distribution validation images, too; give --validation.")
    found = [each for place in where for each in _validation_at(place, root)]
    inside = [NamedSet(part, "id", own) for part in PARTS if (own := getattr(known, part)) is not None]
    for each in found:
        for other in (*inside, *others):
            if both := len(_identities(each.images) & _identities(other.images)):
                raise OpenworldError(
                    f"{both:,} of the {len(each.images):,} images of --validation-ood {each.name} are among those of "
                    f"{other.name} ({other.group}); search settings on images that are neither tested nor learned from."
                )
    return tuple(found)


@dataclass(frozen=True)
class KnownSet:
    """A set of a benchmark, by its key in `BENCHMARKS` and its own."""

    benchmark: str
    name: str

    @property
    def title(self) -> str:
        """Its name in papers."""
        return BENCHMARKS[self.benchmark].sets[self.name].title

    @property
    def group(self) -> str:
        """Which group it is in."""
        return BENCHMARKS[self.benchmark].sets[self.name].group


def known_sets(word: str, home: str = "") -> tuple[KnownSet, ...]:
    """Return the sets that a word names; () where it names none. `home` is the benchmark that is in distribution."""
    # A word is "openood:BENCHMARK" for its near and far sets, "openood:BENCHMARK/GROUP", "openood:BENCHMARK/SET", or a
    # set alone, of the benchmark at home, or of ImageNet; case, "-" and "_" make no difference in it.
    if word.startswith(PREFIX):
        return _known_in(*word.partition("/")[::2])
    having = [(own, name) for own in BENCHMARKS if (name := _named(own, word))]
    chosen = [pair for pair in having if pair[0] == home] or [pair for pair in having if pair[0] == _OF_IMAGENET]
    if having and not chosen:
        forms = " or ".join("/".join(pair) for pair in having)
        raise OpenworldError(f"several benchmarks have a set {word}; say which is meant: {forms}.")
    return tuple(KnownSet(*pair) for pair in chosen[:1])


def _known_in(name: str, rest: str) -> tuple[KnownSet, ...]:
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, BENCHMARKS)
    benchmark = BENCHMARKS[name]
    if rest in ("", *GROUPS_BY_NAME):
        groups = (rest,) if rest else USUAL
        return tuple(KnownSet(name, own) for group in groups for own in benchmark.of_group(group))
    own = _named(name, rest)
    if not own:
        tested = [key for key, card in benchmark.sets.items() if card.group in GROUPS_BY_NAME]
        raise unknown_name(f"set or group of {name} to test on", rest, (*GROUPS_BY_NAME, *tested))
    return (KnownSet(name, own),)


def _named(benchmark: str, word: str) -> str:
    """The set of a benchmark that a word names; "" for none. What settings are chosen on is not tested."""
    sets = {name: own for name, own in BENCHMARKS[benchmark].sets.items() if own.group in GROUPS_BY_NAME}
    plain = _plain(word)
    return next((name for name, own in sets.items() if plain in (_plain(name), _plain(own.title))), "")


def _plain(name: str) -> str:
    return re.sub(r"[-_\s]", "", name.casefold())


def _sets_at(title: str, where: Any, root: str, home: str) -> Iterator[NamedSet]:
    group, _, name = title.partition(":")
    if title and group not in GROUPS:
        raise unknown_name("group", group, GROUPS)
    known = known_sets(where, home) if _may_be_known(where, home) else ()
    if name and len(known) > 1:
        raise OpenworldError(f"{where} names {len(known)} sets, which cannot all be called {name}; give no name.")
    yield from _of_benchmark(known, name, group, root)
    if not known and not title:
        raise OpenworldError(
            f"--ood {where} came, expected GROUP=IMAGES or GROUP:NAME=IMAGES, as far:textures=dtd/; or a set known by "
            f"name, as ssb_hard or openood:imagenet (benchmarks: {', '.join(BENCHMARKS)})."
        )
    if not known:
        images = images_at(where, root)
        yield NamedSet(name or _title(images, where), group, images)


def _of_benchmark(known: Sequence[KnownSet], name: str, group: str, root: str) -> Iterator[NamedSet]:
    """Sets of a benchmark; what is missing is said of all of them at once."""
    faults = []
    for own in known:
        try:
            images = datasets.load(own.benchmark, domain=own.name, root=root or None)
        except OpenworldError as error:
            faults.append(str(error))
            continue
        yield NamedSet(name or own.title, group or own.group, images)
    if faults:
        raise OpenworldError("\n".join(faults))


def _may_be_known(where: Any, home: str) -> bool:
    """Whether a place may be a set known by name: a file, a folder and a data set of that name come first."""
    if not isinstance(where, str) or Path(where).exists():
        return False
    return bool(home) or where.startswith(PREFIX) or where.split("/")[0] not in DATASETS


def _validation_at(where: Any, root: str) -> Iterator[NamedSet]:
    benchmark = where.removesuffix("/validation") if isinstance(where, str) else ""
    if benchmark in BENCHMARKS:
        own = tuple(KnownSet(benchmark, name) for name in BENCHMARKS[benchmark].of_group("validation"))
    else:
        own = known_sets(where) if _may_be_known(where, "") else ()
    yield from _of_benchmark(own, "", "validation", root)
    if not own:
        images = images_at(where, root)
        yield NamedSet(_title(images, where), "validation", images)


def _title(images: ImageSet, where: Any) -> str:
    if columns_of(images) is not None:
        return images.name
    if isinstance(where, str | Path) and Path(where).exists():
        return Path(where).resolve().stem
    return f"{images.name} {images.domain}".strip()


def _identities(images: ImageSet) -> set[Any]:
    """What tells images apart: files by their paths, others by place and content of their set, features by numbers."""
    if columns := columns_of(images):
        values = next(columns[name] for name in ("features", "logits") if name in columns)
        return {np.ascontiguousarray(row).tobytes() for row in values}
    if paths := getattr(images.read, "paths", None):
        folder = Path(getattr(images.read, "folder", ""))
        return {(folder / path).resolve() for path in paths}
    return {(images.content, place) for place in range(len(images))}
