"""The plain forms that the bench times are the learners' brute-force twins: full sentences, images run anew."""

from collections import Counter

import pytest
import torch
from learners import Step, difference, make_pool, make_step
from measuring import peak_bytes
from plain_forms import PLAIN_FORMS
from stand_in import build, class_names
from text_tower import NAMES_BY_TOKENS

from openworld.learners import LEARNERS

CLASSES = 7


@pytest.fixture(scope="module")
def clip():
    return build("tiny", 3, "cpu", torch.float64)


@pytest.fixture(scope="module")
def pool(clip):
    return make_pool(clip, max(LEARNERS[name].published("imagenet").schedule.batch_size for name in PLAIN_FORMS))


@pytest.fixture(scope="module")
def step_of(clip, pool):
    def make(name: str) -> Step:
        return make_step(clip, LEARNERS[name].published("imagenet"), pool, CLASSES)

    return make


def test_plain_forms_are_of_learners_that_learn():
    assert set(PLAIN_FORMS) <= {name for name, learner in LEARNERS.items() if hasattr(learner, "start")}


@pytest.mark.parametrize("name", PLAIN_FORMS)
def test_gradients_are_those_of_the_plain_form_for_less_work(name, step_of):
    step = step_of(name)
    full, short = step.multiply_adds()
    assert difference(step.package(), step.plain(keep=600)) < 1e-9
    assert full > short > 0


def test_chunks_change_nothing(step_of):
    step = step_of("DeCoOp")  # three times five sentences
    assert difference(step.plain(keep=600), step.plain(keep=7)) < 1e-9


def test_names_are_distinct_and_as_long_as_imagenets(clip):
    names = class_names(200)
    lengths = Counter(len(tokens) - 2 for tokens in clip.tokenizer([f"{name}." for name in names]))
    assert len(set(names)) == 200
    assert lengths == {tokens: 2 * len(one.split(",")) for tokens, one in NAMES_BY_TOKENS.items()}


def test_peak_of_a_call():
    def run():
        kept = torch.zeros(1000)
        del kept
        return torch.zeros(500)

    result, peak = peak_bytes(run, "cpu")
    assert (len(result), peak) == (500, 4000)
