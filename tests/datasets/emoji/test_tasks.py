"""The embedded world as data sets: classes, parts, styles and shots."""

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


def pixels(images, indices) -> set[bytes]:
    return {images.image(int(index)).tobytes() for index in indices}


def drawn(images) -> list[str]:
    """Ids of the concepts that a set shows."""
    concept_of = {number: concept for (_, concept), number in drawings.numbers().items()}
    return [concept_of[number] for number in images.groups.tolist()]


@pytest.mark.parametrize("task", emoji.TASKS)
def test_every_class_has_shots_and_test_images_under_one_name_in_every_style(task):
    names = {emoji.load(task, style, "test").classnames for style in drawings.STYLES}
    assert len(names) == 1 and len(names.pop()) == CLASSES[task]
    for part in emoji.PARTS:
        images = emoji.load(task, drawings.STYLES[0], part, shots=16)
        counts = np.bincount(images.labels, minlength=CLASSES[task])
        assert counts.min() == 16 if part == "train" else counts.min() >= emoji.VARIATIONS[part]


def test_parts_share_drawings_but_no_image():
    parts = [emoji.load("concepts", "emojione-monotone", part, shots=None) for part in emoji.PARTS]
    assert len({frozenset(part.groups) for part in parts}) == 1
    seen = [pixels(part, np.flatnonzero(part.labels < 2)) for part in parts]
    assert [len(images) for images in seen] == [2 * emoji.VARIATIONS[part] for part in emoji.PARTS]
    assert len(set.union(*seen)) == sum(map(len, seen))


@pytest.mark.parametrize("task", ["subgroups", "groups"])
def test_parts_of_a_level_show_different_concepts_even_across_styles(task):
    shown = {
        part: {id for style in drawings.TARGET_STYLES for id in drawn(emoji.load(task, style, part, shots=None))}
        for part in emoji.PARTS
    }
    assert len(set.union(*shown.values())) == sum(map(len, shown.values()))


def test_blocks_nest_and_do_not_overlap():
    names = {task: emoji.load(task).classnames for task in CLASSES}
    assert names["concepts-200"] == names["concepts"] + names["concepts-b"]
    assert names["concepts-400"][:200] == names["concepts-200"]
    assert not set(names["concepts-400"]) & set(names["withheld"])


@pytest.mark.parametrize("task", ["concepts", "concepts-b", "concepts-200", "concepts-400"])
def test_class_blocks_have_no_twins_nothing_withheld_and_balanced_halves(task):
    by_id = {concept.id: concept for concept in drawings.concepts()}
    classes = [by_id[concept] for concept in drawn(emoji.load(task, clean=True))]
    assert not any(concept.twin_of or concept.withheld for concept in classes)
    for half in base_new_split(len(classes)):
        groups = [classes[index].group for index in half]
        counts = [groups.count(group) for group in set(groups)]
        assert len(counts) == 8 and max(counts) - min(counts) <= 1


def test_only_the_shots_depend_on_the_seed_and_every_style_has_its_fingerprint():
    first, again, other = (emoji.load("concepts", part="train", seed=seed) for seed in (1, 1, 2))
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert first.image(5).tobytes() == again.image(5).tobytes()
    for part in ("validation", "test"):
        loaded = [emoji.load("groups", part=part, seed=seed, shots=shots) for seed in (1, 2) for shots in (1, 4)]
        assert len({images.fingerprint for images in loaded}) == 1
    assert len({emoji.load("groups", style).fingerprint for style in drawings.STYLES}) == len(drawings.STYLES)


def test_reading_in_threads_or_after_a_copy_gives_the_same_images():
    images = emoji.load("groups", "fluent-emoji", "test").subset(range(0, 960, 20))
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
