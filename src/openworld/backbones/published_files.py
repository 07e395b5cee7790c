"""Which files a checkpoint is published in, where they are looked for, and which of them are there.

The one list of file names: `loading` reads by it, `needed_files` tells a user without network what to put where.
Needs no torch.
"""

import importlib.util
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from openworld._errors import unknown_name
from openworld._types import checked
from openworld.backbones.cards import BACKBONES
from openworld.backbones.foreign import is_foreign
from openworld.backbones.names import known_name, local_path, require_ours

EMBEDDED = Path(__file__).parent / "embedded"
VOCABULARY = "bpe_simple_vocab_16e6.txt.gz"


@dataclass(frozen=True)
class Form:
    """One form in which a folder or a repository may hold weights.

    Args:
        layout: a key of CONFIGURATIONS, whose file describes these weights.
        files: their names; an index and a pattern for its shards where they are in several.
        pickled: whether they are in PyTorch's own format.
    """

    layout: str
    files: tuple[str, ...]
    pickled: bool = False


# In the order in which they are looked for. Of those that hold the same tensors the safe ones come first.
FORMS = (
    Form("hugging_face", ("model.safetensors",)),
    Form("hugging_face", ("model.safetensors.index.json", "model-*.safetensors")),
    Form("open_clip", ("open_clip_model.safetensors",)),
    Form("open_clip", ("open_clip_pytorch_model.safetensors",)),
    Form("hugging_face", ("pytorch_model.bin",), pickled=True),
    Form("hugging_face", ("pytorch_model.bin.index.json", "pytorch_model-*.bin"), pickled=True),
    Form("open_clip", ("open_clip_pytorch_model.bin",), pickled=True),
)
CONFIGURATIONS = {"hugging_face": "config.json", "open_clip": "open_clip_config.json"}
TOKENIZERS = (("tokenizer.json",), ("vocab.json", "merges.txt"), (VOCABULARY,))
PREPROCESSING = {
    "hugging_face": ("preprocessor_config.json", "processor_config.json", "open_clip_config.json"),
    "open_clip": ("open_clip_config.json", "preprocessor_config.json"),
}
SMALL_FILES = tuple(
    dict.fromkeys(
        [*CONFIGURATIONS.values(), *PREPROCESSING["hugging_face"]]
        + [name for names in TOKENIZERS for name in names]
        + ["spiece.model"]
    )
)
OPENAI = tuple(
    f"openai/clip-vit-{size}" for size in ("base-patch32", "base-patch16", "large-patch14", "large-patch14-336")
)
"""Repositories that hold OpenAI's vocabulary."""


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
        layout: "hugging_face" or "open_clip".
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


@checked
def needed_files(name: str | Path) -> tuple[FileSet, ...]:
    """What `load(name)` looks for, in the order in which it looks; nothing is fetched.

    name: as for `load`. Raises OpenworldError for a name that is neither known nor a folder, an archive or a hub id.

    >>> [need.found[0].name for need in needed_files("embedded")[0].needs]
    ['model.safetensors', 'config.json', 'tokenizer.json', 'preprocessor_config.json']
    """
    if is_foreign(str(name)):
        from openworld.backbones.foreign.files import needed_files as of_library

        return of_library(str(name))
    name = known_name(name)
    path = EMBEDDED if name == "embedded" else local_path(name)
    if path.is_dir():
        return tuple(_file_set(layout, path) for layout in CONFIGURATIONS)
    if path.suffix == ".pt":
        return (checkpoint_files(path),)
    source, revision = hub_id(name)
    folders = cached_folders(source, revision) or [None]
    file_sets = [_file_set(layout, folder) for folder in folders for layout in CONFIGURATIONS]
    file_sets = [files for files in file_sets if files.complete] or file_sets[: len(CONFIGURATIONS)]
    return tuple(file_sets)


def hub_id(name: str) -> tuple[str, str | None]:
    """The repository and, if one is named, the revision of "owner/name" or "owner/name@revision".

    Raises OpenworldError for any other name, with the nearest known one.
    """
    require_ours(name)
    source, _, revision = name.partition("@")
    if source.count("/") != 1 or source.startswith((".", "/", "~")) or source.endswith("/"):
        raise unknown_name("backbone (no folder of that name either)", name, BACKBONES)
    return source, revision or None


