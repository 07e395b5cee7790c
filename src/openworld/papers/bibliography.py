"""BibTeX entries of methods, evaluations, models and data sets, from `bibliography.toml` beside this file.

keys_of(kind, name)   the entries that a name has, of a kind such as "learners"
bibtex(keys)          entries as BibTeX, each once
names_used(spec)      which names a run's spec holds, kind by kind
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

KEYS = {
    "learner": "learners",
    "detector": "detectors",
    "estimator": "estimators",
    "open_world_estimator": "open_world_estimators",
    "design": "label_designs",
    "method": "decompositions",
    "architecture": "classifiers",
    "corruption": "corruptions",
    "corruptions": "corruptions",
    "backbone": "backbones",
    "dataset": "datasets",
}
"""A key of a spec -> the kind of thing that it names."""


@cache
def _table() -> Mapping[str, Any]:
    text = files("openworld.papers").joinpath("bibliography.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def methods() -> Mapping[str, Mapping[str, list[str]]]:
    return _table()["methods"]


def entries() -> Mapping[str, Mapping[str, Any]]:
    return _table()["entries"]


def keys_of(kind: str, name: str) -> tuple[str, ...] | None:
    """Return the keys of a name's entries; None where it is not ours."""
    keys = methods()[kind].get(name)
    return None if keys is None else tuple(keys)


def bibtex(keys: Iterable[str]) -> str:
    """Return entries as BibTeX, in the order given, each once."""
    return "\n".join(_write(key, entries()[key]) for key in dict.fromkeys(keys))


def names_used(spec: Any) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of everything that a resolved spec names, in its order."""
    if isinstance(spec, Mapping):
        for key, value in spec.items():
            names = [value] if isinstance(value, str) else value
            if key in KEYS and isinstance(names, list | tuple) and all(isinstance(name, str) for name in names):
                yield from ((KEYS[key], name) for name in names if name)
            else:
                yield from names_used(value)
    elif isinstance(spec, list | tuple):
        for part in spec:
            yield from names_used(part)


def _write(key: str, fields: Mapping[str, Any]) -> str:
    """An entry; the title keeps its capitals, and an arXiv number says what it is."""
    entry = {name: str(value) for name, value in fields.items() if name != "type"}
    entry["title"] = f"{{{entry['title']}}}"
    if "eprint" in entry:
        entry["archivePrefix"] = "arXiv"
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in entry.items())
    return f"@{fields['type']}{{{key},\n{lines}}}\n"
