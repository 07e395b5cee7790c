"""A small byte-pair tokenizer in the layout of OpenAI CLIP's tokenizer.json.

As CLIP's: lower case, digits one by one, `</w>` closes a word, every byte has an entry (so no text is unknown), and the
two special tokens come last, the end token with the largest id. Only the number of merges differs.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

START, END, WORD_END = "<|startoftext|>", "<|endoftext|>", "</w>"
WORDS = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def train_tokenizer(texts: Iterable[str], vocabulary: int = 1600) -> Tokenizer:
    """A tokenizer with `vocabulary` entries: 512 for bytes, the most frequent merges of `texts`, 2 special ones."""
    learner = _pipeline(BPE(end_of_word_suffix=WORD_END))
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = BpeTrainer(
        vocab_size=10 * vocabulary,
        end_of_word_suffix=WORD_END,
        initial_alphabet=alphabet,
        show_progress=False,
        min_frequency=2,
    )
    learner.train_from_iterator(sorted(texts), trainer)
    return build_tokenizer(_merges(learner)[: vocabulary - 2 * len(alphabet) - 2])


def build_tokenizer(merges: list[tuple[str, str]]) -> Tokenizer:
    """The tokenizer of these merges; vocabulary in CLIP's order: bytes, closing bytes, merges, specials."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    entries = alphabet + [letter + WORD_END for letter in alphabet] + [a + b for a, b in merges] + [START, END]
    vocabulary = {entry: position for position, entry in enumerate(dict.fromkeys(entries))}
    model = BPE(vocabulary, merges, end_of_word_suffix=WORD_END, continuing_subword_prefix="", unk_token=END)
    tokenizer = _pipeline(model)
    tokenizer.add_special_tokens([AddedToken(START, normalized=True), AddedToken(END, normalized=False)])
    tokenizer.post_processor = processors.RobertaProcessing(
        (END, vocabulary[END]), (START, vocabulary[START]), add_prefix_space=False, trim_offsets=False
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def load_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer stored at `path`."""
    return Tokenizer.from_file(str(path))


def _pipeline(model: BPE) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    return tokenizer


def _merges(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    stored = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(merge) if isinstance(merge, list) else tuple(merge.split(" ")) for merge in stored]
