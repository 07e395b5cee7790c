"""What differs between two runs: keys of their specs, settings of what both have, versions of packages."""

from collections.abc import Iterator, Mapping
from typing import Any

WITHOUT_EFFECT = (
    *("keep_learners", "keep_validation", "operating", "threads"),
    *("ratios", "resamples", "imbalance_factor"),
    "predictions",  # the hash of a scored file: whose numbers differ is what is compared
)
"""Keys of a spec that change no number of `openworld compare`."""

KINDS = ("learner", "method", "detector", "estimator", "architecture", "backbone")
"""Keys that name what an entry of a list is; entries are compared by label."""

_PACKAGES = ("openworld", "torch")
_ABSENT = "not given"
_ENTRY = "entries of lists"


def differing_settings(first, second) -> tuple[tuple[str, str, str], ...]:
    """Return (setting, first, second) of all that differs; entries of lists are paired by their labels."""
    ours, theirs = (dict(_flat(_by_label(run.resolved))) for run in (first, second))
    keys = [key for key in dict.fromkeys([*ours, *theirs]) if ours.get(key) != theirs.get(key)]
    # Entries that only one run has are seen in its results.
    keys = [key for key in keys if key[0] != _ENTRY or all((*key[:2], "is") in flat for flat in (ours, theirs))]
    names = {key: f"{key[1]} {'.'.join(key[2:])}" if key[0] == _ENTRY else ".".join(key) for key in keys}
    changes = [(names[key], _said(ours, key), _said(theirs, key)) for key in keys]
    here, there = ((run.provenance[-1].get("packages", {}) if run.provenance else {}) for run in (first, second))
    packages = [(name, here.get(name), there.get(name)) for name in _PACKAGES]
    return (*changes, *((name, one, other) for name, one, other in packages if one and other and one != other))


def _by_label(resolved: Any) -> Mapping:
    """A spec with its entries by label, so that their order and number do not matter."""
    if not isinstance(resolved, Mapping):
        return {}
    listed = [name for name, value in resolved.items() if isinstance(value, list | tuple) and any(map(_kind, value))]
    entries = {entry.get("label") or _kind(entry): _settings(entry) for name in listed for entry in resolved[name]}
    rest = {name: value for name, value in resolved.items() if name not in (*WITHOUT_EFFECT, *listed)}
    return rest | {_ENTRY: entries}


def _kind(entry: Any) -> str:
    """What an entry of a list is; "" of what is no entry."""
    return next((entry[kind] for kind in KINDS if entry.get(kind)), "") if isinstance(entry, Mapping) else ""


def _settings(entry: Mapping) -> Mapping:
    rest = {name: value for name, value in entry.items() if name not in (*KINDS, "label", "settings")}
    return {"is": _kind(entry), **(entry.get("settings") or {}), **rest}


def flat_settings(settings: Mapping[str, Any], between: str = ".") -> dict[str, Any]:
    """Return settings by dotted keys."""
    return {between.join(path): value for path, value in _flat(settings)}


def _flat(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _flat(value, (*path, str(key)))
    else:
        yield path, node


def _said(flat: Mapping, key: tuple[str, ...]) -> str:
    value = flat.get(key, _ABSENT)
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
