"""What a folder that somebody else made may consist of: plain files, whose names are text."""

import hashlib
import json
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from openworld.core.errors import OpenworldError


def require_plain(path: Path) -> None:
    """Refuse what is there and is no plain file: a pipe would be waited for, and a device read without end."""
    if not path.is_file() and (path.exists() or path.is_symlink()):
        kind = "a folder" if path.is_dir() else "a pipe or a device"
        if path.is_symlink() and not path.exists():
            kind = "a link that leads to no file"
        raise OpenworldError(f"{path} is no plain file, but {kind}; remove it, or put a file there.")


@contextmanager
def reading(path: Path, form: str, *errors: type[Exception]) -> Generator[None]:
    """Refuse what is no plain file, and raise OpenworldError for one that is missing, or no whole `form`."""
    require_plain(path)
    try:
        yield
    except FileNotFoundError:
        raise OpenworldError(f"there is no file {path}.") from None
    except OpenworldError:
        raise
    except (OSError, EOFError, *errors) as error:
        raise OpenworldError(f"{path} cannot be read as {form} ({error}); get it again.") from error


def read_plain(path: Path) -> bytes:
    """Return the content of a plain file."""
    require_plain(path)
    return path.read_bytes()


def read_json(path: Path) -> Any:
    """Return what a plain file of JSON says; NaN and infinity, which JSON has no word for, are refused."""
    try:
        return parse_json(read_plain(path))
    except OpenworldError:
        raise
    except ValueError as error:
        raise OpenworldError(f"{path} is not JSON ({error}).") from error


def parse_json(text: bytes | str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return what JSON says; `pairs` makes something of the entries of an object, by default a dict."""
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=pairs)
    except RecursionError:
        raise ValueError("lists or tables are nested too deep") from None


def read_text(path: Path, advice: str = "save it as UTF-8.") -> str:
    """Return the text of a plain file in UTF-8, with or without its byte order mark; `advice` is for other text."""
    try:
        text = read_plain(path).decode("utf-8-sig")
    except OSError as error:
        why = "there is no file" if isinstance(error, FileNotFoundError) else f"{error.strerror}:"
        raise OpenworldError(f"{why} {path}.") from None
    except UnicodeDecodeError as error:
        raise OpenworldError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); {advice}") from error
    if "\0" in text[:1000]:
        raise OpenworldError(f"{path} is UTF-16 text, expected UTF-8; {advice}")
    return text


def read_lines(path: Path, what: str = "entry") -> list[str]:
    """Return the lines of a text file that are not blank, without outer spaces; there is one at least."""
    lines = [line.strip() for line in read_text(path).splitlines()]
    if not any(lines):
        raise OpenworldError(f"{path} is empty; give a text file with a {what} per line.")
    return [line for line in lines if line]


def is_text(name: str) -> bool:
    """Whether a file's name could be decoded; Python keeps bytes that could not as lone surrogates.

    >>> is_text("caf\\u00e9.jpg"), is_text("caf\\udce9.jpg")
    (True, False)
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def require_text(name: str) -> None:
    """Refuse a name that is not text, as an archive unpacked with the wrong alphabet leaves behind."""
    if is_text(name):
        return
    if sys.getfilesystemencoding().lower() != "utf-8":
        raise OpenworldError(
            f"the name {name!a} cannot be read: Python reads names as {sys.getfilesystemencoding()} here; "
            "set PYTHONUTF8=1."
        )
    raise OpenworldError(f"the name {name!a} is not UTF-8 text; unpack its archive again, or rename it.")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"it holds {constant}, which is no number of JSON")


def sha256_of(path: Path) -> str:
    """Return the hex SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def facts(package: str, name: str) -> dict[str, Any]:
    """Return a TOML file of facts that comes with a package of ours."""
    import tomllib
    from importlib.resources import files

    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))
