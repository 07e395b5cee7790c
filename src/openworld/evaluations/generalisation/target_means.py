"""How far what was tuned carries: the targets of one kind side by side, and the mean over them with its tests.

The source is no target of its own: it is what the targets are held against. Images that targets share, such as the
source's base images beside the new classes of several data sets, count once in the interval of the mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from openworld.evaluations.recognition.comparison import average_over_seeds
from openworld.evaluations.recognition.summary import NUMBERS, Row, Summary, Table
from openworld.metrics import Estimate, holm, mean_over_sets, paired_test, seed_interval
from openworld.report.comparison import Comparison

KINDS = {"variant": "domain generalisation", "other": "cross-data-set generalisation"}
"""Kind of target -> what scoring there is called."""

_COUNTED = {"variant": ("variant", "variants"), "other": ("other data set", "other data sets")}


@dataclass(frozen=True, eq=False)
class Reach:
    """The targets of one kind.

    Args:
        kind: a key of KINDS.
        source: the table of what was tuned on.
        targets: the tables of the targets, in the order of the run.
        mean: a table whose numbers are means over the targets; its intervals and tests are of these means, and its
            outcomes those of the first target.
    """

    kind: str
    source: Table
    targets: tuple[Table, ...]
    mean: Table

    @property
    def heading(self) -> str:
        """What scoring on these targets is called."""
        return KINDS[self.kind]

    @property
    def counted(self) -> str:
        """How many targets there are.

        >>> Reach("other", None, (None, None), None).counted
        '2 other data sets'
        """
        return _counted(self.kind, self.targets)

    @property
    def left_out(self) -> dict[str, list[str]]:
        """Title of a target -> its classes that are base classes of the source, where there are any."""
        told = {table.title: _facts(table).get("left_out") for table in self.targets}
        return {title: names for title, names in told.items() if names}

    @property
    def by_wordnet(self) -> bool:
        """Whether classes were compared with the source's by their names in WordNet, too."""
        return bool(_facts(self.source).get("wordnet"))


def reaches(summary: Summary) -> tuple[Reach, ...]:
    """Every kind of target of a run of generalisation; () for any other run, and where learners lack targets."""
    by_kind: dict[str, list[Table]] = {}
    for table in summary.tables:
        by_kind.setdefault(_facts(table).get("kind"), []).append(table)
    sources = by_kind.get("source", [])
    kinds = [kind for kind in KINDS if kind in by_kind]
    whole = [table for kind in kinds for table in by_kind[kind] if _learners(table) == summary.learners]
    if len(sources) != 1 or len(whole) < sum(len(by_kind[kind]) for kind in kinds):
        return ()
    return tuple(Reach(kind, sources[0], tuple(by_kind[kind]), _mean(kind, by_kind[kind])) for kind in kinds)


def _counted(kind: str, tables: Sequence[Table]) -> str:
    return f"{len(tables)} {_COUNTED[kind][len(tables) > 1]}"


def _facts(table: Table) -> Mapping:
    return table.rows[0].outcomes[0].metrics


def _learners(table: Table) -> tuple[str, ...]:
    return tuple(row.learner for row in table.rows)


def _mean(kind: str, tables: Sequence[Table]) -> Table:
    title = f"average over {_counted(kind, tables)}" if len(tables) > 1 else tables[0].title
    groups = _groups(tables)
    estimates = {row.learner: _estimate(tables, row.learner, groups) for row in tables[0].rows}
    rows = tuple(_row(tables, learner, estimate) for learner, estimate in estimates.items())
    return Table(tables[0].setting, title, rows, _tests(estimates))


def _estimate(tables: Sequence[Table], learner: str, groups) -> Estimate | None:
    """The mean over targets of the means over seeds; None where seeds were scored on different images."""
    averages = [average_over_seeds(_row_of(table, learner).outcomes) for table in tables]
    return None if None in averages else mean_over_sets(averages, groups)


def _groups(tables: Sequence[Table]) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each target the groups of its base and new images, numbered over all; shared base images keep theirs."""
    numbered, beyond = [], 1 + max(int(side.max(initial=0)) for table in tables for side in _first(table).groups)
    for place, table in enumerate(tables, 1):
        base, new = _first(table).groups
        shared = _facts(table)["kind"] == "other"
        numbered.append((base if shared else base + place * beyond, new + place * beyond))
    return numbered


def _first(table: Table):
    return table.rows[0].outcomes[0]


def _row_of(table: Table, learner: str) -> Row:
    return next(row for row in table.rows if row.learner == learner)


def _row(tables: Sequence[Table], learner: str, estimate: Estimate | None) -> Row:
    rows = [_row_of(table, learner) for table in tables]
    numbers = {name: _average([row.mean[name] for row in rows]) for name in NUMBERS}
    losses = {loss: _average([row.points_lost.get(loss) for row in rows]) for loss in rows[0].points_lost}
    return replace(
        rows[0],
        openworld_auc=_average([row.openworld_auc for row in rows]),
        over_images=None if estimate is None or estimate.value is None else estimate.interval(),
        over_seeds=_over_seeds(rows),
        mean=numbers,
        harmonic_mean_of_means=_average([row.harmonic_mean_of_means for row in rows]),
        points_lost={} if None in losses.values() else losses,
        hit_rates=(),
        ratio_sweep=(),
    )


def _over_seeds(rows: Sequence[Row]) -> tuple[float, float] | None:
    """Student's t over the seeds' own means; None where they are not known for the same seeds at every target."""
    values = [row.per_seed["openworld_auc"] for row in rows]
    if any(row.seeds != rows[0].seeds for row in rows) or any(value is None for one in values for value in one):
        return None
    found = seed_interval(np.mean(values, axis=0).tolist())
    return None if found.low is None else (found.low, found.high)


def _average(values: Sequence[float | None]) -> float | None:
    return None if None in values else float(np.mean(values))


def _tests(estimates: Mapping[str, Estimate | None]) -> dict[tuple[str, str], Comparison]:
    """All pairs of learners by their means over the targets, corrected together (Holm, 1979)."""
    tests = [_test(one, other, estimates) for one, other in combinations(estimates, 2)]
    corrected = holm([test.p for test in tests])
    return {(test.learner, test.other): replace(test, p=p) for test, p in zip(tests, corrected, strict=True)}


def _test(one: str, other: str, estimates: Mapping[str, Estimate | None]) -> Comparison:
    if estimates[one] is None or estimates[other] is None:
        return Comparison(one, other, None, None, "their seeds were not scored on the same images")
    found = paired_test(estimates[one], estimates[other])
    return Comparison(one, other, found.difference, found.p_value, found.reason)
