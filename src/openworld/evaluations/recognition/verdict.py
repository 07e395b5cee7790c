"""The verdict: three sentences made from the tests, also when the tests show nothing.

First who leads and over whom that is shown, then what tuning brought over the learner that tunes nothing, then
what this rests on. One setting is described by its tests, several by counts of them, a sweep over shots by its largest.
"""

from collections.abc import Sequence
from dataclasses import replace

from openworld.evaluations.recognition.results import AUC, LOSSES, RecognitionResults, SettingResults
from openworld.evaluations.recognition.tables import given
from openworld.metrics import CLOSED_SET
from openworld.report.sentences import HOLM, below_chance, counted, first_in, leads, listed, none_or, span
from openworld.results import METRICS, Comparison, against_chance, standing
from openworld.results.over_datasets import DATA_SETS, SEEDS, DatasetMeans


def verdict(results: RecognitionResults) -> tuple[str, ...]:
    """Sentences: the leader, tuning against not tuning, scores that may be turned round, and the evidence."""
    turned = turned_scores(results.settings)
    if len(results.settings) == 1:
        setting = results.settings[0]
        return leader(setting), against_baseline(setting), *turned, _evidence(setting)
    if len({replace(setting.key, shots=None) for setting in results.settings}) == 1:
        lead, baseline, evidence = _verdict_of_sweep(results)
        return lead, baseline, *turned, evidence
    return _leader_of_many(results), _against_baseline_of_many(results), *turned, evidence_of_many(results.settings)


def turned_scores(settings: Sequence[SettingResults]) -> tuple[str, ...]:
    """Ask whether scores are the right way round, where any AUROC of base against new images is below chance."""
    rows = (setting.result(learner, "auroc") for setting in settings for learner in setting.learners)
    return tuple(filter(None, [below_chance(against_chance(rows), "base")]))


def losses_line(setting: SettingResults, learner: str) -> str:
    """Where the missing points of a learner go, in one line; or why that cannot be said."""
    value = setting.value(learner, AUC.key)
    if value.value is None:
        return f"{learner} has no OpenworldAUC: {value.reason}."
    losses = _losses(setting, learner)
    if not losses:
        return ""
    parts = " · ".join(f"{LOSSES[name].title} {AUC.write(lost)}" for name, lost in losses.items())
    owner = f"{learner}'" if learner.endswith("s") else f"{learner}'s"
    return f"Where {owner} missing {AUC.write(1 - value.value)} points go: {parts}"


def points(setting: SettingResults, learner: str) -> str:
    """OpenworldAUC (or AUROC where there is none) in points with its interval over images."""
    value = setting.value(learner, setting.headline.key)
    interval = value.over("images")
    ends = "" if interval is None else f"\u00a0[{AUC.write(interval.low)},\u00a0{AUC.write(interval.high)}]"
    return f"{AUC.write(value.value)}{ends}"


def leader(setting: SettingResults, title: str = "") -> str:
    """Who has the highest headline number of a setting (called `title`, or as it is), and over whom that is shown."""
    title, found, number = title or setting.title, setting.standing, setting.headline.title
    if found is None:
        return f"No {number} is defined on {title}: {setting.value(setting.best, setting.headline.key).reason}."
    return f"{leads(found, f'{number} on {title}', points(setting, setting.best), 'learners')}."


def against_baseline(setting: SettingResults) -> str:
    """What tuning brought over the learner that tunes nothing; without one, where the leader loses points."""
    baseline = setting.baseline
    tests = _defined([setting.compare(learner, baseline) for learner in setting.learners]) if baseline else []
    if not tests:
        return _main_loss(setting)
    better, worse, level = _sorted_out(tests)
    parts = [f"{_who(better)} better"] * bool(better) + [f"{_who(worse)} worse"] * bool(worse)
    parts += [f"{_who(level, verb=False)} cannot be told apart from it"] * bool(level)
    return f"Against {baseline}, which tunes nothing and has {points(setting, baseline)}, {listed(parts)}."


def evidence_of_many(settings: Sequence[SettingResults]) -> str:
    """What the numbers and tests of several settings rest on."""
    tests, group = [setting.first.test for setting in settings], settings[0].group_name
    of_groups = f" of {span([test.n_groups for test in tests])} {group}s" if group else ""
    clustered = f", clustered by {group}," if group else ","
    seeds = span([len(setting.most_seeds) for setting in settings])
    noun = "seed" if seeds == "1" else "seeds"
    return (
        f"Each setting rests on {span(list(map(len, tests)))} images{of_groups} and on {seeds} {noun}; "
        f"the tests compare the same images{clustered} given the {noun}, and are corrected within each setting "
        f"({HOLM})."
    )


def _losses(setting: SettingResults, learner: str) -> dict[str, float]:
    return {name: value.value for name in LOSSES if (value := setting.find(learner, name))}


def _main_loss(setting: SettingResults) -> str:
    if setting.closed_set:
        accuracy = setting.value(setting.best, "base_accuracy")
        named = "" if accuracy.value is None else f" It names {AUC.write(accuracy.value)} % of base images right."
        return f"There is no OpenworldAUC, since {CLOSED_SET}.{named}"
    value, losses = setting.auc(setting.best), _losses(setting, setting.best)
    if value is None or not losses:
        return "So nothing can be said about where points are lost."
    worst = max(losses, key=losses.get)
    return (
        f"Of the {AUC.write(1 - value)} points that {setting.best} misses, the largest part is lost to "
        f"{LOSSES[worst].title} ({AUC.write(losses[worst])})."
    )


