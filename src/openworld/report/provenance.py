"""How a run was made: the command, the spec, versions, hashes, seeds and durations, ready for the page."""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from openworld.report.sentences import seconds
from openworld.results.run_folder import flat_settings
from openworld.runs import Record

Pairs = tuple[tuple[str, str], ...]


def parts_of(
    given: Any, resolved: Any, provenance: Sequence[Mapping[str, Any]], durations: Pairs
) -> list[tuple[str, str | Pairs]]:
    """Return headings of how a run was made, each with text or facts; `durations` are facts as (name, value)."""
    first = provenance[0] if provenance else {}
    rest = {name: value for name, value in first.items() if name != "command"}
    parts: list[tuple[str, str | Pairs]] = [
        ("To do it again", command(first)),
        ("What ran it", _flat(rest)),
        ("Seeds and durations", durations),
        ("The spec as given", _readable(given)),
        ("The spec with every default filled in", _readable(resolved)),
    ]
    parts += [(f"Continued by ({place})", _flat(start)) for place, start in enumerate(provenance[1:], 2)]
    return [(heading, part) for heading, part in parts if part]


def command(provenance: Mapping[str, Any]) -> str:
    """The command line that made the run, quoted for a shell; empty when it is not known.

    >>> command({"command": ["openworld", "run", "my spec.toml"]})
    "openworld run 'my spec.toml'"
    """
    words = provenance.get("command") or []
    return words if isinstance(words, str) else shlex.join(words)


def unit_facts(records: Sequence[Record]) -> Pairs:
    """Return the seeds of the units of learners, how many they are, and how long each learner took."""
    by_learner: dict[str, list[Record]] = {}
    for record in records:
        by_learner.setdefault(record.metrics["learner"], []).append(record)
    took = {
        learner: spent([record.metrics.get("epochs") for record in rows], [record.seconds for record in rows])
        for learner, rows in by_learner.items()
    }
    seeds = " ".join(map(str, sorted({record.metrics["seed"] for record in records})))
    return ("seeds", seeds), ("records", str(len(records))), *((name, words) for name, words in took.items() if words)


def spent(epochs: Iterable[int | None], seconds_of: Iterable[Mapping[str, float]]) -> str:
    """Epochs, and seconds of every stage summed over the records, as far as they are known.

    >>> spent([20, 20, None], [{"fit": 2.0, "score": 1.0}, {"fit": 1.0}])
    '20 epochs; fit 3.0 s, score 1.0 s in all'
    """
    total: dict[str, float] = {}
    for stages in seconds_of:
        for stage, value in stages.items():
            total[stage] = total.get(stage, 0.0) + value
    counts = sorted({count for count in epochs if count})
    parts = [f"{' or '.join(map(str, counts))} epochs"] if counts else []
    if total:
        parts.append(", ".join(f"{stage} {seconds(value)}" for stage, value in sorted(total.items())) + " in all")
    return "; ".join(parts)


def _flat(facts: Mapping[str, Any]) -> Pairs:
    flat = flat_settings(facts, " · ")
    return tuple((name, str(value)) for name, value in flat.items() if value is not None and value != [])


def _readable(spec: Any) -> str:
    if spec in (None, "", {}):
        return ""
    return spec if isinstance(spec, str) else json.dumps(spec, indent=2, ensure_ascii=False)
