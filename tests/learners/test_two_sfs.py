"""2SFS: which weights are norms, what it starts from; published settings; refusals."""

from dataclasses import replace

import torch
from comparison import images_of

from openworld.learners import NameSets, Schedule, TwoSFS, ZeroShot
from openworld.learners.two_sfs import CLASSIFIER, norm_weights


def test_norms_of_both_towers(clip):
    names = norm_weights(clip)
    assert len(names) == 2 * (2 * 3 + 2) + 2 * (2 * 3 + 1)
    assert all("norm" in name for name in names) and {"image.norm_in.weight", "text.norm_out.bias"} <= set(names)


def test_it_starts_as_zero_shot(clip):
    learner, names = TwoSFS(), NameSets(("owl", "ice_cream"), ("lamp",))
    parameters = learner.start(clip, names.base, torch.Generator())
    images, _, _ = images_of(clip, torch.float32)
    ours = learner.answer(clip, parameters, images, learner.text_bank(clip, parameters, names))
    theirs = ZeroShot().answer(clip, {}, images, ZeroShot().text_bank(clip, {}, names))
    torch.testing.assert_close(ours.logits, theirs.logits, rtol=1e-4, atol=1e-3)


def test_only_names_that_it_has_learned_come_from_the_classifier(clip):
    learner, names = TwoSFS(), NameSets(("lamp", "Ice Cream"), ("violin", "owl"), ("owl", "ice_cream"))
    parameters = learner.start(clip, names.training, torch.Generator())
    parameters[CLASSIFIER] = torch.eye(64)[:2]
    text = learner.text_bank(clip, parameters, names).text
    frozen = ZeroShot().text_bank(clip, {}, names).text
    assert torch.equal(text[1], torch.eye(64)[1]) and torch.equal(text[3], torch.eye(64)[0])
    torch.testing.assert_close(text[[0, 2]], frozen[[0, 2]], rtol=1e-4, atol=1e-5)


def test_pixels_may_lie_on_a_disk(clip, shots):
    class OnDisk:  # as features of a run come: read row by row, and nothing else
        shape = shots.view_pixels.shape

        def __getitem__(self, rows):
            return shots.view_pixels[rows]

        def __len__(self):
            return len(shots)

    learner = TwoSFS(schedule=Schedule(epochs=2, batch_size=14, warmup=False, decay="per step", optimizer="AdamW"))
    ours, theirs = (learner.fit(clip, each, seed=1) for each in (replace(shots, view_pixels=OnDisk()), shots))
    assert torch.equal(ours.parameters[CLASSIFIER], theirs.parameters[CLASSIFIER])


def test_an_epoch_is_left_for_the_classifier_however_large_the_share_of_the_norms(clip, shots):
    learner = TwoSFS(schedule=Schedule(epochs=2, batch_size=14, warmup=False))
    most, half = (replace(learner, first_share=share).fit(clip, shots, seed=1).parameters for share in (0.99, 0.5))
    assert all(torch.equal(most[name], half[name]) for name in half)