def _who(tests: Sequence[Comparison], *, verb: bool = True) -> str:
    """The learners by name with their differences, or how many they are."""
    if len(tests) > 4:
        return f"{len(tests)} learners{' are' * verb}"
    write = METRICS["delta_auc"].write
    names = listed([f"{test.entity} ({write(test.difference)})" for test in tests])
    return names + (" are" if len(tests) > 1 else " is") * verb


def _sorted_out(tests: Sequence[Comparison]) -> tuple[list, list, list]:
    better, worse = [test for test in tests if test.better], [test for test in tests if test.worse]
    return better, worse, [test for test in tests if not test.differs]


def _defined(tests: Sequence[Comparison | None]) -> list[Comparison]:
    """The tests that there are, of differences that are defined."""
    return [test for test in tests if test is not None and test.difference is not None]


def _evidence(setting: SettingResults) -> str:
    test, group, seeds = setting.first.test, setting.group_name, len(setting.most_seeds)
    of_groups = f" of {counted(test.n_groups, group)}" if group else ""
    clustered = f", clustered by {group}," if group else ","
    basis = (
        f"This rests on {test.n_base} base and {test.n_new} new images{of_groups} and on {counted(seeds, 'seed')}"
        f"{_first_in_seeds(setting)}"
    )
    if not setting.tested:
        return f"{basis}; intervals are at 95\u00a0% over images{clustered} given {given(setting)}."
    corrected = f", and are corrected for {setting.tested} pairs of learners ({HOLM})" if setting.tested > 1 else ""
    return f"{basis}; the tests compare the same images{clustered} given {given(setting)}{corrected}."


def _first_in_seeds(setting: SettingResults) -> str:
    """Say with how many seeds the leader comes first, alone or beside others; all learners have the same seeds."""
    rows = {learner: setting.result(learner, AUC.key) for learner in setting.learners}
    numbers, seeds = [row.per_seed for row in rows.values()], {row.seeds for row in rows.values()}
    if len(rows) < 2 or len(seeds) > 1 or len(numbers[0]) < 2 or any(None in per_seed for per_seed in numbers):
        return ""
    values = [{learner: row.per_seed[at] for learner, row in rows.items()} for at in range(len(numbers[0]))]
    return f" ({first_in([standing(each) for each in values], setting.best, 'of them')})"


def _verdict_of_sweep(results: RecognitionResults) -> tuple[str, str, str]:
    """The verdict with most shots, and who leads with fewer."""
    *fewer, most = sorted(results.settings, key=lambda setting: setting.key.shots)
    leaders: dict[str, list[str]] = {}
    for setting in fewer:
        found = setting.standing
        if found is not None:
            leaders.setdefault(found.names[0] if found.alone else "no learner", []).append(str(setting.key.shots))
    parts = [f"{learner} (with {listed(counts)})" for learner, counts in leaders.items()]
    with_fewer = f"; with fewer shots shown to be better than all others: {listed(parts)}." if parts else "."
    lead = leader(most, f"{most.key.task} with {most.title}")
    return lead, f"{against_baseline(most).removesuffix('.')}{with_fewer}", _evidence(most)


def _leader_of_many(results: RecognitionResults) -> str:
    count, averages = len(results.settings), results.averages
    if not averages:
        return f"No learner was run in all {count} settings, so no average is named."
    means = results.over_datasets[0] if len(results.over_datasets) == 1 else None
    found = standing(averages, means and means.compare)
    best, each = found.names[0], [setting.standing for setting in results.settings]
    what, ends = ("settings", "") if means is None else ("data sets", _ends(means, best))
    wins = sum(own is not None and own.alone and own.names == (best,) for own in each)
    lead = leads(found, "mean OpenworldAUC", f"{AUC.write(averages[best])}{ends}", "learners")
    return (
        f"Over {count} {what} {lead}; {first_in(each, best, 'of them')}, and is shown to be better than every other "
        f"learner in {none_or(wins)}."
    )


def _ends(means: DatasetMeans, learner: str) -> str:
    """The intervals of a mean over data sets, each with what it is over."""
    said = {SEEDS: "over seeds, on these data sets", DATA_SETS: "over data sets"}
    found = {words: means.mean(learner).value.over(over) for over, words in said.items()}
    ends = [f"{AUC.write_interval(interval)} {words}" for words, interval in found.items() if interval]
    return f" ({'; '.join(ends)})" if ends else ""


def _against_baseline_of_many(results: RecognitionResults) -> str:
    best = max(results.averages, key=results.averages.get, default=None)
    with_best = [setting for setting in results.settings if best in setting.learners]
    tests = _defined([setting.compare(best, setting.baseline) for setting in with_best if setting.baseline])
    if not tests and best in results.baselines:
        beaten = [setting for setting in with_best if any(test.worse for test in _against_others(setting, best))]
        where = f"in {_of(beaten, with_best)}" if beaten else "in no setting"
        return f"It tunes nothing, and {where} a tuned learner is shown to be better."
    if not tests:
        return "Nothing untuned was run beside it, so what tuning brought is not known."
    better, worse, level = _sorted_out(tests)
    parts = [f"better in {_of(better, tests)}"] * bool(better) + [f"worse in {_of(worse, tests)}"] * bool(worse)
    parts += [f"without a significant difference in {_of(level, tests)}"] * bool(level)
    return f"Against {tests[0].other}, which tunes nothing, {best} is {listed(parts)}."


def _against_others(setting: SettingResults, learner: str) -> list[Comparison]:
    return [setting.compare(learner, other) for other in setting.learners if other != learner]


def _of(some: Sequence, whole: Sequence) -> str:
    return f"all {len(whole)} settings" if len(some) == len(whole) else f"{len(some)} of {len(whole)} settings"
