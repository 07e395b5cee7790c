"""Devices by name, by list, or found: with as many GPUs as a test says there are."""

import pytest
import torch

from openworld import OpenworldError
from openworld.backbones.devices import find_device, find_devices


@pytest.fixture
def machine(monkeypatch):
    """Say what the machine has."""

    def has(gpus=0, mps=False):
        monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return has


@pytest.mark.parametrize(
    ("gpus", "mps", "asked", "expected"),
    [
        (0, False, "auto", ("cpu",)),
        (0, True, "auto", ("mps",)),
        (1, True, "auto", ("cuda",)),
        (3, False, "auto", ("cuda:0", "cuda:1", "cuda:2")),
        (3, False, "cuda", ("cuda:0", "cuda:1", "cuda:2")),
        (1, False, "cuda", ("cuda",)),
        (3, False, "cuda:1", ("cuda:1",)),
        (3, False, "cuda:2, cuda:0", ("cuda:2", "cuda:0")),
        (3, True, "cpu", ("cpu",)),
    ],
)
def test_units_are_spread_over_the_devices_found_or_named(machine, gpus, mps, asked, expected):
    machine(gpus, mps)
    assert find_devices(asked) == expected
    if asked in ("auto", "cpu"):  # a command without units finds one device
        assert find_device(asked) == expected[0].partition(":")[0]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("cuda:0,cuda:0", "each of them once"),
        ("cpu,cuda:0", "a list names GPUs by number"),
        ("cuda,cuda:1", "a list names GPUs by number"),
        ("cuda:0,cuda:2", "'cuda:2' is not on this machine.*cuda:0 to cuda:1"),
        ("cuda:0,", "unknown device ''"),
        ("gpu", "unknown device 'gpu'; expected auto"),
        ("mps", "'mps' is not on this machine"),
    ],
)
def test_what_is_no_device_is_refused(machine, asked, words):
    machine(gpus=2)
    with pytest.raises(OpenworldError, match=words):
        find_devices(asked)
    with pytest.raises(OpenworldError, match="one device, such as cuda:0"):
        find_device("cuda:0,cuda:1")
