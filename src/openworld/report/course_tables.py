"""Robustness tables of dynamic scenarios, as OpenPL's Tables 2 to 9: for the terminal, the page, and as CSV."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from openworld.report.courses import SCENARIOS, CourseTable, Curve, Ranking
from openworld.report.figures.figure import csv_text, percent, signed
from openworld.report.figures.forest import swatch
from openworld.report.grids import Cell, Column, Grid, Line
from openworld.report.palette import Look

NUMBERS = {
    "auc": "AUC",
    "worst_accuracy": "WA",
    "variation": "EVM",
    "slope_variance": "VS",
    "positive_area": "PA",
    "negative_area": "NA",
    "delta_auc": "ΔAUC",
    "delta_pn": "ΔPN",
}
TITLES = ("learner", "Acc(0)", *NUMBERS.values(), "rank")


def terminal_course(table: CourseTable):
    """A `rich.table.Table`: percent with one decimal, the deltas in points."""
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=None, pad_edge=False, caption=told(table), caption_justify="left", header_style="bold")
    for title in TITLES:
        drawn.add_column(title, justify="left" if title == "learner" else "right", no_wrap=True)
    for place, curve in enumerate(table.curves):
        style = "bold" if curve is table.best and len(table.curves) > 1 else ""
        drawn.add_row(*(Text(cell, style) for cell in (curve.learner, *_cells(table, place))))
    return drawn


def robustness_grid(table: CourseTable, looks: dict[str, Look], name: str) -> Grid:
    """The same for the page; pointing at a cell tells its mean and deviation over the seeds' own curves."""
    columns = (Column("learner", words=True), *map(Column, TITLES[1:]))
    rows = tuple(Line(curve.learner, _row(table, place, looks)) for place, curve in enumerate(table.curves))
    return Grid(name, table.key.title, told(table), columns, rows)


def accuracy_grid(table: CourseTable, looks: dict[str, Look], name: str) -> Grid:
    """Accuracy at every level, and fainter the AUROC of base against new pictures where there are both."""
    columns = (Column("learner", words=True), *(Column(f"t = {level:g}") for level in table.levels))
    rows = tuple(
        Line(curve.learner, (_named(curve, looks), *map(_at_level, curve.robustness.accuracy, curve.auroc)))
        for curve in table.curves
    )
    sizes = ", ".join(f"{view['n_images']} of {view['n_classes']}" for view in table.views)
    caption = f"{table.key.title}: accuracy, percent, with base-new AUROC beside it. Pictures and classes: {sizes}."
    return Grid(name, f"{table.key.title}, by level", caption, columns, rows)


def ranking_grid(rankings: Sequence[Ranking], looks: dict[str, Look]) -> Grid:
    """Friedman ranks by scenario, and the final rank beside each."""
    columns = (Column("learner", words=True), *(Column(SCENARIOS[one.scenario]) for one in rankings))
    rows = tuple(
        Line(learner, (Cell(learner, picture=swatch(looks[learner])), *(_ranked(one, learner) for one in rankings)))
        for learner in rankings[0].learners
    )
    tests = "; ".join(f"{SCENARIOS[one.scenario]}: {_tested(one)}" for one in rankings)
    caption = f"Friedman rank over courses and levels, 1 = best, and the final rank. Friedman test, {tests}."
    return Grid("ranks", "Ranks by scenario", caption, columns, rows)


def robustness_csv(tables: Sequence[CourseTable]) -> str:
    """Every number of every curve as fractions, and its mean and deviation over the seeds' own curves."""
    spread = [f"{name}_{part}" for name in NUMBERS for part in ("seed_mean", "seed_std")]
    course = ("scenario", "dataset", "domain", "against", "learner", "seeds")
    header = (*course, "acc0", *NUMBERS, "friedman_rank", *spread)
    rows = [_fields(table, place) for table in tables for place in range(len(table.curves))]
    return csv_text(header, rows)


def courses_json(tables: Sequence[CourseTable]) -> str:
    """Every curve with its numbers, its seeds' own curves and the AUROC by level, as JSON."""
    listed = [
        {
            **asdict(table.key),
            "levels": table.levels,
            "learners": [
                {
                    "learner": curve.learner,
                    "seeds": curve.seeds,
                    "friedman_rank": float(rank),
                    "auroc": curve.auroc,
                    **asdict(curve.robustness),
                }
                for curve, rank in zip(table.curves, table.friedman, strict=True)
            ],
        }
        for table in tables
    ]
    return json.dumps({"courses": listed}, indent=1, ensure_ascii=False) + "\n"


def told(table: CourseTable) -> str:
    """What the numbers of the table are."""
    seeds = len(table.curves[0].seeds)
    means = "1 seed" if seeds == 1 else f"of the mean curve of {seeds} seeds"
    return (
        f"Percent; {means}. Higher is better: AUC area, WA worst, PA area above {table.yardstick}; lower: EVM total "
        f"variation, VS (10⁻²) variance of the slope, NA area below. ΔPN equals ΔAUC. Rank over "
        f"{len(table.levels)} levels."
    )


def _cells(table: CourseTable, place: int) -> list[str]:
    found = table.curves[place].robustness
    numbers = [signed(v) if (n.startswith("delta") and v is not None) else percent(v) for n, v in _numbers(found)]
    return [percent(found.accuracy[0]), *numbers, f"{table.friedman[place]:.2f}"]


def _numbers(found) -> list[tuple[str, float | None]]:
    return [(name, getattr(found, name)) for name in NUMBERS]


def _row(table: CourseTable, place: int, looks: dict[str, Look]) -> tuple[Cell, ...]:
    curve = table.curves[place]
    hints = ["", *(_spread(curve, name) for name in NUMBERS), ""]
    cells = [Cell(text, hint=hint) for text, hint in zip(_cells(table, place), hints, strict=True)]
    return (_named(curve, looks), *cells)


def _named(curve: Curve, looks: dict[str, Look]) -> Cell:
    return Cell(curve.learner, picture=swatch(looks[curve.learner]))


def _at_level(accuracy: float, auroc: float | None) -> Cell:
    return Cell(percent(accuracy), faint="" if auroc is None else percent(auroc))


def _spread(curve: Curve, name: str) -> str:
    spread = curve.robustness.spread(name)
    if spread.mean is None:
        return ""
    return f"{percent(spread.mean)} ± {percent(spread.std)} over the curves of {spread.n} seeds"


def _ranked(ranking: Ranking, learner: str) -> Cell:
    place = ranking.learners.index(learner)
    return Cell(f"{ranking.friedman[place]:.2f}", faint=f"{ranking.final[place]:g}")


def _tested(ranking: Ranking) -> str:
    test, difference = ranking.test, ranking.difference
    if test.value is None:
        return f"not made ({test.reason})"
    return f"p = {test.p_value:.2g}, critical difference of mean ranks {difference.value:.2f}"


def _fields(table: CourseTable, place: int) -> list:
    curve, key = table.curves[place], table.key
    found = curve.robustness
    spreads = [found.spread(name) for name in NUMBERS]
    return [
        *(key.scenario, key.dataset, key.domain, key.against, curve.learner, len(curve.seeds), found.accuracy[0]),
        *(value for _, value in _numbers(found)),
        float(table.friedman[place]),
        *(number for spread in spreads for number in (spread.mean, spread.std)),
    ]
