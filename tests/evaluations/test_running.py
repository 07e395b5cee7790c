"""What `openworld run` refuses before any work, and what it says of a long stage."""

import re

import pytest

import openworld
from openworld import OpenworldError
from openworld.core.progress import Observer
from openworld.evaluations import running
from openworld.evaluations.running import RunOptions


@pytest.mark.parametrize(
    ("gpus", "asked", "engine", "devices", "shared_out"),
    [
        (0, "auto", "local", ("cpu",), ()),
        (2, "auto", "local", ("cuda:0", "cuda:1"), ("cuda:0", "cuda:1")),
        (2, "cuda:1", "local", ("cuda:1",), ()),
        (2, "cuda", "ray", ("cuda",), ()),
        (2, "auto", "ray", ("cuda",), ()),
        (0, "auto", "ray", ("cpu",), ()),
    ],
)
def test_a_run_takes_the_devices_it_finds_and_leaves_those_of_a_cluster_to_ray(
    tmp_path, monkeypatch, gpus, asked, engine, devices, shared_out
):
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    options = RunOptions(tmp_path, asked, engine=engine)
    assert options.devices == devices and options.several_devices == shared_out


class ThreeSteps:
    """A stage that scores ten images in three steps."""

    doing, done, counted = "scoring", "scored", "images"

    def work(self, crew, progress):
        for done in (0, 4, 8, 10):
            progress(done, 10)
        return 10


def test_a_long_stage_says_how_far_it_is(tmp_path):
    """The pace is that of the images since the work began."""
    said, shown = [], []
    observer = Observer(lambda doing, done, total=None, before=0: shown.append((doing, done, total)), said.append)
    running._prepare(ThreeSteps(), RunOptions(tmp_path), observer)
    assert len(said) == 1 and said[0].startswith("scored 10 images in 0 s, ")
    assert [one[1:] for one in shown] == [(0, None), (0, 10), (4, 10), (8, 10), (10, 10)]
    assert shown[1][0] == "scoring" and re.fullmatch(r"scoring [\d,.]+ images/s", shown[2][0])


@pytest.mark.parametrize("how", [{"settings": {"context_length": 77}}, {"choose": {"context_length": [4, 77]}}])
def test_a_context_without_room_for_a_name_is_refused_before_anything_is_done(tmp_path, how):
    learner = {"learner": "CoOp", "label": "long", **how}
    with pytest.raises(OpenworldError, match="long has context_length 77, and sentences of the backbone have room for"):
        openworld.run({"dataset": "emoji-groups", "learners": [learner]}, tmp_path / "run", quiet=True)
    assert not (tmp_path / "run").exists()
