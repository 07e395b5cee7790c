"""Which files a checkpoint is published in, where they are looked for, and which of them are there.

The one list of file names: `loading` reads by it, `needed_files` tells a user without network what to put where, and
`fetch_commands` what to run on a machine with network. Needs no torch, and no library that runs a model: transformers
reads a folder or the hub cache, and where open_clip keeps the weights of a tag it decides itself.

`require_data` is the one door for names that stand in files: a foreign folder may name data, never code, never a fetch.
thresholds.json names a model, learner.json a backbone, classifier.json an architecture. A name of code
("package.module:function", an archive that runs code) and one that would be fetched (a hub repository that is not on
this machine, a model of another library) are taken from whoever starts the command, and never from a file.
"""

import importlib.util
import json
import re
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from openworld.backbones.names import (
    BACKBONES,
    LIBRARIES,
    is_embeddings,
    is_foreign,
    is_function,
    known_name,
    local_path,
    require_ours,
)
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import facts
from openworld.core.types import checked

EMBEDDED = Path(__file__).parent / "embedded"
VOCABULARY = "bpe_simple_vocab_16e6.txt.gz"


@dataclass(frozen=True)
class Form:
    """One form in which a folder or a repository may hold weights."""

    layout: str  # a key of CONFIGURATIONS, whose file describes these weights
    files: tuple[str, ...]  # or an index and a pattern for its shards
    pickled: bool = False  # in PyTorch's own format


def _forms(listed: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, listed))


_FACTS = facts("openworld.backbones", "checkpoints.toml")["files"]
FORMS = tuple(Form(one["layout"], tuple(one["files"]), one.get("pickled", False)) for one in _FACTS["forms"])
CONFIGURATIONS: dict[str, str] = _FACTS["configuration"]
TOKENIZERS = _forms(_FACTS["tokenizer"])
PREPROCESSING: dict[str, list[str]] = _FACTS["preprocessing"]
OPENAI: list[str] = _FACTS["openai"]
"""Repositories that hold OpenAI's vocabulary."""

SMALL_FILES = tuple(
    dict.fromkeys(
        [*CONFIGURATIONS.values(), *PREPROCESSING["hugging_face"]]
        + [name for names in TOKENIZERS for name in names]
        + ["spiece.model"]
    )
)
_WANTED = {
    layout: {
        "weights": tuple(form.files for form in FORMS if form.layout == layout),
        "configuration": ((CONFIGURATIONS[layout],),),
        "tokenizer": TOKENIZERS,
        "preprocessing": tuple((name,) for name in PREPROCESSING[layout]),
    }
    for layout in CONFIGURATIONS
}
_OF_LIBRARY = {
    library: {purpose: _forms(listed) for purpose, listed in wanted.items()}
    for library, wanted in _FACTS["of_library"].items()
}
_OF_LIBRARY["transformers"] = {"weights": _WANTED["hugging_face"]["weights"], **_OF_LIBRARY["transformers"]}


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
        return _of_library(str(name))
    name = known_name(name)
    path = EMBEDDED if name == "embedded" else local_path(name)
    if path.is_dir():
        return tuple(_file_set(layout, path, _WANTED[layout]) for layout in CONFIGURATIONS)
    if path.suffix == ".pt":
        return (checkpoint_files(path),)
    source, revision = hub_id(name)
    folders = cached_folders(source, revision) or [None]
    file_sets = [_file_set(layout, folder, _WANTED[layout]) for folder in folders for layout in CONFIGURATIONS]
    file_sets = [files for files in file_sets if files.complete] or file_sets[: len(CONFIGURATIONS)]
    return tuple(file_sets)


