"""The likely cause of a change in a period that a watch finishes, and the images that carry it."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from moved_periods import LIKE, MIXED, SOURCE, STYLE, joined
from simulated import save_scores

from openworld.label_free.watch import command

pytestmark = pytest.mark.base

save = partial(save_scores, embeddings=None)


@pytest.fixture
def fitted(tmp_path):
    command.fit_watch([save(tmp_path / "val.npz", SOURCE)], tmp_path / "w.safetensors", images=[300])
    return tmp_path / "w.safetensors"


def watched(fitted, *files):
    return command.watch(fitted, list(files), json_lines=fitted.with_name("lines.jsonl"))


def test_each_period_says_what_moved(fitted, tmp_path):
    names = np.array([f"{row}.png" for row in range(STYLE.n)])
    days = {"calm": (LIKE, {}), "style": (STYLE, {"image": names}), "mixed": (MIXED, {})}
    report = watched(
        fitted,
        *(save(tmp_path / f"{name}.npz", replace(day, labels=None), **more) for name, (day, more) in days.items()),
    )
    causes = [record.cause.text or record.cause.likely.cause for record in report.found.state.records]
    assert causes == ["none seen", "appearance", "new classes or meaning"]
    assert "Likely cause of the change: new classes or meaning" in " ".join(report.page.verdict)
    lines = [json.loads(line) for line in fitted.with_name("lines.jsonl").read_text().splitlines()]
    assert [line["cause"] for line in lines] == causes and lines[0]["cause_images"] == []
    named = [image.id for image in report.found.state.records[1].cause.images]
    assert set(named) <= set(names) and len(named) == 8
    places = np.array(lines[2]["cause_images"])  # of all images that were counted
    assert len(places) == 8 and (places >= 600).all() and np.mean(places >= 800) > 0.8


def test_a_period_in_two_files_has_the_cause_of_one(tmp_path):
    fitted, live, causes = tmp_path / "w.safetensors", joined(LIKE, MIXED), []
    command.fit_watch([save(tmp_path / "val.npz", SOURCE)], fitted, chunk_rows=600, images=[600])
    for cuts in ((0, 600), (0, 250, 600)):
        for first, last in zip(cuts, cuts[1:], strict=False):
            part = save(tmp_path / f"{first}-{last}.npz", live.take(np.arange(first, last)))
            report = command.watch(fitted, [part], state=tmp_path / f"state {len(cuts)}")
        causes += [record.cause for record in report.found.state.records]
    assert len(causes) == 2 and causes[0] == causes[1]
