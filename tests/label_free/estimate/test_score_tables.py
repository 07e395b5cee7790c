"""Saved scores in every format and every layout are the same scores; what is wrong with a file is said of that file."""

import json

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from safetensors.numpy import save_file

from openworld import OpenworldError
from openworld.label_free.estimate.reading import open_table
from openworld.tables import files as score_files
from openworld.tables.probabilities import are_probabilities, logarithms

NAMES = ("cat", "wild dog", "owl", "x:y")


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    tables = {name: rng.standard_normal((50, 4)) for name in ("logits", "reference", "partner_1")}
    return tables | {"labels": rng.integers(0, 4, 50)}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(score_files, "NUMBERS", 100)


def column(table, name="logits"):
    """What all blocks of a table, or of the files of one, say together; of a partner by its place."""
    table = table if hasattr(table, "blocks") else open_table(table)
    blocks = [block.outputs for block in table.scores()]
    return np.concatenate([getattr(each, name) if isinstance(name, str) else each.partners[name] for each in blocks])


def wide(scores):
    """A column per class, labels as names, time stamps."""
    table = {
        f"{one}:{name}": scores[one][:, i]
        for one in ("logits", "reference", "partner_1")
        for i, name in enumerate(NAMES)
    }
    when = np.datetime64("2024-01-01T00:00:00", "s") + 3600 * np.arange(50)
    return pyarrow.table(table | {"label": [NAMES[i] for i in scores["labels"]], "when": when, "note": ["x"] * 50})


def write(path, scores, kind):
    told = {"classnames": json.dumps(NAMES)}
    tables = ("logits", "reference", "partner_1")
    if kind in ("npz", "packed"):
        save, order = (np.savez, np.array) if kind == "npz" else (np.savez_compressed, np.asfortranarray)
        save(path := path / f"{kind}.npz", classnames=np.array(NAMES), **{n: order(c) for n, c in scores.items()})
    elif kind == "safetensors":
        save_file(scores, path := path / "one.safetensors", told)
    elif kind in ("lists", "large lists"):
        list_type = pyarrow.list_ if kind == "lists" else pyarrow.large_list
        columns = {name: pyarrow.array(scores[name].tolist(), list_type(pyarrow.float64())) for name in tables}
        table = pyarrow.table(columns | {"labels": scores["labels"]}).replace_schema_metadata(told)
        pyarrow.parquet.write_table(table, path := path / f"{kind}.parquet")
    elif kind == "wide parquet":
        pyarrow.parquet.write_table(wide(scores), path := path / "wide.parquet")
    else:
        pyarrow.csv.write_csv(wide(scores), path := path / "wide.csv")
    return path


@pytest.mark.parametrize("kind", ["npz", "packed", "safetensors", "lists", "large lists", "wide parquet", "csv"])
def test_every_format_holds_the_same(tmp_path, scores, kind):
    table = open_table([write(tmp_path, scores, kind)])
    assert len(list(table.scores())) > 1
    for name in ("logits", "reference", "labels"):
        np.testing.assert_allclose(column(table, name), scores[name])
    np.testing.assert_allclose(column(table, 0), scores["partner_1"])
    assert table.classnames == NAMES
    assert table.layouts[0].unused == (("when", "note") if "wide" in kind or kind == "csv" else ())


@pytest.fixture
def softmax(scores):
    return np.exp(scores["logits"]) / np.exp(scores["logits"]).sum(axis=1, keepdims=True)


def test_probabilities_are_read_as_their_logarithms(tmp_path, softmax):
    np.savez(tmp_path / "p.npz", probabilities=softmax, labels=np.arange(50.0) % 4)
    np.testing.assert_allclose(column([tmp_path / "p.npz"]), np.log(softmax))
    np.testing.assert_array_equal(column([tmp_path / "p.npz"], "labels"), np.arange(50) % 4)  # whole, as fractions
    assert not sum(block.rounded for block in open_table([tmp_path / "p.npz"]).scores())


