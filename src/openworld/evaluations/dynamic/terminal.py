"""Robustness tables of dynamic scenarios, as OpenPL's Tables 2 to 9: of one course, or means over those of a scenario.

Whatever shows such a table (terminal, page, exports) reads it from `RobustnessTable`, so that all say the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from openworld import _terminal as terminal
from openworld._terminal import FirstThatFits, Head, TerminalTable, styled
from openworld.evaluations.dynamic.answers import Evidence
from openworld.evaluations.dynamic.comparison import Comparisons, against
from openworld.evaluations.dynamic.courses import SCENARIOS, CourseTable, Ranking
from openworld.evaluations.dynamic.numbers import NUMBERS, Number, ScenarioTable, course_numbers
from openworld.metrics import final_ranks
from openworld.report.comparison import Comparison
from openworld.report.text import percent, signed

MANY = 4  # courses; of more, the terminal shows one table per scenario
SHOWN = [name for name in NUMBERS if name != "delta_pn"]  # in the terminal; ΔPN equals ΔAUC
DISPENSABLE = ("slope_variance", "variation", "positive_area", "negative_area", "initial_accuracy", "worst_accuracy")
BRACKETED = ("auc", "delta_auc")  # whose intervals fit on a terminal
LEGEND = (
    "Higher is better: AUC area under the curve, WA its worst level, PA area above {0}; lower: EVM total variation, VS "
    "(10⁻²) variance of the slope, NA area below. ΔAUC is the gain in area over {0}, and ΔPN = PA − NA equals it."
)


@dataclass(frozen=True, eq=False)
class RobustnessTable:
    """Learners with their numbers, ranks and tests; `caption` says what the intervals and tests are over."""

    title: str
    courses: int
    seeds: int
    levels: int
    yardstick: str
    best: str
    numbers: dict[str, dict[str, Number]]
    friedman: dict[str, float]
    final: dict[str, float]
    evidence: Evidence
    on_pictures: Comparisons
    over_seeds: Comparisons

    @property
    def learners(self) -> tuple[str, ...]:
        """In the order of the run."""
        return tuple(self.numbers)

    def test(self, learner: str) -> Comparison | None:
        """Against the yardstick, on the same pictures."""
        return against(self.on_pictures, learner, self.yardstick)

    def test_over_seeds(self, learner: str) -> Comparison | None:
        """Against the yardstick, over seeds."""
        return against(self.over_seeds, learner, self.yardstick)

    @property
    def caption(self) -> str:
        """Over what the numbers, the intervals, the tests and the ranks are."""
        means = "1 seed" if self.seeds == 1 else f"mean curve of {self.seeds} seeds"
        means += f", means over {self.courses} courses" if self.courses > 1 else ""
        pairs = sum(test.p is not None for test in self.on_pictures.values())
        tests = f" Against {self.yardstick}: paired on the same pictures" if pairs else ""
        tests += f", p after Holm over {pairs} pairs." if pairs > 1 else "." * bool(pairs)
        ranks = f"{self.levels} levels" + (f" of {self.courses} courses" if self.courses > 1 else "")
        return f"Percent; {means}; {self._over}.{tests} Rank: Friedman's over {ranks}, then its place."

    @property
    def _over(self) -> str:
        if self.evidence.errors is None:
            return f"no interval over pictures: {self.evidence.reason}"
        given = "the seed" if self.seeds == 1 else "the seeds"
        given += " and courses" if self.courses > 1 else ""
        return f"[95 % over pictures, clustered by group (n = {self.evidence.errors.groups}), given {given}]"


def of_course(table: CourseTable) -> RobustnessTable:
    """The table of one course."""
    return RobustnessTable(
        title=table.key.title,
        courses=1,
        seeds=len(table.curves[0].seeds),
        levels=len(table.levels),
        yardstick=table.yardstick,
        best=table.best.learner,
        numbers=course_numbers(table),
        friedman=dict(zip(table.learners, table.friedman.tolist(), strict=True)),
        final=dict(zip(table.learners, final_ranks(table.friedman).tolist(), strict=True)),
        evidence=table.evidence,
        on_pictures=table.comparisons,
        over_seeds=table.comparisons_over_seeds,
    )


def of_scenario(table: ScenarioTable) -> RobustnessTable:
    """The table of means over the courses of a scenario."""
    first, ranking = table.courses[0], table.ranking
    return RobustnessTable(
        title=SCENARIOS[table.scenario],
        courses=len(table.courses),
        seeds=len(first.curves[0].seeds),
        levels=len(first.levels),
        yardstick=table.yardstick,
        best=table.best,
        numbers=table.numbers,
        friedman=dict(zip(ranking.learners, ranking.friedman, strict=True)),
        final=dict(zip(ranking.learners, ranking.final, strict=True)),
        evidence=table.evidence,
        on_pictures=table.comparisons,
        over_seeds=table.comparisons_over_seeds,
    )


def terminal_course(table: CourseTable) -> FirstThatFits:
    """One course as rich prints it: percent with one decimal, intervals in brackets, the deltas in points."""
    return _fitting(of_course(table))


def terminal_scenario(table: ScenarioTable) -> FirstThatFits:
    """The same of the means over the courses of a scenario, with Friedman's test where there are courses enough."""
    return _fitting(of_scenario(table), f" {tested(table.ranking)}" if table.ranking.test.value is not None else "")


