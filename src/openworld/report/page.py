"""The page that every report shares: one HTML file that loads nothing.

Jinja2 escapes every text that comes from a run; a Content-Security-Policy forbids every request and any script or
style but the page's own, named by hash, so that even an escape gone wrong could not act.
"""

import base64
import hashlib
import os
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from openworld import __version__
from openworld._errors import naming
from openworld.report.marks import key
from openworld.report.pictures import Shown
from openworld.report.series_style import Look, style_sheet
from openworld.report.svg import shapes

_ABSENT = {  # what a page says where it is not told otherwise
    **dict.fromkeys(("albums", "reached", "mixes", "operating", "chapters", "losses"), ()),
    "class_names": None,
    "legend_of": "Learners",
}


def write_page(folder: Path | str, output: Path | str | None, page: str) -> Path:
    """Put the text of a page where `build` says, in one step; returns its path."""
    path = Path(output) if output is not None else Path(folder) / "report.html"
    scratch = path.with_name(f".{path.name}.writing")
    with naming(path):
        scratch.write_bytes(page.encode())
        os.replace(scratch, path)
    return path


def fill(chosen: dict[str, Look], **parts) -> str:
    """The template with the `parts` of one page, and with what all pages share; `chosen` are the learners' looks."""
    style, script = _asset("page.css") + style_sheet(chosen), _asset("page.js")
    return _template().render(
        version=__version__,
        shapes=shapes(),
        style=Markup(style),
        script=Markup(script),
        style_hash=Markup(_hash(style)),
        script_hash=Markup(_hash(script)),
        legend=[{"learner": learner, "key": key(look)} for learner, look in chosen.items()],
        **_ABSENT | parts,
    )


@dataclass(frozen=True)
class Kind:
    """The pictures of one kind under their heading."""

    heading: str
    pictures: tuple[Shown, ...]


@dataclass(frozen=True)
class Album:
    """The pictures of one table: of its best learner, first seed."""

    title: str
    told: str
    kinds: tuple[Kind, ...]


def _template():
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=False)
    return environment.from_string(_asset("page.html.j2"))


def _asset(name: str) -> str:
    return files("openworld.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The source expression by which the policy knows an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