def _of_library(name: str) -> tuple[FileSet, ...]:
    """Return what a library that runs a model looks for; empty where it alone knows."""
    if is_function(name) or is_embeddings(name):
        return ()
    library, _, source = name.partition(":")
    if library != "transformers" and not source.startswith("hf-hub:"):
        weights = Path(source.partition("/")[2]).expanduser()
        files = (weights,) if weights.is_file() else ()
        whole = FileSet(library, weights.parent, (Need("weights", ((weights.name,),), files),))
        return (whole,) if weights.suffix else ()  # else a tag

    source = source.removeprefix("hf-hub:")
    folder = Path(source).expanduser()
    if not folder.is_dir():
        repository, _, revision = source.partition("@")
        folder = next(iter(cached_folders(repository, revision or None)), None)
    return (_file_set(library, folder, _OF_LIBRARY[library]),)


def fetch_commands(name: str) -> tuple[str, ...]:
    """Return what gets the files of a backbone, any one of them; none for a folder or a file of one's own."""
    # A repository's files come into a folder of its name, which is then given in place of the name. What open_clip
    # itself fetches lies in the hub cache.
    sets = needed_files(name)
    source = name.partition(":")[2].removeprefix("hf-hub:") if is_foreign(name) else known_name(name)
    if source.count("/") != 1 or local_path(source).exists() or name == "embedded":
        return ()
    if name.startswith("open_clip:") and not sets:
        model, _, weights = source.partition("/")
        return (f"python -c \"import open_clip; open_clip.create_model_from_pretrained('{model}', '{weights}')\"",)

    repository, _, revision = source.partition("@")
    listed = (file for files in sets for need in files.needs for form in need.any_of for file in form)
    # A file and its like: all shards of the weights, all settings.
    likes = ("*.json" if file.endswith(".json") else _SHARDS.sub(r"*\2", file) for file in listed)
    words = ["hf", "download", repository, *dict.fromkeys(likes), *(["--revision", revision] if revision else [])]
    return (shlex.join([*words, "--local-dir", repository.rpartition("/")[2]]),)


_SHARDS = re.compile(r"(-\*)?(\.safetensors|\.bin)$")


def hub_id(name: str) -> tuple[str, str | None]:
    """Return the repository and the revision, or None, of "owner/name" or "owner/name@revision"."""
    require_ours(name)
    source, _, revision = name.partition("@")
    if source.count("/") != 1 or source.startswith((".", "/", "~")) or source.endswith("/"):
        raise unknown_name("backbone (no folder of that name either)", name, BACKBONES)
    return source, revision or None


def weight_form(folder: Path, names: Collection[str]) -> Form | None:
    """Return the first form among file names whose configuration lies in a folder, or None."""
    # timm's repositories hold a config.json and weights of the image tower alone beside both towers in open_clip's
    # layout: their config.json describes no model of Hugging Face's layout.
    layouts = [layout for layout, file in CONFIGURATIONS.items() if (folder / file).is_file()]
    if len(layouts) == 2:
        try:
            settings = json.loads((folder / CONFIGURATIONS["hugging_face"]).read_bytes())
        except (OSError, ValueError, RecursionError):
            settings = None  # to be refused by who reads it
        if isinstance(settings, dict) and "architecture" in settings and "model_type" not in settings:
            layouts.remove("hugging_face")
    for form in FORMS:
        is_there = all(any(fnmatch(name, file) for name in names) for file in form.files)
        if is_there and form.layout in layouts:
            return form
    return None


def whole_form(folder: Path) -> Form | None:
    """Return the form of weights that lies whole in a folder with all that belongs to it, or None."""
    form = weight_form(folder, [path.name for path in folder.iterdir()])
    if form is None or not files_of(folder, form.files):
        return None
    missing = {need.purpose for need in _file_set(form.layout, folder, _WANTED[form.layout]).missing}
    # open_clip brings its vocabulary along, so that what it has fetched of a repository holds none.
    return form if missing <= ({"tokenizer"} if form.layout == "open_clip" else set()) else None


