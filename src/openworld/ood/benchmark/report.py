"""What a run of an OOD benchmark shows: numbers of every detector of every model, tests, and images that each fails on.

Of one seed a number has its interval over images. Of several it is their mean; the ends of the intervals over images
are averaged, and there is one over seeds. Tests are over images where there is one seed, else over seeds.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.datasets.formats.decoding import decode
from openworld.metrics import seeds_test
from openworld.ood.detection_results import detection_tests, tests_of_best
from openworld.ood.layout import LAYOUT, detection_brief
from openworld.ood.model_runs import ModelRun
from openworld.ood.scored_sets import OTHER_CLASSES, SCORE_COLUMN, ScoredSets, sets_of_rows, stream_column
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.results import METRICS, Comparison, Result, Results, RunFolder, comparison_of, join_seeds
from openworld.results.join import mean_ends
from openworld.runs import Record


def report(run: RunFolder) -> Report:
    results, sets = read_results(run)
    return LAYOUT.report(detection_brief(sets, results, facts=tuple(_facts(units_of(run))), run=run))


def read_results(run: RunFolder) -> tuple[Results, ScoredSets]:
    """Return every number of a run and the tests, and the scores of all models, of the first seed of each."""
    of_run = units_of(run)
    units = of_run.titled_rows()
    rows = join_seeds(units, mean_ends(row for unit in units for row in unit))
    sets = _sets(of_run)
    alone = len({unit.facts["seed"] for unit in of_run.units}) == 1
    return Results("ood-benchmark", rows, detection_tests(sets) if alone else tuple(_seed_tests(rows))), sets


def units_of(run: RunFolder) -> ModelRun:
    if wrong := next((record for record in run.records if record.metrics.get("protocol") != "ood-benchmark"), None):
        raise OpenworldError(f"record {wrong.name!r} of {run.folder} is of another kind; give a run of ood-benchmark.")
    return ModelRun.read(run)


def _sets(run: ModelRun) -> ScoredSets:
    """The scores of all models, of the first seed of each."""
    tables = {model: units[0].record.table("images") for model, units in run.models.items()}
    common = next(iter(tables.values()))
    names, scores, streams = common["set"].astype(str).tolist(), {}, {}
    for model, table in tables.items():
        if len(table["set"]) != len(names) or (table["image"] != common["image"]).any():
            raise OpenworldError("the models of this run could read different images; report them apart.")
        for label in [column.removeprefix(SCORE_COLUMN) for column in table if column.startswith(SCORE_COLUMN)]:
            title = run.title(model, label)
            scores[title] = np.asarray(table[SCORE_COLUMN + label])
            for name in dict.fromkeys(names):
                if (column := stream_column(label, name)) in table:
                    streams[stream_column(title, name)] = np.asarray(table[column])
    records = [unit.record for unit in run.units]
    return sets_of_rows(
        zip(common["group"].astype(str).tolist(), names, strict=True),
        common["image"],
        common["cluster"].astype(str),
        scores,
        streams,
        read=lambda number: _reader(records, number),
        warnings=tuple(dict.fromkeys(text for unit in run.units for text in unit.facts["warnings"])),
    )


def _reader(records: Sequence[Record], number: int) -> Callable[[int], Any]:
    def read(place: int):
        name = f"images/{number}/{place}.png"
        for record in records:
            if name in record.attachments:
                return decode(io.BytesIO(record.attachment(name)), name)
        raise OpenworldError(f"no image of {name} is kept.")

    return read


def _facts(run: ModelRun) -> Iterator[tuple[str, str]]:
    yield "seeds", " ".join(map(str, sorted({unit.facts["seed"] for unit in run.units})))
    for unit in run.units:
        images = counted(unit.facts["training_images"], "training image")
        yield f"{unit.model}, seed {unit.facts['seed']}", f"{unit.facts['classes']} classes, {images}"
    yield from run.provenance()


def _seed_tests(rows: Sequence[Result]) -> Iterator[Comparison]:
    """Yield the best detector of every place against the others over seeds; what has one seed is the same in each."""
    places: dict[tuple, list[Result]] = {}
    for row in rows:
        if row.metric.key == "auroc" and row.where["group"] in OTHER_CLASSES and row.value.value is not None:
            places.setdefault(tuple(row.where.items()), []).append(row)
    for where, found in places.items():
        count = max(len(row.seeds) for row in found)
        each = {
            row.entity: list(row.per_seed) if len(row.per_seed) == count else [row.value.value] * count for row in found
        }

        def test(best: str, other: str, each=each, where=where) -> Comparison:
            paired = seeds_test(each[best], each[other])
            return comparison_of(best, other, METRICS["auroc"], paired, over="seeds", where=dict(where))

        yield from tests_of_best({row.entity: row.value.value for row in found}, test)
