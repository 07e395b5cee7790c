"""The command that fetches a checkpoint on a machine with network, for one that has none."""

import shlex

from openworld.backbones.foreign import is_foreign
from openworld.backbones.names import known_name, local_path
from openworld.backbones.published_files import FileSet

_LOAD = "import clip; clip.load('{}', device='cpu')"
_OPENAI_NAMES = {
    "ViT-B-32.pt": "ViT-B/32",
    "ViT-B-16.pt": "ViT-B/16",
    "ViT-L-14.pt": "ViT-L/14",
    "ViT-L-14-336px.pt": "ViT-L/14@336px",
}


def fetch_command(name: str, files: FileSet) -> str | None:
    """What gets the files of a repository into a folder of its name; None for what lies in no repository.

    Args:
        name: of the backbone. files: one of `needed_files(name)`.

    >>> from openworld.backbones import needed_files
    >>> fetch_command("embedded", needed_files("embedded")[0]) is None
    True
    """
    if files.layout == "openai":
        called = _OPENAI_NAMES.get(files.needs[0].any_of[0][0])
        return called and f'pip install git+https://github.com/openai/CLIP && python -c "{_LOAD.format(called)}"'
    source = name.partition(":")[2].removeprefix("hf-hub:") if is_foreign(name) else known_name(name)
    repository, _, revision = source.partition("@")
    if local_path(source).is_dir() or repository.count("/") != 1:
        return None
    wanted = dict.fromkeys(file for need in files.needs for form in need.any_of for file in form)
    words = ["hf", "download", repository, *wanted, *(["--revision", revision] if revision else [])]
    return shlex.join([*words, "--local-dir", repository.rpartition("/")[2]])
