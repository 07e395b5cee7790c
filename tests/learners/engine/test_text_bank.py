"""Names and text banks by hand."""

import pytest
import torch

from openworld import OpenworldError
from openworld.learners import NameSets, TextBank
from openworld.learners.engine.text_bank import answer_by_cosine


def test_base_names_come_first_and_training_names_default_to_them():
    names = NameSets(("cat", "dog"), ("owl",))
    assert names.all == ("cat", "dog", "owl")
    assert names.training == ("cat", "dog")
    assert NameSets(("cat",), (), ("cat", "dog")).training == ("cat", "dog")


@pytest.mark.parametrize(
    ("base", "new", "sentence"),
    [
        ((), ("owl",), "no base name"),
        (("cat", " "), (), "1 of 2 class names are empty"),
        (("cat", "Cat"), (), "'cat' occurs 2 times"),
        (("ice_cream",), ("ice cream",), "'ice cream' occurs 2 times"),
    ],
)
def test_names_that_no_prompt_tells_apart_are_refused(base, new, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        NameSets(base, new)


def test_logits_and_score_of_one_image():
    # Cosines 1, 0 and 0 with two base names and a new one, at scale log 2: softmax 2/4, 1/4, 1/4.
    bank = TextBank(torch.eye(3), 2, torch.tensor(2.0).log())
    image = torch.tensor([[7.0, 0.0, 0.0]])
    answer = answer_by_cosine(image, bank)
    torch.testing.assert_close(answer.logits, torch.tensor([[0.6931472, 0.0, 0.0]]))
    torch.testing.assert_close(answer.baseness.exp(), torch.tensor([0.5]))
