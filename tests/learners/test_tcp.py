"""TCP: the sentences around class tokens, the block where they enter."""

import pytest
import torch

from openworld import OpenworldError
from openworld.datasets.templates import TCP_BEHIND, TCP_TEACHER, TEMPLATES
from openworld.learners import TCP, NameSets

NAMES = ("golden retriever", "ice_cream", "owl", "fried rice")


def started(learner, clip):
    parameters = learner.start(clip, NAMES, torch.Generator().manual_seed(0))
    return {name: tensor.to(clip.dtype) for name, tensor in parameters.items()}


def test_the_block_scales_with_the_tower(clip):
    parameters = started(TCP(), clip)
    ours, second, first = (TCP(block=block).text_bank(clip, parameters, NameSets(NAMES)).text for block in (None, 2, 1))
    assert torch.equal(ours, second)
    assert not torch.allclose(ours, first)


@pytest.mark.parametrize("block", [3, 8])
def test_a_block_that_the_tower_lacks_is_refused(clip, block):
    with pytest.raises(
        OpenworldError, match=f"block {block}, counted from 0, but 'tiny' has 3; give a block from 1 to 2"
    ):
        TCP(block=block).text_bank(clip, started(TCP(), clip), NameSets(NAMES))


@pytest.mark.parametrize(
    ("dataset", "sentence"),
    [
        ("ucf101", "a photo of a person doing golden retriever."),
        ("imagenet", "a photo of a golden retriever."),
        ("stanford_cars", "X X X X golden retriever, a type of car"),
        ("dtd", "X X X X golden retriever texture."),
    ],
)
def test_what_follows_the_context_is_the_published_sentence(clip, dataset, sentence):
    prompts, _ = TCP.published(dataset).prepare(clip, NAMES[:1])
    # The first four words are overwritten, so it does not matter which they are.
    assert prompts.tokens[0, 5:].tolist() == clip.tokenizer([sentence])[0][5:]


def test_tables():
    assert all(sentence.count("{}") == 1 for sentence in (*TCP_BEHIND.values(), *TCP_TEACHER.values()))
    assert {name for name, own in TCP_TEACHER.items() if TEMPLATES[name] != own} == {"food101", "fgvc_aircraft", "dtd"}
    assert TCP_TEACHER.keys() == TEMPLATES.keys() > TCP_BEHIND.keys()
