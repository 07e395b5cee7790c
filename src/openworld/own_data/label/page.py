"""The labelling page: one HTML file that shows images one by one and asks; it loads nothing and sends nothing.

A Content-Security-Policy forbids every request and any script or style but the page's own, named by hash. Answers lie
in the browser's storage for this page until a person downloads them. Images are made no larger than a person needs, and
lie within the page or, where they are many, beside it.
"""

import io
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from openworld import __version__
from openworld.core.csv_files import as_cell
from openworld.core.errors import OpenworldError
from openworld.core.progress import Progress
from openworld.datasets.formats.decoding import decode
from openworld.own_data.label.question import Names
from openworld.report.data_files import data_address
from openworld.report.page import policy_hash
from openworld.report.sentences import counted

MOST_NAMES = 20_000  # class names on the page
FILES = "data: file: 'self'"  # images beside the page, whether it is opened from a folder or served from one
SIDE, QUALITY = 640, 85  # the longest side in pixels, and what JPEG calls quality
PAGE_BYTES = 40_000_000  # of images within the page; beyond, browsers are slow to open it


PageImages = Sequence[tuple[str, int]]
"""Of each image its data or its path beside the page, and its width in pixels; "" and 0 where none is shown."""


def read_images(
    paths: Sequence[str], folders: Sequence[Path], progress: Progress, folder: str = "images"
) -> tuple[PageImages, dict[str, bytes]]:
    """Read images, relative ones below the first of `folders` that has them; and files beside the page, of many."""
    read = []
    for place, path in enumerate(paths):
        progress("reading images", place, len(paths))
        read.append(_jpeg(_found(path, folders)))
    if sum(len(content) for content, _ in read) * 4 / 3 <= PAGE_BYTES:
        return [(data_address("image/jpeg", content), width) for content, width in read], {}
    digits = len(str(len(read)))
    names = [f"{folder}/{place:0{digits}}.jpg" for place in range(1, len(read) + 1)]
    files = {name: content for name, (content, _) in zip(names, read, strict=True)}
    return [(name, width) for name, (_, width) in zip(names, read, strict=True)], files


def _found(path: str, folders: Sequence[Path]) -> Path:
    places = list(dict.fromkeys(folder / path for folder in folders))  # of an absolute path one
    first = next((place for place in places if place.is_file()), None)
    if first is None:
        looked = " and ".join(str(place.parent.resolve()) for place in places)
        raise OpenworldError(
            f"there is no image {path!r} of the stream (looked in {looked}); start in the folder that its paths are "
            "relative to, or say --no-images for a worksheet without images."
        )
    return first


def _jpeg(path: Path) -> tuple[bytes, int]:
    """Return a JPEG of an image, at most SIDE pixels wide and high, and its width."""
    from PIL import Image, ImageOps

    image, file = ImageOps.exif_transpose(decode(path, str(path))), io.BytesIO()
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    image.save(file, "JPEG", quality=QUALITY, optimize=True)
    return file.getvalue(), image.width


def render_page(
    mark: str,
    folder: str,
    ids: Sequence[str],
    shown: Sequence[str],
    names: Sequence[Names],
    page_images: PageImages,
    class_names: tuple[Sequence[str], Sequence[str]],
) -> str:
    """Return the page as HTML text, the same bytes for the same plan; `shown` stands below each image."""
    closed = not names[0].as_new
    listed = class_names if sum(map(len, class_names)) <= MOST_NAMES else ((), ())
    images = []
    for own, text, asked, (address, width) in zip(ids, shown, names, page_images, strict=True):
        options = []
        for option in asked.options():
            # with the names that an answer denies; which model gives a name is not told
            denied = [] if option.name else list(dict.fromkeys(dict(asked.sides)[option.side]))
            options.append(vars(option) | {"not": denied})
        images.append({"id": str(as_cell(own)), "name": text, "image": address, "width": width, "options": options})
    content = {
        "plan": mark,
        "folder": folder,
        "closed": closed,
        "base_names": list(listed[0]),
        "new_names": list(listed[1]),
        "images": images,
    }
    style, script = _asset("label.css"), _asset("label.js")
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(_asset("label.html.j2"))
    return template.render(
        version=__version__,
        title=f"Label {counted(len(ids), 'image')}",
        footer=f"Made by openworld {__version__}. Nothing leaves this machine: this page loads nothing and sends "
        "nothing; answers stay in this browser until you download them.",
        image_sources=Markup("data:" if all(address[:5] in ("", "data:") for address, _ in page_images) else FILES),
        plan=Markup(json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")),
        style=Markup(style),
        script=Markup(script),
        style_hash=Markup(policy_hash(style)),
        script_hash=Markup(policy_hash(script)),
    )


def _asset(name: str) -> str:
    return files("openworld.own_data.label").joinpath(name).read_text(encoding="utf-8")
