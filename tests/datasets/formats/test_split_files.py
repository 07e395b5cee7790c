import json

import pytest

from openworld.core.errors import OpenworldError
from openworld.datasets.formats.files import read_split_file, read_variants, require_below

WHOLE = {"train": [["a/1.jpg", 1, "cat"], ["b/1.jpg", 0, "dog"]], "val": [], "test": [["a/2.jpg", 1, "cat"]]}


def test_a_split_file_by_hand(tmp_path):
    (tmp_path / "split.json").write_text(json.dumps(WHOLE))
    split = read_split_file(tmp_path / "split.json")
    assert split.classnames == ("dog", "cat")
    assert split.parts["train"].paths == ("a/1.jpg", "b/1.jpg")
    assert split.parts["train"].labels.tolist() == [1, 0]
    assert len(split.parts["validation"]) == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("[1, 2", "is no JSON"),
        (json.dumps([]), "holds a list, expected train, val and test"),
        (json.dumps({"train": []}), "holds the parts train"),
        (json.dumps(WHOLE | {"val": [["a/3.jpg", 0]]}), r"val\[0\] is .* expected \[path, label, class name\]"),
        (json.dumps(WHOLE | {"val": [["a/3.jpg", True, "dog"]]}), r"val\[0\]"),
        (json.dumps(WHOLE | {"val": [["a/3.jpg", -1, "dog"]]}), r"val\[0\]"),
        (json.dumps(WHOLE | {"val": [["a/3.jpg", 3, "owl"]]}), "none with label 2"),
        (json.dumps(WHOLE | {"val": [["a/3.jpg", 0, "wolf"]]}), "two names, 'dog' and 'wolf'"),
        (json.dumps(WHOLE | {"val": [["../3.jpg", 0, "dog"]]}), "leaves its folder"),
    ],
)
def test_a_wrong_split_file_is_refused(tmp_path, changed, message):
    (tmp_path / "split.json").write_text(changed)
    with pytest.raises(OpenworldError, match=message):
        read_split_file(tmp_path / "split.json")


def test_variants_keep_their_spaces(tmp_path):
    (tmp_path / "variants.txt").write_text("A300B4\nBoeing 717\n")
    for part in ("train", "val", "test"):
        (tmp_path / f"images_variant_{part}.txt").write_text("0000007 Boeing 717\n\n0000008 A300B4\n")
    split = read_variants(tmp_path)
    assert split.classnames == ("A300B4", "Boeing 717")
    assert split.parts["test"].paths == ("0000007.jpg", "0000008.jpg")
    assert split.parts["test"].labels.tolist() == [1, 0]
    (tmp_path / "images_variant_val.txt").write_text("0000009 Boeing 700\n")
    with pytest.raises(OpenworldError, match="line '0000009 Boeing 700'"):
        read_variants(tmp_path)


@pytest.mark.parametrize("path", ["..", "a/../../b", "/a", "a\\b", ""])
def test_paths_stay_below(path):
    with pytest.raises(OpenworldError, match="leaves its folder"):
        require_below(path, "the list")
