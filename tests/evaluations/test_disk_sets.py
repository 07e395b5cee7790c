"""A run in a cache with a limit: the same records, never more disk than that, and each training set made once."""

from dataclasses import replace

import pytest

from openworld import OpenworldError
from openworld.evaluations import RecognitionSpec
from openworld.evaluations.disk_sets import DiskSet, by_training_set, made_first, streams
from openworld.evaluations.recognition.evaluation import EVALUATION
from openworld.evaluations.recognition.task import tasks
from openworld.evaluations.runtime import Machine, encoded_parts
from openworld.evaluations.tasks import encode_tasks, in_order
from openworld.features import Encoding
from openworld.features.store import FeatureStore
from openworld.runs import RunStore, execute, read_spec


def stored(name, size, **how):
    return DiskSet(name, Encoding(**how), size)


PLAIN = stored("test", 10), stored("train", 20, views=2)
TRAIN = stored("train", 300, views=2, patches=True), stored("train", 100, views=2, pixels=True)
TEST = stored("test", 250, pixels=True), stored("test", 240, patches=True)


def test_without_a_limit_everything_is_made_first():
    sets = [*PLAIN, *TRAIN, *TEST]
    assert made_first(sets, None) == sets


@pytest.mark.parametrize(
    ("limit", "workers", "kept"),
    [
        (1000, 1, [*PLAIN, TEST[1], TEST[0], *TRAIN]),
        (900, 1, [*PLAIN, TEST[1], TEST[0], TRAIN[0]]),
        (600, 1, [*PLAIN, TEST[1], TRAIN[0]]),
        (900, 2, [*PLAIN, TEST[1], *TRAIN]),
        (400, 1, [*PLAIN, TRAIN[0]]),
        (330, 1, [*PLAIN, TRAIN[0]]),
    ],
)
def test_pictures_read_in_order_are_kept_beside_the_training_sets_in_use(limit, workers, kept):
    found = made_first([*PLAIN, *TRAIN, *TEST], limit, workers)
    assert found == kept and sum(one.size for one in found) <= limit


def test_what_lies_there_anyway_leaves_less_room_but_keeps_no_unit_from_its_training_set():
    sets = [*PLAIN, *TRAIN, *TEST]
    assert made_first(sets, 1000, occupied=200) == made_first(sets, 800)
    assert made_first(sets, 400, occupied=390) == [*PLAIN, TRAIN[0]]


def test_a_limit_below_what_a_unit_reads_at_random_is_refused_with_what_it_needs():
    mega = [replace(one, size=one.size * 10**6) for one in (*PLAIN, *TRAIN)]
    with pytest.raises(OpenworldError, match="may have 320 MB.*embeddings take 30 MB.*300 MB.*330 MB or more"):
        made_first(mega, 320 * 10**6)


def test_only_what_is_read_in_order_is_streamed():
    assert streams(Encoding(patches=True), 1) and streams(Encoding(pixels=True), 1)
    assert not streams(Encoding(), 1) and not streams(Encoding(views=1, pixels=True), 1)
    assert not streams(Encoding(patches=True), None)


def test_units_with_a_training_set_follow_one_another():
    assert by_training_set([1, 2, 3, 1, 2, 3, 4, 1]) == [0, 3, 7, 1, 4, 2, 5, 6]


@pytest.fixture(scope="module")
def spec(shapes):
    one = {"schedule": {"epochs": 1}}
    learners = [
        {"learner": "LoCoOp", "settings": one | {"top": 2}},
        {"learner": "MaPLe", "settings": one | {"depth": 2}},
        {"learner": "CoOp", "settings": one},
        {"learner": "LoCoOp", "label": "LoCoOp, again", "settings": one | {"top": 1}},
    ]
    given = {"dataset": str(shapes), "learners": learners, "seeds": [1, 2], "shots": 2, "views": 2}
    return read_spec(given | {"keep_validation": False}, RecognitionSpec)


def size(cache):
    return sum(file.stat().st_size for file in cache.glob("*/*"))


def run(spec, machine, folder):
    """Every record's files, by their checksums; encodes first what there is room for."""
    encode_tasks(tasks(spec), machine)
    done = execute(EVALUATION.units(spec, machine), RunStore(folder))
    return {one.name: one.files for one in done}


@pytest.mark.slow
def test_records_are_the_same_the_disk_is_bounded_and_each_training_set_is_made_once(spec, tmp_path, monkeypatch):
    free = Machine(cache=str(tmp_path / "free"))
    expected = run(spec, free, tmp_path / "free run")
    sets = [sum(file.stat().st_size for file in folder.iterdir()) for folder in (tmp_path / "free").iterdir()]
    limit = sum(one for one in sets if one < 200_000) + max(sets)
    bound, seen, made = Machine(cache=str(tmp_path / "bound"), cache_limit=limit), [], []

    def watched(task, machine):
        parts = encoded_parts(task, machine)
        seen.append(size(tmp_path / "bound"))
        return parts

    def finished(store, *given, finish=FeatureStore.finish):
        made.append(store.folder)
        finish(store, *given)

    monkeypatch.setattr("openworld.evaluations.recognition.task.encoded_parts", watched)
    monkeypatch.setattr(FeatureStore, "finish", finished)
    assert run(spec, bound, tmp_path / "bound run") == expected
    assert len(seen) == 8 and max(seen) <= limit < 0.5 * size(tmp_path / "free")
    assert len(made) == len(set(made)) < len(sets)


def test_the_order_of_units_does_not_change_where_there_is_no_limit(spec):
    planned = tasks(spec)
    assert in_order(planned, Machine()) == planned
    seeds = [(task.learner.label, task.seed) for task in in_order(planned, Machine(cache_limit=1))]
    assert seeds[:4] == [("LoCoOp", 1), ("LoCoOp, again", 1), ("LoCoOp", 2), ("LoCoOp, again", 2)]
