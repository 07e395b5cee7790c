"""Skip Tuning: which weights are tuned and which names are kept; published settings; refusals."""

import pytest
import torch

from openworld.learners import SkipTuning
from openworld.learners.skip_tuning import kept_ranks, tuned_weights


def test_weights_of_the_last_blocks_and_what_follows_them(clip):
    names = tuned_weights(clip, 1)
    assert {name.split(".")[1] for name in names} == {"blocks", "norm_out", "projection"}
    assert {name.split(".")[2] for name in names if ".blocks." in name} == {"2"}
    assert len(names) == 2 * (12 + 2 + 1)
    assert len(tuned_weights(clip, 9)) == len(tuned_weights(clip, 3)) == 2 * (3 * 12 + 2 + 1)


def test_the_closest_names_are_kept_and_labels_always():
    learner = SkipTuning(top=0.5, spread=1e-9)
    closeness = torch.tensor([0.1, torch.inf, 0.3, 0.2, 0.9, 0.0])
    assert learner.keep(closeness, seed=0).tolist() == [1, 2, 3, 4]  # three surely, and the first of the others


def test_labels_are_kept_even_where_they_are_more_than_the_sure_ranks():
    closeness = torch.tensor([torch.inf, 0.5, torch.inf, torch.inf])
    assert SkipTuning(top=0.25, spread=1e-9).keep(closeness, seed=0).tolist() == [0, 2, 3]


@pytest.mark.parametrize(("count", "top", "most", "kept"), [(5, 1.0, 2, 5), (3, 0.9, 50, 3), (1, 0.5, 50, 1)])
def test_where_all_names_are_kept(count, top, most, kept):
    assert int(kept_ranks(count, top, most, 0.3, seed=0).sum()) == kept


def test_no_more_than_the_largest_number_is_sure():
    ranks = kept_ranks(500, 0.5, 50, 0.3, seed=1)
    assert ranks[:50].all() and 50 < int(ranks.sum()) < 110
