"""The verdict: three sentences made from the tests, also when the tests show nothing.

First who leads and over whom that is shown, then what tuning brought over the learner that tunes nothing, then
what this rests on. One setting is told by its tests, several by counts of them, a sweep over shots by its largest.
"""

from dataclasses import replace

from openworld.evaluations.recognition.figures.learners import LOSSES
from openworld.evaluations.recognition.summary import Row, Summary, Table
from openworld.report.comparison import HOLM, Comparison
from openworld.report.sentences import counted, few, listed, span
from openworld.report.text import signed


def verdict(summary: Summary) -> tuple[str, str, str]:
    """Three sentences: the leader, tuning against not tuning, and the evidence."""
    if len(summary.tables) == 1:
        table = summary.tables[0]
        return leader(table), against_yardstick(table), _evidence(table)
    if _is_sweep(summary):
        return _verdict_of_sweep(summary)
    return _leader_of_many(summary), _against_yardstick_of_many(summary), evidence_of_many(summary)


def points(row: Row) -> str:
    """OpenworldAUC in points with its interval over images."""
    value = f"{100 * row.openworld_auc:.1f}"
    if row.over_images is None:
        return value
    return f"{value}\u00a0[{100 * row.over_images[0]:.1f},\u00a0{100 * row.over_images[1]:.1f}]"


def leader(table: Table) -> str:
    """Who has the highest OpenworldAUC of a table, and over whom that is shown."""
    best, others = table.best, [row.learner for row in table.rows if row is not table.best]
    if best.openworld_auc is None:
        return f"No OpenworldAUC is defined on {table.title}: {best.outcomes[0].metrics['openworld_auc']['reason']}."
    if not others:
        return f"{best.learner} reaches an OpenworldAUC of {points(best)} on {table.title}; nothing was run beside it."
    tests = [table.compare(best.learner, other) for other in others]
    beaten = [test.other for test in tests if test.better]
    level = [test for test in tests if not test.differs]
    lead = f"{best.learner} has the highest OpenworldAUC on {table.title}, {points(best)}"
    if not level:
        return f"{lead}, and is better than {_each_of(others)}{_largest_p(tests)}."
    if not beaten:
        return f"{lead}, but it is not shown to differ from {_any_of(others)}{_smallest_p(tests)}."
    return f"{lead}; it is better than {few(beaten, 'learners')} but cannot be told apart from {_told_apart(level)}."


def against_yardstick(table: Table) -> str:
    """What tuning brought over the learner that tunes nothing; without one, where the leader loses points."""
    yardstick = table.yardstick
    tests = [] if yardstick is None else [table.compare(row.learner, yardstick.learner) for row in table.rows]
    tests = [test for test in tests if test is not None and test.difference is not None]
    if not tests:
        return _main_loss(table.best)
    better, worse, level = _sorted_out(tests)
    told = [f"{_who(better)} better"] * bool(better) + [f"{_who(worse)} worse"] * bool(worse)
    told += [f"{_who(level, verb=False)} cannot be told apart from it"] * bool(level)
    return f"Against {yardstick.learner}, which tunes nothing and has {points(yardstick)}, {listed(told)}."


def _who(tests: list[Comparison], *, verb: bool = True) -> str:
    """The learners by name with their differences, or how many they are."""
    if len(tests) > 4:
        return f"{len(tests)} learners{' are' * verb}"
    names = listed([f"{test.learner} ({signed(test.difference)})" for test in tests])
    return names + (" are" if len(tests) > 1 else " is") * verb


def _main_loss(row: Row) -> str:
    if row.openworld_auc is None:
        return "So nothing can be said about where points are lost."
    worst = max(row.points_lost, key=row.points_lost.get)
    return (
        f"Of the {100 * (1 - row.openworld_auc):.1f} points that {row.learner} misses, the largest part is lost to "
        f"{LOSSES[worst]} ({100 * row.points_lost[worst]:.1f})."
    )


def _sorted_out(tests: list[Comparison]) -> tuple[list, list, list]:
    better = [test for test in tests if test.better]
    worse = [test for test in tests if test.worse]
    return better, worse, [test for test in tests if not test.differs]


def _evidence(table: Table) -> str:
    counts, pairs, group = table.counts, table.tested, table.group_name
    of_groups = f" of {counted(counts['groups'], group)}" if group else ""
    clustered = f", clustered by {group}," if group else ","
    basis = (
        f"This rests on {counts['base_images']} base and {counts['new_images']} new images{of_groups} "
        f"and on {counted(counts['seeds'], 'seed')}{_first_in_seeds(table)}"
    )
    given = f"given the {'seed' if counts['seeds'] == 1 else 'seeds'}"
    if not pairs:
        return f"{basis}; intervals are at 95\u00a0% over images{clustered} {given}."
    return f"{basis}; the tests compare the same images{clustered} {given}{_corrected(pairs)}."


def _corrected(pairs: int) -> str:
    return f", and are corrected for {pairs} pairs of learners ({HOLM})" if pairs > 1 else ""


