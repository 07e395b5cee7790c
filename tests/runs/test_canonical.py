import json
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openworld.core.errors import OpenworldError
from openworld.runs import canonical_json, digest, readable_json, to_json

few = settings(max_examples=50, deadline=None)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@few
@given(values)
def test_canonical_text_reads_back_exactly_and_is_its_own_canonical_text(value):
    text = canonical_json(value)
    assert canonical_json(json.loads(text)) == text
    assert json.loads(text) == value
    assert json.loads(readable_json(value)) == value


@few
@given(st.dictionaries(st.text(), leaves), st.randoms())
def test_order_of_keys_does_not_matter(value, random):
    items = list(value.items())
    random.shuffle(items)
    assert digest(OrderedDict(items)) == digest(value)


def test_known_digest():
    # printf '{"a":[1,0.1],"b":"é"}' | sha256sum
    assert canonical_json({"b": "é", "a": (1, 0.1)}) == '{"a":[1,0.1],"b":"é"}'
    assert digest({"b": "é", "a": (1, 0.1)}) == "38fe0f4522fbad135142287885d3973f81c4b4a35804d2d11c734e8469391da3"
    assert len({digest(1), digest(1.0), digest(True)}) == 3


def test_numpy_and_dataclasses_become_plain():
    @dataclass(frozen=True)
    class Point:
        x: tuple[int, ...] = (1, 2)

    plain = to_json({"p": Point(), "a": np.arange(4).reshape(2, 2), "f": np.float32(0.5), "b": np.bool_(True)})
    assert plain == {"p": {"x": [1, 2]}, "a": [[0, 1], [2, 3]], "f": 0.5, "b": True}
    assert type(plain["f"]) is float and type(plain["b"]) is bool


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"table": [{"value": float("nan")}]}, r"metrics\.table\[0\]\.value is nan"),
        ({"far": np.array([1.0, np.inf])}, r"metrics\.far\[1\] is inf"),
        ({"when": {1, 2}}, r"metrics\.when is a set"),
        ({"deep": {3: "x"}}, r"metrics\.deep has the key 3"),
        ({"text": "\ud800"}, r"metrics\.text .* not valid Unicode"),
    ],
)
def test_what_json_cannot_hold_is_named(value, place):
    with pytest.raises(OpenworldError, match=place):
        canonical_json(value, "metrics")
