"""Two runs, one question: did it get better? Paired by task, learner and seed, and tested on the same images.

What stands still within each run but differs between the two (another backbone, other shots, a single learner against
another) is what is compared, and is told; everything else must be the same for two records to be a pair. All tests of
a table are corrected together (Holm, 1979).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition.summary import Interval
from openworld.metrics import QUANTITIES, average, holm, paired_test
from openworld.metrics.estimate import NO_VARIANCE
from openworld.report.comparison import Comparison

FIELDS = ("task", "split", "train_domain", "test_domain", "backbone", "shots", "learner")
"""What tells the records of a run apart, seeds aside; all of it in a record's metrics."""


@dataclass(frozen=True)
class RunPair:
    """What two runs have in common, compared: means over the seeds that both have.

    Args:
        title: learner, task and whatever else tells the rows of the table apart.
        seeds: the seeds of both runs.
        images, groups: how many test images, and groups of dependent ones.
        first, second: the quantity in each run, a fraction in [0, 1]; None where undefined.
        interval: 95 % over images of second - first, or None.
        test: the second run against the first, p after Holm over the table.
    """

    title: str
    seeds: tuple[int, ...]
    images: int
    groups: int
    first: float | None
    second: float | None
    interval: Interval | None
    test: Comparison

    @property
    def verdict(self) -> str:
        """The second run against the first, in words: better, worse, does not differ, or why that cannot be said."""
        if self.test.reason == NO_VARIANCE and self.test.difference == 0:
            return "the same, picture by picture"
        return self.test.reason if self.test.p is None else self.test.short_words


@dataclass(frozen=True)
class RunsCompared:
    """All pairs of two runs; `changed` is (field, in the first, in the second); `unpaired` has no partner."""

    of: str
    pairs: tuple[RunPair, ...]
    changed: tuple[tuple[str, str, str], ...]
    unpaired: tuple[str, ...]


def compare_runs(
    first: Sequence[Outcome],
    second: Sequence[Outcome],
    of: str = "openworld_auc",
    names: tuple[str, str] = ("the first run", "the second run"),
) -> RunsCompared:
    """Pair the records of two runs and test every pair.

    Args:
        first, second: outcomes of two runs, as `load` reads them.
        of: one of QUANTITIES.
        names: what sentences call the runs.

    Returns:
        RunsCompared, pairs in the order of the first run.

    Raises:
        OpenworldError: an unknown quantity, nothing to pair, or records of one pair on other images.
    """
    if of not in QUANTITIES:
        raise unknown_name("quantity", of, QUANTITIES)
    changed = {field: pair for field in FIELDS if (pair := _constants(field, first, second)) and pair[0] != pair[1]}
    fields = tuple(field for field in FIELDS if field not in changed)
    ours, theirs = _by_key(first, fields, names[0]), _by_key(second, fields, names[1])
    shared = {key: sorted(ours[key].keys() & theirs[key].keys()) for key in ours if key in theirs}
    shared = {key: seeds for key, seeds in shared.items() if seeds}
    if not shared:
        raise OpenworldError(
            f"{names[0]} and {names[1]} have no learner, task and seed in common: {_listed(ours)} against "
            f"{_listed(theirs)}; compare runs that share some."
        )
    titles = _titles(list(shared), fields)
    pairs = [_pair(titles[key], seeds, ours[key], theirs[key], of, names) for key, seeds in shared.items()]
    corrected = holm([pair.test.p for pair in pairs])
    tested = tuple(replace(pair, test=replace(pair.test, p=p)) for pair, p in zip(pairs, corrected, strict=True))
    told = tuple((field, *map(str, values)) for field, values in changed.items())
    return RunsCompared(of, tested, told, tuple(_unpaired(ours, theirs, shared, names)))


def _constants(field: str, first: Sequence[Outcome], second: Sequence[Outcome]) -> tuple | None:
    """The one value of a field in each run, or None where it takes several in either."""
    values = [{outcome.metrics.get(field) for outcome in outcomes} for outcomes in (first, second)]
    return tuple(next(iter(one)) for one in values) if all(len(one) == 1 for one in values) else None


