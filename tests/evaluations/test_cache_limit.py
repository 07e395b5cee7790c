"""A run in a cache with a limit: the same records, never more disk than that, and each training set made once."""

import pytest

from openworld import OpenworldError
from openworld.evaluations import RecognitionSpec
from openworld.evaluations.encoding import encode_tasks, in_order, with_room
from openworld.evaluations.recognition.evaluation import EVALUATION
from openworld.evaluations.runtime import Machine, encoded_parts
from openworld.features import Encoding
from openworld.features.store import FeatureStore
from openworld.runs import RunStore, execute, read_spec


def entry(name, **how):
    return name, "", Encoding(**how)


PLAIN = {entry("test"): 10, entry("train", views=2): 20}
DRAWN, DRAWN_LATER = entry("train", views=2, patches=True), entry("train", views=2, pixels=True)
PIXELS, PATCHES = entry("test", pixels=True), entry("test", patches=True)
SIZES = PLAIN | {DRAWN: 300, DRAWN_LATER: 100, PIXELS: 250, PATCHES: 240}


@pytest.mark.parametrize(
    ("limit", "workers", "kept"),
    [
        (1000, 1, [*PLAIN, PATCHES, PIXELS, DRAWN, DRAWN_LATER]),
        (900, 1, [*PLAIN, PATCHES, PIXELS, DRAWN]),
        (600, 1, [*PLAIN, PATCHES, DRAWN]),
        (900, 2, [*PLAIN, PATCHES, DRAWN, DRAWN_LATER]),
        (330, 1, [*PLAIN, DRAWN]),
        (300, 1, [DRAWN]),
        (300, 2, [DRAWN]),
    ],
)
def test_the_smallest_sets_are_kept_beside_the_training_sets_in_use(limit, workers, kept):
    assert with_room(SIZES, limit, workers) == kept and sum(SIZES[each] for each in kept) <= limit


def test_a_limit_below_the_largest_training_set_is_refused_with_what_it_needs():
    with pytest.raises(OpenworldError, match="may have 280 MB.*300 MB; give a --cache-limit of 300 MB or more"):
        with_room({each: size * 10**6 for each, size in SIZES.items()}, 280 * 10**6, 1)


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
    encode_tasks(spec.tasks(), machine)
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

    monkeypatch.setattr("openworld.evaluations.recognition.evaluation.encoded_parts", watched)
    monkeypatch.setattr(FeatureStore, "finish", finished)
    assert run(spec, bound, tmp_path / "bound run") == expected
    assert len(seen) == 8 and max(seen) <= limit < 0.5 * size(tmp_path / "free")
    assert len(made) == len(set(made)) < len(sets)


def test_the_order_of_units_does_not_change_where_there_is_no_limit(spec):
    planned = spec.tasks()
    assert in_order(planned, Machine()) == planned
    seeds = [(task.learner.label, task.seed) for task in in_order(planned, Machine(cache_limit=1))]
    assert seeds[:4] == [("LoCoOp", 1), ("LoCoOp, again", 1), ("LoCoOp", 2), ("LoCoOp, again", 2)]
