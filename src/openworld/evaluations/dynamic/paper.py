"""From records of dynamic scenarios to the numbers of OpenPL's tables: curves by data set, and ranks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openworld._errors import OpenworldError
from openworld.evaluations.dynamic.answers import Evidence
from openworld.evaluations.dynamic.courses import CourseKey, CourseTable, load_courses
from openworld.evaluations.dynamic.numbers import Number, ScenarioTable, course_numbers, scenario_tables
from openworld.metrics import final_ranks
from openworld.papers import AVERAGE
from openworld.papers.measured import Measured, StandsFor
from openworld.results import Interval

KEYS = {
    "Acc(0)": "initial_accuracy",
    "AUC": "auc",
    "WA": "worst_accuracy",
    "EVM": "variation",
    "VS": "slope_variance",
    "PosArea": "positive_area",
    "NegArea": "negative_area",
    "delta_AUC": "delta_auc",
    "delta_PN": "delta_pn",
}


@dataclass(frozen=True, eq=False)
class PlayedCourse:
    """A course by the names of a paper: its data set is the one whose pictures or classes are new."""

    dataset: str
    table: CourseTable
    run: StandsFor
    backbone: str


def played_courses(runs: Sequence[StandsFor], scenario: str) -> tuple[PlayedCourse, ...]:
    """Every course of a scenario, in order of appearance."""
    return tuple(
        PlayedCourse(_dataset(run, table.key), table, run, run.backbone)
        for run in runs
        for table in run.read(load_courses)
        if table.key.scenario == scenario
    )


def _dataset(run: StandsFor, key: CourseKey) -> str:
    if key.against is None:
        return run.dataset(key.dataset, key.domain)
    name, _, domain = key.against.partition(", ")
    return run.dataset(name, domain or None)


def read(
    scenario: str, runs: Sequence[StandsFor], metrics: Sequence[str], datasets: Sequence[str] = ()
) -> tuple[Measured, ...]:
    """Every number of every course, course by course; only their averages where a table has several `datasets`.

    Where any course is on one of `datasets`, courses on others are left out: a table averages its own data sets.
    """
    courses = played_courses(runs, scenario)
    courses = tuple(course for course in courses if course.dataset in datasets) or courses
    if not courses:
        raise OpenworldError(f"no run played {scenario}; give a finished one that did.")
    if len(datasets) > 1:
        return tuple(_averaged(courses, metrics))
    return tuple(number for course in courses for number in of_course(course, metrics))


def of_course(course: PlayedCourse, metrics: Sequence[str]) -> Iterator[Measured]:
    """The numbers of one course: of the mean curve over the seeds; ranks over its levels, among all that played it."""
    table = course.table
    ranks = {"Friedman_rank": table.friedman, "Final_rank": final_ranks(table.friedman)}
    numbers = course_numbers(table)
    for place, learner in enumerate(table.learners):
        curve = table.curves[place]
        for metric in metrics:
            told = {"datasets": (course.dataset,), "backbone": course.backbone}
            named = (course.dataset, "", course.run.method(learner), metric)
            if metric in ranks:
                yield Measured(*named, float(ranks[metric][place]), **told)
            elif (number := numbers[learner][KEYS[metric]]).value is not None:
                own = curve.robustness.per_seed
                per_seed = tuple(getattr(one, KEYS[metric]) for one in own)
                yield Measured(*named, number.value, _intervals(number, table.evidence), per_seed, **told)


def _averaged(courses: Sequence[PlayedCourse], metrics: Sequence[str]) -> Iterator[Measured]:
    """Tables 6 to 9: deltas averaged over the courses, ranks over all (course, level) pairs."""
    (joined,) = scenario_tables([course.table for course in courses])
    told = {"datasets": tuple(course.dataset for course in courses), "backbone": courses[0].backbone}
    for place, learner in enumerate(joined.learners):
        ranks = {"Friedman_rank": joined.ranking.friedman[place], "Final_rank": joined.ranking.final[place]}
        for metric in metrics:
            named = (AVERAGE, "", courses[0].run.method(learner), metric)
            if metric in ranks:
                yield Measured(*named, ranks[metric], **told)
            elif (number := joined.numbers[learner][KEYS[metric]]).value is not None:
                intervals = _intervals(number, joined.evidence)
                yield Measured(*named, number.value, intervals, _mean_by_seed(joined, place, KEYS[metric]), **told)


def _mean_by_seed(joined: ScenarioTable, place: int, name: str) -> tuple[float, ...]:
    """Of every seed the mean over the courses; empty where the courses have other seeds."""
    curves = [course.curves[place] for course in joined.courses]
    if len({curve.seeds for curve in curves}) > 1:
        return ()
    by_seed = zip(*([getattr(one, name) for one in curve.per_seed] for curve in curves), strict=True)
    return tuple(sum(values) / len(values) for values in by_seed)


def _intervals(number: Number, found: Evidence) -> tuple[Interval, ...]:
    """Over pictures, over seeds (of the seeds' own curves), and over courses where there are several."""
    kinds = []
    if number.over_images is not None:
        kinds.append(Interval(*number.over_images, "groups of pictures", found.errors.groups))
    for over, spread in (("seeds", number.seeds), ("data sets", number.courses)):
        ends = None if spread is None else spread.interval()
        if ends is not None:
            kinds.append(Interval(*ends, over, spread.n))
    return tuple(kinds)
