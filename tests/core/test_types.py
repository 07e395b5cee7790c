"""Arguments checked against annotations: what is taken, what is refused, and in which words."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas
import pytest
import torch

from openworld.core.errors import OpenworldError
from openworld.core.types import Limit, Positive, Range, checked
from openworld.learners import Schedule
from openworld.runs import read_spec


@checked
@dataclass(frozen=True)
class Settings:
    rate: float = 0.5
    steps: int = 1
    mode: Literal["fast", "slow"] = "fast"
    cuts: tuple[float, ...] = ()
    seed: int = 0
    name: str | None = None
    ends: tuple[Limit, Limit] = (0.0, 1.0)


@checked
def called(own: Settings, many: Sequence[str], table: Mapping[str, int], parts: Iterable, array: np.ndarray, free: Any):
    return own, many, table, parts, array, free


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"rate": "a"}, "rate: 'a' came .str., expected a finite number"),
        ({"rate": True}, "rate: True came .bool."),
        ({"rate": float("nan")}, "rate: nan"),
        ({"rate": 10**400}, "rate: .*expected a finite number"),
        ({"rate": 10**5000}, "rate: a value came .int."),
        ({"rate": np.array([1.0, 2.0])}, r"rate: shape \[2\] came .ndarray."),
        ({"rate": np.datetime64("NaT")}, "rate: .*datetime64"),
        ({"steps": 1.0}, "steps: 1.0 came .float., expected an integer"),
        ({"steps": False}, "steps: False came .bool."),
        ({"steps": 2**63}, "64 bits"),
        ({"mode": "fats"}, "mode: unknown value 'fats'; did you mean 'fast'"),
        ({"mode": None}, "mode: None came"),
        ({"cuts": [0.1, "x"]}, r"cuts\[1\]: 'x' came"),
        ({"cuts": "0.1"}, "cuts: '0.1' came .str., expected a list"),
        ({"seed": -1}, "seed of 0 or more"),
        ({"name": 3}, "name: 3 came .int., expected text"),
        ({"ends": (0.0, float("nan"))}, r"ends\[1\]: nan"),
        ({"ends": (0.0,)}, "1 entries came, expected 2"),
    ],
)
def test_settings_of_a_wrong_type_are_refused_by_name(given, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        Settings(**given)


def test_numbers_of_numpy_and_lists_become_what_is_annotated():
    found = Settings(np.float32(0.25), np.uint8(3), cuts=np.array([0.5, 1]), name=np.str_("a"), ends=[0, float("inf")])
    assert found == Settings(0.25, 3, cuts=(0.5, 1.0), name="a", ends=(0.0, float("inf")))
    assert [type(one) for one in (found.rate, found.steps, found.cuts[0], found.name)] == [float, int, float, str]


@pytest.mark.parametrize("make", [np.array, torch.tensor, pandas.Series, lambda numbers: list(np.array(numbers))])
def test_a_sequence_of_numbers_may_be_an_array_a_tensor_or_a_column(make):
    @checked
    def entries(p_values: Sequence[float | None], cuts: tuple[float, ...] = ()):
        return p_values, cuts

    assert entries(make([0.25, 0.5]), make([1.0, 2.0])) == ([0.25, 0.5], (1.0, 2.0))
    assert entries([None, np.float64(0.5)])[0] == [None, 0.5]
    for wrong in (make([0.25, np.nan]), np.zeros(2, "M8[ns]"), np.ma.array([0.25], mask=[True])):
        with pytest.raises(OpenworldError, match=r"p_values\[\d\]"):
            entries(wrong)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"top": 0}, "top is 0, expected 1 or more"),
        ({"part": 1.5}, "part is 1.5, expected a fraction from 0 to 1"),
        ({"device": "gpu"}, "unknown device 'gpu'; expected auto, cpu"),
        ({"out": ""}, "out: '' came .str., expected a path or text or nothing"),
        ({"out": b"x"}, "out: b'x' came"),
        ({"rest": 3}, "rest: 3 came .int., expected text"),
    ],
)
def test_ranges_devices_paths_and_open_arguments_are_checked(given, sentence):
    share = Annotated[float, Range(0, 1)]

    @checked
    def called(
        *parts: int, top: Positive = 1, part: share = 0.5, device="cpu", out: Path | str | None = None, **x: str
    ):
        return parts, out, x

    assert called(1, np.int64(2), out="a", more="b") == ((1, 2), Path("a"), {"more": "b"})
    with pytest.raises(OpenworldError, match=r"^parts\[1\]: 'b'"):
        called(1, "b")
    with pytest.raises(OpenworldError, match=sentence):
        called(**given)


@pytest.mark.parametrize(
    "settings", [{"epochs": "x"}, {"learning_rate": float("nan")}, {"decay": "linear"}, {"epochs": 0}, {"momentum": 2}]
)
def test_settings_from_a_spec_and_built_in_python_are_refused_with_the_same_sentence(settings):
    with pytest.raises(OpenworldError) as built:
        Schedule(**settings)
    with pytest.raises(OpenworldError) as read:
        read_spec(settings, Schedule)
    assert str(built.value) == str(read.value)


def test_what_a_function_is_called_with_is_checked_and_its_signature_stays():
    good = {"own": Settings(), "many": ["a"], "table": {"a": 1}, "parts": iter([]), "array": "anything", "free": None}
    assert called(**good)[1] == ["a"] and called(*good.values())[2] == {"a": 1}
    assert list(inspect.signature(called).parameters) == list(good)
    assert list(inspect.signature(Settings).parameters)[:2] == ["rate", "steps"]
    wrong_of = {"own": [3], "many": ["text", [1], 3], "table": [[], {"a": "b"}], "parts": [3]}
    for name, wrong in ((name, wrong) for name, every in wrong_of.items() for wrong in every):
        with pytest.raises(OpenworldError, match=f"^{name}"):
            called(**good | {name: wrong})
