"""Images named by a text file: in the order of the set, through subsets and pools; and lists that do not fit."""

import numpy as np
import pytest
from trees import make_image

from openworld import OpenworldError, datasets
from openworld.datasets import ImageSet
from openworld.datasets.formats.numbered_list import listed
from openworld.datasets.pooling import pooled


@pytest.fixture
def pair(tmp_path):
    for number, name in enumerate(("cat", "cat", "dog")):
        make_image(tmp_path / "set" / "test" / name / f"{number}.png", number)
    return datasets.load(str(tmp_path / "set"), part="test")


def named(tmp_path, *lines):
    path = tmp_path / "list.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_folders_before_a_name_do_not_count_and_subsets_and_pools_know_their_files(pair, tmp_path):
    assert listed(pair, named(tmp_path, "./val/2.png", "0.png")).tolist() == [0, 2]
    chosen = pair.subset([2, 1])
    assert listed(chosen, named(tmp_path, "2.png")).tolist() == [0]
    make_image(tmp_path / "more" / "test" / "cat" / "9.png", 9)
    both = pooled([chosen, datasets.load(str(tmp_path / "more"), part="test")])
    assert listed(both, named(tmp_path, "a/9.png", "a/1.png")).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("0.png", "8.png"), "1 of the 2 images that .* lists are not among the 3 of 'set', such as 8.png"),
        (("a/0.png", "b/0.png"), "lists 0.png twice"),
        ((), "is empty"),
    ],
)
def test_lists_that_do_not_fit_are_refused(pair, tmp_path, lines, said):
    with pytest.raises(OpenworldError, match=said):
        listed(pair, named(tmp_path, *lines))


def test_sets_that_cannot_be_told_by_name_are_refused(pair, tmp_path):
    with pytest.raises(OpenworldError, match="'set' holds 0.png twice"):
        listed(pair.subset([0, 0]), named(tmp_path, "0.png"))
    drawn = ImageSet("drawn", "", ("a", "b"), [0], np.arange(1), "none", lambda number: None)
    with pytest.raises(OpenworldError, match="'drawn' are no files"):
        listed(drawn, named(tmp_path, "0.png"))
    with pytest.raises(OpenworldError, match="there is no file"):
        listed(pair, tmp_path / "gone.txt")
