"""Every reader of CSV and of lists takes UTF-8 with any end of a line, and says what else a file is in one sentence."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from openworld import OpenworldError
from openworld.core.plain_files import read_lines
from openworld.datasets.formats import folder, listing, numbered_list
from openworld.datasets.names.taxonomy import read_edges
from openworld.datasets.names.word_lists import word_list
from openworld.label_free.estimate.late_labels import read_late_labels
from openworld.label_free.estimate.reading import open_table
from openworld.ood.detect.choosing import names_of as detect_names
from openworld.ood.scored_sets import read_scores
from openworld.own_data.label.question import Names, read_answers
from openworld.own_data.score import read_predictions
from openworld.own_data.shift.decomposition import lines_of
from openworld.runs.spec import read_given
from openworld.shifts.synthesis.prompts import prompt_styles
from openworld.tables.stream import read_stream

NAMES = {"p": {"i1": Names(("kühl",), ("owl",)), "i2": Names(("cat",), ("owl",))}}


def answers(path):
    return read_answers([path], NAMES, ("kühl", "cat"), ("owl",))


SHEETS = {
    "score": (
        lambda path: {name: np.asarray(column).tolist() for name, column in read_predictions(path).items()},
        "side,score,label,prediction\nbase,0.5,kühl,cat\nnew,0.25,owl,owl\n",
    ),
    "detect": (lambda path: read_scores(path).test.scores["MSP"].tolist(), "group,set,MSP\nid,kühl,0.5\nfar,x,0.25\n"),
    "estimate": (
        lambda path: next(open_table([path]).scores()).outputs.logits.tolist(),
        "logits:kühl,logits:cat\n0.5,1\n0.25,2\n",
    ),
    "stream": (
        lambda path: (read_stream(path).base_names, read_stream(path).scores.tolist()),
        "score,base_name,new_name\n0.5,kühl,owl\n0.25,cat,emu\n",
    ),
    "late labels": (lambda path: read_late_labels(path).content, "id,label,inclusion\ni1,kühl,0.5\ni2,cat,0.5\n"),
    "worksheet": (answers, "plan,id,answer,label\np,i1,,kühl\np,i2,,owl\n"),
    "list of images": (lambda path: listing.load(path).classnames, "path,label\n1.png,kühl\n2.png,cat\n"),
}
TEXTS = {
    "spec": (read_given, '[[learners]]\nlearner = "kühl"\n'),
    "styles": (prompt_styles, '[[style]]\nname = "kühl"\nprompt = "a kühl {}"\nnegative = ""\n'),
    "edges": (read_edges, "kühl cat\nkühl owl\n"),
}
PLAIN = "kühl\ncat\n"
LISTS = {
    "class names": (lambda path: detect_names(str(path)), PLAIN),
    "new names": (lambda path: read_lines(path, "name"), PLAIN),
    "sentences": (lines_of, PLAIN),
    "words": (lambda path: word_list(str(path)).nouns, PLAIN),
    "numbered list": (lambda path: numbered_list.read(path)[0], "kühl.png 0\ncat.png 1\n"),
    "names of folders": (lambda path: folder.class_names(path.parent), "a kühl\nb cat\n"),
}


@pytest.fixture
def place(tmp_path):
    for name in ("1.png", "2.png", "a/1.png", "b/2.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (4, 4)).save(tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("reader", LISTS)
def test_a_list_may_have_any_end_of_a_line_and_a_mark_and_nothing_else(reader, place):
    read, text = LISTS[reader]
    path, found = place / "classnames.txt", []
    for code, ends in (("utf-8", "\n"), ("utf-8-sig", "\n"), ("utf-8", "\r\n"), ("utf-8-sig", "\r\n")):
        path.write_bytes(text.replace("\n", ends).encode(code))
        found.append(repr(read(path)))
    assert len(set(found)) == 1
    for code in ("latin-1", "utf-16", "utf-16-le"):
        path.write_bytes(text.encode(code))
        with pytest.raises(OpenworldError, match="classnames.txt.*UTF-8"):
            read(path)


@pytest.mark.parametrize("reader", TEXTS)
def test_a_text_may_have_a_mark_and_is_no_device(reader, tmp_path):
    read, text = TEXTS[reader]
    path, found = tmp_path / "text.toml", []
    for code in ("utf-8", "utf-8-sig"):
        path.write_bytes(text.encode(code))
        found.append(repr(read(path)))
    assert len(set(found)) == 1
    for code in ("latin-1", "utf-16"):
        path.write_bytes(text.encode(code))
        with pytest.raises(OpenworldError, match=r"text.toml.*UTF-8"):
            read(path)
    with pytest.raises(OpenworldError, match="a pipe or a device"):
        read(Path("/dev/zero"))


@pytest.mark.parametrize("reader", SHEETS)
def test_a_sheet_may_have_any_end_of_a_line_and_a_mark(reader, place):
    read, text = SHEETS[reader]
    found = []
    for code, ends in (("utf-8", "\n"), ("utf-8-sig", "\n"), ("utf-8", "\r\n"), ("utf-8-sig", "\r\n")):
        (place / "sheet.csv").write_bytes(text.replace("\n", ends).encode(code))
        found.append(repr(read(place / "sheet.csv")))
    assert len(set(found)) == 1


@pytest.mark.parametrize("reader", SHEETS)
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text.replace(",", ";").encode(), "separated by ';'"),
        (lambda text: text.replace(",", "\t").encode(), "separated by tab"),
        (lambda text: text.encode("latin-1"), "UTF-8"),
        (lambda text: text.encode("utf-16"), "UTF-8"),
        (lambda text: text.encode("utf-16-le"), "UTF-16|UTF-8"),
        (lambda text: b"", "empty"),
        (
            lambda text: "".join(f"{line},{line.rpartition(',')[2]}\n" for line in text.splitlines()).encode(),
            "two columns",
        ),
    ],
)
def test_a_sheet_in_another_form_is_told_so(reader, place, spoil, words):
    read, text = SHEETS[reader]
    (place / "sheet.csv").write_bytes(spoil(text))
    with pytest.raises(OpenworldError, match=f"sheet.csv.*({words})|({words}).*sheet.csv"):
        read(place / "sheet.csv")