@pytest.mark.parametrize("digits", [2, 4])
def test_rounded_probabilities_are_divided_by_their_sums(tmp_path, softmax, digits):
    rounded = softmax.round(digits).astype(np.float32)
    np.savez(tmp_path / "p.npz", probabilities=rounded)
    blocks = list(open_table([tmp_path / "p.npz"]).scores())
    found = np.exp(np.concatenate([block.outputs.logits for block in blocks]))
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(found, softmax, atol=10.0**-digits)
    off = np.abs(rounded.astype(float).sum(axis=1) - 1) > 1e-6
    assert sum(block.rounded for block in blocks) == off.sum() > 0


def test_a_label_whose_probability_was_rounded_to_zero_does_not_decide_everything():
    """Half a unit of the last digit, shared by the classes; an exact 0 stays the smallest number there is."""
    rounded = np.exp(logarithms(np.array([[0.999, 0.001, 0.0, 0.0]])))
    np.testing.assert_allclose(rounded, [[0.999, 0.001, 0.000125, 0.000125]])
    exact = logarithms(np.array([[2 / 3, 1 / 3, 0.0]]))
    assert exact[0, 2] < -700


NO_PROBABILITIES = {
    "columns called logits": [[1.5, -0.5]],
    "their sum is 1.1; save all classes": [[0.5, 0.6]],
    "divide them by 100": [[30.0, 70.0]],
    "their sum is 0.64": [[0.01] * 64],  # a hundred classes to two digits: what is left says too little
    "their sum is 1.001": [[0.50012, 0.50088]],  # three digits might be off by so much, five may not
    "their sum is 0;": [[0.0, 0.0]],
    "do not add up to 1, first 0": [[np.nan, 1.0]],
}


@pytest.mark.parametrize("words", NO_PROBABILITIES)
def test_what_is_no_probability_is_refused(words):
    with pytest.raises(OpenworldError, match=words):
        logarithms(np.array(NO_PROBABILITIES[words]))


def test_probabilities_in_half_precision_are_divided_by_their_sums(softmax):
    for kept in (
        softmax.astype(np.float16),
        (softmax.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32),
    ):
        found = np.exp(logarithms(kept))
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(found, softmax, rtol=0.02)


def test_what_looks_like_a_softmax(scores, softmax):
    for table in (softmax, softmax.astype(np.float16), softmax.round(2), 100 * softmax, 100 * softmax.round(4)):
        assert are_probabilities(table).all()
    cosines = 0.25 + 0.03 * scores["logits"]  # of four classes: they add up to about 1, and are no softmax
    for table in (scores["logits"], scores["logits"].astype(np.float16), cosines, cosines.astype(np.float32)):
        assert not are_probabilities(table).any()


def test_partners_in_files_of_their_own(tmp_path, scores):
    path = write(tmp_path, scores, "csv")
    for name, rows in {"same": 50, "short": 40, "long": 60}.items():
        np.savez(tmp_path / f"{name}.npz", logits=np.resize(scores["reference"], (rows, 4)))
    table = open_table([path], partners=[tmp_path / "same.npz"])
    np.testing.assert_array_equal(column(table, 1), scores["reference"])
    for name, words in (("short", "short.npz ends before wide.csv, row .* images too few"), ("long", "more images")):
        with pytest.raises(OpenworldError, match=words):
            list(open_table([path], partners=[tmp_path / f"{name}.npz"]).scores())


def test_time_stamps_come_along(tmp_path, scores):
    table = open_table([write(tmp_path, scores, "wide parquet")], times="when")
    times = np.concatenate([block.times for block in table.scores()])
    assert times[25].astype("datetime64[h]") == np.datetime64("2024-01-02T01")
    with pytest.raises(OpenworldError, match="unknown column of .* 'wen'; did you mean 'when'"):
        open_table([tmp_path / "wide.parquet"], times="wen")


