"""WebDataset shards: images and labels in tar archives, read where they lie, nothing extracted.

A sample is the members of a shard that share a name up to its first dot: KEY.jpg (or another image) and KEY.cls, the
class as text: a number from 0, its name then being that line of classnames.txt beside the shards or one folder up; or
the class's name itself. Other members are passed over. The archives must be plain, not compressed.
"""

import glob
import io
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import require_plain
from openworld.datasets.formats.decoding import FORMATS, decode
from openworld.datasets.formats.files import content_of, first, read_lines, require_below
from openworld.datasets.formats.folder import PARTS
from openworld.datasets.image_set import ImageSet, path_column
from openworld.datasets.splits import draw_shots

_LONGEST_LABEL = 1000
_LONGEST_HEADER = 1 << 20  # bytes; a member's long name or its extended header, of which real ones have some hundred
_BLOCK = 512
_MOST_SHARDS = 100_000


@dataclass(frozen=True)
class TarSample:
    """Where an image lies: its shard, its name there, and its first byte and length in the shard; and its label."""

    shard: Path
    name: str
    start: int
    size: int
    label: str


def load(
    pattern: str | Path, *, domain: str | None = None, part: str = "test", shots: int | None = None, seed: int = 0
) -> ImageSet:
    """Return the images of some shards, or of one part, in the order of their names; the content is of names and sizes.

    A pattern is such as "shards/{part}-{000..012}.tar" or "shards/{part}/*.tar"; without {part} every shard is of part
    "test". There are no domains; the other options are those of `datasets.load`. Raises OpenworldError for no shard,
    more than 100,000, a compressed or damaged one, a member that is no plain file or leaves its folder, a sample
    without a label or image, or with two.
    """
    if domain:
        raise OpenworldError(f"{pattern} names shards, which have no domains, so no {domain!r}; leave the domain out.")
    shards = _shards(str(pattern), part)
    samples = [sample for shard in shards for sample in _samples(shard)]
    if not samples:
        raise OpenworldError(f"{pattern} holds no sample: no NAME.cls beside an image ending in {', '.join(FORMATS)}.")
    names, labels = _classes(shards[0], samples)
    drawn = draw_shots(labels, shots, seed)
    labels, samples = labels[drawn], [samples[index] for index in drawn.tolist()]
    paths = [f"{one.shard.name}/{one.name}" for one in samples]
    plain = [part for part in Path(pattern).parts if not re.search(r"[{*?\\[]", part)]
    return ImageSet(
        name=Path(plain[-1]).stem if plain else "shards",  # the first folder or file above the placeholders
        domain="",
        classnames=names,
        labels=labels,
        groups=np.arange(len(samples)),
        content=content_of(zip(paths, (one.size for one in samples), strict=True)),
        read=partial(read_sample, tuple(samples)),
        columns=path_column(paths),
    )


def read_sample(samples: tuple[TarSample, ...], index: int) -> Image.Image:
    sample = samples[index]
    with sample.shard.open("rb") as file:
        file.seek(sample.start)
        return decode(io.BytesIO(file.read(sample.size)), f"{sample.shard}: {sample.name}")


def patterns(pattern: str, part: str) -> list[str]:
    """What shards of a part may be called: none where the pattern does not say where parts lie, but for "test"."""
    if "{part}" not in pattern and part != "test":
        return []
    return [one for name in PARTS[part] for one in _expand(pattern.replace("{part}", name))]


def _shards(pattern: str, part: str) -> list[Path]:
    if part not in PARTS:
        raise unknown_name("part", part, PARTS)
    if "{part}" not in pattern and part != "test":
        raise OpenworldError(f"{pattern} does not say where part {part!r} lies; put {{part}} into it.")
    files: dict[str, list[str]] = {}
    for name in PARTS[part]:
        files = {shard: sorted(glob.glob(shard)) for shard in _expand(pattern.replace("{part}", name))}
        if any(files.values()):
            break
    missing = [shard for shard, paths in files.items() if not paths]
    if missing:
        raise OpenworldError(f"no file matches {first(missing)} (part {part!r}); complete the shards or mend the path.")
    shards = [Path(path) for paths in files.values() for path in paths]
    for shard in shards:
        require_plain(shard)
    return shards


def _expand(pattern: str) -> list[str]:
    """Return every pattern that {000..012} and {a,b} stand for, up to _MOST_SHARDS."""
    try:
        patterns = list(islice(_braces(pattern), _MOST_SHARDS + 1))
    except RecursionError:
        patterns = []
    if not 0 < len(patterns) <= _MOST_SHARDS:
        raise OpenworldError(
            f"the braces of {first([pattern])[:200]!r} stand for none or more than {_MOST_SHARDS:,} shards; write them "
            "as {000..012} or {a,b}, or name the shards with *."
        )
    return patterns


