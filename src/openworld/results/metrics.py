"""Every metric of ours by key, from `metrics.toml` beside this file: its title, unit, digits and direction."""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from importlib.resources import files

from openworld.core.errors import OpenworldError, unknown_name
from openworld.metrics import LIMITS
from openworld.results.value import Metric


def _bounds(key: str, given: Sequence[float | str]) -> tuple[float | None, ...]:
    """Return the bounds of the file, or those of a number of a robustness curve; None where there is no end."""
    return tuple(None if isinstance(end, str) or end == float("inf") else end for end in LIMITS.get(key, given))


def _read() -> Iterator[Metric]:
    text = files("openworld.results").joinpath("metrics.toml").read_text(encoding="utf-8")
    for key, card in tomllib.loads(text).items():
        yield Metric(key, **card | {"bounds": _bounds(key, card.get("bounds", Metric.bounds))})


METRICS: dict[str, Metric] = {metric.key: metric for metric in _read()}
"""By key. An evaluation that measures something else makes a `Metric` of its own."""


def unknown_metric(owner: str, name: str, known: Iterable[str]) -> OpenworldError:
    """Return the error for a metric that `owner` does not have, though others may."""
    known = list(known)
    meant = next(iter(get_close_matches(name.casefold(), sorted({*METRICS, *known}), n=1)), "")
    if not meant or meant in known:
        return unknown_name(f"metric of {owner}", name, known)
    near = sorted(key for key in known if meant in key) or get_close_matches(meant, known, n=3)
    hint = f"; near are {', '.join(near)}" if near else ""
    other = "" if meant == name else f" nor {meant!r}"
    return OpenworldError(f"{owner} has no metric {name!r}{other}{hint}. Known: {', '.join(known)}.")
