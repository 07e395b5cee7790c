import random
import re

import pyarrow
import pyarrow.parquet
import pytest
from trees import picture

from openworld.core.errors import OpenworldError
from openworld.datasets import few_shot, has_part, load
from openworld.datasets.formats import listing

ROWS = [
    ("a.jpg", "wild dog", "x", "train"),
    ("b.jpg", "cat", "x", "train"),
    ("sub/c.png", "cat", "y", "test"),
    ("d.jpg", "owl", "z", "val"),
    ("e.jpg", "cat", "z", "train"),
]


@pytest.fixture
def pictures(tmp_path):
    for number, (path, *_) in enumerate(ROWS):
        picture(tmp_path / path, number)
    return tmp_path


def write(path, head, rows):
    columns = {name: [row[place] for row in rows] for place, name in enumerate(head)}
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    else:
        path.write_text("\n".join(",".join(map(str, row)) for row in (head, *rows)) + "\n")
    return str(path)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_list_by_hand(pictures, ending):
    path = write(pictures / f"mine.{ending}", ("path", "label", "group", "split"), ROWS)
    train, validation, test = (load(path, part=part) for part in ("train", "validation", "test"))
    assert train.name == "mine"
    assert train.classnames == test.classnames == ("cat", "owl", "wild dog")
    assert train.labels.tolist() == [2, 0, 0]
    assert train.groups.tolist() == [0, 0, 2]
    assert test.read.paths == ("sub/c.png",)
    assert validation.labels.tolist() == [1]
    assert train.image(2).mode == "RGB"


def test_without_split_every_row_is_a_test_picture(pictures):
    path = write(pictures / "mine.csv", ("path", "label"), [row[:2] for row in ROWS])
    assert len(load(path)) == 5
    assert load(path).groups.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(OpenworldError, match="without a column `split`"):
        load(path, part="train")


def test_numbers_say_the_order_where_names_are_given(pictures):
    rows = [("a.jpg", 1, "ant"), ("b.jpg", 0, "bee"), ("d.jpg", 1, "ant")]
    images = load(write(pictures / "mine.csv", ("path", "label", "name"), rows))
    assert images.classnames == ("bee", "ant")
    assert images.labels.tolist() == [1, 0, 1]


def test_shots_are_drawn_as_everywhere(pictures):
    path = write(pictures / "mine.csv", ("path", "label", "group", "split"), ROWS)
    drawn = load(path, part="train", shots=1, seed=4)
    expected = few_shot([2, 0, 0], 1, random.Random(4))
    assert drawn.read.paths == tuple(("a.jpg", "b.jpg", "e.jpg")[index] for index in expected)


def test_paths_may_be_relative_to_another_folder(pictures, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("lists")
    path = write(elsewhere / "mine.csv", ("path", "label"), [("a.jpg", "ant")])
    assert len(load(path, root=pictures)) == 1
    with pytest.raises(OpenworldError, match="1 of 1 images of 'mine' are missing"):
        load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("path,class\na.jpg,cat\n", "no column label; its columns are path, class"),
        ("", "is empty, expected CSV"),
        ("path,label\na.jpg,\n", "no label in row 1"),
        ("path,label\na.jpg\n", "row 2 has 1 fields, expected 2"),
        ("path,label\na.jpg,0\nb.jpg,1\n", "numbers for labels"),
        ("path,label,name\na.jpg,0,ant\nb.jpg,0,bee\n", "row 2 has label '0' with name 'bee'"),
        ("path,label,name\na.jpg,0,ant\nb.jpg,2,bee\n", "2 labels up to 2"),
        ("path,label,split\na.jpg,cat,exam\n", "split 'exam'"),
        ("path,label\n../a.jpg,cat\n", "leaves its folder"),
        ("path,label\n/a.jpg,cat\n", "does not lie below"),
        ('path,label\n"a.jpg,cat\n', "cannot be read as UTF-8 CSV"),
        ("path,label\n", "no row of part 'test'"),
        ("path,label\na.jpg,Cat\nb.jpg,cat\n", "two classes named 'Cat' and 'cat'"),
    ],
)
def test_a_wrong_list_is_refused(pictures, text, message):
    (pictures / "mine.csv").write_text(text)
    with pytest.raises(OpenworldError, match=message):
        load(str(pictures / "mine.csv"))


def test_a_file_that_is_no_list_is_refused(pictures):
    (pictures / "mine.parquet").write_text("hello")
    with pytest.raises(OpenworldError, match="is not what its name says"):
        load(str(pictures / "mine.parquet"))
    with pytest.raises(OpenworldError, match="no such file"):
        load(str(pictures / "other.csv"))
    with pytest.raises(OpenworldError, match="expected a file ending in"):
        listing.load(pictures / "mine.txt")
    plain = write(pictures / "plain.csv", ("path", "label"), [row[:2] for row in ROWS])
    with pytest.raises(OpenworldError, match="unknown part"):
        load(plain, part="exam")
    with pytest.raises(OpenworldError, match="no column `domain`"):
        load(plain, domain="sketch")


@pytest.mark.parametrize(("sign", "called"), [(";", "';'"), ("\t", "tab"), ("|", "'|'")])
def test_a_list_with_another_sign_between_its_columns_is_told_which(tmp_path, sign, called):
    (tmp_path / "mine.csv").write_text(f"path{sign}label\n0.png{sign}cat, tame\n")
    with pytest.raises(OpenworldError, match=re.escape(f"mine.csv is separated by {called}, expected commas")):
        load(str(tmp_path / "mine.csv"))


def test_a_domain_is_the_rows_that_say_it(pictures):
    rows = [(path, label, domain, split) for (path, label, _, split), domain in zip(ROWS, "uuvuv", strict=True)]
    path = write(pictures / "mine.csv", ("path", "label", "domain", "split"), rows)
    train = load(path, domain="u", part="train")
    assert (train.read.paths, train.domain) == (("a.jpg", "b.jpg"), "u")
    assert train.classnames == load(path, part="test").classnames == ("cat", "owl", "wild dog")
    assert len(load(path, part="train")) == 3 and has_part(path, "validation", "u")
    assert not has_part(path, "validation", "v")
    with pytest.raises(OpenworldError, match="did you mean 'u'|Known: u, v"):
        load(path, domain="w", part="train")
    with pytest.raises(OpenworldError, match="no row of part 'validation' and domain 'v'"):
        load(path, domain="v", part="validation")


def test_absolute_paths_stand_for_those_below_the_root(pictures, tmp_path_factory):
    rows = [(path, label) for path, label, *_ in ROWS]
    elsewhere = tmp_path_factory.mktemp("lists")
    relative = load(write(elsewhere / "relative.csv", ("path", "label"), rows), root=pictures)
    whole = [(str(pictures / path), label) for path, label in rows]
    absolute = load(write(elsewhere / "absolute.csv", ("path", "label"), whole), root=pictures)
    assert absolute.read.paths == relative.read.paths and absolute.fingerprint == relative.fingerprint
    for root in (None, pictures / "sub"):
        with pytest.raises(OpenworldError, match="does not lie below .*say as `root`"):
            load(str(elsewhere / "absolute.csv"), root=root)
    with pytest.raises(OpenworldError, match="leaves its folder"):
        load(write(elsewhere / "up.csv", ("path", "label"), [(f"{pictures}/../a.jpg", "cat")]), root=pictures)
