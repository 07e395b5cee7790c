import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from openworld.core.errors import OpenworldError
from openworld.datasets import base_new_split, emoji
from openworld.datasets.emoji import drawings

CLASSES = {
    "concepts": 100,
    "concepts-b": 100,
    "concepts-200": 200,
    "concepts-400": 400,
    "withheld": 105,
    "subgroups": 49,
    "groups": 8,
}
DISJOINT = ("subgroups", "groups")


def pixels(images, indices) -> set[bytes]:
    return {images.image(int(index)).tobytes() for index in indices}


def drawn(images) -> set[str]:
    """Ids of the concepts that a set shows."""
    concept_of = {number: concept for (_, concept), number in drawings.numbers().items()}
    return {concept_of[number] for number in images.groups.tolist()}


def test_every_task_is_tried_here():
    assert set(CLASSES) == set(emoji.TASKS)


@pytest.mark.parametrize(("task", "classes"), CLASSES.items())
@pytest.mark.parametrize("style", drawings.STYLES)
def test_every_class_has_shots_and_test_pictures_in_every_style(task, classes, style):
    for part in emoji.PARTS:
        images = emoji.load(task, style, part, shots=16)
        counts = np.bincount(images.labels, minlength=classes)
        assert len(images.classnames) == classes
        assert counts.min() == 16 if part == "train" else counts.min() >= emoji.VARIATIONS[part]


@pytest.mark.parametrize("task", ["concepts", "withheld"])
def test_a_concept_is_one_drawing_with_ten_test_pictures(task):
    images = emoji.load(task, "twemoji", "test")
    assert len(images) == 10 * CLASSES[task]
    assert len(set(images.groups)) == CLASSES[task]
    assert all(len(set(images.groups[images.labels == label])) == 1 for label in range(CLASSES[task]))


def test_parts_share_drawings_but_no_picture():
    parts = [emoji.load("concepts", "emojione-monotone", part, shots=None) for part in emoji.PARTS]
    assert len({frozenset(part.groups) for part in parts}) == 1
    seen = [pixels(part, np.flatnonzero(part.labels < 3)) for part in parts]
    assert [len(own) for own in seen] == [3 * emoji.VARIATIONS[part] for part in emoji.PARTS]
    assert len(set.union(*seen)) == sum(map(len, seen))


@pytest.mark.parametrize("task", DISJOINT)
def test_parts_of_a_level_show_different_concepts_even_across_styles(task):
    shown = {
        (part, style): drawn(emoji.load(task, style, part, shots=None))
        for part in emoji.PARTS
        for style in drawings.TARGET_STYLES
    }
    for (part, _), own in shown.items():
        for (other, _), theirs in shown.items():
            assert part == other or not own & theirs


@pytest.mark.parametrize("task", CLASSES)
def test_class_names_are_the_same_in_every_style_and_part(task):
    names = {emoji.load(task, style, part, shots=1).classnames for style in drawings.STYLES for part in emoji.PARTS}
    assert len(names) == 1


def test_blocks_nest_and_do_not_overlap():
    names = {task: emoji.load(task).classnames for task in CLASSES}
    assert names["concepts-200"] == names["concepts"] + names["concepts-b"]
    assert names["concepts-400"][:200] == names["concepts-200"]
    assert not set(names["concepts-400"]) & set(names["withheld"])


@pytest.mark.parametrize("task", ["concepts", "concepts-b", "concepts-200", "concepts-400"])
def test_class_blocks_have_no_twins_nothing_withheld_and_balanced_halves(task):
    by_id = {concept.id: concept for concept in drawings.concepts()}
    images = emoji.load(task, clean=True)
    concept_of = {number: by_id[concept] for (_, concept), number in drawings.numbers().items()}
    classes = [concept_of[number] for number in images.groups.tolist()]
    assert not any(concept.twin_of or concept.withheld for concept in classes)
    for half in base_new_split(len(classes)):
        groups = [classes[index].group for index in half]
        counts = [groups.count(group) for group in set(groups)]
        assert len(counts) == 8
        assert max(counts) - min(counts) <= 1


def test_only_the_shots_depend_on_the_seed():
    first, again, other = (emoji.load("concepts", part="train", seed=seed) for seed in (1, 1, 2))
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert first.image(5).tobytes() == again.image(5).tobytes()
    for part in ("validation", "test"):
        fixed = {
            emoji.load("concepts", part=part, seed=seed, shots=shots).fingerprint for seed in (1, 2) for shots in (1, 4)
        }
        assert len(fixed) == 1


@pytest.mark.parametrize("shots", [1, 2, 4, 8, 16])
def test_shots_are_distinct_pictures(shots):
    images = emoji.load("groups", part="train", shots=shots, seed=3)
    assert len(images) == 8 * shots
    assert len(pixels(images, range(2 * shots))) == 2 * shots


def test_clean_is_every_drawing_once_on_white():
    images = emoji.load("concepts", "twemoji", clean=True)
    assert len(images) == 100
    assert np.asarray(images.image(3))[0, 0].tolist() == [255, 255, 255]
    assert images.fingerprint != emoji.load("concepts", "twemoji").fingerprint


def test_styles_have_fingerprints_of_their_own():
    assert len({emoji.load("groups", style).fingerprint for style in drawings.STYLES}) == len(drawings.STYLES)


def test_reading_in_threads_or_after_a_copy_gives_the_same_pictures():
    images = emoji.load("groups", "fluent-emoji", "test").subset(range(0, 960, 7))
    alone = [images.image(index).tobytes() for index in range(len(images))]
    drawings.drawing.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda index: images.image(index).tobytes(), range(len(images))))
    copy = pickle.loads(pickle.dumps(images))
    assert alone == together == [copy.image(index).tobytes() for index in range(len(copy))]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "concept"}, "did you mean 'concepts'"),
        ({"style": "twemojis"}, "did you mean 'twemoji'"),
        ({"part": "val"}, "unknown part"),
        ({"part": "train", "shots": 0}, "shots is 0, expected a number from 1 to"),
        ({"part": "train", "clean": True}, "no shots to draw"),
    ],
)
def test_wrong_input_is_refused(arguments, message):
    with pytest.raises(OpenworldError, match=message):
        emoji.load(**arguments)
