"""Encoding on an engine: the bytes on disk are those of encoding here, and nothing else is left."""

import pytest

from openworld import OpenworldError
from openworld.evaluations import RecognitionSpec
from openworld.evaluations.encoding import EncodingStage, encode_tasks
from openworld.evaluations.running import RunOptions
from openworld.evaluations.runtime import Machine
from openworld.runs import read_spec


@pytest.fixture
def planned(few_shapes):
    given = {"dataset": str(few_shapes), "learners": ({"learner": "CoOp"},), "seeds": (1,), "shots": 2, "views": 1}
    return read_spec(given | {"keep_validation": False}, RecognitionSpec).tasks()


def contents(cache):
    return {str(path.relative_to(cache)): path.read_bytes() for path in cache.rglob("*") if path.is_file()}


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_bytes_are_those_of_encoding_here_made_once(planned, tmp_path, workers):
    here, there = Machine(cache=str(tmp_path / "here")), Machine(cache=str(tmp_path / "there"))
    count, notes = encode_tasks(planned, here), tmp_path / "run" / ".encoding"
    (notes / "units").mkdir(parents=True)  # as a process that was killed leaves them
    for expected in ([(count, count)], []):
        steps = []
        EncodingStage(planned, there).encode_shards(
            RunOptions(tmp_path / "run", workers=workers), lambda *done, steps=steps: steps.append(done)
        )
        assert steps[-1:] == expected and steps == sorted(steps) and not notes.exists()
    encode_tasks(planned, there)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_an_unreadable_image_is_named(planned, few_shapes, tmp_path):
    image = few_shapes / "test" / "red circle" / "0.png"
    whole = image.read_bytes()
    try:
        image.write_bytes(whole[:40])
        with pytest.raises(OpenworldError, match=r"unit '.*, test, image set \d, shard 1': .*0\.png"):
            stage = EncodingStage(planned, Machine(cache=str(tmp_path / "cache")))
            stage.encode_shards(RunOptions(tmp_path / "run", workers=1))
    finally:
        image.write_bytes(whole)
    assert not (tmp_path / "run" / ".encoding").exists()
