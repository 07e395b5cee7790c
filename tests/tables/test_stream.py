"""Open-world streams: every format says the same, names and labels are checked, and every bad input is refused."""

from dataclasses import replace

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.learners.engine.text_bank import largest_base_log_probability
from openworld.tables.files import scores_of
from openworld.tables.stream import REFERENCES, read_stream, stream_bytes

BASE, NEW = ("cat", "wild dog"), ("owl", "=yak", "eel")
NAMES = BASE + NEW
COUNT = 30
FORMATS = (".parquet", ".csv", ".npz", ".safetensors")


def write_stream(path, columns, names, base):
    path.write_bytes(stream_bytes(path.suffix, columns, names, base))
    return path


def columns(**more):
    generator = np.random.default_rng(0)
    logits = generator.standard_normal((COUNT, len(NAMES))).astype(np.float32)
    return {
        "image": np.array([f"images/{row}.png" for row in range(COUNT)], object),
        "score": generator.standard_normal(COUNT),
        "logits": logits,
        "base_name": np.array(BASE, object)[logits[:, :2].argmax(axis=1)],
        "new_name": np.array(NEW, object)[logits[:, 2:].argmax(axis=1)],
        **more,
    }


def named(count=COUNT, **more):
    generator = np.random.default_rng(1)
    return {
        "score": generator.standard_normal(count),
        "base_name": np.array(BASE, object)[generator.integers(0, 2, count)],
        "new_name": np.array(NEW, object)[generator.integers(0, 3, count)],
        **more,
    }


def read(table, about=None, **options):
    file = scores_of(table, "the stream")
    return read_stream(replace(file, about=about or file.about), **options)


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_back_what_was_written(tmp_path, ending):
    table = columns()
    stream = read_stream(write_stream(tmp_path / f"stream{ending}", table, NAMES, 2))
    assert (stream.base_names, stream.new_names, len(stream)) == (BASE, NEW, COUNT)
    np.testing.assert_array_equal(stream.scores, table["score"])
    np.testing.assert_allclose(stream.logits, table["logits"], rtol=1e-6)
    np.testing.assert_array_equal(stream.base_prediction, table["logits"][:, :2].argmax(axis=1))
    np.testing.assert_array_equal(stream.new_prediction, table["logits"][:, 2:].argmax(axis=1))
    np.testing.assert_array_equal(stream.joint_prediction, table["logits"].argmax(axis=1))
    assert stream.columns["image"].tolist() == table["image"].tolist()
    assert stream.labels is None


@pytest.mark.parametrize("ending", FORMATS)
def test_base_logits_of_their_own_are_kept(tmp_path, ending):
    table = {name: column for name, column in columns().items() if "_name" not in name}
    table["base_logits"] = -table["logits"][:, :2]
    stream = read_stream(write_stream(tmp_path / f"stream{ending}", table, NAMES, 2))
    np.testing.assert_allclose(stream.base_logits, -stream.logits[:, :2], rtol=1e-6)
    np.testing.assert_array_equal(stream.base_prediction, stream.logits[:, :2].argmin(axis=1))


def test_without_a_score_it_is_that_of_the_learners():
    import torch

    logits = columns()["logits"]
    stream = read({"logits": logits}, {"classnames": '["cat", "wild dog", "owl", "yak", "eel"]', "n_base": "2"})
    np.testing.assert_allclose(stream.scores, largest_base_log_probability(torch.from_numpy(logits), 2), atol=1e-6)


def test_base_names_may_stand_anywhere_when_they_are_given():
    logits = columns()["logits"]
    names = '["owl", "cat", "=yak", "eel", "wild_dog"]'
    stream = read({"logits": logits, "label": np.arange(COUNT) % 5}, {"classnames": names}, base_names=BASE)
    assert stream.names == ("cat", "wild_dog", *NEW)
    np.testing.assert_array_equal(stream.logits, logits[:, [1, 4, 0, 2, 3]])
    assert stream.labels.label[:5].tolist() == [2, 0, 3, 4, 1]
    assert stream.labels.base[:5].tolist() == [False, True, False, False, True]


def test_names_alone_are_coded_and_labels_compared_with_them():
    side = np.array(["base", "new", ""] * 10, object)
    table = named(side=side, joint_name=np.array(["owl", "cat", "Wild_dog"] * 10, object))
    label = np.where(side == "base", "cat", np.where(side == "new", "gnu", "")).astype(object)
    stream = read(table | {"label": label})
    base = [stream.base_names[place] for place in stream.base_prediction]
    assert base == table["base_name"].tolist()
    assert [stream.names[place] for place in stream.joint_prediction[:3]] == ["owl", "cat", "wild dog"]
    known = side != ""
    np.testing.assert_array_equal(stream.labels.known, known)
    np.testing.assert_array_equal(stream.labels.base_right, (side == "base") & (table["base_name"] == "cat"))
    assert not stream.labels.new_right.any()  # of a new class that the learner has no name for


