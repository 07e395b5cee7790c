"""Results as tidy rows: one schema, nothing rounded, read back without loss."""

import csv
import io
import json
from itertools import permutations

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld import OpenworldError
from openworld.results import METRICS, Comparison, Interval, Metric, Result, Results, Value

pytestmark = pytest.mark.base

AUROC, IMAGES = METRICS["auroc"], METRICS["images"]
NUMBERS = st.floats(-1e9, 1e9)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
INTERVALS = (
    st.lists(st.sampled_from(["images", "seeds", "data sets"]), unique=True)
    .map(sorted)
    .flatmap(
        lambda kinds: st.tuples(
            *(
                st.builds(
                    lambda low, width, n, kind=kind: Interval(low, low + width, kind, n),
                    NUMBERS,
                    st.floats(0, 10),
                    st.none() | st.integers(0, 10**9),
                )
                for kind in kinds
            )
        )
    )
)
VALUES = st.builds(Value, NUMBERS, INTERVALS, st.just(""), st.none() | st.floats(0, 1e9)) | st.builds(
    Value, st.none(), st.just(()), TEXTS.filter(bool)
)
CARDS = st.sampled_from([AUROC, IMAGES, Metric("gain", "Δ [x]", "points", 2, 0, (-1.0, None))])
PLACES = st.fixed_dictionaries({}, optional={"setting": TEXTS, "level": st.integers(-5, 5), "degree": NUMBERS})
SEEDS = st.lists(st.tuples(st.integers(0, 2**40), st.none() | NUMBERS), max_size=3).map(
    lambda pairs: (tuple(seed for seed, _ in pairs), tuple(value for _, value in pairs))
)
ROWS = st.lists(
    st.builds(
        lambda entity, metric, value, where, seeds: Result(entity, metric, value, where, *seeds),
        TEXTS,
        CARDS,
        VALUES,
        PLACES,
        SEEDS,
    ),
    unique_by=lambda row: row.key,
    max_size=6,
)
COMPARISONS = st.lists(
    st.builds(
        Comparison,
        TEXTS,
        TEXTS,
        CARDS,
        st.none() | NUMBERS,
        st.none() | st.floats(0, 1),
        TEXTS,
        st.none() | st.just(Interval(-0.5, 0.5, "images", 7)),
        PLACES,
        st.none() | st.integers(1, 9),
    ),
    max_size=2,
)
RESULTS = st.builds(Results, TEXTS, ROWS.map(tuple), COMPARISONS.map(tuple))


def made():
    first = Value(0.46964, (Interval(0.4, 0.5, "images", 80), Interval(0.3, 0.6, "seeds", 2)))
    rows = (
        Result("CoOp", AUROC, first, {"setting": "a, b", "level": 1}, (1, 2), (0.25, 0.5)),
        Result("=CoOp()", AUROC, Value(None, reason="no new image"), {"setting": "a, b", "level": 2}),
        Result("CoOp", IMAGES, Value(512)),
    )
    return Results("demo", rows, (Comparison("CoOp", "zero-shot", AUROC, 0.1, 0.01),))


def _several():
    return Results("demo", tuple(Result("CoOp", AUROC, Value(0.5), {"level": level}) for level in (1, 2)))


@given(RESULTS)
def test_json_and_parquet_are_read_back_without_loss(results):
    assert Results.from_json(results.to_json()) == results
    assert Results.from_arrow(results.to_arrow()) == results


@pytest.mark.parametrize("orders", list(permutations((("images", "seeds"), ("data sets", "images"), ("seeds",)))))
def test_the_order_of_intervals_is_kept_whichever_row_comes_first(orders):
    rows = tuple(
        Result(str(place), AUROC, Value(0.5, tuple(Interval(0.4, 0.6, kind, 9) for kind in own)))
        for place, own in enumerate(orders)
    )
    results = Results("demo", rows)
    assert Results.from_json(results.to_json()) == results
    assert Results.from_arrow(results.to_arrow()) == results


