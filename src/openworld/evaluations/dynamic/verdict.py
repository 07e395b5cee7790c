"""The verdict on dynamic scenarios: three sentences made from the tests, also when they show nothing.

First whose curves have the largest area and over whom that is shown, then what tuning brought over the baseline, then
what this rests on.
"""

from collections import Counter
from collections.abc import Mapping
from functools import partial

from openworld.evaluations.dynamic.averages import Average
from openworld.evaluations.dynamic.record import SCENARIOS
from openworld.evaluations.dynamic.results import DynamicFacts
from openworld.report.sentences import HOLM, counted, few, first_in, leads, listed, none_or, span
from openworld.results import METRICS, Comparison, Results, Standing, find_comparison, standing
from openworld.results.over_datasets import FRIEDMAN_P

AUC, GAIN = METRICS["auc"], METRICS["delta_auc"]


def verdict(results: Results, facts: DynamicFacts) -> tuple[str, str, str]:
    """Return three sentences: the leader, tuning against not tuning, and the evidence."""
    leader = _leader(results, facts.runs[0]) if len(facts.runs) == 1 else _leader_of_many(results, facts)
    return leader, _against_baseline(results, facts), _evidence(results, facts)


def area_tests(results: Results, run: Average, over: str) -> tuple[Comparison, ...]:
    """Return the tests of all pairs of learners in their areas, over images or over seeds."""
    where = {**run.where, "over": over}
    return tuple(test for test in results.comparisons if test.where == where and test.metric == AUC)


def area_test(results: Results, run: Average, learner: str, other: str, over: str = "images") -> Comparison | None:
    """Return the test of a learner's area against that of another; None where there is none."""
    return find_comparison(area_tests(results, run, over), learner, other)


def standing_of(results: Results, run: Average) -> Standing:
    """Return who has the largest area, and over whom that is shown."""
    areas = {learner: results.value(learner, "auc", **run.where).value for learner in run.learners}
    return standing(areas, partial(area_test, results, run))


def _leader(results: Results, run: Average) -> str:
    found = standing_of(results, run)
    value = results.value(found.names[0], "auc", **run.where)
    number = f"{AUC.write(value.value)} {AUC.write_interval(value.over('images'))}".rstrip()
    return f"{run.title}: {leads(found, 'area under the curve', number, 'learners', 'largest')}."


def _leader_of_many(results: Results, facts: DynamicFacts) -> str:
    count, baseline = len(facts.runs), facts.baseline
    everywhere = [name for name in facts.learners if all(name in run.learners for run in facts.runs)]
    if not everywhere:
        return f"No learner took part in all of the {count} scenario runs, so that none leads over all of them."
    found = standing({learner: results.value(learner, "auc").value for learner in everywhere})
    best, each = found.names[0], [standing_of(results, run) for run in facts.runs]
    lead = leads(
        found, "mean area under the curves", AUC.write(results.value(best, "auc").value), "learners", "largest"
    )
    lead = f"Over {count} scenario runs {lead}"
    if best == baseline:
        return f"{lead}; {first_in(each, best, 'of them')}, though it tunes nothing."
    against = [area_test(results, run, best, baseline) for run in facts.runs]
    gain = GAIN.write(results.value(best, GAIN.key).value)
    wins = sum(own.alone and own.names == (best,) for own in each)
    return (
        f"{lead}; {first_in(each, best, 'of them')}, gains {gain} against {baseline} on average, is shown to be better "
        f"than it in {none_or(sum(test.better for test in against))} and worse in "
        f"{none_or(sum(test.worse for test in against))}, and better than every other learner in {none_or(wins)}."
    )


def _against_baseline(results: Results, facts: DynamicFacts) -> str:
    baseline = facts.baseline
    tests = [
        (run.scenario, area_test(results, run, learner, baseline))
        for run in facts.runs
        for learner in run.learners
        if learner != baseline
    ]
    tested = [(scenario, test) for scenario, test in tests if test.p is not None]
    if not tested:
        reasons = sorted({test.reason for _, test in tests if test.reason})
        return f"Nothing is tested against {baseline}: {listed(reasons) or 'nothing was run beside it'}."
    better, worse = [pair for pair in tested if pair[1].better], [pair for pair in tested if pair[1].worse]
    shares = (
        f"Against {baseline}, which tunes nothing, {none_or(len(better))} of {len(tested)} curves have a larger area, "
        f"{none_or(len(worse))} a smaller one, and {none_or(len(tested) - len(better) - len(worse))} are not "
        "shown to differ from it"
    )
    if len(facts.runs) == 1:
        names = [f"{test.entity} ({GAIN.write(test.difference)})" for _, test in better + worse]
        return f"{shares}{': ' * bool(names)}{few(names)}."
    total, gains, losses = (Counter(scenario for scenario, _ in pairs) for pairs in (tested, better, worse))
    return f"{shares}{_most_often(total, gains, 'gains')}{_most_often(total, losses, 'losses')}."


def _most_often(tested: Mapping[str, int], changes: Mapping[str, int], what: str) -> str:
    """Say in which scenarios gains or losses are most frequent, and how frequent they are."""
    shares = {name: changes[name] / tested[name] for name in SCENARIOS if name in tested}
    most = [name for name in shares if shares[name] == max(shares.values())]
    if not changes or len(most) == len(shares) > 1:
        return ""
    counts = [f"{SCENARIOS[name]} ({changes[name]} of {tested[name]})" for name in most]
    return f"; {what} are most frequent in {listed(counts)}"


def _evidence(results: Results, facts: DynamicFacts) -> str:
    several, seeds = len(facts.runs) > 1, facts.runs[0].seeds
    known, ranks = [run for run in facts.runs if run.groups], _rank_tests(results, facts)
    if not known:
        return f"This rests on {counted(seeds, 'seed')}; no difference is tested image by image{ranks}."
    images, groups = span([run.errors.images for run in known]), span([run.groups for run in known])
    return (
        f"{'Each scenario run' if several else 'This'} rests on views of {images} images at most, in {groups} groups "
        f"that are drawn together, and on {counted(seeds, 'seed')}; the tests compare the same images, given the "
        f"seed{'s' * (seeds > 1)}, and are corrected{' within each scenario run' * several} ({HOLM}){ranks}."
    )


def _rank_tests(results: Results, facts: DynamicFacts) -> str:
    """What Friedman's test says by scenario, as the end of a sentence."""
    tests = {run.scenario: results.value("", FRIEDMAN_P.key, scenario=run.scenario).value for run in facts.scenarios}
    ranked = [f"{SCENARIOS[name]} p = {FRIEDMAN_P.write(p)}" for name, p in tests.items() if p is not None]
    if not ranked:
        return "; no scenario has runs enough for a test of ranks"
    return f"; Friedman's test of ranks over scenario runs: {', '.join(ranked)}"
