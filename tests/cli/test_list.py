"""`openworld list`: a row for everything that there is, on a hundred columns, and no kind waits for another."""

import subprocess
import sys

import pytest
from in_process import openworld

from openworld import backbones, classifiers, datasets, detectors, estimators, evaluations, learners, metrics
from openworld.api.listing import KINDS
from openworld.learners.engine.parameter_counts import tuned_parameters

ENTRIES = {
    "learners": learners.LEARNERS,
    "detectors": detectors.DETECTORS,
    "estimators": estimators.ESTIMATORS,
    "classifiers": classifiers.ARCHITECTURES,
    "datasets": datasets.DATASETS,
    "backbones": backbones.BACKBONES,
    "metrics": metrics.METRICS,
    "evaluations": evaluations.EVALUATIONS,
}
TRAINS_ON = {"zero-shot": "nothing", "CoOp": "views", "GMoP": "plain", "LoCoOp": "patches", "VPT": "pixels"}
HUNDRED = ("learners", "detectors", "estimators", "classifiers")


def rows_of(kind):
    lines = openworld("list", kind, columns=100).stdout.splitlines()
    names = sorted(ENTRIES[kind], key=len)  # a row of the longer of two names that begin alike
    return {name: line for name in names for line in lines if f"{line} ".startswith(f"{name} ")}, lines


def facts(kind, entry):
    """What the row of an entry says beside its name."""
    if kind == "learners":
        size = f" {tuned_parameters(entry.published('')):,} ".replace(",", " ")
        return [entry.paper, size, entry.cost.split()[0]]
    return {
        "detectors": lambda: [entry.paper.split()[0], entry.needs[0]],
        "estimators": lambda: [entry.paper.split()[0], *entry.needs],
    }.get(kind, list)()


@pytest.mark.parametrize("kind", KINDS)
def test_everything_has_a_row_with_its_facts(kind):
    rows, lines = rows_of(kind)
    assert ENTRIES[kind].keys() <= rows.keys()
    for name, entry in ENTRIES[kind].items():
        assert all(fact in rows[name] for fact in facts(kind, entry)), rows[name]
    assert kind not in HUNDRED or max(map(len, map(str.rstrip, lines))) <= 100


def test_what_a_learner_trains_on_and_how_large_a_network_is():
    rows, lines = rows_of("learners")
    assert all(f" {words} " in rows[name] for name, words in TRAINS_ON.items())
    assert "on ViT-B/16 with 50 base classes" in " ".join(" ".join(lines).split())
    rows, lines = rows_of("classifiers")
    assert "11 220 132" in rows["resnet-18"] and any("timm:NAME" in line for line in lines)


@pytest.mark.parametrize(
    "code",
    [
        "from openworld.cli.app import app; app(['list', 'metrics']); assert 'openworld.learners' not in sys.modules",
        "import openworld.estimators; assert not {'ot', 'PIL', 'pyarrow'} & set(sys.modules)",
    ],
)
def test_other_kinds_wait_neither_for_learners_nor_for_torch(code):
    done = subprocess.run([sys.executable, "-c", f"import sys; {code}; assert 'torch' not in sys.modules"])
    assert done.returncode == 0
