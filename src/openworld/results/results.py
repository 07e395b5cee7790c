"""Every number of an evaluation as tidy rows, one schema for all: for pandas and polars, CSV, JSON and Parquet."""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from openworld.core import representation
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.terminal import visible
from openworld.core.types import checked
from openworld.results import tidy
from openworld.results.comparison import Comparison
from openworld.results.value import Interval, Metric, Value, unknown_metric

Place = str | int | float
SHOWN, PROMPT = 20, 200  # rows that a notebook shows, letters at a prompt


@checked
@dataclass(frozen=True)
class Result:
    """One number.

    Args:
        entity: the learner, detector, estimator or method that it is of; "" of a fact about data.
        metric: what was measured.
        value: with its intervals.
        where: what else tells it apart, {"setting": ..., "level": 3}: text or numbers.
        seeds, per_seed: the number for every seed, where it is a mean over seeds.
    """

    entity: str
    metric: Metric
    value: Value
    where: Mapping[str, Place] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    per_seed: tuple[float | None, ...] = ()

    def __post_init__(self) -> None:
        if len(self.seeds) != len(self.per_seed):
            raise OpenworldError(f"{len(self.seeds)} seeds came with {len(self.per_seed)} numbers, expected one each.")
        taken = [name for name in self.where if name in tidy.COLUMNS or name.startswith(tidy.ENDS)]
        if taken:
            raise OpenworldError(f"where names {', '.join(taken)}, as columns of every result are; name it otherwise.")

    @property
    def key(self) -> tuple:
        """What tells it from every other result of an evaluation."""
        return self.entity, self.metric.key, frozenset(self.where.items())


