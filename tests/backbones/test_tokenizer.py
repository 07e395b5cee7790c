"""Token ids against transformers' tokenizers, on strings chosen to be awkward."""

import json
import shutil

import pytest
from tokenizers import Tokenizer as Engine
from tokenizers.models import Unigram
from transformers import CLIPTokenizer

from openworld import backbones
from openworld.backbones.config import TwoTowerConfig
from openworld.backbones.tokenizer import Tokenizer, canonical, read_tokenizer
from openworld.core.errors import OpenworldError

HARD = [
    "",
    " ",
    "a",
    "X X X X golden retriever.",
    "Golden   RETRIEVER\t\n(dog).",
    "it's 2024: 100% of the owls'...",
    "caf\u00e9 cafe\u0301 na\u00efve \u00c5ngstr\u00f6m",
    "\u4e2d\u6587 \u0440\u0443\u0441\u0441\u043a\u0438\u0439 \u0639\u0631\u0628\u064a",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 emoji!!",
    "under_score semi;colon hy-phen sl/ash",
    "\u00a0non breaking\u3000wide\u00a0",
    "a <|endoftext|> b",
]


@pytest.fixture
def vocabulary_folder(clip_checkpoint, tmp_path):
    """The same vocabulary as vocab.json and merges.txt, in transformers' own file format."""
    model = json.loads((clip_checkpoint[0] / "tokenizer.json").read_text())["model"]
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    (tmp_path / "vocab.json").write_text(json.dumps(model["vocab"]))
    (tmp_path / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]) + "\n")
    return tmp_path


def test_clip_equals_transformers(vocabulary_folder):
    oracle = CLIPTokenizer(str(vocabulary_folder / "vocab.json"), str(vocabulary_folder / "merges.txt"))
    ours = read_tokenizer(vocabulary_folder, TwoTowerConfig())
    assert ours(HARD) == [oracle(text).input_ids for text in HARD]


def test_tokenizer_json_equals_vocabulary_and_merges(vocabulary_folder, clip_checkpoint):
    ours = read_tokenizer(vocabulary_folder, TwoTowerConfig())
    assert ours(HARD) == read_tokenizer(clip_checkpoint[0], TwoTowerConfig())(HARD)


def test_truncation_and_padding_stated_in_a_file_are_not_applied(clip_checkpoint, tmp_path):
    engine = Engine.from_file(str(clip_checkpoint[0] / "tokenizer.json"))
    engine.enable_truncation(4)
    engine.enable_padding(length=9)
    engine.save(str(tmp_path / "tokenizer.json"))
    assert read_tokenizer(tmp_path, TwoTowerConfig())(HARD) == read_tokenizer(clip_checkpoint[0], TwoTowerConfig())(
        HARD
    )


def test_too_long_a_text_is_named(clip_checkpoint):
    model = backbones.load(clip_checkpoint[0])
    assert len(model.tokenizer(["x " * 75])[0]) == 77
    with pytest.raises(OpenworldError, match="'x x .*' is 78 tokens long.*at most 77"):
        model.tokenizer(["x", "x " * 76])


def test_siglip_text_is_canonical_and_ends_with_its_end_token(siglip_checkpoint, tmp_path):
    assert canonical("A photo, of a \n T-Shirt!") == "a photo of a tshirt"
    shutil.copytree(siglip_checkpoint[0], tmp_path, dirs_exist_ok=True)
    pieces = [("<unk>", 0.0), ("</s>", 0.0), ("owl", -1.0)]
    Engine(Unigram(pieces, unk_id=0)).save(str(tmp_path / "tokenizer.json"))
    assert backbones.load(tmp_path).tokenizer(["Owl."]) == [[2, 1]]


def test_spelling_says_what_is_lost_of_a_text():
    spell = backbones.load("embedded").tokenizer.spell
    assert spell("cat") == spell(" CAT ") and len(spell("cat").ids) == 1
    assert (spell("caf\u00e9").unread, spell("caf\u00e9").in_bytes) == ("", "\u00e9")
    assert len(spell("cat " * 100).ids) == 100  # longer than a sentence may be


def test_spelling_with_a_vocabulary_that_lacks_letters():
    engine = Engine(Unigram([("<unk>", 0.0), ("a", -1.0), ("b", -1.0), ("\u2581", -2.0)], unk_id=0))
    told = Tokenizer(engine, 16).spell("abz")
    assert (told.unread, told.in_bytes) == ("z", "")
    assert Tokenizer(engine, 16, clean=canonical).spell("A-B!").ids == Tokenizer(engine, 16).spell("ab").ids
