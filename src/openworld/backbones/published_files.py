"""Which files a checkpoint is published in, where they are looked for, and which of them are there.

The one list of file names: `loading` reads by it, `needed_files` tells a user without network what to put where.
Needs no torch.
"""

from dataclasses import dataclass
from pathlib import Path

from openworld._errors import unknown_name
from openworld.backbones.cards import BACKBONES, SHORT_NAMES

EMBEDDED = Path(__file__).parent / "embedded"
OPENAI_CACHE = Path("~/.cache/clip")
VOCABULARY = "bpe_simple_vocab_16e6.txt.gz"


@dataclass(frozen=True)
class Need:
    """One thing that a checkpoint must hold.

    Args:
        purpose: "weights", "configuration", "tokenizer" or "preprocessing".
        any_of: the forms it may have, the preferred first; each the file names that belong together. A name with "*"
            stands for the shards that the file before it lists.
        found: the files of the first form that is there whole; empty where none is.
    """

    purpose: str
    any_of: tuple[tuple[str, ...], ...]
    found: tuple[Path, ...] = ()

    def __str__(self) -> str:
        return f"{self.purpose}: {', or '.join(' with '.join(form) for form in self.any_of)}"


@dataclass(frozen=True)
class FileSet:
    """The files of a checkpoint in one layout and one place.

    Args:
        layout: "hugging_face", "open_clip" or "openai".
        folder: where the files are looked for; None for a repository of which nothing is on this machine: any folder
            that holds them does, given in place of the name.
        needs: weights, configuration, tokenizer and preprocessing; those the layout fixes are left out.
    """

    layout: str
    folder: Path | None
    needs: tuple[Need, ...]

    @property
    def complete(self) -> bool:
        """Whether everything is there."""
        return all(need.found for need in self.needs)

    @property
    def missing(self) -> tuple[Need, ...]:
        """What is not there."""
        return tuple(need for need in self.needs if not need.found)


_TOKENIZER = (("tokenizer.json",), ("vocab.json", "merges.txt"), (VOCABULARY,))
LAYOUTS = {
    "hugging_face": (
        (
            "weights",
            ("model.safetensors",),
            ("model.safetensors.index.json", "model-*.safetensors"),
            ("pytorch_model.bin",),
            ("pytorch_model.bin.index.json", "pytorch_model-*.bin"),
        ),
        ("configuration", ("config.json",)),
        ("tokenizer", *_TOKENIZER),
        ("preprocessing", ("preprocessor_config.json",), ("processor_config.json",), ("open_clip_config.json",)),
    ),
    "open_clip": (
        (
            "weights",
            ("open_clip_model.safetensors",),
            ("open_clip_pytorch_model.safetensors",),
            ("open_clip_pytorch_model.bin",),
        ),
        ("configuration", ("open_clip_config.json",)),
        ("tokenizer", *_TOKENIZER),
        ("preprocessing", ("preprocessor_config.json",), ("open_clip_config.json",)),
    ),
}
# OpenAI's own archives, by the repositories that hold the same weights; also what they are called in ~/.cache/clip.
OPENAI_ARCHIVES = {
    "openai/clip-vit-base-patch32": "ViT-B-32.pt",
    "openai/clip-vit-base-patch16": "ViT-B-16.pt",
    "openai/clip-vit-large-patch14": "ViT-L-14.pt",
    "openai/clip-vit-large-patch14-336": "ViT-L-14-336px.pt",
}


def needed_files(name: str | Path) -> tuple[FileSet, ...]:
    """What `load(name)` looks for, in the order in which it looks; nothing is fetched.

    name: as for `load`. Raises OpenworldError for a name that is neither known nor a folder, an archive or a hub id.

    >>> [need.found[0].name for need in needed_files("embedded")[0].needs]
    ['model.safetensors', 'config.json', 'tokenizer.json', 'preprocessor_config.json']
    """
    name = SHORT_NAMES.get(str(name), str(name))
    path = EMBEDDED if name == "embedded" else Path(name).expanduser()
    if path.is_dir():
        return tuple(_file_set(layout, path) for layout in LAYOUTS)
    if path.suffix == ".pt":
        return (_archive(path),)
    source, _, revision = name.partition("@")
    if source.count("/") != 1 or source.startswith((".", "/", "~")):
        raise unknown_name("backbone (no folder of that name either)", name, BACKBONES)
    cached = _cached(source, revision or None)
    archives = [OPENAI_ARCHIVES[source]] if source in OPENAI_ARCHIVES and not revision else []
    return (
        *(_file_set(layout, cached) for layout in LAYOUTS),
        *(_archive(OPENAI_CACHE.expanduser() / file) for file in archives),
    )


def _archive(path: Path) -> FileSet:
    needs = (("weights", (path.name,)), ("tokenizer", (VOCABULARY,), *_TOKENIZER[:2]))
    return FileSet("openai", path.parent, tuple(_need(path.parent, *need) for need in needs))


def _file_set(layout: str, folder: Path | None) -> FileSet:
    return FileSet(layout, folder, tuple(_need(folder, *need) for need in LAYOUTS[layout]))


def _need(folder: Path | None, purpose: str, *any_of: tuple[str, ...]) -> Need:
    found = next((files for form in any_of if (files := _files(folder, form))), ())
    return Need(purpose, any_of, found)


def _files(folder: Path | None, form: tuple[str, ...]) -> tuple[Path, ...]:
    """The files of one form in a folder; none if one of them is not there."""
    if folder is None:
        return ()
    found = [sorted(folder.glob(name)) if "*" in name else _existing(folder / name) for name in form]
    return tuple(path for paths in found for path in paths) if all(found) else ()


def _existing(path: Path) -> list[Path]:
    return [path] if path.is_file() else []


def _cached(source: str, revision: str | None) -> Path | None:
    """The folder of a repository's revision in the hub cache of this machine."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(source, revision=revision, local_files_only=True))
    except (OSError, ValueError):
        return None
