"""A commented spec of an evaluation, with one's own data in it, read and checked before anybody sees it."""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

from openworld.core.errors import OpenworldError
from openworld.evaluations import read_protocol

EMBEDDED = ("emoji-concepts/twemoji", "emoji-concepts/fluent-emoji")
"""Data of the embedded world, where nobody names any: a style to tune on, and another to test on."""


def new_spec(evaluation: str, data: str = "", tests: Sequence[str] = (), backbone: str = "") -> str:
    """Return the TOML text of a spec: `data` trained on, or tested alone, and `tests`, as NAME or NAME/DOMAIN."""
    given = [data or EMBEDDED[0], *(tests or ([data] if data else EMBEDDED[1:]))]
    tables = [_image_set(place) for place in given]
    source, *others = map(_inline, tables)
    if evaluation == "recognition":
        source = "".join(f"{key} = {json.dumps(value)}\n" for key, value in _recognition(tables).items()).rstrip()
    template = files("openworld.api.new").joinpath("specs", f"{evaluation}.toml").read_text(encoding="utf-8")
    listed = "[\n" + "".join(f"  {table},\n" for table in others) + "]"
    usual = "ViT-B/16" if data else "embedded"
    text = Template(template).substitute(source=source, tests=listed, backbone=backbone or usual)
    _check(text)
    return text


def _check(text: str) -> None:
    """Read the spec as a run would, and look at its data."""
    import tomllib

    from openworld.evaluations import evaluation_of
    from openworld.evaluations.class_lists import require_data

    spec = read_protocol(tomllib.loads(text))
    require_data(spec)
    evaluation_of(spec).fingerprints(spec)


def _image_set(place: str) -> dict[str, str]:
    """A folder, or a data set of ours with its domain."""
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
    """What recognition calls a data set, a domain to train in and one to test in."""
    (first, second) = tables[0], tables[-1]
    if first["dataset"] != second["dataset"]:
        raise OpenworldError(
            f"recognition trains and tests within one data set; --test {second['dataset']} is another. Write a spec of "
            "generalisation, or give a folder with a sub-folder per domain."
        )
    domains = {"train_domain": first.get("domain"), "test_domain": second.get("domain")}
    return {"dataset": first["dataset"]} | {key: domain for key, domain in domains.items() if domain}


def _inline(table: dict[str, str]) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items()) + " }"
