"""What the parts of FRAP are good for: with and without threshold, and how the reference is used (Tables 3, 4, 6, 7).

Read off the settings of the methods that a run was asked for, whatever their labels; tables that a run has no methods
for are not made.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openworld.evaluations.accuracy_estimation.grids import starred_cell
from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, ErrorTable
from openworld.evaluations.accuracy_estimation.run import Method
from openworld.report.grid import Cell, Column, Grid, Line
from openworld.report.text import percent, signed

USES = ("answers taken for labels", "raw (RAP)")  # what comes before fixed temperatures and TTC
_DEFAULTS: Mapping[str, Any] = {
    "tau": "dynamic",
    "tau_source": "own",
    "reference": "fused",
    "rule": "midpoint",
    "weighting": "linear",
    "fusion": "arithmetic",
    "calibrate": True,
}


@dataclass(frozen=True)
class Pair:
    """Two methods that differ in having a threshold alone."""

    with_threshold: str
    without: str


def threshold_pairs(methods: tuple[Method, ...]) -> tuple[Pair, ...]:
    """Methods that were asked for with and without threshold."""
    pairs = []
    for bare in methods:
        if "rule" not in bare.settings or bare.settings["rule"] is not None:
            continue
        twins = [one for one in methods if _without_rule(one) == _without_rule(bare) and one is not bare]
        pairs += [Pair(twin.label, bare.label) for twin in twins if twin.settings.get("rule", "midpoint") is not None]
    return tuple(pairs)


def threshold_grid(table: ErrorTable) -> Grid | None:
    """Lines by methods with and without threshold, and what leaving it out costs."""
    pairs = threshold_pairs(table.run.methods)
    if not pairs:
        return None
    columns = [Column("", words=True)]
    for pair in pairs:
        columns += [Column(pair.with_threshold), Column(pair.without), Column("without − with")]
    rows = tuple(
        Line("", (Cell(line), *(cell for pair in pairs for cell in _pair_cells(table, line, pair))))
        for line in table.lines
    )
    told = (
        "Mean absolute error with and without threshold, points, the smaller in bold; without it the mean score itself "
        "is the estimated accuracy (FRAP, section 5.4 and Table 6)."
    )
    return Grid("threshold", "With and without threshold", told, tuple(columns), rows)


def threshold_verdict(table: ErrorTable) -> tuple[str, ...]:
    """A sentence per pair: in how many lines the threshold pays."""
    told = []
    for pair in threshold_pairs(table.run.methods):
        cells = [(table.cells[line][pair.with_threshold], table.cells[line][pair.without]) for line in table.rows]
        known = [(one.mean, other.mean) for one, other in cells if None not in (one.mean, other.mean)]
        worse = sum(bare > cut for cut, bare in known)
        means = [table.cells[AVERAGE][label].mean for label in (pair.with_threshold, pair.without)]
        average = "" if None in means else f", on average {percent(means[1])} against {percent(means[0])}"
        told.append(
            f"Without threshold {pair.with_threshold} errs more in {worse} of {len(known)} "
            f"line{'s' * (len(known) > 1)}{average}."
        )
    return tuple(told)


def reference_uses(methods: tuple[Method, ...]) -> dict[str, dict[str, str]]:
    """{reference: {how it is used: label}} of FRAP and RAP with everything else at its default."""
    found: dict[str, dict[str, str]] = {}
    for method in methods:
        use = _use(method)
        if method.reference is not None and use is not None:
            found.setdefault(method.reference, {}).setdefault(use, method.label)
    return found


def reference_grid(table: ErrorTable) -> Grid | None:
    """References by how they are used: mean absolute error, the average over the lines (FRAP's Tables 3 and 4)."""
    uses = reference_uses(table.run.methods)
    if sum(map(len, uses.values())) < 2:
        return None
    known = dict.fromkeys(use for by_use in uses.values() for use in by_use)
    ordered = sorted(known, key=lambda use: (use == "TTC", use not in USES, use))
    columns = (Column("reference", words=True), *map(Column, ordered))
    rows = tuple(Line("", (Cell(name), *_use_cells(table, by_use, ordered))) for name, by_use in uses.items())
    average = f", {AVERAGE.lower()} of {len(table.rows)} lines" if len(table.rows) > 1 else f", {table.rows[0]}"
    told = (
        f"Mean absolute error{average}, points; the smallest of a reference in bold; pointing at a cell tells more. "
        "Answers taken for labels: the share of pictures on which the reference names another class. Raw: its "
        "similarities as they are, not fused. τ: fused at a fixed temperature. TTC: fused at the temperature found on "
        "the unlabelled pictures."
    )
    return Grid("references", "How the reference is used", told, columns, rows)


def _without_rule(method: Method) -> tuple:
    rest = {name: value for name, value in {**_DEFAULTS, **method.settings}.items() if name != "rule"}
    return method.estimator, method.reference, tuple(sorted((name, str(value)) for name, value in rest.items()))


def _use(method: Method) -> str | None:
    """How FRAP or RAP uses its reference; None where another setting was changed too."""
    changed = {name: value for name, value in method.settings.items() if value != _DEFAULTS.get(name)}
    if method.estimator == "RAP":
        return None if changed else USES[1]
    if method.estimator != "FRAP":
        return None
    if changed == {"reference": "pseudo-labels"}:
        return USES[0]
    if not changed:
        return "TTC"
    return f"τ = {changed['tau']:g}" if set(changed) == {"tau"} else None


def _pair_cells(table: ErrorTable, line: str, pair: Pair) -> list[Cell]:
    one, other = (table.cells[line][label] for label in (pair.with_threshold, pair.without))
    if None in (one.mean, other.mean):
        return [starred_cell(one), starred_cell(other), Cell("–")]
    cost = other.mean - one.mean
    return [starred_cell(one, leads=cost > 0), starred_cell(other, leads=cost < 0), Cell(signed(cost), f"{cost:.6f}")]


def _use_cells(table: ErrorTable, by_use: Mapping[str, str], ordered) -> list[Cell]:
    means = [table.cells[AVERAGE][label].mean for label in by_use.values()]
    least = min((mean for mean in means if mean is not None), default=None)
    cells = []
    for use in ordered:
        if use not in by_use:
            cells.append(Cell("–"))
            continue
        errors = table.cells[AVERAGE][by_use[use]]
        leads = errors.mean == least is not None and len(by_use) > 1
        told = " · ".join(f"{row} {percent(table.cells[row][by_use[use]].mean)}" for row in table.rows)
        cells.append(starred_cell(errors, leads=leads, hint=f"{by_use[use]}: {told}"))
    return cells
