"""Several data sets in one spec: the units are those of each alone; means, ranks and tests are over the data sets."""

import numpy as np
import pytest
from scipy import stats

import openworld as ow
from openworld import OpenworldError
from openworld.evaluations import evaluation_of, read_protocol
from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.recognition.spec import tasks
from openworld.report.page import figures_of
from openworld.results import METRICS, Result, Value
from openworld.results.over_datasets import DatasetMeans
from openworld.runs import to_json

LEARNERS = [{"learner": "zero-shot"}, {"learner": "CoOp", "settings": {"schedule": {"epochs": 1}}}]
SHARED = {"learners": LEARNERS, "seeds": [1, 2], "views": 1, "shots": 1}
ENTRY = {"dataset": "emoji-concepts", "train_domain": "twemoji", "test_domain": "noto"}


def spec(**own):
    return read_protocol({"protocol": "recognition", **SHARED, **own})


def test_the_units_are_those_of_each_data_set_alone():
    both = spec(datasets=["emoji-groups", ENTRY])
    alone = [task for own in ({"dataset": "emoji-groups"}, ENTRY) for task in tasks(spec(**own))]
    assert list(map(to_json, tasks(both))) == list(map(to_json, alone))
    assert len(tasks(both)) == len(alone) == 8
    assert [entry.dataset for entry in evaluation_of(both).data(both)] == ["emoji-groups", *["emoji-concepts"] * 2]
    assert read_protocol(to_json(both)) == both


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"datasets": ["emoji-groups", "emoji-groups"]}, "datasets must be distinct"),
        ({"datasets": ["emoji-groups"], "dataset": "emoji-subgroups"}, "dataset says something of one"),
        ({"datasets": ["emoji-groups"], "test_domain": "noto"}, "test_domain says something of one"),
        ({"datasets": [{"domain": "noto"}]}, "domain"),
    ],
)
def test_what_is_not_understood_is_refused(own, message):
    with pytest.raises(OpenworldError, match=message):
        spec(**own)


def means(numbers, seeds=(1, 2)):
    """Results by learner: {name: [[a number per seed] per data set]}."""
    auc = METRICS["openworld_auc"]
    rows = {
        name: [Result(name, auc, Value(float(np.mean(each))), {}, seeds, tuple(each)) for each in by_set]
        for name, by_set in numbers.items()
    }
    return DatasetMeans(auc, tuple("abcdef"[: len(next(iter(rows.values())))]), rows, {"setting": "mean"})


def test_a_mean_has_an_interval_over_seeds_and_one_over_data_sets():
    numbers = [[0.2, 0.3], [0.5, 0.7], [0.4, 0.4]]
    row = means({"CoOp": numbers}).mean("CoOp")
    values, by_seed = np.mean(numbers, axis=1), np.mean(numbers, axis=0)
    assert row.value.value == pytest.approx(values.mean()) and row.per_seed == pytest.approx(by_seed)
    for over, sample in (("seeds", by_seed), ("data sets", values)):
        low, high = stats.t.interval(0.95, len(sample) - 1, sample.mean(), stats.sem(sample))
        found = row.value.over(over)
        assert (found.low, found.high) == pytest.approx((max(low, 0), min(high, 1)))


def test_pairs_are_tested_over_data_sets_and_over_seeds():
    first, second = [[0.2, 0.3], [0.5, 0.7], [0.4, 0.4]], [[0.1, 0.3], [0.4, 0.5], [0.4, 0.3]]
    found = means({"CoOp": first, "GMoP": second})
    for over, axis in (("data sets", 1), ("seeds", 0)):
        test = found.compare("GMoP", "CoOp", over)
        expected = stats.ttest_rel(np.mean(second, axis=axis), np.mean(first, axis=axis))
        assert test.p == pytest.approx(expected.pvalue) and test.difference < 0
    assert found.compare("CoOp", "CoOp") is None


def test_ranks_are_those_of_the_data_sets_and_tested_from_five_on():
    numbers = {name: [[level, level]] * 5 for name, level in (("a", 0.3), ("b", 0.2), ("c", 0.1))}
    rows = {(row.entity, row.metric.key): row.value.value for row in means(numbers).rows()}
    assert [rows[name, "mean_rank"] for name in "abc"] == [1, 2, 3]
    assert rows["", "friedman_p"] == pytest.approx(stats.chi2.sf(10, 2))
    few = {row.metric.key: row.value for row in means({name: each[:4] for name, each in numbers.items()}).rows()}
    assert few["critical_difference"].value is None and "4 data sets" in few["critical_difference"].reason


def test_a_learner_that_lacks_a_data_set_has_no_mean_and_no_rank():
    found = means({"a": [[0.3, 0.3]] * 5, "b": [[0.2, 0.2]] * 5})
    numbers = {**found.numbers, "b": (None, *found.numbers["b"][1:])}
    partly = DatasetMeans(found.metric, found.datasets, numbers, found.where)
    assert partly.complete == ("a",) and partly.mean("b").value.value is None
    assert {row.entity for row in partly.rows() if row.metric.key == "mean_rank"} == {"a"}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(out, **own):
        given = {"seeds": [1], "shots": 1, "views": 0, "learners": [{"learner": "zero-shot"}], "ratios": []}
        return ow.run({**given, **own}, out, cache=tmp_path / "cache", workers=1, device="cpu", quiet=True)

    return run


@pytest.mark.slow
def test_records_of_one_data_set_are_taken_over_and_a_run_takes_further_data_sets(run, tmp_path):
    run("runs/groups", dataset="emoji-groups")
    two = ["emoji-groups", {"dataset": "emoji-groups", "train_domain": "noto"}]
    both = run("runs/all", datasets=two)
    (alone,) = (tmp_path / "runs/groups/units").iterdir()
    kept = tmp_path / "runs/all/units" / alone.name / "timing.json"
    assert kept.read_bytes() == (alone / "timing.json").read_bytes(), "it was computed again"
    assert len(both.results.where(metric="openworld_auc")) >= 2
    more = run("runs/all", datasets=[*two, "emoji-withheld"])
    assert kept.read_bytes() == (alone / "timing.json").read_bytes()
    assert {row.where.get("task") for row in more.results} >= {"emoji-groups", "emoji-withheld"}


def test_the_page_has_the_means_first_and_a_diagram_or_why_there_is_none(make_run):
    learners = {"zero-shot": (0.0, 0.0, 0.6, 0), "CoOp": (0.5, 0.4, 0.9, 512), "GMoP": (2.0, 1.5, 1.8, 6656)}
    for tasks_of_run in ("ab", "abcde"):
        shown = read_report(make_run(learners=learners, names=list("stuv"), seeds=(1, 2), tasks=tuple(tasks_of_run)))
        place = f"mean over {len(tasks_of_run)} data sets"
        heads = [column.heading for column in shown.terminal_tables[0].columns]
        assert heads == [place, *tasks_of_run]
        assert shown.verdict[0].lower().startswith(place)
        drawn = next(each for each in figures_of(shown.page.sections) if each.name == "critical-difference")
        assert len(drawn.charts) == (len(tasks_of_run) == 5) and (drawn.charts or "2 data sets" in drawn.caption[0])
        mean, *each = (cell.content.value for cell in shown.terminal_tables[0].rows[2].cells)
        assert mean == pytest.approx(np.mean(each)) and shown.results.value("GMoP", "openworld_auc", setting=place)
