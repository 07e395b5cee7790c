"""The question of an image: its answers, and what each of them says."""

import pytest

from openworld import OpenworldError
from openworld.own_data.label.question import ImageAnswer, Names

pytestmark = pytest.mark.base

ONE = Names(("cat",), ("yak",))
TWO = Names(("cat", "dog"), ("yak", "yak"))
CLOSED = Names(("cat", "dog"))
BASE, NEW = ("cat", "dog", "cow"), ("yak", "gnu")


@pytest.mark.parametrize(
    ("names", "code", "expected"),
    [
        (ONE, "base right", ImageAnswer(True, (True,))),
        (ONE, "2", ImageAnswer(True, (False,))),
        (ONE, " New  RIGHT ", ImageAnswer(False, (True,))),
        (ONE, "4", ImageAnswer(False, (False,))),
        (TWO, "base other right", ImageAnswer(True, (False, True))),
        (TWO, "base wrong", ImageAnswer(True, (False, False))),
        (TWO, "new right", ImageAnswer(False, (True, True))),
        (CLOSED, "other right", ImageAnswer(None, (False, True))),
    ],
)
def test_an_answer_speaks_of_every_model(names, code, expected):
    assert names.read(code) == expected


@pytest.mark.parametrize(
    ("names", "label", "expected"),
    [
        (TWO, "Dog", ImageAnswer(True, (False, True), "Dog")),
        (TWO, "cow", ImageAnswer(True, (False, False), "cow")),
        (ONE, "gnu", ImageAnswer(False, (False,), "gnu")),
    ],
)
def test_a_true_class_name_says_as_much(names, label, expected):
    assert names.read_label(label, BASE, NEW) == expected


def test_a_closed_set_is_asked_for_its_names_alone():
    assert [option.code for option in CLOSED.options()] == ["right", "other right", "wrong"]
    assert CLOSED.read_label("cat", BASE, ()) == ImageAnswer(None, (True, False), "cat")


def test_what_nobody_knows_is_refused():
    with pytest.raises(OpenworldError, match="unknown answer 'new other right'"):
        TWO.read("new other right")
    with pytest.raises(OpenworldError, match="did you mean 'cow'"):
        ONE.read_label("cwo", BASE, NEW)
    with pytest.raises(OpenworldError, match="knows no class names"):
        ONE.read_label("cow", (), ())
