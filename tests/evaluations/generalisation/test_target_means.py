"""Learners by targets: grouping, means with their intervals and tests, what the tables and the verdict say."""

from dataclasses import replace

import numpy as np
import pytest

from openworld.evaluations.generalisation.report import report_of, target_means
from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.results import join
from openworld.results import RunFolder
from openworld.testing import check_report

LEARNERS = {"zero-shot": (0.5, 0.5, 1.0, 0), "CoOp": (1.4, 0.0, 1.05, 512)}
NAMES = [f"thing {n}" for n in range(8)]
TARGETS = {
    "home": ("source", "home"),
    "drawn": ("variant", "→ drawn"),
    "dark": ("variant", "→ dark"),
    "pets": ("other", "→ pets"),
    "cars": ("other", "→ cars"),
}


@pytest.fixture(scope="module")
def folder(make_run):
    """Two learners with two seeds on a source, two variants and two other data sets."""
    return make_run(learners=LEARNERS, seeds=(1, 2), tasks=tuple(TARGETS), names=NAMES, per_class=6)


@pytest.fixture(scope="module")
def outcomes(folder):
    return tuple(map(as_target, load(folder)))


def as_target(outcome):
    kind, title = TARGETS[outcome.facts["task"]]
    left_out = tuple(f"class {n}" for n in range(8)) if title == "→ cars" else ()
    about = {"kind": kind, "target": title, "wordnet": True, "left_out": left_out}
    return replace(outcome, facts={**outcome.facts, **about})


@pytest.fixture(scope="module")
def results(outcomes):
    return join(outcomes)


@pytest.fixture(scope="module")
def averages(results):
    return target_means(results)


def test_targets_are_grouped_by_kind_and_titled_by_name(averages):
    found = [(one.kind, one.source.title, [target.title for target in one.targets]) for one in averages]
    assert found == [("variant", "home", ["→ drawn", "→ dark"]), ("other", "home", ["→ pets", "→ cars"])]
    assert [one.counted for one in averages] == ["2 variants", "2 other data sets"]


def test_seeds_of_the_mean_are_means_of_seeds_and_pairs_of_means_are_tested(averages):
    mean = averages[0].results
    found = mean.result("CoOp", "openworld_auc")
    per_seed = [target.result("CoOp", "openworld_auc").per_seed for target in averages[0].targets]
    assert found.per_seed == pytest.approx(np.mean(per_seed, axis=0))
    assert found.value.over("seeds") and found.value.over("images")
    (test,) = mean.comparisons
    first, second = (mean.value(name, "openworld_auc").value for name in (test.entity, test.other))
    assert test.difference == pytest.approx(first - second)


def test_shared_base_images_count_once(outcomes, averages):
    """The same records as variants would take the source's base images for others at every target."""
    other = {"other": "variant", "variant": "other", "source": "source"}
    turned = [replace(one, facts={**one.facts, "kind": other[one.facts["kind"]]}) for one in outcomes]
    apart = next(one for one in target_means(join(turned)) if one.targets[0].title == "→ pets")
    first, second = (one.results.value("zero-shot", "openworld_auc").over("images") for one in (averages[1], apart))
    assert first != second


def test_other_runs_have_no_targets(small_results, outcomes):
    assert target_means(small_results) == ()
    lacking = [one for one in outcomes if (one.facts["task"], one.learner) != ("dark", "CoOp")]
    assert target_means(join(lacking)) == ()


def test_an_undefined_target_leaves_the_mean_undefined(make_run):
    few = {"learners": LEARNERS, "seeds": (1,), "names": NAMES, "per_class": 4}
    whole, empty = (
        load(make_run(tasks=("home", "drawn"), **few)),
        load(make_run(tasks=("dark",), sides=("base",), **few)),
    )
    results = join([as_target(one) for one in (*whole, *empty)])
    (one,) = target_means(results)
    assert all(row.value.value is None for row in one.results.where(metric="openworld_auc"))
    assert all(test.p is None for test in one.results.comparisons)


def test_a_report_has_the_means_first_and_says_what_it_rests_on(folder, results):
    one = report_of(RunFolder.read(folder), results)
    check_report(one)
    heads = [column.heading for column in one.terminal_tables[0].columns]
    assert heads == ["mean over 2 variants", "mean over 2 other data sets", *(title for _, title in TARGETS.values())]
    assert "WordNet's names): → cars 8 classes" in one.terminal_tables[0].caption
    assert len(one.results.where(setting="mean over 2 variants", metric="openworld_auc")) == 2
    assert sum(test.where["setting"] == "mean over 2 variants" for test in one.results.comparisons) == 1