def test_rows_that_disagree_about_the_order_lose_no_interval():
    ends = {kind: Interval(0.4, 0.6, kind, 9) for kind in ("images", "seeds")}
    rows = [Result(str(way), AUROC, Value(0.5, tuple(list(ends.values())[::way]))) for way in (1, -1)]
    again = Results.from_json(Results("demo", tuple(rows)).to_json())
    assert all({*row.value.intervals} == {*ends.values()} for row in again.rows)


def test_a_parquet_file_is_read_back(tmp_path):
    (tmp_path / "results.parquet").write_bytes(made().to_parquet())
    assert Results.from_parquet(tmp_path / "results.parquet") == made()


def test_columns_are_places_between_the_same_names_everywhere():
    assert made().to_arrow().column_names == [
        *("evaluation", "entity", "setting", "level", "metric", "unit", "value", "deviation"),
        *("low_images", "high_images", "n_images", "low_seeds", "high_seeds", "n_seeds"),
        *("seeds", "per_seed", "reason"),
    ]
    assert Results("demo", ()).to_arrow().column_names == [
        *("evaluation", "entity", "metric", "unit", "value", "deviation", "seeds", "per_seed", "reason")
    ]


def test_columns_have_types_and_numbers_are_whole():
    table = made().to_arrow()
    assert table.schema.field("level").type == pyarrow.int64()
    assert table.schema.field("value").type == pyarrow.float64()
    assert table["value"].to_pylist() == [0.46964, None, 512.0]
    assert table["unit"].to_pylist() == ["fraction", "fraction", "count"]


def test_csv_says_the_same_and_holds_no_formula():
    rows = list(csv.DictReader(io.StringIO(made().to_csv())))
    assert rows[0]["value"] == "0.46964" and rows[0]["per_seed"] == "0.25 0.5" and rows[0]["seeds"] == "1 2"
    assert rows[1]["entity"] == "'=CoOp()" and rows[1]["value"] == "" and rows[1]["reason"] == "no new image"


def test_json_says_how_metrics_are_called_and_what_was_tested():
    told = json.loads(made().to_json())
    assert told["metrics"]["auroc"]["title"] == "AUROC" and told["comparisons"][0]["p"] == 0.01


def test_results_are_found_by_entity_metric_and_place():
    results = made()
    assert results.value("CoOp", "auroc", setting="a, b", level=1).value == 0.46964
    assert len(results.where(entity="CoOp")) == 2 and len(results.where(level=2)) == 1
    assert results.entities == ("CoOp", "=CoOp()") and results.places("level") == (1, 2)


@pytest.mark.parametrize(
    ("make", "fact"),
    [
        (lambda: made().value("CoOp", "auroc", level=7), "level=7"),
        (lambda: made().value("GMoP", "auroc"), "unknown entity.*GMoP"),
        (lambda: Results("demo", made().rows * 2), "tells them apart"),
        (lambda: _several().value("CoOp", "auroc"), "2 results CoOp auroc; say which: CoOp auroc level=1; CoOp"),
        (lambda: Results.from_parquet(b"none"), "what was given cannot be read"),
        (lambda: Result("CoOp", AUROC, Value(0.5), {"value": 1}), "value"),
        (lambda: Result("CoOp", AUROC, Value(0.5), {"low_images": 1}), "low_images"),
        (lambda: Result("CoOp", AUROC, Value(0.5), {}, (1, 2), (0.5,)), "2 seeds"),
        (lambda: Results.from_arrow(pyarrow.table({"value": [0.5]})), "does not say"),
        (
            lambda: Results("demo", tuple(Result("a", AUROC, Value(0.5), {"at": at}) for at in (1, "b"))).to_arrow(),
            "numbers alone",
        ),
    ],
)
def test_what_is_unclear_is_refused(make, fact):
    with pytest.raises(OpenworldError, match=fact):
        make()


def test_what_varies_from_run_to_run_is_kept_apart_and_csv_obeys_no_name():
    times = [Result(f"a\x1b[31m{n}", METRICS[key], Value(n)) for n, key in enumerate(("fit_seconds", "latency"))]
    scores = [Result("a\x1b[31m", AUROC, Value(0.5))]
    same, varying = Results("demo", (*times, *scores)).apart_from_times()
    assert (same.rows, varying.rows) == (tuple(scores), tuple(times))
    assert "a␛[31m" in same.to_csv() and "\x1b" not in same.to_csv()
