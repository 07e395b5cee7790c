"""Which files a model that another library runs is read from, as far as that is known without the library.

transformers reads a folder or the hub cache. Where open_clip keeps the weights of a tag it decides itself; weights of a
path and repositories of the hub are known.
"""

from pathlib import Path

from openworld.backbones.foreign import is_embeddings, is_function
from openworld.backbones.published_files import FileSet, Need, cached_folders, files_of

_WEIGHTS = (
    ("model.safetensors",),
    ("model.safetensors.index.json", "model-*.safetensors"),
    ("pytorch_model.bin",),
    ("pytorch_model.bin.index.json", "pytorch_model-*.bin"),
)
_TOKENIZER = (
    ("tokenizer.json",),
    ("vocab.json", "merges.txt"),
    ("vocab.txt",),
    ("spiece.model",),
    ("sentencepiece.bpe.model",),
    ("tokenizer.model",),
)
_TRANSFORMERS = (
    ("weights", _WEIGHTS),
    ("configuration", (("config.json",),)),
    ("tokenizer", _TOKENIZER),
    ("preprocessing", (("preprocessor_config.json",), ("processor_config.json",))),
)
_OPEN_CLIP = (
    ("weights", (("open_clip_model.safetensors",), ("open_clip_pytorch_model.bin",))),
    ("configuration", (("open_clip_config.json",),)),
)


def needed_files(name: str) -> tuple[FileSet, ...]:
    """What the library looks for; empty where it alone knows."""
    if is_function(name) or is_embeddings(name):
        return ()
    library, _, source = name.partition(":")
    if library == "transformers":
        return tuple(_file_set(library, folder, _TRANSFORMERS) for folder in _folders(source))
    if source.startswith("hf-hub:"):
        return tuple(_file_set(library, folder, _OPEN_CLIP) for folder in _folders(source.removeprefix("hf-hub:")))
    weights = Path(source.partition("/")[2]).expanduser()
    if not weights.suffix:  # a tag
        return ()
    files = (weights,) if weights.is_file() else ()
    return (FileSet(library, weights.parent, (Need("weights", ((weights.name,),), files),)),)


def _folders(source: str) -> list[Path | None]:
    if Path(source).expanduser().is_dir():
        return [Path(source).expanduser()]
    repository, _, revision = source.partition("@")
    return cached_folders(repository, revision or None)[:1] or [None]


def _file_set(library: str, folder: Path | None, wanted: tuple) -> FileSet:
    needs = []
    for purpose, any_of in wanted:
        paths = next((files for form in any_of if folder and (files := files_of(folder, form))), ())
        needs.append(Need(purpose, any_of, paths))
    return FileSet(library, folder, tuple(needs))
