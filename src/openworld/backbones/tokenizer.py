"""From sentences to token ids, with the vocabulary a checkpoint ships.

CLIP uses lower-cased byte-pair encoding between a start and an end token (Radford et al., 2021); SigLIP a unigram
vocabulary on text stripped of punctuation, with an end token only (Zhai et al., 2023); SigLIP 2 Gemma's vocabulary on
lower-cased text, with an end token only (Tschannen et al., 2025).
"""

import gzip
import json
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from openworld.backbones.config import TwoTowerConfig
from openworld.backbones.published_files import VOCABULARY
from openworld.core.errors import OpenworldError

_MERGES = 49152 - 256 - 2
CLIP_WORDS = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


@dataclass(frozen=True)
class Spelling:
    """How a tokenizer reads a text, its start and end token left out."""

    ids: tuple[int, ...]
    unread: str = ""  # characters that no token stands for, or only the one for the unknown
    in_bytes: str = ""  # characters that take several tokens each: the vocabulary knows their bytes, not them


class Tokenizer:
    """A sentence list to lists of token ids, start and end tokens included; refuses what does not fit."""

    # `clean` is applied to the text first. `end_token` is appended to what the engine makes of the text alone; None
    # where it adds start and end itself. `pad_token` fills sentences of a bidirectional tower up to `positions`.
    def __init__(
        self, engine, positions: int, *, clean=None, end_token: int | None = None, pad_token: int | None = None
    ):
        engine.no_truncation()
        engine.no_padding()
        self.engine, self.positions, self.clean = engine, positions, clean
        self.end_token, self.pad_token = end_token, pad_token

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text. Raises OpenworldError naming the first text that is too long."""
        cleaned = [self.clean(text) for text in texts] if self.clean else list(texts)
        end = [] if self.end_token is None else [self.end_token]
        read = self.engine.encode_batch(cleaned, add_special_tokens=not end)
        return require_fitting(texts, [encoding.ids + end for encoding in read], self.positions)

    def spell(self, text: str) -> Spelling:
        """How a text of any length is read, with what is lost of it."""
        text = self.clean(text) if self.clean else text
        read = self.engine.encode(text, add_special_tokens=False)
        places: dict[int, list[int]] = {place: [] for place, letter in enumerate(text) if not letter.isspace()}
        for token, (start, stop) in zip(read.ids, read.offsets, strict=True):
            for place in range(start, stop):
                if place in places:
                    places[place].append(token)
        unread = (text[place] for place, tokens in places.items() if not set(tokens) - {self._unknown})
        in_bytes = (text[place] for place, tokens in places.items() if len(tokens) > 1)
        return Spelling(tuple(read.ids), "".join(dict.fromkeys(unread)), "".join(dict.fromkeys(in_bytes)))

    @cached_property
    def _unknown(self) -> int | None:
        """The id that stands for everything the vocabulary lacks, or None."""
        model = json.loads(self.engine.to_str())["model"]  # a unigram model does not tell it otherwise
        token = model.get("unk_token")
        return model.get("unk_id") if token is None else self.engine.token_to_id(token)


def require_fitting(texts: Sequence[str], ids: list[list[int]], positions: int) -> list[list[int]]:
    """Return the token ids of texts; the first one that is longer than a model reads is refused."""
    for text, tokens in zip(texts, ids, strict=True):
        if len(tokens) > positions:
            raise OpenworldError(
                f"the text {text!r} is {len(tokens)} tokens long, start and end included, and this model reads "
                f"at most {positions}; shorten it."
            )
    return ids


def speller_of(inner, positions: int, clean=None) -> Tokenizer | None:
    """Return the tokenizer, for the audit of names, of another library's, where that is one of `tokenizers`."""
    from tokenizers import Tokenizer as Engine

    engine = getattr(inner, "backend_tokenizer", None)
    return None if engine is None else Tokenizer(Engine.from_str(engine.to_str()), positions, clean=clean)


