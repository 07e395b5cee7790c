"""Specs of evaluations with one's own data in them, and plug-ins with their tests: `openworld new`."""

import json
import keyword
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated

from openworld.api.arguments import OutputFolder
from openworld.core.errors import EXTRA, NotInstalled, OpenworldError, not_installed, unknown_name
from openworld.core.types import checked

EMBEDDED = ("emoji-concepts/twemoji", "emoji-concepts/fluent-emoji")
"""Data of the embedded world, where nobody names any: a style to tune on, and another to test on."""

EXAMPLES = {
    "learner": ("plug_in", "Halfway"),
    "detector": ("plug_in_detector", "NearestMeans"),
    "estimator": ("plug_in_estimator", "Margin"),
    "evaluation": ("plug_in_evaluation", "ClassMeans"),
}
"""Kind -> folder of its worked example, which its contract suite tests, and what the example is called."""


@checked
def new(
    kind: str,
    name: str = "",
    *,
    data: str = "",
    test: Sequence[str] = (),
    backbone: str = "",
    out: Annotated[Path | str | None, OutputFolder()] = None,
) -> str:
    """Write a commented spec for `openworld run`, or a plug-in package for a method of your own.

    ```
    openworld new recognition --data photos/ > my-run.toml
    openworld new generalisation --data photos/ --test sketches/ > my-run.toml
    openworld new learner MyLearner
    ```

    The spec is printed, after your folders were looked at: a mistake shows now and not in the middle of a run. A
    plug-in is a small package that works as it is, with a test that holds it against everything that the built-in ones
    promise: change it step by step, and keep the test green.

    Args:
        kind: a spec: recognition, generalisation, dynamic, accuracy-estimation, ood-detection, ood-benchmark,
            recognition-by-shift, decomposed-zero-shot. A plug-in: learner, detector, estimator, evaluation.
        name: of a plug-in: a class name, such as MyLearner.
        data: of a spec: your folder of class folders, or a data set; default: the embedded world.
        test: of a spec: images to test on, likewise.
        backbone: of a spec; default: ViT-B/16, embedded for the embedded world.
        out: of a plug-in: its folder; default: its name.

    Returns:
        The text of the spec, or what to do next with the plug-in.

    Raises:
        OpenworldError: an unknown kind, data that is not there, a folder that is there already.
    """
    from openworld.evaluations import EVALUATIONS

    if kind in EXAMPLES:
        if not name or data or test or backbone:
            raise OpenworldError(f"a plug-in needs a name and no data: openworld new {kind} My{kind.capitalize()}.")
        folder = new_plug_in(kind, name, None if out is None else Path(out))
        return (
            f"{folder}/ holds a working example as {name}. Next:\n"
            f"  pip install -e {folder}     # openworld finds it from then on\n"
            f"  python -m pytest {folder}   # what a {kind} promises"
        )
    if kind not in EVALUATIONS:
        raise unknown_name("kind", kind, (*EVALUATIONS, *EXAMPLES))
    if name or out:
        raise OpenworldError("a spec is printed and has no name; write it to a file: openworld new ... > my-run.toml.")
    return new_spec(kind, data, test, backbone)


def new_spec(evaluation: str, data: str = "", tests: Sequence[str] = (), backbone: str = "") -> str:
    """Return the TOML text of a spec: `data` trained on, or tested alone, and `tests`, as NAME or NAME/DOMAIN."""
    import tomllib

    from openworld.datasets import load
    from openworld.evaluations import evaluation_of, read_protocol

    places = [data or EMBEDDED[0], *(tests or ([data] if data else EMBEDDED[1:]))]
    tables = [_image_set(place) for place in places]
    source, *others = ["{ " + ", ".join(_assignments(table)) + " }" for table in tables]
    if evaluation == "recognition":
        source = "\n".join(_assignments(_recognition(tables)))
    template = files("openworld.api.new").joinpath("specs", f"{evaluation}.toml").read_text(encoding="utf-8")
    listed = "[\n" + "".join(f"  {table},\n" for table in others) + "]"
    usual = "ViT-B/16" if data else "embedded"
    text = Template(template).substitute(source=source, tests=listed, backbone=backbone or usual)

    try:
        from openworld.evaluations.running import require_data

        spec = read_protocol(tomllib.loads(text))  # as a run would; and its data are looked at
        require_data(spec)
        if (fingerprints := evaluation_of(spec).fingerprints) is not None:
            fingerprints(spec)
    except ModuleNotFoundError as error:
        if not isinstance(not_installed(error, "a spec"), NotInstalled):
            raise
        for table in tables:
            load(table["dataset"], domain=table.get("domain"))
        return f"# Images were looked at; the rest is checked when it is run, which needs openworld[{EXTRA}].\n{text}"
    return text


def _image_set(place: str) -> dict[str, str]:
    """Return a folder, or a data set of ours with its domain."""
    from openworld.datasets import DATASETS

    if Path(place).is_dir():
        return {"dataset": str(place)}
    name, _, domain = place.partition("/")
    if name not in DATASETS:
        raise OpenworldError(
            f"{place} is no folder and no data set; give a folder with a sub-folder per class, or a name of "
            "`openworld list datasets`, perhaps with a domain, as emoji-concepts/twemoji."
        )
    return {"dataset": name} | ({"domain": domain} if domain else {})


def _recognition(tables: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return what recognition calls a data set, a domain to train in and one to test in."""
    first, second = tables[0], tables[-1]
    if first["dataset"] != second["dataset"]:
        raise OpenworldError(
            f"recognition trains and tests within one data set; --test {second['dataset']} is another. Write a spec of "
            "generalisation, or give a folder with a sub-folder per domain."
        )
    domains = {"train_domain": first.get("domain"), "test_domain": second.get("domain")}
    return {"dataset": first["dataset"]} | {key: domain for key, domain in domains.items() if domain}


def _assignments(table: dict[str, str]) -> list[str]:
    return [f"{key} = {json.dumps(value)}" for key, value in table.items()]


def new_plug_in(kind: str, name: str, folder: Path | None = None) -> Path:
    """Write a package with a plug-in and its tests, the worked example under another name, and return its folder."""
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name) or keyword.iskeyword(name):
        raise OpenworldError(f"a {kind} is called {name!r}; give a class name of letters and digits, such as MyMethod.")
    from openworld.runs.atomic import write_folder
    from openworld.runs.outputs import require_folder

    goal = folder or Path(_words(name, "_"))
    require_folder("--out", goal)
    if goal.exists():
        raise OpenworldError(f"{goal} exists already; give another folder with --out.")
    example, former = EXAMPLES[kind]
    examples = files("openworld").joinpath("examples")
    if not examples.is_dir():  # they lie beside the sources, not in an installed package
        examples = Path(__file__).parents[4] / "examples"
    content = {}
    for source in sorted(examples.joinpath(example).iterdir(), key=lambda path: path.name):
        if source.name.rpartition(".")[2] in ("py", "toml"):
            text = _renamed(source.read_text(encoding="utf-8"), former, name)
            content[_renamed(source.name, former, name)] = text.encode()
    write_folder(goal, content)
    return goal


def _renamed(text: str, former: str, name: str) -> str:
    """Return the text with every form of the name: ClassMeans, class_means, class-means."""
    for join in ("_", "-"):
        text = text.replace(_words(former, join), _words(name, join))
    return text.replace(former, name)


def _words(name: str, join: str) -> str:
    """Return a class name in small letters.

    >>> _words("NearestMeans", "_")
    'nearest_means'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", join, name).lower()
