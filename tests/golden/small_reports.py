"""Every report that openworld makes, on small inputs, through what `import openworld` offers.

    python tests/golden/small_reports.py [NAME ...]

writes the numbers of these reports, or of all, into the files beside this one: two runs each, and what differs is left
out, since it tells how long something took.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from shown import record, without_what_varies  # noqa: E402
from small_commands import COMMANDS  # noqa: E402
from small_worlds import SPECS, draw  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

import openworld as ow  # noqa: E402

SLOW = {
    *("recognition-of-several-sets", "recognition", "generalisation", "dynamic", "accuracy-estimation"),
    *("ood-detection", "ood-benchmark", "shift-of-images"),
}
"""Cases that take more than five seconds."""


def _of_spec(name: str, out: Path) -> Any:
    """Carry out a spec in the folder of the world."""
    spec = Path(f"{name}.toml")
    spec.write_text(SPECS[name], encoding="utf-8")
    return ow.run(spec, out, cache=out.parent / "cache", workers=1, device="cpu", quiet=True)


REPORTS: dict[str, Callable[[Path], Any]] = {name: partial(_of_spec, name) for name in SPECS} | COMMANDS
"""Name of a case -> a function of an empty folder for what it keeps; it is called in the folder of the world."""


def make(name: str, place: Path) -> Any:
    """Return the report of a case, or several, made in the world with an empty folder for what it keeps."""
    place.mkdir(parents=True, exist_ok=True)
    with chdir(_world().name), threadpool_limits(1, "blas"):  # OpenBLAS sums float32 in another order with more threads
        return REPORTS[name](place / name)


@cache
def _world() -> tempfile.TemporaryDirectory:
    """Draw the world, once for all cases: what a case writes there none but itself reads."""
    folder = tempfile.TemporaryDirectory(prefix="world-")
    draw(Path(folder.name))
    return folder


def recorded(name: str, place: Path) -> dict[str, list]:
    """Return what is kept of the report of a case."""
    made = make(name, place)
    return record(made if isinstance(made, tuple) else (made,))


@cache
def rounding() -> str:
    """Return what tells processors apart that round last bits in their own ways, which training carries on."""
    waves = torch.arange(64 * 3 * 28 * 28, dtype=torch.float32).reshape(64, 3, 28, 28).mul(0.37).sin()
    maps = torch.nn.functional.conv2d(waves, waves[:16, :, :3, :3]).flatten(1)
    sums = maps @ maps.T / maps.norm()
    parts = [waves, sums, sums.softmax(-1), torch.nn.functional.layer_norm(maps, maps.shape[1:])]
    parts = [part.numpy() for part in parts]
    with threadpool_limits(1, "blas"):
        for rows in (parts[1], parts[1].astype(np.float64)):  # NumPy has libraries of its own
            parts += [rows @ rows.T, np.exp(np.minimum(rows, 1)), np.einsum("ij,ij->i", rows, rows)]
            parts.append(np.linalg.svd(rows)[1])
    return sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16]


def _write(name: str) -> None:
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        held = without_what_varies(recorded(name, Path(first)), recorded(name, Path(second)))
    lines = (f'"{kind}": [\n' + ",\n".join(map(_line, entries)) + "\n]" for kind, entries in held.items())
    file = Path(__file__).with_name(f"{name}.json")
    file.write_text(f'{{\n"rounding": "{rounding()}",\n' + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{file.name}: {file.stat().st_size:,} bytes, " + ", ".join(f"{len(held[kind])} {kind}" for kind in held))


def _line(entry: list) -> str:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    for wanted in sys.argv[1:] or REPORTS:
        _write(wanted)
