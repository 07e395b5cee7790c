"""What the methods cost: seconds to fit on the source, and to estimate one condition, as the records' clocks say.

Every method is timed alone, as if no other had found a temperature or a transport before it. Training models and
letting them look at pictures is not in it; all methods share that.
"""

from dataclasses import dataclass

from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, ErrorTable
from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.report.grid import Cell, Column, Grid, Line
from openworld.report.text import milliseconds, percent


@dataclass(frozen=True)
class Spent:
    """Seconds of one method: to fit once, and to estimate one condition."""

    fit: float
    estimate: float


def spent(run: EstimateRun) -> dict[str, Spent]:
    """{method: Spent}, means over the models; of those whose times are known for every model."""
    found = {}
    stages = [_seconds(record.timing) for record in run.records]
    for label in run.labels:
        fits, estimates = ([one.get(stage, {}).get(label) for one in stages] for stage in ("fit", "estimate"))
        if stages and None not in fits + estimates:
            found[label] = Spent(sum(fits) / len(fits), sum(estimates) / len(estimates))
    return found


def times_grid(table: ErrorTable) -> Grid | None:
    """Methods by what they cost, beside their error."""
    found = spent(table.run)
    if not found:
        return None
    titles = ("mean error", "fit, ms", "one condition, ms", "× fastest")
    columns = (Column("method", words=True), *map(Column, titles))
    fastest = min(one.estimate for one in found.values())
    rows = tuple(Line(label, _cells(table, label, one, fastest)) for label, one in found.items())
    told = (
        f"Milliseconds on {_devices(table.run)}, every method alone, means over {len(table.run.models)} judged models: "
        "to fit on the labelled source set, and to estimate one condition, once models have looked at its pictures. "
        "× fastest: one condition against the fastest method."
    )
    return Grid("times", "What the methods cost", told, columns, rows)


def _cells(table: ErrorTable, label: str, one: Spent, fastest: float) -> tuple[Cell, ...]:
    error = table.cells[AVERAGE][label].mean
    ratio = one.estimate / fastest if fastest else None
    return (
        Cell(label),
        Cell(percent(error)),
        Cell(milliseconds(one.fit), f"{one.fit:.9f}"),
        Cell(milliseconds(one.estimate), f"{one.estimate:.9f}"),
        Cell("–") if ratio is None else Cell(f"{ratio:,.{1 if ratio < 9.95 else 0}f}", f"{ratio:.6f}"),
    )


def _seconds(timing: dict) -> dict:
    found = timing.get("seconds")
    return {stage: told for stage, told in found.items() if isinstance(told, dict)} if isinstance(found, dict) else {}


def _devices(run: EstimateRun) -> str:
    devices = sorted({str(record.timing.get("device", "an unknown device")) for record in run.records})
    return " and ".join(devices)
