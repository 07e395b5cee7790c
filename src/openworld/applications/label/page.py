"""The labelling page: one HTML file that shows images one by one and asks; it loads nothing and sends nothing.

A Content-Security-Policy forbids every request and any script or style but the page's own, named by hash. Answers lie
in the browser's storage for this page until a person downloads them.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from openworld import __version__
from openworld._csv import as_cell
from openworld.applications.label.pictures import Pictures
from openworld.applications.label.question import Names, Option
from openworld.report.page import policy_hash
from openworld.report.sentences import counted

MOST_NAMES = 20_000  # class names on the page
FILES = "data: file: 'self'"  # pictures beside the page, whether it is opened from a folder or served from one


def render_page(
    mark: str,
    folder: str,
    ids: Sequence[str],
    shown: Sequence[str],
    names: Sequence[Names],
    pictures: Pictures,
    class_names: tuple[Sequence[str], Sequence[str]],
) -> str:
    """Return the page as HTML text; the same bytes for the same plan.

    Args:
        mark: of the plan, which its answers carry.
        folder: of the plan, for the last sentence.
        ids, shown, names: of every image in the order in which to label: its id, what stands below it, and its names.
        pictures: of every image, or none.
        class_names: base names and new names to consult.
    """
    closed = not names[0].as_new
    listed = class_names if sum(map(len, class_names)) <= MOST_NAMES else ((), ())
    content = {
        "plan": mark,
        "folder": folder,
        "closed": closed,
        "base_names": list(listed[0]),
        "new_names": list(listed[1]),
        "images": [
            {
                "id": str(as_cell(own)),
                "name": text,
                "image": pictures.addresses[place] if pictures.addresses else "",
                "width": pictures.widths[place] if pictures.widths else 0,
                "options": [_option(option, asked) for option in asked.options()],
            }
            for place, (own, text, asked) in enumerate(zip(ids, shown, names, strict=True))
        ],
    }
    style, script = _asset("label.css"), _asset("label.js")
    return _template().render(
        version=__version__,
        title=f"Label {counted(len(ids), 'image')}",
        footer=f"Made by openworld {__version__}. Nothing leaves this machine: this page loads nothing and sends "
        "nothing; answers stay in this browser until you download them.",
        image_sources=Markup(FILES if pictures.beside else "data:"),
        plan=Markup(json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")),
        style=Markup(style),
        script=Markup(script),
        style_hash=Markup(policy_hash(style)),
        script_hash=Markup(policy_hash(script)),
    )


def _option(option: Option, asked: Names) -> dict:
    """Return an answer as the page shows it, with the names that it denies; not which model gives a name."""
    denied = [] if option.name else list(dict.fromkeys(dict(asked.sides)[option.side]))
    return {"code": option.code, "side": option.side, "name": option.name, "not": denied, "key": option.key}


@cache
def _template() -> Template:
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(_asset("label.html.j2"))


def _asset(name: str) -> str:
    return files("openworld.applications.label").joinpath(name).read_text(encoding="utf-8")
