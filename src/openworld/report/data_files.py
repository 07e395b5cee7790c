"""Numbers as CSV and JSON, in one convention for every table; and files as `data:` addresses for a page."""

import base64
import csv
import io
import json
from collections.abc import Sequence
from urllib.parse import quote


def csv_text(header: Sequence, rows: Sequence[Sequence]) -> str:
    """CSV with one header line; floats in full, `None` as an empty field.

    >>> csv_text(["learner", "auroc"], [["GMoP", 0.5], ["CoOp", None]])
    'learner,auroc\\nGMoP,0.5\\nCoOp,\\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([float(cell) if isinstance(cell, float) else cell for cell in row] for row in rows)
    return text.getvalue()


def json_text(value) -> str:
    """JSON as every command and table writes it: keys in the order given, signs as they are, a line feed at the end.

    >>> json_text({"method": "τ"})
    '{\\n "method": "τ"\\n}\\n'
    """
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def csv_address(text: str) -> str:
    """CSV as a `data:` address, so that the page can offer it without a server."""
    return "data:text/csv;charset=utf-8," + quote(text, safe=",.;:/()=+*@!$-_~|")


def data_address(media_type: str, content: bytes) -> str:
    """`content` as a `data:` address of the given media type."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"
