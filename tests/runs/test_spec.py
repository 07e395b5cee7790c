from dataclasses import dataclass, field
from typing import Any, Literal, Optional

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openworld.core.errors import OpenworldError
from openworld.runs import read_given, read_spec, to_json


@dataclass(frozen=True)
class Learner:
    name: Literal["CoOp", "GMoP"]
    epochs: int = 50
    rate: float = 0.002
    gate: str | None = None

    def __post_init__(self):
        if self.epochs < 1:
            raise OpenworldError(f"epochs is {self.epochs}, expected 1 or more.")


@dataclass(frozen=True)
class Spec:
    title: str
    seeds: tuple[int, ...] = (1, 2, 3)
    size: tuple[int, float] = (224, 1.0)
    learners: tuple[Learner, ...] = ()
    main: Optional[Learner] = None  # noqa: UP045  the old spelling must work too
    weights: dict[str, float] = field(default_factory=dict)
    limit: int | float | None = None
    extra: Any = None
    quick: bool = False


COOP = {"name": "CoOp"}
TOML = """
title = "a run"
seeds = [4, 5]
size = [32, 2]
quick = true
extra = {note = ["free"]}

[main]
name = "GMoP"
rate = 1

[[learners]]
name = "CoOp"
gate = "sigmoid"

[weights]
base = 1
"""


def test_toml_fills_nested_dataclasses(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(TOML)
    spec, learners = read_spec(path, Spec), (Learner("CoOp", gate="sigmoid"),)
    main, more = Learner("GMoP", rate=1.0), {"extra": {"note": ["free"]}, "quick": True}
    assert spec == Spec("a run", (4, 5), (32, 2.0), learners, main, {"base": 1.0}, **more)
    assert type(spec.main.rate) is float and type(spec.size[1]) is float
    assert read_spec(str(path), Spec) == spec


learners = st.builds(
    Learner,
    st.sampled_from(["CoOp", "GMoP"]),
    st.integers(1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.text(),
)
specs = st.builds(
    Spec,
    st.text(),
    learners=st.lists(learners, max_size=3).map(tuple),
    main=st.none() | learners,
    weights=st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False)),
    limit=st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    quick=st.booleans(),
)


@settings(max_examples=50, deadline=None)
@given(specs)
def test_json_round_trip_loses_nothing(spec):
    again = read_spec(to_json(spec), Spec)
    assert again == spec
    assert to_json(again) == to_json(spec)


def test_json_files_and_instances_are_read_as_they_are(tmp_path):
    (tmp_path / "spec.json").write_text('{"title": "x"}')
    assert read_spec(tmp_path / "spec.json", Spec) == Spec("x")
    assert read_spec({"title": "x", "main": Learner("CoOp")}, Spec).main == Learner("CoOp")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sedes": [1]}, r"^sedes: unknown key 'sedes'; did you mean 'seeds'\? Known: title, seeds, size"),
        ({"main": COOP | {"epoch": 3}}, r"^main\.epoch: unknown key 'epoch'; did you mean 'epochs'\?"),
        ({"learners": [COOP, {}]}, r"^learners\[1\]\.name: this key is missing; expected one of 'CoOp'"),
        ({"learners": [{"name": "coop"}]}, r"^learners\[0\]\.name: unknown value 'coop'; did you mean 'CoOp'\?"),
        ({"main": COOP | {"epochs": "9"}}, r"^main\.epochs: '9' came \(str\), expected an integer\.$"),
        ({"main": COOP | {"epochs": True}}, r"^main\.epochs: True came \(bool\), expected an integer"),
        ({"main": COOP | {"epochs": 0}}, r"^main: epochs is 0, expected 1 or more"),
        ({"main": COOP | {"rate": float("nan")}}, r"^main\.rate: nan came \(float\), expected a finite number"),
        ({"main": "CoOp"}, r"^main: 'CoOp' came \(str\), expected a table of keys"),
        ({"main": COOP | {"gate": 1}}, r"^main\.gate: 1 came \(int\), expected text"),
        ({"seeds": 1}, r"^seeds: 1 came \(int\), expected a list, each entry an integer"),
        ({"seeds": [1, 2.0]}, r"^seeds\[1\]: 2\.0 came \(float\), expected an integer"),
        ({"size": [1]}, r"^size: 1 entries came, expected 2: a list of 2: an integer, a finite number"),
        ({"weights": {"base": "1"}}, r"^weights\.base: '1' came"),
        ({"weights": 3}, r"^weights: 3 came \(int\), expected a table, each entry a finite number"),
        ({"limit": "x"}, r"^limit: 'x' came \(str\), expected an integer or a finite number or nothing"),
        ({"quick": 1}, r"^quick: 1 came \(int\), expected true or false"),
        ({"extra": {1, 2}}, r"^extra is a set"),
    ],
)
def test_refusals_name_the_key_what_came_and_what_was_expected(change, message):
    with pytest.raises(OpenworldError, match=message):
        read_spec({"title": "x"} | change, Spec)


def test_refusals_of_files_name_the_file(tmp_path):
    broken, wrong = tmp_path / "broken.toml", tmp_path / "wrong.toml"
    broken.write_text("title = ")
    wrong.write_text("titel = 'x'")
    with pytest.raises(OpenworldError, match=r"broken\.toml: not a valid \.toml file: Invalid value"):
        read_spec(broken, Spec)
    with pytest.raises(OpenworldError, match=r"wrong\.toml: titel: unknown key 'titel'; did you mean 'title'"):
        read_spec(wrong, Spec)
    with pytest.raises(OpenworldError, match=r"there is no file .*absent\.toml"):
        read_spec(tmp_path / "absent.toml", Spec)
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(OpenworldError, match=r"broken\.toml is not UTF-8 text"):
        read_spec(broken, Spec)


def test_a_schema_that_specs_cannot_hold_is_the_programmers_error():
    @dataclass(frozen=True)
    class Odd:
        values: set

    with pytest.raises(TypeError, match="specs cannot hold"):
        read_spec({"values": [1]}, Odd)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@pytest.mark.parametrize(
    ("value", "reason"), [("[" * 100_000 + "]" * 100_000, "nested too deep"), ("9" * 5000, "valid .* file: .*digits")]
)
def test_a_file_nested_too_deep_or_with_a_number_too_long_is_named(tmp_path, suffix, value, reason):
    path = tmp_path / f"spec{suffix}"
    path.write_text(f"shots = {value}" if suffix == ".toml" else f'{{"shots": {value}}}')
    with pytest.raises(OpenworldError, match=rf"spec\{suffix}: .*{reason}"):
        read_given(path)
