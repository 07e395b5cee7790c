"""Tests between the learners of a setting, and between two runs, from per-image outputs.

A test holds the seeds fixed: it asks whether the difference of two means over seeds would stand on other images. All
pairs of a setting are tested and corrected together (Holm, 1979), because which learner is called the best was chosen
on the same images. Of many learners only those pairs are tested that are shown, and corrected as one of all pairs.

Two runs are paired by task, learner and seed. What stands still within each run but differs between the two is what
is compared; everything else must be the same for two records to be a pair.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.evaluations.recognition.class_imbalance import SHRUNK
from openworld.evaluations.recognition.outcome import ImageScores, Outcome
from openworld.evaluations.recognition_metrics import LOSSES
from openworld.metrics import QUANTITIES, SeedAverage, average, paired_test
from openworld.metrics.estimate import NO_VARIANCE
from openworld.metrics.thinning import kept_share
from openworld.report.finished_runs import RunComparison
from openworld.report.sentences import span
from openworld.results import METRICS, Pair, Result
from openworld.results.comparison import Comparison, comparison_of, correct_for_many
from openworld.results.value import Metric, Value, interval_of

AUC = METRICS["openworld_auc"]
Place = Mapping[str, str | int | float]

FIELDS = ("task", "split", "train_domain", "test_domain", "backbone", "shots", "learner")
"""What tells the records of a run apart, seeds aside."""

COMPARED = {key: {**METRICS, **LOSSES}[key] for key in QUANTITIES}  # quantities that can be compared, as metrics

SAME = "the same, image by image"
BySeed = Mapping[int, Outcome]


def average_over_seeds(scores: Sequence[ImageScores]) -> SeedAverage | None:
    """The mean over seeds with its intervals; None where the seeds were scored on different images."""
    same = all(np.array_equal(seed.ids, scores[0].ids) for seed in scores)
    return average([seed.result for seed in scores]) if same else None


def weigh(outcome: Outcome, direction: str) -> ImageScores:
    """Return the test images of an outcome, those of the half that a mix shrinks by their chance to be drawn."""
    # Which images a draw keeps is chance; how many of every class is not, so that the mean over all possible draws is
    # OpenworldAUC with every image weighted by the share that its class keeps.
    side, test = SHRUNK[direction], outcome.test
    label = np.asarray(test.images["label"])
    share = kept_share(label[test.is_base == (side == "base")], outcome.facts["imbalance_factor"])
    return replace(test, weights=(share, None) if side == "base" else (None, share))


def mix_comparisons(
    learners: Mapping[str, Sequence[Outcome]], place: Place, against: Sequence[str] = ()
) -> Iterator[Comparison]:
    """Yield the tests of all pairs, or `against` some, in both directions of an imbalance, corrected in each."""
    drawn = all(outcome.facts.get("imbalance_factor") for outcomes in learners.values() for outcome in outcomes)
    for direction in SHRUNK if drawn else ():
        scores = {name: [weigh(outcome, direction) for outcome in outcomes] for name, outcomes in learners.items()}
        yield from compare_all(scores, {**place, "mix": direction}, against=against)


def compare_all(
    by_learner: Mapping[str, Sequence[ImageScores]],
    where: Place | None = None,
    metric: Metric = AUC,
    against: Sequence[str] = (),  # whom alone all are tested against, corrected as if all pairs were
) -> tuple[Comparison, ...]:
    """Return the tests of a metric between all pairs, in the order of the learners, corrected together."""
    # Learners that were not scored on the same images are tested on those that all their seeds share.
    averages = {learner: average_over_seeds(scores) for learner, scores in by_learner.items()}
    tests = []
    pairs = [pair for pair in combinations(by_learner, 2) if not against or set(pair) & set(against)]
    for learner, other in pairs:
        same = np.array_equal(by_learner[learner][0].ids, by_learner[other][0].ids)
        if same and averages[learner] and averages[other]:
            test = paired_test(averages[learner], averages[other], metric.key)
            tests.append(comparison_of(learner, other, metric, test, where=where))
        else:
            tests.append(_on_shared_images(learner, other, by_learner, where or {}, metric))
    return correct_for_many(tests, among=len(by_learner) * (len(by_learner) - 1) // 2)


def _on_shared_images(
    learner: str, other: str, by_learner: Mapping[str, Sequence[ImageScores]], where, metric: Metric
) -> Comparison:
    """The test on the images that every seed of both learners has in common, if all say the same of these."""

    def refused(reason: str) -> Comparison:
        return Comparison(learner, other, metric, None, None, reason, where=where)

    every = (*by_learner[learner], *by_learner[other])
    if any(len(np.unique(scores.ids)) < len(scores) for scores in every):
        return refused("they were not scored on the same images, and ids stand twice")
    shared = reduce(np.intersect1d, (scores.ids for scores in every))
    if not shared.size:
        return refused("they were not scored on the same images, and share none")
    sides = [[scores.only(shared) for scores in by_learner[name]] for name in (learner, other)]
    first = sides[0][0]
    if not all(same_facts(scores, first) for side in sides for scores in side):
        return refused("they say different things of the images that they share")
    test = paired_test(*(average([scores.result for scores in side]) for side in sides), metric.key)
    return comparison_of(learner, other, metric, test, where=where, shared=int(shared.size))


def same_facts(scores: ImageScores, others: ImageScores) -> bool:
    """Whether both say the same of every image, whatever was predicted; images in the same order."""
    return all(np.array_equal(fact, other) for fact, other in zip(scores.facts, others.facts, strict=True))


def compare_outcomes(
    first: Sequence[Outcome],
    second: Sequence[Outcome],
    of: str = "openworld_auc",
    names: tuple[str, str] = ("the first run", "the second run"),
) -> RunComparison:
    """Pair the records of two runs and test every pair, in the order of the first run."""
    if of not in QUANTITIES:
        raise unknown_name("quantity", of, QUANTITIES)
    values = {field: [{outcome.facts.get(field) for outcome in run} for run in (first, second)] for field in FIELDS}
    changes = tuple(
        (field, str(*both[0]), str(*both[1]))
        for field, both in values.items()
        if both[0] != both[1] and all(len(each) == 1 for each in both)
    )
    changed = {field for field, *_ in changes}
    fields = tuple(field for field in FIELDS if field not in changed)
    ours, theirs = _by_key(first, fields, names[0]), _by_key(second, fields, names[1])
    shared = {key: seeds for key in ours if (seeds := sorted(ours[key].keys() & theirs.get(key, {}).keys()))}
    if not shared:
        raise OpenworldError(
            f"{names[0]} and {names[1]} have no learner, task and seed in common: {_learners(first)} against "
            f"{_learners(second)}; compare runs that share some."
        )
    titles = _titles(list(shared), fields)
    pairs = [
        _pair(titles[key], COMPARED[of], names, *({seed: run[key][seed] for seed in seeds} for run in (ours, theirs)))
        for key, seeds in shared.items()
    ]
    tests = correct_for_many(pair.comparison for pair in pairs)
    pairs = [replace(pair, comparison=test) for pair, test in zip(pairs, tests, strict=True)]
    unpaired = (*_unpaired(ours, shared, names[0]), *_unpaired(theirs, shared, names[1]))
    basis = _basis([ours[key][seeds[0]] for key, seeds in shared.items()], list(map(len, shared.values())))
    return RunComparison(names, COMPARED[of], pairs, changes, basis, unpaired)


def _by_key(outcomes: Sequence[Outcome], fields: tuple[str, ...], name: str) -> dict[tuple, dict[int, Outcome]]:
    by_key: dict[tuple, dict[int, Outcome]] = {}
    for outcome in outcomes:
        key, seed = tuple(outcome.facts.get(field) for field in fields), outcome.seed
        if seed in by_key.setdefault(key, {}):
            title = " · ".join(str(part) for part in key if part is not None)
            raise OpenworldError(f"{name} has two records of {title}, seed {seed}; nothing says which to compare.")
        by_key[key][seed] = outcome
    return by_key


def _pair(title: str, metric: Metric, names: tuple[str, str], ours: BySeed, theirs: BySeed) -> Pair:
    for seed, outcome in ours.items():
        _require_same_images(outcome, theirs[seed], f"{title}, seed {seed}", names)
    first, second = (average_over_seeds([outcome.test for outcome in side.values()]) for side in (ours, theirs))
    if first is None or second is None:
        raise OpenworldError(f"the seeds of {title} were scored on different images; they have no common mean to test.")
    test = comparison_of(names[1], names[0], metric, paired_test(second, first, metric.key))
    if test.reason == NO_VARIANCE and test.difference == 0:
        test = replace(test, reason=SAME)
    images, rows = len(next(iter(ours.values())).test), []
    for of_run in (first, second):
        estimate = of_run.estimate(metric.key)
        value = Value(estimate.value, interval_of(estimate.interval(), "images", images), estimate.reason or "")
        rows.append(Result(title, metric, value, {}, tuple(ours), of_run.seed_values(metric.key)))
    return Pair(*rows, test)


def _basis(outcomes: Sequence[Outcome], counts: Sequence[int]) -> str:
    """What the pairs rest on, of so many seeds each."""
    images = span([len(outcome.test) for outcome in outcomes])
    groups = span([outcome.test.n_groups for outcome in outcomes])
    clustered = f" in {groups} groups" if groups != images else ""
    seeds = f"mean of {span(counts)} seed" if max(counts) == 1 else f"means of {span(counts)} seeds"
    return f"{seeds}; n = {images}{clustered}, given the seeds"


def _require_same_images(ours: Outcome, theirs: Outcome, what: str, names: tuple[str, str]) -> None:
    if len(ours.test) != len(theirs.test):
        reason = f"{len(ours.test)} images in {names[0]}, {len(theirs.test)} in {names[1]}"
    elif None not in (ours.fingerprint, theirs.fingerprint) and ours.fingerprint != theirs.fingerprint:
        reason = (
            "the fingerprints of the test images differ; images on disk are known by their paths and sizes, so that "
            "a folder and a list of the same files count as different"
        )
    elif not same_facts(ours.test, theirs.test):
        reason = "their numbers, sides, classes or groups differ"
    else:
        return
    raise OpenworldError(f"{what} was not scored on the same images ({reason}); a paired test needs the same ones.")


def _titles(keys: list[tuple], fields: tuple[str, ...]) -> dict[tuple, str]:
    """The learner, and the fields in which the rows differ; the task where nothing else is left to say."""
    differing = {fields[place] for place, values in enumerate(zip(*keys, strict=True)) if len(set(values)) > 1}
    named = differing | ({"learner"} & set(fields)) or {"task"} & set(fields)
    return {
        key: " · ".join(
            f"{value} shots" if field == "shots" else str(value)
            for field, value in reversed(list(zip(fields, key, strict=True)))
            if field in named
        )
        or "all"
        for key in keys
    }


def _learners(outcomes: Sequence[Outcome], most: int = 4) -> str:
    learners = list(dict.fromkeys(outcome.learner for outcome in outcomes))
    seeds = sorted({outcome.seed for outcome in outcomes})
    return f"{', '.join([*learners[:most], *(['...'] * (len(learners) > most))])} (seeds {' '.join(map(str, seeds))})"


def _unpaired(run: Mapping[tuple, BySeed], shared: Mapping[tuple, list[int]], name: str) -> Iterator[str]:
    for key, outcomes in run.items():
        alone = sorted(set(outcomes) - set(shared.get(key, ())))
        if alone:
            learner = outcomes[alone[0]].learner
            yield f"{learner}, seed {' '.join(map(str, alone))}: only in {name}"
