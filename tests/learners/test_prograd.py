"""ProGrad's projection, and the context that starts from a sentence."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from openworld.backbones import blocks
from openworld.datasets.templates import PROGRAD
from openworld.learners import Images, NameSets, ProGrad, ZeroShot
from openworld.learners.prograd import project

numbers = st.lists(st.floats(-10, 10, width=32), min_size=6, max_size=6)


def vectors(*lists):
    return (torch.tensor(one, dtype=torch.float64).view(2, 3) for one in lists)


@given(gradient=numbers, other=numbers)
def test_a_projected_gradient_never_works_against_the_other(gradient, other):
    gradient, other = vectors(gradient, other)
    projected = project(gradient, other)
    assert float((projected * other).sum()) >= -1e-9 * float(1 + gradient.norm() * other.norm())
    if float((gradient * other).sum()) >= 0:
        assert torch.equal(projected, gradient)


def test_by_hand():
    gradient, other = torch.tensor([[3.0, 1.0], [0.0, 2.0]]), torch.tensor([[-2.0, 0.0], [0.0, 0.0]])
    assert project(gradient, other).tolist() == [[0, 1], [0, 2]]
    torch.testing.assert_close(project(gradient, other, 0.8), torch.tensor([[0.6, 1.0], [0.0, 2.0]]))
    assert torch.equal(project(gradient, other, 0.0), gradient)


def test_another_gradient_of_length_zero_takes_nothing_out():
    gradient = torch.tensor([1.0, -2.0])
    assert torch.equal(project(gradient, torch.zeros(2)), gradient)
    assert torch.equal(project(torch.zeros(2), gradient), torch.zeros(2))


def step(clip, shots, learner):
    parameters = learner.start(clip, shots.classnames, torch.Generator().manual_seed(0))
    parameters["context"].requires_grad_(True)
    images, labels = Images(torch.from_numpy(shots.embeddings)), torch.from_numpy(shots.labels)
    return learner.loss(clip, parameters, images, labels, learner.prepare(clip, shots.classnames)), parameters


def test_both_gradients_of_a_pass_in_parts(clip, shots, monkeypatch):
    learner = ProGrad(context_length=4, words=None)
    whole = learner.gradient(*step(clip, shots, learner))["context"]
    monkeypatch.setattr(blocks, "ROWS", 16)
    torch.testing.assert_close(learner.gradient(*step(clip, shots, learner))["context"], whole, rtol=1e-4, atol=1e-5)


def test_temperature_by_hand(clip, shots):
    learner = ProGrad(context_length=4, words=None, temperature=2.0)
    terms, parameters = step(clip, shots, learner)
    images, names = Images(torch.from_numpy(shots.embeddings)), NameSets(shots.classnames)
    student = learner.answer(clip, parameters, images, learner.text_bank(clip, parameters, names)).logits
    teacher = ZeroShot().answer(clip, {}, images, ZeroShot().text_bank(clip, {}, names)).logits
    by_hand = -4 * ((teacher / 2).softmax(-1) * (student / 2).log_softmax(-1)).sum(-1).mean()
    torch.testing.assert_close(terms["knowledge"], by_hand)
    assert torch.equal(terms["total"], terms["cross_entropy"])


@pytest.mark.parametrize("dataset", ["oxford_pets", "eurosat", "dtd", "ucf101", "imagenet"])
def test_starts_with_zeros_then_the_words_and_a_comma_leaves_the_last_word_fixed(clip, dataset):
    learner = ProGrad.published(dataset)
    assert learner.words + " {}." == learner.template == PROGRAD[dataset]
    words, tokens = len(learner.words.split()), clip.embed_words(learner.words)
    context = learner.start(clip, ("owl",), torch.Generator())["context"]
    assert context.shape == (16, 64)
    assert not context[: 16 - words].any()
    assert torch.equal(context[16 - words :], tokens[:words])
    sentence = "X " * (16 - words) + learner.template.format("owl")
    prompts, _ = learner.prepare(clip, ("owl",))
    assert prompts.tokens[0, 17:].tolist() == clip.tokenizer([sentence])[0][17:]
    assert len(tokens) - words == ("," in learner.words)


def test_words_that_are_several_tokens_each_leave_whole_words_fixed(clip):
    learner = ProGrad(words="a retrieverowl photo, of an owlet", context_length=8)
    context = learner.start(clip, ("lamp",), torch.Generator())["context"]
    tokens = clip.embed_words(learner.words)
    learned = int(context.any(dim=1).sum())
    assert 0 < learned <= 6
    assert torch.equal(context[8 - learned :], tokens[:learned])
    prompts, _ = learner.prepare(clip, ("lamp",))
    sentence = clip.tokenizer([f"{learner.words} lamp."])[0]
    assert prompts.tokens[0, 9:].tolist() == sentence[1 + learned :]
