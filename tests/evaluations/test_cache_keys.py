"""Keys of what the cache keeps: what people call it is not in them."""

from dataclasses import replace

import pytest

from openworld.classifiers import Recipe
from openworld.evaluations.classifiers import Training
from openworld.evaluations.entries import DecompositionSpec
from openworld.evaluations.image_selection import DatasetSpec, pooled_images
from openworld.evaluations.model_outputs import ModelOutputs
from openworld.evaluations.shift_degrees import DecompositionFit, DegreeMeasurement

EMOJI = DatasetSpec("emoji-groups")
TRAIN, TEST = pooled_images((EMOJI,), "train", 2), EMOJI.images(limit=20)
TRAINING = Training("small", "convnet", Recipe(epochs=2, side=28), 1, TRAIN, 1)
BY_TEXTS = DecompositionFit(DecompositionSpec(), ("cat", "dog"), ("a {}.", "a big {}."), 1)
BY_IMAGES = DecompositionFit(DecompositionSpec(taught_by="images"), (), ("plain", "sketch"), 1, TRAIN)
ARTIFACTS = {
    "training": (TRAINING, "label"),
    "outputs": (ModelOutputs("a name", TEST, (), ("embedded",), 1), "name"),
    "texts teach": (BY_TEXTS, "title"),
    "images teach": (BY_IMAGES, "title"),
    "degrees": (DegreeMeasurement("a name", BY_TEXTS, TRAIN, TEST, 3), "name"),
}


@pytest.mark.parametrize("name", ARTIFACTS)
def test_what_people_call_it_is_not_in_a_key(name):
    artifact, title = ARTIFACTS[name]
    assert replace(artifact, **{title: "another"}).key == artifact.key
