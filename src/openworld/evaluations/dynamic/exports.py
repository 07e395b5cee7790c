"""Robustness tables as CSV, JSON, Markdown and LaTeX."""

from collections.abc import Sequence
from dataclasses import asdict

from openworld._errors import unknown_name
from openworld.evaluations.dynamic.courses import CourseTable
from openworld.evaluations.dynamic.numbers import NUMBERS, Number, ScenarioTable, scenario_tables
from openworld.evaluations.dynamic.terminal import RobustnessTable, of_course, of_scenario
from openworld.report.data_files import csv_text, json_text
from openworld.report.text import two_decimals
from openworld.report.text_tables import as_tex, markdown_table, plain, tabular

FIELDS = {name: "acc0" if name == "initial_accuracy" else name for name in NUMBERS}
PARTS = ("images_low", "images_high", "seed_mean", "seed_std", "seeds_low", "seeds_high", "courses_low", "courses_high")
TESTS = ("p_on_pictures", "p_over_seeds")
HEADER = (
    *("scenario", "dataset", "domain", "against", "courses", "learner", "seeds"),
    *FIELDS.values(),
    *("friedman_rank", "final_rank", *TESTS),
    *(f"{name}_{part}" for name in FIELDS.values() for part in PARTS),
)
FORMS = ("csv", "json", "markdown", "latex")
TITLES = ("Learner", *NUMBERS.values(), "Friedman rank", "Final rank")


def export_courses(tables: Sequence[CourseTable], form: str) -> str:
    """All tables as text.

    Args:
        tables: of `load_courses`.
        form: "csv" (fractions: every number of every course and of the means over courses, one header), "json" (the
            same with the seeds' own curves and all tests), "markdown" or "latex" (percent with two decimals: the means
            by scenario first, as OpenPL's Tables 2 to 9, then every course).

    Raises:
        OpenworldError: for another form.
    """
    writers = dict(zip(FORMS, (robustness_csv, courses_json, _markdown, _latex), strict=True))
    if form not in writers:
        raise unknown_name("table form", form, FORMS)
    return writers[form](tables)


def robustness_csv(tables: Sequence[CourseTable]) -> str:
    """Every number as a fraction, with its intervals and tests against zero-shot; empty where there is none.

    A row with more than one under `courses` is the mean over those of its scenario.
    """
    rows = []
    for mean in scenario_tables(tables):
        several = len(mean.courses) > 1
        rows += _rows((mean.scenario, "", "", ""), of_scenario(mean)) if several else []
        for course in mean.courses:
            key = course.key
            rows += _rows((key.scenario, key.dataset, key.domain, key.against), of_course(course))
    return csv_text(HEADER, rows)


def courses_json(tables: Sequence[CourseTable]) -> str:
    """Every curve with its numbers, intervals, its seeds' own curves and what came of base and new pictures."""
    means = [_mean_as_json(mean) for mean in scenario_tables(tables)]
    told = {"courses": [_course_as_json(table) for table in tables], "scenarios": means}
    return json_text(told)


def _rows(key: Sequence[str | None], table: RobustnessTable) -> list[list]:
    return [[*key, table.courses, learner, table.seeds, *_numbers(table, learner)] for learner in table.learners]


def _numbers(table: RobustnessTable, learner: str) -> list[float | None]:
    numbers = table.numbers[learner].values()
    ranks = [table.friedman[learner], table.final[learner]]
    tests = [None if test is None else test.p for test in (table.test(learner), table.test_over_seeds(learner))]
    return [number.value for number in numbers] + ranks + tests + [part for one in numbers for part in _parts(one)]


def _parts(number: Number) -> list[float | None]:
    seeds = number.seeds.interval() or (None, None)
    courses = (number.courses.interval() if number.courses else None) or (None, None)
    return [number.images.low, number.images.high, number.seeds.mean, number.seeds.std, *seeds, *courses]


def _course_as_json(table: CourseTable) -> dict:
    shown = of_course(table)
    learners = [
        {
            "learner": curve.learner,
            "seeds": curve.seeds,
            "friedman_rank": shown.friedman[curve.learner],
            **{name: getattr(curve, name) for name in ("base", "new", "auroc")},
            **asdict(curve.robustness),
            "intervals": _intervals(shown, curve.learner),
        }
        for curve in table.curves
    ]
    return {**asdict(table.key), "levels": table.levels, "learners": learners, **_tests(shown)}


def _mean_as_json(mean: ScenarioTable) -> dict:
    shown = of_scenario(mean)
    learners = [
        {
            "learner": learner,
            "friedman_rank": shown.friedman[learner],
            "final_rank": shown.final[learner],
            **{name: number.value for name, number in shown.numbers[learner].items()},
            "intervals": _intervals(shown, learner),
        }
        for learner in shown.learners
    ]
    ranked = {"friedman": asdict(mean.ranking.test), "nemenyi": asdict(mean.ranking.difference)}
    return {"scenario": mean.scenario, "courses": len(mean.courses), "learners": learners, **ranked, **_tests(shown)}


def _intervals(table: RobustnessTable, learner: str) -> dict:
    return {
        name: {
            "images": asdict(number.images),
            "seeds": number.seeds.interval(),
            "courses": number.courses.interval() if number.courses else None,
        }
        for name, number in table.numbers[learner].items()
    }


def _tests(table: RobustnessTable) -> dict:
    kinds = {"tests_on_pictures": table.on_pictures, "tests_over_seeds": table.over_seeds}
    return {name: [asdict(test) for test in tests.values()] for name, tests in kinds.items()}


def _all(tables: Sequence[CourseTable]) -> list[RobustnessTable]:
    means = scenario_tables(tables)
    several = [of_scenario(mean) for mean in means if len(mean.courses) > 1]
    return several + [of_course(table) for table in tables]


def _cells(table: RobustnessTable) -> list[list[str]]:
    return [
        [
            learner,
            *(_with_interval(number) for number in table.numbers[learner].values()),
            f"{table.friedman[learner]:.2f}",
            f"{table.final[learner]:g}",
        ]
        for learner in table.learners
    ]


def _with_interval(number: Number) -> str:
    """Percent with two decimals and the interval over pictures; a dash where there is no number."""
    ends = number.over_images
    interval = "" if ends is None else f" ({two_decimals(ends[0])}, {two_decimals(ends[1])})"
    return (two_decimals(number.value) or "–") + interval


def _markdown(tables: Sequence[CourseTable]) -> str:
    return "\n".join(map(_markdown_table, _all(tables)))


def _markdown_table(table: RobustnessTable) -> str:
    return markdown_table(table.title, TITLES, (map(plain, cells) for cells in _cells(table)), table.caption)


def _latex(tables: Sequence[CourseTable]) -> str:
    return "\n".join(map(_latex_table, _all(tables)))


def _latex_table(table: RobustnessTable) -> str:
    rows = [[*map(as_tex, cells)] for cells in _cells(table)]
    return tabular([table.title, table.caption], [*map(as_tex, TITLES)], rows)
