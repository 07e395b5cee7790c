"""Numbers as CSV and JSON, in one convention for every table; and files as `data:` addresses for a page."""

import base64
import io
import json
from urllib.parse import quote

QUALITY = 85  # of thumbnails, as JPEG has it


def json_text(value) -> str:
    """JSON as every command and table writes it: keys in the order given, signs as they are, a line feed at the end."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def csv_address(text: str) -> str:
    """CSV as a `data:` address, so that the page can offer it without a server."""
    return "data:text/csv;charset=utf-8," + quote(text, safe=",.;:/()=+*@!$-_~|")


def data_address(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def thumbnail_address(image, side: int = 64) -> str:
    """A small JPEG of a PIL image as a `data:` address; JPEG, because a page holds hundreds."""
    image, file = image.convert("RGB"), io.BytesIO()
    image.thumbnail((side, side))
    image.save(file, "JPEG", quality=QUALITY, optimize=True)
    return data_address("image/jpeg", file.getvalue())
