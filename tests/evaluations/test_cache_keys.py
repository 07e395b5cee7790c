"""Keys of what the cache keeps are those of the versions before: nothing that users have is built again."""

import pytest

from openworld.classifiers import Recipe
from openworld.evaluations.classifiers import Checkpoint, Training
from openworld.evaluations.entries import DecompositionSpec
from openworld.evaluations.image_selection import DatasetSpec, pooled_images
from openworld.evaluations.model_outputs import ModelOutputs
from openworld.evaluations.runtime import backbone
from openworld.evaluations.shift_degrees import DecompositionFit, DegreeMeasurement
from openworld.features import Encoding
from openworld.features.encoding import fingerprint_of

EMOJI = DatasetSpec("emoji-groups")
TRAIN, TEST = pooled_images((EMOJI,), "train", 2), EMOJI.images(limit=20)
TRAINING = Training("small", "convnet", Recipe(epochs=2, side=28), 1, TRAIN, 1)
BY_TEXTS = DecompositionFit(DecompositionSpec(), ("cat", "dog"), ("a {}.", "a big {}."), 1)
BY_IMAGES = DecompositionFit(DecompositionSpec(taught_by="pictures"), (), ("plain", "sketch"), 1, TRAIN)
KEYS = {
    "training": (TRAINING, "7d842ef8c338bfe2340fb1ac034b13bd"),
    "checkpoint": (Checkpoint("small", 1, 2, TRAINING), "fe65c6baed9b3e78ece768b1a2ad45c4"),
    "outputs": (ModelOutputs("a name", TEST, (), ("embedded",), 1), "89c7b058f049455ce97fae5051c6027e"),
    "texts teach": (BY_TEXTS, "159cbba99006c4a0e56a0a6afde01f3a"),
    "images teach": (BY_IMAGES, "2acca8199940a9ee8e5ef55614c7ddd2"),
    "degrees": (DegreeMeasurement("a name", BY_TEXTS, TRAIN, TEST, 3), "12b514995cf59f802fa784b787018ca4"),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_stays_as_it_was(name):
    artifact, key = KEYS[name]
    assert artifact.key == key


def test_the_key_of_an_encoded_set_stays_as_it_was():
    found = fingerprint_of(backbone("embedded"), TEST.load(), Encoding(2, (0.5, 1.0), 1))
    assert found == "8e703893c47fee14fb55f4d56ead2ed2"


def test_what_people_call_it_is_not_in_a_key():
    others = {"texts teach": "title", "training": "label", "outputs": "name", "degrees": "name"}
    for name, field in others.items():
        artifact, key = KEYS[name]
        assert type(artifact)(**{**vars(artifact), field: "another"}).key == key
