"""IVLP: the phrase that it starts from."""

import pytest
import torch

from openworld import OpenworldError
from openworld.learners import IVLP
from openworld.learners.engine.prompts import split_phrase


def test_a_phrase_is_split_where_its_words_end(clip):
    assert split_phrase(clip, "a photo  of a", 2) == ("a photo", "of a")
    assert split_phrase(clip, "a photo of a", 4) == ("a photo of a", "")
    with pytest.raises(OpenworldError, match="no first words of 'a photo of a' are 5 tokens long"):
        IVLP(text_length=5).start(clip, ("owl",), torch.Generator())
