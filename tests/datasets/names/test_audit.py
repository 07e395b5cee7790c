"""The audit of class names: every kind of finding on a list made for it, and silence on a clean one."""

from dataclasses import dataclass

import pytest
from mini_wordnet import write_wordnet

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.datasets.names.audit import Finding, audit
from openworld.datasets.names.wordnet import WordNet


@dataclass(frozen=True)
class Letters:
    """A tokenizer of single letters that does not know z and reads x in two bytes."""

    positions: int = 60

    @dataclass(frozen=True)
    class Spelling:
        ids: tuple[int, ...]
        unread: str
        in_bytes: str

    def spell(self, text):
        ids = [ord(letter) for letter in text.lower() if letter not in "z "]
        return self.Spelling(tuple(ids), "z" * ("z" in text), "x" * ("x" in text))


def found(names, **options):
    return [(one.kind, one.severity, one.names) for one in audit(names, **options).findings]


def test_a_clean_list_gives_nothing_but_what_was_not_looked_at():
    told = audit(["cat", "dog", "owl"], "pets")
    assert told.findings == () and told.headline == "pets: 3 class names, nothing found"
    assert [check.partition(" (")[0] for check in told.not_made] == ["synonyms", "tokens"]
    assert audit(datasets.load("emoji-concepts").classnames, "emoji-concepts").findings == ()


@pytest.mark.parametrize(
    ("pair", "kind", "severity", "likeness"),
    [
        (("Cat", "cat"), "duplicate", "error", "are the same name"),
        (("wild dog", "Wild dog"), "duplicate", "error", "are the same name"),
        (("Saint-Bernard", "saint bernard"), "near-duplicate", "warning", "punctuation or accents"),
        (("cafe", "café"), "near-duplicate", "warning", "punctuation or accents"),
        (("blue berry", "blueberries"), "near-duplicate", "warning", "spaces"),
        (("wolf", "wolves"), "near-duplicate", "warning", "singular and plural"),
        (("cricket bat", "bat, cricket"), "near-duplicate", "warning", "the order of words"),
    ],
)
def test_names_that_are_alike(pair, kind, severity, likeness):
    names = [*pair, "zebra", "tiger", "heron"]  # both are base: no clash
    told = audit(names, base_count=5).findings
    assert [(one.kind, one.severity, one.names) for one in told] == [(kind, severity, pair)]
    assert likeness in told[0].sentence


@pytest.mark.parametrize("pair", [("A737-200", "A737-300"), ("cat", "bat"), ("crab", "rock crab"), ("car", "care")])
def test_names_that_are_meant_to_differ(pair):
    assert found(pair, base_count=2) == []


def test_base_and_new_clash():
    told = audit(["cat", "owl", "Cats", "cat"]).findings
    assert [(one.kind, one.severity, one.names) for one in told] == [
        ("clash", "error", ("cat", "cat")),
        ("clash", "warning", ("cat", "Cats")),
        ("near-duplicate", "warning", ("Cats", "cat")),
    ]
    assert told[1].sentence.startswith("base 'cat' and new 'Cats' differ only in singular and plural")
    assert found(["cat", "owl", "Cats", "cat"], base_count=0)[0][0] == "duplicate"


def test_other_data_sets_clash_but_spelling_is_not_compared():
    told = audit(["cat", "horse"], against={"farm": ["Cats", "house", "hen"]}).findings
    assert [(one.kind, one.severity, one.names) for one in told] == [("clash", "warning", ("cat", "Cats"))]
    assert "'Cats' of farm" in told[0].sentence


def test_synonyms_are_looked_up(tmp_path):
    write_wordnet(tmp_path, [("sofa", "couch"), ("hotdog", "hot_dog"), ("dog",), ("frank", "dog", "hot_dog")])
    names = ["sofa", "hot dog", "couch", "dog"]
    told = audit(names, wordnet=WordNet(tmp_path), base_count=4)
    assert [(one.kind, one.severity, one.names) for one in told.findings] == [
        ("synonym", "warning", ("sofa", "couch")),
        ("synonym", "note", ("hot dog", "dog")),  # the common meaning of neither
    ]
    assert "(sofa, couch)" in told.findings[0].sentence
    assert not any("synonyms" in check for check in told.not_made)


@pytest.mark.parametrize(
    ("name", "severity"), [("n01440764", "error"), ("12", "note"), ("caf\ufffd", "warning"), ("a\x00b", "warning")]
)
def test_what_is_no_name(name, severity):
    assert found([name, "owl", "heron"]) == [("not a name", severity, (name,))]


def test_the_order_matters_where_another_sorting_gives_other_halves():
    assert [kind for kind, *_ in found(["Zebra", "ant", "bee"])] == ["order"]
    (told,) = (one for one in audit(["item 10", "item 9"]).findings if one.kind == "order")
    assert told.names == ("item 10",) and "with numbers by value, 1 of 1 base classes would be new" in told.sentence
    assert found(["heron", "ant", "zebra"]) == []  # in no order at all: nothing to be mistaken about


def test_tokens():
    names = ["owl", "z owl", "fox", "a" * 41, "b" * 42]
    told = {one.kind: one for one in audit(names, tokenizer=Letters(), template="{}.").findings}
    assert told["same tokens"].names == ("owl", "z owl") and told["same tokens"].severity == "error"
    assert told["too long"].names == ("b" * 42,)  # 16 learned tokens, 42 letters, full stop and two ends
    unread = [one for one in audit(names, tokenizer=Letters()).findings if one.kind == "unread"]
    assert [(one.severity, one.names) for one in unread] == [("error", ("z owl",)), ("warning", ("fox",))]
    long = audit(["owl"], tokenizer=Letters(), template="a photo of " + "x" * 60 + " {}.").findings
    assert [one.kind for one in long] == ["too long"]


def test_its_headline_counts():
    told = audit(["Cat", "cat", "cats"], "pets")
    assert told.headline == "pets: 3 class names, 1 error, 2 warnings"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: audit([]), "no class name"),
        (lambda: audit(["cat"], base_count=2), "base_count is 2, expected 0 to 1"),
        (lambda: audit(["cat"], tokenizer=Letters(), template="a photo"), "must hold {} once"),
        (lambda: Finding("duplicat", "error", (), ""), "did you mean 'duplicate'"),
        (lambda: Finding("duplicate", "fatal", (), ""), "unknown severity"),
    ],
)
def test_bad_input_is_refused(call, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        call()