def read_tokenizer(folder: Path, config: TwoTowerConfig) -> Tokenizer:
    """Return the tokenizer of a folder; sentences have to end as the model expects."""
    engine = _read_engine(folder)
    if config.family == "siglip":
        # SigLIP pads with its end token; SigLIP 2 (Gemma's vocabulary) has a token to pad with. Gemma's is known by
        # "<eos>": it has a "</s>", too, which strikes out text in HTML.
        end, gemma = engine.token_to_id("</s>"), engine.token_to_id("<eos>")
        if gemma is None:
            return Tokenizer(engine, config.text.positions, clean=canonical, end_token=end, pad_token=end)
        pad = engine.token_to_id("<pad>")
        return Tokenizer(engine, config.text.positions, clean=str.lower, end_token=gemma, pad_token=pad)
    tokenizer = Tokenizer(engine, config.text.positions)
    tokens = tokenizer(["a"])[0]
    expected = max(tokens) if config.text.end_token is None else config.text.end_token
    if len(tokens) < 3 or tokens[-1] != expected or max(tokens) >= config.text.vocabulary:
        raise OpenworldError(
            f"the tokenizer in {folder} reads 'a' as {tokens}, which is not start, token and end ({expected}) of the "
            f"model's vocabulary of {config.text.vocabulary}; the files are not of one model."
        )
    return tokenizer


def canonical(text: str) -> str:
    """Return SigLIP's text form: lower case, no ASCII punctuation, single spaces."""
    text = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\s+", " ", text).strip()


def clip_engine(vocabulary: Mapping[str, int], merges: Sequence[tuple[str, str]]):
    """CLIP's byte-pair encoder from its vocabulary and merges, as a `tokenizers.Tokenizer`."""
    from tokenizers import Regex, normalizers, pre_tokenizers, processors
    from tokenizers import Tokenizer as Engine
    from tokenizers.models import BPE

    end, start = "<|endoftext|>", "<|startoftext|>"
    model = BPE(dict(vocabulary), list(merges), end_of_word_suffix="</w>", unk_token=end)
    engine = Engine(model)
    engine.add_special_tokens([start, end])
    engine.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    words = pre_tokenizers.Split(Regex(CLIP_WORDS), behavior="removed", invert=True)
    engine.pre_tokenizer = pre_tokenizers.Sequence([words, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    ends: list[Any] = [(token, engine.token_to_id(token)) for token in (end, start)]
    engine.post_processor = processors.RobertaProcessing(*ends, trim_offsets=False, add_prefix_space=False)
    return engine


def openai_vocabulary(file: Path) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return vocabulary and merges of OpenAI's bpe_simple_vocab_16e6.txt.gz."""
    # The file holds merges alone, more than CLIP uses. Tokens are numbered in this order: the 256 bytes, the same at
    # the end of a word, merges, start, end.
    lines = gzip.decompress(file.read_bytes()).decode("utf-8").split("\n")[1 : _MERGES + 1]
    merges: Any = [tuple(line.split()) for line in lines if line.strip()]
    if not all(len(pair) == 2 for pair in merges):
        raise ValueError(f"{file.name} has lines that are not two parts of a word")
    # The letter that stands for each byte: itself where it can be printed, else one from 256 on (GPT-2's table).
    printed = [*range(ord("!"), ord("~") + 1), *range(ord("\xa1"), ord("\xac") + 1), *range(ord("\xae"), 256)]
    letters = [*map(chr, printed), *(chr(256 + place) for place in range(256 - len(printed)))]
    tokens = [*letters, *(f"{letter}</w>" for letter in letters), *map("".join, merges)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    return {token: number for number, token in enumerate(tokens)}, merges


def _read_engine(folder: Path):
    from tokenizers import Tokenizer as Engine
    from tokenizers.models import BPE

    names = ("tokenizer.json", "vocab.json", "merges.txt", VOCABULARY)
    file, vocabulary, merges, openai = (folder / name for name in names)
    try:
        if file.is_file():
            return Engine.from_file(str(file))
        if vocabulary.is_file() and merges.is_file():
            return clip_engine(*BPE.read_file(str(vocabulary), str(merges)))
        if openai.is_file():
            return clip_engine(*openai_vocabulary(openai))
    except Exception as error:  # `tokenizers` raises bare Exception for any unreadable file
        raise OpenworldError(f"the tokenizer files in {folder} cannot be read ({error}).") from error
    if (folder / "spiece.model").is_file():
        raise OpenworldError(
            f"{folder} has its vocabulary only as spiece.model; convert it to tokenizer.json (transformers' "
            "`AutoTokenizer.from_pretrained(folder).save_pretrained(folder)` writes one)."
        )
    raise OpenworldError(f"{folder} has no tokenizer.json, no vocab.json with merges.txt, and no {VOCABULARY}.")
