"""What a run of an OOD benchmark shows: numbers of every detector of every model, tests, and images that each fails on.

Of one seed a number has its interval over images. Of several it is their mean; the ends of the intervals over images
are averaged, and there is one over seeds. Tests are over images where there is one seed, else over seeds.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets.formats.decoding import decode
from openworld.evaluations.rows import read_rows
from openworld.metrics import seeds_test
from openworld.ood.detection_results import detection_tests
from openworld.ood.layout import LAYOUT, detection_brief
from openworld.ood.scored_sets import (
    OTHER_CLASSES,
    SCORE_COLUMN,
    ScoredSets,
    sets_of_rows,
    stream_column,
)
from openworld.report.learner_facts import LearnerFacts
from openworld.report.report import Report
from openworld.report.sentences import counted
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
from openworld.results.join import mean_ends
from openworld.results.standing import SAME_DIGITS
from openworld.runs import Record, read_spec

VALIDATION = "validation"


def report(run: RunFolder) -> Report:
    """Return the report of a run."""
    results, sets = read_results(run)
    return LAYOUT.report(detection_brief(sets, results, facts=tuple(_facts(run)), run=run))


def read_results(run: RunFolder) -> tuple[Results, ScoredSets]:
    """Return every number of a run and the tests, and the scores of all models, of the first seed of each."""
    records = units_of(run)
    several = len({record.metrics["model"] for record in records}) > 1
    units = [[_titled(row, record, several) for row in read_rows(record)] for record in records]
    rows = join_seeds(units, mean_ends(row for unit in units for row in unit))
    sets = _sets(records, several)
    alone = len({record.metrics["seed"] for record in records}) == 1
    return Results("ood-benchmark", rows, detection_tests(sets) if alone else tuple(_seed_tests(rows))), sets


def units_of(run: RunFolder) -> list[Record]:
    """Return the records of a run, models in the order of its spec and their seeds in increasing order."""
    if wrong := next((record for record in run.records if record.metrics.get("protocol") != "ood-benchmark"), None):
        raise OpenworldError(f"record {wrong.name!r} of {run.folder} is of another kind; give a run of ood-benchmark.")
    order = [model.get("label") for model in (run.resolved or {}).get("models", ())]
    order += [record.metrics["model"] for record in run.records]
    return sorted(run.records, key=lambda own: (order.index(own.metrics["model"]), own.metrics["seed"]))


def _title(model: str, detector: str, several: bool) -> str:
    """A detector, with its model where there are several."""
    return f"{detector} of {model}" if several else detector


def _titled(row: Result, record: Record, several: bool) -> Result:
    if not row.entity or row.metric == METRICS["accuracy"]:
        return row
    return replace(row, entity=_title(record.metrics["model"], row.entity, several))


def _sets(records: Sequence[Record], several: bool) -> ScoredSets:
    """The scores of all models, of the first seed of each."""
    first = {record.metrics["model"]: record for record in reversed(records)}
    tables = {model: first[model].table("images") for model in dict.fromkeys(own.metrics["model"] for own in records)}
    common = next(iter(tables.values()))
    names, scores, streams = common["set"].astype(str), {}, {}
    for model, table in tables.items():
        if len(table["set"]) != len(names) or (table["image"] != common["image"]).any():
            raise OpenworldError("the models of this run could read different images; report them apart.")
        labels = [column.removeprefix(SCORE_COLUMN) for column in table if column.startswith(SCORE_COLUMN)]
        scores |= {_title(model, label, several): np.asarray(table[SCORE_COLUMN + label]) for label in labels}
        for label in labels:
            for name in dict.fromkeys(names.tolist()):
                if (column := stream_column(label, name)) in table:
                    streams[stream_column(_title(model, label, several), name)] = np.asarray(table[column])
    return sets_of_rows(
        zip(common["group"].astype(str).tolist(), names.tolist(), strict=True),
        common["image"],
        common["cluster"].astype(str),
        scores,
        streams,
        read=lambda number: _reader(records, number),
        warnings=tuple(dict.fromkeys(text for record in records for text in record.metrics["warnings"])),
    )


def _reader(records: Sequence[Record], number: int) -> Callable[[int], Any]:
    def read(place: int):
        name = f"pictures/{number}/{place}.png"
        for record in records:
            if name in record.attachments:
                return decode(io.BytesIO(record.attachment(name)), name)
        raise OpenworldError(f"no image of {name} is kept.")

    return read


def _facts(run: RunFolder) -> Iterator[tuple[str, str]]:
    records = [record.metrics for record in units_of(run)]
    yield "seeds", " ".join(map(str, sorted({record["seed"] for record in records})))
    for record in records:
        name = f"{record['model']}, seed {record['seed']}"
        yield name, f"{record['classes']} classes, {counted(record['training_images'], 'training image')}"
        if record["learner"]:
            training, settings = read_spec(record["learner"], LearnerFacts).sentences()
            yield f"training, {name}", training
            yield f"settings, {name}", settings
        for warning in record["warnings"]:
            yield f"warning, {name}", warning


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
