"""The verdict: three sentences made from the tests, also when the tests show nothing.

First who leads and over whom that is shown, then what tuning brought over the learner that tunes nothing, then
what this rests on. One setting is described by its tests, several by counts of them, a sweep over shots by its largest.
"""

from collections.abc import Sequence
from dataclasses import replace

from openworld.evaluations.recognition.results import AUC, LOSSES, RecognitionResults, SettingResults
from openworld.report.sentences import HOLM, counted, few, listed, span
from openworld.results import METRICS, Comparison


def verdict(found: RecognitionResults) -> tuple[str, str, str]:
    """Three sentences: the leader, tuning against not tuning, and the evidence."""
    if len(found.settings) == 1:
        one = found.settings[0]
        return leader(one), against_baseline(one), _evidence(one)
    if _is_sweep(found):
        return _verdict_of_sweep(found)
    return _leader_of_many(found), _against_baseline_of_many(found), evidence_of_many(found.settings)


def losses_line(one: SettingResults, learner: str) -> str:
    """Where the missing points of a learner go, in one line; or why that cannot be said."""
    value = one.value(learner, AUC.key)
    if value.value is None:
        return f"{learner} has no OpenworldAUC: {value.reason}."
    if not _losses(one, learner):
        return ""
    parts = " · ".join(f"{LOSSES[name].title} {AUC.write(lost)}" for name, lost in _losses(one, learner).items())
    owner = f"{learner}'" if learner.endswith("s") else f"{learner}'s"
    return f"Where {owner} missing {AUC.write(1 - value.value)} points go: {parts}"


def points(one: SettingResults, learner: str) -> str:
    """OpenworldAUC in points with its interval over images."""
    value = one.value(learner, AUC.key)
    interval = value.over("images")
    ends = "" if interval is None else f"\u00a0[{AUC.write(interval.low)},\u00a0{AUC.write(interval.high)}]"
    return f"{AUC.write(value.value)}{ends}"


def leader(one: SettingResults, title: str = "") -> str:
    """Who has the highest OpenworldAUC of a setting (called `title`, or its own one), and over whom that is shown."""
    title = title or one.title
    best, others = one.best, [learner for learner in one.learners if learner != one.best]
    if one.auc(best) is None:
        return f"No OpenworldAUC is defined on {title}: {one.value(best, AUC.key).reason}."
    if not others:
        return f"{best} reaches an OpenworldAUC of {points(one, best)} on {title}; nothing was run beside it."
    tests = [one.compare(best, other) for other in others]
    beaten, level = [test.other for test in tests if test.better], [test for test in tests if not test.differs]
    lead = f"{best} has the highest OpenworldAUC on {title}, {points(one, best)}"
    if not level:
        named = others[0] if len(others) == 1 else f"all {len(others)} others"
        return f"{lead}, and is better than {named} ({max(tests, key=lambda test: test.p).p_text})."
    if not beaten:
        named = others[0] if len(others) == 1 else f"any of the {len(others)} others"
        known = [test for test in tests if test.p is not None]
        smallest = f" ({min(known, key=lambda test: test.p).p_text})" if known else ""
        return f"{lead}, but it is not shown to differ from {named}{smallest}."
    open_tests = few([f"{test.other} ({test.p_text})" for test in level], "learners")
    return f"{lead}; it is better than {few(beaten, 'learners')}, but no difference is shown from {open_tests}."


def against_baseline(one: SettingResults) -> str:
    """What tuning brought over the learner that tunes nothing; without one, where the leader loses points."""
    tests = [one.compare(learner, one.baseline) for learner in one.learners] if one.baseline else []
    tests = [test for test in tests if test is not None and test.difference is not None]
    if not tests:
        return _main_loss(one)
    better, worse, level = _sorted_out(tests)
    parts = [f"{_who(better)} better"] * bool(better) + [f"{_who(worse)} worse"] * bool(worse)
    parts += [f"{_who(level, verb=False)} cannot be told apart from it"] * bool(level)
    return f"Against {one.baseline}, which tunes nothing and has {points(one, one.baseline)}, {listed(parts)}."


def evidence_of_many(settings: Sequence[SettingResults]) -> str:
    """What the numbers and tests of several settings rest on."""
    counts, group = [one.counts for one in settings], settings[0].group_name
    of_groups = f" of {span([count.groups for count in counts])} {group}s" if group else ""
    clustered = f", clustered by {group}," if group else ","
    seeds = span([count.seeds for count in counts])
    noun = "seed" if seeds == "1" else "seeds"
    return (
        f"Each setting rests on {span([count.images for count in counts])} images{of_groups} and on {seeds} {noun}; "
        f"the tests compare the same images{clustered} given the {noun}, and are corrected within each setting "
        f"({HOLM})."
    )


def _losses(one: SettingResults, learner: str) -> dict[str, float]:
    found = {name: one.find(learner, name) for name in LOSSES}
    return {name: value.value for name, value in found.items() if value}


