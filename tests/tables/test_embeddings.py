"""Columns of embeddings: what files and arrays hold, in every form the same, and what is refused."""

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from openworld import OpenworldError, backbones, datasets
from openworld.features import Encoding, encode
from openworld.tables.embeddings import embeddings_of, read_embeddings

ROWS = np.arange(1.0, 13.0).reshape(4, 3)
CLASSES = {"classnames": np.array(["owl", "wild_cat"]), "class_embeddings": np.eye(2, 3)}


def test_a_file_holds_what_the_arrays_held(tmp_path):
    columns = {"embeddings": ROWS, "label": np.array(["owl", "cat", "owl", "cat"]), "id": np.arange(4)}
    np.savez(tmp_path / "mine.npz", **columns)
    listed = {name: list(column) if column.ndim > 1 else column for name, column in columns.items()}
    parquet.write_table(pyarrow.table(listed), tmp_path / "mine.parquet")
    for file in ("mine.npz", "mine.parquet"):
        found = read_embeddings(tmp_path / file)
        assert np.array_equal(found.images, ROWS) and found.images.dtype == np.float32
        assert found.classnames == ("cat", "owl") and found.labels.tolist() == [1, 0, 1, 0]
        assert datasets.load(str(tmp_path / file)).path_of(2) == "2"


def test_class_names_in_several_sentences_come_as_lists_of_lists(tmp_path):
    sentences = np.random.default_rng(0).normal(size=(2, 4, 3))
    nested = [[list(row) for row in name] for name in sentences]
    parquet.write_table(
        pyarrow.table({"classnames": ["owl", "cat"], "class_embeddings": nested}), tmp_path / "classes.parquet"
    )
    assert read_embeddings(tmp_path / "classes.parquet").classes.shape == (2, 4, 3)
    clip = backbones.load(str(tmp_path / "classes.parquet"))
    unit = sentences / np.linalg.norm(sentences, axis=-1, keepdims=True)
    np.testing.assert_allclose(clip.encode_text(["cat"])[0].numpy(), unit[1].mean(0), atol=1e-6)
    assert clip.class_sentences(["Cat"]).shape == (1, 4, 3) and float(clip.logit_scale) == 100


BAD = {
    "neither embeddings": {"labels": ["a"]},
    r"shape .3,., expected a row of numbers per image": {"embeddings": [1.0, 2.0, 3.0]},
    "zero or too large, first row 1": {"embeddings": [[1.0, 2.0], [0.0, 0.0]]},
    "NaN or infinite": {"embeddings": [[np.nan, 2.0]]},
    "differ in length": {"embeddings": ROWS, "labels": ["a"]},
    "no classnames": {"class_embeddings": ROWS},
    "several widths": {"embeddings": ROWS[:, :2], **CLASSES},
    "label 7": {"embeddings": ROWS, "labels": [0, 1, 7, 0], "classnames": ["a", "b"]},
    "numbers from 0": {"embeddings": ROWS, "labels": [0, -1, 1, 0]},
}


@pytest.mark.parametrize("message", BAD)
def test_columns_that_do_not_go_together_are_refused(message):
    with pytest.raises(OpenworldError, match=message):
        embeddings_of(BAD[message])


def test_a_label_without_a_class_is_refused():
    with pytest.raises(OpenworldError, match="'emu'.*not among"):
        _ = embeddings_of({"embeddings": ROWS, "labels": ["owl", "emu", "owl", "owl"], **CLASSES}).labels


@pytest.mark.parametrize("name", ["missing.npz", "mine.csv"])
def test_a_file_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(OpenworldError, match="holds no embeddings"):
        read_embeddings(tmp_path / name)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.npz"
    split, domain = ["train", "train", "test", "test"], ["day", "night", "day", "night"]
    np.savez(
        path, embeddings=ROWS, labels=[0, 1, 0, 1], split=split, domain=domain, group=["x", "x", "y", "y"], **CLASSES
    )
    return str(path)


def test_parts_domains_groups_and_shots_are_those_of_the_columns(file):
    test = datasets.load(file, part="test")
    assert test.classnames == ("owl", "wild cat") and test.embeddings.tolist() == ROWS[2:].tolist()
    assert len(set(test.groups.tolist())) == 1 and datasets.has_part(file, "train")
    assert datasets.load(file, part="train", domain="night").labels.tolist() == [1]
    assert len(datasets.load(file, part="train", shots=1, seed=0)) == 2
    assert not datasets.has_part(file, "validation")
    with pytest.raises(OpenworldError, match="no row of part 'validation'"):
        datasets.load(file, part="validation")
    assert test.fingerprint != datasets.load(file, part="train").fingerprint


def test_features_are_the_embeddings_and_nothing_is_written(file, tmp_path):
    clip = backbones.load(file)
    found = encode(clip, datasets.load(file), Encoding(views=4), cache=tmp_path / "cache")
    assert found.embeddings.tolist() == ROWS[2:].tolist() and found.views is None
    assert not (tmp_path / "cache").exists()
    assert clip.encode_text(["wild cat"]).tolist() == [[0.0, 1.0, 0.0]]


def test_what_needs_more_than_embeddings_is_refused(file, tmp_path):
    clip, images = backbones.load(file), datasets.load(file)
    with pytest.raises(OpenworldError, match="no image that could be looked at"):
        images.image(0)
    with pytest.raises(OpenworldError, match="patches of its images are needed"):
        encode(clip, images, Encoding(patches=True), cache=tmp_path)
    with pytest.raises(OpenworldError, match="cannot look at images"):
        encode(clip, datasets.load("emoji-groups").subset([0]), cache=tmp_path)
    with pytest.raises(OpenworldError, match="3 numbers.*'embedded' have 128"):
        encode(backbones.load("embedded"), images, cache=tmp_path)
    with pytest.raises(OpenworldError, match="no embedding of 'emu'.*2 class names"):
        clip.encode_text(["emu"])
    with pytest.raises(OpenworldError, match="text tower that takes learned contexts"):
        clip.prompt_names(["owl"], 4)
    with pytest.raises(OpenworldError, match="one sentence"):
        clip.class_sentences(["owl"])
