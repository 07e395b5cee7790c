"""Encoding on an engine: the bytes on disk are those of encoding here, and nothing else is left."""

import pytest

from openworld import OpenworldError
from openworld.evaluations import RecognitionSpec
from openworld.evaluations.artifacts import Crew
from openworld.evaluations.encoding import EncodingStage, encode_tasks
from openworld.evaluations.recognition.spec import tasks
from openworld.evaluations.runtime import Machine
from openworld.runs import ENGINES, read_spec


@pytest.fixture
def spec(shapes):
    given = {"dataset": str(shapes), "learners": ({"learner": "CoOp"},), "seeds": (1,), "shots": 2, "views": 1}
    return read_spec(given, RecognitionSpec)


def contents(cache):
    return {str(path.relative_to(cache)): path.read_bytes() for path in cache.rglob("*") if path.is_file()}


SLOW = {"ray": [pytest.mark.slow]}


@pytest.mark.parametrize(
    ("engine", "workers"),
    [("local", 1), ("local", 2), *(pytest.param(one, 2, marks=SLOW.get(one, ())) for one in set(ENGINES) - {"local"})],
)
def test_the_bytes_are_those_of_encoding_here(spec, tmp_path, engine, workers):
    here = Machine(cache=str(tmp_path / "here"))
    count, told = encode_tasks(tasks(spec), here), []
    there = Machine(cache=str(tmp_path / "there"))
    crew = Crew(engine, workers, tmp_path / "run")
    EncodingStage(tasks(spec), there).encode_shards(crew, lambda *done: told.append(done))
    assert told[-1] == (count, count) and [done for done, _ in told] == sorted(done for done, _ in told)
    assert not (tmp_path / "run" / ".encoding").exists()
    encode_tasks(tasks(spec), there)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_what_is_on_disk_is_not_encoded_again_and_notes_of_a_killed_process_do_not_count(spec, tmp_path):
    machine = Machine(cache=str(tmp_path / "cache"))
    notes = tmp_path / "run" / ".encoding"
    (notes / "units").mkdir(parents=True)
    first, second = [], []
    for told in (first, second):
        crew = Crew("local", 1, tmp_path / "run")
        EncodingStage(tasks(spec), machine).encode_shards(crew, lambda *done, told=told: told.append(done))
        assert not notes.exists()
    assert first and not second


def test_an_unreadable_picture_is_named(spec, shapes, tmp_path):
    picture = shapes / "test" / "red circle" / "0.png"
    whole = picture.read_bytes()
    try:
        picture.write_bytes(whole[:40])
        with pytest.raises(OpenworldError, match=r"unit '.*, test, image set \d, shard 1': .*0\.png"):
            stage = EncodingStage(tasks(spec), Machine(cache=str(tmp_path / "cache")))
            stage.encode_shards(Crew("local", 1, tmp_path / "run"))
    finally:
        picture.write_bytes(whole)
    assert not (tmp_path / "run" / ".encoding").exists()