def _main_loss(one: SettingResults) -> str:
    value, losses = one.auc(one.best), _losses(one, one.best)
    if value is None or not losses:
        return "So nothing can be said about where points are lost."
    worst = max(losses, key=losses.get)
    return (
        f"Of the {AUC.write(1 - value)} points that {one.best} misses, the largest part is lost to "
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


def _evidence(one: SettingResults) -> str:
    counts, group = one.counts, one.group_name
    of_groups = f" of {counted(counts.groups, group)}" if group else ""
    clustered = f", clustered by {group}," if group else ","
    basis = (
        f"This rests on {counts.base_images} base and {counts.new_images} new images{of_groups} and on "
        f"{counted(counts.seeds, 'seed')}{_first_in_seeds(one)}"
    )
    given = f"given the {'seed' if counts.seeds == 1 else 'seeds'}"
    if not one.tested:
        return f"{basis}; intervals are at 95\u00a0% over images{clustered} {given}."
    corrected = f", and are corrected for {one.tested} pairs of learners ({HOLM})" if one.tested > 1 else ""
    return f"{basis}; the tests compare the same images{clustered} {given}{corrected}."


def _first_in_seeds(one: SettingResults) -> str:
    """With how many seeds the leader comes first, where every learner has the same seeds."""
    seeds = one.seeds(one.best)
    if len(seeds) < 2 or len(one.learners) < 2 or any(one.seeds(learner) != seeds for learner in one.learners):
        return ""
    values = {learner: one.result(learner, AUC.key).per_seed for learner in one.learners}
    if any(value is None for own in values.values() for value in own):
        return ""
    firsts = sum(max(values, key=lambda learner: values[learner][at]) == one.best for at in range(len(seeds)))
    return f" ({one.best} comes first in {firsts} of them)"


def _is_sweep(found: RecognitionResults) -> bool:
    """Whether nothing but shots differs between the settings."""
    return len({replace(one.setting, shots=None) for one in found.settings}) == 1


def _verdict_of_sweep(found: RecognitionResults) -> tuple[str, str, str]:
    """The verdict with most shots, and who leads with fewer."""
    *fewer, most = sorted(found.settings, key=lambda one: one.setting.shots)
    leaders: dict[str, list[str]] = {}
    for one in fewer:
        if one.auc(one.best) is not None:
            leaders.setdefault(one.best, []).append(str(one.setting.shots))
    parts = listed([f"{learner} (with {listed(counts)})" for learner, counts in leaders.items()])
    with_fewer = f"; with fewer shots the lead goes to {parts}." if parts else "."
    lead = leader(most, f"{most.setting.task} with {most.title}")
    return lead, f"{against_baseline(most).removesuffix('.')}{with_fewer}", _evidence(most)


def _leader_of_many(found: RecognitionResults) -> str:
    count, averages = len(found.settings), found.averages
    if not averages:
        return f"No learner was run in all {count} settings, so no average is named."
    best = max(averages, key=averages.get)
    firsts = sum(one.best == best for one in found.settings)
    shown = sum(_beats_all(one, best) for one in found.settings)
    return (
        f"Over {count} settings {best} has the highest mean OpenworldAUC, {AUC.write(averages[best])}; it has the "
        f"highest value in {firsts} of them, and is shown to be better than every other learner in {shown}."
    )


def _beats_all(one: SettingResults, learner: str) -> bool:
    tests = [one.compare(learner, other) for other in one.learners if other != learner]
    return bool(tests) and all(test.better for test in tests)


def _against_baseline_of_many(found: RecognitionResults) -> str:
    best = max(found.averages, key=found.averages.get, default=None)
    with_baseline = [one for one in found.settings if one.baseline and best in one.learners]
    tests = [one.compare(best, one.baseline) for one in with_baseline]
    tests = [test for test in tests if test is not None and test.difference is not None]
    if not tests and best in found.baselines:
        return _tuned_against_untuned(found, best)
    if not tests:
        return "Nothing untuned was run beside it, so what tuning brought is not known."
    better, worse, level = _sorted_out(tests)
    parts = [f"better in {_of(better, tests)}"] * bool(better) + [f"worse in {_of(worse, tests)}"] * bool(worse)
    parts += [f"without a significant difference in {_of(level, tests)}"] * bool(level)
    return f"Against {tests[0].other}, which tunes nothing, {best} is {listed(parts)}."


def _tuned_against_untuned(found: RecognitionResults, untuned: str) -> str:
    """Where what tunes nothing leads: in how many settings something tuned is shown to beat it."""
    named = [one for one in found.settings if untuned in one.learners]
    beaten = [one for one in named if any(test.worse for test in _tests_of(one, untuned))]
    shown = f"in {_of(beaten, named)}" if beaten else "in no setting"
    return f"It tunes nothing, and {shown} a tuned learner is shown to be better."


def _tests_of(one: SettingResults, learner: str) -> list[Comparison]:
    return [one.compare(learner, other) for other in one.learners if other != learner]


def _of(some: Sequence, whole: Sequence) -> str:
    return f"all {len(whole)} settings" if len(some) == len(whole) else f"{len(some)} of {len(whole)} settings"
