"""The one door for names that stand in files: a foreign folder may name data, never code, never a fetch.

thresholds.json names a model, learner.json a backbone, classifier.json an architecture. A name of code
("package.module:function", an archive that runs code) and one that would be fetched (a hub repository that is not on
this machine, a model of another library) are taken from whoever starts the command, and never from a file.
"""

from pathlib import Path

from openworld.backbones.names import LIBRARIES, is_embeddings, is_function, known_name
from openworld.backbones.published_files import needed_files, vocabulary_lies_here
from openworld.core.errors import OpenworldError

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
            and vocabulary_lies_here(files.folder)
        ):
            return True
    return False
