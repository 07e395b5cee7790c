"""A finished unit on disk: a folder of tables and attachments under a `record.json` that vouches for them.

`record.json` lists size and SHA-256 of every file, and seals itself: reading it back and writing it again must
give the same bytes, and `seal` must be the digest of all the rest. What varies between two runs of one unit
(times, host, threads, device) is in `timing.json` beside it, which nothing vouches for.
"""

import hashlib
import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import parse_json, read_plain
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.runs.canonical import to_json
from openworld.runs.sealed import seal, unseal
from openworld.runs.unit import Unit, UnitResult
from openworld.tables.parquet import decode_table, encode_table

FORMAT = 1  # of the folder; a record of another format counts as not there
_SETTLED = 1.0  # seconds: file systems tell times apart by hundredths of one at best
_VERIFIED: dict[Path, tuple | None] = {}  # folder of a record -> the stamps of its files when they were verified
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,150}")


@dataclass(frozen=True)
class Record:
    """What a unit left: its identity, its metrics, and its files, checked again whenever one is read.

    files: {name relative to `folder`: {"bytes": size, "sha256": digest}}.
    """

    unit: Unit
    metrics: Mapping[str, Any]
    files: Mapping[str, Mapping[str, Any]]
    folder: Path

    __repr__ = short_repr

    @property
    def name(self) -> str:
        return self.unit.name

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables, sorted."""
        return tuple(sorted(file.removesuffix(".parquet") for file in self.files if "/" not in file))

    @property
    def attachments(self) -> tuple[str, ...]:
        """Names of the attachments, sorted."""
        return tuple(sorted(file.partition("/")[2] for file in self.files if "/" in file))

    @property
    def timing(self) -> dict[str, Any]:
        """Start, seconds, host and the like of the one run that wrote this record; {} where lost or not readable."""
        try:
            timing = parse_json(read_plain(self.folder / "timing.json"))  # nothing vouches for it or may fail for it
        except (OSError, ValueError):
            return {}
        if not isinstance(timing, dict):
            return {}
        if not _is_time(timing.get("seconds", 0)):
            del timing["seconds"]
        return timing

    @property
    def seconds(self) -> dict[str, float]:
        """{stage: seconds}; one number alone is that of the stage "all"."""
        seconds = self.timing.get("seconds", {})
        stages = seconds if isinstance(seconds, dict) else {"all": seconds}
        return {stage: spent for stage, spent in stages.items() if not isinstance(spent, dict)}

    @overload
    def table(self, name: str, *, coded: Literal[False] = False) -> dict[str, np.ndarray]: ...
    @overload
    def table(self, name: str, *, coded: Literal[True]) -> dict[str, Any]: ...
    def table(self, name: str, *, coded: bool = False) -> dict[str, Any]:
        """{column: array [N] or [N, C]} of one table; text comes as object arrays, or as `Coded` columns."""
        if name not in self.tables:
            raise unknown_name(f"table of record {self.name!r}:", name, self.tables)
        return decode_table(self._check(f"{name}.parquet"), coded=coded)

    def attachment(self, name: str) -> bytes:
        """The bytes of one attachment."""
        if name not in self.attachments:
            raise unknown_name(f"attachment of record {self.name!r}:", name, self.attachments)
        return self._check(f"attachments/{name}")

    def verify(self) -> None:
        """Raise OpenworldError naming the first file that is missing or not as written."""
        for file in self.files:
            self._check(file)

    def _check(self, file: str) -> bytes:
        try:
            data = read_plain(self.folder / file)
        except OSError as error:
            raise OpenworldError(f"{self.folder / file} cannot be read ({error.strerror}).") from error
        if _entry(data) != self.files[file]:
            raise OpenworldError(f"{self.folder / file} is not the file that was written: its bytes have changed.")
        return data


def pack(unit: Unit, result: UnitResult) -> dict[str, bytes]:
    """The files of a record, {relative name: bytes}, equal for equal results; record.json comes last."""
    require_names("table", result.outputs)
    require_names("attachment", result.attachments)
    files = {f"{name}.parquet": encode_table(name, columns) for name, columns in sorted(result.outputs.items())}
    files |= {f"attachments/{name}": bytes(data) for name, data in sorted(result.attachments.items())}
    content = unit.identity() | {
        "format": FORMAT,
        "key": unit.key,
        "name": unit.name,
        "metrics": to_json(result.metrics, "metrics"),
        "files": {name: _entry(data) for name, data in files.items()},
    }
    return files | {"record.json": seal(content)}


def renamed(record: Record, name: str) -> bytes:
    """The `record.json` of a record under another name of its unit."""
    content = unseal(read_plain(record.folder / "record.json"))
    return seal(content | {"name": name})


@checked
def load_record(folder: Path) -> Record:
    """Return the record in `folder`, every file checked; raises OpenworldError saying what is wrong."""
    path = folder / "record.json"
    try:
        data = read_plain(path)
        content = unseal(data)
        if seal(content) != data:
            raise ValueError("its bytes have changed")
        record = _from_content(content, folder)
    except OSError as error:
        raise OpenworldError(f"{path} cannot be read ({error.strerror}).") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise OpenworldError(f"{path} is not a record as it was written: {error}.") from error
    stamps = _stamps(record)
    if stamps is None or _VERIFIED.get(folder) != stamps:
        record.verify()
        _VERIFIED[folder] = stamps
    return record


# A command asks for the same record several times, and its tables may be large: their bytes are hashed once, and again
# when any stamp has changed.
def _stamps(record: Record) -> tuple | None:
    """What the file system says of a record's files; None where one is missing, or too new to show a change."""
    try:
        stats = [(record.folder / name).lstat() for name in ("record.json", *record.files)]
    except OSError:
        return None
    if max(stat.st_ctime for stat in stats) > time.time() - _SETTLED:
        return None
    return tuple((stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for stat in stats)


def require_names(kind: str, names: Iterable[str]) -> None:
    """Refuse names that could leave the record's folder, hide in it, or collide on another file system."""
    name_of: dict[str, str] = {}
    for name in names:
        parts = str(name).split("/") if kind == "attachment" else [str(name)]
        if not all(_NAME.fullmatch(part) for part in parts):
            raise OpenworldError(
                f"{kind} name {name!r} is not allowed: letters, digits and _ . + - only, no leading dot."
            )
        if name_of.setdefault(name.casefold(), name) != name:
            raise OpenworldError(f"{kind} names {name_of[name.casefold()]!r} and {name!r} differ in case only.")
    for folded, name in name_of.items():
        if any(other.startswith(folded + "/") for other in name_of):
            raise OpenworldError(f"{kind} name {name!r} is also the folder of another one.")


def _from_content(content: dict[str, Any], folder: Path) -> Record:
    if content["format"] != FORMAT:
        raise ValueError(f"format {content['format']}, expected {FORMAT}")
    unit = Unit(**{part: content[part] for part in ("function", "arguments", "inputs", "version", "name")})
    if unit.key != content["key"]:
        raise ValueError("its key does not belong to its arguments")
    require_names("attachment", content["files"])  # a forged name must not lead out of the folder
    return Record(unit, content["metrics"], content["files"], folder)


def _is_time(seconds: Any, levels: int = 2) -> bool:
    if isinstance(seconds, dict):
        return levels > 0 and all(_is_time(each, levels - 1) for each in seconds.values())
    return type(seconds) in (int, float) and 0 <= seconds < math.inf


def _entry(data: bytes) -> dict[str, Any]:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
