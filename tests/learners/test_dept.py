"""DePT: KgCoOp where the head is silent, the head's columns, what counts the length of an embedding, the counts."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_clip import tiny_clip

from openworld import OpenworldError
from openworld.learners import DePT, Images, KgCoOp, NameSets, Schedule, load
from openworld.learners.engine.parameter_counts import tuned_parameters

LEARNER = DePT(schedule=Schedule(epochs=3, batch_size=8))
NEW = ("sea turtle", "violin")


@pytest.fixture
def fitted(clip, shots):
    return LEARNER.fit(clip, shots, seed=1)


def embeddings(shots):
    return Images(torch.from_numpy(shots.embeddings))


def test_without_a_head_it_is_kgcoop(shots):
    # In float64: in float32 the order of sums, which depends on the threads, shows at a scale of 100.
    clip, images = tiny_clip(torch.float64), Images(torch.from_numpy(shots.embeddings).double())
    dept, kgcoop = DePT(head_share=0), KgCoOp(weight=2)
    start = {
        name: tensor.double()
        for name, tensor in dept.start(clip, shots.classnames, torch.Generator().manual_seed(0)).items()
    }
    gradients, totals, answers = [], [], []
    for learner in (dept, kgcoop):
        parameters = start | {"context": start["context"].clone().requires_grad_(True)}
        given = (images, torch.from_numpy(shots.labels), learner.prepare(clip, shots.classnames))
        totals.append(learner.loss(clip, parameters, *given)["total"])
        gradients.append(torch.autograd.grad(totals[-1], parameters["context"])[0])
        bank = learner.text_bank(clip, parameters, NameSets(shots.classnames, NEW))
        answers.append(learner.answer(clip, parameters, images, bank))
    torch.testing.assert_close(*totals)
    torch.testing.assert_close(*gradients)
    torch.testing.assert_close(answers[0].logits, answers[1].logits)
    torch.testing.assert_close(answers[0].baseness, answers[1].baseness)
    torch.testing.assert_close(answers[0].base_logits, answers[0].logits[:, : len(shots.classnames)])


def test_base_logits_by_hand(fitted, shots):
    one = {name: tensor.numpy() for name, tensor in fitted.parameters.items()}
    answer = fitted.answer(shots, fitted.text_bank(shots.classnames, NEW))
    head = (shots.embeddings * one["image_scale"] + one["image_shift"]) @ one["head_weight"].T + one["head_bias"]
    np.testing.assert_allclose(answer.base_logits, 0.3 * answer.logits[:, :7] + 0.7 * head, rtol=1e-4, atol=1e-4)


def test_the_head_follows_the_names(fitted, shots):
    names = shots.classnames
    given = fitted.answer(shots, fitted.text_bank(names)).base_logits
    order = [4, 0, 6, 5, 2, 1, 3]
    shuffled = fitted.answer(shots, fitted.text_bank([names[place].upper() for place in order])).base_logits
    np.testing.assert_allclose(shuffled, given[:, order], rtol=1e-4, atol=1e-4)
    some = fitted.answer(shots, fitted.text_bank(names[2:4], NEW)).base_logits
    np.testing.assert_allclose(some, given[:, 2:4], rtol=1e-4, atol=1e-4)


def test_the_head_is_silent_where_it_does_not_know_a_name(fitted, shots):
    bank = fitted.text_bank((*shots.classnames[:3], "lighthouse"), NEW)
    answer = fitted.answer(shots, bank)
    assert answer.base_logits is None
    assert np.array_equal(fitted.logits(shots, bank, "base"), answer.logits[:, :4])


def test_length_counts_for_base_logits_alone(fitted, shots):
    bank = fitted.text_bank(shots.classnames, NEW)
    ours, longer = (fitted.answer(replace(shots, embeddings=by * shots.embeddings), bank) for by in (1, 3))
    np.testing.assert_allclose(ours.logits, longer.logits, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(ours.baseness, longer.baseness, rtol=1e-4, atol=1e-3)
    assert np.abs(ours.base_logits - longer.base_logits).max() > 0.01


def test_saved_and_loaded_its_head_answers_the_same(fitted, clip, shots, tmp_path):
    fitted.save(tmp_path)
    answers = [
        one.logits(shots, one.text_bank(shots.classnames, NEW), "base") for one in (fitted, load(tmp_path, clip))
    ]
    assert np.array_equal(*answers)


def test_everything_but_the_context_learns_faster(clip, shots):
    parameters = LEARNER.start(clip, shots.classnames, torch.Generator().manual_seed(0))
    assert LEARNER.loop.rate_factors == dict.fromkeys(parameters.keys() - {"context"}, 6.5)
    # Without a rate of their own they stand still once the warm-up epoch, which has one rate for all, is over.
    slow = replace(LEARNER, rate_factor=0)
    brief = replace(slow, schedule=replace(slow.schedule, epochs=1))
    longer, first = (learner.fit(clip, shots, seed=1).parameters for learner in (slow, brief))
    assert [name for name in parameters if not torch.equal(longer[name], first[name])] == ["context"]


def test_counts_as_in_table_7():
    effective, dead = tuned_parameters(DePT(), classes=50), 512 + 512 * 512 + 512
    assert effective == 4_096 + 513 * 50 == 29_746
    assert effective + dead == 267_264 + 513 * 50 == 292_914


def test_one_class(clip, shots):
    one = replace(shots.select(np.flatnonzero(shots.labels == 0)), classnames=shots.classnames[:1])
    fitted = LEARNER.fit(clip, one, seed=1)
    assert fitted.logits(one, fitted.text_bank(one.classnames, NEW), "base").shape == (4, 1)


@pytest.mark.parametrize("settings", [{"head_share": 1.2}, {"head_share": -0.1}, {"weight": -1}, {"rate_factor": -1}])
def test_impossible_settings_are_refused(settings):
    with pytest.raises(OpenworldError, match=next(iter(settings))):
        DePT(**settings)