def _first_in_seeds(table: Table) -> str:
    """With how many seeds the leader comes first, where every learner has the same seeds."""
    seeds = table.best.seeds
    if len(seeds) < 2 or len(table.rows) < 2 or any(row.seeds != seeds for row in table.rows):
        return ""
    values = {row.learner: row.per_seed["openworld_auc"] for row in table.rows}
    if any(value is None for one in values.values() for value in one):
        return ""
    firsts = sum(
        max(values, key=lambda learner: values[learner][place]) == table.best.learner for place in range(len(seeds))
    )
    return f" ({table.best.learner} comes first in {firsts} of them)"


def _is_sweep(summary: Summary) -> bool:
    """Whether nothing but shots differs between the settings."""
    return len({replace(table.setting, shots=None) for table in summary.tables}) == 1


def _verdict_of_sweep(summary: Summary) -> tuple[str, str, str]:
    """The verdict with most shots, and who leads with fewer."""
    *fewer, most = sorted(summary.tables, key=lambda table: table.setting.shots)
    most = replace(most, title=f"{most.setting.task} with {most.title}")
    leaders: dict[str, list[str]] = {}
    for table in fewer:
        if table.best.openworld_auc is not None:
            leaders.setdefault(table.best.learner, []).append(str(table.setting.shots))
    told = listed([f"{learner} (with {listed(counts)})" for learner, counts in leaders.items()])
    with_fewer = f"; with fewer shots the lead goes to {told}." if told else "."
    return leader(most), f"{against_yardstick(most).removesuffix('.')}{with_fewer}", _evidence(most)


def _leader_of_many(summary: Summary) -> str:
    averages = summary.averages
    best = max(averages, key=averages.get, default=None)
    if best is None:
        return f"No learner was run in all {len(summary.tables)} settings, so no average is named."
    firsts = sum(table.best.learner == best for table in summary.tables)
    shown = sum(_beats_all(table, best) for table in summary.tables)
    return (
        f"Over {len(summary.tables)} settings {best} has the highest mean OpenworldAUC, {100 * averages[best]:.1f}; "
        f"it has the highest value in {firsts} of them, and is shown to be better than every other learner in {shown}."
    )


def _beats_all(table: Table, learner: str) -> bool:
    tests = [table.compare(learner, row.learner) for row in table.rows if row.learner != learner]
    return bool(tests) and all(test.better for test in tests)


def _against_yardstick_of_many(summary: Summary) -> str:
    best = max(summary.averages, key=summary.averages.get, default=None)
    tests = [_test_of(table, best) for table in summary.tables]
    tests = [test for test in tests if test is not None and test.difference is not None]
    if not tests and best in summary.yardsticks:
        return _tuned_against_untuned(summary, best)
    if not tests:
        return "Nothing untuned was run beside it, so what tuning brought is not known."
    better, worse, level = _sorted_out(tests)
    told = [f"better in {_of(better, tests)}"] * bool(better) + [f"worse in {_of(worse, tests)}"] * bool(worse)
    told += [f"not to be told apart in {_of(level, tests)}"] * bool(level)
    return f"Against {tests[0].other}, which tunes nothing, {best} is {listed(told)}."


def _tuned_against_untuned(summary: Summary, untuned: str) -> str:
    """Where what tunes nothing leads: in how many settings something tuned is shown to beat it."""
    named = [table for table in summary.tables if any(row.learner == untuned for row in table.rows)]
    beaten = [table for table in named if any(_beats(table, row, untuned) for row in table.rows)]
    shown = f"in {_of(beaten, named)}" if beaten else "in no setting"
    return f"It tunes nothing, and {shown} a tuned learner is shown to be better."


def _beats(table: Table, row: Row, other: str) -> bool:
    test = table.compare(row.learner, other)
    return test is not None and test.better


def _of(some: list, whole: list) -> str:
    return f"all {len(whole)} settings" if len(some) == len(whole) else f"{len(some)} of {len(whole)} settings"


def _test_of(table: Table, learner: str | None) -> Comparison | None:
    named = [row.learner for row in table.rows]
    if table.yardstick is None or learner not in named:
        return None
    return table.compare(learner, table.yardstick.learner)


def evidence_of_many(summary: Summary) -> str:
    """What the numbers and tests of several settings rest on."""
    counts, group = [table.counts for table in summary.tables], summary.tables[0].group_name
    images = span([count["base_images"] + count["new_images"] for count in counts])
    of_groups = f" of {span([count['groups'] for count in counts])} {group}s" if group else ""
    clustered = f", clustered by {group}," if group else ","
    seeds = span([count["seeds"] for count in counts])
    noun = "seed" if seeds == "1" else "seeds"
    return (
        f"Each setting rests on {images} images{of_groups} and on {seeds} {noun}; the tests compare the same "
        f"images{clustered} given the {noun}, and are corrected within each setting ({HOLM})."
    )


def _each_of(others: list[str]) -> str:
    return others[0] if len(others) == 1 else f"all {len(others)} others"


def _any_of(others: list[str]) -> str:
    return others[0] if len(others) == 1 else f"any of the {len(others)} others"


def _told_apart(level: list[Comparison]) -> str:
    return few([f"{test.other} ({test.p_words})" for test in level], "learners")


def _largest_p(tests: list[Comparison]) -> str:
    return f" ({max(tests, key=lambda test: test.p).p_words})"


def _smallest_p(tests: list[Comparison]) -> str:
    known = [test for test in tests if test.p is not None]
    return f" ({min(known, key=lambda test: test.p).p_words})" if known else ""
