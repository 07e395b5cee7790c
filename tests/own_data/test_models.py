"""One finder for whatever somebody has."""

import numpy as np
import pytest

from openworld import backbones, classifiers, datasets
from openworld.backbones.foreign.of_objects import GivenEncoder
from openworld.core.errors import OpenworldError
from openworld.features import encode
from openworld.learners import FittedLearner, ZeroShot
from openworld.own_data.models import find_encoder, find_model, named_classes, require_building
from openworld.tables.embeddings import embeddings_of

COLUMNS = {"classnames": np.array(["cat", "dog"]), "class_embeddings": np.eye(2, dtype=np.float32)}
SQUARE = classifiers.Preprocess(8, 8, "shortest", (0.5,) * 3, (0.5,) * 3)


def classifier(names=("cat", "dog")):
    return classifiers.Classifier(classifiers.build("convnet", len(names), 8), names, SQUARE, "convnet")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    clip, cache = backbones.load("embedded"), tmp_path_factory.mktemp("cache")
    images = datasets.load("emoji-groups", part="train", shots=1)
    return ZeroShot().fit(clip, encode(clip, images, cache=cache), seed=0)


def test_folders_and_names(fitted, tmp_path):
    classifiers.save(classifier(), tmp_path / "classifier")
    fitted.save(tmp_path / "learner")
    assert find_model(tmp_path / "classifier").classnames == ("cat", "dog")
    found = find_model(str(tmp_path / "learner"))
    assert isinstance(found, FittedLearner) and found.fingerprint == fitted.fingerprint
    assert find_model("embedded").name == "embedded"


def test_embeddings_of_class_names_are_a_model_in_every_form(tmp_path):
    np.savez(tmp_path / "mine.npz", **COLUMNS)
    for what in (COLUMNS, embeddings_of(COLUMNS), tmp_path / "mine.npz", str(tmp_path / "mine.npz")):
        found = find_model(what)
        assert isinstance(found, GivenEncoder) and found.classnames == ("cat", "dog")
        np.testing.assert_array_equal(found.encode_text(["dog"]).numpy(), [[0, 1]])


def test_numbered_classes_are_named():
    numbered = classifier(("class 0", "class 1"))
    assert find_model(numbered) is numbered
    with pytest.raises(OpenworldError, match="tells 2 classes apart and does not name them, and there are 3"):
        named_classes(numbered, ("cat", "dog", "owl"))


def test_anything_else_is_refused(fitted):
    for finder, what, words in (
        (find_model, {"embeddings": np.eye(2)}, "came as dict"),
        (find_model, "no/such/folder", "no folder of that name"),
        (find_encoder, classifier(), "embeds no sentences"),
        (find_encoder, fitted, "is a fitted learner"),
    ):
        with pytest.raises(OpenworldError, match=words):
            finder(what)
    require_building((), ["embedded"])
    with pytest.raises(OpenworldError, match="builds none of embedded"):
        require_building(("mine:net",), ["embedded", "", classifier()])