def weight_form(folder: Path, names: Collection[str]) -> Form | None:
    """The first form among file names whose configuration lies in a folder, or None.

    timm's repositories hold a config.json and weights of the image tower alone beside both towers in open_clip's
    layout: their config.json describes no model of Hugging Face's layout.
    """
    layouts = [layout for layout, file in CONFIGURATIONS.items() if (folder / file).is_file()]
    if "hugging_face" in layouts and "open_clip" in layouts and _is_timms(folder / CONFIGURATIONS["hugging_face"]):
        layouts.remove("hugging_face")
    return next((form for form in FORMS if form.layout in layouts and _is_among(names, form.files)), None)


def whole_form(folder: Path) -> Form | None:
    """The form of weights that lies whole in a folder with all that belongs to it, or None.

    open_clip brings its vocabulary along, so that what it has fetched of a repository holds none.
    """
    form = weight_form(folder, [path.name for path in folder.iterdir()])
    if form is None or not files_of(folder, form.files):
        return None
    missing = {need.purpose for need in _file_set(form.layout, folder).missing}
    return form if missing <= ({"tokenizer"} if form.layout == "open_clip" else set()) else None


def checkpoint_files(path: Path) -> FileSet:
    """A checkpoint of an open_clip training, and the vocabulary that reads sentences for it."""
    weights = Need("weights", ((path.name,),), tuple(_existing(path)))
    vocabulary = next((files for folder in vocabulary_folders(path.parent) if (files := _tokenizer(folder))), ())
    configuration = _need(path.parent, "configuration", (CONFIGURATIONS["open_clip"],))
    return FileSet("open_clip", path.parent, (weights, configuration, Need("tokenizer", TOKENIZERS, vocabulary)))


def vocabulary_folders(beside: Path) -> Iterator[Path]:
    """Where OpenAI's vocabulary may lie on this machine: beside the weights, in its packages, in the hub cache."""
    yield beside
    for package in ("clip", "open_clip"):
        module = importlib.util.find_spec(package)  # finds, does not import
        yield from map(Path, (module.submodule_search_locations or []) if module else [])
    for source in OPENAI:
        yield from cached_folders(source, None)


def vocabulary_lies_here(beside: Path) -> bool:
    """Whether OpenAI's vocabulary lies on this machine."""
    return any(_tokenizer(folder) for folder in vocabulary_folders(beside))


def cached_folders(source: str, revision: str | None) -> list[Path]:
    """The folders of a repository in the hub cache: of its revision; of main, then of its pull requests, where None."""
    from huggingface_hub import snapshot_download

    folders = []
    for wanted in [revision] if revision else [None, *_cached_requests(source)]:
        try:
            folders.append(Path(snapshot_download(source, revision=wanted, local_files_only=True)))
        except (OSError, ValueError):
            continue
    return folders


def _cached_requests(source: str) -> list[str]:
    """The pull requests of a repository that the hub cache holds, as revisions."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE) / f"models--{source.replace('/', '--')}" / "refs" / "refs" / "pr"
    return [f"refs/pr/{path.name}" for path in sorted(folder.glob("*"))]


def _is_timms(config: Path) -> bool:
    try:
        settings = json.loads(config.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False  # to be refused by who reads it
    return isinstance(settings, dict) and "architecture" in settings and "model_type" not in settings


def _file_set(layout: str, folder: Path | None) -> FileSet:
    forms = tuple(form.files for form in FORMS if form.layout == layout)
    described_by = tuple((name,) for name in PREPROCESSING[layout])
    return FileSet(
        layout,
        folder,
        (
            _need(folder, "weights", *forms),
            _need(folder, "configuration", (CONFIGURATIONS[layout],)),
            Need("tokenizer", TOKENIZERS, _tokenizer(folder)),
            _need(folder, "preprocessing", *described_by),
        ),
    )


def _tokenizer(folder: Path | None) -> tuple[Path, ...]:
    return _need(folder, "tokenizer", *TOKENIZERS).found


def _need(folder: Path | None, purpose: str, *any_of: tuple[str, ...]) -> Need:
    paths = next((files for form in any_of if folder and (files := files_of(folder, form))), ())
    return Need(purpose, any_of, paths)


def files_of(folder: Path, form: tuple[str, ...]) -> tuple[Path, ...]:
    """The files of one form in a folder; none if one of them is not there."""
    matches = [sorted(folder.glob(name)) if "*" in name else _existing(folder / name) for name in form]
    return tuple(path for paths in matches for path in paths) if all(matches) else ()


def _is_among(names: Collection[str], files: tuple[str, ...]) -> bool:
    return all(any(fnmatch(name, file) for name in names) for file in files)


def _existing(path: Path) -> list[Path]:
    return [path] if path.is_file() else []
