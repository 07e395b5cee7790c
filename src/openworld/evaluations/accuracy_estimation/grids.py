"""The tables of errors on the page: methods by lines with tests, the paper's layout, every shift, and what was judged.

Whatever else shows such a table (Markdown, LaTeX) reads it from the same grids.
"""

from collections.abc import Sequence

import numpy as np

from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, Errors, ErrorTable
from openworld.evaluations.accuracy_estimation.run import Condition
from openworld.evaluations.accuracy_estimation.wording import BIAS, SPREAD, caption, hint, pooled, spread, starred
from openworld.report.comparison import Comparison
from openworld.report.grid import Cell, Column, Grid, Line
from openworld.report.marks import swatch, whisker
from openworld.report.series_style import Look
from openworld.report.text import bracketed, percent, signed

Looks = dict[str, Look]


def overview_grid(table: ErrorTable, looks: Looks) -> Grid:
    """Methods by lines, their average with interval, bias, how often they are best, and the test against AC."""
    several = len(table.rows) > 1
    average = AVERAGE if several else table.rows[0]
    titles = [*table.rows] if several else []
    titles += [average.lower() if several else average, "95 %", "bias", *["best in"] * several]
    columns = (Column("method", words=True), *map(Column, titles), *_test_column(table))
    rows = tuple(Line(label, _across(table, label, looks)) for label in table.labels)
    told = f"{caption(table)} {SPREAD}. The smallest of every column in bold; pointing at a cell tells more."
    return Grid("overview", "Mean absolute error of every method", told, columns, rows)


def paper_grid(table: ErrorTable) -> Grid:
    """Lines by methods, as FRAP's Table 1."""
    columns = (Column("", words=True), *map(Column, table.labels))
    rows = tuple(Line("", (Cell(line), *(_cell(table, line, label) for label in table.labels))) for line in table.lines)
    told = f"Mean absolute error, points; {pooled(table.run)}. {SPREAD}. The smallest of every line in bold."
    return Grid("paper", "The same as the paper lays it out: lines by methods", told, columns, rows)


def bias_grid(table: ErrorTable, looks: Looks) -> Grid:
    """Bias, median, largest error and number of estimates in every line; what intervals hold, where there are any."""
    parts = ("bias", "median", "worst", "n")
    with_intervals = bool(np.isfinite(table.run.low).any())
    columns = (Column("method", words=True), *(Column(f"{line}: {part}") for line in table.lines for part in parts))
    columns += (Column("intervals that hold the truth"), Column("their width")) if with_intervals else ()
    rows = []
    for label in table.labels:
        cells = [cell for line in table.lines for cell in _parts(table.cells[line][label])]
        rows.append(Line(label, (named(label, looks), *cells, *(_held(table, label) if with_intervals else ()))))
    told = f"{BIAS}, points; median and largest absolute error, points; n: estimates given (of those asked for)."
    told += " Intervals of single estimates: share that holds the true accuracy, mean width in points." * with_intervals
    return Grid("bias", "Bias, median, largest error, number of estimates", told, columns, tuple(rows))


def shifts_grid(table: ErrorTable) -> Grid:
    """Mean absolute error of every method under every shift, severities, models, checkpoints and seeds pooled."""
    run = table.run
    shifts = list(dict.fromkeys((one.row, one.shift) for one in run.conditions))
    columns = (Column("shift", words=True), Column("true accuracy"), *map(Column, table.labels))
    rows = tuple(Line("", _of_shift(table, [_is(one, shift) for one in run.conditions], shift)) for shift in shifts)
    told = "Mean absolute error under every shift, points, severities and models pooled; the smallest in bold."
    return Grid("shifts", "Every shift", told, columns, rows)


def models_grid(table: ErrorTable) -> Grid:
    """What was judged: source accuracy, temperature and calibration, and the true accuracy in every line."""
    run = table.run
    titles = ("seeds", "source accuracy", "temperature", "source ECE", "scaled", *table.rows)
    columns = (Column("model", words=True), *map(Column, titles))
    models = list(dict.fromkeys(model.title for model in run.models))
    rows = tuple(Line("", _of_model(table, title)) for title in models)
    told = (
        "The judged models, means over their seeds: accuracy on the labelled source pictures, the temperature fitted "
        "there, its calibration error (15 bins) before and after scaling, and the true accuracy over the conditions of "
        "every line; percent."
    )
    return Grid("models", "The judged models", told, columns, rows)


def named(label: str, looks: Looks) -> Cell:
    """The first cell of a method's row, with its mark where it has one."""
    return Cell(label, picture=swatch(looks[label])) if label in looks else Cell(label)


def starred_cell(errors: Errors, *, leads: bool = False, hint: str = "") -> Cell:
    """A mean error, with a star where some estimates are missing; bold where it leads."""
    if errors.mean is None:
        return Cell("–", hint=hint)
    return Cell(starred(errors), f"{errors.mean:.6f}", css="leads" if leads and errors.whole else "", hint=hint)


def verdict_cell(test: Comparison | None) -> Cell:
    """The difference in mean error and the verdict on it, sorted by the difference; below 0 = errs less."""
    if test is None:
        return Cell("–", css="words")
    if test.p is None:
        return Cell("not tested", "", test.reason or "", "words")
    return Cell(signed(-test.difference), f"{-test.difference:.6f}", test.short_words, "words")


def _test_column(table: ErrorTable) -> tuple[Column, ...]:
    return (Column(f"against {table.run.yardstick}", words=True),) if len(table.labels) > 1 else ()


