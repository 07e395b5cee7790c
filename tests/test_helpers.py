"""Small helpers of the whole package, by values that can be checked by hand."""

from dataclasses import dataclass

import numpy as np
import pytest

from openworld.core import arrays, csv_files, plain_files, representation
from openworld.core.errors import OpenworldError, naming, unknown_name
from openworld.core.functions import find_function
from openworld.core.gpu_memory import BatchSize
from openworld.core.reading import plain_types, shown
from openworld.core.representation import short_repr
from openworld.core.sizes import parse_size, size_in_words
from openworld.core.spoken import spoken_name
from openworld.core.terminal import one_line, visible
from openworld.datasets.names import forms
from openworld.datasets.names.wordnet import meaning_of, split_synset_ids
from openworld.runs.spec import read_given
from openworld.tables.coded import Coded


@dataclass
class Names:
    names: tuple[str, ...]
    seed: int = 1
    __repr__ = short_repr


VALUES = (
    (representation.block(["GMoP is <best>.", "So."]), "<div><p><b>GMoP is &lt;best&gt;.</b></p><p>So.</p></div>"),
    (representation.percent(0.5, (0.25, 0.75)), "50.0 % [25.0 75.0]"),
    (representation.percent(None), "–"),
    (spoken_name("missile (again)"), "missile"),
    (repr(Names(("cat", "dog"))), "Names(names=('cat', 'dog'), seed=1)"),
    (repr(Names(tuple("abcdefg"))), "Names(names=('a', 'b', 'c', ... 7 in all), seed=1)"),
    (visible("cat\x1b[31m.png"), "cat␛[31m.png"),
    (one_line("a\nb\t.png"), "a␊b␉.png"),
    (
        csv_files.csv_text(["learner", "auroc"], [["GMoP", 0.5], ["=CoOp()", None]]),
        "learner,auroc\nGMoP,0.5\n'=CoOp(),\n",
    ),
    (csv_files.as_cell("-1.5"), "-1.5"),
    (parse_size("1.5 mb", "--limit"), 1_500_000),
    (size_in_words(14_200_000), "14 MB"),
    (size_in_words(14_200_000, at_least=True), "15 MB"),
    (Coded.of(["base", "new", "new"])[1:].tolist(), ["new", "new"]),
    (BatchSize(2, "counting").parts(lambda rows: (rows.start, rows.stop), 5), [(0, 2), (2, 4), (4, 5)]),
    (
        str(unknown_name("learner", "coop", ["CoOp", "GMoP"])).partition(";")[2],
        " did you mean 'CoOp'? Known: CoOp, GMoP.",
    ),
    (find_function("math:sqrt")(9.0), 3.0),
    (plain_types(int | None), {int, type(None)}),
    (shown("a" * 99), "'" + "a" * 76 + "..."),
    (read_given({"shots": 4}), {"shots": 4}),
    (plain_files.parse_json('{"shots": 4}'), {"shots": 4}),
    (arrays.as_array(np.array([1, 2], ">i2"), "labels").dtype.byteorder, "="),
    (arrays.as_groups(np.array(["a", "b"], dtype=object), "groups", 2).tolist(), ["a", "b"]),
    (forms.readable_class_name("Wild_dog "), "Wild dog"),
    (forms.normalise_class_name("Wild_dog "), "wild dog"),
    (forms.numbered_names(2), ("class 0", "class 1")),
    (forms.singular_name("Sports_Cars"), "sport car"),
    (meaning_of("n01440764"), 1440764),
    (split_synset_ids(["n01440764 tench", "carp"]), (["n01440764 tench", "carp"], [])),
)


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_by_hand(value, expected):
    assert value == expected


def deep():
    plain_files.parse_json("[" * 100_000)


def full_disk():
    with naming("runs/demo/run.json"):
        raise OSError(28, "No space left on device")


REFUSALS = (
    (
        lambda: arrays.require_fraction("[)", margin=1),
        OpenworldError,
        "from 0 to below 1: 1 is 100 %, and 1 % is 0.01.",
    ),
    (
        lambda: arrays.require_fraction(margin=0),
        OpenworldError,
        "margin is 0, expected a fraction above 0 and below 1.",
    ),
    (lambda: arrays.require_once(["side", "side"], "the table"), OpenworldError, "the table has two columns side"),
    (lambda: arrays.require_at_most(10, bins=15), OpenworldError, "bins is 15, expected 10 or less"),
    (deep, ValueError, "nested too deep"),
    (full_disk, OSError, "runs/demo/run.json"),
)


@pytest.mark.parametrize(("call", "error", "words"), REFUSALS)
def test_refusals(call, error, words):
    with pytest.raises(error) as told:
        call()
    assert words in str(told.value)
