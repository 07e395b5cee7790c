"""The one exception users meet, missing packages, the nearest spelling of a name, and the warning about old names."""

import warnings
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from typing import TypeVar

T = TypeVar("T")
_MOST_SHOWN, _NEAREST = 60, 8
EXTRA = "models"
IN_EXTRA = ("torch", "tokenizers", "huggingface_hub")
"""Packages of the extra `models`, which much works without."""


class OpenworldError(ValueError):
    """Wrong input or an unmet requirement: says what came, what was expected, and what to do."""

    exit_code: int  # of the command that it ends, where it is not 2


class NotInstalled(ModuleNotFoundError, OpenworldError):
    """A package is missing that an extra brings: says which extra to install."""


def not_installed(error: ModuleNotFoundError, what: str) -> ModuleNotFoundError:
    """Return the error to raise where a module was not found: a sentence if an extra brings it, else the same error.

    Args:
        error: what an import raised.
        what: who needs the module, such as "openworld predict".
    """
    package = (error.name or "").partition(".")[0]
    if package not in IN_EXTRA:
        return error
    sentence = f"{what} needs {package}, which is not installed: pip install 'openworld[{EXTRA}]'."
    return NotInstalled(sentence, name=error.name)


def unknown_name(kind: str, name: str, known: Iterable[str]) -> OpenworldError:
    """The error for a name that is not in a visible dict: with the known ones, or those most alike."""
    known = list(known)
    listed = ", ".join(known) or "none"
    if len(known) > _MOST_SHOWN:
        nearest = sorted(known, key=lambda option: -SequenceMatcher(None, name.casefold(), option.casefold()).ratio())
        listed = f"{len(known)}, such as {', '.join(nearest[:_NEAREST])}"
    folded = {option.casefold(): option for option in known}
    close = get_close_matches(name.casefold(), folded, n=1)
    hint = f"; did you mean {folded[close[0]]!r}?" if close else "."
    return OpenworldError(f"unknown {kind} {name!r}{hint} Known: {listed}.")


def present(part: T | None, what: str) -> T:
    """Return what is None in other cases, and never here; refuse None, which is a fault of whoever made it."""
    if part is None:
        raise OpenworldError(
            f"{what} is not there, expected beside all else that came; say in an issue how to get here."
        )
    return part


@cache
def deprecated(what: str, instead: str, *, since: str, gone_in: str) -> None:
    """Warn, once in a process, that something public still works and will go; CONTRIBUTING.md says for how long."""
    message = f"{what} is deprecated since openworld {since} and is gone in {gone_in}; use {instead}."
    warnings.warn(message, DeprecationWarning, stacklevel=3)


@contextmanager
def naming(path: object) -> Generator[None]:
    """Give the errors of the system in this block the name of the file: that of a full disk knows none."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def failing() -> Generator[None]:
    """Mark errors in this block as failures of the work (exit code 1), not as wrong use (exit code 2)."""
    try:
        yield
    except OpenworldError as error:
        error.exit_code = 1
        raise
