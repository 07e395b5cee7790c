"""Write what `openworld list` prints of learners, detectors, classifiers and evaluations: without torch it reads that.

    python tools/list_rows.py

Run it after a learner, a detector, an architecture or an evaluation came or changed; a test says when it is time.
"""

import json
from pathlib import Path

from openworld.api import listing

NEED_TORCH = ("learners", "detectors", "classifiers", "evaluations")
PATH = Path(listing.__file__).with_name("listed.json")


def text() -> str:
    """Return the content of the file: a line per row."""
    tables = {each.place: listing.rows_of_ours(each) for kind in NEED_TORCH for each in listing.KINDS[kind]}
    parts = []
    for place, rows in tables.items():
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
        parts.append(f" {json.dumps(place)}: [\n{lines}\n ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