BAD = {
    "no logits and no probabilities": {"scores": np.eye(2)},
    "both logits and probabilities": {"logits": np.eye(2), "probabilities": np.eye(2)},
    "both label and labels": {"logits": np.eye(2), "label": np.zeros(2, int), "labels": np.zeros(2, int)},
    "labels are names, but the classes have none": {"logits": np.eye(2), "labels": np.array(["a", "b"])},
    "reference has shape": {"logits": np.eye(2), "reference": np.eye(3)[:2]},
    "two classes": {"logits": np.ones((2, 1))},
    r"a.npz, row 0 .*unknown label 'dgo'; did you mean 'dog'": {
        "logits": np.eye(2),
        "labels": np.array(["cat", "dgo"]),
        "classnames": np.array(["cat", "dog"]),
    },
}


@pytest.mark.parametrize("words", BAD)
def test_tables_that_will_not_do(tmp_path, words):
    np.savez(tmp_path / "a.npz", **BAD[words])
    with pytest.raises(OpenworldError, match=words) as caught:
        list(open_table([tmp_path / "a.npz"]).scores())
    assert "a.npz" in str(caught.value) or "array" in str(caught.value)


def test_other_class_names_than_the_callers_are_refused(tmp_path):
    for names, wanted, words in (
        (["cat", "dog"], ("cat", "dog", "owl"), "2 names, expected 3; 1 are in one of the two alone, first 'owl'"),
        (["cat", "cat", "dog"], ("cat", "dog", "cat"), "a name comes twice"),
    ):
        np.savez(tmp_path / "a.npz", logits=np.eye(len(names)), classnames=np.array(names))
        with pytest.raises(OpenworldError, match=words):
            open_table([tmp_path / "a.npz"], classnames=wanted)


@pytest.mark.parametrize("kind", ["npz", "safetensors", "lists", "wide parquet", "csv"])
def test_classes_in_another_order_are_put_in_order_by_their_names(tmp_path, scores, kind):
    """Scores of every model, labels that are numbers, and labels that are names."""
    order = [2, 0, 3, 1]
    path = write(tmp_path, scores, kind)
    np.savez(tmp_path / "partner.npz", logits=scores["partner_1"], classnames=np.array(NAMES))
    wanted = tuple(NAMES[place] for place in order)
    asked = open_table([path], classnames=wanted, partners=[tmp_path / "partner.npz"])
    for table in (asked, open_table([path], partners=[tmp_path / "partner.npz"]).ordered(wanted, "those of b")):
        for name, held in {"logits": "logits", "reference": "reference", 0: "partner_1", 1: "partner_1"}.items():
            np.testing.assert_allclose(column(table, name), scores[held][:, order])
        assert [wanted[label] for label in column(table, "labels")] == [NAMES[label] for label in scores["labels"]]
        assert table.classnames == wanted and table.layouts[0].classes.order is not None
    np.testing.assert_allclose(column(asked.ordered(NAMES, "those of b")), column([path]))


def test_columns_of_single_classes_are_matched_by_name(tmp_path):
    """Among themselves; and with whole tables beside them, whose class names the file lists."""
    frame = {"logits:a": [1.0], "logits:b": [0.0], "reference:b": [2.0], "reference:a": [3.0], "partner:b": [4.0]}
    frame["partner:a"] = [5.0]
    pyarrow.csv.write_csv(pyarrow.table(frame), tmp_path / "a.csv")
    (block,) = open_table([tmp_path / "a.csv"]).scores()
    assert block.outputs.reference.tolist() == [[3.0, 2.0]] and block.outputs.partners[0].tolist() == [[5.0, 4.0]]
    frame = {"logits": [[1.0, 0.0]], "reference:b": [2.0], "reference:a": [3.0], "labels": [0]}
    listed = pyarrow.table(frame).replace_schema_metadata({"classnames": '["a", "b"]'})
    pyarrow.parquet.write_table(listed, tmp_path / "a.parquet")
    table = open_table([tmp_path / "a.parquet"])
    (block,) = table.scores()
    assert table.classnames == ("a", "b") and block.outputs.logits.tolist() == [[1.0, 0.0]]
    assert block.outputs.reference.tolist() == [[3.0, 2.0]] and block.outputs.labels.tolist() == [0]
    pyarrow.parquet.write_table(pyarrow.table(frame), tmp_path / "b.parquet")  # the names are the caller's
    (block,) = open_table([tmp_path / "b.parquet"], classnames=("a", "b")).scores()
    assert block.outputs.logits.tolist() == [[1.0, 0.0]] and block.outputs.reference.tolist() == [[3.0, 2.0]]


