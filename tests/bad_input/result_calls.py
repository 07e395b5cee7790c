"""Every public function and class of `openworld.results`."""

from dataclasses import replace

from generated import generated
from judging import new_folder

from openworld import results
from openworld.metrics import seeds_test
from openworld.results import METRICS, Comparison, Interval, Metric, Result, Results, Value

AUC = METRICS["auroc"]
FREE = ("entity", "other", "reason", "title", "key", "over", "evaluation", "metric")
VALUE = Value(0.5, (Interval(0.25, 0.75, "images"),))
ROWS = tuple(Result(name, AUC, VALUE, {"level": 1}, (1, 2), (0.25, 0.75)) for name in ("CoOp", "GMoP"))
TESTED = Comparison("CoOp", "GMoP", AUC, 0.25, 0.5, equivalence_p=0.5)
HELD = Results("demo", ROWS, (TESTED,))
OTHER = replace(HELD, rows=tuple(replace(row, per_seed=(0.5, 0.5)) for row in ROWS))
ONE_SEED = replace(ROWS[0], seeds=(1,), per_seed=(0.5,))
PAIRED = results.pair_results(HELD, OTHER)[0].comparison
FOLDER = new_folder()
(FOLDER / "results.parquet").write_bytes(HELD.to_parquet())


CALLS = {
    "Comparison": generated(Comparison, {"metric": AUC, "interval": VALUE.intervals[0], "shared": 3}, free=FREE),
    "Interval": generated(Interval, {"low": 0.25, "high": 0.75, "over": "images"}, free=("over",)),
    "Metric": generated(Metric, {"key": "auroc", "title": "AUROC"}, free=FREE),
    "Pair": generated(results.Pair, {"first": ROWS[0], "second": ROWS[0], "comparison": TESTED}),
    "Result": generated(
        Result, {"metric": AUC, "value": VALUE, "where": {"level": 1}, "seeds": (1,), "per_seed": (0.5,)}, free=FREE
    ),
    "Results": generated(Results, {"rows": ROWS, "comparisons": (TESTED,)}, free=FREE),
    "Results.where": generated(HELD.where, free=("entity", "metric")),
    "Results.result": generated(OTHER.result, {"entity": "CoOp", "metric": "auroc"}),
    "Results.from_json": generated(Results.from_json, {"text": HELD.to_json()}),
    "Results.from_arrow": generated(Results.from_arrow, {"table": HELD.to_arrow()}),
    "Results.from_parquet": generated(Results.from_parquet, {"source": FOLDER / "results.parquet"}),
    "Value": generated(Value, {"value": 0.5, "intervals": VALUE.intervals, "deviation": 0.25}, free=FREE),
    "against_chance": generated(results.against_chance, {"rows": ROWS}, like_taken=[("correlation", "array")]),
    "comparison_of": generated(
        results.comparison_of,
        {"metric": AUC, "test": seeds_test([0.25, 0.5], [0.5, 0.25])},
        free=FREE,
    ),
    "correct_for_many": generated(results.correct_for_many, {"comparisons": [TESTED, PAIRED]}),
    "interval_of": generated(results.interval_of, {"ends": (0.25, 0.75), "over": "images"}, free=("over",)),
    "join_seeds": generated(results.join_seeds, {"units": [[ONE_SEED]], "over_images": None}),
    "mean": generated(results.mean, {"values": (0.25, 0.75)}),
    "over_seeds": generated(
        results.over_seeds, {"values": (0.25, 0.75), "metric": AUC, "intervals": VALUE.intervals}, free=FREE
    ),
    "pair_results": generated(
        results.pair_results, {"first": HELD, "second": OTHER}, like_taken=[("metric", "empty text")]
    ),
    "significant": generated(results.significant, {"p": 0.5}),
    "standing": generated(results.standing, {"values": {"CoOp": 0.25, "GMoP": 0.5}}),
    "student": generated(results.student, {"values": (0.25, 0.75), "metric": AUC}, free=("over",)),
}
RESULTS = frozenset({"Standing"})
ELSEWHERE = {
    "RunFolder": "read from the files of a run, in tests/runs",
    "require_same_data": "read from the files of a run, in tests/runs",
}
