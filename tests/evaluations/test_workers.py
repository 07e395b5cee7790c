"""How many units are worked on at a time: by cores, and on GPUs by the free memory that the test says they have."""

import os

import pytest
import torch

from openworld.backbones import TwoTower
from openworld.evaluations import read_protocol
from openworld.evaluations.running import CUDA_BYTES, MULTIPLE, RunOptions, count_workers
from openworld.evaluations.runtime import shape

LEARNERS = {"dataset": "emoji-concepts", "learners": [{"learner": "zero-shot"}], "backbone": "ViT-B/16"}


def workers(spec, devices, **more):
    options = RunOptions("folder", **more)
    options.__dict__["devices"] = devices
    return count_workers(options, read_protocol(spec))


@pytest.mark.parametrize(
    ("first", "second", "cores", "precision", "expected"),
    [
        (10, 10, 16, "float32", 2),
        (79, 19, 16, "float32", 4),
        (79, 41, 16, "float32", 8),
        (79, 19, 16, "bfloat16", 6),
        (79, 41, 3, "float32", 3),
        (79, 41, 1, "float32", 2),
    ],
)
def test_each_gpu_holds_as_many_units_as_the_fullest_has_room_for(
    monkeypatch, first, second, cores, precision, expected
):
    free = {"cuda:0": first * 2**30, "cuda:1": second * 2**30}
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free[device], 80 * 2**30))
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert workers(LEARNERS | {"precision": precision}, tuple(free)) == expected


def test_a_unit_takes_a_multiple_of_the_weights_of_its_backbone(monkeypatch):
    with torch.device("meta"):
        weights = sum(weight.numel() for weight in TwoTower(shape("openai/clip-vit-base-patch16")).parameters())
    room = CUDA_BYTES + 4 * MULTIPLE * weights
    for share, expected in ((1.95, 1), (2.05, 2)):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device, share=share: (int(share * room), 0))
        assert workers(LEARNERS, ("cuda:0",)) == expected


def test_elsewhere_memory_is_not_asked_for(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    assert workers(LEARNERS, ("cpu",)) == 16 and workers(LEARNERS, ("mps",)) == 1
    assert workers(LEARNERS, ("cuda:0",), workers=5) == 5
    assert workers("examples/accuracy-estimation-embedded.toml", ("cuda:0", "cuda:1")) == 2
    assert workers(LEARNERS | {"backbone": "transformers:a/b"}, ("cuda:0",)) == 1
