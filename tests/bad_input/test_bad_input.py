"""Bad values in every argument of every public function: a right number, None with a reason, or OpenworldError.

Of a function with several arguments of a type each meets a part of the kinds, a quarter at least, and all of them
together every kind; the slow tests try every kind in each.
"""

import pytest
from enrolled import ROOMS
from judging import good, outcomes


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_function_is_enrolled_with_all_its_arguments(room):
    found = ROOMS[room]
    assert found.public() - found.answered_for() == set()
    assert found.forgotten_arguments() == set()


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("room", "name"), [(room, name) for room in ROOMS for name in ROOMS[room].calls()])
def test_a_bad_value_is_refused_and_an_odd_one_answered_as_its_plain_twin(room, name, every):
    call = ROOMS[room].calls()[name]
    assert good(call), "the call is refused with its good values, so that all others would be"
    found = list(outcomes(call, every))
    assert found
    assert [f"{one.argument} {one.kind}: {one.fault}" for one in found if one.fault is not None] == []
