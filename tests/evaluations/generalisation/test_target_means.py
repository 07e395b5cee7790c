"""Learners by targets: grouping, means with their intervals and tests, what the tables and the verdict say."""

from dataclasses import replace

import numpy as np
import pytest

from openworld.evaluations.generalisation.report import report_of, target_means, targets_of
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
def targets(results):
    """By kind."""
    source, targets = targets_of(results)
    assert source.title == "home"
    return targets


def test_targets_are_grouped_by_kind_and_titled_by_name(targets):
    titles = {kind: [target.title for target in each] for kind, each in targets.items()}
    assert titles == {"variant": ["→ drawn", "→ dark"], "other": ["→ pets", "→ cars"]}


def test_seeds_of_the_mean_are_means_of_seeds_and_pairs_of_means_are_tested(targets):
    mean = target_means("variant", targets["variant"])
    found = mean.result("CoOp", "openworld_auc")
    per_seed = [target.result("CoOp", "openworld_auc").per_seed for target in targets["variant"]]
    assert found.per_seed == pytest.approx(np.mean(per_seed, axis=0))
    assert found.value.over("seeds") and found.value.over("images")
    (test,) = mean.comparisons
    first, second = (mean.value(name, "openworld_auc").value for name in (test.entity, test.other))
    assert test.difference == pytest.approx(first - second)


def test_shared_base_images_count_once(targets):
    """As variants, the same targets would take the source's base images for others at each."""
    means = (target_means(kind, targets["other"]) for kind in ("other", "variant"))
    together, apart = (each.value("zero-shot", "openworld_auc").over("images") for each in means)
    assert together != apart


def test_other_runs_have_no_targets(small_results, outcomes):
    lacking = [one for one in outcomes if (one.facts["task"], one.learner) != ("dark", "CoOp")]
    assert targets_of(small_results) == targets_of(join(lacking)) == (None, {})


def test_an_undefined_target_leaves_the_mean_undefined(make_run):
    few = {"learners": LEARNERS, "seeds": (1,), "names": NAMES, "per_class": 4}
    runs = {"tasks": ("home", "drawn")}, {"tasks": ("dark",), "sides": ("base",)}
    _, targets = targets_of(join([as_target(one) for run in runs for one in load(make_run(**few, **run))]))
    mean = target_means("variant", targets["variant"])
    assert all(row.value.value is None for row in mean.where(metric="openworld_auc"))
    assert all(test.p is None for test in mean.comparisons)


def test_a_report_has_the_means_first_and_says_what_it_rests_on(folder, results):
    one = report_of(RunFolder.read(folder), results)
    check_report(one)
    heads = [column.heading for column in one.terminal_tables[0].columns]
    assert heads == ["mean over 2 variants", "mean over 2 other data sets", *(title for _, title in TARGETS.values())]
    assert "WordNet's names): → cars 8 classes" in one.terminal_tables[0].caption
    assert len(one.results.where(setting="mean over 2 variants", metric="openworld_auc")) == 2
    assert sum(test.where["setting"] == "mean over 2 variants" for test in one.results.comparisons) == 1
