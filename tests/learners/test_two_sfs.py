"""2SFS: pixels that are read row by row, and epochs for both stages."""

from dataclasses import replace

import torch

from openworld.learners import Schedule, TwoSFS
from openworld.learners.two_sfs import CLASSIFIER


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
