"""The worksheet and its answers: what comes back is what was written, and what is odd is refused."""

import pytest

from openworld import OpenworldError
from openworld.own_data.label.question import ImageAnswer, Names
from openworld.own_data.label.worksheet import read_answers, worksheet_text

pytestmark = pytest.mark.base

IDS = ("1", "=2", "007")
NAMES = (Names(("cat",), ("yak",)), Names(("dog",), ("gnu",)), Names(("cow",), ("emu",)))
KNOWN = {"ab12": dict(zip(IDS, NAMES, strict=True))}


def read(folder, text, name="answers.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return read_answers([folder / name], KNOWN, ("cat", "dog", "cow"), ("yak", "gnu", "emu"))


def sheet(*answers):
    lines = worksheet_text("ab12", IDS, ("a.png", "b.png", "c.png"), NAMES).splitlines()
    assert lines[0] == "plan,id,image,as_base,as_new,answer,label"
    given = [line.removesuffix(",,") + f",{own}" for line, own in zip(lines[1:], answers, strict=True)]
    return "\n".join([lines[0], *given])


def test_a_filled_worksheet_is_read_as_it_was_written(tmp_path):
    answers = read(tmp_path, sheet("base right,", "cannot tell,", ",yak"))
    assert answers.known == {"1": ImageAnswer(True, (True,)), "007": ImageAnswer(False, (False,), "yak")}
    assert answers.unsure == {"=2"} and len(answers) == 3


def test_rows_without_an_answer_stay_open_and_answers_of_the_page_carry_their_seconds(tmp_path):
    assert set(read(tmp_path, "\ufeff" + sheet("3,", ",", ",")).known) == {"1"}  # after a byte order mark
    answers = read(tmp_path, "plan,id,answer,label,seconds\nab12,1,new wrong,,2.5\nab12,'=2,,gnu,4\n")
    assert answers.known["=2"].right == (True,) and answers.seconds == {"1": 2.5, "=2": 4.0}


def test_two_files_may_say_the_same_and_not_contradict(tmp_path):
    for name, code in (("first.csv", "base right,"), ("second.csv", ",cat"), ("third.csv", "base wrong,")):
        (tmp_path / name).write_text(sheet(code, ",", ","))
    lists = KNOWN, ("cat", "dog", "cow"), ("yak",)
    assert len(read_answers([tmp_path / "first.csv", tmp_path / "second.csv"], *lists)) == 1
    with pytest.raises(OpenworldError, match=r"third.csv, row 2 answers for id '1' otherwise than first.csv, row 2"):
        read_answers([tmp_path / "first.csv", tmp_path / "third.csv"], *lists)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (sheet("yes,", ",", ","), "row 2: unknown answer 'yes'"),
        (sheet(",cta", ",", ","), "row 2: unknown class name 'cta'; did you mean 'cat'"),
        (sheet("base right,dog", ",", ","), "contradict one another"),
        (sheet("1,", ",", ",").replace("ab12", "ffff"), "belongs to plan 'ffff', and this is ab12"),
        (sheet("1,", ",", ",").replace("007", "7"), "id '7' is none of the 3 images"),
        (sheet("1,", ",", ",") + "\nab12,1,a.png,cat,yak,1,", "id '1' is in rows 2 and 5"),
        (sheet("1,", ",", ",").replace(",", ";"), "separated by ';'"),
        ("image,answer\n1,2\n", "no column plan and no id and no label"),
        (sheet("1,,4", ",", ","), "row 2 has 8 fields, expected 7"),
        ("plan,id,answer,label,seconds\nab12,1,1,,soon\n", "seconds is 'soon'"),
        ("", "is empty, expected CSV"),
    ],
)
def test_what_is_odd_is_refused(tmp_path, text, message):
    with pytest.raises(OpenworldError, match=message):
        read(tmp_path, text)
