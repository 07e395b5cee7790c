"""The tables of dynamic scenarios, as OpenPL's Tables 2 to 9: robustness, accuracy by level, and gains by scenario."""

from collections.abc import Sequence
from itertools import chain

from openworld.evaluations.dynamic.averages import BY_LEVEL, Average
from openworld.evaluations.dynamic.record import SCENARIOS
from openworld.evaluations.dynamic.results import DynamicFacts
from openworld.evaluations.dynamic.verdict import area_test, area_tests
from openworld.report.sentences import counted
from openworld.report.table import Cell, Column, Row, Table, cell_of
from openworld.results import METRICS, TEXT, Comparison, Result, Results, mean
from openworld.results.over_datasets import CRITICAL_DIFFERENCE, FRIEDMAN_P

PRIORITIES = {
    "initial_accuracy": 4,
    "auc": 7,
    "worst_accuracy": 5,
    "variation": 1,
    "slope_variance": 0,
    "positive_area": 2,
    "negative_area": 3,
    "delta_auc": 7,
    "delta_pn": 0,
}
"""The numbers in the order of the paper; on a narrow terminal those of the least priority are left out first."""

IN_BRIEF = tuple(name for name in PRIORITIES if name != "delta_pn")  # equal to the gain in area
BRACKETED = ("auc", "delta_auc")  # whose intervals fit on a terminal
RANKS = ("friedman_rank", "final_rank")
MARKS = {"seeds": "*", "data sets": "**"}  # of what an interval is over, where none over images is known
LEGEND = (
    "Higher is better: AUC area under the curve, WA its worst level, PA area above {0}; lower: EVM total variation, VS "
    "(10⁻²) variance of the slope, NA area below. ΔAUC is the gain in area over {0}, and ΔPN = PA − NA equals it."
)


def robustness_table(results: Results, run: Average, baseline: str, name: str, *, brief: bool = False) -> Table:
    """Return numbers of the curves, ranks and the test against the baseline.

    Args:
        results: of a run.
        run: of which scenario run, or of which mean.
        baseline: the learner that tunes nothing.
        name: of the table.
        brief: as a terminal shows it, with the intervals of areas alone; else with all of them.
    """
    numbers = IN_BRIEF if brief else PRIORITIES
    columns = [
        Column(METRICS[key], "", PRIORITIES[key], int(not brief or key in BRACKETED), headline=key == "auc")
        for key in numbers
    ]
    columns.append(Column(METRICS["friedman_rank"], "rank", priority=7))
    columns.append(Column(METRICS["final_rank"], "place", priority=6))
    columns.append(Column(TEXT, f"against {baseline}", priority=7))
    rows = []
    for learner in run.learners:
        cells = [_number(results.result(learner, key, **run.where), run, brief=brief) for key in numbers]
        ranks = [results.value(learner, rank, **run.where) for rank in RANKS]
        tests = (area_test(results, run, learner, baseline, over) for over in ("images", "seeds"))
        rows.append(Row(learner, (*cells, *ranks, _test(*tests, brief=brief)), learner))
    caption = f"{_caption(results, run, baseline)}{'' if brief else _further(run, baseline)}"
    return Table(name, run.title, caption + _rank_test(results, run), "learner", tuple(columns), tuple(rows))


def _number(result: Result, run: Average, *, brief: bool) -> Cell:
    """A number; its note has the seeds' own, and their mean where that is not the number."""
    note, value, of_seeds = cell_of(result).note, result.value, mean(result.per_seed)
    if of_seeds is not None and result.metric.write(of_seeds) != result.metric.write(value.value):
        note += f"; mean of the seeds' own curves {result.metric.write(of_seeds)}"
    if len(result.per_seed) > 1 and not value.over("seeds"):
        note += "; no interval over seeds, which do not differ"
    over = value.intervals[0].over if value.intervals and run.groups and not brief else ""
    return Cell(value, mark=MARKS.get(over, ""), note=note)


def _test(on_images: Comparison | None, over_seeds: Comparison | None, *, brief: bool = False) -> Cell | None:
    """The verdict of the test on the same images; its note has the one over seeds."""
    if on_images is None:
        return None
    untested = on_images.p is None
    under = on_images.reason if untested and not brief else ""
    sort = None if untested else on_images.difference
    reason = f" ({over_seeds.reason})" if over_seeds.reason else ""
    return Cell(on_images.verdict, under=under, note=f"over seeds: {over_seeds.verdict}{reason}", sort=sort)