@checked
@dataclass(frozen=True)
class Results:
    """The results of one run of an evaluation.

    Args:
        evaluation: its name.
        rows: no two of the same entity, metric and place.
        comparisons: the tests between entities.

    >>> from openworld.results import METRICS
    >>> near, far = (Result("CoOp", METRICS["auroc"], Value(x), {"level": n}) for n, x in ((1, 0.5), (2, 0.75)))
    >>> both = Results("demo", (near, far))
    >>> both.value("CoOp", "auroc", level=2).value
    0.75
    >>> print(both.where(level=1).to_csv())  # doctest: +NORMALIZE_WHITESPACE
    evaluation,entity,level,metric,unit,value,deviation,seeds,per_seed,reason
    demo,CoOp,1,auroc,fraction,0.5,,,,
    """

    evaluation: str
    rows: tuple[Result, ...]
    comparisons: tuple[Comparison, ...] = ()

    def __post_init__(self) -> None:
        if len(self._by_key) < len(self.rows):
            keys = [row.key for row in self.rows]
            twice = next(row for row in self.rows if keys.count(row.key) > 1)
            raise OpenworldError(
                f"two results of {self.evaluation} are both {_named(twice.entity, twice.metric.key, twice.where)}; "
                "say in `where` what tells them apart."
            )

    @cached_property
    def _by_key(self) -> dict[tuple, Result]:
        return {row.key: row for row in self.rows}

    def __iter__(self) -> Iterator[Result]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def entities(self) -> tuple[str, ...]:
        """In order of appearance."""
        return tuple(dict.fromkeys(row.entity for row in self.rows))

    @checked
    def places(self, name: str) -> tuple[Place, ...]:
        """What a column of places holds, in order of appearance."""
        return tuple(dict.fromkeys(row.where[name] for row in self.rows if name in row.where))

    @checked
    def where(self, *, entity: str | None = None, metric: str | None = None, **place: Place) -> "Results":
        """The results of an entity, of a metric, in a place; other places may be anything."""
        kept = (
            row
            for row in self.rows
            if entity in (None, row.entity)
            and metric in (None, row.metric.key)
            and all(name in row.where and row.where[name] == wanted for name, wanted in place.items())
        )
        return replace(self, rows=tuple(kept), comparisons=())

    def apart_from_times(self) -> "tuple[Results, Results]":
        """The results that are the same however often a run is made, and those that tell how long something took."""
        sides = []
        for timed in (False, True):
            rows = tuple(row for row in self.rows if (row.metric.stored_unit == "seconds") == timed)
            tests = tuple(test for test in self.comparisons if (test.metric.stored_unit == "seconds") == timed)
            sides.append(replace(self, rows=rows, comparisons=tests))
        return sides[0], sides[1]

    def overall(self) -> "Results":
        """The numbers of the run as a whole: of each metric those whose place has the fewest names."""
        fewest: dict[str, int] = {}
        for row in self.rows:
            fewest[row.metric.key] = min(len(row.where), fewest.get(row.metric.key, len(row.where)))
        return replace(self, rows=tuple(row for row in self.rows if len(row.where) == fewest[row.metric.key]))

    @checked
    def result(self, entity: str, metric: str, **place: Place) -> Result:
        """The result of an entity and metric at exactly this place, or the only one whose place has all of it.

        Raises:
            OpenworldError: there is none, or there are several; the nearest are named.
        """
        exact = self._by_key.get((entity, metric, frozenset(place.items())))
        if exact is not None:
            return exact
        rows = [row for row in self.rows if (row.entity, row.metric.key) == (entity, metric)]
        fitting = [row for row in rows if place.items() <= row.where.items()]
        if len(fitting) == 1:
            return fitting[0]
        asked = _named(entity, metric, place)
        if fitting:
            near = "; ".join(_named(entity, metric, row.where) for row in fitting[:3])
            raise OpenworldError(f"{self.evaluation} has {len(fitting)} results {asked}; say which: {near} ...")
        if rows:
            near = "; ".join(_named(entity, metric, row.where) for row in rows[:3])
            raise OpenworldError(f"{self.evaluation} has no result {asked}; there is {near}, of {len(rows)}.")
        if entity not in self.entities:
            raise unknown_name(f"entity of {self.evaluation}:", entity, filter(None, self.entities))
        raise unknown_metric(entity, metric, self.where(entity=entity).metrics())

    @checked
    def value(self, entity: str, metric: str, **place: Place) -> Value:
        """The value of `result`."""
        return self.result(entity, metric, **place).value

    def __repr__(self) -> str:
        entities = ", ".join(filter(None, self.entities))
        metrics = ", ".join(metric.title for metric in self.metrics().values())
        held = f"{len(self)} numbers and {len(self.comparisons)} tests of {entities}: {metrics}"
        return f"Results of {self.evaluation}, {textwrap.shorten(held, PROMPT, placeholder=' ...')}"

    def _repr_html_(self) -> str:
        heads = ("", "where", "number", "", "95 % intervals")
        rows = (
            (
                row.entity,
                ", ".join(f"{name} {value}" for name, value in row.where.items()),
                row.metric.title,
                row.metric.write(row.value.value),
                ", ".join(
                    f"{row.metric.write_interval(interval)} over {interval.over}" for interval in row.value.intervals
                ),
            )
            for row in self.rows[:SHOWN]
        )
        more = f"The first {SHOWN} of {len(self)}; .to_pandas() has all." if len(self) > SHOWN else ""
        return representation.block([f"Results of {self.evaluation}"], representation.table(heads, rows, more))

    def to_pandas(self) -> Any:
        """A pandas `DataFrame`; needs pip install pandas."""
        return self.to_arrow().to_pandas()

    def records(self) -> list[dict[str, Any]]:
        """One dict per result, all with the same keys in the same order; None where a column says nothing of it."""
        return tidy.records(self.evaluation, self.rows)

    def metrics(self) -> dict[str, Metric]:
        """The metrics of its results and comparisons by key."""
        return {row.metric.key: row.metric for row in (*self.rows, *self.comparisons)}

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`, which pandas (`.to_pandas()`) and polars (`polars.from_arrow`) read as it is."""
        table = tidy.arrow(self.records())
        return table.replace_schema_metadata({"openworld": json.dumps(self._about())})

    def to_csv(self) -> str:
        """The table as CSV, which a terminal may show; of several seeds the numbers stand in one field, with spaces."""
        return visible(tidy.csv(self.records()))

    def to_json(self) -> str:
        """The rows, the tests, and how every metric is called and written."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """What `to_json` writes, as plain lists and dicts."""
        return self._about() | {"results": self.records()}

    def to_parquet(self) -> bytes:
        """The table as a Parquet file."""
        import pyarrow
        import pyarrow.parquet

        sink = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(self.to_arrow(), sink, compression="zstd")
        return sink.getvalue().to_pybytes()

    def _about(self) -> dict[str, Any]:
        """What is no row of the table."""
        return {
            "evaluation": self.evaluation,
            "metrics": {key: asdict(metric) for key, metric in self.metrics().items()},
            "comparisons": [{**asdict(comparison), "metric": comparison.metric.key} for comparison in self.comparisons],
        }

    @classmethod
    @checked
    def from_json(cls, text: str) -> "Results":
        """What `to_json` wrote.

        Raises:
            OpenworldError: another text.
        """
        try:
            content = json.loads(text)
            return _read(content, content["results"])
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise OpenworldError(f"the text cannot be read as results ({error}); give what `to_json` wrote.") from error

    @classmethod
    @checked
    def from_arrow(cls, table: Any) -> "Results":
        """What `to_arrow` made.

        Raises:
            OpenworldError: a table of something else.
        """
        about = (getattr(getattr(table, "schema", None), "metadata", None) or {}).get(b"openworld")
        if about is None:
            raise OpenworldError("this table does not say that openworld made it, so it cannot be read as results.")
        return _read(json.loads(about), table.to_pylist())

    @classmethod
    @checked
    def from_parquet(cls, source: Path | str | bytes) -> "Results":
        """A file of `to_parquet`, or what it held; raises as `from_arrow` does."""
        import pyarrow
        import pyarrow.parquet

        held = isinstance(source, bytes)
        try:
            # In this thread: others may give Python's memory back after the interpreter has gone, and crash at the end.
            file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(source) if held else source, pre_buffer=False)
            return cls.from_arrow(file.read(use_threads=False))
        except (OSError, pyarrow.ArrowException) as error:
            name = "what was given" if held else source
            raise OpenworldError(f"{name} cannot be read as a Parquet file ({error}).") from error


def _read(about: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Results:
    metrics = {key: Metric(**card | {"bounds": tuple(card["bounds"])}) for key, card in about["metrics"].items()}
    rows = tuple(_result(record, metrics) for record in records)
    comparisons = tuple(_comparison(fields, metrics[fields["metric"]]) for fields in about["comparisons"])
    return Results(about["evaluation"], rows, comparisons)


def _comparison(fields: Mapping[str, Any], metric: Metric) -> Comparison:
    interval = fields["interval"] and Interval(**fields["interval"])
    about: dict[str, Any] = {**fields, "metric": metric, "interval": interval}
    return Comparison(**about)


def _result(record: Mapping[str, Any], metrics: Mapping[str, Metric]) -> Result:
    metric, value = metrics[record["metric"]], record["value"]
    if metric.unit == "count" and value is not None and value == int(value):
        value = int(value)  # a column of a table holds floats
    return Result(
        record["entity"],
        metric,
        Value(value, tidy.intervals(record), record["reason"], record["deviation"]),
        tidy.places(record),
        tuple(record["seeds"]),
        tuple(record["per_seed"]),
    )


def _named(entity: str, metric: str, where: Mapping[str, Place]) -> str:
    return " ".join((entity, metric, *(f"{name}={value!r}" for name, value in where.items())))