def test_a_true_base_class_that_no_image_was_given_is_a_base_name():
    table = named(side=np.full(COUNT, "base"), label=np.full(COUNT, "wolf"))
    assert read(table).base_names[-1] == "wolf"
    assert not read(table).labels.base_right.any()


def test_labels_of_new_images_count_the_new_name():
    table = columns()
    table["side"] = np.full(COUNT, "new")
    table["label"] = table["new_name"]
    labels = read(table, {"classnames": '["cat", "wild dog", "owl", "=yak", "eel"]', "n_base": "2"}).labels
    assert labels.new_right.all()
    assert not labels.base.any()


def test_files_that_follow_each_other_are_one_stream(tmp_path):
    paths = [write_stream(tmp_path / f"{day}.parquet", columns(), NAMES, 2) for day in (1, 2)]
    assert len(read_stream(paths)) == 2 * COUNT
    other = write_stream(tmp_path / "3.parquet", columns(), ("cat", "dog", "owl", "yak", "eel"), 2)
    with pytest.raises(OpenworldError, match=r"3\.parquet|dog"):
        read_stream([*paths, other])


def test_rows_are_cut_from_everything():
    stream = read(named(side=np.array(["base", "new", ""] * 10), label=np.array(["cat", "owl", ""] * 10)))
    part = stream.rows(np.arange(COUNT) < 3)
    assert len(part) == 3
    assert part.labels.known.tolist() == [True, True, False]


def entry(name, row, value):
    """A column of `named` with another entry."""
    column = np.array(named()[name], object if isinstance(value, str | None) else float)
    column[row] = value
    return column


NOBODY = np.full(COUNT, "gnu")
# What is changed in a table of names, and what is then said.
REFUSED = {
    "lacks score": {"score": None},
    "new_name": {"new_name": None},
    "first row 3": {"score": entry("score", 3, np.nan)},
    "true and false": {"score": np.ones(COUNT, bool)},
    "first row 2": {"base_name": entry("base_name", 2, None)},
    "'cat' is a base name and a new name": {"new_name": entry("new_name", 2, "Cat")},
    "unknown entry in column side .*'old'": {"side": np.full(COUNT, "old")},
    "its side is empty": {"label": NOBODY},
    "is a base name": {"side": np.full(COUNT, "new"), "label": np.full(COUNT, "cat")},
    "side is not known": {"joint_name": NOBODY},
    "fractions, not percent": {"base": np.full(COUNT, 50.0)},
    "exceeds 1 - base": {"base": np.full(COUNT, 0.5), "new_right": np.full(COUNT, 0.7)},
    "comes again in row 1": {"id": np.zeros(COUNT)},
    "one entry per image": {"group": np.zeros((COUNT, 2))},
    "differ in length": {"group": np.zeros(3)},
    "no row": {name: column[:0] for name, column in named().items()},
}
ABOUT = {"classnames": '["cat", "wild dog", "owl", "=yak", "eel"]', "n_base": "2"}
# The same of a table of logits: of what it says of itself, of its columns, and of the base names that are given.
REFUSED_LOGITS = {
    "which of its 5 classes are base": ({"n_base": None}, {}, None),
    "no new name": ({"n_base": "5"}, {}, None),
    "not a whole number": ({"n_base": "[2]"}, {}, None),
    "each of 2 names": ({"classnames": '["cat", "owl"]', "n_base": "1"}, {}, None),
    "'cat' comes 2 times": ({"classnames": '["cat", "Cat", "owl", "yak", "eel"]'}, {}, None),
    "NaN or infinite": ({}, {"logits": np.full((COUNT, 5), np.nan)}, None),
    "not the name of the largest logit": ({}, {"base_name": np.full(COUNT, "cat")}, None),
    "holds 7": ({}, {"label": np.full(COUNT, 7)}, None),
    "no new_logits": ({}, {"logits": None, "base_logits": np.zeros((COUNT, 2))}, None),
    "unknown base name": ({}, {}, ("cat", "dog")),
    "the base names given say 1 .*n_base 2": ({}, {}, ("cat",)),
}


@pytest.mark.parametrize("words", [*REFUSED, *REFUSED_LOGITS])
def test_bad_streams_are_refused(words):
    about, change, base_names = REFUSED_LOGITS.get(words, (None, REFUSED.get(words), None))
    table, about = (named(), {}) if about is None else (columns(), ABOUT | about)
    table = {name: column for name, column in (table | change).items() if column is not None}
    with pytest.raises(OpenworldError, match=words):
        read(table, {name: text for name, text in about.items() if text is not None}, base_names=base_names)


@pytest.mark.parametrize(("name", "kind"), REFERENCES.items())
def test_similarities_of_another_model_say_which_kind_it_is(name, kind):
    logits = columns()["logits"]
    stream = read({"logits": logits, name: logits + 1}, ABOUT)
    assert stream.reference_kind == kind and np.array_equal(stream.reference, logits + 1)
