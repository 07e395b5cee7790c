"""The question of an image, its answers, and the worksheet: what is written is read again, all else is refused."""

import pytest

from openworld import OpenworldError
from openworld.own_data.label.question import ImageAnswer, Names, read_answers, worksheet_text

pytestmark = pytest.mark.base

ONE, TWO, CLOSED = Names(("cat",), ("yak",)), Names(("cat", "dog"), ("yak", "yak")), Names(("cat", "dog"))
LISTS = ("cat", "dog", "cow"), ("yak", "gnu", "emu")
IDS = ("1", "=2", "007")
NAMES = (ONE, Names(("dog",), ("gnu",)), Names(("cow",), ("emu",)))


@pytest.mark.parametrize(
    ("names", "code", "expected"),
    [
        (ONE, "2", ImageAnswer(True, (False,))),
        (ONE, " New  RIGHT ", ImageAnswer(False, (True,))),
        (TWO, "base other right", ImageAnswer(True, (False, True))),
        (TWO, "base wrong", ImageAnswer(True, (False, False))),
        (TWO, "new right", ImageAnswer(False, (True, True))),
        (CLOSED, "other right", ImageAnswer(None, (False, True))),
    ],
)
def test_an_answer_speaks_of_every_model(names, code, expected):
    assert names.read(code) == expected


@pytest.mark.parametrize(
    ("names", "label", "expected"),
    [
        (TWO, "Dog", ImageAnswer(True, (False, True), "Dog")),
        (TWO, "cow", ImageAnswer(True, (False, False), "cow")),
        (ONE, "gnu", ImageAnswer(False, (False,), "gnu")),
        (CLOSED, "cat", ImageAnswer(None, (True, False), "cat")),
    ],
)
def test_a_true_class_name_says_as_much(names, label, expected):
    assert names.read_label(label, *LISTS) == expected


def test_what_nobody_knows_is_refused():
    with pytest.raises(OpenworldError, match="unknown answer 'new other right'"):
        TWO.read("new other right")
    with pytest.raises(OpenworldError, match="knows no class names"):
        ONE.read_label("cow", (), ())


def sheet(*answers):
    lines = worksheet_text("ab12", IDS, ("a.png", "b.png", "c.png"), NAMES).splitlines()
    assert lines[0] == "plan,id,image,as_base,as_new,answer,label"
    given = [line.removesuffix(",,") + f",{own}" for line, own in zip(lines[1:], answers, strict=True)]
    return "\n".join([lines[0], *given])


def read(folder, *texts):
    files = [folder / f"{number}.csv" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return read_answers(files, {"ab12": dict(zip(IDS, NAMES, strict=True))}, *LISTS)


def test_answers_of_a_worksheet_and_of_the_page_are_read_as_they_were_given(tmp_path):
    right, unsure, label = ImageAnswer(True, (True,)), None, ImageAnswer(False, (False,), "yak")
    assert read(tmp_path, sheet("base right,", "cannot tell,", ",yak")) == {"1": right, "=2": unsure, "007": label}
    assert set(read(tmp_path, "\ufeff" + sheet("3,", ",", ","))) == {"1"}  # after a byte order mark
    found = read(tmp_path, "plan,id,answer,label,seconds\nab12,1,0,,2.5\nab12,'=2,,gnu,4\n")
    assert found["=2"].right == (True,) and found["1"] is None
    assert len(read(tmp_path, sheet("base right,", ",", ","), sheet(",cat", ",", ","))) == 1  # which say the same
    with pytest.raises(OpenworldError, match=r"1.csv, row 2 answers for id '1' otherwise than 0.csv, row 2"):
        read(tmp_path, sheet("base right,", ",", ","), sheet("base wrong,", ",", ","))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (sheet("yes,", ",", ","), "row 2: unknown answer 'yes'"),
        (sheet(",cta", ",", ","), "row 2: unknown class name 'cta'; did you mean 'cat'"),
        (sheet("base right,dog", ",", ","), "contradict one another"),
        (sheet("cannot tell,dog", ",", ","), "contradict one another"),
        (sheet("1,", ",", ",").replace("ab12", "ffff"), "belongs to plan 'ffff', and this is ab12"),
        (sheet("1,", ",", ",").replace("007", "7"), "id '7' is none of the 3 images"),
        (sheet("1,", ",", ",") + "\nab12,1,a.png,cat,yak,1,", "id '1' is in rows 2 and 5"),
        ("image,answer\n1,2\n", "no column plan and no id and no label"),
    ],
)
def test_what_is_odd_is_refused(tmp_path, text, message):
    with pytest.raises(OpenworldError, match=message):
        read(tmp_path, text)
