"""Other mixes of base and new images as tables: for the page, the terminal, and as CSV."""

from collections.abc import Iterator, Sequence

from openworld import _terminal as terminal
from openworld._terminal import Head, TerminalTable
from openworld.evaluations.recognition.grids import tested
from openworld.evaluations.recognition.imbalance_summary import (
    SHRUNK,
    SWEPT,
    Imbalance,
    Shrunk,
    imbalance,
    ratios,
    variation,
)
from openworld.evaluations.recognition.summary import Row, Table
from openworld.report.data_files import csv_text
from openworld.report.grid import Cell, Column, Grid, Line, swatched
from openworld.report.series_style import Look
from openworld.report.text import bracketed, percent

SHORT = {"forward": "Fwd", "backward": "Bwd"}
DRAW = "± of one draw"
HEADER = ("setting", "learner", "mix", "base_images", "new_images", "draws", "openworld_auc", "images_low")
HEADER += ("images_high", "deviation_of_one_draw", "overall_accuracy")


def imbalance_grid(table: Table, looks: dict[str, Look], name: str) -> Grid | None:
    """Both directions beside the natural mix, with intervals, and tests in words; None where no record holds them."""
    found = _both(table)
    if found is None:
        return None
    columns = [Column("learner", words=True), *map(Column, _titles())]
    if len(table.rows) > 1:
        columns += [Column(f"{name} against {_yardstick(table).learner}", words=True) for name in SHORT.values()]
    rows = tuple(
        Line(row.learner, (swatched(row.learner, looks), *_cells(row, place, found), *_tests(table, row, found)))
        for place, row in enumerate(table.rows)
    )
    return Grid(name, f"{table.title}, imbalanced mixtures", _caption(table, found), tuple(columns), rows)


def variation_grid(table: Table, looks: dict[str, Look], name: str) -> Grid | None:
    """Mean and variance of every number over the ratios of the sweep; None where no record holds them."""
    found = {row.learner: variation(row) for row in table.rows}
    if not all(found.values()):
        return None
    columns = (Column("learner", words=True), *(Column(title) for title in SWEPT.values()))
    rows = tuple(
        Line(learner, (swatched(learner, looks), *map(_varied, told.values()))) for learner, told in found.items()
    )
    caption = (
        f"Percent; means over {len(ratios(table))} ratios of new to base images, the natural one times "
        f"{', '.join(f'{ratio:g}' for ratio in ratios(table))}. var: sample variance over the ratios in one draw, "
        f"squared points. Both are averaged over {_draws(table)} draws and the seeds. A number that measures the "
        "learner and not the mix varies little."
    )
    return Grid(name, f"{table.title}, over all ratios", caption, columns, rows)


def terminal_mixes(table: Table) -> TerminalTable | None:
    """The grid of both directions for a terminal, or None."""
    found = _both(table)
    if found is None:
        return None
    rows = [
        (row.learner, *(f"{cell.text} {cell.faint}".strip() for cell in _cells(row, place, found)))
        for place, row in enumerate(table.rows)
    ]
    return TerminalTable((terminal.name("learner"), *map(Head, _titles())), rows, _caption(table, found))


def mixes_csv(tables: Sequence[Table]) -> str:
    """Every number of the natural mix and both directions: fractions, one line per learner and mix."""
    return csv_text(HEADER, [line for table in tables for line in _lines(table)])


def variation_csv(tables: Sequence[Table]) -> str:
    """Mean (a fraction) and variance (its square) of every number over the ratios, one line per learner."""
    rows = [(table, row, variation(row)) for table in tables for row in table.rows]
    header = ("setting", "learner", *(f"{name}_{of}" for name in SWEPT for of in ("mean", "variance")))
    return csv_text(
        header,
        [
            (table.title, row.learner, *(cell for pair in told.values() for cell in pair))
            for table, row, told in rows
            if told
        ],
    )


def _both(table: Table) -> dict[str, Imbalance] | None:
    found = {direction: imbalance(table, direction) for direction in SHRUNK}
    return None if None in found.values() else found


def _titles() -> list[str]:
    shrunk = [title for name in SHORT.values() for title in (name, DRAW)]
    return ["as given", *shrunk, "overall accuracy", *(f"its {name}" for name in SHORT.values())]


def _cells(row: Row, place: int, found: dict[str, Imbalance]) -> Iterator[Cell]:
    yield Cell(percent(row.openworld_auc), faint=bracketed(row.over_images), css="stacked")
    for one in (found[direction].learners[place] for direction in SHRUNK):
        yield Cell(percent(one.openworld_auc), faint=bracketed(one.over_images), css="stacked")
        yield Cell("–" if one.deviation is None else percent(one.deviation))
    yield Cell(percent(row.mean["overall_accuracy"]))
    for direction in SHRUNK:
        yield Cell(percent(found[direction].learners[place].overall_accuracy))


def _tests(table: Table, row: Row, found: dict[str, Imbalance]) -> list[Cell]:
    if len(table.rows) == 1:
        return []
    return [tested(one.compare(row.learner, _yardstick(table).learner)) for one in found.values()]


def _yardstick(table: Table) -> Row:
    return table.yardstick or table.best


def _varied(pair: tuple[float | None, float | None]) -> Cell:
    """In percent and squared points."""
    mean, variance = pair
    return Cell(percent(mean), faint="" if variance is None else f"var {1e4 * variance:.2f}")


def _caption(table: Table, found: dict[str, Imbalance]) -> str:
    counts, one = table.counts, found["forward"]
    kept = "; ".join(
        f"{SHORT[name]}: every {mix.side} class keeps one image in {mix.factor:g}, at least one ({mix.n_base} base, "
        f"{mix.n_new} new)"
        for name, mix in found.items()
    )
    clustered = f", clustered by {table.group_name} (n = {counts['groups']})" if table.group_name else ""
    draws = f"means of {one.resamples} draws" if one.resamples > 1 else "one draw"
    seeds = f"{counts['seeds']} seeds" if counts["seeds"] > 1 else "1 seed"
    pairs = len(one.comparisons)
    corrected = f"; p after Holm over {pairs} pairs in each mix" if pairs > 1 else ""
    return (
        f"OpenworldAUC, percent, as given ({counts['base_images']} base, {counts['new_images']} new images) and with "
        f"one half shrunk. {kept}; {draws} and of {seeds}. {DRAW}: its standard deviation. [95 % over "
        f"images{clustered}, given the seeds, of the mean over all draws]{corrected}. Overall accuracy, among all "
        "names, follows the mix."
    )


def _draws(table: Table) -> int:
    return table.rows[0].outcomes[0].metrics["ratio_sweep"][0]["resamples"]


def _lines(table: Table) -> Iterator[tuple]:
    found, counts = _both(table), table.counts
    for place, row in enumerate(table.rows if found else ()):
        natural = Shrunk(row.learner, row.openworld_auc, row.over_images, None, row.mean["overall_accuracy"])
        yield _line(table, "as given", (counts["base_images"], counts["new_images"], ""), natural)
        for direction, mix in found.items():
            yield _line(table, direction, (mix.n_base, mix.n_new, mix.resamples), mix.learners[place])


def _line(table: Table, mix: str, counts: tuple, one: Shrunk) -> tuple:
    low, high = one.over_images or (None, None)
    fractions = (one.openworld_auc, low, high, one.deviation, one.overall_accuracy)
    return (table.title, one.learner, mix, *counts, *fractions)
