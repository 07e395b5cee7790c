"""Causes over time from files: the column that tells of features, rows and paths of examples, and their thumbnails."""

import numpy as np
import pytest
from moved_periods import LIKE, MIXED, SOURCE, joined
from PIL import Image
from simulated import save_scores as save

from openworld.label_free.estimate.command import estimate
from openworld.label_free.estimate.report import report


@pytest.fixture
def files(tmp_path):
    live = joined(LIKE, MIXED)
    names = np.array([f"{row}.png" for row in range(live.n)])
    identities = np.array([f"n{row}" for row in range(live.n)])
    return save(tmp_path / "val.npz", SOURCE), save(tmp_path / "live.npz", live, image=names, id=identities)


def found(files, **settings):
    return estimate([str(files[0])], [str(files[1])], estimator=("DoC",), chunk_rows=300, **settings)


def test_each_period_has_its_cause_and_the_images_that_carry_it(files, tmp_path):
    answer = found(files)
    first, second = answer.found.chunks
    assert first.cause.text == "" and first.cause.images == ()
    assert second.cause.text == "new classes" and second.cause.likely.signs.view == "features"
    rows = [image.row for image in second.cause.images]
    assert len(rows) == 8 and min(rows) >= 300 and np.mean(np.array(rows) >= 500) > 0.8
    assert {image.id for image in second.cause.images} == {f"n{row}" for row in rows}
    assert "new classes in 1 chunk (301 to 600)" in " ".join(answer.page.verdict)
    assert "not used" not in " ".join(answer.notes)
    # Images that can be read are shown, others named.
    Image.new("RGB", (9, 9), "blue").save(tmp_path / f"{rows[0]}.png")
    (tmp_path / f"{rows[1]}.png").write_text("no image")
    moved = next(each for each in report(answer.found, tmp_path).page.sections if each.heading == "What moved")
    assert moved.albums[0].parts[0][0] == "301 to 600: new classes"
    first, other, *_ = moved.albums[0].parts[0][1]
    assert first.address.startswith("data:image/jpeg") and other.address is None and other.name == f"n{rows[1]}"
    unlike = {row.where["cause"]: row.value.value for row in answer.results if row.metric.key == "unlike_share"}
    assert unlike == {"none seen": pytest.approx(0, abs=0.15), "new classes": second.cause.likely.signs.unlike}


def test_without_features_on_one_side_logits_alone_speak(files, tmp_path):
    bare = save(tmp_path / "bare.npz", SOURCE, embeddings=None)
    second = found((bare, files[1])).found.chunks[1]
    assert second.cause.likely.signs.view == "logits" and second.cause.text == "new classes or meaning"
