"""The results of an OOD benchmark: numbers of every detector of every model, means over seeds, and tests.

Of one seed a number has its interval over images. Of several it is their mean; the ends of the intervals over images
are averaged, and there is one over seeds. Tests are over images where there is one seed, else over seeds.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets.formats.decoding import decode
from openworld.evaluations.ood_benchmark.record import OODBenchmarkRecord
from openworld.evaluations.rows import read_rows
from openworld.metrics import seeds_test
from openworld.results import (
    METRICS,
    Comparison,
    Result,
    Results,
    RunFolder,
    comparison_of,
    correct_for_many,
    join_seeds,
)
from openworld.results.detection_results import detection_tests
from openworld.results.join import mean_ends
from openworld.results.scored_sets import (
    OTHER_CLASSES,
    SCORE_COLUMN,
    ScoredSets,
    SetScores,
    stream_column,
    with_streams,
)
from openworld.results.standing import SAME_DIGITS
from openworld.runs import Record


@dataclass(frozen=True, eq=False)
class BenchmarkFacts:
    """The records of a run, models in the order of its spec and their seeds in increasing order."""

    records: tuple[OODBenchmarkRecord, ...]
    outputs: tuple[Record, ...]

    @classmethod
    def read(cls, run: RunFolder) -> "BenchmarkFacts":
        """The facts of a run."""
        order = [model.get("label") for model in (run.resolved or {}).get("models", ())]
        pairs = list(zip(run.metrics(OODBenchmarkRecord), run.records, strict=True))
        order += [record.model for record, _ in pairs]
        pairs.sort(key=lambda pair: (order.index(pair[0].model), pair[0].seed))
        records, outputs = zip(*pairs, strict=True)
        return cls(records, outputs)

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models."""
        return tuple(dict.fromkeys(record.model for record in self.records))

    @property
    def seeds(self) -> tuple[int, ...]:
        """All seeds."""
        return tuple(sorted({record.seed for record in self.records}))

    def title(self, model: str, detector: str) -> str:
        """A detector, with its model where there are several."""
        return f"{detector} of {model}" if len(self.models) > 1 else detector

    @cached_property
    def sets(self) -> ScoredSets:
        """The scores of all models, of the first seed of each."""
        first = {record.model: place for place, record in reversed(list(enumerate(self.records)))}
        parts: dict[str, dict[str, np.ndarray]] = {}
        tables = {model: self.outputs[place].table("images") for model, place in first.items()}
        common = next(iter(tables.values()))
        names = common["set"].astype(str)
        for model, table in tables.items():
            if len(table["set"]) != len(names) or (table["image"] != common["image"]).any():
                raise OpenworldError("the models of this run could read different images; report them apart.")
            parts |= {
                self.title(model, column.removeprefix(SCORE_COLUMN)): table[column]
                for column in table
                if column.startswith(SCORE_COLUMN)
            }
        made = []
        for number, name in enumerate(dict.fromkeys(names.tolist())):
            rows = np.flatnonzero(names == name)
            own = {title: np.asarray(values)[rows] for title, values in parts.items()}
            group, clusters = str(common["group"][rows[0]]), common["cluster"][rows].astype(str)
            made.append(SetScores(name, group, own, common["image"][rows], clusters, self._reader(number)))
        count = len(made[0])
        streams = {
            stream_column(self.title(model, label), each.name): table[stream_column(label, each.name)][:count]
            for model, table in tables.items()
            for label in (column.removeprefix(SCORE_COLUMN) for column in table if column.startswith(SCORE_COLUMN))
            for each in made[1:]
            if stream_column(label, each.name) in table
        }
        return ScoredSets(made[0], with_streams(made[1:], streams))

    def _reader(self, number: int):
        def read(place: int):
            name = f"pictures/{number}/{place}.png"
            for output in self.outputs:
                if name in output.attachments:
                    return decode(io.BytesIO(output.attachment(name)), name)
            raise OpenworldError(f"no image of {name} is kept.")

        return read


def read_results(run: RunFolder) -> tuple[Results, BenchmarkFacts]:
    """Return every number of a run and the tests, and what its records have in common."""
    facts = BenchmarkFacts.read(run)
    units = [[_titled(row, record, facts) for row in read_rows(output)]
             for record, output in zip(facts.records, facts.outputs, strict=True)]  # fmt: skip
    rows = join_seeds(units, mean_ends(row for unit in units for row in unit))
    tests = detection_tests(facts.sets) if len(facts.seeds) == 1 else tuple(_seed_tests(rows))
    return Results("ood-benchmark", rows, tests), facts


def _titled(row: Result, record: OODBenchmarkRecord, facts: BenchmarkFacts) -> Result:
    """A row of a unit, its detector with the model where the run has several."""
    if not row.entity or row.metric == METRICS["accuracy"]:
        return row
    return replace(row, entity=facts.title(record.model, row.entity))


def _seed_tests(rows: Sequence[Result]) -> Iterator[Comparison]:
    """Yield the best detector of every place against the others over seeds; what has one seed is the same in each."""
    places: dict[tuple, list[Result]] = {}
    for row in rows:
        if row.metric.key == "auroc" and row.where["group"] in OTHER_CLASSES and row.value.value is not None:
            places.setdefault(tuple(row.where.items()), []).append(row)
    for where, found in places.items():
        count = max(len(row.seeds) for row in found)
        best, *others = sorted(found, key=lambda row: -round(row.value.value, SAME_DIGITS))
        tests = (
            comparison_of(
                best.entity,
                other.entity,
                METRICS["auroc"],
                seeds_test(_per_seed(best, count), _per_seed(other, count)),
                over="seeds",
                where=dict(where),
            )
            for other in others
        )
        yield from correct_for_many(tests, among=comb(len(found), 2))


def _per_seed(row: Result, count: int) -> list[float]:
    return list(row.per_seed) if len(row.per_seed) == count else [row.value.value] * count