def _by_key(outcomes: Sequence[Outcome], fields: tuple[str, ...], name: str) -> dict[tuple, dict[int, Outcome]]:
    found: dict[tuple, dict[int, Outcome]] = {}
    for outcome in outcomes:
        key, seed = tuple(outcome.metrics.get(field) for field in fields), outcome.metrics["seed"]
        if seed in found.setdefault(key, {}):
            told = " · ".join(str(part) for part in key if part is not None)
            raise OpenworldError(f"{name} has two records of {told}, seed {seed}; nothing says which to compare.")
        found[key][seed] = outcome
    return found


def _pair(title: str, seeds: list[int], ours, theirs, of: str, names: tuple[str, str]) -> RunPair:
    for seed in seeds:
        _require_same_images(ours[seed], theirs[seed], f"{title}, seed {seed}", names)
    _require_same_over_seeds([ours[seed] for seed in seeds], title)
    one, other = (average([side[seed].result for seed in seeds]) for side in (ours, theirs))
    found, counts = paired_test(other, one, of), ours[seeds[0]].counts
    return RunPair(
        title=title,
        seeds=tuple(seeds),
        images=counts["base_images"] + counts["new_images"],
        groups=counts["groups"],
        first=one.estimate(of).value,
        second=other.estimate(of).value,
        interval=found.interval(),
        test=Comparison(names[1], names[0], found.difference, found.p_value, found.reason),
    )


def _require_same_images(one: Outcome, other: Outcome, what: str, names: tuple[str, str]) -> None:
    if len(one.ids) != len(other.ids):
        told = f"{len(one.ids)} images in {names[0]}, {len(other.ids)} in {names[1]}"
    elif None not in (one.fingerprint, other.fingerprint) and one.fingerprint != other.fingerprint:
        told = (
            "the fingerprints of the test pictures differ; pictures on disk are told by their paths and sizes, so that "
            "a folder and a list of the same files count as different"
        )
    elif not all(np.array_equal(mine, its) for mine, its in zip(one.facts, other.facts, strict=True)):
        told = "their numbers, sides, classes or groups differ"
    else:
        return
    raise OpenworldError(f"{what} was not scored on the same images ({told}); a paired test needs the same ones.")


def _require_same_over_seeds(outcomes: Sequence[Outcome], title: str) -> None:
    if not all(np.array_equal(outcome.ids, outcomes[0].ids) for outcome in outcomes):
        raise OpenworldError(f"the seeds of {title} were scored on different images; they have no common mean to test.")


def _titles(keys: list[tuple], fields: tuple[str, ...]) -> dict[tuple, str]:
    """The learner, and the fields in which the rows differ; the task where nothing else is left to say."""
    differing = [place for place in range(len(fields)) if len({key[place] for key in keys}) > 1]
    told = sorted({*differing, *(place for place, field in enumerate(fields) if field == "learner")}, reverse=True)
    told = told or [place for place, field in enumerate(fields) if field == "task"]
    return {key: " · ".join(_word(fields[place], key[place]) for place in told) or "all" for key in keys}


def _word(field: str, value) -> str:
    return f"{value} shots" if field == "shots" else str(value)


def _listed(found: dict[tuple, dict[int, Outcome]], most: int = 4) -> str:
    learners = dict.fromkeys(one.metrics["learner"] for seeds in found.values() for one in seeds.values())
    seeds = sorted({seed for one in found.values() for seed in one})
    shown = ", ".join(list(learners)[:most]) + (", ..." if len(learners) > most else "")
    return f"{shown} (seeds {' '.join(map(str, seeds))})"


def _unpaired(ours, theirs, shared, names: tuple[str, str]):
    """Sentences on records of either run that have no partner."""
    for found, name in ((ours, names[0]), (theirs, names[1])):
        for key, seeds in found.items():
            alone = sorted(set(seeds) - set(shared.get(key, ())))
            if alone:
                learner = next(iter(seeds.values())).metrics["learner"]
                yield f"{learner}, seed {' '.join(map(str, alone))}: only in {name}"