def _across(table: ErrorTable, label: str, looks: Looks) -> tuple[Cell, ...]:
    several = len(table.rows) > 1
    lines = [_cell(table, row, label, tested=True) for row in table.rows] if several else []
    errors = table.cells[AVERAGE][label] if several else table.cells[table.rows[0]][label]
    main = Cell(starred(errors), css=_lead(table, AVERAGE, label) + " headline", hint=hint(errors))
    plot = whisker(errors.mean, errors.interval, looks[label], _span(table)) if label in looks else ""
    width = "" if errors.interval is None else f"{errors.interval[1] - errors.interval[0]:.6f}"
    interval = Cell("", width, bracketed(errors.interval) or "–", "stacked", picture=plot)
    bias = Cell("–") if errors.bias is None else Cell(signed(errors.bias), f"{errors.bias:.6f}")
    firsts = [Cell(str(table.firsts(label)))] if several else []
    test = [verdict_cell(table.tests[AVERAGE].get(label))] if len(table.labels) > 1 else []
    return (named(label, looks), *lines, main, interval, bias, *firsts, *test)


def _cell(table: ErrorTable, line: str, label: str, *, tested: bool = False) -> Cell:
    errors = table.cells[line][label]
    if errors.mean is None:
        return Cell("–", hint=hint(errors))
    told = hint(errors)
    test = table.tests[line].get(label) if tested else None
    if test is not None and test.p is not None:
        told += f" · against {table.run.yardstick}: {test.short_words}"
    css = f"{_lead(table, line, label)} under".strip()
    return Cell(starred(errors), f"{errors.mean:.6f}", spread(errors), css, hint=told)


def _lead(table: ErrorTable, line: str, label: str) -> str:
    return "leads" if label in table.best[line] and len(table.labels) > 1 else ""


def _span(table: ErrorTable) -> tuple[float, float]:
    """The range of the little interval plots."""
    cells = table.cells[AVERAGE].values()
    ends = [end for one in cells if one.mean is not None for end in (one.mean, *(one.interval or ()))]
    return (min(ends), max(ends)) if ends and max(ends) > min(ends) else (0.0, 1.0)


def _parts(errors: Errors) -> Sequence[Cell]:
    number = str(errors.count) if errors.whole else f"{errors.count} of {errors.asked}"
    bias = Cell("–") if errors.bias is None else Cell(signed(errors.bias), f"{errors.bias:.6f}")
    return (bias, Cell(percent(errors.median)), Cell(percent(errors.worst)), Cell(number, str(errors.count)))


def _held(table: ErrorTable, label: str) -> tuple[Cell, Cell]:
    """The share of a method's intervals that hold the true accuracy, and their mean width."""
    run, place = table.run, table.labels.index(label)
    low, high = run.low[place], run.high[place]
    known = np.isfinite(low) & np.isfinite(high) & np.isfinite(run.accuracy)
    if not known.any():
        return Cell("–"), Cell("–")
    held = (low <= run.accuracy) & (run.accuracy <= high)
    share, width = float(held[known].mean()), float((high - low)[known].mean())
    return Cell(f"{100 * share:.0f}\u00a0%", f"{share:.6f}"), Cell(percent(width), f"{width:.6f}")


def _is(condition: Condition, shift: tuple[str, str]) -> bool:
    return (condition.row, condition.shift) == shift


def _of_shift(table: ErrorTable, chosen: Sequence[bool], shift: tuple[str, str]) -> tuple[Cell, ...]:
    run, chosen = table.run, np.array(chosen)
    means = {label: _mean(np.abs(run.off[place][:, chosen])) for place, label in enumerate(run.labels)}
    asked = np.isfinite(run.accuracy[:, chosen])
    whole = {label for place, label in enumerate(run.labels) if np.isfinite(run.off[place][:, chosen][asked]).all()}
    smallest = min((mean for label, mean in means.items() if label in whole), default=None)
    cells = [
        Cell(
            percent(mean) + "*" * (mean is not None and label not in whole),
            css="leads" if label in whole and mean == smallest and len(means) > 1 else "",
        )
        for label, mean in means.items()
    ]
    names = {condition.name for condition, mine in zip(run.conditions, chosen, strict=True) if mine}
    name = names.pop() if len(names) == 1 else shift[1].replace("_", " ")
    return (Cell(name, faint=shift[0]), Cell(percent(_mean(run.accuracy[:, chosen]))), *cells)


def _of_model(table: ErrorTable, title: str) -> tuple[Cell, ...]:
    run = table.run
    places = [place for place, model in enumerate(run.models) if model.title == title]
    sources = [run.told[place]["source"] for place in places]
    ece = [source.get("ece") or {} for source in sources]
    temperature = _mean_of([source.get("temperature") for source in sources])
    numbers = [_mean_of([one["accuracy"] for one in sources])]
    numbers += [_mean_of([one.get(kind) for one in ece]) for kind in ("raw", "scaled")]
    rows = [_mean(run.accuracy[places][:, run.of_row(row)]) for row in table.rows]
    accuracy, *calibration = map(percent, numbers)
    told = (" ".join(str(run.models[place].seed) for place in places), accuracy)
    scale = "–" if temperature is None else f"{temperature:.2f}"
    return tuple(map(Cell, (title, *told, scale, *calibration, *map(percent, rows))))


def _mean(values: np.ndarray) -> float | None:
    """Mean of the numbers that are there."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None


def _mean_of(values: Sequence[float | None]) -> float | None:
    return None if None in values or not values else float(np.mean(values))
