"""The likely cause of a change in a period that a watch finishes, and the images that carry it."""

from functools import partial

import numpy as np
import pytest
from moved_periods import LIKE, MIXED, SOURCE, joined
from simulated import save_scores

from openworld.label_free.watch import command

pytestmark = pytest.mark.base

save = partial(save_scores, embeddings=None)


@pytest.fixture
def fitted(tmp_path):
    command.fit_watch([save(tmp_path / "val.npz", SOURCE)], tmp_path / "w.safetensors", images=[300])
    return tmp_path / "w.safetensors"


def test_a_period_in_two_files_has_the_cause_of_one(tmp_path):
    fitted, live, causes = tmp_path / "w.safetensors", joined(LIKE, MIXED), []
    command.fit_watch([save(tmp_path / "val.npz", SOURCE)], fitted, chunk_rows=600, images=[600])
    for cuts in ((0, 600), (0, 250, 600)):
        for first, last in zip(cuts, cuts[1:], strict=False):
            part = save(tmp_path / f"{first}-{last}.npz", live.take(np.arange(first, last)))
            report = command.watch(fitted, [part], state=tmp_path / f"state {len(cuts)}")
        causes += [record.cause for record in report.found.state.records]
    assert len(causes) == 2 and causes[0] == causes[1]