def _caption(results: Results, run: Average, baseline: str) -> str:
    """Say over what the numbers, the intervals, the tests and the ranks are."""
    means = "1 seed" if run.seeds == 1 else f"mean curve of {run.seeds} seeds"
    means += f", means over {run.runs} scenario runs" if run.runs > 1 else ""
    given = ("the seed" if run.seeds == 1 else "the seeds") + " and data sets" * (run.runs > 1)
    over = f"[95 % over images, clustered by group (n = {run.groups}), given {given}]"
    pairs = sum(test.p is not None for test in area_tests(results, run, "images"))
    tests = f" Against {baseline}: paired on the same images" if pairs else ""
    tests += f", p after Holm over {pairs} pairs." if pairs > 1 else "." * bool(pairs)
    ranks = f"{len(run.levels)} levels" + (f" of {run.runs} scenario runs" if run.runs > 1 else "")
    known = over if run.groups else f"no interval over images: {run.errors.reason}"
    return f"Percent; {means}; {known}.{tests} Rank: Friedman's over {ranks}, then its place."


def _further(run: Average, baseline: str) -> str:
    """What a page and a file say besides: the legend, and what intervals over seeds are."""
    marks = " and ".join(f"{mark} over {over}" for over, mark in MARKS.items())
    marked = f" Intervals with {marks}: of such a mean none over images is known."
    return f" {LEGEND.format(baseline)}{marked * (run.runs > 1 and run.groups > 0)}"


def _rank_test(results: Results, run: Average) -> str:
    """Friedman's test and Nemenyi's distance of a scenario, where there are runs enough."""
    if run.runs == 1:
        return ""
    p, distance = (results.value("", metric.key, **run.where).value for metric in (FRIEDMAN_P, CRITICAL_DIFFERENCE))
    if p is None:
        return ""
    apart = f"; mean ranks differ from {CRITICAL_DIFFERENCE.write(distance)} apart (Nemenyi)"
    return f" Friedman's test over {run.runs} scenario runs: p = {FRIEDMAN_P.write(p)}{apart}."


def overview_table(results: Results, facts: DynamicFacts) -> Table:
    """Return gains in area over the baseline with their tests, and ranks, by scenario (OpenPL, Tables 6 to 9)."""
    columns = []
    for run in facts.scenarios:
        of = f" ({counted(run.runs, 'run')})" if run.runs > 1 else ""
        columns += [Column(METRICS["delta_auc"], f"{SCENARIOS[run.scenario]}{of} ΔAUC")]
        columns += [Column(METRICS["friedman_rank"], "rank")]
    rows = [
        Row(
            learner,
            tuple(chain(*(_standing(results, run, facts.baseline, learner) for run in facts.scenarios))),
            learner,
        )
        for learner in facts.scenarios[0].learners
    ]
    caption = (
        f"ΔAUC: gain in area over {facts.baseline}, points, mean over the runs of a scenario, with its 95 % interval "
        "over images and the paired test below it (Holm over all pairs of the scenario); in bold where it is shown to "
        "be better. Rank: Friedman's over runs and levels, 1 = best, and its place."
    )
    return Table("overview", "Gain in area and ranks by scenario", caption, "learner", tuple(columns), tuple(rows))


def _standing(results: Results, run: Average, baseline: str, learner: str) -> Sequence[Cell | None]:
    if learner not in run.learners:
        return None, None
    gain = cell_of(results.result(learner, "delta_auc", **run.where))
    rank, place = (results.value(learner, name, **run.where) for name in RANKS)
    test = area_test(results, run, learner, baseline)
    words = test.verdict if test and test.p is not None else test.reason if test else ""
    cell = Cell(gain.content, under=words, note=gain.note, bold=bool(test and test.better))
    return cell, Cell(rank, under=METRICS["final_rank"].write(place.value))


def level_table(results: Results, run: Average, name: str) -> Table:
    """Return accuracy at every level; where there are both kinds, under it base and new accuracy, and their AUROC."""
    columns = tuple(Column(METRICS["accuracy"], f"t = {level:g}", intervals=0) for level in run.levels)
    rows = [
        Row(learner, tuple(_at_level(results, run, learner, level) for level in run.levels), learner)
        for learner in run.learners
    ]
    apart = any(cell.under for row in rows for cell in row.cells)
    under = "; under it accuracy on base / on new images / AUROC of base against new" * apart
    means = f"mean of {run.seeds} seeds" if run.seeds > 1 else "1 seed"
    views = run.first.curves[run.first.baseline].views[0]
    sizes = ", ".join(f"{view.n_images:,} of {view.n_classes:,}" for view in views)
    caption = f"{run.title}: accuracy, percent, {means}{under}. Images of classes by level: {sizes}."
    return Table(name, f"{run.title}, by level", caption, "learner", columns, tuple(rows))


def _at_level(results: Results, run: Average, learner: str, level: float) -> Cell:
    accuracy = cell_of(results.result(learner, "accuracy", **run.where, level=level))
    parts = [results.result(learner, name, **run.where, level=level) for name in list(BY_LEVEL)[1:]]
    both = any(part.value.value is not None for part in parts[1:])
    under = " / ".join(part.metric.write(part.value.value) for part in parts) if both else ""
    return Cell(accuracy.content, under=under, note=accuracy.note)
