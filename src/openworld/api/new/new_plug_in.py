"""A plug-in of a kind under a name of one's own: the worked example, which its contract suite tests, as a start."""

import keyword
import re
from importlib.resources import files
from pathlib import Path

from openworld.core.errors import OpenworldError
from openworld.runs.atomic import write_folder
from openworld.runs.outputs import require_folder

EXAMPLES = {
    "learner": ("plug_in", "Halfway"),
    "detector": ("plug_in_detector", "NearestMeans"),
    "estimator": ("plug_in_estimator", "Margin"),
    "evaluation": ("plug_in_evaluation", "ClassMeans"),
}
"""Kind -> folder of its example, and what the example is called."""


def new_plug_in(kind: str, name: str, folder: Path | None = None) -> Path:
    """Write a package with a plug-in and its tests, and return its folder."""
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name) or keyword.iskeyword(name):
        raise OpenworldError(f"a {kind} is called {name!r}; give a class name of letters and digits, such as MyMethod.")
    goal = folder or Path(_words(name, "_"))
    require_folder("--out", goal)
    if goal.exists():
        raise OpenworldError(f"{goal} exists already; give another folder with --out.")
    example, former = EXAMPLES[kind]
    content = {}
    for source in sorted(_examples().joinpath(example).iterdir(), key=lambda path: path.name):
        if source.name.rpartition(".")[2] in ("py", "toml"):
            text = _renamed(source.read_text(encoding="utf-8"), former, name)
            content[_renamed(source.name, former, name)] = text.encode()
    write_folder(goal, content)
    return goal


def _examples():
    """Where the examples lie: in the installed package, or beside the sources."""
    installed = files("openworld").joinpath("examples")
    return installed if installed.is_dir() else Path(__file__).parents[4] / "examples"


def _renamed(text: str, former: str, name: str) -> str:
    """The text with every form of the name: ClassMeans, class_means, class-means."""
    for join in ("_", "-"):
        text = text.replace(_words(former, join), _words(name, join))
    return text.replace(former, name)


def _words(name: str, join: str) -> str:
    """A class name in small letters.

    >>> _words("NearestMeans", "_")
    'nearest_means'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", join, name).lower()
