"""The verdict on a run of dynamic scenarios: three sentences made from the tests, also when they show nothing.

First whose curves have the largest area and over whom that is shown, then what tuning brought over zero-shot, then what
this rests on.
"""

from collections.abc import Sequence

from openworld.evaluations.dynamic.courses import SCENARIOS, CourseTable
from openworld.evaluations.dynamic.numbers import ScenarioTable
from openworld.evaluations.dynamic.terminal import RobustnessTable, interval_of, of_course
from openworld.report.comparison import HOLM, Comparison
from openworld.report.sentences import few, listed, none_or, span
from openworld.report.text import percent, signed


def course_verdict(tables: Sequence[CourseTable], means: Sequence[ScenarioTable]) -> tuple[str, str, str]:
    """Three sentences: the leader, tuning against not tuning, and the evidence."""
    shown = [of_course(table) for table in tables]
    leader = _leader(shown[0]) if len(shown) == 1 else _leader_of_many(shown)
    return leader, _against_yardstick(tables, shown), _evidence(shown, means)


def _leader(table: RobustnessTable) -> str:
    number = table.numbers[table.best]["auc"]
    lead = (
        f"{table.title[0].upper()}{table.title[1:]}: {table.best} has the largest area under its curve, "
        f"{percent(number.value)} {interval_of(number.over_images, 'auc')}".rstrip()
    )
    tests = [
        pair.seen_from(table.best) for pair in table.on_pictures.values() if table.best in (pair.learner, pair.other)
    ]
    beaten, level = [test.other for test in tests if test.better], [test for test in tests if not test.better]
    if not tests:
        return f"{lead}; nothing was run beside it."
    if not level:
        return f"{lead}, and is better than {few(beaten)}."
    apart = f"not shown to differ from {few([f'{test.other} ({test.p_words})' for test in level])}"
    return f"{lead}; it is better than {few(beaten)} and {apart}." if beaten else f"{lead}, but it is {apart}."


def _leader_of_many(tables: Sequence[RobustnessTable]) -> str:
    areas = {
        name: sum(table.numbers[name]["auc"].value for table in tables) / len(tables) for name in _everywhere(tables)
    }
    if not areas:
        return f"No learner played all of the {len(tables)} courses, so that none leads over all of them."
    best = max(areas, key=areas.get)
    firsts = sum(table.best == best for table in tables)
    shown = sum(_beats_all(table, best) for table in tables)
    told = f"Over {len(tables)} courses {best} has the largest mean area under its curves, {percent(areas[best])}"
    yardstick = tables[0].yardstick
    if best == yardstick:
        return f"{told}, though it tunes nothing; it comes first in {firsts} of them."
    tests = [table.test(best) for table in tables]
    better, worse = sum(test.better for test in tests), sum(test.worse for test in tests)
    gain = areas[best] - areas[yardstick]
    return (
        f"{told} ({signed(gain)} against {yardstick}); it comes first in {none_or(firsts)}, is shown to be better than "
        f"{yardstick} in {none_or(better)} and worse in {none_or(worse)}, and better than every other learner in "
        f"{none_or(shown)}."
    )


def _against_yardstick(tables: Sequence[CourseTable], shown: Sequence[RobustnessTable]) -> str:
    yardstick = shown[0].yardstick
    tests = [(table, test) for table, one in zip(tables, shown, strict=True) for test in _tests(one)]
    tested = [(table, test) for table, test in tests if test.p is not None]
    if not tested:
        reasons = {test.reason for _, test in tests if test.reason}
        return f"Nothing is tested against {yardstick}: {listed(sorted(reasons)) or 'nothing was run beside it'}."
    better, worse = [one for one in tested if one[1].better], [one for one in tested if one[1].worse]
    level = len(tested) - len(better) - len(worse)
    counted = (
        f"Against {yardstick}, which tunes nothing, {none_or(len(better))} of {len(tested)} curves have a larger area, "
        f"{none_or(len(worse))} a smaller one, and {none_or(level)} cannot be told apart from it"
    )
    if len(shown) == 1:
        names = [f"{test.learner} ({signed(test.difference)})" for _, test in better + worse]
        return f"{counted}{': ' * bool(names)}{few(names)}."
    return f"{counted}{_where(tested, better, 'gains')}{_where(tested, worse, 'losses')}."


def _where(tested, found, what: str) -> str:
    """In which scenario gains or losses are most frequent, and how frequent they are."""
    if not found:
        return ""
    counts = {name: (_of(found, name), _of(tested, name)) for name in SCENARIOS if _of(tested, name)}
    shares = {name: some / whole for name, (some, whole) in counts.items()}
    most = [name for name in shares if shares[name] == max(shares.values())]
    if len(most) == len(shares) > 1:
        return ""
    told = listed([f"{SCENARIOS[name]} ({counts[name][0]} of {counts[name][1]})" for name in most])
    return f"; {what} are most frequent in {told}"


def _of(found, scenario: str) -> int:
    return sum(table.key.scenario == scenario for table, _ in found)


def _evidence(shown: Sequence[RobustnessTable], means: Sequence[ScenarioTable]) -> str:
    seeds = shown[0].seeds
    told = "1 seed" if seeds == 1 else f"{seeds} seeds"
    given = "the seed" if seeds == 1 else "the seeds"
    found = [table.evidence for table in shown if table.evidence.errors is not None]
    ranks = _ranks(means)
    if not found:
        return f"This rests on {told}; no difference is tested picture by picture{ranks}."
    pictures, groups = span([one.pictures for one in found]), span([one.errors.groups for one in found])
    every = "Each course" if len(shown) > 1 else "This"
    within = " within each course" if len(shown) > 1 else ""
    return (
        f"{every} rests on views of up to {pictures} pictures, in {groups} groups that are taken or left together, and "
        f"on {told}; the tests compare the same pictures, given {given}, and are corrected{within} ({HOLM})"
        f"{ranks}."
    )


def _ranks(means: Sequence[ScenarioTable]) -> str:
    """What Friedman's test says by scenario, as the end of a sentence."""
    tests = {SCENARIOS[one.scenario]: one.ranking.test.p_value for one in means}
    ranked = [f"{scenario} p = {p:.2g}" for scenario, p in tests.items() if p is not None]
    if not ranked:
        return "; no scenario has courses enough for a test of ranks"
    return f"; Friedman's test of ranks over courses: {', '.join(ranked)}"


def _everywhere(tables: Sequence[RobustnessTable]) -> list[str]:
    return [learner for learner in tables[0].learners if all(learner in table.learners for table in tables)]


def _tests(table: RobustnessTable) -> list[Comparison]:
    return [test for learner in table.learners if (test := table.test(learner)) is not None]


def _beats_all(table: RobustnessTable, learner: str) -> bool:
    pairs = [pair.seen_from(learner) for pair in table.on_pictures.values() if learner in (pair.learner, pair.other)]
    return bool(pairs) and all(pair.better for pair in pairs)
