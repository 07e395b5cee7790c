"""The files of a generated set: the order, the journal while it is made, the manifest when it is done."""

import hashlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from openworld._errors import OpenworldError
from openworld._plain import parse_json
from openworld.runs import read_spec
from openworld.runs.atomic import write_file
from openworld.runs.canonical import readable_json
from openworld.runs.outputs import GENERATED, require_folder
from openworld.shifts.synthesis.generated_set import MANIFEST, TABLE, VERSION
from openworld.shifts.synthesis.planning import SynthesisPlan
from openworld.tables.parquet import encode_table

ORDER, JOURNAL = "order.json", "journal.jsonl"
DIVISION = "division"
"""A folder that may be there before the order: what the plan was drawn from."""


@dataclass(frozen=True)
class _Line:
    number: int
    file: str | None
    attempt: int | None
    sha256: str | None


def open_folder(folder: Path, order: dict) -> None:
    """Make the folder, or see that what lies in it is of the same order."""
    require_own(folder)
    folder.mkdir(parents=True, exist_ok=True)
    wanted, path = readable_json(order), folder / ORDER
    if not path.exists():
        write_file(path, wanted)
    elif path.read_bytes() != wanted:
        old = _parse(path)
        parts = [part for part in order if old.get(part) != order[part]]
        raise OpenworldError(f"{folder} was begun with another {' and '.join(parts) or 'layout'}; give a new folder.")


def require_own(folder: Path | None, inputs: Sequence[Any] = ()) -> None:
    """Refuse a folder that holds something else than a set, whole or begun; or one of the inputs."""
    require_folder("--out", folder, own=(GENERATED,), alone=(DIVISION,), inputs=inputs)


def read_journal(folder: Path, count: int) -> dict[int, dict]:
    """Return finished images by number: lines whose file is there with its hash."""
    for scratch in folder.rglob(".*.writing"):  # of a killed process: one at a time makes a set
        scratch.unlink()
    path = folder / JOURNAL
    whole: dict[int, dict] = {}
    for line in path.read_bytes().split(b"\n") if path.exists() else ():
        try:
            entry = asdict(read_spec(parse_json(line), _Line))
        except ValueError:  # cut short by a crash
            continue
        if 0 <= entry["number"] < count:
            whole[entry["number"]] = entry
    for number, entry in list(whole.items()):
        file = None if entry["sha256"] is None else folder / entry["file"]
        if file and not (file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == entry["sha256"]):
            del whole[number]
    write_file(path, b"".join(map(_line, whole.values())))
    return whole


def row(number: int, file: str | None, attempt: int | None, sha256: str | None) -> dict:
    """Return a line of the journal; one without a file is an image that was refused."""
    return {"number": number, "file": file, "attempt": attempt, "sha256": sha256}


def append(folder: Path, rows: Sequence[dict]) -> None:
    """Put lines at the end of the journal and wait until they are on the disk."""
    with open(folder / JOURNAL, "ab") as file:
        file.write(b"".join(map(_line, rows)))
        file.flush()
        os.fsync(file.fileno())


def write_picture(path: Path, picture: Image.Image) -> str:
    """Write a PNG in one step; return the SHA-256 of its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = as_png(picture)
    write_file(path, data)
    return hashlib.sha256(data).hexdigest()


def as_png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.convert("RGB").save(buffer, "PNG")
    return buffer.getvalue()


def finish(folder: Path, plan: SynthesisPlan, rows: list[dict]) -> None:
    """Write the table of all images and, last, the manifest: the same bytes however often it was interrupted."""
    styles = len(plan.prompts.styles)
    orders = [plan.commission(row["number"], row["attempt"] or 0) for row in rows]
    table = encode_table(
        "images",
        {
            "file": [order.file for order in orders],
            "label": plan.prompt // styles,
            "style": plan.prompt % styles,
            "covariate": plan.covariate,
            "semantic": plan.semantic,
            "repeat": plan.repeat,
            "seed": np.array([order.seed for order in orders], np.int64),
            "kept": np.array([row["sha256"] is not None for row in rows]),
            "sha256": [row["sha256"] or "" for row in rows],
        },
    )
    write_file(folder / TABLE, table)
    about = {
        "version": VERSION,
        "order": _parse(folder / ORDER),
        "labels": plan.prompts.labels,
        "styles": plan.prompts.styles,
        "shape": plan.shape,
        "seed": plan.seed,
        "report": plan.report(),
        "origin": plan.origin,
        "refused": sum(row["sha256"] is None for row in rows),
        "table_sha256": hashlib.sha256(table).hexdigest(),
    }
    write_file(folder / MANIFEST, readable_json(about))


def _line(row: dict) -> bytes:
    return json.dumps(row, sort_keys=True).encode() + b"\n"


def _parse(path: Path) -> dict:
    try:
        found = parse_json(path.read_bytes())
        if isinstance(found, dict):
            return found
        raise ValueError("it is no table of keys")
    except ValueError as error:
        raise OpenworldError(f"{path} is not JSON ({error}); remove the folder and begin anew.") from error
