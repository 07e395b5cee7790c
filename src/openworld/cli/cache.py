"""`openworld cache`: what encoded images lie on disk, how large, and taking them away."""

from pathlib import Path
from typing import Annotated

import typer

from openworld.cli import console


def cache(
    folder: Annotated[
        Path | None, typer.Option("--cache", help="The folder; default $OPENWORLD_CACHE or ~/.cache/openworld.")
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove what is listed, after asking.")] = False,
    dataset: Annotated[str, typer.Option(help="Only the sets of this data set.")] = "",
    backbone: Annotated[str, typer.Option(help="Only the sets of this backbone.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead.")] = False,
) -> None:
    """List encoded image sets: where they lie, how large they are, of which data set and backbone.

    Every image set is encoded once by each backbone and kept; removing a set costs encoding it again, and nothing else.
    `--clear` removes all that is listed. A folder that holds anything but such sets is left alone.

    Weights of downloaded backbones lie elsewhere, where huggingface_hub keeps them (`hf cache` lists them).
    """
    from openworld.backbones import known_name
    from openworld.features import default_cache
    from openworld.features.keeping import look, remove

    kept = look(folder or default_cache())
    chosen = [one for one in kept.sets if _matches(one, dataset, known_name(backbone))]
    if as_json:
        _print_json(kept, chosen)
    else:
        _say(kept, chosen, console.output())
    if not clear or not chosen:
        return
    if not yes and not kept.foreign:
        _ask(chosen)
    count, size = len(chosen), remove(kept, chosen)
    if not as_json:
        console.write(f"Removed {count} set(s), {_megabytes(size)}.")


def _matches(one, dataset: str, backbone: str) -> bool:
    named = dataset in ("", one.dataset, one.dataset.partition(" · ")[0])
    return named and backbone in ("", one.backbone)


def _ask(chosen) -> None:
    import sys

    from openworld._errors import OpenworldError

    if not sys.stdin.isatty():
        raise OpenworldError("--clear asks before it removes anything, and nobody can answer here; add --yes.")
    size = _megabytes(sum(one.size for one in chosen))
    if not typer.confirm(f"Remove {len(chosen)} set(s), {size}?"):
        console.write("Nothing was removed.")
        sys.exit(0)


def _say(kept, chosen, out) -> None:
    from openworld import _terminal as terminal

    size = _megabytes(sum(one.size for one in chosen))
    out.print(f"{kept.folder}: {len(chosen)} encoded image set(s), {size}", markup=False)
    if chosen:
        heads = [*map(terminal.name, ("data set", "backbone")), *map(terminal.Head, ("images", "size"))]
        heads += map(terminal.name, ("with", "written", "folder"))
        rows = []
        for one in chosen:
            images = "not whole" if one.images is None else f"{one.images:,}"
            name, written = one.dataset or "?", f"{one.written:%Y-%m-%d %H:%M}"
            size = _megabytes(one.size)
            rows.append((name, one.backbone or "?", images, size, one.holds, written, one.folder.name))
        out.print(terminal.TerminalTable(heads, rows))
    if kept.foreign:
        out.print(f"Not ours, left alone: {', '.join(kept.foreign)}", markup=False)


def _print_json(kept, chosen) -> None:
    import json
    from dataclasses import asdict

    sets = [asdict(one) | _plain(one) for one in chosen]
    console.write(json.dumps({"folder": str(kept.folder), "sets": sets, "foreign": kept.foreign}, indent=1))


def _plain(one) -> dict:
    return {"folder": one.folder.name, "written": one.written.isoformat(), "used": one.used.isoformat()}


def _megabytes(size: int) -> str:
    """Bytes as people say them.

    >>> _megabytes(0), _megabytes(2_340_000), _megabytes(5_600_000_000)
    ('0.0 MB', '2.3 MB', '5.6 GB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