def _braces(pattern: str) -> Iterator[str]:
    match = re.search(r"\{(?:(\d{1,18})\.\.(\d{1,18})|([^{}]*,[^{}]*))\}", pattern)
    if not match:
        yield pattern
        return
    low, high, listed = match.groups()
    each = listed.split(",") if listed else (f"{n:0{len(low)}d}" for n in range(int(low), int(high) + 1))
    for one in each:
        yield from _braces(pattern[: match.start()] + one + pattern[match.end() :])


def _samples(shard: Path) -> list[TarSample]:
    images: dict[str, tarfile.TarInfo] = {}
    labels: dict[str, str] = {}
    with shard.open("rb") as file:
        for member in _members(shard, file):
            path = PurePosixPath(member.name)
            key, dot, ending = path.name.partition(".")
            key, ending = (path.parent / key).as_posix(), (dot + ending).lower()
            into: Any = images if ending in FORMATS else labels if ending == ".cls" else None
            if into is None:
                continue
            if key in into:
                raise OpenworldError(f"{shard} holds two members like {member.name}; a sample needs one of each kind.")
            into[key] = member if into is images else _label(shard, file, member)
    alone = sorted(images.keys() ^ labels.keys())
    if alone:
        lacks = "label (.cls)" if alone[0] in images else "image"
        raise OpenworldError(f"{shard} holds {len(alone)} sample(s) that are not whole: {alone[0]} has no {lacks}.")
    return [TarSample(shard, entry.name, entry.offset_data, entry.size, labels[key]) for key, entry in images.items()]


def _members(shard: Path, file) -> list[tarfile.TarInfo]:
    """The plain files of a shard; anything that could reach outside it is refused."""
    try:
        headers: Any = _Headers(file)  # it has the `read` of a file
        with tarfile.open(fileobj=headers, mode="r:") as archive:
            members = archive.getmembers()
    # A size beyond any file and long names that follow one another without end fail as the last three.
    except (tarfile.TarError, EOFError, ValueError, OSError, OverflowError, RecursionError) as error:
        raise OpenworldError(
            f"{shard} cannot be read as a plain tar archive ({error}); decompress it, or get it again."
        ) from error
    for member in members:
        require_below(member.name, str(shard))
        if not member.isdir() and (not member.isreg() or member.issparse()):
            raise OpenworldError(f"{shard} holds {member.name}, which is no plain file; links and such are refused.")
    _require_whole(shard, file, members)
    return [member for member in members if member.isreg()]


@dataclass(frozen=True)
class _Headers:
    """A shard of which headers alone are read, so that one of any length is not read into memory."""

    file: BinaryIO

    def read(self, size: int) -> bytes:
        if size > _LONGEST_HEADER:
            raise tarfile.ReadError(f"a header of {size:,} bytes")
        return self.file.read(size)

    def seek(self, place: int) -> int:
        return self.file.seek(place)

    def tell(self) -> int:
        return self.file.tell()


def _require_whole(shard: Path, file, members: list[tarfile.TarInfo]) -> None:
    """Refuse an archive without its closing block of zeros: tarfile reads a cut one as a short one."""
    end = max((member.offset_data + -(-member.size // _BLOCK) * _BLOCK for member in members), default=0)
    file.seek(end)
    if file.read(_BLOCK) != bytes(_BLOCK):
        raise OpenworldError(f"{shard} is damaged or was cut short: its closing block is missing; get it again.")


def _label(shard: Path, file, member: tarfile.TarInfo) -> str:
    file.seek(member.offset_data)
    try:
        label = file.read(min(member.size, _LONGEST_LABEL)).decode().strip()
    except UnicodeDecodeError:
        label = ""
    if not label or member.size > _LONGEST_LABEL:
        raise OpenworldError(f"{shard}: {member.name} is no label; expected a number or a class name as text.")
    return label


def _classes(shard: Path, samples: list[TarSample]) -> tuple[tuple[str, ...], np.ndarray]:
    """Class names in label order, and int64[N] labels."""
    listings = [place / "classnames.txt" for place in (shard.parent, shard.parent.parent)]
    for path in listings:
        require_plain(path)
    listing = next((path for path in listings if path.is_file()), None)
    if listing is None:
        own = [sample.label for sample in samples]
        if any(label.isdecimal() for label in own):
            raise OpenworldError(f"labels of {shard} are numbers; name the classes, one per line, in {listings[0]}.")
        names, labels = np.unique(np.array(own, dtype=str), return_inverse=True)
        return tuple(names.tolist()), labels.astype(np.int64)
    names = read_lines(listing)
    places = {name: label for label, name in enumerate(names)} | {str(label): label for label in range(len(names))}
    unknown = next((sample for sample in samples if sample.label not in places), None)
    if unknown:
        raise OpenworldError(
            f"{unknown.shard}: {unknown.name} has the label {unknown.label!r}; {listing} names {len(names)} classes, "
            "so labels are those names, or numbers from 0."
        )
    return tuple(names), np.array([places[sample.label] for sample in samples], dtype=np.int64)
