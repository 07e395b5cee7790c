"""How many units share a GPU, by its free memory as the test says it, and what a unit is taken to need."""

import os
from dataclasses import replace

import pytest
import torch

from openworld.backbones import TwoTower, TwoTowerConfig
from openworld.evaluations import read_protocol
from openworld.evaluations.learning_units import LearningUnit
from openworld.evaluations.unit_memory import MOST_UNITS, count_units, needed_by, unit_bytes
from openworld.learners import VPT, CoOp, KgCoOp, Schedule

GIB = 2**30


@pytest.fixture
def free(monkeypatch):
    """Say how many GiB each GPU has free."""

    def has(**gibibytes):
        sizes = {f"cuda:{name[1:]}": size * GIB for name, size in gibibytes.items()}
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (sizes[device], 80 * GIB))
        monkeypatch.setattr(os, "cpu_count", lambda: 16)

    return has


@pytest.mark.parametrize(
    ("first", "second", "needed", "expected"),
    [(79, 79, 20, 6), (79, 41, 20, 4), (79, 79, 1, 2 * MOST_UNITS), (79, 79, 100, 2), (79, 79, None, 2)],
)
def test_each_gpu_holds_as_many_units_as_the_fullest_has_room_for(free, first, second, needed, expected):
    free(_0=first, _1=second)
    assert count_units(("cuda:0", "cuda:1"), lambda: needed and needed * GIB) == expected


def test_there_are_no_more_units_than_cores_and_one_on_each_gpu(free, monkeypatch):
    free(_0=79, _1=79)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert count_units(("cuda:0", "cuda:1"), lambda: GIB) == 3
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert count_units(("cuda:0", "cuda:1"), lambda: GIB) == 2


def test_elsewhere_memory_is_not_asked_for(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    assert count_units(("cpu",), pytest.fail) == 16
    assert count_units(("mps",), pytest.fail) == 1


def work(learner, classes):
    return LearningUnit(learner, classes, training=None, tests=(), answers=0)


def test_a_unit_needs_more_for_more_names_up_to_what_is_kept_at_a_time_and_half_in_half_precision():
    config, coop = TwoTowerConfig(), CoOp()
    few, many, most, more = (unit_bytes(config, [work(coop, count)]) for count in (10, 500, 2000, 4000))
    assert GIB < few < many < most == more < 16 * GIB
    assert unit_bytes(config, [work(coop, 10), work(coop, 500)]) == many
    assert unit_bytes(config, [work(coop, 500)], itemsize=2) - GIB == (many - GIB) / 2


def test_without_names_it_needs_what_the_weights_of_the_backbone_take():
    config = TwoTowerConfig()
    with torch.device("meta"):
        numbers = sum(weight.numel() for weight in TwoTower(config).parameters())
    assert unit_bytes(config, []) - GIB == pytest.approx(4 * numbers, rel=0.02)


def test_a_learner_that_runs_the_image_tower_needs_memory_for_every_picture_of_a_batch():
    config = TwoTowerConfig()
    small, large = (VPT(schedule=replace(VPT().schedule, batch_size=size)) for size in (4, 32))
    assert unit_bytes(config, [work(large, 10)]) > 4 * unit_bytes(config, [work(small, 10)]) - 4 * GIB
    same = (CoOp(schedule=Schedule(batch_size=size)) for size in (4, 32))
    assert len({unit_bytes(config, [work(one, 10)]) for one in same}) == 1
    assert unit_bytes(config, [work(KgCoOp(), 10)]) < unit_bytes(config, [work(large, 10)])


def test_it_is_told_of_runs_of_learners_alone(shapes):
    given = {"dataset": str(shapes), "learners": ({"learner": "CoOp"},), "seeds": (1,), "shots": 2, "views": 1}
    assert GIB < needed_by([read_protocol(given)]) < 2 * GIB
    estimation = read_protocol("examples/accuracy-estimation-embedded.toml")
    assert needed_by([read_protocol(given), estimation]) is None


def test_what_a_unit_needs_is_not_known_of_a_backbone_that_another_library_runs():
    given = {"dataset": "emoji-concepts", "learners": [{"learner": "zero-shot"}], "backbone": "transformers:a/b"}
    assert needed_by([read_protocol(given)]) is None