def terminal_legend(yardstick: str) -> str:
    """What the columns are, once for all tables."""
    return LEGEND.format(yardstick)


def written(value: float | None, name: str) -> str:
    """A number as its column shows it: percent, with a sign where it is a difference, VS with a decimal more.

    >>> written(0.123, "auc"), written(0.01, "delta_auc"), written(0.0004, "slope_variance"), written(None, "auc")
    ('12.3', '+1.0', '0.04', '–')
    """
    if value is None:
        return "–"
    if name == "slope_variance":
        return f"{100 * value:.2f}"
    return signed(value) if name.startswith("delta") else percent(value)


def interval_of(interval: Sequence[float] | None, name: str) -> str:
    """An interval in brackets, written as its value is; empty where there is none.

    >>> interval_of((0.12, 0.3), "auc"), interval_of((-0.01, 0.02), "delta_auc")
    ('[12.0 30.0]', '[−1.0 +2.0]')
    """
    return "" if interval is None else f"[{written(interval[0], name)} {written(interval[1], name)}]"


def tested(ranking: Ranking) -> str:
    """What Friedman's test and Nemenyi's distance say of one scenario, or why they are not made."""
    test, difference = ranking.test, ranking.difference
    if test.value is None:
        return f"Friedman's test, one block per course, is not made: {test.reason}."
    told = f"Friedman's test over {test.blocks} courses: p = {test.p_value:.2g}"
    return f"{told}; mean ranks differ from {difference.value:.2f} apart (Nemenyi)."


def _fitting(table: RobustnessTable, further: str = "") -> FirstThatFits:
    """For a terminal of any width: where not all numbers fit, the last of `DISPENSABLE` stay away."""
    return FirstThatFits([_drawn(table, further, DISPENSABLE[:count]) for count in range(len(DISPENSABLE) + 1)])


def _drawn(table: RobustnessTable, further: str, left_out: Sequence[str]) -> TerminalTable:
    """The table without the numbers `left_out`."""
    names, rows = [name for name in SHOWN if name not in left_out], []
    lacking = f" For want of room without {', '.join(NUMBERS[name] for name in left_out)}." if left_out else ""
    for learner in table.learners:
        style = "bold" if learner == table.best and len(table.learners) > 1 else ""
        test = table.test(learner)
        verdict = styled(["" if test is None else test.short_words], style or "dim")
        rows.append((*styled(_cells(table, learner, names), style), *verdict))
    numbers = map(Head, (*(NUMBERS[name] for name in names), "rank", ""))
    heads = (terminal.name("learner"), *numbers, terminal.words(f"against {table.yardstick}"))
    return TerminalTable(heads, rows, table.caption + further + lacking)


def _cells(table: RobustnessTable, learner: str, names: Sequence[str]) -> list[str]:
    numbers = [_terminal_cell(table.numbers[learner][name], name) for name in names]
    return [learner, *numbers, f"{table.friedman[learner]:.2f}", f"{table.final[learner]:g}"]


def _terminal_cell(number: Number, name: str) -> str:
    interval = interval_of(number.over_images, name) if name in BRACKETED else ""
    return f"{written(number.value, name)} {interval}".strip()
