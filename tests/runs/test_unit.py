import pytest

from openworld.core.errors import OpenworldError
from openworld.runs import Unit, UnitResult, digest
from openworld.runs.unit_names import FUNCTIONS


def test_key_is_the_digest_of_all_that_decides_the_result():
    unit = Unit("example_units:draw", {"seed": 1, "size": 2}, {"weights": "ab"}, 3, "name", {"pause": 0.0})
    stated = {"version": 3, "inputs": {"weights": "ab"}, "arguments": {"size": 2, "seed": 1}}
    assert unit.key == digest(stated | {"function": "example_units:draw"})


@pytest.mark.parametrize(
    "change",
    [{"function": "a:b"}, {"arguments": {"seed": 2}}, {"inputs": {"weights": "cd"}}, {"version": 2}],
)
def test_each_part_changes_the_key_and_nothing_else_does(change):
    stated = {"function": "example_units:draw", "arguments": {"seed": 1}, "inputs": {"weights": "ab"}, "version": 1}
    unit = Unit(**stated)
    assert Unit(**(stated | change)).key != unit.key
    assert Unit(**stated, name="other", resources={"device": "cuda"}) == unit
    assert hash(Unit(**stated, name="other")) == hash(unit)


def test_where_a_unit_is_computed_is_no_part_of_its_key():
    unit = Unit("example_units:located", {"n": 0}, resources={"machine": {"device": "cuda:0", "cache": "here"}})
    assert unit.on("cuda:1") == unit and unit.on("cuda:1").key == unit.key
    assert unit.on("cuda:1").resources["machine"] == {"device": "cuda:1", "cache": "here"}


def test_run_calls_the_function_with_arguments_resources_and_inputs():
    result = Unit("example_units:draw", {"seed": 1, "size": 2}, resources={"pause": 0.0}).run()
    assert isinstance(result, UnitResult) and len(result.outputs["scores"]["label"]) == 2
    with pytest.raises(TypeError, match="inputs"):
        Unit("example_units:draw", {"seed": 1}, {"weights": "ab"}).run()
    plain = Unit("example_units:draw")
    assert plain.name == f"example_units:draw {plain.key[:8]}"


@pytest.mark.parametrize("function", ["draw", "example_units.draw", "a b:c", ":draw", "example_units:draw()"])
def test_refuses_what_is_not_a_function_name(function):
    with pytest.raises(OpenworldError, match="must look like 'package.module:name'"):
        Unit(function)


def test_refuses_functions_that_do_not_exist_and_results_that_are_none():
    with pytest.raises(OpenworldError, match=r"unknown function of example_units 'drew'; did you mean 'draw'\?"):
        Unit("example_units:drew").resolve()
    with pytest.raises(OpenworldError, match="cannot import no_such_module"):
        Unit("no_such_module:draw").resolve()
    with pytest.raises(OpenworldError, match="returned a dict, expected a UnitResult"):
        Unit("example_units:not_a_result").run()


def test_refuses_one_name_as_argument_and_resource_and_what_json_cannot_hold():
    with pytest.raises(OpenworldError, match="seed came as argument and as resource"):
        Unit("example_units:draw", {"seed": 1}, resources={"seed": 2})
    with pytest.raises(OpenworldError, match=r"arguments\.rate is nan"):
        Unit("example_units:draw", {"rate": float("nan")})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_name_of_a_unit_leads_to_its_function(name):
    assert callable(Unit(name).resolve())
