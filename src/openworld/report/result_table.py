"""A table of chosen metrics: learners, detectors or methods in rows, metrics in columns, for a paper or a README."""

from collections.abc import Mapping, Sequence
from typing import Any

from openworld.core.errors import OpenworldError, unknown_name
from openworld.report.table import Column, Row, Table, cell_of
from openworld.results import Result, Results
from openworld.results.requirements import titles
from openworld.results.results import Place

SHOWS = ("interval", "deviation", "")


def result_table(
    results: Results,
    metrics: Sequence[str],
    *,
    show: str = "interval",
    where: Mapping[str, Place] | None = None,
    label: str = "",
) -> Table:
    """Return a row per entity, and per place where there are several, with a column per metric."""
    if show not in SHOWS:
        raise OpenworldError(f"show is {show!r}, expected 'interval', 'deviation' or ''.")
    if isinstance(metrics, str) or not metrics:
        raise OpenworldError(f'metrics came as {metrics!r}, expected a list such as ["openworld_auc", "auroc"].')
    known = results.metrics()
    for metric in metrics:
        if metric not in known:
            raise unknown_name("metric of this run", metric, known)
    place: dict[str, Any] = dict(where or {})
    by_metric = [_by_place(results.where(metric=metric, **place)) for metric in metrics]
    places = _shared(by_metric)
    if not places:
        raise OpenworldError(f"the run has no {', '.join(metrics)} in {dict(where or {})}.")
    first = [next(by_place[place] for by_place in by_metric if place in by_place) for place in places]
    rows = tuple(
        Row(name, tuple(cell_of(by_place[place]) if place in by_place else None for by_place in by_metric))
        for name, place in zip(titles(first), places, strict=True)
    )
    what, intervals = "deviation" if show == "deviation" else "value", int(show == "interval")
    columns = tuple(Column(known[metric], show=what, intervals=intervals) for metric in metrics)
    best = "columns" if len({where for _, where in places}) == 1 else ""  # across places nothing is the best
    return Table(
        "results", f"Results of {results.evaluation}", _caption(show, by_metric, places), label, columns, rows, best
    )


def _caption(show: str, by_metric: Sequence[Mapping[tuple, Result]], places: Sequence[tuple]) -> str:
    """What stands behind the numbers."""
    values = [by_place[place].value for by_place in by_metric for place in places if place in by_place]
    if show == "deviation" and any(value.deviation is not None for value in values):
        return "± standard deviation over seeds."
    over = dict.fromkeys(value.intervals[0].over for value in values if value.intervals)
    return f"In brackets: the 95 % interval over {' or over '.join(over)}." if show == "interval" and over else ""


def _by_place(results: Results) -> dict[tuple, Result]:
    """The results of one metric by entity and place, without facts about data alone where there are others."""
    named = [row for row in results if row.entity] or results.rows
    return {(row.entity, frozenset(row.where.items())): row for row in named}


def _shared(by_metric: Sequence[Mapping[tuple, Result]]) -> list[tuple]:
    """The places to show: of those that every metric has the ones with the fewest names, else every metric's own."""
    shared = [place for place in by_metric[0] if all(place in by_place for by_place in by_metric)]
    if shared:
        return _fewest(shared)
    return list(dict.fromkeys(place for by_place in by_metric for place in _fewest(list(by_place))))


def _fewest(places: Sequence[tuple]) -> list[tuple]:
    least = min((len(place[1]) for place in places), default=0)
    return [place for place in places if len(place[1]) == least]
