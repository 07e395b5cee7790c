"""Two runs, one question: did it get better? Paired by task, learner and seed, and tested on the same images.

What stands still within each run but differs between the two (another backbone, other shots, a single learner against
another) is what is compared, and is said; everything else must be the same for two records to be a pair. All tests of
a comparison are corrected together (Holm, 1979).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition.results import LOSSES
from openworld.metrics import QUANTITIES, SeedAverage, average, paired_test
from openworld.metrics.estimate import NO_VARIANCE
from openworld.report.run_comparison import RunComparison
from openworld.report.sentences import span
from openworld.results import METRICS, Metric, Pair, Result, Value, comparison_of, correct_for_many, interval_of

FIELDS = ("task", "split", "train_domain", "test_domain", "backbone", "shots", "learner")
"""What tells the records of a run apart, seeds aside."""

COMPARED = {key: {**METRICS, **LOSSES}[key] for key in QUANTITIES}
"""Quantities that can be compared, as metrics."""

SAME = "the same, image by image"


def compare_outcomes(
    first: Sequence[Outcome],
    second: Sequence[Outcome],
    of: str = "openworld_auc",
    names: tuple[str, str] = ("the first run", "the second run"),
) -> RunComparison:
    """Pair the records of two runs and test every pair.

    Args:
        first, second: outcomes of two runs.
        of: one of QUANTITIES.
        names: what sentences call the runs.

    Returns:
        Pairs in the order of the first run.

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
            f"{names[0]} and {names[1]} have no learner, task and seed in common: {_learners(ours)} against "
            f"{_learners(theirs)}; compare runs that share some."
        )
    titles = _titles(list(shared), fields)
    pairs = [_pair(titles[key], seeds, ours[key], theirs[key], COMPARED[of], names) for key, seeds in shared.items()]
    tests = correct_for_many(pair.comparison for pair in pairs)
    pairs = [replace(pair, comparison=test) for pair, test in zip(pairs, tests, strict=True)]
    changes = tuple((field, *map(str, values)) for field, values in changed.items())
    unpaired = tuple(_unpaired(ours, theirs, shared, names))
    basis = _basis([ours[key][seeds[0]] for key, seeds in shared.items()], shared)
    return RunComparison(names, COMPARED[of], pairs, changes, basis, unpaired)


def _constants(field: str, first: Sequence[Outcome], second: Sequence[Outcome]) -> tuple | None:
    """The one value of a field in each run, or None where it takes several in either."""
    values = [{getattr(outcome.record, field) for outcome in outcomes} for outcomes in (first, second)]
    return tuple(next(iter(one)) for one in values) if all(len(one) == 1 for one in values) else None


def _by_key(outcomes: Sequence[Outcome], fields: tuple[str, ...], name: str) -> dict[tuple, dict[int, Outcome]]:
    found: dict[tuple, dict[int, Outcome]] = {}
    for outcome in outcomes:
        key, seed = tuple(getattr(outcome.record, field) for field in fields), outcome.record.seed
        if seed in found.setdefault(key, {}):
            named = " · ".join(str(part) for part in key if part is not None)
            raise OpenworldError(f"{name} has two records of {named}, seed {seed}; nothing says which to compare.")
        found[key][seed] = outcome
    return found


def _pair(title: str, seeds: list[int], ours, theirs, metric: Metric, names: tuple[str, str]) -> Pair:
    for seed in seeds:
        _require_same_images(ours[seed], theirs[seed], f"{title}, seed {seed}", names)
    _require_same_over_seeds([ours[seed] for seed in seeds], title)
    one, other = (average([side[seed].test.result for seed in seeds]) for side in (ours, theirs))
    test = comparison_of(names[1], names[0], metric, paired_test(other, one, metric.key))
    if test.reason == NO_VARIANCE and test.difference == 0:
        test = replace(test, reason=SAME)
    images = len(ours[seeds[0]].test.is_base)
    return Pair(_result(title, metric, one, seeds, images), _result(title, metric, other, seeds, images), test)


def _result(title: str, metric: Metric, found: SeedAverage, seeds: list[int], images: int) -> Result:
    estimate = found.estimate(metric.key)
    ends = None if estimate.value is None else estimate.interval()
    value = Value(estimate.value, interval_of(ends, "images", images), estimate.reason or "")
    return Result(title, metric, value, {}, tuple(seeds), found.seed_values(metric.key))


def _basis(outcomes: Sequence[Outcome], shared) -> str:
    """What the pairs rest on."""
    images = span([len(outcome.test.is_base) for outcome in outcomes])
    groups = span([len({*outcome.test.groups[0], *outcome.test.groups[1]}) for outcome in outcomes])
    clustered = f" in {groups} groups" if groups != images else ""
    counts = [len(seeds) for seeds in shared.values()]
    seeds = f"mean of {span(counts)} seed" if max(counts) == 1 else f"means of {span(counts)} seeds"
    return f"{seeds}; n = {images}{clustered}, given the seeds"


def _require_same_images(one: Outcome, other: Outcome, what: str, names: tuple[str, str]) -> None:
    ours, theirs = one.test, other.test
    if len(ours.ids) != len(theirs.ids):
        reason = f"{len(ours.ids)} images in {names[0]}, {len(theirs.ids)} in {names[1]}"
    elif None not in (one.fingerprint, other.fingerprint) and one.fingerprint != other.fingerprint:
        reason = (
            "the fingerprints of the test images differ; images on disk are told by their paths and sizes, so that "
            "a folder and a list of the same files count as different"
        )
    elif not all(np.array_equal(mine, its) for mine, its in zip(ours.facts, theirs.facts, strict=True)):
        reason = "their numbers, sides, classes or groups differ"
    else:
        return
    raise OpenworldError(f"{what} was not scored on the same images ({reason}); a paired test needs the same ones.")


def _require_same_over_seeds(outcomes: Sequence[Outcome], title: str) -> None:
    if not all(np.array_equal(outcome.test.ids, outcomes[0].test.ids) for outcome in outcomes):
        raise OpenworldError(f"the seeds of {title} were scored on different images; they have no common mean to test.")


def _titles(keys: list[tuple], fields: tuple[str, ...]) -> dict[tuple, str]:
    """The learner, and the fields in which the rows differ; the task where nothing else is left to say."""
    differing = [place for place in range(len(fields)) if len({key[place] for key in keys}) > 1]
    shown = sorted({*differing, *(place for place, field in enumerate(fields) if field == "learner")}, reverse=True)
    shown = shown or [place for place, field in enumerate(fields) if field == "task"]
    return {key: " · ".join(_word(fields[place], key[place]) for place in shown) or "all" for key in keys}


def _word(field: str, value) -> str:
    return f"{value} shots" if field == "shots" else str(value)


def _learners(found: dict[tuple, dict[int, Outcome]], most: int = 4) -> str:
    learners = dict.fromkeys(one.record.learner for seeds in found.values() for one in seeds.values())
    seeds = sorted({seed for one in found.values() for seed in one})
    shown = ", ".join(list(learners)[:most]) + (", ..." if len(learners) > most else "")
    return f"{shown} (seeds {' '.join(map(str, seeds))})"


def _unpaired(ours, theirs, shared, names: tuple[str, str]) -> Iterator[str]:
    """Sentences on records of either run that have no partner."""
    for found, name in ((ours, names[0]), (theirs, names[1])):
        for key, seeds in found.items():
            alone = sorted(set(seeds) - set(shared.get(key, ())))
            if alone:
                learner = next(iter(seeds.values())).record.learner
                yield f"{learner}, seed {' '.join(map(str, alone))}: only in {name}"
