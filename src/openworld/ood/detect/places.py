"""Images by what a person names: places of images and of features, and named sets of them.

Sets of OpenOOD's benchmarks have words of their own: a whole benchmark, one of its groups, or one set.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openworld import datasets
from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets import DATASETS, ImageSet
from openworld.datasets.formats import embeddings, numbered_list
from openworld.datasets.formats.folder import find_images, images_of_paths
from openworld.datasets.published import openood
from openworld.datasets.published.catalogue import BENCHMARKS
from openworld.datasets.published.openood import PREFIX
from openworld.ood.feature_model import FEATURE_FILES, are_features, columns_of, feature_images, part_of_features
from openworld.ood.scored_sets import GROUPS
from openworld.own_data.images import are_images, labelled_images
from openworld.tables.embeddings import holds_embeddings, read_embeddings
from openworld.tables.files import ScoreFile, open_scores

PARTS = ("train", "validation", "test")
WAYS = (
    "a folder of images, a data set as NAME/DOMAIN/PART, a list of files (.txt, as OpenOOD has them), or a file with "
    "features or embeddings"
)


KnownImages = Mapping[str, ImageSet]
"""In-distribution images by part: test, and perhaps train and validation, on which a threshold is chosen."""


def known_images(
    where: Any, train: Any = "", validation: Any = "", root: str = ""
) -> tuple[KnownImages, tuple[str, ...]]:
    """Return in-distribution images of a place with parts, or of a place for each, and sentences on what lacks."""
    # Sets and tables have a length and may be empty: only the empty text says that nothing was named.
    given = {part: place for part, place in (("train", train), ("validation", validation))
             if not isinstance(place, str) or place}  # fmt: skip
    by_part = {part: images_at(place, root, part) for part, place in given.items()}
    wanted, notes = [part for part in PARTS if part not in by_part], []
    found: Mapping[str, ImageSet | None]
    if are_embeddings(where):
        found = {part: images_at(where, part=part) for part in embeddings.parts(where) & set(wanted)}
    elif isinstance(where, str | Path) and not are_features(where):
        for part in [part for part in wanted if part != "test"] if benchmark_of(where) else ():
            if why := openood.absent(where, part, root or None):  # only its test images must be there
                wanted.remove(part)
                notes.append(f"{where} has no {part} images here ({why}), so that nothing learns from or is chosen on "
                             "them.")  # fmt: skip
        found = _parts(str(where), wanted, root) or {"test": images_at(where, root)}
    else:
        images = images_at(where, root)
        is_table = columns_of(images) is not None
        found = {part: part_of_features(images, part) for part in wanted} if is_table else {"test": images}
    if found.get("test") is None:
        name = getattr(where, "path", getattr(where, "name", where))
        raise OpenworldError(f"{name} has no row of the part test; give test images of the classes.")
    every = found | by_part
    return {part: images for part in PARTS if (images := every.get(part)) is not None}, tuple(notes)


def are_embeddings(where: Any) -> bool:
    """Whether images came embedded: a file or columns with embeddings, and neither features nor logits."""
    return holds_embeddings(where, "embeddings") and not are_features(where)


def images_at(where: Any, root: str = "", part: str = "test") -> ImageSet:
    """Return the images of a place; of embeddings those of a part, all where they have none."""
    # A folder, with class folders or without; a data set as NAME[/DOMAIN[/PART]]; a text file with a path (and perhaps
    # a number of a class) per line; a file of features or embeddings; an image set, or columns with either. `root` is
    # the folder of paths of a list, below which downloads lie too; "" for that of the list, $OPENWORLD_DATA.
    if isinstance(where, ImageSet):
        return where
    if are_embeddings(where):
        vectors = read_embeddings(where)
        rows = embeddings.rows_of(vectors, part)
        return embeddings.image_set(vectors, rows if rows.size else None)
    if isinstance(where, ScoreFile):
        return feature_images(where)
    path = Path(where)
    if path.suffix.lower() == ".txt" and path.is_file():
        # Numbers count the model's classes; where a line has none, or -1, the images have no labels.
        try:
            return numbered_list.image_set(numbered_list.read(path), path.stem, Path(root) if root else path.parent)
        except OpenworldError as error:
            raise OpenworldError(f"{error} Say with --root where the files of {path} lie.") from error
    if are_features(where):
        return feature_images(open_scores(path, FEATURE_FILES))
    if path.is_dir():
        files = find_images([path])
        if {len(file.relative_to(path).parts) for file in files} == {2}:
            return labelled_images(str(path))
        return images_of_paths(files, path.resolve().name, path)
    if are_images(str(where)):
        return labelled_images(str(where), root)
    raise OpenworldError(f"there are no images at {where}; give {WAYS}.")


def benchmark_of(where: object) -> str:
    """Return the benchmark whose in-distribution images somebody names; "" for anything else."""
    return where if isinstance(where, str) and where in BENCHMARKS else ""


def image_names(images: ImageSet, rows: np.ndarray) -> np.ndarray:
    """Return object[n], paths of images, or what a table of features calls them."""
    paths = getattr(images.read, "paths", None)
    return np.array([str(paths[row]) if paths else images.path_of(row) for row in rows.tolist()], object)


def _parts(where: str, wanted: Sequence[str], root: str) -> dict[str, ImageSet]:
    """The parts of a folder or data set; empty where it has none but the images themselves."""
    name, *rest = where.split("/") if where.split("/")[0] in DATASETS and not Path(where).exists() else [where]
    if len(rest) > 1 or (not rest and name not in DATASETS and not Path(where).is_dir()):
        return {}
    domain = rest[0] if rest else None
    here = [part for part in wanted if datasets.has_part(name, part, domain)]
    if "test" not in here:
        return {}
    return {part: datasets.load(name, domain=domain, part=part, root=root or None) for part in here}


USUAL = ("near", "far")
"""Groups that a benchmark stands for."""

GROUPS_BY_NAME = (*USUAL, "full-spectrum")


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
    sets: list[NamedSet] = []
    for title, where in pairs:
        group, _, name = title.partition(":")
        if title and group not in GROUPS:
            raise unknown_name("group", group, GROUPS)
        known = known_sets(where, home)
        if name and len(known) > 1:
            raise OpenworldError(f"{where} names {len(known)} sets, which cannot all be called {name}; give no name.")
        if not known and not title:
            raise OpenworldError(
                f"--ood {where} came, expected GROUP=IMAGES or GROUP:NAME=IMAGES, as far:textures=dtd/; or a set known "
                f"by name, as ssb_hard or openood:imagenet (benchmarks: {', '.join(BENCHMARKS)})."
            )
        sets += _sets_at(where, known, name, group, root)
    names = [own.name for own in sets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OpenworldError(f"two sets are called {twice}; give one another name: --ood GROUP:NAME=IMAGES.")
    return tuple(sets)


def validation_sets(
    where: Sequence[Any], known: KnownImages, others: Sequence[NamedSet], root: str = ""
) -> tuple[NamedSet, ...]:
    """Return the images out of distribution on which settings are searched; refuse those that are tested or known."""
    if where and "validation" not in known:
        raise OpenworldError("settings are searched with in-distribution validation images, too; give --validation.")
    found: list[NamedSet] = []
    for place in where:
        benchmark = place.removesuffix("/validation") if isinstance(place, str) else ""
        if benchmark in BENCHMARKS:
            own = tuple((benchmark, name) for name in BENCHMARKS[benchmark].of_group("validation"))
        else:
            own = known_sets(place)
        found += _sets_at(place, own, "", "validation", root)
    inside = [NamedSet(part, "id", images) for part, images in known.items()]
    for each in found:
        for other in (*inside, *others):
            if both := len(_identities(each.images) & _identities(other.images)):
                raise OpenworldError(
                    f"{both:,} of the {len(each.images):,} images of --validation-ood {each.name} are among those of "
                    f"{other.name} ({other.group}); search settings on images that are neither tested nor learned from."
                )
    return tuple(found)


def known_sets(word: Any, home: str = "") -> tuple[tuple[str, str], ...]:
    """Return (benchmark, set) of all that a word names; `home` is the benchmark that is in distribution."""
    # A word is "openood:BENCHMARK" for its near and far sets, "openood:BENCHMARK/GROUP", "openood:BENCHMARK/SET", or a
    # set alone, of the benchmark at home, or of ImageNet; case, "-" and "_" make no difference in it. A file, a folder
    # and a data set of that name come first.
    if not isinstance(word, str) or Path(word).exists():
        return ()
    if word.startswith(PREFIX):
        return _known_in(*word.partition("/")[::2])
    if not home and word.split("/")[0] in DATASETS:
        return ()
    having = [(benchmark, name) for benchmark in BENCHMARKS if (name := _named(benchmark, word))]
    chosen = [pair for pair in having if pair[0] == home] or [pair for pair in having if pair[0] == "openood:imagenet"]
    if having and not chosen:
        forms = " or ".join("/".join(pair) for pair in having)
        raise OpenworldError(f"several benchmarks have a set {word}; say which is meant: {forms}.")
    return tuple(chosen[:1])


def _known_in(name: str, rest: str) -> tuple[tuple[str, str], ...]:
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, BENCHMARKS)
    benchmark = BENCHMARKS[name]
    if rest in ("", *GROUPS_BY_NAME):
        groups = (rest,) if rest else USUAL
        return tuple((name, own) for group in groups for own in benchmark.of_group(group))
    own = _named(name, rest)
    if not own:
        tested = [key for key, card in benchmark.sets.items() if card.group in GROUPS_BY_NAME]
        raise unknown_name(f"set or group of {name} to test on", rest, (*GROUPS_BY_NAME, *tested))
    return ((name, own),)


def _named(benchmark: str, word: str) -> str:
    """The set of a benchmark that a word names; "" for none. What settings are chosen on is not tested."""
    sets = {name: own for name, own in BENCHMARKS[benchmark].sets.items() if own.group in GROUPS_BY_NAME}

    def plain(text: str) -> str:
        return re.sub(r"[-_\s]", "", text.casefold())

    return next((name for name, own in sets.items() if plain(word) in (plain(name), plain(own.title))), "")


def _sets_at(where: Any, known: Sequence[tuple[str, str]], name: str, group: str, root: str) -> Iterator[NamedSet]:
    """Yield sets of a benchmark, of which what is missing is said at once; where none is named, images of a place."""
    if not known:
        images = images_at(where, root)
        title = f"{images.name} {images.domain}".strip()
        if columns_of(images) is not None:
            title = images.name
        elif isinstance(where, str | Path) and Path(where).exists():
            title = Path(where).resolve().stem
        yield NamedSet(name or title, group, images)
    faults = []
    for benchmark, own in known:
        card = BENCHMARKS[benchmark].sets[own]
        try:
            images = datasets.load(benchmark, domain=own, root=root or None)
            yield NamedSet(name or card.title, group or card.group, images)
        except OpenworldError as error:
            faults.append(str(error))
    if faults:
        raise OpenworldError("\n".join(faults))


def _identities(images: ImageSet) -> set[Any]:
    """What tells images apart: files by their paths, others by place and content of their set, features by numbers."""
    if columns := columns_of(images):
        values = next(columns[name] for name in ("features", "logits") if name in columns)
        return {np.ascontiguousarray(row).tobytes() for row in values}
    if paths := getattr(images.read, "paths", None):
        folder = Path(getattr(images.read, "folder", ""))
        return {(folder / path).resolve() for path in paths}
    return {(images.content, place) for place in range(len(images))}
