"""The question of an image: its answers, and what each of them says."""

import pytest

from openworld import OpenworldError
from openworld.own_data.label.question import ImageAnswer, Names

ONE = Names(("cat",), ("yak",))
TWO = Names(("cat", "dog"), ("yak", "yak"))
CLOSED = Names(("cat", "dog"))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("base right", ImageAnswer(True, (True,))),
        ("2", ImageAnswer(True, (False,))),
        (" New  RIGHT ", ImageAnswer(False, (True,))),
        ("4", ImageAnswer(False, (False,))),
    ],
)
def test_four_answers_to_one_model(code, expected):
    assert ONE.read(code) == expected


def test_a_name_of_the_second_model_is_an_answer_of_its_own():
    assert TWO.read("base other right") == ImageAnswer(True, (False, True))
    assert TWO.read("base wrong") == ImageAnswer(True, (False, False))
    assert TWO.read("new right") == ImageAnswer(False, (True, True))
    with pytest.raises(OpenworldError, match="unknown answer 'new other right'"):
        TWO.read("new other right")


def test_a_closed_set_is_asked_for_its_names_alone():
    assert [option.code for option in CLOSED.options()] == ["right", "other right", "wrong"]
    assert CLOSED.read("other right") == ImageAnswer(None, (False, True))


def test_a_true_class_name_says_as_much():
    base, new = ("cat", "dog", "cow"), ("yak", "gnu")
    assert TWO.read_label("Dog", base, new) == ImageAnswer(True, (False, True), "Dog")
    assert TWO.read_label("cow", base, new) == ImageAnswer(True, (False, False), "cow")
    assert ONE.read_label("gnu", base, new) == ImageAnswer(False, (False,), "gnu")
    assert CLOSED.read_label("cat", base, ()) == ImageAnswer(None, (True, False), "cat")


def test_a_name_that_nobody_knows_is_refused_with_the_nearest():
    with pytest.raises(OpenworldError, match="did you mean 'cow'"):
        ONE.read_label("cwo", ("cat", "cow"), ("yak",))
    with pytest.raises(OpenworldError, match="knows no class names"):
        ONE.read_label("cow", (), ())
