"""The tables of the page of dynamic scenarios: robustness with intervals, accuracy by level, all in one overview."""

from collections.abc import Sequence

from openworld.evaluations.dynamic.courses import CourseTable, Curve
from openworld.evaluations.dynamic.numbers import NUMBERS, Number
from openworld.evaluations.dynamic.terminal import RobustnessTable, interval_of, terminal_legend, written
from openworld.report.comparison import Comparison
from openworld.report.grid import Cell, Column, Grid, Line, swatched
from openworld.report.series_style import Look
from openworld.report.text import percent, signed

Looks = dict[str, Look]


def robustness_grid(table: RobustnessTable, looks: Looks, name: str) -> Grid:
    """Every number over its interval over pictures; pointing at a cell tells of seeds and courses."""
    titles = (*NUMBERS.values(), "Friedman rank", "final rank")
    columns = (Column("learner", words=True), *map(Column, titles), Column(f"against {table.yardstick}", words=True))
    rows = tuple(Line(learner, _row(table, learner, looks)) for learner in table.learners)
    label = table.title[0].upper() + table.title[1:] + (f", mean of {table.courses}" if table.courses > 1 else "")
    caption = f"{table.caption} {terminal_legend(table.yardstick)} {_pointing(table)}"
    return Grid(name, label, caption, columns, rows)


def overview_grid(tables: Sequence[RobustnessTable], looks: Looks) -> Grid:
    """Learners by scenarios: the gain in area over zero-shot with its test, and the ranks (OpenPL's Tables 6 to 9)."""
    columns = [Column("learner", words=True)]
    for table in tables:
        courses = f" ({table.courses} courses)" if table.courses > 1 else ""
        columns += [Column(f"{table.title}{courses} ΔAUC"), Column("rank")]
    rows = tuple(
        Line(learner, (swatched(learner, looks), *(cell for table in tables for cell in _standing(table, learner))))
        for learner in tables[0].learners
    )
    caption = (
        f"ΔAUC: gain in area over {tables[0].yardstick}, points, mean over the courses of a scenario, with its 95 % "
        "interval over pictures and the paired test below it (Holm over all pairs of the scenario). Rank: Friedman's "
        "over courses and levels, 1 = best, and its place."
    )
    return Grid("overview", "Gain in area and ranks by scenario", caption, tuple(columns), rows)


def accuracy_grid(table: CourseTable, looks: Looks, name: str) -> Grid:
    """Accuracy at every level; under it base and new accuracy, and AUROC of base against new, where there are both."""
    columns = (Column("learner", words=True), *(Column(f"t = {level:g}") for level in table.levels))
    rows = tuple(Line(curve.learner, (swatched(curve.learner, looks), *_by_level(curve))) for curve in table.curves)
    sizes = ", ".join(f"{view['n_images']} of {view['n_classes']}" for view in table.views)
    split = any(value is not None for curve in table.curves for value in curve.auroc)
    under = "; under it accuracy on base / on new pictures / AUROC of base against new" * split
    seeds = len(table.curves[0].seeds)
    caption = (
        f"{table.key.title}: accuracy, percent, mean of {seeds} seed{'s' * (seeds > 1)}{under}. Pictures of classes by "
        f"level: {sizes}. Pointing at a cell tells the seeds."
    )
    return Grid(name, f"{table.key.title}, by level", caption, columns, rows)


def _row(table: RobustnessTable, learner: str, looks: Looks) -> tuple[Cell, ...]:
    cells = [_cell(table, number, name) for name, number in table.numbers[learner].items()]
    ranks = (Cell(f"{table.friedman[learner]:.2f}"), Cell(f"{table.final[learner]:g}"))
    return (swatched(learner, looks), *cells, *ranks, _verdict(table, learner))


def _cell(table: RobustnessTable, number: Number, name: str) -> Cell:
    hint = _hint(number, name)
    if number.value is None:
        return Cell("–", hint=hint)
    interval = interval_of(number.over_images, name)
    if not interval and table.evidence.errors is not None and (seeds := interval_of(number.seeds.interval(), name)):
        interval = f"s {seeds}"
    return Cell(written(number.value, name), f"{number.value:.6f}", interval, "stacked", hint=hint)


def _hint(number: Number, name: str) -> str:
    """What the cell does not show: intervals over seeds and courses, and why any is missing."""
    told = [] if number.over_images or not number.images.reason else [f"over pictures: none ({number.images.reason})"]
    if number.value is None:
        return told[0] if told else ""
    for what, spread in (("seeds", number.seeds), ("courses", number.courses)):
        if spread is None or spread.n < 2:
            continue
        interval = interval_of(spread.interval(), name) or f"no interval, {spread.interval_reason}"
        told.append(f"{spread.n} {what}: {written(spread.mean, name)} {interval}")
    return "; ".join(told)


def _pointing(table: RobustnessTable) -> str:
    """What the hints of the cells are."""
    over = ["over the seeds' own curves"] * (table.seeds > 1) + ["over courses"] * (table.courses > 1)
    if not over:
        return ""
    only = " (shown with s where none over pictures is known)" if table.courses > 1 and table.seeds > 1 else ""
    return f"Pointing at a cell tells mean and 95 %, Student's t, {' and '.join(over)}{only}."


def _standing(table: RobustnessTable, learner: str) -> tuple[Cell, Cell]:
    number, test = table.numbers[learner]["delta_auc"], table.test(learner)
    rank = Cell(f"{table.friedman[learner]:.2f}", f"{table.friedman[learner]:.4f}", f"{table.final[learner]:g}")
    if number.value is None or test is None:
        return Cell("–"), rank
    told = f"{interval_of(number.over_images, 'delta_auc')}\n{_words(test)}".strip()
    lead = "stacked lines leads" if test.better else "stacked lines"
    return Cell(signed(number.value), f"{number.value:.6f}", told, lead, hint=_hint(number, "delta_auc")), rank


def _verdict(table: RobustnessTable, learner: str) -> Cell:
    test, over_seeds = table.test(learner), table.test_over_seeds(learner)
    if test is None:
        return Cell("–", css="words")
    hint = f"over seeds: {_words(over_seeds)}"
    return Cell(_words(test), "" if test.p is None else f"{test.difference:.6f}", css="words", hint=hint)


def _words(test: Comparison) -> str:
    return f"not tested: {test.reason}" if test.p is None else test.short_words


def _by_level(curve: Curve) -> list[Cell]:
    cells = []
    for place, accuracy in enumerate(curve.robustness.accuracy):
        parts = [values[place] for values in (curve.base, curve.new, curve.auroc) if values]
        faint = " / ".join(map(percent, parts)) if any(part is not None for part in parts[1:]) else ""
        seeds = [f"{percent(own.accuracy[place])} (seed {seed})" for seed, own in _seeds(curve)]
        hint = ", ".join(seeds) if len(seeds) > 1 else ""
        cells.append(Cell(percent(accuracy), f"{accuracy:.6f}", faint, "stacked", hint=hint))
    return cells


def _seeds(curve: Curve):
    return zip(curve.seeds, curve.per_seed, strict=True)
