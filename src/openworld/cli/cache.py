"""`openworld cache`: what encoded images lie on disk, how large, and taking them away."""

from pathlib import Path
from typing import Annotated

import typer

from openworld._sizes import parse_size, size_in_words
from openworld.cli import console
from openworld.cli._options import AsJson


def cache(
    folder: Annotated[
        Path | None,
        typer.Option("--cache", help="The folder; default: what `openworld doctor` says."),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove what is listed, after asking.")] = False,
    limit: Annotated[
        str, typer.Option(help="Remove what was used longest ago, after asking, until so much is left, such as 50GB.")
    ] = "",
    dataset: Annotated[str, typer.Option(help="Only the sets of this data set.")] = "",
    backbone: Annotated[str, typer.Option(help="Only the sets of this backbone.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the encoded images that are kept on disk, how large they are, and remove them where you say so.

    Every image set is encoded once by each backbone and kept; to remove a set costs encoding it again, and nothing
    else. `--clear` removes all that is listed. `--limit 50GB` removes the sets that were used longest ago until no more
    than that is left: patch features and pixels before embeddings. Trained classifiers and their answers stay, and so
    does what another process is reading. A folder that holds anything but such sets is left alone.

    Weights of downloaded backbones lie elsewhere, where huggingface_hub keeps them (`hf cache` lists them).
    """
    import json
    from dataclasses import asdict

    from openworld.backbones import known_name
    from openworld.features import default_cache
    from openworld.features.cache import look, remove

    kept = look(folder or default_cache())
    named = known_name(backbone)
    chosen = [
        entry
        for entry in kept.sets
        if dataset in ("", entry.dataset, entry.dataset.partition(" · ")[0]) and named in ("", entry.backbone)
    ]
    if as_json:
        times = [{name: getattr(entry, name).isoformat() for name in ("written", "used")} for entry in chosen]
        sets = [asdict(entry) | {"folder": entry.folder.name} | own for entry, own in zip(chosen, times, strict=True)]
        console.write(json.dumps({"folder": str(kept.folder), "sets": sets, "foreign": kept.foreign}, indent=1))
    else:
        _say(kept, chosen, console.output())
    if limit:
        _shrink(kept, parse_size(limit, "--limit"), dataset or backbone or clear, yes, as_json)
        return
    if not clear or not chosen:
        return
    if not yes and not kept.foreign:
        _ask("--clear", f"Remove {len(chosen)} set(s), {_total(chosen)}?")
    size = remove(kept, chosen)
    if not as_json:
        left = [entry for entry in chosen if entry.folder.exists()]
        console.write(f"Removed {len(chosen) - len(left)} set(s), {size_in_words(size)}.")
        if left:
            console.write(f"{len(left)} set(s) are being read and stay.")


def _shrink(kept, limit: int, chosen: bool, yes: bool, quiet: bool) -> None:
    from openworld._errors import OpenworldError
    from openworld.features.cache import shrink

    if chosen:
        raise OpenworldError(
            "--limit chooses by itself what to remove; give it without --clear, --dataset, --backbone."
        )
    if kept.foreign:
        raise OpenworldError(
            f"{kept.folder} holds {kept.foreign[0]!r}, which openworld did not put there; move it away."
        )
    if kept.size > limit and not yes:
        _ask("--limit", f"Remove sets used longest ago, {size_in_words(kept.size - limit)} or a little more?")
    removed = set(shrink(kept.folder, limit))
    if not quiet:
        gone, left = ([entry for entry in kept.sets if (entry.folder in removed) == out] for out in (True, False))
        console.write(f"Removed {len(gone)} set(s), {_total(gone)}; {_total(left)} are left.")


def _total(sets) -> str:
    return size_in_words(sum(entry.size for entry in sets))


def _ask(option: str, question: str) -> None:
    import sys

    from openworld._errors import OpenworldError

    if not sys.stdin.isatty():
        raise OpenworldError(f"{option} asks before it removes anything, and nobody can answer here; add --yes.")
    if not typer.confirm(question):
        console.write("Nothing was removed.")
        sys.exit(0)


def _say(kept, chosen, out) -> None:
    from openworld import _terminal as terminal

    out.print(f"{kept.folder}: {len(chosen)} encoded image set(s), {_total(chosen)}", markup=False)
    if chosen:
        heads = [*map(terminal.name, ("data set", "backbone")), *map(terminal.Head, ("images", "size"))]
        heads += map(terminal.name, ("with", "used", "folder"))
        rows = []
        for entry in chosen:
            images = "not whole" if entry.images is None else f"{entry.images:,}"
            name, used = entry.dataset or "?", f"{entry.used:%Y-%m-%d %H:%M}"
            size = size_in_words(entry.size)
            rows.append((name, entry.backbone or "?", images, size, entry.holds, used, entry.folder.name))
        out.print(terminal.TerminalTable(heads, rows))
    if kept.foreign:
        out.print(f"Not ours, left alone: {', '.join(kept.foreign)}", markup=False)
