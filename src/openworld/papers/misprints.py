"""What must be known of printed tables and of ours, from `notes.toml` beside this file.

MISPRINTS                          where the printed numbers contradict one another, or what the text says of them
about_ours(paper, table)           what a reader must know of our numbers of a table
SHORT                              a task or setting -> what heads its column
COCOOP                             data set -> zero-shot CLIP's accuracy on base and on new classes, as CoCoOp prints it
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

_NOTES = tomllib.loads(files("openworld.papers").joinpath("notes.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Misprint:
    """One contradiction."""

    name: str  # a short one
    paper: str  # a key of `PAPERS`
    tables: tuple[str, ...]  # numbers of those that it concerns
    what: str  # the contradiction, with the numbers


MISPRINTS: tuple[Misprint, ...] = tuple(
    Misprint(**note | {"tables": tuple(note["tables"])}) for note in _NOTES["misprint"]
)


SHORT: dict[str, str] = _NOTES["short"]
COCOOP: dict[str, list[float]] = _NOTES["cocoop"]


def misprints_of(paper: str, table: str) -> tuple[Misprint, ...]:
    return tuple(misprint for misprint in MISPRINTS if misprint.paper == paper and table in misprint.tables)


def about_ours(paper: str, table: str) -> tuple[str, ...]:
    return tuple(note["what"] for note in _NOTES["ours"] if note["paper"] == paper and table in note["tables"])
