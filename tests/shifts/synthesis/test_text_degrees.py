"""Degrees of prompts: those of their features, however they are cut into chunks."""

import zlib

import numpy as np
import pytest
import torch

from openworld.core.errors import OpenworldError
from openworld.shifts import Decomposition, shift_degrees
from openworld.shifts.synthesis import prompt_degrees


def encode(texts):
    return np.stack([np.random.RandomState(zlib.crc32(text.encode())).normal(size=8) for text in texts])


@pytest.fixture(scope="module")
def halves():
    return Decomposition.of_matrix(torch.linalg.qr(torch.randn(8, 8, generator=torch.Generator().manual_seed(0)))[0])


@pytest.mark.parametrize(("chunk", "sizes"), [(1, (30,)), (5, (1, 29)), (12, (10, 2, 18))])
def test_they_are_those_of_all_texts_at_once_and_of_the_whole_reference(prompts, halves, chunk, sizes):
    reference = np.random.RandomState(1).normal(size=(30, 8))
    blocks = tuple(np.split(reference, np.cumsum(sizes)[:-1]))
    found = prompt_degrees(prompts, encode, halves, blocks, k=3, chunk=chunk)
    whole = shift_degrees(halves, encode(prompts.texts(0, 12)), reference, k=3)
    assert len(found) == 12
    for half in ("semantic", "covariate"):
        mine, theirs = getattr(found, half), getattr(whole, half)
        np.testing.assert_allclose(mine.distances, theirs.distances, rtol=0, atol=1e-9)
        assert np.array_equal(mine.places, theirs.places)


def test_wrong_encoders_are_refused(prompts, halves):
    with pytest.raises(OpenworldError, match="encode gave 11 rows for 12 texts"):
        prompt_degrees(prompts, lambda texts: encode(texts[1:]), halves, np.eye(8))
    with pytest.raises(OpenworldError, match="7 features a row"):
        prompt_degrees(prompts, lambda texts: encode(texts)[:, :7], halves, np.eye(8))
