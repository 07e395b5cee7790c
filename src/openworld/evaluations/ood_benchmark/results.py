"""The results of an OOD benchmark: numbers of every detector of every model, means over seeds, and tests.

Of one seed a number has its interval over images. Of several it is their mean; the ends of the intervals over images
are averaged, and there is one over seeds. Tests are over images where there is one seed, else over seeds.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets.formats.decoding import decode
from openworld.evaluations.ood_benchmark.record import DetectorNumber, OODBenchmarkRecord
from openworld.metrics import seeds_test
from openworld.results import (
    METRICS,
    Comparison,
    Interval,
    Result,
    Results,
    RunFolder,
    Value,
    comparison_of,
    correct_for_many,
    over_seeds,
)
from openworld.results.detection_results import SHIFT_SEEN, detection_tests
from openworld.results.scored_sets import (
    OTHER_CLASSES,
    SCORE_COLUMN,
    ScoredSets,
    SetScores,
    stream_column,
    with_streams,
)
from openworld.results.settings_search import SettingsSearch, search_results
from openworld.results.standing import SAME_DIGITS
from openworld.runs import Record

_METRICS = METRICS | {SHIFT_SEEN.key: SHIFT_SEEN}


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

    def searches(self, record: OODBenchmarkRecord) -> list[SettingsSearch]:
        """What was searched for a record, its detectors as `title` has them."""
        return [replace(search, detector=self.title(record.model, search.detector)) for search in record.searches]

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
    rows = [row for model in facts.models for row in _rows(facts, model)]
    counts = (Result("", METRICS["images"], Value(len(each)), {"group": each.group, "set": each.name})
              for each in facts.sets.all)  # fmt: skip
    tests = detection_tests(facts.sets) if len(facts.seeds) == 1 else tuple(_seed_tests(rows))
    searched = (row for record in facts.records for row in search_results(facts.searches(record), seed=record.seed))
    return Results("ood-benchmark", (*rows, *counts, *searched), tests), facts


def _rows(facts: BenchmarkFacts, model: str) -> Iterator[Result]:
    records = [record for record in facts.records if record.model == model]
    by_key: dict[tuple, list[DetectorNumber]] = {}
    for record in records:
        for number in record.numbers:
            by_key.setdefault(_key(number), []).append(number)
    seeds = tuple(record.seed for record in records)
    for (detector, metric, *_), numbers in by_key.items():
        values = tuple(number.value for number in numbers)
        ends = [(number.low, number.high) for number in numbers if number.low is not None]
        low, high = np.mean(ends, axis=0).tolist() if len(ends) == len(numbers) else (None, None)
        intervals = () if low is None else (Interval(low, high, "images"),)
        card = _METRICS[metric]
        reason = next((number.reason for number in numbers if number.value is None), "")
        value = over_seeds(values, card, intervals=intervals, reason=reason)
        yield Result(facts.title(model, detector), card, value, _place(numbers[0]), seeds, values)


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


def _key(number: DetectorNumber) -> tuple:
    return number.detector, number.metric, number.group, number.set, number.in_distribution


def _place(number: DetectorNumber) -> Mapping[str, str]:
    where = {"group": number.group, "in_distribution": number.in_distribution, "set": number.set}
    return {name: value for name, value in where.items() if value}
