"""Scores beside shift degrees or levels of one's own: the same numbers as a run's, and what is refused."""

import csv

import numpy as np
import pytest

import openworld as ow
from openworld.evaluations.finished_runs import read_report
from openworld.ood.by_shift.results import DetectionRun

pytestmark = pytest.mark.base

DETECTORS = {"MSP": (0.1, -0.05), "KNN": (0.2, 0.0)}
N_TEST, N_POOL = 60, 900


@pytest.fixture(scope="module")
def run(make_run):
    """One model with one seed, of which every number is known."""
    return read_report(make_run(models={"resnet-8": DETECTORS}, seeds=(0,)))


def columns_of(story):
    """The scores of a run as somebody would have them who knows nothing of its model."""
    (record,) = story.run_folder.records
    test, pool = record.table("test"), record.table("images")
    counts = DetectionRun.read(story.run_folder).counts
    place = np.repeat(np.arange(counts.size), counts.ravel())
    empty = np.zeros(len(test["group"]), np.int64)
    table = {
        "group": np.array(["id"] * len(empty) + ["pool"] * len(place)),
        "semantic_level": np.concatenate([empty, place % counts.shape[1]]),
        "covariate_level": np.concatenate([empty, place // counts.shape[1]]),
        "known": np.concatenate([empty.astype(bool), pool["known"]]),
        "cluster": np.concatenate([test["group"], pool["group"]]).astype(str),
    }
    return table | {name: np.concatenate([test[f"score {name}"], pool[f"score {name}"]]) for name in DETECTORS}


def plain(results):
    """Every number by its place, without the model's name."""
    found = {}
    for row in results.rows:
        where = tuple(sorted((key, str(value)) for key, value in row.where.items()))
        interval = row.value.over()
        ends = None if interval is None else (interval.low, interval.high)
        found[row.entity, row.metric.key, where] = (row.value.value, ends)
    return found


def test_the_numbers_are_those_of_a_run_with_the_same_scores_and_levels(run):
    report = ow.detect(scores=columns_of(run), quiet=True)
    assert "Levels are those that were given." in report.page.verdict
    ours, theirs = plain(report.results), plain(run.results)
    of_run_alone = {key for key in theirs if key[1] in ("accuracy", "confidence", "degree_from")}
    assert set(theirs) - set(ours) == of_run_alone and set(ours) <= set(theirs) and len(ours) > 500
    for key, (value, ends) in ours.items():
        assert theirs[key][0] == pytest.approx(value), key
        assert (ends is None) == (theirs[key][1] is None) and (ends is None or theirs[key][1] == pytest.approx(ends))
    for key in ("p", "difference"):
        tests = [[getattr(test, key) for test in side.results.comparisons] for side in (report, run)]
        assert tests[0] == pytest.approx(tests[1]) and len(tests[0]) > 3


def with_degrees():
    generator = np.random.default_rng(0)
    degrees = {half: generator.beta(2, 3, N_POOL) for half in ("semantic", "covariate")}
    table = {"group": ["id"] * N_TEST + ["pool"] * N_POOL}
    table |= {half: np.concatenate([np.full(N_TEST, 0.01), own]) for half, own in degrees.items()}
    pool = generator.normal(1 - 2 * degrees["semantic"], 1)
    return table | {"MSP": np.concatenate([generator.normal(1, 1, N_TEST), pool])}


def test_a_csv_file_with_degrees_of_the_pool_alone_gives_the_page(tmp_path):
    table = with_degrees()
    with open(tmp_path / "mine.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        for row in zip(*table.values(), strict=True):
            writer.writerow([row[0], *(("", "") if row[0] == "id" else row[1:3]), *row[3:]])
    report = ow.detect(scores=tmp_path / "mine.csv", levels=3, out=tmp_path / "out", quiet=True)
    assert plain(report.results) == plain(ow.detect(scores=table, levels=3, quiet=True).results)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "How far off must it be?" in page and "Where does a detector see it?" in page
    assert f"{N_TEST} in-distribution images, {N_POOL} pool images" in page
    assert (tmp_path / "out" / "results.parquet").is_file()


def test_columns_of_the_degrees_that_shift_keeps_are_no_detectors():
    table = with_degrees()
    kept = {f"{name}_degree" if name in ("semantic", "covariate") else name: own for name, own in table.items()}
    kept |= {"image": ["a.png"] * (N_TEST + N_POOL), "semantic_nearest": ["b.png"] * (N_TEST + N_POOL)}
    kept |= {"semantic_far": [False] * (N_TEST + N_POOL), "part": ["test", ""] * ((N_TEST + N_POOL) // 2)}
    first, again = (ow.detect(scores=own, levels=3, quiet=True).results for own in (table, kept))
    assert plain(again) == plain(first) and "semantic_far" not in again.entities


def test_scores_that_are_larger_outside_are_turned_and_detectors_chosen():
    table = with_degrees() | {"other": with_degrees()["MSP"]}
    turned = table | {"MSP": -table["MSP"], "other": -table["other"]}
    shared = {"detector": ["MSP"], "levels": 3, "quiet": True}
    first = ow.detect(scores=table, **shared).results
    assert plain(ow.detect(scores=turned, larger_out=True, **shared).results) == plain(first)
    assert "other" not in first.entities


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"covariate": None}, "have semantic and no covariate"),
        ({"group": ["id"] * (N_TEST + N_POOL)}, "no image of a pool"),
        ({"group": ["pool"] * (N_TEST + N_POOL)}, "no in-distribution test image"),
        ({"group": ["id"] * N_TEST + ["pol"] * N_POOL}, "did you mean 'pool'"),
        ({"semantic": np.full(N_TEST + N_POOL, np.nan)}, "column semantic"),
        ({"semantic": np.full(N_TEST + N_POOL, 0.5)}, "semantic levels: .*nothing to cut"),
        ({"known": ["perhaps"] * (N_TEST + N_POOL)}, "column known .*'perhaps'"),
        ({"part": ["validation"] + ["test"] * (N_TEST + N_POOL - 1)}, "other parts than test"),
        ({"MSP": None}, "no column of scores"),
        (
            {"semantic_level": np.full(N_TEST + N_POOL, 0.5), "covariate_level": np.zeros(N_TEST + N_POOL)},
            "column semantic_level holds 0.5",
        ),
    ],
)
def test_a_table_that_will_not_do_is_refused(change, said):
    table = {name: column for name, column in (with_degrees() | change).items() if column is not None}
    with pytest.raises(ow.OpenworldError, match=said):
        ow.detect(scores=table, quiet=True)


def test_a_threshold_of_such_scores_is_refused():
    with pytest.raises(ow.OpenworldError, match="bring no threshold"):
        ow.detect(scores=with_degrees(), flag_rate=0.1, quiet=True)
