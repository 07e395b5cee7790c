import random

import pyarrow
import pyarrow.parquet
import pytest
from trees import make_image

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
def image_folder(tmp_path):
    for number, (path, *_) in enumerate(ROWS):
        make_image(tmp_path / path, number)
    return tmp_path


def write(path, head, rows):
    columns = {name: [row[place] for row in rows] for place, name in enumerate(head)}
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    else:
        path.write_text("\n".join(",".join(map(str, row)) for row in (head, *rows)) + "\n")
    return str(path)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_list_by_hand(image_folder, ending):
    path = write(image_folder / f"mine.{ending}", ("path", "label", "group", "split"), ROWS)
    train, validation, test = (load(path, part=part) for part in ("train", "validation", "test"))
    assert train.name == "mine"
    assert train.classnames == test.classnames == ("cat", "owl", "wild dog")
    assert train.labels.tolist() == [2, 0, 0]
    assert train.groups.tolist() == [0, 0, 2]
    assert tuple(test.columns["path"]) == ("sub/c.png",)
    assert validation.labels.tolist() == [1]
    assert train.image(2).mode == "RGB"


def test_without_split_every_row_is_a_test_image(image_folder):
    images = load(write(image_folder / "mine.csv", ("path", "label"), [row[:2] for row in ROWS]))
    assert len(images) == 5 and images.groups.tolist() == [0, 1, 2, 3, 4]


def test_numbers_say_the_order_where_names_are_given_and_shots_are_drawn_as_everywhere(image_folder):
    rows = [("a.jpg", 1, "ant", "train"), ("b.jpg", 0, "bee", "train"), ("d.jpg", 1, "ant", "train")]
    path = write(image_folder / "mine.csv", ("path", "label", "name", "split"), rows)
    images = load(path, part="train")
    assert images.classnames == ("bee", "ant") and images.labels.tolist() == [1, 0, 1]
    expected = few_shot([1, 0, 1], 1, random.Random(4))
    drawn = load(path, part="train", shots=1, seed=4)
    assert list(drawn.columns["path"]) == [rows[index][0] for index in expected]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("path,class\na.jpg,cat\n", "no column label; its columns are path, class"),
        ("path,label\na.jpg,\n", "no label in row 1"),
        ("path,label\na.jpg,0\nb.jpg,1\n", "numbers for labels"),
        ("path,label,name\na.jpg,0,ant\nb.jpg,0,bee\n", "row 2 has label '0' with name 'bee'"),
        ("path,label,name\na.jpg,0,ant\nb.jpg,2,bee\n", "2 labels up to 2"),
        ("path,label,split\na.jpg,cat,exam\n", "split 'exam'"),
        ("path,label\n../a.jpg,cat\n", "leaves its folder"),
        ("path,label\n/a.jpg,cat\n", "does not lie below"),
        ("path,label\ngone.jpg,cat\n", "1 of 1 images of 'mine' are missing"),
        ("path,label\n", "no row of part 'test'"),
        ("path,label\na.jpg,Cat\nb.jpg,cat\n", "two classes named 'Cat' and 'cat'"),
    ],
)
def test_a_wrong_list_is_refused(image_folder, text, message):
    (image_folder / "mine.csv").write_text(text)
    with pytest.raises(OpenworldError, match=message):
        load(str(image_folder / "mine.csv"))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mine.parquet", {}, "is not what its name says"),
        ("other.csv", {}, "no such file"),
        ("mine.txt", {}, "expected a file ending in"),
        ("plain.csv", {"part": "exam"}, "unknown part"),
        ("plain.csv", {"part": "train"}, "without a column `split`"),
        ("plain.csv", {"domain": "sketch"}, "no column `domain`"),
    ],
)
def test_what_is_no_list_or_not_in_it_is_refused(image_folder, name, options, message):
    (image_folder / "mine.parquet").write_text("hello")
    write(image_folder / "plain.csv", ("path", "label"), [row[:2] for row in ROWS])
    with pytest.raises(OpenworldError, match=message):
        listing.load(image_folder / name, **options)


def test_a_domain_is_the_rows_that_say_it(image_folder):
    rows = [(path, label, domain, split) for (path, label, _, split), domain in zip(ROWS, "uuvuv", strict=True)]
    path = write(image_folder / "mine.csv", ("path", "label", "domain", "split"), rows)
    train = load(path, domain="u", part="train")
    assert (tuple(train.columns["path"]), train.domain) == (("a.jpg", "b.jpg"), "u")
    assert train.classnames == load(path, part="test").classnames == ("cat", "owl", "wild dog")
    assert len(load(path, part="train")) == 3 and has_part(path, "validation", "u")
    assert not has_part(path, "validation", "v")
    with pytest.raises(OpenworldError, match="did you mean 'u'|Known: u, v"):
        load(path, domain="w", part="train")
    with pytest.raises(OpenworldError, match="no row of part 'validation' and domain 'v'"):
        load(path, domain="v", part="validation")


def test_absolute_paths_stand_for_those_below_the_root(image_folder, tmp_path_factory):
    rows = [(path, label) for path, label, *_ in ROWS]
    elsewhere = tmp_path_factory.mktemp("lists")
    relative = load(write(elsewhere / "relative.csv", ("path", "label"), rows), root=image_folder)
    whole = [(str(image_folder / path), label) for path, label in rows]
    absolute = load(write(elsewhere / "absolute.csv", ("path", "label"), whole), root=image_folder)
    assert (
        tuple(absolute.columns["path"]) == tuple(relative.columns["path"])
        and absolute.fingerprint == relative.fingerprint
    )
    for root in (None, image_folder / "sub"):
        with pytest.raises(OpenworldError, match="does not lie below .*say as `root`"):
            load(str(elsewhere / "absolute.csv"), root=root)
    with pytest.raises(OpenworldError, match="leaves its folder"):
        load(write(elsewhere / "up.csv", ("path", "label"), [(f"{image_folder}/../a.jpg", "cat")]), root=image_folder)