def test_files_that_follow_each_other_may_order_their_classes_differently(tmp_path, scores):
    order = [2, 0, 3, 1]
    for name, places in {"straight": range(4), "turned": order}.items():
        held = {one: np.ascontiguousarray(scores[one][:, places]) for one in ("logits", "reference")}
        labels = np.array(NAMES)[scores["labels"]]
        np.savez(tmp_path / f"{name}.npz", classnames=np.array(NAMES)[list(places)], labels=labels, **held)
    for names in (("straight", "turned"), ("turned", "straight")):
        for classnames in (None, NAMES):
            table = open_table([tmp_path / f"{name}.npz" for name in names], classnames=classnames)
            table = table.ordered(NAMES, "those wanted")
            assert table.name == f"{names[0]}.npz and 1 more"
            for one in ("logits", "reference", "labels"):
                np.testing.assert_array_equal(column(table, one), np.concatenate([scores[one]] * 2))


def test_partners_without_names_come_in_the_order_of_the_file_beside_them(tmp_path, scores):
    order = [2, 0, 3, 1]
    turned = {one: np.ascontiguousarray(scores[one][:, order]) for one in ("logits", "partner_1")}
    np.savez(tmp_path / "a.npz", logits=turned["logits"], classnames=np.array(NAMES)[order])
    np.savez(tmp_path / "b.npz", logits=turned["partner_1"])
    table = open_table([tmp_path / "a.npz"], classnames=NAMES, partners=[tmp_path / "b.npz"])
    np.testing.assert_array_equal(column(table, 0), scores["partner_1"])


def test_columns_of_single_classes_and_lists_must_go_together(tmp_path):
    frame = {"logits:a": [1.0], "logits:b": [0.0], "reference:a": [1.0], "reference:c": [0.0]}
    pyarrow.csv.write_csv(pyarrow.table(frame), tmp_path / "a.csv")
    with pytest.raises(OpenworldError, match="the columns of reference .* are not those of logits.*first 'b'"):
        open_table([tmp_path / "a.csv"])
    pyarrow.parquet.write_table(pyarrow.table({"logits": [[1.0, 2.0], [1.0]]}), tmp_path / "a.parquet")
    with pytest.raises(OpenworldError, match="lists of column 'logits' differ in length"):
        list(open_table([tmp_path / "a.parquet"]).scores())


def test_whole_numbers_first_and_fractions_later(tmp_path, monkeypatch):
    monkeypatch.setattr(score_files, "NUMBERS", 16)
    (tmp_path / "a.csv").write_text("logits:a,logits:b\n" + "1,2\n" * 30 + "1.5,2\n")
    blocks = list(open_table([tmp_path / "a.csv"]).scores())
    assert len(blocks) > 1 and blocks[-1].outputs.logits[-1].tolist() == [1.5, 2.0]


@pytest.mark.parametrize("ending", [".npz", ".safetensors", ".parquet", ".csv"])
def test_files_that_are_not_what_they_say(tmp_path, scores, ending):
    with pytest.raises(OpenworldError, match="there is no file"):
        open_table([tmp_path / f"none{ending}"])
    (tmp_path / f"bad{ending}").write_bytes(b"\x89PNG\x00\xff,\xfe" * 3 if ending != ".csv" else b"")
    with pytest.raises(OpenworldError, match=r"bad\.\w+ is (not what its name says|empty)"):
        open_table([tmp_path / f"bad{ending}"])
    with pytest.raises(OpenworldError, match=r"scores.pkl ends in '.pkl'; expected .npz, .safetensors, .parquet, .csv"):
        open_table([tmp_path / "scores.pkl"])
    np.savez(tmp_path / "a.npz", logits=scores["logits"])
    data = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(data[: len(data) // 2])
    with pytest.raises(OpenworldError, match="is not what its name says"):
        list(open_table([tmp_path / "a.npz"]).scores())
