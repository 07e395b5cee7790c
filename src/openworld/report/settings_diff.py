"""Two runs by what was asked of them: which keys of their specs, and which packages, differ."""

from collections.abc import Iterator, Mapping
from typing import Any

WITHOUT_EFFECT = (
    *("keep_learners", "keep_validation", "operating", "threads"),
    *("ratios", "resamples", "imbalance_factor"),
)
"""Keys of a spec that change no number of `openworld compare`."""

_PACKAGES = ("openworld", "torch")
_ABSENT = "not given"


def asked_differently(first, second) -> tuple[tuple[str, str, str], ...]:
    """What differs between two runs as they were asked for.

    Args:
        first, second: runs, of `load`.

    Returns:
        (key, in the first, in the second), keys such as "CoOp schedule.epochs" for the settings of learners that both
        have, and versions of packages; nothing on keys without an effect.
    """
    ours, theirs = (dict(_flat(_by_label(one.resolved))) for one in (first, second))
    keys = [key for key in dict.fromkeys([*ours, *theirs]) if ours.get(key) != theirs.get(key)]
    told = [(_name(key), _said(ours, key), _said(theirs, key)) for key in keys if _matters(key, ours, theirs)]
    return (*told, *_packages(first, second))


def _by_label(resolved: Any) -> Mapping:
    """A spec with its learners by label, so that their order and number do not matter."""
    if not isinstance(resolved, Mapping):
        return {}
    learners = {one.get("label") or one["learner"]: one for one in resolved.get("learners", ())}
    rest = {name: value for name, value in resolved.items() if name not in (*WITHOUT_EFFECT, "learners")}
    return rest | {"learner": {label: _settings(one) for label, one in learners.items()}}


def _settings(one: Mapping) -> Mapping:
    return {"is": one["learner"], **one.get("settings", {}), "choose": one.get("choose", {})}


def _flat(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _flat(value, (*path, str(key)))
    else:
        yield path, node


def _matters(key: tuple[str, ...], ours: Mapping, theirs: Mapping) -> bool:
    """Learners that only one run has are told elsewhere."""
    return key[0] != "learner" or all((*key[:2], "is") in flat for flat in (ours, theirs))


def _name(key: tuple[str, ...]) -> str:
    return ".".join(key) if key[0] != "learner" else f"{key[1]} {'.'.join(key[2:])}"


def _said(flat: Mapping, key: tuple[str, ...]) -> str:
    value = flat.get(key, _ABSENT)
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _packages(first, second) -> list[tuple[str, str, str]]:
    versions = [(one.provenance[-1].get("packages", {}) if one.provenance else {}) for one in (first, second)]
    pairs = [(name, *(each.get(name) for each in versions)) for name in _PACKAGES]
    return [(name, one, other) for name, one, other in pairs if None not in (one, other) and one != other]