def checkpoint_files(path: Path) -> FileSet:
    """A checkpoint of an open_clip training, and the vocabulary that reads sentences for it."""
    weights = _need(path.parent, "weights", ((path.name,),))
    vocabularies = (_need(folder, "tokenizer", TOKENIZERS) for folder in vocabulary_folders(path.parent))
    vocabulary = next((need for need in vocabularies if need.found), Need("tokenizer", TOKENIZERS))
    configuration = _need(path.parent, "configuration", ((CONFIGURATIONS["open_clip"],),))
    return FileSet("open_clip", path.parent, (weights, configuration, vocabulary))


def vocabulary_folders(beside: Path) -> Iterator[Path]:
    """Where OpenAI's vocabulary may lie on this machine: beside the weights, in its packages, in the hub cache."""
    yield beside
    for package in ("clip", "open_clip"):
        module = importlib.util.find_spec(package)  # finds, does not import
        yield from map(Path, (module.submodule_search_locations or []) if module else [])
    for source in OPENAI:
        yield from cached_folders(source, None)


def cached_folders(source: str, revision: str | None) -> list[Path]:
    """The folders of a repository in the hub cache: of its revision; of main, then of its pull requests, where None."""
    from huggingface_hub import constants, snapshot_download

    requests = Path(constants.HF_HUB_CACHE) / f"models--{source.replace('/', '--')}" / "refs" / "refs" / "pr"
    folders = []
    for wanted in [revision] if revision else [None, *(f"refs/pr/{path.name}" for path in sorted(requests.glob("*")))]:
        try:
            folders.append(Path(snapshot_download(source, revision=wanted, local_files_only=True)))
        except (OSError, ValueError):
            continue
    return folders


def _file_set(layout: str, folder: Path | None, wanted: dict[str, tuple[tuple[str, ...], ...]]) -> FileSet:
    return FileSet(layout, folder, tuple(_need(folder, *purpose_and_forms) for purpose_and_forms in wanted.items()))


def _need(folder: Path | None, purpose: str, any_of: tuple[tuple[str, ...], ...]) -> Need:
    paths = next((files for form in any_of if folder and (files := files_of(folder, form))), ())
    return Need(purpose, any_of, paths)


def files_of(folder: Path, form: tuple[str, ...]) -> tuple[Path, ...]:
    """The files of one form in a folder; none if one of them is not there."""
    matches = [sorted(folder.glob(name)) if "*" in name else [folder / name] for name in form]
    files = tuple(path for paths in matches for path in paths)
    return files if all(matches) and all(path.is_file() for path in files) else ()


_FETCHING = (*LIBRARIES, "timm", "hf")


def require_data(name: str, where: Path | str, say: str, *, is_read: bool = False) -> str:
    """Return a name that stands in the file `where`, if loading it runs no code and fetches nothing."""
    # `say` is how a command gives it ("--backbone {}"); `is_read`: it is a file or folder that is read as data.
    if is_function(name):
        raise not_said(f"{where} names {name!r}, a function, which a file may not start", say, name)
    if name.partition(":")[0] in _FETCHING and ":" in name:
        raise not_said(f"{where} names {name!r}, which another library fetches and runs", say, name)
    if not is_read and not is_embeddings(name) and not _lies_here(name):
        reason = f"{where} names {name!r}, which is not whole on this machine, and nothing is fetched for a file"
        raise not_said(reason, say, name)
    return name


def not_said(reason: str, say: str, name: str) -> OpenworldError:
    """Return the error for a name that whoever starts the command must give."""
    return OpenworldError(f"{reason}; if you trust it, say so: {say.format(name)}.")


def _lies_here(name: str) -> bool:
    """Whether `load` finds all files of a backbone on this machine; open_clip and OpenAI bring the vocabulary along."""
    for files in needed_files(known_name(name)):
        lacking = {need.purpose for need in files.missing}
        if not lacking or (
            lacking == {"tokenizer"}
            and files.layout == "open_clip"
            and files.folder is not None
            and any(_need(folder, "tokenizer", TOKENIZERS).found for folder in vocabulary_folders(files.folder))
        ):
            return True
    return False
