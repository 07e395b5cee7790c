"""The commands that fetch a checkpoint on a machine with network, for one that has none."""

import re
import shlex

from openworld.backbones.foreign import is_foreign
from openworld.backbones.names import known_name, local_path
from openworld.backbones.published_files import needed_files


def fetch_commands(name: str) -> tuple[str, ...]:
    r"""What gets the files of a backbone, any one of them; none for a folder or a file of one's own.

    A repository's files come into a folder of its name, which is then given in place of the name. What another package
    fetches lies in that package's cache: open_clip's in the hub cache.

    >>> fetch_commands("open_clip:EVA02-B-16/merged2b_s8b_b131k")
    ('python -c "import open_clip; ...create_model_from_pretrained(\'EVA02-B-16\', \'merged2b_s8b_b131k\')"',)
    >>> fetch_commands("embedded")
    ()
    """
    sets = needed_files(name)
    source = _source(name)
    commands = []
    if source.count("/") == 1 and not local_path(source).exists() and name != "embedded":
        commands.append(_of_library(source) if name.startswith("open_clip:") and not sets else _of_hub(source, sets))
    return tuple(commands)


def _source(name: str) -> str:
    """The repository of a name, with its revision, or what another package knows it by."""
    return name.partition(":")[2].removeprefix("hf-hub:") if is_foreign(name) else known_name(name)


def _of_library(source: str) -> str:
    model, _, weights = source.partition("/")
    return f"python -c \"import open_clip; open_clip.create_model_from_pretrained('{model}', '{weights}')\""


def _of_hub(source: str, sets) -> str:
    repository, _, revision = source.partition("@")
    wanted = (need for files in sets for need in files.needs)
    files = (file for need in wanted for form in need.any_of for file in form)
    words = ["hf", "download", repository, *dict.fromkeys(map(_pattern, files))]
    words += ["--revision", revision] if revision else []
    return shlex.join([*words, "--local-dir", repository.rpartition("/")[2]])


def _pattern(file: str) -> str:
    """A file and its like: all shards of the weights, all settings.

    >>> _pattern("model-*.safetensors"), _pattern("config.json"), _pattern("merges.txt")
    ('model*.safetensors', '*.json', 'merges.txt')
    """
    if file.endswith(".json"):
        return "*.json"
    return re.sub(r"(-\*)?(\.safetensors|\.bin)$", r"*\2", file)
