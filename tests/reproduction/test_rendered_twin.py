"""The rendered twin of Syn-IS, made: a set in cells, which a pool may hold as any other data set."""

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.core.progress import SILENT
from openworld.evaluations.entries import PoolSpec
from openworld.evaluations.image_selection import is_generated_set
from openworld.evaluations.shift_images import ShiftGround
from openworld.reproduction.planned_runs import TWIN_FOLDER, RenderedTwin
from openworld.shifts.synthesis import read_generated


def images_of(folder):
    """When each image of a set was written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.png")}


@pytest.mark.slow
def test_a_small_twin_is_made_once_and_lies_in_a_pool(tmp_path):
    twin = RenderedTwin(levels=3, each=2)
    twin.make(tmp_path, "cpu", SILENT)
    folder = tmp_path / TWIN_FOLDER
    made, painted = read_generated(folder), images_of(folder)
    assert 0 < len(made) == len(painted) <= twin.most_images == 18 and set(made.grid.counts.ravel()) <= {0, 2}
    twin.make(tmp_path, "cpu", SILENT)
    assert images_of(folder) == painted, "what is there is not painted again"
    assert is_generated_set(str(folder)) and not is_generated_set("emoji-concepts")
    real = PoolSpec("emoji-concepts", "twemoji")
    sources = (PoolSpec("emoji-concepts", "noto").data,)
    pool = ShiftGround(sources=sources, classes="all", pool=(real, PoolSpec(str(folder), style="made"))).load_pool()
    assert pool.generated == ("made",) and np.count_nonzero(pool.style == 1) == len(made)
    names = np.array(pool.images.classnames, dtype=object)[pool.images.labels[pool.style == 1]]
    assert names.tolist() == [made.images.classnames[label] for label in made.images.labels]
    with pytest.raises(OpenworldError, match="whose only part is 'test'"):
        PoolSpec(str(folder), part="train").images("train").load()
